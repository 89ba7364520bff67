#!/bin/bash
# SPDX-License-Identifier: ISC
# The sampling profiler says of programs whose CPU time is shared out by construction (../profiles) what is true of them.
# They measure what they use themselves, so a slow or busy machine is no matter; chance is: n samples of a share p
# are off by sqrt(p(1-p)/n), 0.4 percentage points of 10 000 samples and 75 %. Five times that is never by chance.
. "$(dirname "$0")/lib.sh"
: "${PROFILES:?the folder of tests/profiles}"
unset WEFT_TRACE
background=()
trap 'kill -9 "${background[@]}" 2>/dev/null || :; chmod -R u+rwx "$tmp"; rm -rf "$tmp"' EXIT

if ! "$WEFT" sample -o "$tmp/probe.weft" -- true >"$tmp/out" 2>"$tmp/err"; then
    grep -qi 'perf_event' "$tmp/err" && skip "$(head -n 1 "$tmp/err")"
    fail "weft sample: $(cat "$tmp/err")"
    finish
fi

cat >"$tmp/close.py" <<'END_OF_PYTHON'
"""close.py TRUTH PROFILE NAME...: whether the shares that these names have of their sum are true, within 2
percentage points, what chance does to few samples, and what those that are missing could do. Says what is not; and how
many are missing, if many."""
import json, math, sys

truth = {}
for line in open(sys.argv[1], encoding="utf-8"):
    name, tab, ns = line.rstrip("\n").rpartition("\t")
    if tab:
        truth[name] = truth.get(name, 0) + int(ns)
names = sys.argv[3:]
found, samples, seen = {}, 0, 0
profile = json.load(open(sys.argv[2], encoding="utf-8"))
for row in profile["rows"]:
    found[row["name"]] = found.get(row["name"], 0) + row["self"]
    if row["name"] in names:
        samples += row["samples"]
        seen += row["total"] # with what the kernel does in between
wanted, had = (max(sum(of.get(name, 0) for name in names), 1) for of in (truth, found))
missing = max(0, 1 - seen / wanted)
if missing > 0.05:
    print(f"missing: {missing:.2%} of the samples")
for name in names:
    really, said = truth.get(name, 0) / wanted, found.get(name, 0) / had
    chance = math.sqrt(really * (1 - really) / max(samples, 1))
    if abs(really - said) > max(0.02, 5 * chance) + missing:
        print(f"{name}: {said:.2%} instead of {really:.2%}, in {samples} samples")
END_OF_PYTHON

# profile FILE OPTION...: into $tmp/profile.json
profile() {
    run 0 "$WEFT" profile --json --limit 0 "${@:2}" "$1"
    mv "$tmp/out" "$tmp/profile.json"
}

# true_of WHAT NAME...: samples a program as the function taken says; the shares are those that it tells itself.
# taken: writes $tmp/a.weft and $tmp/truth; options: of weft profile
true_of() {
    local what=$1 tries
    shift
    checks=$((checks + 1))
    for ((tries = 0; tries < 3; tries++)); do
        taken
        profile "$tmp/a.weft" "${options[@]}"
        python3 "$tmp/close.py" "$tmp/truth" "$tmp/profile.json" "$@" >"$tmp/wrong"
        grep '^missing' "$tmp/wrong" || break
    done
    sed -i '/^missing/d' "$tmp/wrong"
    [ ! -s "$tmp/wrong" ] || fail "$what: $(paste -s -d, "$tmp/wrong")"
}

# share NAME COLUMN: percent of all that is in $tmp/profile.json
share() {
    json "$tmp/profile.json" "int(100 * sum(r['$2'] for r in d['rows'] if r['name'] == '$1') / max(d['shown']['total'], 1))"
}

# own: CPU time in the program $tmp/stripped itself. What its start and the kernel take besides is the machine's matter.
own() {
    json "$tmp/profile.json" 'sum(r["self"] for r in d["rows"] if r.get("object", "").endswith("/stripped"))'
}

# named: percent of them in heavy and light
named() {
    json "$tmp/profile.json" "int(100 * sum(r['self'] for r in d['rows'] if r['name'] in ('heavy', 'light')) / max($(own), 1))"
}

# at_least WHAT LEAST FOUND
at_least() {
    checks=$((checks + 1))
    [ "$3" -ge "$2" ] || fail "$1: $3 instead of at least $2"
}

