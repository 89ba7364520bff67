#!/bin/bash
# SPDX-License-Identifier: ISC
# weft ctl PID on, of programs that make no call: it takes effect at once, and they do not notice.
. "$(dirname "$0")/lib.sh"
[ -x "${STANDING:-}" ] || skip 'STANDING is not set'
[ -r /proc/self/syscall ] || skip 'this kernel does not say where threads wait'
[ "$(uname -m)" = x86_64 ] || skip "not tried on $(uname -m)"
cd "$tmp"
unset WEFT_TRACE WEFT_TRACE_SIZE WEFT_TRACE_FOR WEFT_TRACE_FD
export ASAN_OPTIONS=detect_leaks=0

stand() { # KIND...: starts it; $pid
    rm -f to from
    mkfifo to from
    "$STANDING" "$@" <to >from &
    pid=$!
    exec {to}>to {from}<from
    read -r -t 300 line <&"$from"
    equal "$* begins" ready "$line"
}

release() { # it ends, and has found nothing wrong
    local line='' status=0
    case $kind in
        spin | each) kill -USR1 "$pid" ;;
        *) echo >&"$to" ;;
    esac
    read -r -t 300 line <&"$from" || :
    wait "$pid" || status=$?
    exec {to}>&- {from}<&-
    equal "what $kind says" right "$line"
    equal "how $kind ends" 0 "$status"
}

state() { "$WEFT" ctl "$pid" status | sed -n 's/^  state    //p'; }

# ---- At once, whatever they do ----
for kind in epoll poll read tick turns sleep ppoll select lock deadlock spin each; do
    stand "$kind"
    run 0 "$WEFT" ctl -w 60s -s 1M -o a.weft "$pid" on
    says "$tmp/out" "^process $pid: records into $tmp/a.weft, [0-9.]+ .?s after the command \([0-9.]+ .?s until it was interrupted, [0-9.]+ .?s to begin\)\. It was stopped for [0-9.]+ .?s for that\.\$"
    equal "$kind" recording "$(state)"
    run 0 "$WEFT" ctl -w 60s "$pid" off
    says "$tmp/out" "is paused; the trace, .*, stays open\. It was stopped for "
    equal "$kind" paused "$(state)"
    run 0 "$WEFT" ctl -w 60s "$pid" on
    run 0 "$WEFT" ctl -w 60s "$pid" stop
    says "$tmp/out" "has ended the recording into .*\. It was stopped for "
    equal "$kind" 'not recording' "$(state)"
    run 0 "$WEFT" ctl -w 60s -s 1M -o b.weft "$pid" on
    release
    run 0 "$WEFT" info --json b.weft
    equal "events of $kind" 2 "$(json "$tmp/out" 'd["events_total"]')"
    rm -f ./*.weft
done

# ---- Only asked ----
kind=deadlock
stand deadlock
run 0 "$WEFT" ctl -w 0 -s 1M -o a.weft "$pid" on
says "$tmp/out" 'will begin to record with its next call of weft.s'
equal 'not interrupted' 'not recording; asked to change with its next call' "$(state)"
release
run 0 "$WEFT" info --json a.weft
rm -f ./*.weft

# ---- What cannot be ----
stand deadlock
kill -STOP "$pid"
run 0 "$WEFT" ctl -w 150ms -s 1M -o a.weft "$pid" on
says "$tmp/out" 'and was not interrupted: it is stopped \(SIGCONT continues it\)'
kill -CONT "$pid"
release
rm -f ./*.weft
stand deadlock
mkfifo to2 from2
"$STANDING" trace "$pid" <to2 >from2 &
tracer=$!
exec {to2}>to2 {from2}<from2
read -r -t 300 line <&"$from2"
equal 'the tracer' ready "$line"
run 0 "$WEFT" ctl -w 150ms -s 1M -o a.weft "$pid" on
says "$tmp/out" "and was not interrupted: it may not be interrupted for that: process $tracer traces it"
echo >&"$to2"
wait "$tracer"
exec {to2}>&- {from2}<&-
run 0 "$WEFT" ctl -w 60s "$pid" status
release
rm -f ./*.weft

# ---- Killed in the middle: the process goes on, and is right. FEW=yes: at a few moments ----
for kind in each tick sleep deadlock; do
    stand "$kind"
    for i in $(seq 100 ${FEW:+2}5 250); do
        "$WEFT" ctl -w 60s -s 64K -o "k$i.weft" "$pid" on >killed 2>&1 &
        asker=$!
        timeout -s KILL "0.$i" tail -s 0.001 --pid="$asker" -f /dev/null || :
        kill -KILL "$asker" 2>/dev/null || :
        wait "$asker" || :
        "$WEFT" ctl -w 60s "$pid" stop >/dev/null
    done
    equal "threads of $kind that were left stopped" '' "$(sed -n 's/^State:\t\([tT]\).*/\1/p' /proc/"$pid"/task/*/status)"
    run 0 "$WEFT" ctl -w 60s -s 1M -o a.weft "$pid" on
    equal "$kind" recording "$(state)"
    release
    rm -f ./*.weft
done
finish
