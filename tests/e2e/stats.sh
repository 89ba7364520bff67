#!/bin/bash
# SPDX-License-Identifier: ISC
# weft stats: its numbers against those that awk makes of weft promises, and what it looks like.
. "$(dirname "$0")/lib.sh"
: "${EXAMPLES:?the folder of the built examples}"
unset WEFT_TRACE COLUMNS NO_COLOR

# expected TRACE: type, label, count, pending, failed, p50, p90, p99, max, sum of the latencies for each kind. What
# became another one ends when that one does, as that one does; of what was not created in the trace no latency is known.
expected() {
    "$WEFT" promises "$1" | awk -F '\t' -v OFS='\t' -v CONVFMT=%.0f -v OFMT=%.0f '
        NR > 1 { id[NR] = $1; type[$1] = $2; start[$1] = $4; end[$1] = $5; how[$1] = $6; next_[$1] = $7; label[$1] = $8 }
        END {
            for (i = 2; i <= NR; i++) {
                p = final = id[i]
                while (next_[final] != "-")
                    final = next_[final]
                last = end[final] > end[p] ? end[final] : end[p]
                ends = how[final] == "fulfilled" || how[final] == "failed" || how[final] == "resolved"
                length_ = last > start[p] ? last - start[p] : 0
                print type[p], label[p], how[final], ends && type[p] != "preexisting" ? length_ : "-"
            }
        }' | LC_ALL=C sort -t "$(printf '\t')" -k 1,1 -k 2,2 -k 4,4n | awk -F '\t' -v OFS='\t' -v CONVFMT=%.0f -v OFMT=%.0f '
        function rank(percent) { return n ? length_[int((percent * n + 99) / 100)] : "null" }
        function done() {
            if (count)
                print kind, count, pending + 0, failed + 0, rank(50), rank(90), rank(99), rank(100), sum + 0
            count = pending = failed = n = sum = 0
        }
        $1 "\t" $2 != kind { done(); kind = $1 "\t" $2 }
        { count++ }
        $3 == "pending" { pending++ }
        $3 == "failed" { failed++ }
        $4 != "-" { length_[++n] = $4; sum += $4 }
        END { done() }' | LC_ALL=C sort
}

# found TRACE: the same, by weft stats
found() {
    "$WEFT" stats --json "$1" | python3 -c '
import json, sys
for r in json.load(sys.stdin)["rows"]:
    keys = ["count", "pending", "failed", "p50_ns", "p90_ns", "p99_ns", "max_ns", "total_ns"]
    values = [r["type"], r["label"] or ""] + ["null" if r[k] is None else str(r[k]) for k in keys]
    print("\t".join(values))' | LC_ALL=C sort
}

compare() {
    expected "$1" >"$tmp/expected"
    found "$1" >"$tmp/found"
    same "$1" "$tmp/expected" "$tmp/found"
    checks=$((checks + 1))
    [ -s "$tmp/found" ] || fail "$1: nothing was found"
}

# fits COLUMNS FILE: no line is longer
fits() {
    equal "lines of $2 beyond $1 columns" "" \
        "$(python3 -c 'import sys; [print(l.rstrip()) for l in open(sys.argv[2], encoding="utf-8") if len(l.rstrip("\n")) > int(sys.argv[1])]' "$1" "$2")"
}

# ---- arp_race, whose kinds are known ----

run 0 simulated "$tmp/good.weft" 1048576 "$EXAMPLES/arp_race" good
run 1 simulated "$tmp/bad.weft" 1048576 "$EXAMPLES/arp_race" bad
compare "$tmp/good.weft"
compare "$tmp/bad.weft"

run 0 "$WEFT" stats "$tmp/good.weft"
silent "$tmp/err"
fits 100 "$tmp/out"
says "$tmp/out" '^.*good.weft: 11 promises of 9 kinds in [0-9.]+ ms, 4 pending$'
says "$tmp/out" '^kind +count +/s +pend +fail +p50 +p90 +p99 +max +waiting +ready +running +total$'
says "$tmp/out" '^promise ring.write +2 '
says "$tmp/out" '^task network driver +1 +[0-9.]+ +1 +- +- '
says "$tmp/out" '^event loop +busy [0-9.]+ % of '
says "$tmp/out" '^  longest runs +[0-9.]+ .s at [0-9.]+ .*: '
equal 'colours into a file' 0 "$(grep -c "$(printf '\033')" "$tmp/out" || :)"

