#!/bin/bash
# SPDX-License-Identifier: ISC
# Real traces: what an independent reader counted in them, and every promise, byte for byte.
. "$(dirname "$0")/lib.sh"
need_shared

# truth FILE TOTAL SPAN_NS PROMISES 'KIND COUNT ...': kinds that are not listed have none
truth() {
    run 0 "$WEFT" info --json "$DATA/$1"
    silent "$tmp/err"
    equal "$1: events_total" "$2" "$(json "$tmp/out" 'd["events_total"]')"
    equal "$1: span_ns" "$3" "$(json "$tmp/out" 'd["span_ns"]')"
    equal "$1: promises" "$4" "$(json "$tmp/out" 'd["promises"]')"
    # shellcheck disable=SC2086 # words
    equal "$1: events" "$(printf '%s=%s\n' $5 | sort)" \
        "$(json "$tmp/out" '"\n".join(f"{k}={n}" for k, n in d["events"].items() if n)' | sort)"
    equal "$1: kinds" 14 "$(json "$tmp/out" 'len(d["events"])')"
    equal "$1: damage" 0 "$(json "$tmp/out" 'd["damage"]["problems"] + d["damage"]["skipped_bytes"]')"

    cp "$tmp/out" "$tmp/plain"
    run 0 "$WEFT" info --json --promises "$DATA/$1"
    equal "$1: --promises, the rest" \
        "$(json "$tmp/plain" 'sorted(d.items(), key=str)')" \
        "$(json "$tmp/out" 'sorted(((k, v) for k, v in d.items() if k not in ("promises_by", "contradictions")), key=str)')"
    equal "$1: --promises, the sum" "$4" \
        "$(json "$tmp/out" 'sum(n for by in d["promises_by"].values() for n in by.values())')"
    run 0 "$WEFT" promises "$DATA/$1"
    equal "$1: lines of weft promises" $(($4 + 1)) "$(wc -l <"$tmp/out")"
    run 0 "$WEFT" dump "$DATA/$1"
    equal "$1: lines of weft dump" "$2" "$(wc -l <"$tmp/out")"
    equal "$1: the last time" "$3" "$(tail -n 1 "$tmp/out" | cut -d ' ' -f 1)"
}

truth net.ctf 10078 5898599766 1817 'creates 1816 read 2596 fulfills 1511 fails 2 becomes 215
    label 2185 increase 1394 switch 358 gc 1'
truth ring-wrapped.ctf 32670 16453444 9086 'creates 9061 read 9139 fulfills 7693 becomes 1382
    label 1373 switch 2702 gc 2 signal 1318'
run 0 "$WEFT" info --json "$DATA/net.ctf"
equal 'net.ctf: wrapped' False "$(json "$tmp/out" 'd["wrapped"]')"
equal 'net.ctf: packets' '2 2' "$(json "$tmp/out" 'd["packets"], d["unused_packets"]' | tr -d '(),')"
run 0 "$WEFT" info --json "$DATA/ring-wrapped.ctf"
equal 'ring-wrapped.ctf: wrapped' True "$(json "$tmp/out" 'd["wrapped"]')"
run 0 "$WEFT" info --json "$DATA/all-events.ctf"
equal 'all-events.ctf: events_total' 400 "$(json "$tmp/out" 'd["events_total"]')"
equal 'all-events.ctf: kinds' 14 "$(json "$tmp/out" 'sum(n > 0 for n in d["events"].values())')"

compared=0
for truth in "$DATA"/*.promises.tsv; do
    trace=${truth%.promises.tsv}
    run 0 "$WEFT" promises "$trace.ctf"
    same "weft promises $trace.ctf" "$truth" "$tmp/out"
    run 0 "$WEFT" promises --raw "$trace.ctf"
    same "weft promises --raw $trace.ctf" "$trace.promises.raw.tsv" "$tmp/out"
    compared=$((compared + 1))
done
checks=$((checks + 1))
[ "$compared" -ge 2 ] || fail "only $compared traces have their promises beside them"
finish
