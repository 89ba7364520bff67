#!/bin/bash
# SPDX-License-Identifier: ISC
# weft kprof: the session of Akaros's document, what a stranger reads of the streams, errors, readers that come and go,
# every way to end it, and the folder by 9P.
. "$(dirname "$0")/lib.sh"

dir=$tmp/prof
server=
mkdir "$dir"
# Nothing may stay, however this ends: readers, the server, and the mount, whose program ends with it.
clean() {
    for process in $(jobs -p) $(serving); do kill "$process" 2>/dev/null || :; done
    if grep -q " $tmp/" /proc/mounts; then
        awk -v t="$tmp/" 'index($2, t) == 1 {print $2}' /proc/mounts | while read -r m; do
            fusermount3 -u -z -q "$m" 2>/dev/null || umount -l "$m" 2>/dev/null || :
        done
    fi
    chmod -R u+rwx "$tmp"
    rm -rf --one-file-system "$tmp"
}
trap clean EXIT

# ---- The command line ----

run 2 "$WEFT" kprof
says "$tmp/err" 'which folder'
run 2 "$WEFT" kprof "$dir" "$dir"
run 2 "$WEFT" kprof --kpdata=x "$dir"
says "$tmp/err" 'auto, records, histogram'
run 2 "$WEFT" kprof --queue=1K "$dir"
run 2 "$WEFT" kprof --user-stacks=0 "$dir"
run 2 "$WEFT" kprof --user-stacks=128 "$dir"
run 2 "$WEFT" kprof --owner=no-such-user "$dir"
run 0 "$WEFT" kprof --help
says "$tmp/out" '^usage: weft kprof'

# What is missing on this machine is told by weft itself.
"$WEFT" kprof "$dir" 2>"$tmp/err" >"$tmp/out" </dev/null || {
    grep -q 'built without libfuse3' "$tmp/err" && missing "libfuse3"
    grep -q '/dev/fuse' "$tmp/err" && skip "$(cat "$tmp/err")"
    grep -Eq 'perf|permi|CAP_' "$tmp/err" && skip "$(cat "$tmp/err")"
    grep -q 'cannot be mounted' "$tmp/err" && skip "$(cat "$tmp/err")"
    cat "$tmp/err"
    exit 1
}
command -v taskset >/dev/null || missing "taskset"

