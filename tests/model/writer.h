/* SPDX-License-Identifier: ISC */
/* Where a thread is. Each place is one access to shared memory; one that is local only stores, into the
 * thread's buffer, and is passed together with the access before it. What only the owner of a packet touches
 * is no access. */
#ifndef WEFT_TESTS_MODEL_WRITER_H
#define WEFT_TESTS_MODEL_WRITER_H

#include "ring.h"

/* name, local, text; the functions of src/record by their names. */
#define WRITER_PLACES(P)                                                                           \
    P(IDLE, 0, "begins an event")                                                                  \
    P(BUSY, 1, "busy")                                                                             \
    P(EVENT_OUT, 1, "stores the event")                                                            \
    P(CONTENT_OUT, 1, "publishes it")                                                              \
    P(KNOWN, 1, "tells of its promise")                                                            \
    P(HAZARD, 1, "ended: hazard")                                                                  \
    P(DIR, 0, "ended: looks into the directory")                                                   \
    P(BYTE, 1, "ended: the byte")                                                                  \
    P(KEEPS, 0, "pending_resolved: is there a cell?")                                              \
    P(RESOLVE, 0, "pending_resolved: marks a cell")                                                \
    P(RESOLVE_FENCE, 0, "pending_resolved: fence (P)")                                             \
    P(RESOLVED, 1, "ended: through")                                                               \
    P(DONE, 1, "not busy")                                                                         \
                                                                                                   \
    P(LEAVE, 0, "pool_leave: stock")                                                               \
    P(LEAVE_COUNT, 1, "pool_leave: counts")                                                        \
    P(LEAVE_PUSH, 0, "pool_leave: its packet")                                                     \
    P(END, 0, "has ended")                                                                         \
                                                                                                   \
    P(ADOPT, 0, "adopt: is one left?")                                                             \
    P(STOCK, 1, "take_clean: stock")                                                               \
    P(CLEAN, 0, "take_clean: is one clean?")                                                       \
    P(UNHAZARD, 1, "take_clean: no hazard")                                                        \
    P(TAKE, 0, "take_oldest")                                                                      \
    P(TAKEN, 1, "take_clean: has packets")                                                         \
    P(NOTHING, 0, "take_clean: there is none")                                                     \
                                                                                                   \
    P(EMPTY, 1, "empty: sequence 0")                                                               \
    P(EMPTY_COUNTS, 1, "empty: counts")                                                            \
    P(EMPTY_COUNTS_TOO, 1, "empty: counts, second store")                                          \
    P(CLOSE, 1, "finish: counts")                                                                  \
    P(PUT, 0, "let_go: queue_put")                                                                 \
    P(BEGIN, 1, "begin_packet: ended bytes")                                                       \
    P(SETTLE, 0, "settle")                                                                         \
    P(HEADER_BASE, 1, "begin_packet: header")                                                      \
    P(HEADER_CONTENT, 1, "begin_packet: content")                                                  \
    P(HEADER_SEQUENCE, 1, "begin_packet: sequence")                                                \
                                                                                                   \
    P(FIND, 0, "lock_cell_of: looks")                                                              \
    P(FIND_LOCK, 0, "lock_cell_of: locks")                                                         \
    P(FIND_CHECK, 0, "lock_cell_of: looks again")                                                  \
    P(FREE, 0, "lock_free: looks")                                                                 \
    P(FREE_LOCK, 0, "lock_free: locks")                                                            \
    P(FREE_CHECK, 0, "lock_free: looks again")                                                     \
    P(MISS, 1, "unlocks one that is no use")                                                       \
    P(OUT, 0, "drive_out: looks")                                                                  \
    P(OUT_COUNT, 0, "drive_out: counts")                                                           \
    P(OUT_DROP, 0, "drive_out: drops the oldest one")                                              \
    P(GIVE_UP, 0, "take_cell: counts what has no room")                                            \
    P(LATE_COUNT, 0, "pending_keep: counts what was given up")                                     \
    P(FILL_PACKET, 1, "fills in the packet")                                                       \
    P(FILL_NOTE, 1, "fills in the note")                                                           \
    P(FILL_FLAGS, 1, "fills in the flags")                                                         \
    P(KEPT_UP, 0, "publish: kept_by_home")                                                         \
    P(PUBLISH, 1, "publish: the number")                                                           \
    P(UNLOCK, 1, "publish: unlocks")                                                               \
    P(AGAIN_FENCE, 0, "check_again: fence")                                                        \
    P(AGAIN_DIR, 0, "check_again: looks into the directory")                                       \
    P(AGAIN_ENDED, 0, "check_again: the byte")                                                     \
    P(AGAIN_STILL, 0, "check_again: looks into the directory again")                               \
    P(AGAIN_CELLS, 0, "check_again: looks at a cell")                                              \
    P(DROP, 0, "drop_all: a cell")                                                                 \
                                                                                                   \
    P(KEEP, 1, "retire: keeps")                                                                    \
    P(PENDING, 0, "pending_keep: counts pending ones")                                             \
    P(UNBORN_CELLS, 0, "pending_keep: is there a cell?")                                           \
    P(WALK, 1, "pending_keep: next event")                                                         \
    P(C_ENDED, 0, "keep_creation: the byte")                                                       \
    P(E_KEPT, 0, "keep_event: an ending; is there a cell?")                                        \
    P(N_DIR, 0, "keep_note: looks into the directory")                                             \
    P(N_ENDED, 0, "keep_note: the byte")                                                           \
    P(N_STILL, 0, "keep_note: looks into the directory again")                                     \
    P(N_KEPT, 0, "keep_note: is there a cell?")                                                    \
    P(UNSETTLE, 1, "unsettle")                                                                     \
    P(KEPT_ALL, 1, "retire: next one")                                                             \
    P(BARRIER, 0, "threads_barrier")                                                               \
    P(TOUCH, 1, "retire: next one to be checked")                                                  \
    P(TOUCH_BUSY, 0, "threads_touch: is it busy?")                                                 \
    P(TOUCH_HAZARD, 0, "threads_touch: its hazard")                                                \
    P(BACK, 0, "retire: puts it back")                                                             \
    P(RECHECK, 0, "pending_recheck: counts pending ones")                                          \
    P(RE_ENDED, 0, "pending_recheck: the byte")                                                    \
    P(CLEANED, 1, "retire: clean")

enum {
#define P(name, local, text) AT_##name,
    WRITER_PLACES(P)
#undef P
};

static inline bool go_to(struct thread *t, u8 pc)
{
    t->pc = pc;
    return true;
}

static inline bool put(struct thread *t, u8 at, u8 value, u8 order, u8 then)
{
    return store(t, at, value, order) && go_to(t, then);
}

/* The place, plus 1, of the promise's packet in the directory; 0: it is not there. */
static inline u8 find_home(const struct state *s, const struct thread *t, u8 p)
{
    u8 v = load(s, t, HOME_AT + s->home_of[p] % DIRECTORY);
    return v && (v - 1) >> 2 == s->home_of[p] ? (u8)(((v - 1) & 3) + 1) : 0;
}

/* kept_by_home */
static inline u8 kept_at(const struct state *s, u8 p)
{
    return KEPT_AT + (s->home_of[p] & 3);
}

/* retire.c: from FIND on. */
bool retire_step(struct state *s, struct thread *t, unsigned choice);

#endif
