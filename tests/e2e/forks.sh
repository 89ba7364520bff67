#!/bin/bash
# SPDX-License-Identifier: ISC
# Programs that fork: what their children do is recorded, each into a trace of its own, and what weft record says of it.
. "$(dirname "$0")/lib.sh"
[ -x "${FORKING:-}" ] || skip 'FORKING is not set'
cd "$tmp"
unset WEFT_TRACE WEFT_TRACE_SIZE WEFT_TRACE_FOR WEFT_TRACE_FORK
export ASAN_OPTIONS=detect_leaks=0

events_of() { # FILES...: how many events each has, sorted
    local file
    for file in "$@"; do
        "$WEFT" info --json "$file" >"$tmp/json"
        json "$tmp/json" 'd["events_total"]'
    done | sort -n | tr '\n' ' ' | sed 's/ $//'
}

# A daemon goes on after weft record has ended
mkfifo fifo
run 0 "$WEFT" record --size 1M -o d.weft "$FORKING" daemon "$tmp/fifo"
says "$tmp/err" '^weft: d.weft: recording was on, but the program recorded no event: it forked, and what it does goes on in the child$'
says "$tmp/err" '^weft: d-(%p|[0-9]+).weft: '
read -r said <fifo
equal 'the daemon says' 'done' "$said"
equal 'events of the daemon' 100 "$(events_of d-*.weft)"
equal 'how it ended' stopped "$(json json 'd["ended"]')"

# Workers of a program with threads
run 0 "$WEFT" record --size 1M -o w.weft "$FORKING" workers 20
equal 'events of the workers' "$(yes 20 | head -n 20 | tr '\n' ' ' | sed 's/ $//')" "$(events_of w-*.weft)"
equal 'lines about them' 20 "$(grep -Ec '^weft: w-[0-9]+.weft: 20 events, 10 promises, of process [0-9]+, which it has forked$' "$tmp/err")"
run 0 "$WEFT" info --json w.weft
equal 'damage of the trace of the program' 0 "$(json "$tmp/out" 'd["damage"]["problems"]')"
rm -f w*.weft

# The first events are those of several threads
run 0 "$WEFT" record --size 1M -o a.weft "$FORKING" at-once
equal 'events of children with threads' "$(yes 24 | head -n 20 | tr '\n' ' ' | sed 's/ $//')" "$(events_of a-*.weft)"
rm -f a*.weft

# No more than so many
run 0 "$WEFT" record --size 64K -o m.weft "$FORKING" workers 80
equal 'traces of many workers' 64 "$(find . -name 'm-*.weft' | wc -l)"
rm -f m*.weft

run 0 "$WEFT" record --size 1M -o n.weft "$FORKING" nested
equal 'events of a child and its child' '2 4' "$(events_of n-*.weft)"
run 0 "$WEFT" record --size 1M -o 'p.%p.weft' "$FORKING" nested
equal 'events, with %p' '0 2 4' "$(events_of p.*.weft)"
run 0 env WEFT_TRACE='q.%p.weft' WEFT_TRACE_SIZE=1M "$FORKING" nested
silent "$tmp/err"
equal 'events, without weft record' '0 2 4' "$(events_of q.*.weft)"
run 0 env WEFT_TRACE='r.weft' WEFT_TRACE_SIZE=1M "$FORKING" nested
equal 'events, without %p' 0 "$(events_of r*.weft)"

# Children that no handler knows of
run 0 "$WEFT" record --size 1M -o c.weft "$FORKING" _fork
equal 'events of the parent' 10 "$(events_of c.weft)"
equal 'events of a child by clone' 6 "$(events_of c-*.weft)"
says "$tmp/err" '^weft: c-[0-9]+.weft: 6 events'
run 0 "$WEFT" record --size 1M -o s.weft "$FORKING" standby
equal 'events of the parent' 10 "$(events_of s.weft)"
equal 'damage' 0 "$(json json 'd["damage"]["problems"]')"

# Children without a trace
for what in exec stop idle; do
    run 0 "$WEFT" record --size 1M -o "e.weft" "$FORKING" "$what"
    equal "events of the parent, $what" 2 "$(events_of e.weft)"
    equal "traces of children, $what" '' "$(ls e-*.weft 2>/dev/null)"
    says "$tmp/err" '^weft: e-%p.weft: is where its children record'
done
run 0 "$WEFT" record --size 1M -o o.weft "$FORKING" own "$tmp/mine.weft"
equal 'events of both' '2 14' "$(events_of o.weft mine.weft)"
equal 'traces of children that start one' '' "$(ls o-*.weft 2>/dev/null)"
run 0 "$WEFT" record --memory --size 1M -o y.weft "$FORKING" nested
says "$tmp/err" '^weft: y.weft: the children that it has forked are not recorded with --memory$'
equal 'files in memory' y.weft "$(ls y*)"
finish
