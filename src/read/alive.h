/* SPDX-License-Identifier: ISC */
/* Finds out whether a trace is still being recorded. */
#pragma once

#include <stdbool.h>

#include "format/packet.h"

/* Reads the facts at the start of a recorder's file. False: there are none. */
bool weft_facts_read(int fd, struct weft_facts_header *facts);

/* Returns true if the process that records into this trace is alive on this machine: the boot id,
 * the process number and the time when the process started must all match. A process that has
 * ended, but whose parent has not waited for it yet, is not alive. */
bool weft_facts_alive(const struct weft_facts_header *facts);

/* The same for a process that has this number here. In a container the process sees another number,
 * and so do its facts. */
bool weft_facts_alive_as(const struct weft_facts_header *facts, uint32_t pid);

/* Returns true if fd is a file of weft sample's whose writer still has it open: such a file is locked, and does not say
 * when the sampled process started. */
bool weft_facts_sampling(const struct weft_facts_header *facts, int fd);

/* The boot id of the running system. Returns false, and sets zeros, if it is not known. */
bool weft_boot_id(uint8_t id[16]);

/* Field 22 of /proc/PID/stat; 0 if there is no such process, or it has ended and its parent has not
 * waited for it. */
uint64_t weft_process_start(uint32_t pid);
