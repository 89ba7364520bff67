# SPDX-License-Identifier: ISC
# For the scripts that record programs of libevent: see lib.sh. Sourced, not run.
# shellcheck shell=bash
[ -e "$BUILD_ROOT/adapters/preload/weft-libevent.so" ] || skip "the adapter for libevent was not built"
[ -x "$BUILD_ROOT/tests/libevent_everything" ] || skip "its programs were not built"
unset WEFT_TRACE WEFT_TRACE_SIZE WEFT_TRACE_FOR WEFT_TRACE_FORK WEFT_TRACE_BEGIN
tests=$BUILD_ROOT/tests
cd "$tmp"
