#!/bin/bash
# SPDX-License-Identifier: ISC
# weft explain PID of processes that record nothing: its text, its data, and what it says when it cannot look.
. "$(dirname "$0")/lib.sh"
: "${CONTROLLED:?}"
. "$(dirname "$0")/hung.sh"

fails_check() {
    "$WEFT" explain --check "$pid" >/dev/null 2>&1
    [ $? -eq 3 ]
}

# A deadlock, in words and as data
hang abba
wait_for fails_check
run 0 "$WEFT" explain "$pid"
tr -s ' \n' ' ' <"$tmp/out" >"$tmp/text"
says "$tmp/text" "^Process $pid 'hang': what waits for what in it now, seen from outside. It was not stopped for that\. Deadlock: 2 threads wait for each other, and none can go on"
says "$tmp/text" "thread [0-9]+ 'hang': waits in pthread_mutex_lock at [a-z_]*pthread_mutex_lock[^ ]*( [^ ]*)? in write_log [^ ]*hang\.c:[0-9]+ "
says "$tmp/text" "none can go on thread $pid 'hang': .* locks mutex log_lock is held by thread [0-9]+ 'hang': waits in pthread_mutex_lock at"
says "$tmp/text" "locks mutex account\+0x28 is held by thread $pid 'hang': waits in pthread_mutex_lock \(see above\)"
equal 'frames that every thread has' 0 "$(grep -c -e start_thread -e __libc_start -e 'libc.so.6+0x' "$tmp/out")"
run 0 "$WEFT" explain --all "$pid"
says "$tmp/out" ' in (__libc_start|start_thread|libc\.so\.6\+0x)'
run 0 "$WEFT" explain --json "$pid"
equal 'of which process' "$pid" "$(json "$tmp/out" 'd["process"]')"
equal 'deadlocks' 1 "$(json "$tmp/out" 'd["cycles"]')"
equal 'what is on it' '2 locks, 2 threads' "$(json "$tmp/out" \
    '", ".join("%d %ss" % (sum(t["kind"] == k and t["cycle"] == 1 for t in d["things"]), k) for k in ["lock", "thread"])')"
equal 'each waits' 4 "$(json "$tmp/out" 'len({l["from"] for l in d["links"]})')"
run 0 env COLUMNS=60 "$WEFT" explain "$pid"
release

# Any of several, or only one
hang poll_one
wait_for seen 'waits in poll'
run 0 "$WEFT" explain "$pid"
says "$tmp/out" ' waits to read descriptor [0-9]+ \(reading end of a pipe\): only this process'
release
hang any_child
wait_for seen 'waits for the end of (any of) process .* 1 more'
release

# No deadlock: what waits, and nothing more
hang join
wait_for seen 'another thread must signal it'
run 0 "$WEFT" explain --check "$pid"
tr -s ' \n' ' ' <"$tmp/out" >"$tmp/text"
says "$tmp/text" "joins thread [0-9]+ 'hang': waits in pthread_cond_wait, with mutex queue_lock .* waits for condition variable work"
equal 'circles' 0 "$(grep -c Deadlock "$tmp/out")"
release

# Many that do the same are one entry.
hang_python
run 0 "$WEFT" explain "$pid"
tr -s ' \n' ' ' <"$tmp/out" >"$tmp/text"
says "$tmp/text" "^.*task Task-1: waits in main at main [^ ]*pool\.py:8 awaits asyncio\.gather of 10: 8 of 10 not done awaits task Task-[0-9]+: waits in Semaphore\.acquire \(and 7 more that do the same\) at "
equal 'entries' 1 "$(grep -c 'Semaphore.acquire (and' "$tmp/out")"
run 0 "$WEFT" explain --all "$pid"
equal 'each of them' 8 "$(grep -c 'awaits task Task-' "$tmp/out")"
release

# A process that records is explained by its trace, unless --now asks for more.
mkfifo orders
"$CONTROLLED" <orders >answers 2>&1 &
pid=$!
exec 4>orders
printf 'start own.weft\nhang\n' >&4
wait_for grep -c 'ok$' answers
run 0 "$WEFT" explain "$pid"
equal 'looked at from outside' 0 "$(grep -c 'seen from outside' "$tmp/out")"
run 0 "$WEFT" explain --now "$pid"
says "$tmp/out" "^Process $pid 'controlled': what waits for what in it now"
release
exec 4>&-

# What is not there, or is no process
run 1 "$WEFT" explain "$pid"
says "$tmp/err" "there is no process $pid"
run 1 "$WEFT" explain --now "$pid"
says "$tmp/err" "there is no process $pid"
run 1 "$WEFT" explain --now own.weft
says "$tmp/err" 'is no process or core; --now takes process ids'

# Another user's process
if [ "$(id -u)" -eq 0 ] && setpriv --reuid 65534 --clear-groups true 2>/dev/null; then
    hang abba
    run 1 setpriv --reuid 65534 --clear-groups "$WEFT" explain --now "$pid"
    says "$tmp/err" "process $pid may not be looked at: it is another user's"
    release
else
    echo 'not tried as another user'
fi
finish
