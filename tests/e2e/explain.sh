#!/bin/bash
# SPDX-License-Identifier: ISC
# weft explain: the command line, the bug that weft began with, and graphs that are hard to look into.
. "$(dirname "$0")/lib.sh"
: "${EXAMPLES:?the folder of the built examples}" "${GRAPHS:?the program graphs}" "${MKSAMPLES:?the program mksamples}"
unset WEFT_TRACE

# ---- The lost wake-up of arp_race ----

for how in good bad fixed; do
    run "$([ $how != bad ]; echo $?)" simulated "$tmp/$how.weft" 4194304 "$EXAMPLES/arp_race" "$how"
done
for how in good fixed; do
    run 0 "$WEFT" explain --check=possible "$tmp/$how.weft"
    says "$tmp/out" "^$tmp/$how.weft: nothing found in [0-9]+ events"
    equal "$how: lines" 1 "$(tr -d '\n' <"$tmp/out" | grep -c 'looked for deadlock, .*serial-waits, .*\.')"
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

# ---- Where the time of the slowest went ----

simulated "$tmp/lock.weft" 4194304 "$EXAMPLES/bugs/contention" bad
run 0 "$WEFT" explain "$tmp/lock.weft"
equal 'not beside what is likely' 0 "$(grep -c '^Where the time' "$tmp/out" || :)"
run 0 "$WEFT" explain --check --ignore contention "$tmp/lock.weft"
says "$tmp/out" 'nothing found'
says "$tmp/out" '^Where the time of the slowest went$'
tr -s ' \n' ' ' <"$tmp/out" >"$tmp/words"
says "$tmp/words" "'GET /price' \(60, most about [0-9.]+ ms\) spent [0-9]+ % of their time waiting for 'cache lock', which 'GET /price' held\."
says "$tmp/out" "^     weft explain --promise 'GET /price' $tmp/lock.weft$"
run 0 "$WEFT" explain --promise 'GET /price' "$tmp/lock.weft"
run 0 "$WEFT" explain --only deadlock "$tmp/lock.weft"
equal 'not where one thing was asked for' 0 "$(grep -c '^Where the time' "$tmp/out" || :)"
run 0 "$WEFT" explain --json "$tmp/lock.weft"
equal 'in JSON always' "lock cache lock GET /price" \
    "$(json "$d" '"{kind} {name} {held_by}".format(**d["slow"][0]["cause"]).replace(chr(39), "")')"
run 0 "$WEFT" explain --json "$tmp/good.weft"
equal 'healthy' '[]' "$(json "$d" 'd["slow"]')"

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
printf '%s\n' '0 0 creates parent=-1 child=1 type=task' '1 0 label p=1 text="b\xc3\xbcro [7]"' '2 0 label p=1 text="__should_resolve"' \
    '3 0 switch p=-1' '9 0 creates parent=-1 child=2 type=task' '10 0 fulfills resolver=-1 p=2' | "$MKTRACE" "$tmp/marked.ctf"
name=$("$WEFT" explain --json "$tmp/marked.ctf" >"$tmp/json" && json "$tmp/json" 'd["findings"][0]["name"]')
for pattern in $'b\303\274ro [7]' 'b?ro [7]' '* [7]' 'b*?*]' '*' $'?\\\303\274ro*'; do
    echo "$name $pattern" >"$tmp/known"
    LC_ALL=C run 0 "$WEFT" explain --check --accept "$tmp/known" "$tmp/marked.ctf"
done
for pattern in 'b??ro [7]' '* 7' '* [7' '*[[]7]' 'b\*'; do
    echo "$name $pattern" >"$tmp/known"
    run 3 "$WEFT" explain --check --accept "$tmp/known" "$tmp/marked.ctf"
done
run 2 "$WEFT" explain --accept /dev/zero "$tmp/marked.ctf"
says "$tmp/err" 'is no list: '
run 2 "$WEFT" explain --accept <(yes '#') "$tmp/marked.ctf"
run 0 "$WEFT" explain --json "$tmp/good.weft" "$tmp/bad.weft"
equal 'two files' '[0, 1]' "$(json "$d" '[len(t["findings"]) for t in d["traces"]]')"
run 3 "$WEFT" explain --check "$tmp/good.weft" "$tmp/bad.weft"
"$WEFT" explain - <"$tmp/bad.weft" >"$tmp/piped"
says "$tmp/piped" '^1\. lost-wakeup'

# ---- Mistakes ----

