#!/bin/bash
# SPDX-License-Identifier: ISC
. "$(dirname "$0")/lib.sh"
[ -n "${SIMULATED_LIBRARY:-}" ] || skip 'the simulated machine is not there'
checks=$((checks + 1))
python3 "$(dirname "$0")/corpus.py" "$tmp" || fail 'weft explain is not as right as it was'
finish
