#!/bin/bash
# SPDX-License-Identifier: ISC
# weft watch and weft record --keep: what is kept, and when. watch.py drives a program line by line.
. "$(dirname "$0")/lib.sh"
: "${DRIVEN:?a program that does what it is told}"

checks=1
DRIVEN=$DRIVEN WEFT=$WEFT python3 "$(dirname "$0")/watch.py" "$tmp" || fail "watch.py"

run 2 "$WEFT" watch $$ 'GET /* > 5 parsecs'
says "$tmp/err" 'at character 10: "5" is no time'
run 2 "$WEFT" watch 'GET /* > 5ms'
says "$tmp/err" 'is no process id'
run 2 "$WEFT" watch $$
says "$tmp/err" 'no condition is given'
run 1 "$WEFT" watch $$ crash
says "$tmp/err" 'records into no file'
run 1 "$WEFT" watch --name no-such-program crash
says "$tmp/err" 'no process of that name records'
run 2 "$WEFT" record --keep 'loop >' -o "$tmp/x.weft" true
says "$tmp/err" 'a time is missing here'
[ ! -e "$tmp/x.weft" ] || fail "a program ran although a condition was wrong"
run 2 env WEFT_KEEP='crash; rate x > 5' "$WEFT" record -o "$tmp/x.weft" true
says "$tmp/err" 'WEFT_KEEP: " rate x > 5": at character 11: "5" is no rate'

finish