# ---- A command, in every way to compile it and to run it

options=(--top)
sampler=(-F 5000)
program=()
taken() {
    run 0 "$WEFT" sample "${sampler[@]}" -o "$tmp/a.weft" -- "${program[@]}"
    mv "$tmp/out" "$tmp/truth"
}
# burns WHAT PROGRAM…
burns() {
    local what=$1
    shift
    program=("$@")
    true_of "$what" heavy light
    at_least "$what: in heavy and light, but for the kernel" 90 "$(json "$tmp/profile.json" \
        "int(100 * sum(r['self'] for r in d['rows'] if r['name'] in ('heavy', 'light')) /
            max(sum(r['self'] for r in d['rows'] if r.get('object') != '[kernel]'), 1))")"
}

burns 'with frame pointers' "$PROFILES/burn" 2000
at_least 'the stacks lead to main' 90 "$(share main total)"
equal 'what was lost' 0 "$(json "$tmp/profile.json" 'd["measured"]["lost"]')"
tenth=$(json "$tmp/profile.json" \
    'int(1000 * sum(r["self"] for r in d["rows"] if r["name"] == "heavy") / d["shown"]["total"])')
run 0 "$WEFT" profile "$tmp/a.weft"
says "$tmp/out" "($((tenth / 10))\.$((tenth % 10))|$(((tenth + 1) / 10))\.$(((tenth + 1) % 10))) % .* heavy "
run 0 "$WEFT" info "$tmp/a.weft"
silent "$tmp/err"

burns 'on one core' "$PROFILES/burn" 2000 1 "$(taskset -pc $$ | grep -o '[0-9]*' | tail -n 1)"
profile "$tmp/a.weft" --top --by core
# It may have begun elsewhere.
equal 'cores' 1 "$(json "$tmp/profile.json" 'len([r for r in d["rows"] if r["self"] > d["shown"]["total"] / 100])')"

burns 'four threads' "$PROFILES/burn" 500 4
profile "$tmp/a.weft" --top --by thread
for i in 1 2 3 4; do
    at_least "burner-$i" 20 "$(json "$tmp/profile.json" \
        "sum(int(100 * r['self'] / d['shown']['total']) for r in d['rows'] if r['name'].startswith('burner-$i'))")"
done

burns inlined "$PROFILES/burn_inlined" 2000
profile "$tmp/a.weft" --lines
at_least 'lines of burn.c' 90 "$(json "$tmp/profile.json" \
    'int(100 * sum(r["self"] for r in d["rows"] if "burn.c:" in r["name"]) / d["shown"]["total"])')"

sampler=(-F 1000 --dwarf) # each sample has a copy of the stack
burns 'without frame pointers' "$PROFILES/burn_no_fp" 4000
at_least 'unwound, the stacks lead to main' 90 "$(share main total)"
sampler=(-F 5000)

# Its names are in a file of their own: beside it, or in a folder by build id; with neither, there are none.
if command -v objcopy >/dev/null; then
    objcopy --only-keep-debug "$PROFILES/burn" "$tmp/burn.debug"
    objcopy --strip-all --add-gnu-debuglink="$tmp/burn.debug" "$PROFILES/burn" "$tmp/stripped"
    burns 'stripped, with a link to its names' "$tmp/stripped" 2000
    rm "$tmp/burn.debug"
    profile "$tmp/a.weft" --top
    at_least 'names stand in the file' 90 "$(named)"

    objcopy --strip-all "$PROFILES/burn" "$tmp/stripped"
    program=("$tmp/stripped" 200)
    taken
    # By object: a function may have its name in two of them.
    profile "$tmp/a.weft" --by object
    own='[r["self"] for r in d["rows"] if r["name"].endswith("/stripped")]'
    before=$(json "$tmp/profile.json" "$own")
    profile "$tmp/a.weft" --top
    equal 'heavy, without a name' 0 "$(share heavy self)"
    equal 'why' stripped "$(json "$tmp/profile.json" '[b["why"] for b in d["without_name"] if "/stripped" in b["object"]][0]')"
    id=$(readelf -n "$PROFILES/burn" | sed -n 's/.*Build ID: *//p')
    debug=$tmp/root/usr/lib/debug/.build-id/${id:0:2}
    mkdir -p "$debug" "$tmp/root/$tmp"
    cp "$tmp/stripped" "$tmp/root/$tmp"
    objcopy --only-keep-debug "$PROFILES/burn" "$debug/${id:2}.debug"
    profile "$tmp/a.weft" --by object --sysroot "$tmp/root"
    equal "the program's CPU time" "$before" "$(json "$tmp/profile.json" "$own")"
    profile "$tmp/a.weft" --top --sysroot "$tmp/root"
    at_least 'found later, by build id' 90 "$(named)"
    python3 "$tmp/close.py" "$tmp/truth" "$tmp/profile.json" heavy light | sed '/^missing/d' >"$tmp/wrong"
    silent "$tmp/wrong"
