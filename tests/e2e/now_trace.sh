#!/bin/bash
# SPDX-License-Identifier: ISC
# Processes and cores that record nothing are read like traces: info, promises, dump and the others say what weft explain
# says of them (now_trace.py). Graphs that are made up: ../unit/test_now_trace.c.
. "$(dirname "$0")/lib.sh"
: "${CONTROLLED:?}"
. "$(dirname "$0")/hung.sh"
export PYTHONDONTWRITEBYTECODE=1 DEBUGINFOD_URLS=''

agrees() { # WHAT [SOURCE]
    run 0 python3 "$SOURCE_ROOT/tests/e2e/now_trace.py" "$WEFT" "${2:-$pid}"
    says "$tmp/out" "^$1$"
    sed -n '/^FAILED/,$p' "$tmp/out"
    for command in 'info --json' promises dump stats 'explain --json --pending'; do
        # shellcheck disable=SC2086 # words
        run 0 "$WEFT" $command "${2:-$pid}"
    done
}

# ---- Two threads that wait for each other ----
hang abba
wait_for seen 'Deadlock: 2 threads'
agrees '4 things, 2 waits, 2 holds'
run 0 "$WEFT" info "$pid"
says "$tmp/err" "^weft: $pid: records nothing: this is what it waits for now, seen from outside; weft explain $pid says more$"
tr -s ' \n' ' ' <"$tmp/out" >"$tmp/text"
says "$tmp/text" "process $pid on .*, looked at by weft .* looked at 20.* UTC seen from outside, at one moment: the process records nothing; it was not stopped for that"
says "$tmp/text" 'links 2 × locks 2 × is held by, as holds stacks 2, not in a trace'
says "$tmp/text" "more while the process is there: weft explain $pid, with the stacks; weft ctl $pid on begins to record"
says "$tmp/text" 'CLOCK_BOOTTIME'
run 3 "$WEFT" explain --check --pending "$pid"
tr -s ' \n' ' ' <"$tmp/out" >"$tmp/text"
says "$tmp/text" "^4 promises pending: 'thread $pid 'hang'' \(thread 1\), pending for [^ ]+ [^ ]+ waits for 'mutex log_lock' \(lock 3\), pending for more than"
says "$tmp/text" "1\. deadlock \(likely\) Each of these waits for what another one of them holds: "
says "$tmp/text" 'This is what was seen of the program at one moment, from outside'
run 0 "$WEFT" explain --promise 3 "$pid"
says "$tmp/out" "^'mutex log_lock' \(lock 3\)$"
says "$tmp/out" '^Created before the trace begins\.'
for command in 'render -o a.svg' 'render -o a.png' 'export --to mirage -o a.ctf' 'explain --json --pending'; do
    # shellcheck disable=SC2086 # words
    run 0 "$WEFT" $command "$pid"
done
says a.svg 'mutex log_lock'

# When threads began is known, to a hundredth of a second; nothing else is.
run 0 "$WEFT" promises "$pid"
grep -v '^id' "$tmp/out" | cut -f 2,4 >starts
run 0 "$WEFT" dump "$pid"
equal 'what has a known beginning' 'lock:? lock:? thread:-1 thread:-1' \
    "$(sed -n 's/.* creates parent=\([^ ]*\) .* type=\([a-z]*\) .*/\2:\1/p' "$tmp/out" | sort | tr '\n' ' ' | sed 's/ $//')"
ticks=$(getconf CLK_TCK)
began=$(awk '{ sub(/.*\) /, ""); print $20 }' "/proc/$pid/stat")
run 0 "$WEFT" info --json "$pid"
json "$tmp/out" "abs(d['first_real_ns'] / 1e9 - next(int(l.split()[1]) for l in open('/proc/stat') if l.startswith('btime')) - $began / $ticks) < 2" >early
equal 'when the first thread began' True "$(cat early)"

# The file says the same, and is as small as it can be.
run 0 "$WEFT" save -o saved.weft "$pid"
run 0 "$WEFT" info --json saved.weft
equal 'a file' "$pid 4 0 False" "$(json "$tmp/out" \
    '"%d %d %d %s" % (d["provenance"]["pid"], d["promises"], d["provenance"]["outside"]["stopped_ns"], d["provenance"]["outside"]["core"])')"
[ "$(stat -c %s saved.weft)" -lt 8192 ] || fail "it has $(stat -c %s saved.weft) bytes"
run 3 "$WEFT" explain --check saved.weft
says "$tmp/out" '^1\. deadlock \(likely\)'

# ---- A core of it ----
if command -v gdb >/dev/null; then
    gdb -nx -q -batch -iex 'set debuginfod enabled off' -ex 'generate-core-file abba.core' -p "$pid" >gdb.log 2>&1 </dev/null || :
