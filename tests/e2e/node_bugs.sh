#!/bin/bash
# SPDX-License-Identifier: ISC
# examples/bugs/node: weft explain names the fault and its culprit in the bad ones, and has nothing to say about the good
# ones.
. "$(dirname "$0")/lib.sh"
node=${NODE:-$(command -v node || :)}
[ -e "$BUILD_ROOT/adapters/node/weft.node" ] || skip 'Node.js programs are not recorded by this build'
[ -n "$node" ] && [ -x "$node" ] || missing 'node'
[ "$("$node" -p 'process.versions.node.split(".")[0] >= 18')" = true ] || skip 'node is older than 18'
unset WEFT_TRACE WEFT_TRACE_SIZE WEFT_TRACE_FOR WEFT_TRACE_FORK NODE_OPTIONS
bugs=$SOURCE_ROOT/examples/bugs/node
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

# judge PROGRAM good|bad NAME LABEL [LEAST]
judge() {
    run 0 "$WEFT" record --force --size 4M -o bug.weft -- "$node" "$bugs/$1.js" "$2"
    run 0 "$WEFT" explain --all --json bug.weft
    cp "$tmp/out" found
    equal "$1 $2" '' "$(python3 judge.py "$3" "$4" "${5:-likely}")"
}

# bug PROGRAM NAME LABEL [LEAST]
bug() {
    judge "$1" bad "$2" "$3" "${4:-likely}"
    judge "$1" good nothing "$3"
}

bug pool hang-root 'acquire pool.js:16' certain
bug callback hang-root 'lookup callback.js:11' certain
bug cancelled hang-root 'download cancelled.js:6' certain
bug deadlock deadlock 'readConfiguration deadlock.js:7'
bug event hang-root 'once event.js:9' certain
bug swallowed swallowed-failure 'writeReport swallowed.js:6'
bug nplus1 serial-waits 'showOrders nplus1.js:14'
bug sequential serial-waits 'page sequential.js:11'
bug blocked loop-blocked 'login blocked.js:9'
# What is found of the bad one is only by how many there were in the middle of the time that it took.
judge leak good nothing '30000 ms leak.js:7'

equal 'examples that are tried' "$(cd "$bugs" && ls ./*.js | sed 's/..//; s/.js$//')" \
    "$(sed -nE 's/^(bug|judge) ([a-z0-9]+) .*/\2/p' "$SOURCE_ROOT/tests/e2e/node_bugs.sh" | sort)"
finish