fi

program=("$PROFILES/forks" 400 "$PROFILES/burn" 1200)
true_of 'fork and exec' parent child heavy light

# ---- Off the CPU

program=("$PROFILES/blocks" 1500)
# Who calls a function of libc, which has no frame pointer, is known by a piece of the stack; or by DWARF alone.
options=(--top --off-cpu)
for stacks in --off-cpu --dwarf; do
    sampler=(-F 1000 $stacks)
    taken
    profile "$tmp/a.weft" "${options[@]}"
    equal "switches that were lost, by $stacks" 0 "$(json "$tmp/profile.json" 'd["measured"]["lost_other"]')"
    for name in wait_for_pipe take_a_nap; do
        read -r least most < <(awk -F '\t' -v name="$name" \
            '{ told[$1] = $2 } END { print told[name " at least"], told[name] }' "$tmp/truth")
        found=$(json "$tmp/profile.json" "sum(r['total'] for r in d['rows'] if r['name'] == '$name')")
        checks=$((checks + 1))
        # The clock of a sleep runs a little before the thread is away; four fifths of it are enough.
        [ $((4 * least / 5)) -le "$found" ] && [ "$found" -le "$most" ] ||
            fail "time in $name, by $stacks: $found ns, and not between $least and $most"
    done
done
run 0 "$WEFT" profile --off-cpu "$tmp/a.weft"
says "$tmp/out" 'waits .*wait_for_pipe'
options=(--top)

# ---- For promises

program=("$PROFILES/promises" 2000)
taken() {
    run 0 "$WEFT" record --sample=5000 -o "$tmp/a.weft" -- "${program[@]}"
    mv "$tmp/out" "$tmp/truth"
}
# Before it begins, the recorder touches its file: that is for nobody, too.
for threads in 1 2; do
    program=("$PROFILES/promises" $((2000 / threads)) "$threads")
    options=(--top)
    true_of "functions of promises, $threads threads" parse store turn_over
    equal 'functions add up' True "$(json "$tmp/profile.json" 'sum(r["self"] for r in d["rows"]) == d["shown"]["total"]')"
    options=(--top --by label)
    true_of "labels of promises, $threads threads" 'PUT /x' 'GET /y'
    equal 'labels add up' True "$(json "$tmp/profile.json" 'sum(r["self"] for r in d["rows"]) == d["shown"]["total"]')"
    at_least 'the loop' 15 "$(share '(no promise)' self)"
    equal 'the same by function and by label' True \
        "$(profile "$tmp/a.weft" --top; all=$(json "$tmp/profile.json" '(d["shown"]["total"], d["shown"]["samples"])')
           profile "$tmp/a.weft" --top --by label; json "$tmp/profile.json" "(d['shown']['total'], d['shown']['samples']) == $all")"
done

# On whose behalf: the connections. Stacks go on with them instead of with the loop.
profile "$tmp/a.weft" --top --by root
at_least 'for the writer' 50 "$(share 'from the writer' self)"
at_least 'for the reader' 15 "$(share 'from the reader' self)"
profile "$tmp/a.weft" --tree --async-stacks
paths='{c["call"]: c for c in d["calls"]}'
equal 'an asynchronous stack' True "$(json "$tmp/profile.json" \
    "[any(c['name'] == 'store' and (lambda of, up: up(up, of, c))($paths, \
      lambda up, of, c: c['name'].startswith('from the writer') or c['parent'] is not None and up(up, of, of[c['parent']])) \
      for c in d['calls'])][0]")"

# ---- A server under load

