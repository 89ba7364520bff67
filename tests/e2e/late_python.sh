#!/bin/bash
# SPDX-License-Identifier: ISC
# weft ctl PID on, of Python programs that were started without weft, with each version of Python that is there: they are
# recorded from then on, with what is pending already, and do not notice.
. "$(dirname "$0")/lib.sh"
[ -r /proc/self/syscall ] || skip 'this kernel does not say where threads wait'
[ "$(uname -m)" = x86_64 ] || skip "not tried on $(uname -m)"
[ -f "$BUILD_ROOT/adapters/python/_weft.abi3.so" ] || skip 'built without the adapter for Python'
cd "$tmp"
export PYTHONDONTWRITEBYTECODE=1
unset PYTHONPATH PYTHONSTARTUP WEFT_TRACE WEFT_TRACE_SIZE WEFT_TRACE_FOR WEFT_TRACE_FD

cat >hung.py <<'END'
import asyncio, os, signal, sys

async def fetch(gate):
    async with gate:
        await asyncio.get_running_loop().create_future()

async def worker(gate):
    await fetch(gate)

async def main():
    gate = asyncio.Semaphore(1)
    tasks = [asyncio.create_task(worker(gate)) for _ in range(2)]
    for task in tasks:
        await asyncio.sleep(0)
    asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, lambda: [task.cancel() for task in tasks])
    print("ready", flush=True)
    print([type(e).__name__ for e in await asyncio.wait_for(asyncio.gather(*tasks, return_exceptions=True), 1000)], flush=True)
    await asyncio.sleep(1000)

for name in ("exec", "open", "compile", "bytes", "__name__"):
    globals()[name] = None
before = None
before = set(globals()), sorted(sys.path)
signal.signal(signal.SIGUSR2, lambda *_: print("ok" if (set(globals()), sorted(sys.path)) == before else globals(), flush=True))
asyncio.run(main())
END
cat >busy.py <<'END'
import asyncio, signal

def total():
    n = 0
    for i in range(100000):
        n = (n * 31 + i) % 1000003
    return n

async def other():
    await future

async def main():
    global future, told
    told = False
    future = asyncio.get_running_loop().create_future()
    task = asyncio.create_task(other())
    await asyncio.sleep(0)
    print("ready", flush=True)
    first = total()
    while not told:
        assert total() == first
    future.set_result(None)
    await task
    print("right", flush=True)

def tell(*_):
    global told
    told = True

signal.signal(signal.SIGUSR1, tell)
asyncio.run(main())
END
cat >plain.py <<'END'
import threading, time
lock = threading.Lock()
lock.acquire()
print("ready", flush=True)
while not lock.acquire(timeout=0.05):
    time.sleep(0)
END
cat >threads.py <<'END'
import asyncio, threading

async def take():
    await asyncio.Queue().get()

for _ in range(2):
    threading.Thread(target=lambda: asyncio.run(take()), daemon=True).start()
print("ready", flush=True)
threading.Event().wait()
END

begin() { # PROGRAM
    rm -f from
    mkfifo from
    "$python" "$1" >from 2>said &
    pid=$!
    exec {from}<from
    heard ready
}
heard() { # LINE: what it says next
    local line=''
    read -r -t 300 line <&"$from" || :
    equal "what $program says, with $python" "$1" "$line"
}
end() { # SIGNAL
    kill -s "$1" "$pid"
    wait "$pid" 2>/dev/null || :
    exec {from}<&-
    checks=$((checks + 1))
    [ ! -s said ] || fail "$program says, with $python: $(head -n 5 said)"
    rm -f ./*.weft
}
# A program that has only just said something may not be waiting yet; then it gets the text while it runs.
on() { run 0 "$WEFT" ctl -w 60s -s 1M -o a.weft "$pid" on; }
promises() { run 0 "$WEFT" promises a.weft; } # columns: id, type, creator, start, end, outcome, becomes, label

says='import sys; print(sys.implementation.name, "%d.%02d" % sys.version_info[:2], getattr(sys, "_is_gil_enabled", lambda: True)())'
for python in /usr/bin/python3 /usr/bin/python3.* /usr/local/bin/python3.* ~/.pyenv/versions/*/bin/python3; do
    [ -x "$python" ] || continue
    case $("$python" -c "$says" 2>/dev/null) in
        'cpython 3.09 True' | 'cpython 3.1'[0-3]' True') realpath "$python" >>pythons ;;
        'cpython 3.0'*) realpath "$python" >>old ;;
    esac
