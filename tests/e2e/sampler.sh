#!/bin/bash
# SPDX-License-Identifier: ISC
# weft sample and weft record --sample: the command line, permissions, how they end, and what they leave behind.
# What the samples say is compared in sample.sh.
. "$(dirname "$0")/lib.sh"
: "${EXAMPLES:?the folder of the built examples}"
unset WEFT_TRACE
cd "$tmp" || exit 1
chmod 755 .
trap 'kill $(jobs -p) 2>/dev/null || :; chmod -R u+rwx "$tmp"; rm -rf "$tmp"' EXIT

# A shell that works for a while, with its own functions as everything that it starts.
# shellcheck disable=SC2016 # for that shell
work='i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done'

"$WEFT" sample -o probe.samples true 2>probe.err ||
    if grep -Eq 'no permission|no perf_event_open' probe.err; then skip "$(cat probe.err)"; fi

# packets FILE: checks them, and prints how many records of each kind there are
packets() {
    python3 - "$1" <<'END'
import struct, sys
data = open(sys.argv[1], "rb").read()
at, kinds, uuids, last = 0, {}, set(), 0
while at + 48 <= len(data):
    if data[at:at + 8] == bytes(8):
        at += 8  # places of the pool that were never used
        continue
    magic, uuid, signature, _, cls, head, size, content = struct.unpack_from("<I16sIHHIQQ", data, at)
    assert magic == 0xC1FC1FC1 and signature == 0x74666577, at
    uuids.add(uuid)
    if cls == 7:
        boot = open("/proc/sys/kernel/random/boot_id").read().strip().replace("-", "")
        assert data[at + 72:at + 88].hex() == boot
        assert struct.unpack_from("<Q", data, at + 64)[0] == last + 1
        last += 1
        pos, end = at + head, at + content // 8
        while pos < end:
            kind, _, _, n = struct.unpack_from("<BBHI", data, pos)
            assert n >= 8 and n % 8 == 0
            kinds[kind] = kinds.get(kind, 0) + 1
            pos += n
        assert pos == end
    at += size // 8
assert at == len(data), (at, len(data))
assert len(uuids) == 1
print(*(kinds.get(k, 0) for k in range(13)))
END
}

# kind FILE NUMBER: how many records of that kind
kind() {
    packets "$1" | cut -d ' ' -f $(($2 + 1))
}

# has_samples FILE: which may still be written
has_samples() {
    [ -s "$1" ] && [ "$(kind "$1" 4)" -gt 0 ]
}

# left FILE…: exactly these files are here, apart from this script's
left() {
    local found
    found=$(find . -maxdepth 1 -type f ! -name out ! -name err ! -name 'probe.*' -printf '%f\n' | sort | tr '\n' ' ')
    equal 'files' "$*" "${found% }"
}

rm probe.samples

# ---- Mistakes ----

wrong() {
    run 2 "$WEFT" sample "$@"
    silent out
    equal "lines said by weft sample $*" 1 "$(wc -l <err)"
    says err '^weft sample: .*; see weft sample --help$'
}
wrong
says err 'nothing to sample'
wrong -p 1 -a
wrong -p 1 true
wrong -p 0
wrong -p one
wrong -F 0 true
wrong -F -1 true
wrong -F 99999999999 true
wrong -c 0 true
says err 'period of 0'
wrong -c 18446744073709551616 true
says err 'at most 9223372036854775807'
wrong -c 1ms -e page-faults true
wrong -F 99 -c 1ms true
wrong -e frobs true
says err 'cpu-clock, .*page-faults'
wrong --off-cpu --no-switches true
wrong --dwarf=1 true
wrong --dwarf=64K true
wrong --duration 0 true
wrong -o '' true
wrong -o - true
run 2 "$WEFT" record --sample=0 true
run 2 "$WEFT" record --sample=many true
run 2 "$WEFT" record --off-cpu true
says err 'off-cpu is for --sample'
run 1 "$WEFT" sample -c 18446744073709551615 true
says err 'too large'
run 1 "$WEFT" sample -c 9us true
says err '10000 ns'
run 1 "$WEFT" sample -F 4000000000 true
says err 'kernel.perf_event_max_sample_rate'
run 1 "$WEFT" sample -p 2147483632
says err 'there is no process 2147483632'
run 127 "$WEFT" sample ./not-there
says err 'not-there: cannot be executed'
: >plain
run 126 "$WEFT" sample ./plain
rm plain
left

