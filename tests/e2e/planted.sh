#!/bin/bash
# SPDX-License-Identifier: ISC
# weft diff of pairs of runs in one of which something was planted: planted.py has them, and says what was not found.
. "$(dirname "$0")/lib.sh"
export WEFT
unset COLUMNS
checks=$((checks + 1))
python3 "$(dirname "$0")/planted.py" "$tmp" >"$tmp/found" || fail 'less was found than before'
cat "$tmp/found"
finish
