# SPDX-License-Identifier: ISC
# For the scripts here: what fails is printed and counted, and the script goes on. Sourced, not run.
# shellcheck shell=bash
set -eu

# What nohup, or a shell in the background, starts ignores these signals, and so would all that is started here.
if [ -n "$(trap -p HUP INT QUIT)" ] && env --default-signal=HUP,INT,QUIT true 2>/dev/null; then
    exec env --default-signal=HUP,INT,QUIT "$0" "$@"
fi

: "${WEFT:?the weft program}"
SOURCE_ROOT=${SOURCE_ROOT:-$(cd "$(dirname "$0")/../.." && pwd)}
SHARED=${SHARED:-$SOURCE_ROOT/../shared}
DATA=$SHARED/data/mirage

# No pager, and the usual width.
export WEFT_PAGER=
unset COLUMNS

tmp=$(mktemp -d)
trap 'chmod -R u+rwx "$tmp"; rm -rf "$tmp"' EXIT
checks=0
failures=0

skip() {
    echo "skipped: $*"
    exit 77
}

# missing WHAT: what packages.txt has, or the build makes of it. CI is set where that is installed.
missing() {
    [ -n "${CI:-}" ] || skip "$*"
    echo "FAILED: $*"
    exit 1
}

need_shared() {
    [ -d "$DATA" ] || skip "$DATA is not there"
}

need_mktrace() {
    [ -x "${MKTRACE:-}" ] || skip "MKTRACE is not set"
}

fail() {
    failures=$((failures + 1))
    echo "FAILED: $*"
}

# run STATUS COMMAND...: runs it, output in $tmp/out, messages in $tmp/err, and checks the status.
run() {
    local wanted=$1 status=0
    shift
    checks=$((checks + 1))
    "$@" >"$tmp/out" 2>"$tmp/err" </dev/null || status=$?
    if [ "$status" -ne "$wanted" ]; then
        fail "status $status instead of $wanted: $*"
        head -n 5 "$tmp/err"
    fi
}

# wait_for COMMAND...: until it succeeds, silently. Fails after five minutes: that is for what never comes.
wait_for() {
    local end=$((SECONDS + 300))
    until "$@" >/dev/null 2>&1; do
        if [ "$SECONDS" -ge "$end" ]; then
            fail "waited in vain for: $*"
            return 1
        fi
        sleep 0.05
    done
}

# simulated TRACE BYTES PROGRAM...: records it on a machine that is simulated (../tools/simulated.c), so that what it does,
# and when, is the same in every run. In real time without SIMULATED_LIBRARY (../torture/run).
simulated() {
    local trace=$1 bytes=$2
    shift 2
    rm -f "$trace"
    if [ -n "${SIMULATED_LIBRARY:-}" ]; then
        # A search for leaks reads the clock, which takes time there.
        ASAN_OPTIONS=${ASAN_OPTIONS:-}:leak_check_at_exit=0 \
            env LD_PRELOAD="$SIMULATED_LIBRARY" SIMULATED="$trace" SIMULATED_SIZE="$bytes" "$@"
    else
        "$WEFT" record --size "$bytes" -o "$trace" -- "$@"
    fi
}

# equal WHAT EXPECTED FOUND: two strings
equal() {
    checks=$((checks + 1))
    [ "$2" = "$3" ] || fail "$1: expected '$2', found '$3'"
}

# same WHAT EXPECTED FOUND: two files
same() {
    checks=$((checks + 1))
    if ! cmp -s "$2" "$3"; then
        fail "$1: differs"
        diff -a -U 1 "$2" "$3" | head -n 20 | cut -c 1-200 || :
    fi
}

# says FILE PATTERN: some line matches
says() {
    checks=$((checks + 1))
    if ! grep -Eq -e "$2" "$1"; then
        fail "no line matches '$2'; it says:"
        head -n 5 "$1"
    fi
}

# silent FILE: it is empty
silent() {
    checks=$((checks + 1))
    if [ -s "$1" ]; then
        fail "should be empty, but says:"
        head -n 5 "$1"
    fi
}

# json FILE EXPRESSION: a value, with d for the object
json() {
    python3 -c 'import json, sys; d = json.load(open(sys.argv[1])); print(eval(sys.argv[2]))' "$1" "$2"
}

# findings TRACE OPTION…: what weft explain is sure of, or nearly, the most important first: a line each, `name confidence label`.
# Without what it judges by the clock, which a busy machine may add.
findings() {
    "$WEFT" explain --json "${@:2}" "$1" >"$tmp/findings" || fail "weft explain --json $1"
    json "$tmp/findings" '"\n".join("{name} {confidence} {label}".format(**f) for f in d["findings"]
        if f["confidence"] != "possible" and f["name"] not in ("loop-blocked", "slow-wake", "spin"))'
}

finish() {
    echo "$checks checks, $failures failed"
    [ "$failures" -eq 0 ] || exit 1
    [ "$checks" -gt 0 ] || exit 1
    exit 0
}
