#!/bin/bash
# SPDX-License-Identifier: ISC
# examples/bugs/libevent: weft explain names the fault and its culprit in the bad ones, has nothing to say about the good
# ones, and they do what they do alone.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/libevent_lib.sh"
bugs=$BUILD_ROOT/examples/bugs
export LD_PRELOAD=

# judge STATUS PROGRAM good|bad NAME LABEL [LEAST]
judge() {
    local program=$bugs/libevent_$2
    run "$1" "$OWN_CLOCK" "$program" "$3"
    cp "$tmp/out" alone
    run "$1" "$WEFT" record --force --size 4M --runtimes libevent -o bug.weft -- "$OWN_CLOCK" "$program" "$3"
    same "what $2 $3 prints" alone "$tmp/out"
    run 0 "$WEFT" explain --all --json bug.weft
    equal "$2 $3" '' "$(python3 "$SOURCE_ROOT/tests/e2e/judge.py" "$4" "$5" "${6:-likely}" <"$tmp/out")"
}

# bug PROGRAM STATUS NAME LABEL
bug() {
    judge "$2" "$1" bad "$3" "$4"
    judge 0 "$1" good nothing "$4"
}

export UNTIL_HUNG=1 # the bad ones hang
bug answer 130 never-resolved '*tcp 127.0.0.1:*'
bug request 130 never-resolved '*GET /users/3'
unset UNTIL_HUNG
bug again 0 stopped '*5 ms'
bug blocked 0 loop-blocked '*unix*'

equal 'examples that are tried' "$(cd "$SOURCE_ROOT/examples/bugs/libevent" && ls ./*.c | sed 's/..//; s/.c$//')" \
    "$(sed -nE 's/^bug ([a-z0-9_]+) .*/\1/p' "$SOURCE_ROOT/tests/e2e/libevent_bugs.sh" | sort)"
finish
