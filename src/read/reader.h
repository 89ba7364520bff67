/* SPDX-License-Identifier: ISC */
/* A trace file, mirage-profile's or weft's own, as a sequence of events in order of time.
 *
 *     struct weft_reader *r;
 *     const struct weft_event *ev;
 *     ptrdiff_t n;
 *     if (weft_reader_open(&r, "net.ctf", &err) == 0) {
 *         while ((n = weft_reader_next(r, &ev, &err)) > 0)
 *             use(ev, n);
 *         weft_reader_close(r);
 *     }
 *
 * The file may be damaged, hostile, or still growing: it is read, never mapped, and memory is
 * bounded by what is really in it. What cannot be read is skipped and counted (weft_reader_damage).
 *
 * Threads: a reader belongs to one thread at a time. */
#ifndef WEFT_READ_READER_H
#define WEFT_READ_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/error.h"
#include "format/events.h"

struct weft_reader;

/* Opens the trace at path ("-": standard input, which is read to its end first), finds its packets
 * and puts them in order. On success the caller owns *out. Returns 0 or a negative WEFT_E code;
 * *out is then NULL. A file in which no packet can be found is WEFT_E_FORMAT; one that is merely
 * damaged opens. What is recorded into the file after it was opened may be seen or not. */
int weft_reader_open(struct weft_reader **out, const char *path, struct weft_error *err);

void weft_reader_close(struct weft_reader *r);

/* Hands out the next events, some hundreds at a time. *events and the texts in them are the reader's
 * and stay valid until the next call. Returns how many, 0 at the end, or a negative WEFT_E code.
 *
 * In weft's own traces the streams are merged: times never run backwards. Clocks of different threads
 * differ a little, so a promise may be used slightly before its creation comes.
 *
 * Events of promises that were pending when their packet was overwritten are there, too, marked as
 * promoted: they come in order of time with the others, and may be older than the first one that is
 * not; that one's time is first_ns in the facts. After all others, with an earlier time, come promoted
 * `resolves` by the loop (and marks): of promises that have ended, though nothing is left of how. Their
 * time is an estimate; they count for nothing where an event says how the promise ended, and end it no
 * earlier than its creation. */
ptrdiff_t weft_reader_next(struct weft_reader *r, const struct weft_event **events,
                           struct weft_error *err);

/* Hands out the next packet of samples (format/samples.h), whole and as it is, in the order of the file; apart
 * from the events. *packet is aligned to 8 bytes, the reader's, and valid until the next call; *offset is where it
 * stands in the file. Returns how many bytes it holds, its header included; 0 after the last one; or a negative WEFT_E
 * code. One larger than WEFT_SAMPLES_MAX is damage, and left out. */
#define WEFT_SAMPLES_MAX (UINT32_C(16) << 20)
ptrdiff_t weft_reader_next_samples(struct weft_reader *r, const void **packet, uint64_t *offset,
                                   struct weft_error *err);

/* What is wrong with the file. */
#define WEFT_DAMAGE_KEPT 16

struct weft_damage {
    uint64_t skipped_bytes;  /* could not be read as packets or events */
    uint64_t problems;       /* how many places */
    uint64_t unknown_types;  /* creations with a type that is not in the table; kept */
    uint64_t backward_times; /* events earlier than the one before them; kept */
    uint64_t half_written;   /* last events that the writer had not finished (0 or 1); left out */
    struct weft_error
        first[WEFT_DAMAGE_KEPT]; /* the first min(problems, WEFT_DAMAGE_KEPT) places */
};

/* What has been found so far; complete once weft_reader_next has returned 0. */
const struct weft_damage *weft_reader_damage(const struct weft_reader *r);

/* What else is known of the trace. Numbers that a format does not have are 0. */

enum weft_ended {
    WEFT_ENDED_UNKNOWN, /* the file does not say: mirage's, or a part of one */
    WEFT_ENDED_STOPPED, /* by weft_stop, or because the program ended */
    WEFT_ENDED_SAVED,   /* a copy of one that was recording */
    WEFT_ENDED_RUNNING, /* not ended: the process is alive on this machine */
    WEFT_ENDED_KILLED,  /* neither stopped nor alive (or of another machine) */
    WEFT_ENDED_EXITED, /* the program ended by itself, but without weft_stop: by _exit, or exec of another one */
};

