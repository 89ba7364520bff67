/* SPDX-License-Identifier: ISC */
/* Reads a trace file, mirage-profile's or weft's own, as a sequence of events in order of time.
 *     struct weft_reader *r;
 *     const struct weft_event *ev;
 *     ptrdiff_t n;
 *     if (weft_reader_open(&r, "net.ctf", &err) == 0) {
 *         while ((n = weft_reader_next(r, &ev, &err)) > 0)
 *             use(ev, n);
 *         weft_reader_close(r);
 *     }
 * The file may be damaged, hostile, or still growing. It is read, never mapped, and memory is
 * bounded by what is really in it. What cannot be read is skipped and counted (weft_reader_damage).
 * Threads: a reader belongs to one thread at a time. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/error.h"
#include "format/events.h"

struct weft_reader;

/* Opens the trace at path ("-": standard input, which is first read to its end), finds its packets
 * and puts them in order. On success the caller owns *out. Returns 0 or a negative WEFT_E code;
 * *out is then NULL. If no packet can be found, it returns WEFT_E_FORMAT; a file that is only
 * damaged opens. What is recorded into the file after it was opened may or may not be seen. */
int weft_reader_open(struct weft_reader **out, const char *path, struct weft_error *err);

/* A part of a trace: what happened between two times, in nanoseconds since its first event (both belong to it), and of that
 * only what a stream or a promise has to do with. At most one of the two is set. */
struct weft_part {
    int64_t from_ns, to_ns;
    uint64_t stream;  /* its number; WEFT_ALL_STREAMS: of all */
    uint64_t promise; /* WEFT_ID_LOOP: of all */
};
#define WEFT_ALL_STREAMS UINT64_MAX
#define WEFT_WHOLE                                                                                 \
    {                                                                                              \
        .from_ns = INT64_MIN, .to_ns = INT64_MAX, .stream = WEFT_ALL_STREAMS,                      \
        .promise = WEFT_ID_LOOP                                                                    \
    }

/* It leaves out neither streams nor promises. */
static inline bool weft_part_has_all(const struct weft_part *p)
{
    return p->stream == WEFT_ALL_STREAMS && p->promise == WEFT_ID_LOOP;
}

static inline bool weft_part_is_whole(const struct weft_part *p)
{
    return p->from_ns == INT64_MIN && p->to_ns == INT64_MAX && weft_part_has_all(p);
}

/* The same for a part of the trace: as if it had been a ring that was copied at to_ns and held nothing older than from_ns.
 * So what came before counts as overwritten, and what is pending at to_ns is. Times are those of the whole trace
 * (first_ns is). Packets that lie outside are not read, where the format has packets. Of a stream or a promise, see
 * read/choose.h: the packets between the two times are read three times, and what is handed out is little.
 * A trace that weft save made of a part is that part, also by weft_reader_open: times are those of the trace that it was
 * made of. WEFT_E_INVALID: it is a part of another stream or promise than the one that is asked for. */
int weft_reader_open_part(struct weft_reader **out, const char *path, const struct weft_part *part,
                          struct weft_error *err);

void weft_reader_close(struct weft_reader *r);

/* Hands out the next events, a few hundred at a time. *events and their texts belong to the reader
 * and are valid until the next call. Returns how many, 0 at the end, or a negative WEFT_E code.
 * In weft's own traces the streams are merged: times never run backwards. The clocks of different
 * threads differ slightly, so a promise may be used slightly before its creation comes.
 * If a promise was pending when the packet with its events was overwritten, its events are also
 * there, marked as promoted. They come in order of time with the others. They may be older than the
 * first event that is not promoted; the time of that one is first_ns in the facts. Promoted
 * `resolves` by the loop (and marks) come after all other events, with an earlier time: they are
 * about promises that have ended, though nothing says how. Their time is an estimate. They are
 * ignored if another event says how the promise ended, and they never end a promise before its
 * creation. */
ptrdiff_t weft_reader_next(struct weft_reader *r, const struct weft_event **events,
                           struct weft_error *err);

/* Hands out the next packet of samples (format/samples.h), complete and unchanged, in the order of
 * the file, separately from the events. *packet is aligned to 8 bytes, belongs to the reader, and
 * is valid until the next call; *offset is its place in the file. Returns its size in bytes,
 * including its header; 0 after the last one; or a negative WEFT_E code. A packet larger than
 * WEFT_SAMPLES_MAX counts as damage and is left out. */
