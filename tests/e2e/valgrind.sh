#!/bin/bash
# SPDX-License-Identifier: ISC
# Programs that record can be checked by helgrind and drd: with our suppressions these have nothing to say of the recorder.
. "$(dirname "$0")/lib.sh"
: "${RECORDED:?the program recorded}"
command -v valgrind >/dev/null || skip 'there is no valgrind'
! grep -q -e __asan_init -e __tsan_init "$RECORDED" || skip 'programs with a sanitizer do not run under valgrind'
cd "$tmp"
for tool in helgrind drd; do
    run 0 env WEFT_TRACE=a.weft WEFT_TRACE_SIZE=64K valgrind -q --tool=$tool --error-exitcode=9 \
        --suppressions="$SOURCE_ROOT/data/weft.supp" "$RECORDED" threads 3 500
    silent "$tmp/err"
done
finish