/* "unknown", "stopped", "saved", "still running", "killed", "exited" */
const char *weft_ended_name(enum weft_ended ended);

/* An OS thread. Recorded = kept + overwritten + missing + discarded events. */
struct weft_stream_facts {
    uint32_t number;      /* counts the threads that recorded something, from 0; unlike the index in
                          * the table, which is what events have */
    uint32_t thread;      /* the system's number of it */
    char name[17];        /* of the thread: terminated, any bytes */
    uint64_t kept;        /* events that are there, unknown ones included */
    uint64_t overwritten; /* … that were before all that are there */
    uint64_t
        missing; /* … that were between those that are there: overwritten by others, or unreadable */
    uint64_t discarded; /* … not recorded, because there was no room; known up to its last packet */
};

/* How a process ended, if weft record saw it. */
struct weft_exit {
    bool known;
    bool by_signal;
    uint32_t number; /* of the signal, or the exit status */
};

struct weft_process_facts {
    uint32_t pid;        /* 0: nothing is known of the process */
    const char *program; /* these: terminated, any bytes; NULL: not known */
    const char *host;
    const char *version;    /* of the recorder */
    const char *const *arg; /* args of them */
    uint32_t args;
    uint8_t boot_id[16];    /* of the system */
    uint64_t started_at;    /* field 22 of /proc/PID/stat */
    uint64_t start_ns;      /* of the recording, on the clock of the events */
    uint64_t start_real_ns; /* … as nanoseconds since 1970, UTC */
    uint64_t stop_real_ns;  /* 0: not stopped */
    uint64_t
        until_ns; /* it recorded at least until then, on the clock of the events: until it was stopped, copied,
                        * or its end was noticed; 0: not known */
    bool
        was_paused; /* the recording was off at one time or another: what ended then is pending here */
    bool is_paused;      /* … and still was at the end */
    uint64_t paused_ns;  /* when it was switched off the last time, on the clock of the events */
    uint64_t resumed_ns; /* … and on again, unless is_paused */
    struct weft_exit exit;
};

/* Pending promises created at one place, of which nothing else is kept, for lack of room. */
struct weft_given_up {
    const struct weft_origin *origin; /* NULL: not known; the reader's */
    uint64_t pending;                 /* how many there are */
    uint64_t unlisted; /* others, of which it is not even known whether they have ended since */
    uint64_t
        left_out; /* waits for such promises, their marks and notifications that were kept nowhere; at least */
};

/* What the recorder has kept of pending promises whose events were overwritten. */
struct weft_promotion {
    bool known;        /* the trace says something of it */
    uint64_t promises; /* that are pending and whose creation, or other events, had to be kept */
    uint64_t
        events;    /* handed out; those that were recorded are neither kept nor overwritten twice */
    uint64_t ever; /* promises that were kept at one time or another */
    uint64_t
        given_up; /* of which the details were given up at one time or another, for lack of room */
    uint64_t numbered;                /* … and which are pending; see sort */
    const struct weft_given_up *sort; /* sorts of them, the most common first; the reader's */
    uint32_t sorts;
    uint64_t unlisted, left_out; /* of all sorts */
    uint64_t
        skipped; /* notes that were left out at one time or another, also of promises that have ended since */
    uint64_t pauses, longest_pause_ns; /* of threads that needed a new packet */
    bool lacks; /* something is pending, or may be, of which not all that matters is known */
    bool
        let_go; /* promises that became others were let go: they count as resolved, but may not be */
    bool complete; /* a promise of which neither creation nor end is there has been resolved */
};

/* Where the events of a format mean something else than those of weft's own traces, or say less. In these, all are
 * false. */
struct weft_quirks {
    bool
        mirage_kinds; /* it has only the kinds of events that are mirage's (events.def): nothing says what is
                         * cancelled, forgotten, notified, or meant to be pending */
    bool
        loop_is_sleep; /* switching to the event loop says that the program sleeps; nothing else does */
    bool
        one_clock; /* a promise's creation comes before all other events about it. With several clocks it may come
                         * slightly later */
    bool no_running;         /* events do not say what ran before them (running, gap, missing) */
    bool last_end_counts;    /* of several ends of a promise the last one counts; else the first */
    bool changes_are_labels; /* a counter's change is a label of what runs, too */
    bool any_bytes;          /* texts are not meant to be UTF-8 */
    bool
        anonymous; /* nothing is known of the process, its threads and its end; losses are counted in packets */
};

