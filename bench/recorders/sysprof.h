/* SPDX-License-Identifier: ISC */
/* sysprof's capture library: a mark for each event, into a file for each thread, FILE.0 and so on, which
 * grows. Promises go where a mark has numbers, so that none need be printed. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <sysprof-capture.h>

#include "record.h"
#include "recorders/peer.h"

struct recorder {
    struct promises promises;
    SysprofCaptureWriter *writer;
    char path[4096];
};

static inline void mark(struct recorder *r, const char *kind, uint64_t a, uint64_t b,
                        const char *text)
{
    sysprof_capture_writer_add_mark(r->writer, SYSPROF_CAPTURE_CURRENT_TIME, -1, (int32_t)a, b,
                                    "weft", kind, text);
}

#define record_create(r, parent, child, type, label)                                               \
    mark((r), "creates", (parent), (child), (label) ? (label) : "")
#define record_pair(r, kind, a, b) mark((r), #kind, (a), (b), "")
#define record_label(r, p, text) mark((r), "label", (p), 0, (text))

static void recorder_start(const struct options *o)
{
    sysprof_clock_init();
    if (!o->path)
        fail("sysprof needs --path");
}

static void recorder_stop(void)
{
}

static void recorder_enter(struct recorder *r, const struct options *o, unsigned thread)
{
    promises_init(&r->promises, thread);
    snprintf(r->path, sizeof r->path, "%s.%u", o->path, thread);
    r->writer = sysprof_capture_writer_new(r->path, 0);
    if (!r->writer)
        fail("cannot make sysprof's file");
}

/* Every call is a mark in the file. */
static void recorder_leave(struct recorder *r, uint64_t calls)
{
    SysprofCaptureFrameType type;
    uint64_t marks = 0;
    sysprof_capture_writer_flush(r->writer);
    sysprof_capture_writer_unref(r->writer);
    SysprofCaptureReader *reader = sysprof_capture_reader_new(r->path);
    if (!reader)
        fail("cannot read sysprof's file");
    while (sysprof_capture_reader_peek_type(reader, &type)) {
        marks += type == SYSPROF_CAPTURE_FRAME_MARK;
        sysprof_capture_reader_skip(reader);
    }
    sysprof_capture_reader_unref(reader);
    if (marks != calls)
        fail("sysprof did not write every mark");
}