# By label, function and root the same; what the loop does is for no promise.
if [ -x "${EXAMPLES:-}/kv_server" ] && [ -x "$EXAMPLES/kv_load" ]; then
    mkfifo "$tmp/said"
    "$WEFT" record --sample -o "$tmp/kv.weft" -- "$EXAMPLES/kv_server" "$tmp/kv" >"$tmp/said" 2>"$tmp/kv.err" &
    server=$!
    background+=("$server")
    read -r line <"$tmp/said" || :
    run 0 "$EXAMPLES/kv_load" --port "${line##*:}" --requests 20000 --fill
    kill -TERM "$server"
    wait "$server" || fail "weft record --sample: $(cat "$tmp/kv.err")"
    says "$tmp/kv.err" 'kv\.weft: .* samples of [0-9]+ threads'
    sums=
    for by in function label root thread core promise; do
        profile "$tmp/kv.weft" --top --by "$by"
        sums+=" $(json "$tmp/profile.json" 'sum(r["self"] for r in d["rows"])')"
        [ "$by" = function ] || [ "$by" = thread ] || [ "$by" = core ] ||
            at_least "for no promise, by $by" 1 "$(share '(no promise)' self)"
        [ "$by" != root ] || at_least 'for connections' 10 "$(json "$tmp/profile.json" \
            "int(100 * sum(r['self'] for r in d['rows'] if r['name'].startswith('from port')) / d['shown']['total'])")"
    done
    equal 'sums by everything' 1 "$(echo "$sums" | tr ' ' '\n' | sed '/^$/d' | sort -u | wc -l)"
    profile "$tmp/kv.weft" --tree --async-stacks
    at_least 'requests in stacks' 5 "$(json "$tmp/profile.json" \
        'len({c["name"] for c in d["calls"] if c["name"].startswith(("GET /", "PUT /"))})')"
    run 0 "$WEFT" render --flame "$tmp/kv.svg" "$tmp/kv.weft"
    says "$tmp/kv.svg" '^<svg'
    run 0 "$WEFT" info "$tmp/kv.weft"
fi

# ---- Nothing, and mistakes

run 0 "$WEFT" sample -F 1 -o "$tmp/nothing.weft" -- true
run 1 "$WEFT" profile "$tmp/nothing.weft"
says "$tmp/err" 'nothing\.weft: .*no samples'
run 0 env WEFT_TRACE="$tmp/plain.weft" "$PROFILES/promises" 1
run 1 "$WEFT" profile "$tmp/plain.weft"
says "$tmp/err" 'record --sample'
run 0 "$WEFT" sample -o "$tmp/plain.weft" -- "$PROFILES/burn" 20
run 1 "$WEFT" profile --by label "$tmp/plain.weft"
says "$tmp/err" 'promises'
run 127 "$WEFT" sample -o "$tmp/no.weft" -- "$tmp/no/program"
says "$tmp/err" 'no/program'
run 1 "$WEFT" sample -o "$tmp/no.weft" -p 99999999
says "$tmp/err" 'no process 99999999'
run 1 "$WEFT" sample -o "$tmp/no/where" -- true
says "$tmp/err" 'no/where'
for wrong in '-F 0' '-F x' '-c 0' '-c 18446744073709551616' '-p x' '-e nonsense' '-a -p 1' --nonsense; do
    # shellcheck disable=SC2086 # words
    run 2 "$WEFT" sample -o "$tmp/no.weft" $wrong -- true
    says "$tmp/err" '^weft sample: '
done
run 2 "$WEFT" sample
run 1 "$WEFT" sample -F 4000000000 -o "$tmp/no.weft" -- true
says "$tmp/err" 'perf_event_max_sample_rate'
run 1 "$WEFT" sample -c 18446744073709551615 -o "$tmp/no.weft" -- true
equal 'what mistakes left behind' '' "$(find "$tmp" -name 'no.*')"

# ---- All cores, of which one is kept busy

if [ "$(id -u)" = 0 ]; then
    core=$(taskset -pc $$ | grep -o '[0-9]*' | tail -n 1)
    only=only$$ # other tests may run burn at the same time
    cp "$PROFILES/burn" "$tmp/$only"
    run 0 "$WEFT" sample -a -o "$tmp/a.weft" -- "$tmp/$only" 1000 1 "$core"
    mv "$tmp/out" "$tmp/truth"
    profile "$tmp/a.weft" --top --thread "$only" --by core
    equal 'the core of what is pinned' "core $core" "$(json "$tmp/profile.json" 'd["rows"][0]["name"]')"
    profile "$tmp/a.weft" --top --thread "$only"
    # Of all that runs on a busy machine, some may be lost; ../torture/run has the machine for itself.
    at_least 'samples of it' "$([ -n "${ALONE:-}" ] && echo 800 || echo 100)" "$(json "$tmp/profile.json" 'd["shown"]["samples"]')"
    # Its start and the kernel take what they take; how heavy and light share the rest, it has measured itself.
    python3 "$tmp/close.py" "$tmp/truth" "$tmp/profile.json" heavy light | sed '/^missing/d' >"$tmp/wrong"
    silent "$tmp/wrong"