run 2 "$WEFT" explain
says "$tmp/err" '^weft explain: no FILE is given'
run 2 "$WEFT" explain --only lost-wakup "$tmp/bad.weft"
says "$tmp/err" 'there is no "lost-wakup" \(did you mean "lost-wakeup"\?\)'
run 2 "$WEFT" explain --check=sure "$tmp/bad.weft"
says "$tmp/err" 'there is no "sure"; there are possible, likely, certain'
run 2 "$WEFT" explain --spin 0 "$tmp/bad.weft"
says "$tmp/err" 'a number from 1 on'
run 2 "$WEFT" explain --block 0ms "$tmp/bad.weft"
run 2 "$WEFT" explain --promise x "$tmp/good.weft" "$tmp/bad.weft"
run 2 "$WEFT" explain --accept "$tmp/none" "$tmp/bad.weft"
says "$tmp/err" 'none: cannot be opened'
echo 'hangroot' >"$tmp/known"
run 2 "$WEFT" explain --accept "$tmp/known" "$tmp/bad.weft"
says "$tmp/err" 'line 1: expected the name of a finding'
for wrong in /dev/zero "$tmp/none" <(yes 'lock: a'); do
    run 2 "$WEFT" explain --words "$wrong" "$tmp/bad.weft"
done
printf '# mine\r\n\nmay-last: accept\nlasts: idle\n' >"$tmp/words"
run 2 "$WEFT" explain --words "$tmp/words" "$tmp/bad.weft"
says "$tmp/err" 'words: line 4: expected timer, lock, may-last'
printf 'timer: tick\ntimer: Tick' >"$tmp/words"
run 2 "$WEFT" explain --words "$tmp/words" "$tmp/bad.weft"
says "$tmp/err" 'words: line 2: a word is small letters'
run 0 "$WEFT" explain --words "$(dirname "$0")/../../data/words" "$tmp/bad.weft"
says "$tmp/out" '^1\. lost-wakeup'
run 1 "$WEFT" explain "$tmp/none.weft"
echo 'no trace' >"$tmp/text"
run 1 "$WEFT" explain "$tmp/text" "$tmp/bad.weft"
says "$tmp/out" '^1\. lost-wakeup'
run 1 "$WEFT" explain --promise nonsense "$tmp/bad.weft"

# ---- What is missing is said, also where nothing is found ----

simulated "$tmp/wrapped.weft" 131072 "$GRAPHS" resolved 20000
run 0 "$WEFT" explain "$tmp/wrapped.weft"
says "$tmp/out" 'nothing found'
says "$tmp/out" '^The ring buffer had wrapped'
run 3 "$WEFT" explain --check "$tmp/wrapped.weft" # of 20 000 that were pending at once, most were forgotten

# Nothing that matters is gone. Then events are missing between others, as where a thread is interrupted while it takes
# the oldest packet: that nothing is found is no good news then.
simulated "$tmp/turns.weft" 131072 "$GRAPHS" turns 20000
run 0 "$WEFT" explain --check=possible "$tmp/turns.weft"
says "$tmp/out" '^The ring buffer had wrapped'
python3 -c 'import struct, sys
trace = bytearray(open(sys.argv[1], "rb").read())
newest = at = 0
while at < len(trace):
    kind, bits = struct.unpack_from("<H4xQ", trace, at + 26)
    if kind == 1 and trace[at + 72:at + 80] > bytes(8):
        newest = max(newest or at, at, key=lambda p: struct.unpack_from("<Q", trace, p + 72))
    at += bits // 8
before, = struct.unpack_from("<Q", trace, newest + 80)
struct.pack_into("<Q", trace, newest + 80, before + 1000)
open(sys.argv[2], "wb").write(trace)' "$tmp/turns.weft" "$tmp/gap.weft"
run 3 "$WEFT" explain --check=certain "$tmp/gap.weft"
says "$tmp/out" 'nothing found'
says "$tmp/out" '^Some events in between are missing'
run 0 "$WEFT" explain "$tmp/gap.weft"
run 0 "$WEFT" info "$tmp/gap.weft"
says "$tmp/out" '^  missing       1,000 events between those that are there$'
says "$tmp/out" ' [0-9,]+ overwritten [+] 1,000 missing [+] 0 discarded$'
run 0 "$WEFT" render -o "$tmp/gap.svg" "$tmp/gap.weft"
says "$tmp/gap.svg" 'events of a thread are missing'

# ---- Hard graphs ----

# graph SHAPE NAME LABEL: the first finding in a trace of that shape
graph() {
    simulated "$tmp/graph.weft" 67108864 "$GRAPHS" "$1" 100000
    run 0 "$WEFT" explain --json --all "$tmp/graph.weft"
    equal "$1: name" "$2" "$(json "$d" '(d["findings"] or [{"name": None}])[0]["name"]')"
    equal "$1: label" "$3" "$(json "$d" '(d["findings"] or [{"label": None}])[0]["label"]')"
    run 0 "$WEFT" explain "$tmp/graph.weft"
    equal "$1: a page" True "$([ "$(wc -l <"$tmp/out")" -lt 80 ] && echo True)"
}
graph chain hang-root last
equal 'chain: all of it' 99999 "$(simulated "$tmp/graph.weft" 67108864 "$GRAPHS" chain 100000; "$WEFT" explain --json "$tmp/graph.weft" >"$d"; json "$d" 'd["findings"][0]["affected_total"]')"
graph star hang-root last
graph tree hang-root link
graph circle deadlock first
graph self deadlock first
graph resolved None None
simulated "$tmp/graph.weft" 67108864 "$GRAPHS" tangle 100000
run 0 "$WEFT" explain --all "$tmp/graph.weft"
says "$tmp/out" '^1\. (deadlock|hang-root)'
simulated "$tmp/graph.weft" 67108864 "$GRAPHS" resolved 100000
run 0 "$WEFT" explain --promise first "$tmp/graph.weft"

