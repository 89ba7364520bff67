/* SPDX-License-Identifier: ISC */
/* Describes the streams of a CTF folder in CTF 1.8's description language (TSDL), so that any CTF reader
 * understands them. The descriptions are made from the event table. The caller checks out for errors and closes
 * it. */
#pragma once

#include <stdint.h>
#include <stdio.h>

/* mirage-profile's format: only the kinds of events that it has. */
void weft_tsdl_write_mirage(FILE *out);

/* Facts about a trace. Texts may be NULL and may contain any bytes. */
struct weft_tsdl_trace {
    const char *host, *program, *version;
    uint32_t pid;           /* 0: not known */
    uint64_t start_ns;      /* a moment on the clock of the events … */
    uint64_t start_real_ns; /* … and as nanoseconds since 1970, or 0 */
};

/* The streams of weft's own traces, as weft_ctf_writer writes them: all kinds, with types and labels as texts.
 *
 * babeltrace2 up to 2.0.4 may show the text of another event instead of an empty one. So empty texts are left
 * out: each kind has an event class for each combination of texts, and these classes have the same name. The
 * number of a class is kind | left_out << 5. */
enum {
    WEFT_TSDL_NO_TEXT = 1, /* of creates: the label */
    WEFT_TSDL_NO_TYPE = 2,
    WEFT_TSDL_NO_PLACE = 4, /* file and line */
};
void weft_tsdl_write_weft(FILE *out, const struct weft_tsdl_trace *trace);