#define WEFT_SAMPLES_MAX (UINT32_C(16) << 20)
ptrdiff_t weft_reader_next_samples(struct weft_reader *r, const void **packet, uint64_t *offset,
                                   struct weft_error *err);

/* What is wrong with the file. */
#define WEFT_DAMAGE_KEPT 16

struct weft_damage {
    uint64_t skipped_bytes; /* bytes that could not be read as packets or events */
    uint64_t problems;      /* how many places */
    /* creations with a type that is not in the table; the events are kept */
    uint64_t unknown_types;
    uint64_t backward_times; /* events earlier than the one before them; the events are kept */
    uint64_t half_written;   /* last events that the writer had not finished (0 or 1); left out */
    struct weft_error
        first[WEFT_DAMAGE_KEPT]; /* the first min(problems, WEFT_DAMAGE_KEPT) places */
};

/* What has been found so far. Complete once weft_reader_next has returned 0. */
const struct weft_damage *weft_reader_damage(const struct weft_reader *r);

/* What else is known about the trace. Numbers that a format does not have are 0. */

enum weft_ended {
    WEFT_ENDED_UNKNOWN, /* the file does not say: it is mirage's, or a part of one */
    WEFT_ENDED_STOPPED, /* by weft_stop, or because the program ended */
    WEFT_ENDED_SAVED,   /* a copy, made while the trace was recorded */
    WEFT_ENDED_RUNNING, /* has not ended: the process is alive on this machine */
    WEFT_ENDED_KILLED,  /* neither stopped nor alive (or recorded on another machine) */
    /* the program ended by itself, but without weft_stop: it called _exit, or exec of another
     * program */
    WEFT_ENDED_EXITED,
};

/* "unknown", "stopped", "saved", "still running", "killed", "exited" */
const char *weft_ended_name(enum weft_ended ended);

/* An OS thread. Events recorded = kept + overwritten + missing + discarded. */
struct weft_stream_facts {
    /* counts the threads that recorded something, from 0. Events have the index in the table
     * instead */
    uint32_t number;
    uint32_t thread;      /* the system's number for it */
    char name[17];        /* the thread's name: NUL-terminated, any bytes */
    uint64_t kept;        /* events that are there, including unknown ones */
    uint64_t overwritten; /* … that came before all those that are there */
    uint64_t missing;     /* … from in between: overwritten by others, or unreadable */
    uint64_t discarded; /* … not recorded for lack of space; known up to the thread's last packet */
};

/* How a process ended, if weft record saw it. */
struct weft_exit {
    bool known;
    bool by_signal;
    uint32_t number; /* the signal's number, or the exit status */
};

/* Links of one kind between things that were seen from outside. */
struct weft_outside_links {
    uint64_t links;
    /* 'w': the trace has them as waits; 'h': as holds; 'a': as waits, though one of several suffices; 'l': it lacks them,
     * since one of several suffices, and the trace would have a circle */
    char as;
    const char *how; /* "locks", "is held by" */
};

/* A trace of a process that records nothing: what was seen of it from outside, at one moment. */
struct weft_outside {
    bool known;          /* it is such a trace */
    bool core;           /* seen in its core file */
    uint64_t stopped_ns; /* for so long the process was stopped */
    uint64_t stacks;     /* of things; a trace cannot say them */
    const struct weft_outside_links *link;
    const char *const *remark; /* sentences on what could not be seen */
    uint32_t links, remarks;
};

struct weft_process_facts {
    uint32_t pid;        /* 0: nothing is known about the process */
    const char *program; /* these: NUL-terminated, any bytes; NULL: not known */
    const char *host;
    const char *version;    /* of the recorder */
    const char *const *arg; /* args of them */
    uint32_t args;
    uint8_t boot_id[16];    /* of the system */
    uint64_t started_at;    /* field 22 of /proc/PID/stat */
    uint64_t start_ns;      /* start of the recording, on the clock of the events */
    uint64_t start_real_ns; /* … as nanoseconds since 1970, UTC */
    uint64_t stop_real_ns;  /* 0: not stopped */
    /* the recording lasted at least until then, on the clock of the events: until it was stopped
     * or copied, or its end was noticed; 0: not known */
    uint64_t until_ns;
    /* the recording was off at some time: promises that ended during that time are pending here */
    bool was_paused;
    bool is_paused;      /* … and it was still off at the end */
    uint64_t paused_ns;  /* when it was last switched off, on the clock of the events */
    uint64_t resumed_ns; /* … and when it was switched on again, unless is_paused */
    struct weft_exit exit;
    struct weft_outside outside;
};