run 0 "$WEFT" explain --pending "$tmp/graph.weft"
simulated "$tmp/graph.weft" 67108864 "$GRAPHS" tangle 100000
run 0 "$WEFT" explain --pending "$tmp/graph.weft"
run 0 "$WEFT" explain --pending --all "$tmp/graph.weft"

# ---- What is pending, as a tree ----

{
    printf '%s\n' 'program server' 'thread 0 10 0 main' '0 create 1 task main' '0 create 2 lock table' '0 run 0 on 0'
    for i in 10 20 30; do # requests that are alike, each with a query, which waits for one lock
        printf '100 %s\n' "create $i request GET /$i by 1" "create $((i + 1)) query row $i by $i" \
            "run $i on 0" "wait $((i + 1)) on 0" "run $((i + 1)) on 0" 'wait 2 on 0' 'run 0 on 0'
    done
    for i in 40 41 42 43; do
        echo "200 create $i timer tick $i"
    done
    for i in 50 51 52; do # in a circle
        echo "300 create $i task part $i"
    done
    printf '300 %s\n' 'run 50 on 0' 'wait 51 on 0' 'run 51 on 0' 'wait 52 on 0' 'run 52 on 0' 'wait 50 on 0' 'run 0 on 0' \
        'create 60 task done' 'end 60 on 0' 'create 61 task crash' 'run 61 on 0'
} | "$MKSAMPLES" "$tmp/tree.ctf"
run 0 "$WEFT" explain --pending "$tmp/tree.ctf"
# Sentences are at most 100 columns wide.
sed 's/, pending for [^ ]* ns, from [^ ]*mksamples\.c:[0-9]*//; /^$/q' "$tmp/out" | sed -z ':a; s/\((and[^)\n]*\)\n *\([^)]*)\)/\1 \2/; ta' >"$tmp/tree"
cat >"$tmp/expected" <<'EOF'
16 promises pending:
   'main' (task 1)
      created 'GET /10' (request 3) (and 2 more like it)
         waits for 'row 10' (query 4)
            waits for 'table' (lock 2)
   'tick 40' (timer 9) (and 3 more like it)
   'crash' (task 17), runs
   'part 50' (task 13)
      waits for 'part 51' (task 14)
         waits for 'part 52' (task 15)
            waits for 'part 50' (task 13) (see above)

EOF
same 'the tree' "$tmp/expected" "$tmp/tree"
run 0 "$WEFT" explain --pending --all "$tmp/tree.ctf"
equal 'each promise once' '16 16' "$(sed -n '1d; /^$/q; /see above/!p' "$tmp/out" | sed "s/.*' (\([a-z]* [0-9]*\)).*/\1/" |
    sort | uniq -c | awk '{ n += $1 } END { print NR, n }')"
run 0 "$WEFT" explain --pending --json "$tmp/tree.ctf"
equal 'as data' '16 [4] [2] True' "$(json "$tmp/out" \
    '"%d %s %s %s" % (len(d["pending"]), *[p["waits_for"] for p in d["pending"][2:4]], d["pending"][-1]["running"])')"

# ---- Whose core it was ----

# blocked [out|outp]: a run of 40 ms, in which its thread is away from its core for 36 ms, since it waits, or since others have it
blocked() {
    printf '%s\n' 'program server' 'object /opt/server' 'function work /src/work.c 1 2' 'thread 0 10 0 main' \
        '0 create 1 task main' '0 run 1 on 0' '1000000 run 0 on 0' '10000000 create 2 render template' \
        '10000000 run 2 on 0' '50000000 end 2 on 0' '50000000 run 0 on 0' '60000000 run 1 on 0' '61000000 run 0 on 0' \
        ${1:+"12000000 $1 0 0 work" '48000000 in 0 0'} | "$MKSAMPLES" "$tmp/core.weft"
    run 0 "$WEFT" explain --all "$tmp/core.weft"
}
blocked
says "$tmp/out" "^   'template' \(render 2\) ran for 40 ms without a break, from 10 ms on\."
says "$tmp/out" '^How long something ran is by the clock'
blocked out
says "$tmp/out" "^   'template' \(render 2\) ran for 40 ms without a break, from 10 ms on\."
says "$tmp/out" '^How long something ran is without the time in which others had its core'
blocked outp
says "$tmp/out" '^.*core.weft: nothing found'
run 0 "$WEFT" explain --json --block 3ms "$tmp/core.weft"
equal 'times' core "$(json "$tmp/out" 'd["times"]')"
run 0 "$WEFT" explain --all --block 3ms "$tmp/core.weft"
says "$tmp/out" "^   'template' \(render 2\) ran for 4 ms without a break, from 10 ms on; others had its"

finish
