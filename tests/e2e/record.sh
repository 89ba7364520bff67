#!/bin/bash
# SPDX-License-Identifier: ISC
# weft record, and programs that start recording by themselves: what is recorded, what is told, and that
# nothing goes wrong for the program or for what stood in the trace's place.
. "$(dirname "$0")/lib.sh"
[ -x "${RECORDED:-}" ] || skip 'RECORDED is not set'
cd "$tmp"
unset WEFT_TRACE WEFT_TRACE_SIZE WEFT_TRACE_FOR

events_in() { # FILE
    "$WEFT" info --json "$1" >"$tmp/json"
    json "$tmp/json" 'd["events_total"]'
}

# said_once PATTERN: the only line on standard error
said_once() {
    says "$tmp/err" "$1"
    equal 'lines said' 1 "$(grep -c ^weft "$tmp/err")"
}

# ---- What is recorded ----
run 0 "$WEFT" record -- "$RECORDED" rounds 250
said_once '^weft: weft.trace: 1,000 events, 250 promises, 1 thread, .*s, [0-9]+ KiB$'
silent "$tmp/out"
"$WEFT" info --json weft.trace >json
equal events 1000 "$(json json 'd["events_total"]')"
equal kinds '250 250 250 250' "$(json json '" ".join(str(d["events"][k]) for k in ("creates", "try_read", "increase", "fulfills"))')"
equal ending stopped "$(json json 'd["ended"]')"
equal arguments "$RECORDED rounds 250" "$(json json '" ".join(d["provenance"]["args"])')"
equal host "$(uname -n)" "$(json json 'd["provenance"]["host"]')"
equal losses '0 events 0 0' "$(json json '"%d %s %d %d" % (d["overwritten"], d["overwritten_unit"], d["discarded"], d["lost_texts"])')"
equal streams '1 1000' "$(json json '"%d %d" % (d["streams"], d["streams_by"][0]["kept"])')"
equal mode 600 "$(stat -c %a weft.trace)"
run 0 "$WEFT" dump weft.trace
says "$tmp/out" '^[0-9]+ 0 creates parent=-1 child=[0-9]+ type=round label="number 250" at=".*recorded.c:[0-9]+"$'
says "$tmp/out" '^[0-9]+ 0 increase p=-1 counter="done" amount=1 value=250$'
run 0 "$WEFT" promises weft.trace
equal 'fulfilled promises' 250 "$(grep -c fulfilled "$tmp/out")"
equal 'labels in order' "$(seq -f 'number %g' 250 -2 2 | cksum)" "$(cut -f 8 "$tmp/out" | grep number | cksum)"

# Several threads, a ring that has wrapped
run 0 "$WEFT" record -o many.weft --size 256K "$RECORDED" threads 3 20000
says "$tmp/err" ', 3 threads, '
says "$tmp/err" '^weft: many.weft: [0-9,]+ older events were overwritten'
"$WEFT" info --json many.weft >json
equal 'kept and overwritten' 240000 "$(json json 'd["events_total"] + d["overwritten"] + d["missing"] + d["discarded"]')"
equal 'size of the file' 262144 "$(stat -c %s many.weft)"
equal 'events by streams' "$(json json 'd["events_total"]')" "$(json json 'sum(s["kept"] for s in d["streams_by"])')"
run 0 "$WEFT" info many.weft
says "$tmp/out" '^  overwritten +[0-9,]+ events in [0-9,]+ packets'

# Static linking; a program that ends by SIGKILL, by a status, by itself stopping
run 0 "$WEFT" record -o s.weft "$RECORDED_STATIC" rounds 5
equal 'events of a static program' 20 "$(events_in s.weft)"
run 7 "$WEFT" record -o s.weft "$RECORDED" rounds 250 exit 7
says "$tmp/err" '; exit status 7$'
run 137 "$WEFT" record -o s.weft "$RECORDED" rounds 250 kill
says "$tmp/err" '; killed by signal 9 '
equal 'events of a killed program' 1000 "$(events_in s.weft)"
equal 'how it ended' 'killed None 9' "$(json json '"%s %s %s" % (d["ended"], d["exit_status"], d["signal"])')"
run 0 "$WEFT" info s.weft
says "$tmp/out" '^  ended         killed, signal 9 \(Killed\)$'
run 0 "$WEFT" explain s.weft
says "$tmp/out" '^The program was killed by signal 9 \(Killed\), so what was under way then is pending'
# … which another one had started: the time at which it was gone is noted.
run 0 "$WEFT" record -o s.weft sh -c '"$@"; true' sh "$RECORDED" rounds 250 kill
equal 'noted' True "$(python3 -c 'import struct; f = open("s.weft", "rb"); f.seek(128); print(struct.unpack("<Q", f.read(8))[0] > 0)')"
for status in 0 3; do
    run $status "$WEFT" record -o s.weft "$RECORDED" rounds 250 _exit $status
    run 0 "$WEFT" save -o t.weft s.weft
    for trace in s.weft t.weft; do
        equal 'events before _exit' 1000 "$(events_in $trace)"
        equal 'how it ended' "exited $status None" "$(json json '"%s %s %s" % (d["ended"], d["exit_status"], d["signal"])')"
        run 0 "$WEFT" info $trace
        says "$tmp/out" "^  ended         without stopping the recording \\(_exit\\($status\\)\\)\$"
        run 0 "$WEFT" explain $trace
        says "$tmp/out" "^The program ended by itself, without stopping the recording \\(_exit\\($status\\)\\)"
        run 0 "$WEFT" explain --json $trace
        equal 'for programs' "exited $status None" "$(json "$tmp/out" '"%s %s %s" % (d["ended"], d["exit_status"], d["signal"])')"
    done
    run $status "$WEFT" record --memory --size 1M -o s.weft "$RECORDED" rounds 250 _exit $status
    equal 'events before _exit, in memory' "1000 exited $status" "$(events_in s.weft) $(json json '"%s %s" % (d["ended"], d["exit_status"])')"
