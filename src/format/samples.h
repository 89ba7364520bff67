/* SPDX-License-Identifier: ISC */
/* Packets of samples: where the CPU time went. They are in the same file as the packets of events and use the
 * same clock: times are nanoseconds of CLOCK_MONOTONIC. docs/format.md describes them.
 *
 * A packet is a header followed by records, each at a multiple of 8 bytes. Texts, files and nodes of stacks are
 * numbered per packet, so a packet can be read without the others. Mappings and threads may be in another
 * packet; if that is missing, addresses have no names, and nothing else is lost. Little endian. */
#pragma once

#include "format/packet.h"

struct weft_samples_header {
    struct weft_packet_header packet; /* class WEFT_PACKET_SAMPLES */
    uint64_t first_ns, last_ns;       /* of the samples in the packet */
    uint64_t sequence;                /* numbers the packets of one recording from 1 */
    uint8_t boot_id[16];              /* of the system whose clock it is; zeros: not known */
};

/* Follows the header of a packet of a ring of samples, if header_bytes says so: what all packets before this one had,
 * also those that are overwritten. Such a packet has all that is needed to name its samples: the threads, the mappings
 * and how their processes began are repeated in it, with the times that they had at first. */
struct weft_samples_before {
    uint64_t samples, lost, lost_other;
};

/* Every record begins with this. bytes, a multiple of 8, leads to the next record. */
struct weft_record_head {
    uint8_t kind;   /* enum weft_record_kind; unknown kinds are skipped and counted */
    uint8_t flags;  /* depends on the kind */
    uint16_t small; /* depends on the kind; otherwise 0 */
    uint32_t bytes; /* of the whole record with its head; at least 8 */
};

enum weft_record_kind {
    WEFT_RECORD_TEXT = 1,   /* numbered from 1 in the packet; 0 is "" */
    WEFT_RECORD_SOURCE = 2, /* numbered from 0 in the packet: what triggers samples */
    WEFT_RECORD_NODE = 3,   /* numbered from 1 in the packet; 0 is the empty stack */
    WEFT_RECORD_SAMPLE = 4,
    WEFT_RECORD_SWITCH = 5, /* a thread leaves a core, or comes back */
    WEFT_RECORD_MAPPING = 6,
    WEFT_RECORD_THREAD = 7, /* a thread or process, and its name from then on */
    WEFT_RECORD_EXIT = 8,
    WEFT_RECORD_LOST = 9, /* records for which there was no room */
    WEFT_RECORD_INTERRUPT = 10,
    WEFT_RECORD_OBJECT = 11, /* numbered from 0 in the packet: a file whose symbols follow */
    WEFT_RECORD_SYMBOL = 12,
};

/* ---- The records. Each begins with its head. ---- */

struct weft_record_text {
    struct weft_record_head head;
    uint32_t size; /* of the text in bytes. Then: the text, a NUL, zeros up to a multiple of 8 */
    uint32_t unused;
};

enum weft_source_unit {
    WEFT_UNIT_COUNT = 0, /* of the event */
    WEFT_UNIT_NS = 1,
    WEFT_UNIT_CYCLES = 2,
};

struct weft_record_source { /* small: enum weft_source_unit */
    struct weft_record_head head;
    uint32_t name;      /* text: "cpu-clock" */
    uint32_t frequency; /* samples per second, as requested; 0: a period was requested */
    uint64_t period;    /* in units; 0: not known */
};

struct weft_record_node { /* flags: enum weft_node_flags */
    struct weft_record_head head;
    uint32_t parent; /* node of the caller, which comes earlier; 0: none */
    uint32_t unused;
    uint64_t address; /* of the instruction; in a caller, the return address */
};

enum weft_node_flags {
    WEFT_NODE_KERNEL = 1, /* an address of the kernel */
    WEFT_NODE_CALLER = 2, /* a return address: the call is just before it */
};

struct weft_record_sample { /* small: source; flags: enum weft_sample_flags */
    struct weft_record_head head;
    uint64_t time_ns;
    uint32_t process, thread; /* UINT32_MAX: not known */
    uint32_t core;            /* UINT32_MAX: not known */
    uint32_t stack;           /* node of the innermost frame */
    uint64_t value;           /* weight of the sample, in units of its source */
};

enum weft_sample_flags {
    WEFT_SAMPLE_IN_KERNEL = 1,
    WEFT_SAMPLE_CUT = 2, /* the stack may be incomplete */
};

struct weft_record_switch { /* flags: enum weft_switch_flags */
    struct weft_record_head head;
    uint64_t time_ns;
    uint32_t process, thread;
    uint32_t core;
    uint32_t stack; /* when it leaves: where it waits; 0: not known */
};