/* Pending promises created at one place, about which nothing else was kept, for lack of space. */
struct weft_given_up {
    const struct weft_origin *origin; /* NULL: not known; belongs to the reader */
    uint64_t pending;                 /* how many there are */
    uint64_t unlisted; /* others; it is not even known whether they have ended since */
    /* waits for such promises, their marks, and notifications that were not kept anywhere; at
     * least this many */
    uint64_t left_out;
};

/* What the recorder has kept about pending promises whose events were overwritten. */
struct weft_promotion {
    bool known;        /* the trace says something about it */
    uint64_t promises; /* pending promises whose creation, or other events, had to be kept */
    /* events handed out; if such an event was recorded, it counts once, as kept or overwritten */
    uint64_t events;
    uint64_t ever;     /* promises that were kept at some time */
    uint64_t given_up; /* promises whose details were dropped at some time, for lack of space */
    uint64_t numbered; /* … those of them that are still pending; see sort */
    /* their sorts, the most common first; belongs to the reader */
    const struct weft_given_up *sort;
    uint32_t sorts;
    uint64_t unlisted, left_out; /* sums over all sorts */
    /* notes that were left out at some time, including those of promises that have ended since */
    uint64_t skipped;
    uint64_t pauses, longest_pause_ns; /* pauses of threads that needed a new packet */
    /* something is, or may be, pending about which not everything that matters is known */
    bool lacks;
    /* promises that became others were dropped: they count as resolved, but may not be */
    bool let_go;
    bool complete; /* if neither creation nor end of a promise is there, it has been resolved */
};

/* In what ways the events of a format mean something else than those of weft's own traces, or say
 * less. For weft's own, all are false. */
struct weft_quirks {
    /* it has only the kinds of events that mirage has (events.def): nothing says what is
     * cancelled, forgotten, notified, or meant to be pending */
    bool mirage_kinds;
    /* a switch to the event loop means that the program sleeps; nothing else does */
    bool loop_is_sleep;
    /* a promise's creation comes before all other events about it. With several clocks it may
     * come slightly later */
    bool one_clock;
    bool no_running; /* events do not say what ran before them (running, gap, missing) */
    /* if a promise ends several times, the last end counts; otherwise the first */
    bool last_end_counts;
    bool changes_are_labels; /* a change of a counter is also a label of what runs */
    bool counters_anywhere;  /* a counter may have any value before its first change; otherwise 0 */
    bool any_bytes;          /* texts need not be UTF-8 */
    /* all was seen at one moment, from outside; what seems to be created then is older */
    bool at_once;
    /* nothing is known about the process, its threads and its end; losses are counted in packets */
    bool anonymous;
};

struct weft_reader_facts {
    const char *format; /* "weft", "mirage", … */
    uint8_t uuid[16];   /* of the trace, random; zeros: the format has none */
    struct weft_quirks quirks;
    const char *clock;   /* what is known about it, as text for people */
    uint32_t clock_kind; /* enum weft_clock_kind; 0: not known */
    uint64_t clock_hz;   /* nominal ticks per second */
    bool has_wall;       /* the offset from that clock to the wall clock is known: */
    /* what to add to the time of an event to get nanoseconds since 1970, UTC; as it was at the
     * end of the trace */
    int64_t wall_ns;
    /* how far the wall clock was set forward during the trace, approximately */
    int64_t wall_set_ns;
    /* wall_ns uses the wall clock of the machine that copied the trace while it was recorded
     * (read/sight.h); the error is at most … */
    bool wall_measured;
    uint64_t wall_error_ns;
    int64_t wall_own_ns; /* … and the recording machine's own value; 0: it has none */
    uint64_t file_bytes;
    uint64_t packets; /* packets that hold events */
    uint64_t unused_packets;
    uint64_t content_bytes;       /* headers and events, without unused tails */
    uint64_t overwritten_packets; /* mirage states it only modulo 2^16 */
    /* words in OCaml's rings, which do not say how many events these were; the same in streams */
    uint64_t overwritten_words;
    /* … those of them that the runtime overwrote before weft record copied them */
    uint64_t lost_words;
    bool of_ocaml;            /* the trace is what OCaml's runtime reports about the program */
    uint64_t missing_packets; /* neither there nor overwritten: gaps in the sequence numbers */
    /* the oldest packet is not the first one in the file; in weft's own: some were overwritten */
    bool wrapped;

