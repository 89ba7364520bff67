#!/bin/bash
# SPDX-License-Identifier: ISC
# weft sample -p of a process that hangs: where each thread waits, though none leaves its core any more. And how sampling
# is ended in a job in the background.
. "$(dirname "$0")/lib.sh"
: "${PROFILES:?the folder of tests/profiles}"
unset WEFT_TRACE
cd "$tmp"
trap 'kill -9 "${hanging[@]}" 2>/dev/null || :; rm -rf "$tmp"' EXIT
hanging=()

"$WEFT" sample -o probe.samples true 2>probe.err ||
    if grep -Eq 'no permission|no perf_event_open' probe.err; then skip "$(cat probe.err)"; fi
mkfifo fifo never
exec {input}<>fifo {never}<>never

# hang PROGRAM: starts it, and waits until all three threads wait
hang() {
    local sleeping=0 tries
    "$1" <fifo &
    pid=$!
    hanging+=("$pid")
    for ((tries = 0; tries < 30000 && sleeping < 3; tries++)); do
        sleeping=$(grep -l '^State:.S' "/proc/$pid/task"/*/status 2>/dev/null | wc -l)
        read -r -t 0.01 _ <&"$never" || :
    done
    equal "threads of $1 that wait" 3 "$sleeping"
}

# The architectures of which the stack is known without the frame pointer
[ "$(uname -m)" = x86_64 ] || skip "not tried on $(uname -m)"
for program in deadlock deadlock_O0 deadlock_fp; do
    hang "$PROFILES/$program"
    before=$(cat "/proc/$pid/task"/*/status | grep -c voluntary)
    run 0 "$WEFT" sample --off-cpu --duration 300ms -o a.samples -p "$pid"
    says "$tmp/err" 'see weft profile --off-cpu'
    equal 'it lives' "$before" "$(cat "/proc/$pid/task"/*/status | grep -c voluntary)"
    run 0 "$WEFT" profile --off-cpu a.samples
    cp "$tmp/out" "$program.text"
    says "$program.text" 'waits .*pthread_mutex_lock.* ← take ← main ← .*_start$'
    says "$program.text" 'waits .*pthread_mutex_lock.* ← take ← other_way_round ← second_thread ← (start_thread|0x[0-9a-f]+ \(libc)'
    says "$program.text" 'waits .*read.* ← wait_for_input ← reader ← (start_thread|0x[0-9a-f]+ \(libc)'
    run 0 "$WEFT" profile --off-cpu --top --by thread --json a.samples
    equal 'threads that were away' 3 "$(json "$tmp/out" 'len(d["rows"])')"
    equal 'all of the time' True "$(json "$tmp/out" 'all(r["self"] >= 300e6 for r in d["rows"])')"
    kill -9 "$pid"
done

hang "$PROFILES/deadlock"
# Jobs in the background have SIGINT ignored; kill ends the sampling all the same.
for signal in INT TERM; do
    rm -f b.samples
    "$WEFT" sample --off-cpu -o b.samples -p "$pid" 2>err &
    sampler=$!
    for ((tries = 0; tries < 30000; tries++)); do
        [ ! -e b.samples ] || break
        read -r -t 0.01 _ <&"$never" || :
    done
    kill -"$signal" "$sampler"
    status=0
    wait "$sampler" || status=$?
    equal "status after $signal" 0 "$status"
    run 0 "$WEFT" profile --off-cpu b.samples
    says "$tmp/out" 'take ← other_way_round'
done
finish
