/* SPDX-License-Identifier: ISC */
/* Loads profiles from files. Each reader adds to *p, which the caller has made (weft_profile_new)
 * and will finish; several files may be added one after another. Input is hostile: errors are clear
 * and have an offset, and a file cannot choose how much is allocated. Functions return 0 or a
 * negative WEFT_E code. What can be skipped is counted in p->skipped. */
#ifndef WEFT_PROFILE_LOAD_H
#define WEFT_PROFILE_LOAD_H

#include <stdio.h>

#include "profile/build.h"

/* The samples of a weft trace. If it has none, p stays as it was. */
int weft_profile_load_trace(struct weft_profile *p, struct weft_reader *r, struct weft_error *err);

/* One complete packet of class WEFT_PACKET_SAMPLES, aligned to 8 bytes, at offset at of its
 * file. */
int weft_profile_load_packet(struct weft_profile *p, const void *packet, size_t bytes, uint64_t at,
                             struct weft_error *err);

#endif