enum weft_switch_flags {
    WEFT_SWITCH_OUT = 1,       /* leaves; if not set: comes back */
    WEFT_SWITCH_PREEMPTED = 2, /* it was still able to run */
};

struct weft_record_mapping { /* flags: WEFT_MAPPING_KERNEL; small: bytes of build_id, at most 20 */
    struct weft_record_head head;
    uint64_t time_ns;
    uint64_t start, size, offset; /* addresses; offset in the file */
    uint32_t process;             /* UINT32_MAX: all, as for the kernel's mappings */
    uint32_t path;                /* text: an absolute path, "[kernel]", "[vdso]", "//anon" … */
    uint8_t build_id[24];
};

#define WEFT_MAPPING_KERNEL 1u

struct weft_record_thread { /* flags: WEFT_THREAD_EXEC */
    struct weft_record_head head;
    uint64_t time_ns;
    uint32_t process, thread;
    uint32_t parent; /* process that created it, or UINT32_MAX */
    uint32_t name;   /* text */
};

#define WEFT_THREAD_EXEC 1u /* a new program: earlier mappings of the process are gone */

struct weft_record_exit {
    struct weft_record_head head;
    uint64_t time_ns;
    uint32_t process, thread;
};

enum weft_lost_flags {
    WEFT_LOST_OTHER = 1, /* the lost records are no samples, but switches, mappings and the like */
    WEFT_LOST_SWITCHES = 2, /* from then on no switches were recorded: there were too many */
};

struct weft_record_lost { /* flags: enum weft_lost_flags */
    struct weft_record_head head;
    uint64_t time_ns, count;
    uint32_t core;
    uint32_t unused;
};

struct weft_record_interrupt { /* flags: WEFT_INTERRUPT_SOFT */
    struct weft_record_head head;
    uint64_t from_ns, to_ns;
    uint32_t core;
    uint32_t thread; /* the interrupted one, or UINT32_MAX */
    uint32_t number; /* irq, or vector of a softirq */
    uint32_t name;   /* text: "virtio0-input.0", "net_rx" */
};

#define WEFT_INTERRUPT_SOFT 1u

/* small: bytes of build_id. process: for generated code, the process that has it; otherwise UINT32_MAX. */
struct weft_record_object {
    struct weft_record_head head;
    uint32_t path; /* text, as the mapping's */
    uint32_t process;
    uint8_t build_id[24];
};

/* What is at an address: frames, innermost (inlined) first. */
struct weft_record_symbol { /* small: number of frames that follow; 0: nothing is known */
    struct weft_record_head head;
    uint32_t object;
    uint32_t unused;
    /* Offset in the object's file; for the kernel and generated code, the address. */
    uint64_t offset;
};

struct weft_symbol_frame {
    uint32_t name;        /* for people, C++ demangled */
    uint32_t system_name; /* text: as the linker knows it; 0: the same */
    uint32_t file;        /* text, or 0 */
    uint32_t line;        /* of the instruction; 0: not known */
    uint32_t start_line;  /* of the function; 0: not known */
    uint32_t unused;
};

_Static_assert(sizeof(struct weft_samples_header) == 88, "docs/format.md");
_Static_assert(sizeof(struct weft_samples_before) == 24, "docs/format.md");
_Static_assert(sizeof(struct weft_record_head) == 8, "docs/format.md");
_Static_assert(sizeof(struct weft_record_text) == 16, "docs/format.md");
_Static_assert(sizeof(struct weft_record_source) == 24, "docs/format.md");
_Static_assert(sizeof(struct weft_record_node) == 24, "docs/format.md");
_Static_assert(sizeof(struct weft_record_sample) == 40, "docs/format.md");
_Static_assert(sizeof(struct weft_record_switch) == 32, "docs/format.md");
_Static_assert(sizeof(struct weft_record_mapping) == 72, "docs/format.md");
_Static_assert(sizeof(struct weft_record_thread) == 32, "docs/format.md");
_Static_assert(sizeof(struct weft_record_exit) == 24, "docs/format.md");
_Static_assert(sizeof(struct weft_record_lost) == 32, "docs/format.md");
_Static_assert(sizeof(struct weft_record_interrupt) == 40, "docs/format.md");
_Static_assert(sizeof(struct weft_record_object) == 40, "docs/format.md");
_Static_assert(sizeof(struct weft_record_symbol) == 24, "docs/format.md");
_Static_assert(sizeof(struct weft_symbol_frame) == 24, "docs/format.md");
