#!/bin/bash
# SPDX-License-Identifier: ISC
# Who waits for what is pending is known, however long ago that was recorded, and however many they are; or it is counted,
# and said by all who conclude something.
. "$(dirname "$0")/lib.sh"
: "${WAITS:?the program whose promises wait for each other}"
cd "$tmp"

# record HOW N [VARIABLE=VALUE…]: a trace of the program, which is killed when it says that it is ready
record() {
    local how=$1 n=$2
    shift 2
    coproc WEFT_TRACE=trace.weft WEFT_TRACE_SIZE=1M env "$@" "$WAITS" "$how" "$n" 200000 2>err
    local pid=$COPROC_PID
    read -r line <&"${COPROC[0]}" || line=
    kill -KILL "$pid"
    wait "$pid" 2>/dev/null || :
    waits=${line#ready }
    "$WEFT" info --json trace.weft >facts
    equal "$how $n: the ring came round" True "$(json facts "d['overwritten'] > 5 * d['events_total'] > 0")"
}

# who_waits: of how many waits of pending promises the trace tells, each once
who_waits() {
    run 0 "$WEFT" dump trace.weft
    grep -o ' try_read reader=[0-9-]* source=[0-9]*' out | sort -u | wc -l
}

lacks() {
    json facts "f\"{d['promoted']['lacks']} {d['promoted']['left_out']}\""
}

# all: nothing is lost
all() {
    record "$@"
    equal "$*: nothing is lacking" 'False 0' "$(lacks)"
    run 3 "$WEFT" explain --check trace.weft
    ! grep -q 'Not all that is pending' out || fail "$*: something is said to be unknown"
    checks=$((checks + 1))
}

for how in 'star 4' 'star 1000' 'often 300' 'own 4' 'own 1000' 'becomes 4' 'becomes 1000' 'late 4' 'loop 4' \
    'own-becomes 4' 'own-late 4' 'own-loop 4'; do
    # shellcheck disable=SC2086 # words
    all $how
    says out '^1\. deadlock \(likely\)$'
    equal "$how: who waits" "$waits" "$(who_waits)"
done
all dense 12
equal 'dense: who waits' "$waits" "$(who_waits)"

# More than there is room for
record dense 60
run 3 "$WEFT" explain --check trace.weft
tr -s ' \n' ' ' <out >words
says words 'There was no room for all that was said of pending promises, as who waits for them: [0-9,]+ .reply'
says words 'Not all that is pending, or who waits for it, is known: something may hang'
equal 'what is not known is counted' "True True" \
    "$(json facts "f\"{d['promoted']['lacks']} {d['promoted']['left_out'] >= 50}\"")"
equal 'by sort' True "$(json facts "any(s['type'] == 'reply' and s['left_out'] for s in d['promoted']['sorts'])")"
run 3 "$WEFT" diff --check trace.weft trace.weft
tr -s ' \n' ' ' <out >words
says words 'Others may be missed: the traces do not say everything about what happened, or about what is pending and who waits'
run 0 "$WEFT" stats trace.weft
tr -s ' \n' ' ' <out >words
says words 'not all that is pending is known'
run 0 "$WEFT" info trace.weft
says out 'waits and other notes of such left out'
finish
