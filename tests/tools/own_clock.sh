#!/bin/sh
# SPDX-License-Identifier: ISC
# own_clock.sh PROGRAM [ARGUMENT...]: becomes that program, with clocks that a busy machine cannot stretch: own_clock.c. What
# weft record preloads stays before it: the program's calls are recorded first.
export LD_PRELOAD="${LD_PRELOAD:+$LD_PRELOAD:}$OWN_CLOCK_LIBRARY" OWN_CLOCK_OF="${1##*/}"
export WEFT_TRACE_CLOCK=monotonic WEFT_TRACE_SCHEDULER=off
exec "$@"
