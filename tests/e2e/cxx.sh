#!/bin/bash
# SPDX-License-Identifier: ISC
# examples/cxx: coroutines, and Asio: what weft explain finds, and what is recorded of programs that know little of weft.
. "$(dirname "$0")/lib.sh"
: "${EXAMPLES:?the folder of the built examples}"
unset WEFT_TRACE
cxx=$EXAMPLES/cxx
judge=$SOURCE_ROOT/tests/e2e/judge.py
grep -q '\.cc"' "$BUILD_ROOT/compile_commands.json" || skip 'C and C++ are compiled by two kinds of compilers'
[ -x "$cxx/pool" ] || [ -x "$cxx/lookup" ] || missing "a C++20 compiler, Asio"

# found TRACE NAME LABEL LEAST
found() {
    run 0 "$WEFT" explain --all --json "$1"
    equal "$1" '' "$(python3 "$judge" "$2" "$3" "$4" <"$tmp/out")"
}

# events TRACE: without times and what differs in each run
events() {
    "$WEFT" dump "$1" | sed -E 's/^[0-9]+ [0-9]+ //; s/127\.0\.0\.1:[0-9]+/PEER/; s/ :[0-9]+"/ :PORT"/; s/ at=.*//; s/ fd [0-9]+/ FD/'
}

if [ -x "$cxx/pool" ]; then
    for how in good bad; do
        run 0 simulated "$tmp/pool-$how.weft" 4194304 "$cxx/pool" "$how"
    done
    equal "what the bad one prints" "8 answered" "$(cat "$tmp/out")"
    found "$tmp/pool-bad.weft" hang-root pool::acquire certain
    found "$tmp/pool-good.weft" nothing '' likely
    events "$tmp/pool-bad.weft" >"$tmp/events"
    says "$tmp/events" '^creates parent=-1 child=1 type=coroutine label="serve"$'
    says "$tmp/events" '^creates .*type=await label="loop::sleep"$'
    # Each failure is that of a query, and goes through handle.
    equal "failures" '4 bad row 4:2 bad row 9:2' "$(grep '^fails' "$tmp/events" | sed -E 's/.*exception="(.*)"/\1/' |
        sort | uniq -c | awk '{ n += $1; k = $2 " " $3 " " $4 ":" $1; all = all " " k } END { print n all }')"
    equal "pending in the good one" 0 "$(events "$tmp/pool-good.weft" | awk '
        /^creates/ { split($3, c, "="); open[c[2]] = 1 }
        /^(fulfills|fails) / { split($3, c, "="); delete open[c[2]] }
        END { for (k in open) n++; print n + 0 }')"
fi

if [ -x "$cxx/lookup" ]; then
    run 0 "$cxx/lookup" good
    cp "$tmp/out" "$tmp/unrecorded"
    for how in good bad; do
        run 0 "$WEFT" record --force -o "$tmp/lookup-$how.weft" -- "$cxx/lookup" "$how"
        [ "$how" = bad ] || same "what the recorded one prints" "$tmp/unrecorded" "$tmp/out"
    done
    found "$tmp/lookup-bad.weft" never-resolved heddle certain
    found "$tmp/lookup-good.weft" nothing '' likely
    events "$tmp/lookup-good.weft" >"$tmp/events"
    says "$tmp/events" '^creates parent=-1 child=[0-9]+ type=socket label="async_accept :PORT"$'
    says "$tmp/events" '^creates parent=-1 child=[0-9]+ type=socket label="async_connect FD"$'
    says "$tmp/events" '^creates .*type=request label="heddle"$'
    # The server reads five words and the end, the client five answers.
    equal "lines that are read" 11 "$(grep -c 'label="async_read_until PEER"' "$tmp/events")"
    says "$tmp/events" '^fails .*exception="End of file"$'
    events "$tmp/lookup-bad.weft" >"$tmp/events"
    says "$tmp/events" '^creates .*type=event label="async_wait"$'
fi

# Each of 20 coroutines starts 30 others, and each ends once. On several threads the end of one may be missed, if what it is handed
# over with is confused with another one.
if [ -n "${FLOWS:-}" ]; then
    for threads in 1 4; do
        run 0 "$WEFT" record --force -o "$tmp/flows.weft" -- "$FLOWS" "$threads"
        equal "what it prints" 200 "$(cat "$tmp/out")"
        "$WEFT" dump "$tmp/flows.weft" >"$tmp/events" 2>"$tmp/err"
        equal "$threads threads: coroutines" 620 "$(grep -c ' type=coroutine' "$tmp/events")"
        awk '/ type=coroutine/ { split($5, c, "="); coroutine[c[2]] = 1 }
            / (fulfills|fails|resolves|cancels) / { split($5, c, "="); if (c[2] in coroutine) print c[2] }' "$tmp/events" >"$tmp/ends"
        equal "$threads threads: that end twice" '' "$(sort "$tmp/ends" | uniq -d)"
        ends=$(wc -l <"$tmp/ends")
        equal "$threads threads: ends, $ends of 620" 1 "$((threads == 1 ? ends == 620 : ends >= 610))"
    done
fi
finish
