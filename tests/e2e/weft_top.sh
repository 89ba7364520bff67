#!/bin/bash
# SPDX-License-Identifier: ISC
# weft top of a program that is told what to do: as text, as JSON, for Prometheus, and on terminals of several kinds.
. "$(dirname "$0")/lib.sh"

: "${DRIVEN:?tests/tools/driven}"
unset WEFT_TRACE NO_COLOR
export LC_ALL=C.UTF-8

checks=1
python3 "$(dirname "$0")/weft_top.py" "$WEFT" "$DRIVEN" "$tmp" || fail 'see above'
finish
