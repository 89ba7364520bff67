#!/bin/bash
# SPDX-License-Identifier: ISC
# What the window and the page say of promises and ranges is what weft dump, promises and stats say, also of many threads
# and of rings that have wrapped.
. "$(dirname "$0")/lib.sh"
: "${FACTS:?a program that prints facts}"

agree() {
    run 0 python3 "$SOURCE_ROOT/tests/e2e/facts_agree.py" "$WEFT" "$FACTS" "$@"
    grep -q '^FAILED' "$tmp/out" && cat "$tmp/out" || :
}

if [ -d "$DATA" ]; then
    agree "$DATA"/*.ctf
    agree "$SHARED"/data/eio/*.fxt
fi

# ---- Threads ----
for how in good bad; do
    "$WEFT" record --force --size 4M -o "$tmp/busy-$how.weft" -- "$EXAMPLES/bugs/workers_busy" "$how" >/dev/null 2>&1
    agree "$tmp/busy-$how.weft"
done
if [ -x "$EXAMPLES/kv_server" ]; then
    mkfifo "$tmp/said"
    WEFT_TRACE=$tmp/kv.weft WEFT_TRACE_SIZE=256K "$EXAMPLES/kv_server" "$tmp/kv" >"$tmp/said" 2>/dev/null </dev/null &
    server=$!
    read -r port <"$tmp/said" || fail 'the server does not start'
    run 0 "$EXAMPLES/kv_load" --port "${port##*:}" --requests 3000
    kill -TERM "$server"
    wait "$server" || :
    agree "$tmp/kv.weft"
fi

# ---- Rings that have wrapped, also with eight threads ----
run 0 "$BUILD_ROOT/tests/live" -o -t 8 -b 65536 -n 100000 "$tmp/many.weft"
agree "$tmp/many.weft"
for how in star often becomes loop own-becomes; do
    coproc WEFT_TRACE=$tmp/waits.weft WEFT_TRACE_SIZE=256K "$WAITS" "$how" 20 20000 2>/dev/null
    pid=$COPROC_PID
    read -r _ <&"${COPROC[0]}" || fail "$how is not ready"
    kill -KILL "$pid"
    wait "$pid" 2>/dev/null || :
    agree "$tmp/waits.weft"
done

finish