mounted() { grep -q " $dir " /proc/mounts; }
unmount() { fusermount3 -u "$1" 2>/dev/null || umount "$1"; }
# The programs that serve our folders, by their last argument.
serving() { pgrep -f "weft kprof .*$dir\$" || :; }
guarding() { pgrep -f "^weft-unmount $dir" || :; }
ctl() { echo "$@" >"$dir/kpctl"; }
gone() { ! mounted && [ -z "$(serving)$(guarding)" ]; }
status() { sed -n "s/^$1: //p" "$dir/kpctl"; }
# refused FILE TEXT ERRNO WHY
refused() {
    checks=$((checks + 1))
    local found
    found=$(python3 -c '
import errno, os, sys
fd = os.open(sys.argv[1], os.O_WRONLY)
try:
    os.write(fd, sys.argv[2].encode())
    print("nothing")
except OSError as e:
    print(errno.errorcode[e.errno])' "$dir/$1" "$2")
    [ "$found" = "$3" ] || fail "$1: '$2': $found instead of $3"
    equal "why '$2' was refused" "$4" "$(cat "$dir/error")"
}

# ---- The folder ----

equal 'it is there' yes "$(mounted && echo yes)"
silent "$tmp/err"
silent "$tmp/out"
equal 'files' 'error kpctl kpdata kpoprofile kprintx kptrace mpstat mpstat-raw ' "$(ls "$dir" | tr '\n' ' ')"
equal 'modes' '400 600 600 600 600 600 600 600 ' "$(stat -c %a "$dir"/* | tr '\n' ' ')"
equal 'sizes' '0' "$(stat -c %s "$dir"/* | sort -u)"
equal 'owner' "$(id -u)" "$(stat -c %u "$dir"/* | sort -u)"
for change in "chmod 666 $dir/kpctl" "rm -f $dir/kpctl" "mkdir $dir/x" "touch $dir/new" "mv $dir/kpctl $dir/x" \
    "ln -s x $dir/y" "truncate -s 5 $dir/kpctl"; do
    # shellcheck disable=SC2086 # words
    run 1 $change
done
run 1 "$WEFT" kprof "$dir"
says "$tmp/err" 'is not empty'
equal 'empty: the end of the file' 0 "$(timeout 300 cat "$dir/kpoprofile" "$dir/kpdata" "$dir/kptrace" "$dir/error" | wc -c)"

# ---- The session of the document ----

cores=$(tr ',' '\n' </sys/devices/system/cpu/online | head -n 1)
core=${cores%%-*}
burn() { taskset -c "$core" python3 -c '
import os, sys, time
child = os.fork() # mappings that nobody tells
if child:
    sys.exit(os.waitpid(child, 0)[1])
end = time.process_time() + float(sys.argv[1])
while time.process_time() < end: sum(range(20000))' "$1"; }
ctl optimer period 1000
ctl optimer "$core" on
equal 'timers' "$core" "$(status timers)"
ctl opstart
equal 'collecting' on "$(status collecting)"
burn 1
ctl opstop
says "$dir/kptrace" '^\[[0-9]+\.[0-9]{9}\]:cpu0: Enable tracing on 0$'
queued=$(sed -n 's/^kpoprofile: \([0-9]*\) records.*/\1/p' "$dir/kpctl")
cat "$dir/kpoprofile" >"$tmp/samples"
cat "$dir/kpdata" >"$tmp/data"
equal 'read is read' 0 "$(cat "$dir/kpoprofile" "$dir/kpdata" | wc -c)"
cat >"$tmp/read.py" <<'PYTHON'
"""read.py SAMPLES [KPDATA]: what both streams say, by the words of the reference."""
import struct, sys
data = open(sys.argv[1], "rb").read()
at = records = user = kernel = deep = 0
cores, times = set(), []
while at < len(data):
    head, time = struct.unpack_from("<QQ", data, at)
    assert head >> 56 == 0xEE and head >> 48 & 0xFF == 1, (at, hex(head))
    assert head >> 32 & 0xFFFF == 0 and head >> 8 & 0xFF == 0, (at, hex(head))
    n = head & 0xFF
    pcs = struct.unpack_from(f"<{n}Q", data, at + 16)
    assert 1 <= n <= 16, n
    assert len({pc >> 63 for pc in pcs}) == 1, pcs
    assert n == 1 or pcs[0] >> 63, pcs
    kernel += pcs[0] >> 63
    user += 1 - (pcs[0] >> 63)
    cores.add(head >> 16 & 0xFFFF)
    times.append(time)
    records += 1
    at += 16 + 8 * n
assert at == len(data)
result = dict(records=records, user=user, kernel=kernel, cores=sorted(cores), sorted=times == sorted(times))
def varint(b, at):
    v = shift = 0
    while True:
        v |= (b[at] & 0x7F) << shift
        shift += 7
        at += 1
        if not b[at - 1] & 0x80:
            return v, at
if len(sys.argv) > 2:
    b = open(sys.argv[2], "rb").read()
    at, kinds, maps, hits, misses, pcs2 = 0, [0] * 5, {}, 0, 0, 0
    while at < len(b):
        kind, at = varint(b, at)
        size, at = varint(b, at)
        body = b[at:at + size]
        assert len(body) == size and 1 <= kind <= 4, (at, kind, size)
        at += size
        kinds[kind] += 1
        if kind <= 2:
            info, time, pid, cpu, n = struct.unpack_from("<QQIHH", body)
            assert size == 24 + 8 * n and 1 <= n <= 16
            pc, = struct.unpack_from("<Q", body, 24)
            assert pc >> 63 == (kind == 1), hex(pc)
            if kind == 2:
                found = any(a <= pc < a + s for a, s in maps.get(pid, []))
                hits, misses = hits + found, misses + (not found)
        elif kind == 3:
            time, address, bytes_, offset, pid = struct.unpack_from("<QQQQI", body)
            assert body[-1] == 0 and 0 not in body[36:-1] and len(body) > 37
            maps.setdefault(pid, []).append((address, bytes_))
        else:
            time, pid = struct.unpack_from("<QI", body)
            assert body[-1] == 0 and 0 not in body[12:-1]
    result.update(kinds=kinds, mapped=hits >= 0.9 * (hits + misses))
import json
json.dump(result, sys.stdout)
PYTHON
run 0 python3 "$tmp/read.py" "$tmp/samples" "$tmp/data"
cp "$tmp/out" "$tmp/said"
equal 'records' "$queued" "$(json "$tmp/said" 'd["records"]')"
equal 'one core' "[$core]" "$(json "$tmp/said" 'd["cores"]')"
equal 'in order' True "$(json "$tmp/said" 'd["sorted"]')"
# A second of CPU time at 1 kHz, and whatever else that core did meanwhile; a virtual machine may miss ticks.
equal 'about a thousand outside the kernel' True "$(json "$tmp/said" 'd["user"] >= 700')"
equal 'the same in kpdata' True "$(json "$tmp/said" 'd["kinds"][1] == d["kernel"] and d["kinds"][2] == d["user"]')"
equal 'processes and mappings' True "$(json "$tmp/said" 'd["kinds"][3] > 5 and d["kinds"][4] > 1')"
equal 'they explain addresses' True "$(json "$tmp/said" 'd["mapped"]')"
for stream in samples data; do
    run 0 "$WEFT" export --to pprof -o "$tmp/$stream.pb.gz" "$tmp/$stream"
    checks=$((checks + 1))
    [ -s "$tmp/$stream.pb.gz" ] || fail "$stream: nothing converted"
done

# Off again: no ticks, though something is collected; on, but not collected.
ctl optimer all off
ctl opstart
burn 0.1
ctl opstop
ctl optimer all on
burn 0.1
equal 'one switch gives nothing' 0 "$(timeout 300 cat "$dir/kpoprofile" | wc -c)"
ctl optimer all off

# ---- The histogram ----

cat "$dir/kpdata" >/dev/null
ctl optimer "$core" on
ctl startclr
burn 0.3
taskset -c "$core" dd if=/dev/urandom of=/dev/null bs=64K count=2000 2>/dev/null
ctl stop
cat "$dir/kpdata" >"$tmp/histogram"
python3 -c '
import re, sys
lines = open(sys.argv[1]).read().splitlines()
rows = []
for line in lines:
    assert re.fullmatch(r"[0-9a-f]{16} .{29} [0-9a-f]{16}", line), line
    rows.append((int(line[:16], 16), line[17:46].strip(), int(line[47:], 16)))
assert rows[0][2] == sum(r[2] for r in rows[1:]), rows[:2]
assert rows[0][2] > 100 and rows[1][2] > 50
assert all(r[0] >> 63 for r in rows[2:])
assert [r[0] for r in rows[2:]] == sorted(r[0] for r in rows[2:])
print("fine")' "$tmp/histogram" >"$tmp/out" 2>&1 || :
equal 'histogram' fine "$(tail -n 1 "$tmp/out")"
ctl clear
equal 'kpdata afterwards' records "$(status 'kpdata is')"
ctl optimer all off

# ---- What is refused ----

usage='startclr|start|stop|clear|opstart|opstop|optimer'
optimer='optimer [<0|1|..|n|all> <on|off>] [period USEC]'
refused kpctl 'garbage' EINVAL "$usage"
refused kpctl $'\n' EINVAL "$usage"
refused kpctl "$(head -c 3000 /dev/zero | tr '\0' x)" EINVAL "$usage"
refused kpctl 'opstart opstop' EINVAL "$usage"
refused kpctl 'optimer' EINVAL "$optimer"
refused kpctl 'optimer one on' EINVAL "$optimer"
refused kpctl 'optimer 0 perhaps' EINVAL 'optimer needs on|off'
refused kpctl 'optimer 99999 on' ENXIO 'no such coreid 99999'
refused kpctl 'optimer 18446744073709551616 on' ENXIO 'no such coreid 18446744073709551616'
refused kpctl 'optimer period 0' ERANGE "$optimer: USEC is from 10 to 3600000000, not 0"
refused kpctl 'optimer period 18446744073709551616' ERANGE \
    "$optimer: USEC is from 10 to 3600000000, not 18446744073709551616"
refused kprintx 'perhaps' EINVAL 'on|off|toggle'
refused mpstat 'now' EINVAL 'reset|ipi [on|off]'
refused kpoprofile 'here' EINVAL 'expected one address, as 0xffffffff81000000 or decimal'
equal 'nothing of it happened' 'none off' "$(status timers) $(status collecting)"
checks=$((checks + 1))
if (ctl optimer 99999 on) 2>"$tmp/err"; then fail 'the shell was not told'; fi
says "$tmp/err" 'No such device'

# ---- The small files ----

echo 0xffffffff81000000 >"$dir/kpoprofile"
cat "$dir/kpoprofile" >"$tmp/one"
equal 'written by hand' 'ffffffff81000000' "$(od -An -t x8 -j 16 "$tmp/one" | tr -d ' ')"
equal 'a record' 24 "$(stat -c %s "$tmp/one")"
echo "a line of ours" >"$dir/kptrace"
says "$dir/kptrace" '^\[[0-9.]+\]:cpu[0-9]+: a line of ours$'
for word in on off toggle; do echo $word >"$dir/kprintx"; done
equal 'kprintx' on "$(cat "$dir/kprintx")"
ctl optimer "$core" off
says "$dir/kptrace" "kpctl: optimer $core off$"
echo off >"$dir/kprintx"
echo ipi on >"$dir/mpstat"
equal 'ipi' on "$(status 'mpstat ipi')"
echo reset >"$dir/mpstat"
burn 0.5
says "$dir/mpstat" '^  CPU: +irq +kern +user +idle$'
says "$dir/mpstat-raw" '^version 1, [0-9]+ ticks a second: core irq kern user idle$'
equal 'a line for each core' "$(getconf _NPROCESSORS_ONLN)" "$(sed 1d "$dir/mpstat-raw" | wc -l)"
equal 'it was busy' True "$(awk -v c="$core" '$1 == c {print ($4 >= 20 && $4 < 6000) ? "True" : $0}' "$dir/mpstat-raw")"

# ---- Readers ----

cat >"$tmp/readers.py" <<'PYTHON'
"""readers.py DIR SAMPLES: several readers of one stream; some are killed."""
import contextlib, os, select, signal, subprocess, sys, threading, time
d = sys.argv[1] + "/"
def ctl(text):
    with open(d + "kpctl", "w") as f:
        f.write(text)
def add(n, first=0):
    for i in range(n):
        fd = os.open(d + "kpoprofile", os.O_WRONLY)
        os.write(fd, b"%d" % (first + i))
        os.close(fd)
def alarm(signum, frame):
    raise KeyboardInterrupt
signal.signal(signal.SIGALRM, alarm)
signal.alarm(900)  # nothing here takes long, unless it hangs

# Nothing there: without waiting, and with; then it comes.
ctl("opstart")
fd = os.open(d + "kpoprofile", os.O_RDONLY | os.O_NONBLOCK)
try:
    os.read(fd, 100)
    print("read", "something")
except BlockingIOError:
    print("EAGAIN")
p = select.poll()
p.register(fd, select.POLLIN)
print("poll", p.poll(0))
threading.Timer(0.2, add, (1, 7)).start()
print("poll", [e for f, e in p.poll(60000)] == [select.POLLIN])
print("bytes", len(os.read(fd, 100)))
os.close(fd)

# In small pieces, through one open file.
add(3, 100)
fd = os.open(d + "kpoprofile", os.O_RDONLY)
data = b"".join(os.read(fd, 1) for _ in range(72))
print("pieces", [int.from_bytes(data[i:i + 8], "little") for i in (16, 40, 64)])

# Left in the middle of a record: it is there again.
add(2, 200)
os.read(fd, 30)
os.close(fd)
fd = os.open(d + "kpoprofile", os.O_RDONLY)
data = os.read(fd, 1000)
print("again", [int.from_bytes(data[i + 16:i + 24], "little") for i in range(0, len(data), 24)])
os.close(fd)

# Forty wait; half are killed or interrupted, which they notice; the others get what comes, each record once.
cats = [subprocess.Popen(["cat", d + "kpoprofile"], stdout=subprocess.PIPE) for _ in range(40)]
def waits(pid):
    links = []
    with contextlib.suppress(OSError):
        links = [os.readlink(e) for e in os.scandir(f"/proc/{pid}/fd")]
    return d + "kpoprofile" in links and open(f"/proc/{pid}/stat").read().rpartition(") ")[2][0] == "S"
while not all(waits(c.pid) for c in cats):
    time.sleep(0.01)
for i, c in enumerate(cats[:20]):
    c.send_signal(signal.SIGKILL if i % 2 else signal.SIGINT)
print("ended", sorted({c.wait() for c in cats[:20]}))
add(100, 1000)
ctl("opstop")
got = []
for c in cats[20:]:
    data = c.communicate()[0]
    assert c.returncode == 0 and len(data) % 24 == 0
    got += [int.from_bytes(data[i + 16:i + 24], "little") for i in range(0, len(data), 24)]
print("each once", sorted(got) == list(range(1000, 1100)))
PYTHON
run 0 python3 "$tmp/readers.py" "$dir"
cat >"$tmp/expected" <<'TEXT'
EAGAIN
poll []
poll True
bytes 24
pieces [100, 101, 102]
again [201]
ended [-9, -2]
each once True
TEXT
same 'readers' "$tmp/expected" "$tmp/out"

# ---- By 9P ----

if command -v diod >/dev/null && command -v diodcat >/dev/null; then
    port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
    diod -f -n -N -l "127.0.0.1:$port" -e "$dir" -L "$tmp/diod.log" &
    server=$!
    over() { timeout 300 diodcat -s "127.0.0.1:$port" -a "$dir" "$1"; }
    takes_trace() { over kptrace >"$tmp/trace"; }
    wait_for takes_trace
    cat "$dir/kptrace" >"$tmp/expected"
    same 'kptrace by 9P' "$tmp/expected" "$tmp/trace"
    ctl optimer "$core" on
    ctl opstart
    burn 0.3
    ctl opstop
    size=$(sed -n 's/^kpoprofile:.*(\([0-9]*\) of.*/\1/p' "$dir/kpctl")
    over kpoprofile >"$tmp/samples" || fail 'diodcat failed'
    equal 'all of it by 9P' "$size" "$(stat -c %s "$tmp/samples")"
    run 0 python3 "$tmp/read.py" "$tmp/samples"
    # One that waits on the other side gets what comes until the end.
    cat "$dir/kpdata" >/dev/null
    ctl opstart
    over kpoprofile >"$tmp/samples" &
    client=$!
    burn 0.3
    checks=$((checks + 1))
    kill -0 "$client" 2>/dev/null || fail 'the client did not wait'
    ctl opstop
    checks=$((checks + 1))
    wait "$client" || fail 'the client that waited failed'
    run 0 python3 "$tmp/read.py" "$tmp/samples"
    equal 'samples while waiting' True "$(json "$tmp/out" 'd["user"] > 100')"
    ctl optimer all off
    kill "$server"
    wait "$server" 2>/dev/null || :
    server=
else
    missing "diod"
fi

# ---- Ends ----

unmount "$dir"
wait_for gone
equal 'nothing left' '' "$(serving)"

# While collecting, with somebody who waits.
"$WEFT" kprof --queue=64K "$dir"
ctl optimer all on
ctl opstart
timeout 600 cat "$dir/kpoprofile" >"$tmp/samples" 2>/dev/null &
reader=$!
burn 0.3
checks=$((checks + 1))
if unmount "$dir" 2>/dev/null; then fail 'unmounted under a reader'; fi
mapfile -t servers < <(serving) # and what unwinds for it
kill "${servers[@]}" || :
wait_for gone
wait "$reader" || :
checks=$((checks + 1))
run 0 python3 "$tmp/read.py" "$tmp/samples"

# A lazy one: the program ends with the last reader.
"$WEFT" kprof "$dir"
ctl opstart
cat "$dir/kpoprofile" >/dev/null 2>&1 &
reader=$!
has_opened() { find "/proc/$reader/fd" -lname '*/kpoprofile' | grep -q .; }
wait_for has_opened
umount -l "$dir" 2>/dev/null || fusermount3 -u -z "$dir"
kill "$reader"
wait "$reader" || :
wait_for gone

# Killed, with a reader: another process unmounts.
for ((i = 0; i < 5; i++)); do
    "$WEFT" kprof "$dir"
    ctl optimer all on
    ctl opstart
    timeout 600 cat "$dir/kpoprofile" >/dev/null 2>&1 &
    reader=$!
    burn 0.05
    # shellcheck disable=SC2046 # words
    kill -9 $(serving)
    wait_for gone
    wait "$reader" || :
done

# A full queue drops, counts and says so. In the foreground, where the console is.
"$WEFT" kprof -f --queue=64K --user-stacks=20 "$dir" >"$tmp/console" 2>"$tmp/err" </dev/null &
foreground=$!
wait_for mounted
python3 - "$dir/kpoprofile" <<'PYTHON'
import os, sys
fd = os.open(sys.argv[1], os.O_WRONLY)
for i in range(65536 // 24):
    os.write(fd, b"1")
PYTHON
refused kpoprofile 1 ENOBUFS 'the queue is full'
ctl optimer "$core" on
ctl opstart
burn 0.1
ctl opstop
says "$dir/kpctl" '^kpoprofile: 2730 records queued .* [1-9][0-9]* dropped$'
says "$dir/kptrace" 'the queue of kpoprofile is full'
says "$tmp/console" '^Enable tracing on 0$'
kill -INT "$foreground"
checks=$((checks + 1))
wait "$foreground" || fail 'not a clean end'
equal 'unmounted' gone "$(gone && echo gone)"

# ---- Where it cannot be ----

run 1 "$WEFT" kprof "$tmp/not-there"
says "$tmp/err" 'is not there'
touch "$tmp/file"
run 1 "$WEFT" kprof "$tmp/file"
says "$tmp/err" 'is not a folder'
run 1 "$WEFT" kprof "$tmp"
says "$tmp/err" 'is not empty'
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null && [ "$(cat /proc/sys/kernel/perf_event_paranoid)" -ge 1 ]; then
    mkdir "$tmp/open"
    chmod 755 "$tmp"
    chmod 777 "$tmp/open"
    cp "$WEFT" "$tmp/weft" # wherever it stands, others may get at it here
    run 1 setpriv --reuid=65534 --regid=65534 --clear-groups "$tmp/weft" kprof "$tmp/open"
    if setpriv --reuid=65534 --regid=65534 --clear-groups test -w /dev/fuse; then
        says "$tmp/err" 'root|CAP_PERFMON|perf_event_paranoid'
    else # without udev it may be root's alone
        says "$tmp/err" '/dev/fuse.*Permission denied'
    fi
fi
equal 'no mount is left' 0 "$(grep -c " $tmp/" /proc/mounts || :)"
finish
