#!/bin/bash
# SPDX-License-Identifier: ISC
# weft watch --sample and weft record --keep --sample: what is kept says where the CPU went.
. "$(dirname "$0")/lib.sh"
: "${DRIVEN:?a program that does what it is told}"

"$WEFT" sample -o "$tmp/probe.samples" true 2>"$tmp/probe.err" ||
    if grep -Eq 'no permission|no perf_event_open' "$tmp/probe.err"; then skip "$(cat "$tmp/probe.err")"; fi

checks=1
DRIVEN=$DRIVEN WEFT=$WEFT python3 "$(dirname "$0")/watch_samples.py" "$tmp" || fail "watch_samples.py"

run 2 "$WEFT" watch --sample-size 1M $$ crash
says "$tmp/err" 'sample-size is for --sample'
run 2 "$WEFT" watch --sample --sample-size 100K $$ crash
run 2 "$WEFT" watch --sample=0 $$ crash

finish
