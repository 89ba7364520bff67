#!/bin/bash
# SPDX-License-Identifier: ISC
# Core files: what weft explain says of the crash, and where the trace is found. gdb makes them, so that it does not matter what
# this machine does with cores; core.py makes those that nobody would.
. "$(dirname "$0")/lib.sh"
: "${CRASHING:?}"
command -v gdb >/dev/null || missing 'gdb is not installed'
case $(uname -m) in x86_64 | aarch64) ;; *) skip "not tried on $(uname -m)" ;; esac
! grep -q -e __asan_init -e __tsan_init "$CRASHING" || skip 'the core of a program with a sanitizer has terabytes of shadow'
cd "$tmp"
export DEBUGINFOD_URLS='' WEFT_TRACE_SIZE=1M

debugger=(gdb -nx -q -batch -iex 'set debuginfod enabled off')

# crash NAME HOW [FILTER]: NAME.core of a program that ends so, and records into NAME.weft; FILTER: what is dumped (core(5))
crash() {
    checks=$((checks + 1))
    (
        [ -z "${3:-}" ] || echo "$3" >/proc/self/coredump_filter
        WEFT_TRACE="$tmp/$1.weft" exec "${debugger[@]}" -ex run -ex "generate-core-file $1.core" -ex kill \
            --args "$CRASHING" "$2" >"$1.log" 2>&1 </dev/null
    ) || :
    if [ ! -s "$1.core" ]; then
        grep -q -i -e 'ptrace' -e 'Operation not permitted' "$1.log" && skip 'gdb may not trace here'
        fail "no core: $2"
        cat "$1.log"
    fi
}

# text COMMAND...: its output in one line, in $tmp/text
text() {
    run 0 "$@"
    tr -s ' \n' ' ' <"$tmp/out" >"$tmp/text"
}

place=" [^ ]*crashing\.c:[0-9]+"
served="in serve$place in serve_all$place On this thread ran 'GET /users/7' \(request 3\), since .* before the trace ends, created by 'from 192\.0\.2\.7' \(connection 2\), created by 'accept' \(listener 1\); it was created in [^ ]*crashing\.c:[0-9]+\. Before, it waited for 'select 7' \(query 4\), from .* to "

# ---- How it ended ----

crash segv segv
text "$WEFT" explain segv.core
says "$tmp/text" "^segv\.core: process [0-9]+ 'crashing' was ended by SIGSEGV at address 0x10, where nothing is mapped, in thread [0-9]+ 'server': at parse_request$place $served"
says "$tmp/text" 'segv\.core: nothing found in 8 events'
equal 'frames that every thread has' 0 "$(grep -c -e start_thread -e clone "$tmp/out")"
run 0 "$WEFT" explain --json segv.core
equal 'as data' "11 SIGSEGV 16 parse_request GET /users/7 True from 192.0.2.7,accept select 7 False None" "$(json "$tmp/out" \
    '" ".join(map(str, [(c := d["crash"])["signal"], c["signal_name"], c["address"], c["frames"][0]["function"],
        (p := c["promise"])["label"], p["running"], ",".join(x["label"] for x in p["creators"]), p["waited_for"]["label"],
        p["waits"], c["sender"]]))')"
equal 'findings as ever' '[] 8 killed' "$(json "$tmp/out" '"%s %s %s" % (d["findings"], d["events_total"], d["ended"])')"

crash jump jump
text "$WEFT" explain jump.core
says "$tmp/text" "SIGSEGV at address 0x0, where nothing is mapped, in thread [0-9]+ 'server': at 0x0 in parse_request$place $served"
crash divide divide
text "$WEFT" explain divide.core
[ "$(uname -m)" = aarch64 ] || # which does not mind
    says "$tmp/text" "SIGFPE at address 0x[0-9a-f]+: a division by zero, in thread [0-9]+ 'server': at parse_request$place $served"
crash assert assert
text "$WEFT" explain assert.core
says "$tmp/text" "was ended by SIGABRT, which the process sent itself \(abort\), in thread [0-9]+ 'server': at .* in parse_request$place $served"
crash idle idle
text "$WEFT" explain idle.core
says "$tmp/text" "in serve_all$place When the trace ends, no promise ran on this thread, but the event loop\."

# ---- Where the trace is ----