# It waits 20 ms for the packet to be sent and 20 ms for the response, all of its life.
run 0 "$WEFT" stats --json "$tmp/good.weft"
query="[r for r in d['rows'] if r['label'] == 'ARP query'][0]"
equal 'ARP query' "('task', 1, 1, 0, 0, 1)" \
    "$(json "$tmp/out" "(lambda r: (r['type'], r['count'], r['resolved'], r['failed'], r['pending'], r['latencies']))($query)")"
equal 'it waited' True "$(json "$tmp/out" "(lambda r: 35e6 < r['waiting_ns'] <= r['max_ns'])($query)")"
equal 'and that is all' True \
    "$(json "$tmp/out" "(lambda r: r['waiting_ns'] + r['ready_ns'] + r['running_ns'] <= r['max_ns'] < 1.05 * (r['waiting_ns'] + r['ready_ns'] + r['running_ns']))($query)")"
equal 'its histogram' 1 "$(json "$tmp/out" "sum(h['count'] for h in ${query}['histogram'])")"
equal 'one loop' "['loop']" "$(json "$tmp/out" "[s['kind'] for s in d['streams']]")"
equal 'hardly busy' True "$(json "$tmp/out" "0 < d['streams'][0]['utilisation'] < 0.2")"
equal 'sums' True \
    "$(json "$tmp/out" "(lambda s: s['busy_ns'] + s['idle_ns'] <= s['span_ns'])(d['streams'][0])")"

# ---- Options ----

run 0 "$WEFT" stats --sort pending --top 2 "$tmp/bad.weft"
equal 'the first row' 1 "$(sed -n '4p' "$tmp/out" | grep -Ec '^promise sleep +4 +[0-9.]+ +1 ')"
says "$tmp/out" '^and 6 more kinds, .* % of the time \(--top 0 shows all\)$'
run 0 "$WEFT" stats --sort name --json "$tmp/good.weft"
equal 'by name' True \
    "$(json "$tmp/out" "(lambda k: k == sorted(k))([(r['type'], r['label']) for r in d['rows']])")"
for key in total count p50 p90 p99 max failed pending waiting ready running; do
    run 0 "$WEFT" stats --sort "$key" --json "$tmp/good.weft"
    field=$key
    case $key in count | failed | pending) ;; *) field=${key}_ns ;; esac
    equal "by $key" True \
        "$(json "$tmp/out" "(lambda k: k == sorted(k, reverse=True))([r['$field'] or 0 for r in d['rows']])")"
done
run 0 "$WEFT" stats --by type --json "$tmp/good.weft"
equal 'types' "['condition', 'promise', 'task']" "$(json "$tmp/out" "sorted(r['type'] for r in d['rows'])")"
equal 'all of them' 11 "$(json "$tmp/out" "sum(r['count'] for r in d['rows'])")"
run 0 "$WEFT" stats --by family --json "$tmp/good.weft"
equal 'families' family "$(json "$tmp/out" "d['by']")"
run 0 "$WEFT" stats --histogram ring.write "$tmp/good.weft"
says "$tmp/out" '^promise ring.write: 2 latencies; p50 [0-9.]+ ms, p90 '
says "$tmp/out" ' - .* 1 +50.0 % █+ p50$'
says "$tmp/out" ' - .* 1 +100.0 % █+ p90 p99 max$'
fits 100 "$tmp/out"
run 0 "$WEFT" stats --histogram write "$tmp/good.weft"
says "$tmp/out" '^promise ring.write: 2 latencies'
run 1 "$WEFT" stats --histogram nowhere "$tmp/good.weft"
says "$tmp/err" 'no promise has a label that contains "nowhere"$'
checks=$((checks + 1))
"$WEFT" stats - <"$tmp/good.weft" | grep -q '^standard input: 11 promises' || fail 'standard input'

