#!/bin/bash
# SPDX-License-Identifier: ISC
# examples/bugs/python: weft explain names the fault and its culprit in the bad ones, and has nothing to say about the good
# ones.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/python_lib.sh"
bugs=$SOURCE_ROOT/examples/bugs/python

# judge STATUS PROGRAM good|bad NAME LABEL [LEAST]
judge() {
    run "$1" "$WEFT" record --force --size 4M -o bug.weft -- "$OWN_CLOCK" "$python" ${until_hung:+"$until_hung"} ${loop:+"$loop"} "$bugs/$2.py" "$3"
    run 0 "$WEFT" explain --all --json bug.weft
    equal "$2 $3" '' "$(python3 "$SOURCE_ROOT/tests/e2e/judge.py" "$4" "$5" "${6:-likely}" <"$tmp/out")"
}

# bug PROGRAM STATUS NAME LABEL [LEAST]
bug() {
    judge "$2" "$1" bad "$3" "$4" "${5:-likely}"
    cp "$tmp/out" bad.json
    judge 0 "$1" good nothing "$4"
}

hung=130 loop='' until_hung=$SOURCE_ROOT/tests/e2e/until_hung.py
# Since 3.11 Ctrl-C cancels the main task, which ends in peace here.
cancelled=$("$python" -c 'import sys; print(0 if sys.version_info >= (3, 11) else 130)')
bug pool $hung hang-root 'Semaphore pool.py:27' certain
if "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
    judge $hung pool bad hang-root 'Semaphore pool.py:27' certain
    run 0 "$WEFT" explain bug.weft
    tr -s ' \n' ' ' <"$tmp/out" >"$tmp/text"
    says "$tmp/text" "was never given back; 'handle' \(task [0-9]+\) has waited for it since"
    says "$tmp/text" "It is held 2 times: by 'handle' \(task [0-9]+\), which failed at [0-9.]+ m?s \('ValueError\('bad row 3'\)'\), since"
    says "$tmp/text" "by 'handle' \(task [0-9]+\), which failed at [0-9.]+ m?s \('ValueError\('bad row 6'\)'\), since"
    judge $hung deadlock bad deadlock 'Lock deadlock.py:12*' certain
    run 0 "$WEFT" explain bug.weft
    tr -s ' \n' ' ' <"$tmp/out" >"$tmp/text"
    says "$tmp/text" "'transfer' \(task [0-9]+\), which holds 'Lock deadlock.py:12' \(Lock.acquire [0-9]+\), has waited for 'Lock deadlock.py:12 #2'"
    says "$tmp/text" "'transfer' \(task [0-9]+\), which holds 'Lock deadlock.py:12 #2' \(Lock.acquire [0-9]+\), has waited for 'Lock deadlock.py:12' "
fi
bug callback $hung hang-root 'lookup:19' certain
bug cancelled $cancelled hang-root 'main:27' certain
bug deadlock $hung deadlock 'Lock deadlock.py:12*'
bug event $hung lost-wakeup 'Condition event.py:21' certain
bug swallowed 0 swallowed-failure write_report
if "$python" -c 'import trio' 2>/dev/null; then
    loop=--trio
    bug trio_pool $hung hang-root 'Semaphore trio_pool.py:36' certain
    bug trio_deadlock $hung deadlock 'Lock trio_deadlock.py:13*'
    judge $hung trio_pool bad hang-root 'Semaphore trio_pool.py:36' certain
    run 0 "$WEFT" explain bug.weft
    tr -s ' \n' ' ' <"$tmp/out" >"$tmp/text"
    says "$tmp/text" "was never given back; 'handle' \(call [0-9]+\) has waited for it since .* by 'answer' \(task [0-9]+\), which was fulfilled at"
    judge $hung trio_deadlock bad deadlock 'Lock trio_deadlock.py:13*' certain
    run 0 "$WEFT" explain bug.weft
    tr -s ' \n' ' ' <"$tmp/out" >"$tmp/text"
    says "$tmp/text" "which holds 'Lock trio_deadlock.py:13.*which holds 'Lock trio_deadlock.py:13"
    loop=
fi
bug retry 0 retry-storm session
bug polling 0 polling download
bug nplus1 0 serial-waits show_orders
bug sequential 0 serial-waits page
bug blocked 0 loop-blocked login
bug pool_exhausted 0 pool-exhausted 'Semaphore pool_exhausted.py:32'
bug kept 0 pool-exhausted 'Lock kept.py:34'
bug contention 0 contention 'Lock contention.py:26'
bug queue_growth 0 queue-growth order:17
bug straggler 0 straggler Shard.find
bug leak 0 leak watch
bug heartbeat 0 stopped Heart.beat
bug queue_pool $hung hang-root 'Queue queue_pool.py:30' certain
says bad.json "'handle' \\(task 3\\), which got it last and has not passed it on, failed at"
bug notify $hung lost-wakeup 'Condition notify.py:12'
says bad.json "woke only '(Buffer\\.)?get' .* '(Buffer\\.)?put' .* was not woken"
bug stubborn $hung hang-root work certain
says bad.json "cancelled it while it waited for 'Queue stubborn.py:30' .* it goes on as before"
until_hung= # a loop that waits for its threads does not hang
bug workers_busy 0 workers-busy thumbnail

equal 'examples that are tried' "$(cd "$bugs" && ls ./*.py | sed 's/..//; s/.py$//')" \
    "$(sed -nE 's/^ *bug ([a-z0-9_]+) .*/\1/p' "$SOURCE_ROOT/tests/e2e/python_bugs.sh" | sort)"
finish