"$WEFT" dump segv.weft >expected
run 0 "$WEFT" dump segv.core
same 'events of a file that the core names' expected "$tmp/out"
for command in info promises stats 'render -o x.svg' 'export --to mirage -o x.ctf' 'save -o x.weft'; do
    # shellcheck disable=SC2086 # words
    run 0 "$WEFT" $command segv.core
done
chmod 644 segv.core
(umask 022; "$WEFT" render -o y.svg segv.core) || fail 'no picture'
equal 'a picture is as private as the trace' 600 "$(stat -c %a y.svg)"
run 0 "$WEFT" dump x.weft
same 'events that were saved from it' expected "$tmp/out"

# without WHY: there is no trace, but still the crash, and what the threads waited for
without() {
    run 0 "$WEFT" info segv.core
    says "$tmp/err" "^weft: segv\.core: is a core.* $1.*; this is what its threads waited for then$"
    says "$tmp/out" '^  seen +in a core file without a trace'
    run 1 "$WEFT" explain --check segv.core
    says "$tmp/err" "$1"
    text "$WEFT" explain segv.core
    says "$tmp/text" "SIGSEGV at address 0x10, where nothing is mapped, in thread [0-9]+: at parse_request$place in serve$place in serve_all$place What waited for what then: "
    says "$tmp/text" "There is no trace: segv\.core is a core.* $1"
    [ "$(uname -m)" != x86_64 ] ||
        says "$tmp/text" "thread [0-9]+: waits in pthread_mutex_lock \(and 1 more that does the same\) .* locks mutex table_lock is held by thread [0-9]+: waits in pthread_join .* joins thread [0-9]+: ran \(see above\)"
}

mv segv.weft kept.weft
without 'but that is gone; with 0x3b in /proc/PID/coredump_filter'
run 0 "$WEFT" explain --json segv.core
equal 'no trace, as data' 'True None 3' "$(json "$tmp/out" \
    '"%s %s %s" % ("is gone" in d["crash"]["no_trace"], d["crash"]["promise"], sum(t["kind"] == "thread" for t in d["crash"]["now"]["things"]) - 1)')"
cp jump.weft segv.weft
without 'has that of process [0-9]+ now; %p in its name'
# Another process with the same number, as in a container that was started again.
python3 - kept.weft segv.weft <<'EOF'
import struct, sys
trace = bytearray(open(sys.argv[1], 'rb').read())
at = 112 # start_real_ns: docs/format.md
struct.pack_into('<Q', trace, at, struct.unpack_from('<Q', trace, at)[0] + 3600 * 10**9)
open(sys.argv[2], 'wb').write(trace)
EOF
without 'begun later, by another process'
echo 'something else' >segv.weft
without 'but that is something else now'
rm segv.weft
mkfifo segv.weft
without 'but that is something else now'
rm segv.weft
ln -s /dev/zero segv.weft
without 'but that is something else now'
rm segv.weft
mkdir segv.weft
without 'but that is something else now'
rmdir segv.weft
mv kept.weft segv.weft.old
cp jump.weft segv.weft
run 0 "$WEFT" dump segv.core
same 'events of a file that weft record has put aside' expected "$tmp/out"
mv segv.weft.old segv.weft
run 0 "$WEFT" dump segv.core
same 'events of the file that is there again' expected "$tmp/out"

# Whatever the file is then
crash shared segv 0x3b
"$WEFT" dump shared.weft >expected
rm shared.weft
run 0 "$WEFT" dump shared.core
same 'events in a mapped file that was dumped' expected "$tmp/out"
"$WEFT" dump - <shared.core >from_pipe || fail 'a core as standard input'
same 'a core as standard input' expected from_pipe
run 0 "$WEFT" info --json shared.core
shared=$(json "$tmp/out" 'd["provenance"]["pid"]')
cat shared.core segv.weft >two.core # what is behind the end of a core does not count
run 0 "$WEFT" info --json two.core
equal 'of the process itself, though there is another' "$shared" "$(json "$tmp/out" 'd["provenance"]["pid"]')"

