/* SPDX-License-Identifier: ISC */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "recorders/lttng_provider.h"