done
run 3 "$WEFT" record -o s.weft "$RECORDED" rounds 1 exit 3
run 0 "$WEFT" info s.weft
says "$tmp/out" '^  ended         stopped, exit status 3$'
run 0 "$WEFT" record -o s.weft "$RECORDED" rounds 3 stop rounds 3
equal 'events up to weft_stop' 12 "$(events_in s.weft)"
run 0 "$WEFT" record -o s.weft "$RECORDED" stop rounds 3
says "$tmp/err" 'recording was on, but the program recorded no event'

# ---- By the system's clock ----
run 0 env WEFT_TRACE_CLOCK=monotonic "$WEFT" record -o s.weft "$RECORDED" rounds 3
run 0 "$WEFT" info --json s.weft
equal 'its clock' 'CLOCK_MONOTONIC, nanoseconds 12' "$(json "$tmp/out" '"%s %d" % (d["clock"], d["events_total"])')"

# ---- As if it were run without weft ----
checks=$((checks + 1))
[ "$(echo a | "$WEFT" record -o s.weft cat 2>err)" = a ] || fail 'standard input or output'
"$WEFT" record -o s.weft sh -c 'echo b >&2' 2>err
says err '^b$'
run 127 "$WEFT" record -o s.weft ./nowhere
said_once '^weft: ./nowhere: cannot be executed: No such file'
: >plain
run 126 "$WEFT" record -o s.weft ./plain
said_once '^weft: ./plain: cannot be executed: Permission denied$'
for number in 1 2 3 6 13 15; do
    run $((128 + number)) "$WEFT" record -o s.weft sh -c "ulimit -c 0; kill -$number \$\$"
done
run 3 "$WEFT" record -o s.weft sh -c 'exit 3'
# SIGPIPE is as it was, and signals go on
mkfifo fifo
forwarded() { # SIGNAL STATUS
    "$WEFT" record -o s.weft "$RECORDED" rounds 1 ready sleep >fifo 2>err &
    local pid=$! line status=0
    read -r line <fifo
    equal 'the program says' ready "$line"
    kill -"$1" "$pid"
    wait "$pid" 2>/dev/null || status=$?
    equal "status after $1" "$2" "$status"
    equal "events after $1" 4 "$(events_in s.weft)"
    if [ "$2" -gt 128 ]; then
        equal "how it ended after $1" "killed None $(($2 - 128))" \
            "$(json json '"%s %s %s" % (d["ended"], d["exit_status"], d["signal"])')"
    else
        equal "how it ended after $1" "exited $2 None" \
            "$(json json '"%s %s %s" % (d["ended"], d["exit_status"], d["signal"])')"
    fi
}
forwarded USR1 5
# A job in the background begins with SIGINT ignored, and so does its program, which may want it all the same.
cat >interrupted.py <<'EOF'
import os, signal
print(signal.getsignal(signal.SIGINT) == signal.SIG_IGN, flush=True)
signal.signal(signal.SIGINT, lambda *_: os._exit(9))
print("ready", flush=True)
while True:
    signal.pause()
EOF
(
    trap '' INT
    exec "$WEFT" record -o s.weft python3 interrupted.py
) >fifo 2>err &
pid=$!
exec {said}<fifo
read -r line <&"$said"
equal 'SIGINT is ignored' True "$line"
read -r line <&"$said"
kill -INT "$pid"
status=0
wait "$pid" || status=$?
equal 'status after INT' 9 "$status"
exec {said}<&-
forwarded TERM 143
forwarded HUP 129

