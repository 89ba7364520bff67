/* SPDX-License-Identifier: ISC */
/* Whether a trace is still being recorded. */
#ifndef WEFT_READ_ALIVE_H
#define WEFT_READ_ALIVE_H

#include <stdbool.h>

#include "format/packet.h"

/* The process that records into this trace is alive, on this machine: the same boot, and the same number and
 * start of the process. One that has ended, and that its parent has not looked after yet, is not alive. */
bool weft_facts_alive(const struct weft_facts_header *facts);

/* The same, of a process that has this number here: in a container it knows another one of itself, and its facts, too. */
bool weft_facts_alive_as(const struct weft_facts_header *facts, uint32_t pid);

/* Of the system that runs. False: it is not known, and zeros. */
bool weft_boot_id(uint8_t id[16]);

/* Field 22 of /proc/PID/stat; 0: there is no such process, or it has ended and waits for its parent. */
uint64_t weft_process_start(uint32_t pid);

#endif