# ---- What stands at the file's place ----

echo precious >mine.txt
run 1 "$WEFT" sample -o mine.txt true
says err 'no trace; it is left alone'
equal 'left alone' precious "$(cat mine.txt)"
ln -s mine.txt link
run 1 "$WEFT" sample -o link true
says err 'symbolic link'
run 1 "$WEFT" sample -o . true
says err 'folder'
run 1 "$WEFT" sample -o nowhere/x true
says err 'No such file'
run 0 "$WEFT" sample -o x.samples true
equal 'mode' 600 "$(stat -c %a x.samples)"
cp x.samples first
run 0 "$WEFT" sample -o x.samples true
same 'the older one is kept' first x.samples.old
echo precious >x.samples.old
run 1 "$WEFT" sample -o x.samples true
says err 'cannot be kept'
equal 'left alone' precious "$(cat x.samples.old)"
rm -f mine.txt link first x.samples x.samples.old
left

# ---- The program ----

run 7 "$WEFT" sample -- sh -c 'exit 7'
says err 'exit status 7'
run 143 "$WEFT" sample -- sh -c 'kill -TERM $$'
says err 'killed by signal 15'
echo in | "$WEFT" sample -o x.samples cat >out 2>err
equal 'standard input and output' in "$(cat out)"
rm weft.samples weft.samples.old x.samples

run 0 "$WEFT" sample -c 100us -o work.samples -- sh -c "$work"
says err '^weft: work.samples: [0-9,]+ samples? of 1 thread in .*; [0-9,]+ lost; see weft profile work.samples$'
checks=$((checks + 1))
[ "$(kind work.samples 4)" -ge 20 ] || fail "only $(kind work.samples 4) samples"
equal 'as many as it says' "$(sed 's/^[^:]*: [^:]*: //; s/ .*//; s/,//g' err)" "$(kind work.samples 4)"
checks=$((checks + 1))
[ "$(kind work.samples 12)" -gt 0 ] || fail 'no symbols'
run 0 "$WEFT" info work.samples
says out 'stopped'
run 0 "$WEFT" sample --no-symbols --no-switches -o bare.samples -- sh -c "$work"
equal 'no symbols, no switches' '0 0' "$(kind bare.samples 12) $(kind bare.samples 5)"
rm ./*.samples

# It only waits: no sample in a second of CPU time.
run 0 "$WEFT" sample -F 1 -o wait.samples sleep 0.2
says err '^weft: wait.samples: 0 samples .*; it hardly used the CPU: see weft profile --off-cpu wait.samples$'
run 0 "$WEFT" sample -F 1 --no-switches -o wait.samples sleep 0.2
says err '^weft: wait.samples: 0 samples .*; 0 lost$'
rm wait.samples*

# Two processes that do little but wait for each other. To record that costs too much, unless one asks for it.
cat >probe.pong.py <<'END'
import os
a, b = os.pipe(), os.pipe()
if os.fork() == 0:
    os.close(a[1])
    while os.read(a[0], 1):
        os.write(b[1], b"x")
    os._exit(0)
os.close(a[0])
os.close(b[1])
for _ in range(60000):
    os.write(a[1], b"x")
    os.read(b[0], 1)
END
run 0 "$WEFT" sample -F 2000 --off-cpu -o all.samples -- python3 probe.pong.py
cp err probe.said
lost=$(sed -n 's/.*; \([0-9,]*\) lost.*/\1/p' probe.said | tr -d ,)
run 0 "$WEFT" profile --json all.samples
equal 'what was lost, as it says' "$lost" "$(json out 'd["measured"]["lost"]')"
# A busy machine lets the sampler wait.
[ -z "${ALONE:-}" ] || equal 'samples that switches drove out' 0 "$lost"
mv probe.said err
checks=$((checks + 1))
! grep -q 'given up' err || fail "with --off-cpu: $(cat err)"
begun=$SECONDS
run 0 "$WEFT" sample -F 2000 -o few.samples -- python3 probe.pong.py
few=$(kind few.samples 5) all=$(kind all.samples 5)
checks=$((checks + 1))
if grep -q 'given up' err; then
    says err '^weft: few.samples: threads left their cores [0-9,]+ times a second, so after .* given up; --off-cpu keeps them'
    [ "$(kind few.samples 9)" -ge 1 ] || fail 'the file does not say that switches were given up'
    [ "$few" -gt 0 ] && [ "$few" -lt "$all" ] || fail "switches: $few until they were given up, and $all"