fi

# ---- A process that runs already, beside perf

# stopped PROGRAM…: it begins when it is let go (SIGCONT); sets pid
stopped() {
    sh -c 'kill -STOP $$; exec "$0" "$@"' "$@" >"$tmp/truth" &
    pid=$!
    background+=("$pid")
    wait_for grep -q '^[0-9]* ([^)]*) T' "/proc/$pid/stat"
}

beside() {
    stopped "$PROFILES/dozen" 3000
    rm -f "$tmp/a.weft"
    "$WEFT" sample -F 5000 -o "$tmp/a.weft" -p "$pid" >"$tmp/out" 2>"$tmp/err" &
    local weft=$!
    # Without build ids, which it collects at the end: perf 6.1 ends there by an assertion of its own now and then.
    env -u MALLOC_PERTURB_ perf record -B -N -q -e cpu-clock -F 5000 -m 8M -g -o "$tmp/perf.data" -D -1 \
        --control "fifo:$tmp/enable,$tmp/enabled" -p "$pid" >/dev/null 2>"$tmp/perf.err" &
    local perf=$!
    background+=("$weft" "$perf")
    wait_for test -s "$tmp/a.weft" # the file comes after the events
    echo enable >&7
    read -r -t 120 _ <&8 || fail "perf record: $(cat "$tmp/perf.err")"
    kill -CONT "$pid"
    wait "$pid" "$weft" || fail "weft sample -p: $(cat "$tmp/err")"
    wait "$perf" || fail "perf record: $(cat "$tmp/perf.err")"
}

# reported: perf says which six functions are the hottest. Some of its files perf 6.1 cannot read itself.
reported() {
    # To perf 6.12 the function May is a mangled name.
    env -u MALLOC_PERTURB_ perf report -i "$tmp/perf.data" --stdio --no-children -g none --no-inline --no-demangle --sort sym \
        >"$tmp/report" 2>"$tmp/report.err" || return
    sed -n 's/^ *[0-9.]*% *\[[.k]\] *//p' "$tmp/report" | head -n 6 | tr -d ' ' | sort >"$tmp/hottest"
    [ -s "$tmp/hottest" ]
}

if command -v perf >/dev/null; then
    mkfifo "$tmp/enable" "$tmp/enabled"
    exec 7<>"$tmp/enable" 8<>"$tmp/enabled"
    : >"$tmp/hottest"
    for _ in 1 2 3; do
        beside
        reported && break
    done
    profile "$tmp/a.weft" --top
    weft=$(json "$tmp/profile.json" 'd["shown"]["samples"]')
    perf=$(perf report -i "$tmp/perf.data" --stats 2>/dev/null | sed -n 's/.* SAMPLE events: *\([0-9]*\).*/\1/p' | head -n 1)
    # All of them: else it is not seen how many samples are missing.
    cut -f 1 "$tmp/truth" | xargs python3 "$tmp/close.py" "$tmp/truth" "$tmp/profile.json" >"$tmp/wrong"
    sed -i '/^missing/d' "$tmp/wrong"
    checks=$((checks + 1))
    [ "$perf" -gt 1000 ] && [ $((50 * (weft > perf ? weft - perf : perf - weft))) -le "$perf" ] ||
        fail "samples of the same process: $weft, and of perf $perf"
    silent "$tmp/wrong"
    # The hottest functions of perf report are among those that weft finds. Ten, with ten seconds: bench/run-sample.
    checks=$((checks + 1))
    [ -s "$tmp/hottest" ] || fail "perf report names nothing: $(tail -n 3 "$tmp/report.err")"
    equal 'the six hottest' "$(xargs <"$tmp/hottest")" \
        "$(json "$tmp/profile.json" '"\n".join(r["name"] for r in d["rows"][:6])' | sort | xargs)"
else
    missing 'perf (linux-perf)'
fi

finish