done
[ -s pythons ] || missing 'a Python from 3.9 to 3.13'

for python in $(sort -u pythons); do
    program=hung.py
    begin hung.py
    on
    says "$tmp/out" "^process $pid: records into $tmp/a.weft, [0-9.]+ .?s after the command; weft was brought into it, which occupied a thread of it for [0-9.]+ .?s\. It was stopped for [0-9.]+ .?s for that\.\$"
    promises
    awk -F'\t' '$6 == "pending" { print $2 " " $8 }' "$tmp/out" >pending
    for what in 'task main' 'task worker' 'call fetch' 'Semaphore.acquire Semaphore gate'; do
        says pending "^$what\$"
    done
    equal "who has made them, with $python" 'before the recording' \
        "$(awk -F'\t' '{ label[$1] = $8 } $8 == "worker" { by = $3 } END { print label[by] }' "$tmp/out")"
    run 0 "$WEFT" explain --hang 1us "$pid"
    says "$tmp/out" "'Semaphore gate'"
    run 0 "$WEFT" ctl -w 60s "$pid" off
    run 0 "$WEFT" ctl -w 60s "$pid" on
    kill -USR2 "$pid" # the names and folders that it has are those that it had
    heard ok
    kill -USR1 "$pid"
    heard "['CancelledError', 'CancelledError']"
    run 0 "$WEFT" ctl -w 60s "$pid" stop
    says "$tmp/out" 'has ended the recording'
    end KILL

    program=busy.py
    begin busy.py
    on
    says "$tmp/out" 'records into'
    kill -USR1 "$pid"
    heard right
    wait "$pid"
    promises
    equal "what is recorded from then on, with $python" fulfilled "$(awk -F'\t' '$8 == "other" { print $6 }' "$tmp/out")"
    exec {from}<&-
    silent said
    rm -f ./*.weft

    program=plain.py # neither asyncio nor trio
    begin plain.py
    on
    says "$tmp/out" 'records into'
    run 0 "$WEFT" ctl "$pid" status
    says "$tmp/out" 'state    recording'
    end KILL

    program=threads.py
    begin threads.py
    on
    says "$tmp/out" 'records into'
    end KILL
done

# ---- What cannot be ----
program=old
for python in $(sort -u old 2>/dev/null); do
    "$python" -c 'print("ready", flush=True); import time; time.sleep(1000)' >from.old &
    pid=$!
    wait_for grep -q ready from.old
    run 1 "$WEFT" ctl -o a.weft "$pid" on
    says "$tmp/err" "^weft: process $pid: is (Python 3\.[0-8]; 3\.9 or later is needed|not linked with weft)"
    kill -KILL "$pid"
    wait "$pid" 2>/dev/null || :
done
python=$(sort -u pythons | head -n 1)
program=hung.py
begin hung.py
run 1 "$WEFT" ctl -o nowhere/a.weft "$pid" on
says "$tmp/err" "is a Python program, but cannot be recorded: FileNotFoundError: "
on # and then it can
says "$tmp/out" 'records into'
end KILL
if [ "$(id -u)" -eq 0 ] && unshare -m true 2>/dev/null; then
    unshare -m sh -c "mount -t tmpfs none '$BUILD_ROOT/adapters' && exec '$python' -c 'print(1, flush=True); import time; time.sleep(1000)'" >from.other &
    pid=$!
    wait_for grep -q 1 from.other
    run 1 "$WEFT" ctl -o "$tmp/a.weft" "$pid" on
    says "$tmp/err" 'sees other folders than we do, as in a container: what records it, .*, must be there as well'
    kill -KILL "$pid"
    wait "$pid" 2>/dev/null || :
fi

# ---- Killed in the middle: the process goes on, and is right ----
program=busy.py
begin busy.py
for i in $(seq 10 10 300); do
    "$WEFT" ctl -w 60s -s 64K -o "k$i.weft" "$pid" on >killed 2>&1 &
    asker=$!
    timeout -s KILL "0.$(printf %03d "$i")" tail -s 0.001 --pid="$asker" -f /dev/null 2>killed || :
    kill -KILL "$asker" 2>/dev/null || :
    wait "$asker" 2>/dev/null || :
    "$WEFT" ctl -w 60s "$pid" stop >killed 2>&1 || :
done
kill -USR1 "$pid"
heard right
wait "$pid" || fail "status $? of the program"
finish