else # on a machine so busy that they come less often: 4000 a second, and 5000 at once
    [ "$few" -le $((2 * (5000 + 4000 * (SECONDS - begun + 1)))) ] || fail "switches: $few in $((SECONDS - begun)) s, not given up"
fi
run 0 "$WEFT" info few.samples
run 0 "$WEFT" record --sample --off-cpu -o few.samples -- python3 probe.pong.py
checks=$((checks + 1))
! grep -q 'given up' err || fail "record --off-cpu: $(cat err)"
rm ./*.samples ./*.samples.old

# A signal goes on to the program, and weft ends as it does.
"$WEFT" sample -o x.samples sleep 1000 2>err &
sampler=$!
wait_for test -s x.samples
kill "$sampler"
status=0
wait "$sampler" || status=$?
equal 'the status of a signal' 143 "$status"
says err 'killed by signal 15'
left x.samples
rm x.samples

# ---- A process that runs ----

sh -c 'while :; do :; done' &
busy=$!
run 0 "$WEFT" sample -p "$busy" --duration 400ms -o x.samples
says err '^weft: x.samples: [0-9,]+ samples? of [01] threads? in' # a busy machine may have no core for it
"$WEFT" sample -p "$busy" -o y.samples 2>err &
sampler=$!
wait_for has_samples y.samples
checks=$((checks + 1))
[ "$(kind y.samples 4)" -gt 0 ] || fail 'no samples are in the file while it is written'
kill -TERM "$sampler" # what a shell runs in the background ignores SIGINT
status=0
wait "$sampler" || status=$?
equal 'ended by a signal' 0 "$status"

# Killed: what was written before can be read.
"$WEFT" sample -p "$busy" -o z.samples 2>err &
sampler=$!
wait_for has_samples z.samples
kill -KILL "$sampler"
wait "$sampler" || :
run 0 "$WEFT" info z.samples
says out 'process +[0-9]+|recording'
checks=$((checks + 1))
[ "$(kind z.samples 4)" -gt 0 ] || fail 'a killed sampler has left nothing'

# The process ends, and so does the sampling.
"$WEFT" sample -p "$busy" -o e.samples 2>err &
sampler=$!
wait_for test -s e.samples
kill "$busy"
wait "$busy" || :
status=0
wait "$sampler" || status=$?
equal 'its process has ended' 0 "$status"
left e.samples x.samples y.samples z.samples
rm ./*.samples

# ---- All cores ----

if [ "$(id -u)" = 0 ]; then
    run 0 "$WEFT" sample -a -o a.samples -- sh -c "$work"
    says err '^weft: a.samples: [0-9,]+ samples? of [0-9,]+ threads? in'
    checks=$((checks + 1))
    [ "$(kind a.samples 6)" -gt 10 ] || fail 'the mappings of other processes are not told'
    run 0 "$WEFT" sample -a --interrupts --duration 300ms -o a.samples
    checks=$((checks + 1))
    grep -q 'interrupts are left out' err || [ "$(kind a.samples 10)" -gt 0 ] || fail 'no interrupts'
    rm a.samples*
fi

# ---- Unwinding ----

run 0 "$WEFT" sample --dwarf=4K -o d.samples -- sh -c "$work"
checks=$((checks + 1))
grep -q 'by frame pointers' err || [ "$(kind d.samples 3)" -gt "$(kind d.samples 4)" ] ||
    [ "$(kind d.samples 3)" -gt 10 ] || fail 'no stacks'
rm d.samples

# ---- Together with promises ----

run 0 "$WEFT" record --sample=2000 -o r.weft -- "$EXAMPLES/arp_race" good
says err '^weft: r.weft: [0-9]+ events, '
says err '^weft: r.weft: [0-9,]+ samples? of [0-9]+ threads? in .*; (.*: )?see weft profile (--off-cpu )?r.weft$'
checks=$((checks + 1))
[ "$(kind r.weft 1)" -gt 0 ] || fail 'no packet of samples in the trace'
left r.weft
run 0 "$WEFT" record --sample --memory -o 'm%p.weft' -- "$EXAMPLES/arp_race" good
checks=$((checks + 1))
[ "$(kind m[0-9]*.weft 1)" -gt 0 ] || fail 'no packet of samples in the trace'
rm ./m*.weft
cp r.weft first
run 0 "$WEFT" record --sample -o r.weft -- sh -c "$work"
says err 'no promises were recorded, so there are only samples'
same 'the older one is kept' first r.weft.old
run 0 "$WEFT" info r.weft
left first r.weft r.weft.old
rm first r.weft r.weft.old
run 3 "$WEFT" record --sample=4000000000 -o r.weft -- sh -c 'echo done; exit 3'
equal 'it runs all the same' 'done' "$(cat out)"
says err 'the program runs on without samples'
run 127 "$WEFT" record --sample -o r.weft -- ./not-there
left

# Killed while the program runs: the samples stay, as a trace.
"$WEFT" record --sample -o k.weft -- sh -c 'while :; do :; done' 2>err &
recorder=$!
wait_for has_samples k.weft.samples
mapfile -t busy < <(pgrep -P "$recorder" || :) # and what unwinds for it
kill -KILL "$recorder"
kill "${busy[@]}" || :
wait "$recorder" || :
run 0 "$WEFT" info k.weft.samples
checks=$((checks + 1))
[ "$(kind k.weft.samples 4)" -gt 0 ] || fail 'a killed recorder has left nothing'
rm k.weft.samples
left

# ---- As somebody else ----

if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
    other() {
        setpriv --reuid 65534 --regid 65534 --clear-groups "$@"
    }
    mkdir -m 777 theirs
    cp "$WEFT" weft
    chmod 755 weft
    paranoid=$(cat /proc/sys/kernel/perf_event_paranoid)
    if ! other ./weft --version >out 2>&1; then
        echo 'the program cannot be run by another user; left out'
    elif [ "$paranoid" -gt 2 ]; then
        run 1 other ./weft sample -o theirs/x true
        says err 'kernel.perf_event_paranoid=2'
    else
        run 0 other ./weft sample -o theirs/x -- sh -c "$work"
        checks=$((checks + 1))
        [ "$(kind theirs/x 4)" -gt 0 ] || fail 'no samples'
        if [ "$paranoid" -gt 1 ]; then
            says err 'left out: what happens in the kernel, and where threads wait; .*kernel.perf_event_paranoid=1'
        fi
        if [ "$paranoid" -gt 0 ]; then
            run 1 other ./weft sample -a -o theirs/y
            says err 'kernel.perf_event_paranoid=0'
        fi
        sleep 1000 &
        sleeper=$!
        run 1 other ./weft sample -p "$sleeper" -o theirs/y
        says err "no permission to sample process $sleeper"
        kill "$sleeper"
        wait "$sleeper" || :
        run 1 other ./weft sample -o y.samples true
        says err 'Permission denied'
        equal 'nothing else' x "$(ls theirs)"
    fi
fi

finish