    uint32_t streams; /* in the table */
    /* weft's own traces only, otherwise NULL; valid until the next call of weft_reader_next */
    const struct weft_stream_facts *stream;
    uint64_t streams_recorded; /* including those of which nothing is left */
    uint64_t overwritten_events, missing_events, discarded_events;
    /* what was overwritten is older than this, approximately; 0: not known */
    uint64_t overwritten_ns;
    /* discarded because they interrupted two others, which perhaps never ended (longjmp) */
    bool refused;
    /* Part of the sums: events of streams of which nothing is left, and events that no stream's
     * facts include. */
    uint64_t overwritten_elsewhere, discarded_elsewhere;
    uint64_t lost_texts;     /* cut, or left out, for lack of space */
    uint64_t unknown_events; /* of forms that this version does not know; left out */
    /* of classes or versions that this version does not know; left out */
    uint64_t unknown_packets;
    uint64_t other_packets;    /* belong to another trace in the same file; left out */
    uint64_t repeated_packets; /* present twice, as in files that were joined; left out */
    uint64_t changed_packets;  /* overwritten while they were read; left out */
    uint64_t sample_packets;   /* of the sampling profiler: see weft_reader_next_samples */
    uint64_t sample_bytes;     /* their total size */
    /* places in code that texts mention by address: those whose function or line is known, and those
     * that were looked up in vain */
    uint64_t names, nameless;
    bool is_part; /* it was opened by weft_reader_open_part, with: */
    struct weft_part part;
    /* events outside of the part, which all other counts include; of weft's own, only those that streams and promises
     * leave out */
    uint64_t outside_events;
    /* time of the first event that is not promoted; known once the first events were handed out */
    uint64_t first_ns;
    struct weft_promotion promotion;
    enum weft_ended ended;
    struct weft_process_facts process;
};

/* Complete once weft_reader_next has returned 0. */
const struct weft_reader_facts *weft_reader_facts(const struct weft_reader *r);

/* A packet of events as its header describes it, from which it is known when something was recorded before any event is
 * read. Times are on the clock of the events. */
struct weft_packet_span {
    uint64_t begin_ns;
    uint64_t end_ns; /* UINT64_MAX: nobody has closed it */
    uint64_t bytes;  /* of events */
    uint32_t stream; /* index in the table of the facts */
};
typedef void weft_span_fn(void *data, const struct weft_packet_span *span);

/* Calls use for each packet that will be read, in any order. Before the first event is read; formats without such headers
 * have none. */
void weft_reader_spans(const struct weft_reader *r, weft_span_fn *use, void *data);

/* Returns true if a promise with that number was created during the recording, in a packet that was
 * overwritten. Other numbers may be older than the recording, or the program's own. Known once all
 * events have been handed out, and only if promotion.complete is set in the facts. */
bool weft_reader_was_overwritten(const struct weft_reader *r, uint64_t id);

/* Cuts texts to that many bytes, for texts that many events may share: without a limit, an exporter
 * that writes the text for each event could write any amount. Call it before the first event is
 * read. weft_reader_cut_texts: how many texts were cut. */
void weft_reader_limit_texts(struct weft_reader *r, uint32_t bytes);
uint64_t weft_reader_cut_texts(struct weft_reader *r);

/* Calls use for each text that begins with a place in code, "PATH+0xHEX" (format/names.h), that was
 * never looked up; place: as it is in the file, of size bytes, without what follows it. A place may
 * come several times. Elsewhere it is replaced: by the function's name, or without the folder.
 * Call it before the first event is read, and then read none: it may have read them, to find texts
 * for which the table had no room. Returns 0 or a negative WEFT_E code. */
typedef void weft_code_fn(void *data, const char *place, size_t size);
int weft_reader_codes(struct weft_reader *r, weft_code_fn *use, void *data, struct weft_error *err);

/* The part of the content that has been handed out, from 0 to 1, for showing progress. */
double weft_reader_progress(const struct weft_reader *r);
