#!/bin/bash
# SPDX-License-Identifier: ISC
# A program of libev does the same alone and recorded, and its trace has what it did.
. "$(dirname "$0")/lib.sh"
program=$BUILD_ROOT/tests/libev_watchers
[ -e "$BUILD_ROOT/adapters/preload/weft-libev.so" ] || skip "the adapter for libev was not built"
[ -x "$program" ] || skip "$program was not built"
unset WEFT_TRACE WEFT_TRACE_SIZE WEFT_TRACE_FOR WEFT_TRACE_FORK WEFT_TRACE_BEGIN
cd "$tmp"

run 0 "$program"
cp "$tmp/out" alone
run 0 "$WEFT" record --force --size 4M -o ev.weft -- "$program"
same 'what it prints' alone "$tmp/out"
"$WEFT" promises ev.weft | cut -f 2,6,8 | sed -E '1d; s/\t[^ \t]+ ?([^\t]*)$/\t\1/; s/process [0-9]+/process/; s/\t/ /g' >found
cat >expected <<'EOF'
read fulfilled unix
timer fulfilled 2 ms
timer cancelled 3600 s
timer fulfilled 1 ms
timer fulfilled 1 ms
signal fulfilled SIGUSR1
process fulfilled process
EOF
same promises expected found
equal findings '' "$(findings ev.weft)"
finish
