/* SPDX-License-Identifier: ISC */
/* Parses records of Linux's perf rings from bytes: no state, no system calls. Inconsistent records are refused,
 * because the bytes may come from anybody. */
#ifndef WEFT_SAMPLE_PERF_H
#define WEFT_SAMPLE_PERF_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Set in every event that the sampler opens, so that all records end alike (sample_id_all). */
#define SAMPLE_PERF_COMMON                                                                         \
    ((uint64_t)PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |      \
     PERF_SAMPLE_CPU)

/* Who, when and where: in a sample, after the identifier and the instruction; all other records end with it, and
 * the identifier after that. */
struct sample_perf_place {
    uint32_t process, thread;
    uint64_t time_ns;
    uint32_t core, unused;
};
#define SAMPLE_PERF_TRAILER_BYTES (sizeof(struct sample_perf_place) + sizeof(uint64_t))

/* A parsed record; it points into the bytes that it was read from. */
struct sample_perf_record {
    uint32_t type; /* PERF_RECORD_… */
    uint16_t misc;
    uint64_t time_ns, id; /* id: of the event; 0: not known */
    uint32_t process, thread;

    /* SAMPLE; sample_type says which of these it has. */
    uint64_t ip, period;
    const uint8_t *chain; /* chain_count u64, with perf's context marks between them */
    uint64_t chain_count;
    const uint8_t *raw; /* data of a tracepoint */
    uint32_t raw_bytes;
    const uint8_t *regs; /* regs_count u64; NULL: none, as of a kernel thread */
    const uint8_t *stack;
    uint64_t stack_bytes;

    /* MMAP, MMAP2 */
    uint64_t start, size, offset;
    const uint8_t *build_id; /* NULL: not reported */
    uint32_t build_id_bytes;
    bool executable;

    const char *text;               /* MMAP, MMAP2: path; COMM: name */
    uint32_t parent, parent_thread; /* FORK, EXIT */
    uint64_t count;                 /* LOST, LOST_SAMPLES */
};

/* Reads the record at bytes, of which room bytes are valid. type_of returns sample_type and regs_mask of the
 * event with this id. Returns the record's size, or 0 if it is invalid. */
typedef uint64_t sample_perf_type_fn(void *data, uint64_t id, uint64_t *regs_mask);
size_t sample_perf_parse(struct sample_perf_record *out, const uint8_t *bytes, size_t room,
                         sample_perf_type_fn *type_of, void *data);

/* Returns the record's time, which is all that is needed to sort records; 0: not known. */
uint64_t sample_perf_time(const uint8_t *bytes, size_t room);

#endif