# ---- Nothing recorded: why ----
nothing() { # PATTERN COMMAND...
    local pattern=$1
    shift
    run 0 "$WEFT" record -o n.weft "$@"
    said_once "nothing was recorded: it $pattern"
    checks=$((checks + 1))
    [ ! -e n.weft ] || fail "$* left a trace"
}
nothing 'is not linked with weft' true
printf '#!/bin/sh\n"%s" rounds 1\n' "$RECORDED" >script
printf '#!/bin/sh\nexec "%s" rounds 1\n' "$RECORDED" >exec.sh
chmod +x script exec.sh
nothing 'is a script for /bin/sh; give' --runtimes none ./script
nothing 'is not linked with weft; what it starts' --runtimes none sh -c "'$RECORDED' rounds 1"
run 0 "$WEFT" record -o n.weft ./exec.sh
equal 'events after exec' 4 "$(events_in n.weft)"
rm n.weft
if grep -q __lsan_do_leak_check "$RECORDED_STATIC"; then
    echo 'not tried with a set-user-id program: the search for leaks does not work in one'
elif [ "$(id -u)" -eq 0 ]; then
    chmod 777 "$tmp"
    cp "$RECORDED_STATIC" suid
    chown 65534 suid
    chmod u+s suid
    nothing 'is set-user-id' ./suid rounds 1
    run 0 env WEFT_TRACE="$tmp/n.weft" ./suid rounds 1
    silent "$tmp/err"
    equal 'a trace of a set-user-id program' '' "$(ls n.weft 2>/dev/null)"
    chmod 755 "$tmp"
else
    echo 'not tried with a set-user-id program: only root can make one'
fi

# ---- Children ----
run 0 "$WEFT" record -o c.weft "$RECORDED" rounds 10 spawn 5 rounds 10
equal 'lines said' 2 "$(grep -c ^weft "$tmp/err")"
says "$tmp/err" '^weft: c-%p.weft: is where its children record'
equal 'events without those of a child' 80 "$(events_in c.weft)"
run 0 env WEFT_TRACE="$tmp/d.weft" "$RECORDED" rounds 10 spawn 5 rounds 10
said_once '^weft: .*d.weft: is being written by another process; the program runs on without recording$'
equal 'events of the parent' 80 "$(events_in d.weft)"
run 0 env WEFT_TRACE="$tmp/p-%p.weft" WEFT_TRACE_SIZE=100000 "$RECORDED" rounds 10 spawn 5 rounds 10
silent "$tmp/err"
equal 'events of both' '20 80' "$(for f in p-*.weft; do events_in "$f"; done | sort -n | tr '\n' ' ' | sed 's/ $//')"
run 0 "$WEFT" record -o 'q-%p.weft' "$RECORDED" rounds 10
says "$tmp/err" '^weft: .*/q-[0-9]+.weft: 40 events'

# ---- An older trace is kept ----
rm -f weft.trace*
run 0 "$WEFT" record "$RECORDED" rounds 1
run 0 "$WEFT" record "$RECORDED" rounds 2
equal 'new and old' '8 4' "$(events_in weft.trace) $(events_in weft.trace.old)"
run 0 "$WEFT" record true
equal 'after nothing' '8 4' "$(events_in weft.trace) $(events_in weft.trace.old)"
run 127 "$WEFT" record ./nowhere
equal 'after no program' '8 4' "$(events_in weft.trace) $(events_in weft.trace.old)"
run 0 "$WEFT" record --force "$RECORDED" rounds 3
equal 'after --force' '12 4' "$(events_in weft.trace) $(events_in weft.trace.old)"
run 0 "$WEFT" record "$RECORDED" rounds 4
equal 'once more' '16 12' "$(events_in weft.trace) $(events_in weft.trace.old)"
echo mine >weft.trace.old
run 0 "$WEFT" record "$RECORDED" rounds 5
said_once 'cannot be kept: .*; the program runs on without recording$'
equal 'somebody else'"'"'s file' "mine 16" "$(cat weft.trace.old) $(events_in weft.trace)"
equal 'other names' 'weft.trace weft.trace.old ' "$(echo weft.trace* '')"

