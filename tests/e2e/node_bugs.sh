#!/bin/bash
# SPDX-License-Identifier: ISC
# examples/bugs/node: weft explain names the fault and its culprit in the bad ones, and has nothing to say about the good
# ones.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/node_lib.sh"
bugs=$SOURCE_ROOT/examples/bugs/node

# judge PROGRAM good|bad NAME LABEL [LEAST]
judge() {
    run 0 "$WEFT" record --force --size 4M -o bug.weft -- "$OWN_CLOCK" "$node" "$bugs/$1.js" "$2"
    run 0 "$WEFT" explain --all --json bug.weft
    equal "$1 $2" '' "$(python3 "$SOURCE_ROOT/tests/e2e/judge.py" "$3" "$4" "${5:-likely}" <"$tmp/out")"
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
bug retry retry-storm 'session retry.js:12'
bug polling polling 'download polling.js:12'
bug nplus1 serial-waits 'showOrders nplus1.js:14'
bug sequential serial-waits 'page sequential.js:11'
bug blocked loop-blocked 'login blocked.js:9'
bug contention contention 'acquire contention.js:17'
bug queue_growth queue-growth 'order queue_growth.js:13'
bug straggler straggler 'find straggler.js:11'
# What is found of the bad one is only by how many there were in the middle of the time that it took.
judge leak good nothing '30000 ms leak.js:7'

equal 'examples that are tried' "$(cd "$bugs" && ls ./*.js | sed 's/..//; s/.js$//')" \
    "$(sed -nE 's/^(bug|judge) ([a-z0-9_]+) .*/\2/p' "$SOURCE_ROOT/tests/e2e/node_bugs.sh" | sort)"
finish