run 2 "$WEFT" stats
run 2 "$WEFT" stats "$tmp/good.weft" "$tmp/bad.weft"
run 2 "$WEFT" stats --sort size "$tmp/good.weft"
says "$tmp/err" '^weft stats: --sort: there is no "size"; there are total, .*, name; see '
run 2 "$WEFT" stats --by size "$tmp/good.weft"
run 2 "$WEFT" stats --top many "$tmp/good.weft"
run 1 "$WEFT" stats "$tmp/none"
run 0 "$WEFT" stats --help
says "$tmp/out" '^usage: weft stats '

# ---- On a terminal ----

# terminal COLUMNS [ENVIRONMENT...]: weft stats on one that is so wide
terminal() {
    python3 "$SOURCE_ROOT/tests/e2e/terminal.py" "$1" WEFT_PAGER= "${@:2}" "$WEFT" stats "$tmp/good.weft" >"$tmp/out"
}
terminal 100
checks=$((checks + 1))
grep -q "$(printf '\033\\[1m')" "$tmp/out" || fail 'no colours on a terminal'
terminal 70 NO_COLOR=1
equal 'NO_COLOR' 0 "$(grep -c "$(printf '\033')" "$tmp/out" || :)"
fits 70 "$tmp/out"
says "$tmp/out" '^kind +count +pend +fail +p50 +p99'
terminal 160 NO_COLOR=1
says "$tmp/out" '^kind .* running +total$'

# ---- Real traces, and many labels ----

if [ -d "$DATA" ]; then
    compare "$DATA/net.ctf"
    compare "$DATA/ring-wrapped.ctf"
    run 0 "$WEFT" stats "$DATA/net.ctf"
    fits 100 "$tmp/out"
fi
if [ -x "${MKTRACE:-}" ]; then
    for ((n = 1; n <= 201; n++)); do
        printf '%d 0 creates parent=-1 child=%d type=task\n' "$n" "$n"
        printf '%d 0 label p=%d text="GET /users/%d \xe2\x82\xac"\n' "$n" "$n" "$n"
        printf '%d 0 fulfills p=%d resolver=-1\n' $((n + 1000)) "$n"
    done | sort -n -s -k 1,1 >"$tmp/many.txt"
    checks=$((checks + 1))
    "$MKTRACE" "$tmp/many.ctf" <"$tmp/many.txt" || fail 'mktrace'
    run 0 "$WEFT" stats "$tmp/many.ctf"
    says "$tmp/out" '^task GET /users/# € +201 '
    says "$tmp/out" '^Labels that differ in their numbers only are one kind, with # for the numbers; --by label shows$'
    run 0 "$WEFT" stats --by label "$tmp/many.ctf"
    says "$tmp/out" '^and 181 more kinds, 90.0 % of the time'
    run 0 "$WEFT" stats --json "$tmp/many.ctf"
    equal 'labels' 201 "$(json "$tmp/out" "len(d['rows'])")"
    run 0 "$WEFT" stats --json --by label --top 3 "$tmp/many.ctf"
    equal 'three' "(3, 201)" "$(json "$tmp/out" "(len(d['rows']), d['kinds'])")"
    # Two are enough.
    grep -E '(child|p)=[12]( |$)' "$tmp/many.txt" >"$tmp/two.txt"
    "$MKTRACE" "$tmp/two.ctf" <"$tmp/two.txt"
    run 0 "$WEFT" stats "$tmp/two.ctf"
    says "$tmp/out" '^task GET /users/# € +2 '
    says "$tmp/out" '^Labels that differ in their numbers only'
    run 0 "$WEFT" stats --by label "$tmp/two.ctf"
    says "$tmp/out" '^task GET /users/2 € +1 '
    equal 'nothing is folded' 0 "$(grep -c '^Labels that' "$tmp/out" || :)"
    run 0 "$WEFT" stats --histogram 'GET /users/# €' "$tmp/many.ctf"
    says "$tmp/out" '^task GET /users/# €: 201 latencies; p50 1 µs, '
fi
finish
