#!/bin/bash
# SPDX-License-Identifier: ISC
# What waits for what in processes that hang and that nobody has prepared: ../now/hang.c, and what now.py knows of it.
. "$(dirname "$0")/lib.sh"
: "${NOW:?the folder of tests/now}"
[ "$(uname -m)" = x86_64 ] || skip "not tried on $(uname -m)"
[ -r /proc/self/syscall ] || skip 'this kernel does not say where threads wait'
cd "$tmp"

for program in hang hang_O0; do
    run 0 python3 "$SOURCE_ROOT/tests/e2e/now.py" "$NOW/graph" "$NOW/$program"
    cat "$tmp/out"
done
finish