struct weft_reader_facts {
    const char *format; /* "weft", "mirage", … */
    struct weft_quirks quirks;
    const char *clock;   /* what is known of it, for people */
    uint32_t clock_kind; /* enum weft_clock_kind; 0: not known */
    uint64_t clock_hz;   /* nominal ticks a second */
    bool has_wall;       /* how that clock stands to the wall clock is known: */
    int64_t
        wall_ns; /* what to add to the time of an event for nanoseconds since 1970, UTC, as it was at
                          * the end of the trace */
    int64_t wall_set_ns; /* how much the wall clock was set forward during the trace, about */
    bool
        wall_measured; /* wall_ns is by the wall clock of the machine that copied the trace while it was
                          * recorded (read/sight.h), within … */
    uint64_t wall_error_ns;
    int64_t wall_own_ns; /* … and this is what its own machine believed; 0: nothing */
    uint64_t file_bytes;
    uint64_t packets; /* that hold events */
    uint64_t unused_packets;
    uint64_t content_bytes;       /* headers and events, without unused tails */
    uint64_t overwritten_packets; /* mirage says it modulo 2^16 only */
    uint64_t
        overwritten_words; /* OCaml's rings, which do not say how many events that were; streams likewise */
    uint64_t lost_words;      /* … of these: by the runtime, before weft record took them out */
    bool of_ocaml;            /* it is what OCaml's runtime says of the program */
    uint64_t missing_packets; /* neither there nor overwritten: gaps in the sequence numbers */
    bool
        wrapped; /* the oldest packet is not the first one in the file; weft: some were overwritten */

    uint32_t streams;                       /* in the table */
    const struct weft_stream_facts *stream; /* of weft's own traces, else NULL; valid until the next
                                             * call of weft_reader_next */
    uint64_t streams_recorded;              /* with those of which nothing is left */
    uint64_t overwritten_events, missing_events, discarded_events;
    uint64_t overwritten_ns; /* what was overwritten is older, about; 0: not known */
    bool
        refused; /* of the discarded ones some interrupted two others, which perhaps never ended (longjmp) */
    /* … of these: those of streams of which nothing is left, and those that are in no stream's facts. */
    uint64_t overwritten_elsewhere, discarded_elsewhere;
    uint64_t lost_texts;       /* cut, or left out, because there was no room */
    uint64_t unknown_events;   /* of forms that this version does not know; left out */
    uint64_t unknown_packets;  /* of classes or versions that it does not know; left out */
    uint64_t other_packets;    /* of another trace in the same file; left out */
    uint64_t repeated_packets; /* there twice, as in files put together; left out */
    uint64_t changed_packets;  /* overwritten while they were read; left out */
    uint64_t sample_packets;   /* of the sampling profiler: see weft_reader_next_samples */
    uint64_t sample_bytes;     /* of these, in all */
    uint64_t
        first_ns; /* time of the first event that is not promoted; known with the first events */
    struct weft_promotion promotion;
    enum weft_ended ended;
    struct weft_process_facts process;
};

/* Complete once weft_reader_next has returned 0. */
const struct weft_reader_facts *weft_reader_facts(const struct weft_reader *r);

/* Returns true if a promise with that number was created while this was recorded, in a packet that has been overwritten. Other
 * numbers may be older than the recording, or the program's own. Known once all events have been handed out, and only
 * where facts promotion.complete is set. */
bool weft_reader_was_overwritten(const struct weft_reader *r, uint64_t id);

/* Cuts texts to that many bytes, where one may be used by many events: what writes each event's text anew would write any
 * amount. To be called before the first event is read. weft_reader_cut_texts: how many have been cut. */
void weft_reader_limit_texts(struct weft_reader *r, uint32_t bytes);
uint64_t weft_reader_cut_texts(struct weft_reader *r);

/* How much of the content has been handed out, 0 to 1: for progress on long work. */
double weft_reader_progress(const struct weft_reader *r);

#endif
