#!/bin/bash
# SPDX-License-Identifier: ISC
# weft explain: the command line, the bug that weft began with, and graphs that are hard to look into.
. "$(dirname "$0")/lib.sh"
: "${EXAMPLES:?the folder of the built examples}" "${GRAPHS:?the program graphs}"
unset WEFT_TRACE

# ---- The lost wake-up of arp_race ----

for how in good bad fixed; do
    env WEFT_TRACE="$tmp/$how.weft" "$EXAMPLES/arp_race" "$how" >"$tmp/said" || [ "$how" = bad ]
done
for how in good fixed; do
    run 0 "$WEFT" explain --check=possible "$tmp/$how.weft"
    says "$tmp/out" "^$tmp/$how.weft: nothing found in [0-9]+ events"
    equal "$how: lines" 1 "$(tr -d '\n' <"$tmp/out" | grep -c 'looked for deadlock, .*serial-waits\.')"
    silent "$tmp/err"
done

run 0 "$WEFT" explain "$tmp/bad.weft"
says "$tmp/out" '^1\. lost-wakeup \(certain\)$'
says "$tmp/out" "'ARP response'"
says "$tmp/out" "nobody waited"
says "$tmp/out" "^   Held up by it: 'ARP query' \(task [0-9]+\), 'TCP connect' \(task [0-9]+\).*'main' \(task 1\)\.$"
equal 'only one finding' 0 "$(grep -c '^2\.' "$tmp/out" || :)"
awk 'length($0) > 130' "$tmp/out" >"$tmp/long" # bytes; 100 columns
silent "$tmp/long"

run 3 "$WEFT" explain --json --check=certain "$tmp/bad.weft"
d=$tmp/out
equal 'findings' 1 "$(json "$d" 'len(d["findings"])')"
equal 'name' lost-wakeup "$(json "$d" 'd["findings"][0]["name"]')"
equal 'confidence' certain "$(json "$d" 'd["findings"][0]["confidence"]')"
equal 'label' 'ARP response' "$(json "$d" 'd["findings"][0]["label"]')"
equal 'type' condition "$(json "$d" 'd["findings"][0]["type"]')"
equal 'affected' "['ARP query', 'TCP connect', 'main']" \
    "$(json "$d" '[a["label"] for a in d["findings"][0]["affected"]]')"
equal 'both moments' True "$(json "$d" 'all(any(e["event"] == k and e["label"] for e in d["findings"][0]["evidence"]) for k in ("signalled_nobody", "waits"))')"
equal 'evidence in order' True "$(json "$d" '(lambda t: t == sorted(t))([e["time_ns"] for e in d["findings"][0]["evidence"]])')"
equal 'the signal came first' True "$(json "$d" '(lambda e: [x["time_ns"] for x in e if x["event"] == "signalled_nobody"][0] < [x["time_ns"] for x in e if x["event"] == "waits" and x["other"] == d["findings"][0]["promise"]][0])(d["findings"][0]["evidence"])')"
equal 'cost' True "$(json "$d" '100e6 < d["findings"][0]["cost_ns"] < d["span_ns"]')"
equal 'ended' stopped "$(json "$d" 'd["ended"]')"

# ---- The story of a promise ----

run 0 "$WEFT" explain --promise 'TCP connect' "$tmp/good.weft"
says "$tmp/out" "^'TCP connect' \(task [0-9]+\)$"
says "$tmp/out" '^Critical path'
says "$tmp/out" "'ring.write' \(promise\), outside, in 2 parts$"
cp "$tmp/out" "$tmp/story"
run 0 "$WEFT" explain --json --promise 'TCP connect' "$tmp/good.weft"
equal 'steps touch' True "$(json "$d" '(lambda s: s[0]["from_ns"] == d["start_ns"] and s[-1]["to_ns"] == d["end_ns"] and all(a["to_ns"] == b["from_ns"] for a, b in zip(s, s[1:])))(d["path"]["steps"])')"
equal 'shares add up' True "$(json "$d" 'sum(s["total_ns"] for s in d["path"]["shares"]) == d["end_ns"] - d["start_ns"]')"
# Two of the four waits of 20 ms were for ring.write; how long they took to the microsecond is the machine's affair.
written='[s["total_ns"] for s in d["path"]["shares"] if s["label"] == "ring.write"]'
equal 'where the time went' 1 "$(json "$d" "len($written)")"
equal 'at least two ticks, less what began late' True "$(json "$d" "sum($written) > 20e6")"
says "$tmp/story" "^ +$(json "$d" "format(sum($written) / 1e6, '.3g')") ms +$(json "$d" \
    "format(100 * sum($written) / (d['end_ns'] - d['start_ns']), '.1f')") % .*'ring.write'"
