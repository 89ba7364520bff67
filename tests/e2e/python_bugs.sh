#!/bin/bash
# SPDX-License-Identifier: ISC
# examples/bugs/python: weft explain names the fault and its culprit in the bad ones, and has nothing to say about the good
# ones.
. "$(dirname "$0")/lib.sh"
python=${PYTHON:-/usr/bin/python3}
[ -e "$BUILD_ROOT/adapters/python/_weft.abi3.so" ] || skip 'Python programs are not recorded by this build'
[ -x "$python" ] || skip "$python is not there"
unset WEFT_TRACE WEFT_TRACE_SIZE WEFT_TRACE_FOR WEFT_TRACE_FORK PYTHONPATH
export PYTHONDONTWRITEBYTECODE=1
bugs=$SOURCE_ROOT/examples/bugs/python
cd "$tmp"

# What is judged by how long things took may be found on a machine that is busy with something else.
cat >judge.py <<'END'
import json, sys

name, label, least = sys.argv[1:4]
found = [f for f in json.load(open("found"))["findings"]]
clocked = {"loop-blocked", "slow-wake", "spin"}
sure = [f for f in found if f["confidence"] != "possible" and (f["name"] == name or f["name"] not in clocked)]
tell = lambda f: f"{f['confidence']} {f['name']} of {f['label']!r}"
if name == "nothing":
    wrong = [f for f in sure if f["name"] not in clocked or f["label"] == label]
    wrong += [f for f in found if f["name"] == "leak"]
    print("; ".join(map(tell, wrong)))
elif not sure or sure[0]["name"] != name or sure[0]["label"] != label:
    print("first:", tell(sure[0]) if sure else "nothing")
elif least == "certain" and sure[0]["confidence"] != "certain" or len(sure) > 1:
    print("; ".join(map(tell, sure)))
END

# judge STATUS PROGRAM good|bad NAME LABEL [LEAST]
judge() {
    run "$1" "$WEFT" record --force --size 4M -o bug.weft -- "$python" "$SOURCE_ROOT/tests/e2e/until_hung.py" "$bugs/$2.py" "$3"
    run 0 "$WEFT" explain --all --json bug.weft
    cp "$tmp/out" found
    equal "$2 $3" '' "$(python3 judge.py "$4" "$5" "${6:-likely}")"
}

# bug PROGRAM STATUS NAME LABEL [LEAST]
bug() {
    judge "$2" "$1" bad "$3" "$4" "${5:-likely}"
    judge 0 "$1" good nothing "$4"
}

hung=130
# Since 3.11 Ctrl-C cancels the main task, which ends in peace here.
cancelled=$("$python" -c 'import sys; print(0 if sys.version_info >= (3, 11) else 130)')
bug pool $hung hang-root 'Semaphore pool.py:27' certain
bug callback $hung hang-root 'lookup:19' certain
bug cancelled $cancelled hang-root 'main:27' certain
bug deadlock $hung deadlock 'Lock deadlock.py:12 #2'
bug event $hung lost-wakeup 'Condition event.py:21' certain
bug swallowed 0 swallowed-failure write_report
bug nplus1 0 serial-waits show_orders
bug sequential 0 serial-waits page
bug blocked 0 loop-blocked login
# What is found of the bad one is only possible, and by how many there were in the middle of the time that it took.
judge 0 leak good nothing 'sleep 30 s'

equal 'examples that are tried' "$(cd "$bugs" && ls ./*.py | sed 's/..//; s/.py$//')" \
    "$(sed -nE 's/^(bug|judge [0-9]) ([a-z0-9]+) .*/\2/p' "$SOURCE_ROOT/tests/e2e/python_bugs.sh" | sort)"
finish
