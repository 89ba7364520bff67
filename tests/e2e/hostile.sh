#!/bin/bash
# SPDX-License-Identifier: ISC
# Whatever a trace, a profile, a file's name or the command line has in its texts: nothing that moves a cursor, turns the
# direction of writing or ends a line comes out of any command, and what programs read is well-formed.
. "$(dirname "$0")/lib.sh"
[ -x "${MKTRACE:-}" ] && [ -x "${MKSAMPLES:-}" ] || skip 'MKTRACE or MKSAMPLES is not set'
: "${EXAMPLES:?the folder of the built examples}"
unset WEFT_TRACE
cd "$tmp"
pages=no
"$WEFT" help html >/dev/null 2>&1 && pages=yes
# FEW=yes: a fifth of them
bugs=() n=0
for bug in deadlock hang_root herd leak loop_blocked lost_wakeup never_resolved pool_exhausted serial_waits slow_wake spin swallowed_failure retry_storm stopped contention gc_pause polling stampede straggler workers_busy pool_deadlock starvation drift queue_growth livelock double_resolve; do
    n=$((n + 1))
    [ -z "${FEW:-}" ] || [ $((n % 5)) -eq 1 ] || continue
    run_status=0
    simulated "$tmp/$bug.weft" 1048576 "$EXAMPLES/bugs/$bug" bad >/dev/null 2>&1 || run_status=$?
    [ -s "$bug.weft" ] || fail "$bug: recorded nothing, status $run_status"
    bugs+=("$bug.weft")
done
mkdir hostile
cd hostile
run 0 env PYTHONDONTWRITEBYTECODE=1 python3 "$SOURCE_ROOT/tests/e2e/hostile.py" "$WEFT" "$pages" "${bugs[@]/#/../}"
cat "$tmp/out" "$tmp/err"
finish