number=$(json "$d" 'd["promise"]')
run 0 "$WEFT" explain --json --promise "$number" "$tmp/good.weft"
equal 'by number' 'TCP connect' "$(json "$d" 'd["label"]')"
run 0 "$WEFT" explain --json --promise ring.write "$tmp/good.weft"
equal 'all with a label' 2 "$(json "$d" 'd["count"]')"
run 1 "$WEFT" explain --promise ar "$tmp/good.weft" # heartbeat; ARP …
run 1 "$WEFT" explain --promise 4711 "$tmp/good.weft"

# ---- Choosing ----

run 0 "$WEFT" explain --check --ignore lost-wakeup,hang-root,never-resolved "$tmp/bad.weft"
says "$tmp/out" 'nothing found'
run 0 "$WEFT" explain --check --only deadlock,spin "$tmp/bad.weft"
says "$tmp/out" 'looked for deadlock, spin\.'
run 3 "$WEFT" explain --check --only lost-wakeup "$tmp/bad.weft"
printf '# known\n\nloop-blocked *\nlost-wakeup ARP *\n' >"$tmp/known"
run 0 "$WEFT" explain --check --accept "$tmp/known" "$tmp/bad.weft"
says "$tmp/out" '1 finding is accepted'
printf 'lost-wakeup DNS *\n' >"$tmp/known"
run 3 "$WEFT" explain --check --accept "$tmp/known" "$tmp/bad.weft"
run 0 "$WEFT" explain --json "$tmp/good.weft" "$tmp/bad.weft"
equal 'two files' '[0, 1]' "$(json "$d" '[len(t["findings"]) for t in d["traces"]]')"
run 3 "$WEFT" explain --check "$tmp/good.weft" "$tmp/bad.weft"
"$WEFT" explain - <"$tmp/bad.weft" >"$tmp/piped"
says "$tmp/piped" '^1\. lost-wakeup'

# ---- Mistakes ----

run 2 "$WEFT" explain
says "$tmp/err" '^weft explain: no FILE is given'
run 2 "$WEFT" explain --only lost-wakup "$tmp/bad.weft"
says "$tmp/err" 'nothing called "lost-wakup"'
run 2 "$WEFT" explain --check=sure "$tmp/bad.weft"
says "$tmp/err" 'certain, likely or possible, not "sure"'
run 2 "$WEFT" explain --spin 0 "$tmp/bad.weft"
says "$tmp/err" 'a number from 1 on'
run 2 "$WEFT" explain --block 0ms "$tmp/bad.weft"
run 2 "$WEFT" explain --promise x "$tmp/good.weft" "$tmp/bad.weft"
run 2 "$WEFT" explain --accept "$tmp/none" "$tmp/bad.weft"
says "$tmp/err" 'none: cannot be opened'
echo 'hangroot' >"$tmp/known"
run 2 "$WEFT" explain --accept "$tmp/known" "$tmp/bad.weft"
says "$tmp/err" 'line 1: expected the name of a finding'
run 1 "$WEFT" explain "$tmp/none.weft"
echo 'no trace' >"$tmp/text"
run 1 "$WEFT" explain "$tmp/text" "$tmp/bad.weft"
says "$tmp/out" '^1\. lost-wakeup'
run 1 "$WEFT" explain --promise nonsense "$tmp/bad.weft"

# ---- What is missing is said, also where nothing is found ----

run 0 "$WEFT" record --size 128K -o "$tmp/wrapped.weft" -- "$GRAPHS" resolved 20000
run 0 "$WEFT" explain "$tmp/wrapped.weft"
says "$tmp/out" 'nothing found'
says "$tmp/out" '^The ring buffer had wrapped'

# ---- Hard graphs ----

# graph SHAPE NAME LABEL: the first finding in a trace of that shape
graph() {
    env WEFT_TRACE="$tmp/graph.weft" "$GRAPHS" "$1" 100000
    run 0 "$WEFT" explain --json --all "$tmp/graph.weft"
    equal "$1: name" "$2" "$(json "$d" '(d["findings"] or [{"name": None}])[0]["name"]')"
    equal "$1: label" "$3" "$(json "$d" '(d["findings"] or [{"label": None}])[0]["label"]')"
    run 0 "$WEFT" explain "$tmp/graph.weft"
    equal "$1: a page" True "$([ "$(wc -l <"$tmp/out")" -lt 80 ] && echo True)"
}
graph chain hang-root last
equal 'chain: all of it' 99999 "$(env WEFT_TRACE="$tmp/graph.weft" "$GRAPHS" chain 100000; "$WEFT" explain --json "$tmp/graph.weft" >"$d"; json "$d" 'd["findings"][0]["affected_total"]')"
graph star hang-root last
graph tree hang-root link
graph circle deadlock first
graph self deadlock first
graph resolved None None
env WEFT_TRACE="$tmp/graph.weft" "$GRAPHS" tangle 100000
run 0 "$WEFT" explain --all "$tmp/graph.weft"
says "$tmp/out" '^1\. (deadlock|hang-root)'
env WEFT_TRACE="$tmp/graph.weft" "$GRAPHS" resolved 100000
run 0 "$WEFT" explain --promise first "$tmp/graph.weft"

finish