# Memory of weft record, which the kernel and gdb dump unless they are told otherwise
remember() { # NAME FILTER
    checks=$((checks + 1))
    mkfifo ready
    (
        echo "$2" >/proc/self/coredump_filter
        exec "$WEFT" record --memory -o "$1.weft" -- "$CRASHING" wait >ready 2>"$1.err"
    ) &
    read -r _ pid <ready
    "${debugger[@]}" -ex "generate-core-file $1.core" -ex kill -p "$pid" >"$1.log" 2>&1 </dev/null || :
    [ -s "$1.core" ] || fail "no core: $(cat "$1.log")"
    kill -KILL "$pid" 2>/dev/null || :
    wait "$!" 2>/dev/null || :
    rm ready
}
remember memory 0x33
text "$WEFT" explain memory.core
says "$tmp/text" "^memory\.core: process $pid 'crashing': its core was made without a signal; its first thread is thread $pid 'crashing': at .* nothing found in 8 events"
remember named 0x31
run 0 "$WEFT" info named.core
says "$tmp/err" 'recorded into shared memory, which was not dumped; set bit 1 of /proc/PID/coredump_filter'

# The program has been built anew since; then it is gone
cp "$CRASHING" server
CRASHING=./server crash again segv
cp /bin/sh server
run 0 "$WEFT" explain again.core
tr -s ' \n' ' ' <"$tmp/out" >"$tmp/text"
says "$tmp/text" "in thread [0-9]+ 'server': at server\+0x[0-9a-f]+ .*/server is not the file that ran, it has another build id"
rm server
run 0 "$WEFT" explain again.core
tr -s ' \n' ' ' <"$tmp/out" >"$tmp/text"
says "$tmp/text" "at server\+0x[0-9a-f]+ .*/server is not here: functions, and callers, are missing"

# What the tasks of Python wait for
cat >hangs.py <<'EOF'
import asyncio
async def worker(lock):
    async with lock:
        await asyncio.get_running_loop().create_future()
async def main():
    lock = asyncio.Lock()
    tasks = [asyncio.create_task(worker(lock), name="worker-%d" % i) for i in range(2)]
    await asyncio.sleep(0)
    print("ready", flush=True)
    await asyncio.gather(*tasks)
asyncio.run(main())
EOF
python=$(PATH=/usr/bin:/bin command -v python3)
case $("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])') in
    3.9 | 3.1[0-3])
        checks=$((checks + 1))
        mkfifo ready
        "$python" hangs.py >ready &
        pid=$!
        read -r _ <ready
        "${debugger[@]}" -ex 'generate-core-file python.core' -ex kill -p "$pid" >python.log 2>&1 </dev/null || :
        wait "$pid" 2>/dev/null || :
        text "$WEFT" explain python.core
        says "$tmp/text" 'task worker-1: waits in Lock\.acquire at Lock\.acquire .* in worker [^ ]*hangs\.py:3 locks asyncio\.Lock lock'
        ;;
    *) echo 'not tried: the tasks of this Python' ;;
esac

# What the promises of Node.js wait for: as in the process itself. A stack of JavaScript, too.
tree() { awk '/^(async|promise|module) / { on = 1 } /^$/ { on = 0 } on'; }
cat >hangs.mjs <<'EOF'
import fs from "node:fs";
const never = () => new Promise(() => {});
async function shake() { await never(); }
async function* values() { await never(); yield 1; }
async function consume() { for await (const value of values()) ; }
setTimeout(function stops() { console.log("ready"); fs.readFileSync("never"); }, 1);
await Promise.all([shake(), consume()]);
EOF
if [ "$(uname -m)" = x86_64 ] && command -v "${NODE:-node}" >/dev/null; then
    rm -f ready
    mkfifo ready never
    "${NODE:-node}" hangs.mjs >ready &
    pid=$!
    read -r _ <ready
    # On a busy machine it may not see all in the time that it takes.
    stops() {
        "$WEFT" explain "$pid" >said
        tree <said >lives
        grep -q 'waits in open ' said && ! grep -q -e 'too long' -e 'in the time' said
    }
    wait_for stops
    "${debugger[@]}" -ex 'generate-core-file node.core' -ex kill -p "$pid" >node.log 2>&1 </dev/null || :
    wait "$pid" 2>/dev/null || :
    run 0 "$WEFT" explain node.core
    rm node.core # which is large
    tree <"$tmp/out" >left
    says left 'awaits next value of async generator values'
    equal 'promises of Node.js in its core' '' "$(diff lives left)"
    says "$tmp/out" ' in (stops|Timeout\.stops).* /.*hangs\.mjs:6$'
else
    echo 'not tried: the promises of Node.js'
fi

# ---- Cores that end too early, or that somebody has made up ----

run 0 python3 "$SOURCE_ROOT/tests/e2e/core.py" "$WEFT" segv.core "$tmp"
sed -n '/^FAILED/p' "$tmp/out"
finish
