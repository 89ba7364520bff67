#!/bin/bash
# SPDX-License-Identifier: ISC
# An index says what the trace says, or is not used: of another trace, of changed bytes, cut off, forged, another program's,
# another user's; in the cache directory where the folder is not writable; written by several processes at once.
. "$(dirname "$0")/lib.sh"
unset WEFT_TRACE WEFT_TRACE_SIZE WEFT_TRACE_FOR
traces=("$SOURCE_ROOT"/tests/fuzz/corpus/weft/run-{arp-race,serial-waits,swallowed-failure}-{bad,good} \
    "$SOURCE_ROOT"/tests/fuzz/corpus/weft/{run-loop-blocked-bad,run-slow-wake-bad,gap,ring})
[ ! -d "$DATA" ] || traces+=("$DATA"/*.ctf)
if [ -n "${BUILD_ROOT:-}" ]; then
    run 0 "$BUILD_ROOT/tests/live" -o -t 3 -b 65536 -n 60000 "$tmp/many.weft"
    traces+=("$tmp/many.weft")
fi
run 0 python3 "$SOURCE_ROOT/tests/e2e/index.py" "$WEFT" "$tmp/work" "${traces[@]}"
grep '^FAILED' "$tmp/out" || :
tail -n 1 "$tmp/out"

# ---- While it is being recorded, a trace has none ----
coproc WEFT_TRACE=$tmp/running.weft WEFT_TRACE_SIZE=256K "$WAITS" star 20 2000 2>/dev/null
pid=$COPROC_PID
read -r _ <&"${COPROC[0]}" || fail 'it is not ready'
run 0 "$WEFT" info --index always "$tmp/running.weft"
[ ! -e "$tmp/running.weft.weft-index" ] || fail 'an index of a trace that is being recorded'
kill "$pid"
wait "$pid" || :
run 0 "$WEFT" info --index always "$tmp/running.weft"
[ -e "$tmp/running.weft.weft-index" ] || fail 'no index of a trace that was recorded'
finish