# ---- Places that are not for a trace: one line, nothing destroyed, the program runs on ----
# refused PATTERN FILE: by weft record, and by the library alone
refused() {
    local pattern=$1 before
    before=$(ls -ld "$2" 2>/dev/null; cksum "$2" 2>/dev/null || :)
    run 4 "$WEFT" record -o "$2" "$RECORDED" rounds 10 exit 4
    said_once "^weft: .*: .*($pattern).*; the program runs on without recording\$"
    run 4 env WEFT_TRACE="$2" "$RECORDED" rounds 10 exit 4
    said_once "^weft: .*: .*($pattern).*; the program runs on without recording\$"
    equal "$2 afterwards" "$before" "$(ls -ld "$2" 2>/dev/null; cksum "$2" 2>/dev/null || :)"
}
echo 'not a trace' >text
mkdir folder
ln -s weft.trace link
ln -s nowhere dangling
refused 'No such file' nowhere/trace
refused 'Not a directory' text/trace
refused 'no trace|not a trace' text
refused 'folder|not a trace' folder
refused 'symbolic link' link
refused 'symbolic link' dangling
[ ! -e /proc/sys/kernel ] || refused 'denied|No such|not permitted|left|File system' /proc/sys/kernel/trace
equal 'nowhere' '' "$(ls nowhere 2>/dev/null)"
run 0 "$WEFT" record --force -o text "$RECORDED" rounds 1
equal 'events by force' 4 "$(events_in text)"
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
    mkdir -m 755 closed
    chmod 755 "$tmp"
    cp "$RECORDED_STATIC" "$WEFT" .
    # shellcheck disable=SC2317 # it is called by run
    nobody() { setpriv --reuid 65534 --regid 65534 --clear-groups "$@"; }
    run 4 nobody env WEFT_TRACE="$tmp/closed/x" ./recorded_static rounds 1 exit 4
    said_once 'Permission denied; the program runs on without recording$'
    run 4 nobody ./weft record -o closed/x ./recorded_static rounds 1 exit 4
    said_once 'Permission denied; the program runs on without recording$'
    run 4 nobody ./weft record ./recorded_static rounds 1 exit 4
    said_once '^weft: weft.trace: cannot be created: Permission denied'
    equal 'files of another user' '' "$(find . -user 65534 ! -name suid)"
elif [ "$(id -u)" -ne 0 ]; then
    mkdir -m 555 closed
    refused 'Permission denied' closed/x
fi

# … a trace that is being recorded
WEFT_TRACE=$tmp/live.weft "$RECORDED" rounds 10 ready sleep >fifo &
live=$!
read -r <fifo
refused_live() {
    run 0 "$@"
    said_once 'is being written by (process [0-9]+|another process)'
    equal 'events of the live trace' 40 "$(events_in live.weft)"
    equal 'how it ended' 'still running' "$(json json 'd["ended"]')"
}
refused_live "$WEFT" record -o live.weft "$RECORDED" rounds 1
refused_live "$WEFT" record --force -o live.weft "$RECORDED" rounds 1
refused_live env WEFT_TRACE=live.weft "$RECORDED" rounds 1
kill "$live"
wait "$live" 2>/dev/null || :
run 0 "$WEFT" record -o live.weft "$RECORDED" rounds 1
equal 'the killed one is kept' '4 40' "$(events_in live.weft) $(events_in live.weft.old)"

# … a full disk
mkdir small
if mount -t tmpfs -o size=1M weft-test small 2>/dev/null; then
    trap 'umount "$tmp/small"; chmod -R u+rwx "$tmp"; rm -rf "$tmp"' EXIT
    refused 'needs|No space' small/trace
    equal 'left on the full disk' '' "$(ls -A small)"
    run 0 "$WEFT" record -o small/trace --size 512K "$RECORDED" rounds 1
    equal 'events on a small disk' 4 "$(events_in small/trace)"
    run 0 "$WEFT" record -o small/trace --size 600K "$RECORDED" rounds 2
    said_once 'needs 600 KiB, but .* left'
    equal 'events on a small disk' 4 "$(events_in small/trace)"
else
    echo 'not tried on a full disk: no right to mount one'
fi

# … sizes
for size in 0 1 63K 9223372036854775808 18446744073709551616 -1 64Q 1.5M 2T x ''; do
    run 2 "$WEFT" record -o z.weft --size "$size" "$RECORDED" rounds 1
    says "$tmp/err" '^weft record: --size: .*; see weft record --help$'
done
for size in 0 1 65535 63K 9223372036854775808 18446744073709551616 -1 64Q 1.5M 2T 16777216T 1Mi x; do
    run 0 env WEFT_TRACE="$tmp/z.weft" WEFT_TRACE_SIZE="$size" "$RECORDED" rounds 1
    said_once 'z.weft: .*size.*; the program runs on without recording$'
done
equal 'traces of wrong sizes' '' "$(ls z.weft 2>/dev/null)"
for size in 64K 65536 100000 1M 1m 2MiB 3MB; do
    run 0 "$WEFT" record -o z.weft --size "$size" "$RECORDED" rounds 10
    equal "events in $size" 40 "$(events_in z.weft)"
    bytes=$(stat -c %s z.weft)
    run 0 env WEFT_TRACE="$tmp/y.weft" WEFT_TRACE_SIZE="$size" "$RECORDED" rounds 10
    silent "$tmp/err"
    equal "events in $size, without weft record" "40 $bytes" "$(events_in y.weft) $(stat -c %s y.weft)"
done
finish