fi
release
if [ -s abba.core ]; then
    agrees '4 things, 2 waits, 2 holds' abba.core
    run 0 "$WEFT" info abba.core
    says "$tmp/err" '^weft: abba\.core: is a core file of a process that recorded no trace.*; this is what its threads waited for then$'
    tr -s ' \n' ' ' <"$tmp/out" >"$tmp/text"
    says "$tmp/text" 'seen in a core file without a trace: what its threads waited for then links 2 × locks'
    says "$tmp/text" 'not seen abba\.core is a core file of a process that recorded no trace'
    run 3 "$WEFT" explain --check --pending abba.core
    says "$tmp/out" '^1\. deadlock'
    says "$tmp/out" '^There is no trace: abba\.core'
    run 0 "$WEFT" save -o core.weft abba.core
    run 0 "$WEFT" promises core.weft
    equal 'promises of a core' 5 "$(wc -l <"$tmp/out")"
else
    echo "not tried with a core: $(tail -n 1 gdb.log 2>/dev/null)"
fi

# ---- A server on epoll, and a pipe whose other end is elsewhere ----
hang epoll
wait_for seen 'epoll_wait for any of 4 descriptors .* has its other end in process'
agrees '6 things, 5 waits, 0 holds'
run 0 "$WEFT" info "$pid"
says "$tmp/out" '4 × waits to read, as waits, though any one of several suffices$'
says "$tmp/out" '1 × has its other end in$'
run 0 "$WEFT" explain --check --pending "$pid" # what comes from outside may be waited for
says "$tmp/out" 'nothing found .* looked for deadlock, lost-wakeup, hang-root'
release
hang child_pipe
wait_for seen 'has its other end in process'
agrees '3 things, 2 waits, 0 holds'
release

# What runs is running, and was stopped to be looked at.
hang busy
wait_for seen 'runs at spin'
agrees '1 things, 0 waits, 0 holds'
run 0 "$WEFT" info "$pid"
says "$tmp/out" 'the process records nothing; it was stopped for [0-9.]+ [mµn]s$'
run 0 "$WEFT" dump "$pid"
says "$tmp/out" ' switch p=1$'
run 0 "$WEFT" explain --pending "$pid"
says "$tmp/out" ", runs on thread $pid$"
release

# ---- Python on a semaphore ----
hang_python
agrees '13 things, 18 waits, 0 holds'
run 0 "$WEFT" explain --pending "$pid"
tr -s ' \n' ' ' <"$tmp/out" >"$tmp/text"
says "$tmp/text" "'task Task-1' .* waits for 'asyncio.gather of 10' .* waits for 'task Task-[0-9]+' \(task [0-9]+\), pending for more than [^(]* \(and 7 more like it\) waits for 'asyncio\.Semaphore pool'"
release

# ---- Node on a promise ----
node=${NODE:-node}
if command -v "$node" >/dev/null; then
    cat >never.js <<'END'
async function never() { await new Promise(() => {}); }
async function main() { await never(); }
main();
setInterval(() => {}, 100000);
END
    "$node" never.js &
    pid=$!
    wait_for seen 'async function main'
    agrees '[0-9]+ things, [0-9]+ waits, 0 holds'
    run 0 "$WEFT" promises look.weft
    equal 'tasks' 'async function main,async function never' "$(awk -F '\t' '$2 == "task" { print $8 }' "$tmp/out" | sort | paste -s -d ,)"
    release
else
    echo 'not tried with Node.js: there is no node'
fi

# ---- A process that records is copied as before ----
mkfifo orders
"$CONTROLLED" <orders >answers 2>&1 &
pid=$!
exec 4>orders
printf 'start own.weft\nhang\n' >&4
wait_for grep -c 'ok$' answers
run 0 "$WEFT" info --json "$pid"
silent "$tmp/err"
equal 'it was not looked at' None "$(json "$tmp/out" 'd["provenance"]["outside"]')"
release
exec 4>&-
run 1 "$WEFT" info "$pid"
says "$tmp/err" "there is no process $pid"

# ---- Another user's process ----
if [ "$(id -u)" -eq 0 ] && setpriv --reuid 65534 --clear-groups true 2>/dev/null; then
    hang abba
    for command in info promises 'save -o copy.weft'; do
        # shellcheck disable=SC2086 # words
        run 1 setpriv --reuid 65534 --clear-groups "$WEFT" $command "$pid"
        says "$tmp/err" "the files of process $pid cannot be read: it is another user's, or has more rights than you; be root"
    done
    release
else
    echo 'not tried as another user'
fi
finish
