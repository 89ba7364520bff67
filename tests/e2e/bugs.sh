#!/bin/bash
# SPDX-License-Identifier: ISC
# examples/bugs: weft explain names the fault and its culprit in the bad ones, and has nothing to say about the
# good ones. And docs/diagnoses.md is right about both.
. "$(dirname "$0")/lib.sh"
: "${EXAMPLES:?the folder of the built examples}"
unset WEFT_TRACE
bugs=$EXAMPLES/bugs

# Says what is wrong with the findings in FILE, or nothing. NAME: what must come first, or "nothing"; LABELS:
# its culprit's, one of them.
cat >"$tmp/judge.py" <<'END'
import json, sys

path, name, labels = sys.argv[1], sys.argv[2], sys.argv[3].split("|")
found = [f for f in json.load(open(path))["findings"] if f["confidence"] != "possible"]
tell = lambda f: f"{f['confidence']} {f['name']} of {f['label']!r}"
if name != "nothing":
    if not found:
        sys.exit(print("nothing found"))
    first = found.pop(0)
    if first["name"] != name or first["label"] not in labels:
        print("first:", tell(first))
    if not first["evidence"] or not first["text"] or first["start_ns"] > first["end_ns"]:
        print("without evidence:", first)
if found:
    print("found, too:", "; ".join(map(tell, found)))
END

# judge STATUS NAME LABELS PROGRAM [ARGUMENT]: runs it and judges what is found
judge() {
    local wanted=$1 name=$2 labels=$3
    shift 3
    run "$wanted" simulated "$tmp/bug.weft" 4194304 "$@"
    run 0 "$WEFT" explain --json "$tmp/bug.weft"
    python3 "$tmp/judge.py" "$tmp/out" "$name" "$labels" >"$tmp/wrong" 2>&1 || echo "no answer" >>"$tmp/wrong"
    [ ! -s "$tmp/wrong" ] || fail "$(basename "$1") ${2:-}: $(cat "$tmp/wrong")"
}

# bug NAME STATUS LABELS: status of the bad one
bug() {
    judge "$2" "${1//_/-}" "$3" "$bugs/$1" bad
    judge 0 nothing '' "$bugs/$1" good
    run 2 "$bugs/$1"
    says "$tmp/err" '^usage: '
}

bug queue_growth 0 'POST /order'
bug workers_busy 0 'GET /thumbnail'
bug pool_deadlock 1 'picture'
bug contention 0 'cache lock'
bug deadlock 1 'read configuration|open log'
bug hang_root 1 'SELECT user 7'
bug double_resolve 0 'payment 1|payment 2'
bug herd 0 'queue filled'
bug leak 0 '30 s limit'
bug loop_blocked 0 'POST /login'
bug lost_wakeup 1 'queue filled'
bug never_resolved 0 'cat.jpg'
bug pool_exhausted 0 'connections'
bug serial_waits 0 'GET /friends'
bug slow_wake 0 'GET /cat.jpg|cat.jpg'
bug spin 0 'print page'
bug swallowed_failure 0 'letter.txt'
bug livelock 0 'left guest'
bug drift 0 'sampler'
bug starvation 0 'position feed'
bug stampede 0 'load user 7'
bug straggler 0 'shard 3'
bug polling 0 'POST /picture'
bug gc_pause 0 'fill cache'
bug stopped 0 'heartbeat'
bug retry_storm 0 'session'
judge 0 nothing '' "$bugs/healthy"

# Words say something if the user lists them.
judge 0 serial-waits 'GET /friends' "$bugs/serial_waits" bad
echo 'in-order: friend' >"$tmp/words"
run 0 "$WEFT" explain --words "$tmp/words" "$tmp/bug.weft"
says "$tmp/out" '^1\. serial-waits .possible.'

# Who holds what is waited for: in the findings, and in the stories of both.
judge 0 nothing '' "$bugs/still_held" good
judge 1 hang-root 'catalogue lock' "$bugs/still_held" bad
run 0 "$WEFT" explain "$tmp/bug.weft"
tr -s ' \n' ' ' <"$tmp/out" >"$tmp/text"
says "$tmp/text" "'catalogue lock' \(lock [0-9]+\), created by 'main', was never given back; 'reader' \(task [0-9]+\) has waited"
says "$tmp/text" "'importer' \(task [0-9]+\), which failed at 40\.[0-9]+ ms \('bad record'\), still holds it, since [0-9.]+ µs\."
run 0 "$WEFT" explain --promise importer "$tmp/bug.weft"
says "$tmp/out" "^What it held: since when, how long$"
says "$tmp/out" "250 ms  'catalogue lock' \(lock [0-9]+\): still, when the trace ended$"
run 0 "$WEFT" explain --json --promise 'catalogue lock' "$tmp/bug.weft"
says "$tmp/out" '"holders": 1'
run 0 "$WEFT" dump "$tmp/bug.weft"
says "$tmp/out" ' acquires holder='

# Each kind of finding has its program.
sed -nE 's/^X\([A-Z_]+, "([a-z-]+)".*/\1/p' "$SOURCE_ROOT/src/analyse/finding.def" | sort >"$tmp/kinds"
sed -nE 's/^bug ([a-z_]+) .*/\1/p' "$0" | tr _ - | sort >"$tmp/tried"
same 'kinds of findings' "$tmp/kinds" "$tmp/tried"

# In docs/diagnoses.md stands what weft says now.
if [ -n "${SIMULATED_LIBRARY:-}" ]; then
    run 0 python3 "$SOURCE_ROOT/tools/make-diagnoses" --check "$BUILD_ROOT"
    cat "$tmp/out"
    # The documents show what weft draws now. A sanitizer's own calls take simulated time, which moves everything.
    if grep -q -e __asan_init -e __tsan_init "$WEFT"; then
        echo 'pictures not compared: in a build with a sanitizer'
    else
        run 0 python3 "$SOURCE_ROOT/tools/make-pictures" --check "$BUILD_ROOT"
        cat "$tmp/out"
    fi
fi
finish
