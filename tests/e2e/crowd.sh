#!/bin/bash
# SPDX-License-Identifier: ISC
# More promises are pending than there is room for, the ring comes round a hundred times, and the program is killed: the
# one from the beginning is there with its cause, and the others are counted.
#   PENDING=20000 JOBS=4000000 SIZE=1M    how many, and the trace (make torture: a million in 64M)
. "$(dirname "$0")/lib.sh"
: "${CROWD:?the program that has many pending promises}"
PENDING=${PENDING:-20000} JOBS=${JOBS:-4000000} SIZE=${SIZE:-1M}
cd "$tmp"

# record OPTION...: a trace of the program, which is killed when it says that it is ready
record() {
    coproc WEFT_TRACE=trace.weft env "$@" "$CROWD" "$PENDING" "$JOBS" 2>err
    local pid=$COPROC_PID
    read -r line <&"${COPROC[0]}" || line=
    equal 'the program is ready' ready "$line"
    kill -KILL "$pid"
    wait "$pid" 2>/dev/null || :
}

# fact EXPRESSION: of the trace, with d for all and p for what is known of pending promises
fact() {
    "$WEFT" info --json trace.weft >facts
    json facts "(lambda p: $1)(d['promoted'])"
}

record WEFT_TRACE_SIZE="$SIZE"
equal 'it was killed' killed "$(fact "d['ended']")"
equal 'laps of the ring' True "$(fact "d['overwritten'] > 100 * d['events_total'] > 0")"
run 0 "$WEFT" promises trace.weft
says out '	request	.*	pending	-	GET /yesterday$'
says out '	rpc	.*	pending	-	lost reply$'
for sort in connection recv; do
    whole=$(awk -F '\t' -v sort=$sort '$2 == sort && $6 == "pending"' out | wc -l)
    more=$(fact "sum(s['pending'] + s['unlisted'] for s in p['sorts'] if s['type'] == '$sort')")
    equal "all of type $sort are accounted for" $((PENDING / 2)) $((whole + more))
    equal "of type $sort there are some" yes "$([ "$whole" -gt 100 ] && echo yes)"
done
equal 'only the common sorts lose' "connection recv" "$(fact "' '.join(sorted(s['type'] for s in p['sorts']))")"

run 0 "$WEFT" info trace.weft
says out '^  given up .* pending promises, of which only type and place are known:$'
run 0 "$WEFT" explain trace.weft
says out "^ *'lost reply' \(rpc 2\), created by 'GET /yesterday', was never resolved;"
says out "^1\. hang-root \(likely\)$"
says out 'More promises were pending than there was room for \(weft record --pending\)'
run 0 "$WEFT" explain --all trace.weft
tr -s ' \n' ' ' <out >words
says words 'And [0-9,]+ more like it are pending, of which nothing else was kept\.'
run 3 "$WEFT" explain --check trace.weft

# More room
if [ "$SIZE" = 1M ]; then
    record WEFT_TRACE_SIZE=16M WEFT_TRACE_PENDING=8M
    equal 'none is given up' '0 0' "$(fact "f\"{p['given_up']} {p['numbered']}\"")"
fi
finish
