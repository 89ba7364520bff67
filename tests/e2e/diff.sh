#!/bin/bash
# SPDX-License-Identifier: ISC
# weft diff: the examples, good and bad, and what it does with wrong files and options.
. "$(dirname "$0")/lib.sh"
: "${EXAMPLES:?the folder of the built examples}"
unset WEFT_TRACE COLUMNS

# record STATUS NAME ARGUMENT...: arp_race, as NAME.weft; two recordings differ in times, as two runs do
recordings=0
record() {
    local status=$1 name=$2
    shift 2
    recordings=$((recordings + 1))
    SIMULATED_SEED=$recordings run "$status" simulated "$tmp/$name.weft" 4194304 "$EXAMPLES/arp_race" "$@"
}

# diff_of NAME...: the text in $tmp/out on one line, as $tmp/line; it fits into 100 columns
diff_of() {
    run 0 "$WEFT" diff "${@/%/.weft}"
    silent "$tmp/err"
    tr -s '\n ' '  ' <"$tmp/out" >"$tmp/line"
    equal "$*: columns" 0 "$(LC_ALL=C.UTF-8 awk 'length > 100' "$tmp/out" | wc -l)"
}

record 0 good good
record 0 good2 good
record 1 bad bad
record 1 bad2 bad
record 0 fixed fixed bad
cd "$tmp"

# The order in which two events came
at='[0-9.]+ ms'
diff_of good bad
says line "In the good run 'ring.write' was fulfilled \(at $at\) before 'ARP response' was signalled \(at $at\); in the bad run after: 'ARP response' was signalled at $at, 'ring.write' was fulfilled at $at\. So 'ARP query' began to wait for 'ARP response' only at $at, too late, and still waits\."
equal 'what comes first' 'Where they part' "$(head -n 1 out)"
says line "'ARP query' \(task 4\), created by 'TCP connect' for 'main', is pending when the trace ends; in the good run it was fulfilled at $at\."
says line "What follows from that 'SYN-ACK' .* 'ring.write' "
diff_of good good2 bad
says line "In the good run 'ring.write' was fulfilled "
diff_of fixed bad
says line "In the bad run 'ARP query' began to wait for 'ARP response' at $at, when that had been signalled already \(at $at\), and still waits; in the good run it never waited for it\."
says line "'ARP response' \(condition 5\), .* is of type promise in the good run\."

# Nothing is different
for pair in 'good good2' 'bad bad2' 'good good' 'good good2 good' 'good bad bad2'; do
    # shellcheck disable=SC2086 # words
    diff_of $pair
    says line '^No difference that matters: (11|9) of 11 promises aligned; compared( with 2 good runs)?: '
    # shellcheck disable=SC2086
    run 0 "$WEFT" diff --check ${pair// /.weft }.weft
done

# For programs
run 3 "$WEFT" diff --check good.weft bad.weft
run 0 "$WEFT" diff --json good.weft bad.weft
equal 'json' "['good.weft'] bad.weft True 9" \
    "$(json out '"%s %s %s %s" % (d["good"], d["bad"], d["different"], d["aligned"]["promises"])')"
equal 'json: order' 'ring.write ARP response' \
    "$(json out '" ".join(d["divergence"]["good"][x]["label"] for x in ("first", "second"))')"
equal 'json: times' 'True True' \
    "$(json out '"%s %s" % tuple(x["first"]["time_ns"] * sign < x["second"]["time_ns"] * sign for x, sign in ((d["divergence"]["good"], 1), (d["divergence"]["bad"], -1)))')"
equal 'json: changes' 'outcome outcome outcome missing missing' \
    "$(json out '" ".join(c["kind"] for c in d["changes"])')"
run 0 "$WEFT" diff --json good.weft good2.weft
equal 'json: no difference' 'None [] [] [] False' \
    "$(json out '"%s %s %s %s %s" % (d["divergence"], d["changes"], d["latencies"], d["running"], d["different"])')"

# A server, twice under the same load. In real time: that nothing is different holds on a machine that is not busy
# (ALONE, as in ../torture/run); here it is two traces of a real server.
if [ -x "$EXAMPLES/kv_server" ] && [ -x "$EXAMPLES/kv_load" ]; then
    mkfifo said
    flushed() {
        "$WEFT" promises $name.weft | awk -F'\t' '$6 == "pending" && $8 == "flush" { some = 1 } END { exit some }'
    }
    for name in kv kv2; do
        rm -f kv.log
        WEFT_TRACE=$name.weft "$EXAMPLES/kv_server" kv.log >said 2>complaints </dev/null &
        server=$!
        read -r port <said || :
        run 0 "$EXAMPLES/kv_load" --port "${port##*:}" --connections 3 --requests 300
        # A timer that still runs would be cancelled here, and not there.
        wait_for flushed
        kill "$server"
        wait "$server" 2>/dev/null || :
    done
    diff_of kv kv2
    if [ -n "${ALONE:-}" ]; then
        checks=$((checks + 1))
        grep -q 'Where they part' out && fail "kv_server: $(head -n 4 out)"
    fi
fi

# Two programs; wrong files and options
if [ -s kv.weft ]; then
    diff_of kv bad
    says line '^(No promise has|Only [0-9]+ % of the promises have) a counterpart: are these two runs of one program\?'
    run 3 "$WEFT" diff --check kv.weft bad.weft
fi
run 0 "$WEFT" diff --help
says out '^usage: weft diff '
run 2 "$WEFT" diff
run 2 "$WEFT" diff good.weft
says err '^weft diff: two FILEs at least are wanted'
run 2 "$WEFT" diff --wrong good.weft bad.weft
run 1 "$WEFT" diff good.weft nothing.weft
says err '^weft: nothing.weft: '
silent out
echo nonsense >nonsense
run 1 "$WEFT" diff nonsense good.weft
finish
