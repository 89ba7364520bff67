/* SPDX-License-Identifier: ISC */
/* How sure a finding is: a search measures, which gives signs, and the table in judge.def says what follows from them. Inside of
 * analyse. */
#ifndef WEFT_ANALYSE_JUDGE_H
#define WEFT_ANALYSE_JUDGE_H

#include "analyse/finding.h"

/* Signs are bits. These are of all findings: weft__signs sets them. */
enum {
    WEFT__MIRAGE = 1 << 0,      /* the trace is not one of weft's, which says less */
    WEFT__STOPPED = 1 << 1,     /* the program ended by itself */
    WEFT__KILLED = 1 << 2,      /* … was killed */
    WEFT__UNKNOWN_END = 1 << 3, /* … nobody knows */
    /* What is known of the promise is incomplete; one of these at most. */
    WEFT__DISCARDED = 1 << 4,   /* some events are missing */
    WEFT__OVERWRITTEN = 1 << 5, /* its beginning was overwritten */
    WEFT__OLDER = 1 << 6,       /* it is older than the recording */
    WEFT__CALLED = 1 << 7,      /* the user's words say that it is meant to be so */
    WEFT__INCOMPLETE = WEFT__DISCARDED | WEFT__OVERWRITTEN | WEFT__OLDER,
};

/* From here on each search has signs of its own: WEFT__OWN(0) and so on. */
#define WEFT__OWN(n) (UINT64_C(1) << (8 + (n)))

/* Of what hangs. Marked: should_resolve. Meant: as weft__is_meant says. */
#define WEFT__H_CONCLUDED WEFT__OWN(0) /* not all is known of who holds it */
#define WEFT__H_CLOSED WEFT__OWN(1)    /* a circle that leads over owners */
#define WEFT__H_TOLD WEFT__OWN(2)      /* … and the trace says who they are */
#define WEFT__H_LOCKED                                                                             \
    WEFT__OWN(3) /* a circle of which the trace says all, with somebody in it who is needed */
#define WEFT__H_ROOT_MARKED WEFT__OWN(4)
#define WEFT__H_MARKED WEFT__OWN(5) /* somebody marked waits for it */
#define WEFT__H_MARKED_LATER                                                                       \
    WEFT__OWN(6) /* … but only behind something that is meant to be pending */
#define WEFT__H_ANY_MARK (WEFT__H_ROOT_MARKED | WEFT__H_MARKED | WEFT__H_MARKED_LATER)
#define WEFT__H_MEANT WEFT__OWN(7) /* it is meant to be pending */
#define WEFT__H_ALIVE WEFT__OWN(8) /* somebody depends on it who is not meant to be pending */
/* The waiter did nothing at all since the signal that it missed. */
#define WEFT__H_CLEAR WEFT__OWN(9)
#define WEFT__H_SHORT WEFT__OWN(10)   /* it has not lasted for hang_ns */
#define WEFT__H_FREE WEFT__OWN(11)    /* the waiter also waits for something else that may come */
#define WEFT__H_LIMITED WEFT__OWN(12) /* … for a time limit */
#define WEFT__H_ON_PURPOSE WEFT__OWN(13)
#define WEFT__H_PAUSED                                                                             \
    WEFT__OWN(14) /* the recording was off since, and nothing shows that it hung on */
#define WEFT__H_YOUNG                                                                              \
    WEFT__OWN(15) /* others like it took as long, and it was there for a short time only */
#define WEFT__H_IN_FLIGHT WEFT__OWN(16) /* … and the program went on */
#define WEFT__H_FIRST WEFT__OWN(17)     /* none like it was ever resolved */
#define WEFT__H_MOVED WEFT__OWN(18)     /* something of it moved shortly before the end */
#define WEFT__H_USUAL WEFT__OWN(19)     /* others like it took nearly as long */
#define WEFT__H_ORDINARY                                                                           \
    WEFT__OWN(20) /* others took as long, and something else explains what hangs */
#define WEFT__H_VAIN_BEFORE WEFT__OWN(21) /* the signal came in vain before, and did no harm */
#define WEFT__H_SIGNALS WEFT__OWN(22)     /* there were signals and waits before */
#define WEFT__H_ACTED WEFT__OWN(23)       /* the waiter may have dealt with it before */
#define WEFT__H_TO_OTHER WEFT__OWN(24)    /* another one was woken */
#define WEFT__H_LATE WEFT__OWN(25)        /* signalled once, waited for afterwards */
#define WEFT__H_SOON WEFT__OWN(26)        /* the recording ended soon after the signal */
#define WEFT__H_READER_OVERWRITTEN WEFT__OWN(27) /* the beginning of the waiter was overwritten */
#define WEFT__H_READER_OLDER WEFT__OWN(31)       /* … or it is older than the recording */
#define WEFT__H_EXPECTED WEFT__OWN(28) /* others of the sort of somebody in it have long ended */
#define WEFT__H_KEPT WEFT__OWN(29)     /* all who hold it have ended */
#define WEFT__H_WORKED WEFT__OWN(30)   /* it has run, and not shortly before the end */
#define WEFT__H_SET WEFT__OWN(32)      /* a timer, of which others have gone off */

/* Of a run that took long, or of a turn of the loop. */
#define WEFT__B_UNSURE WEFT__OWN(0)  /* the trace does not say when it ended */
#define WEFT__B_SILENT WEFT__OWN(1)  /* it is the last that the trace has */
#define WEFT__B_ENDLESS WEFT__OWN(2) /* it runs when the trace ends, for never_yield_ns at least */
#define WEFT__B_FOREVER WEFT__OWN(3) /* … and the program did not end by itself */
#define WEFT__B_NEEDED WEFT__OWN(4)  /* … while somebody waited for something */
#define WEFT__B_NOBODY WEFT__OWN(5)  /* nobody is known to have needed the loop meanwhile */
#define WEFT__B_ALONE WEFT__OWN(6)   /* … and nothing else runs there */
#define WEFT__B_OUTLIER WEFT__OWN(7) /* it is far longer than others of its sort */
#define WEFT__B_LAST WEFT__OWN(8)    /* it runs when the trace ends, and harmed nobody yet */
#define WEFT__B_RARE WEFT__OWN(9)    /* others of its sort are short */
#define WEFT__B_ONCE WEFT__OWN(10)
#define WEFT__B_NEAR WEFT__OWN(11)   /* it is little longer than the limit */
#define WEFT__B_PROVEN WEFT__OWN(12) /* it was very long, and made others late */
#define WEFT__B_MUCH WEFT__OWN(13) /* of a turn: nobody came very late, or no sort ran most of it */

/* Of what was ready, and did not run. */
#define WEFT__W_NEAR WEFT__OWN(0)  /* not for much longer than the limit */
#define WEFT__W_THERE WEFT__OWN(1) /* the result was there before the wait began */
#define WEFT__W_RARE WEFT__OWN(2)  /* it is so nearly never, and not for long */

/* Of a spin. Of the first four it has one at most. */
#define WEFT__S_NAPS WEFT__OWN(0)     /* the loop sleeps in between */
#define WEFT__S_OUTSIDE WEFT__OWN(1)  /* what wakes it may come from outside */
#define WEFT__S_VAIN WEFT__OWN(2)     /* it goes on until something else happens, or for ever */
#define WEFT__S_SELF WEFT__OWN(3)     /* it wakes itself */
#define WEFT__S_PROVEN WEFT__OWN(4)   /* it goes on for ever */
#define WEFT__S_PROGRESS WEFT__OWN(5) /* it did what may be of use to others */
#define WEFT__S_QUICK WEFT__OWN(6)    /* there were many runs, too short for anything but to look */
#define WEFT__S_BUSY WEFT__OWN(7)     /* there were many runs, which took most of the time */
#define WEFT__S_ASKS WEFT__OWN(8)     /* … in which nobody outside can be asked for much */
#define WEFT__S_NO_WORK WEFT__OWN(9)  /* … in which nobody can do much */

/* Of what stopped. */
#define WEFT__A_TIMER WEFT__OWN(0)      /* nothing but timers ever woke it */
#define WEFT__A_BACKGROUND WEFT__OWN(1) /* it is meant to be pending for long */
#define WEFT__A_LATER WEFT__OWN(2)      /* what it had waited for came again, and nobody listened */
#define WEFT__A_NEEDED WEFT__OWN(3)     /* somebody waits for it, or for what it resolved before */
#define WEFT__A_ALONE WEFT__OWN(4)      /* the others of its sort are waiting */
#define WEFT__A_ENDS WEFT__OWN(5)       /* others of its sort have ended */
#define WEFT__A_FAILED WEFT__OWN(6)     /* what it waited for last failed */

#define WEFT__A_LINE WEFT__OWN(7) /* each time it is another timer, set by the one before */

/* Of garbage collections. */
#define WEFT__G_NEAR WEFT__OWN(0) /* there were few, and not much longer than the limit */
#define WEFT__G_LITTLE                                                                             \
    WEFT__OWN(1)                  /* they were a small part of the time for which somebody waited */
#define WEFT__G_BUSY WEFT__OWN(2) /* others had the cores about then */

/* Of results that are looked for. */
#define WEFT__Q_OWN WEFT__OWN(0)  /* the reader waited for it, or had created it */
#define WEFT__Q_VAIN WEFT__OWN(1) /* it had looked before in vain */

/* Of a timer that comes later each time. */
#define WEFT__D_PAUSE WEFT__OWN(0) /* its type does not say that it comes at a rate */

/* Of who comes last. */
#define WEFT__T_DIFFERENT WEFT__OWN(0) /* by their labels they are different things */

/* Of attempts that fail. */
#define WEFT__R_LOOP WEFT__OWN(0)  /* the event loop makes them */
#define WEFT__R_OTHER WEFT__OWN(1) /* something else is waited for in between */
#define WEFT__R_SLOW WEFT__OWN(2)  /* each of them takes long */

/* Of pools that are exhausted. */
#define WEFT__P_GONE WEFT__OWN(0)   /* one who holds a permit had ended */
#define WEFT__P_FIRST WEFT__OWN(1)  /* none was given back before */
#define WEFT__P_USUAL WEFT__OWN(2)  /* one is usually held for nearly as long */
#define WEFT__P_LOCK WEFT__OWN(3)   /* there is only one permit */
#define WEFT__P_ALONE WEFT__OWN(4)  /* only one waited */
#define WEFT__P_PASSED WEFT__OWN(5) /* others give permits back than those who got them */

/* Of failures. */
#define WEFT__F_UNHANDLED WEFT__OWN(0) /* its own runtime says that nobody looks */
#define WEFT__F_LEFT WEFT__OWN(1)      /* somebody had waited, and went on without it */
#define WEFT__F_CANCELLED WEFT__OWN(2) /* its reason is that of what was cancelled */
#define WEFT__F_GIVEN_UP WEFT__OWN(3)  /* its creator had been given up before */
#define WEFT__F_PROGRAM WEFT__OWN(4)   /* it is the program itself */
#define WEFT__F_MASTER WEFT__OWN(5)    /* it stands for somebody outside, and none is ever read */
#define WEFT__F_NEXT WEFT__OWN(6)      /* another one of its sort comes right afterwards */
#define WEFT__F_KNOWN WEFT__OWN(7)     /* its creator goes on right afterwards */
#define WEFT__F_LATER WEFT__OWN(8)     /* its creator waits for another one of its sort */
#define WEFT__F_PASSED WEFT__OWN(9)    /* its creator looked at a younger one of its sort */
#define WEFT__F_PAUSED WEFT__OWN(10)   /* the recording was off afterwards */
#define WEFT__F_CHANCE WEFT__OWN(11)   /* the loops have gone on for long enough to look */
#define WEFT__F_NAMELESS WEFT__OWN(12) /* it has no label */
#define WEFT__F_READS WEFT__OWN(13)    /* the program says who reads what */

/* Of leaks. */
#define WEFT__L_ORPHANS WEFT__OWN(0)  /* whoever created them has ended */
#define WEFT__L_OLD WEFT__OWN(1)      /* they are old, and younger ones have ended */
#define WEFT__L_STEADY WEFT__OWN(2)   /* their number grows, none ends, and nobody waits */
#define WEFT__L_MORE WEFT__OWN(3)     /* their number grows */
#define WEFT__L_SOME_END WEFT__OWN(4) /* some have ended */
#define WEFT__L_REUSED WEFT__OWN(5)   /* they may be dropped without being resolved */
#define WEFT__L_LASTING WEFT__OWN(6)  /* by their type they may stay */
#define WEFT__L_FULL WEFT__OWN(7)     /* none has been created for a long time */
#define WEFT__L_PAUSED WEFT__OWN(8)   /* the recording was off since most of them were there */

/* Of serial waits. */
#define WEFT__E_TIMER WEFT__OWN(0)      /* for times */
#define WEFT__E_ORDERED WEFT__OWN(1)    /* by their type one needs the one before */
#define WEFT__E_BACKGROUND WEFT__OWN(2) /* the waiter is meant to be pending for long */
#define WEFT__E_NAMELESS WEFT__OWN(3)
#define WEFT__E_FAILED WEFT__OWN(4)  /* half of them failed */
#define WEFT__E_ASKED WEFT__OWN(5)   /* there are very many */
#define WEFT__E_PACED WEFT__OWN(6)   /* whoever resolves them has a timer of its own */
#define WEFT__E_GOES_ON WEFT__OWN(7) /* the waiter does something else afterwards */
#define WEFT__E_LOAD WEFT__OWN(8)    /* waiting like this seems to be the waiter's purpose */
#define WEFT__E_ALIKE                                                                              \
    WEFT__OWN(9) /* nothing says that they are different things, nor that two can be at once */

#define WEFT__E_SLEEPS WEFT__OWN(10) /* they do nothing but sleep */
#define WEFT__E_FEEDS WEFT__OWN(11)  /* they give others something */

/* Of herds (they thunder). */
#define WEFT__T_TIMER WEFT__OWN(0) /* for a time */
#define WEFT__T_EMPTY WEFT__OWN(1) /* mostly nobody got anything */
#define WEFT__T_LATE                                                                               \
    WEFT__OWN(2) /* the one that got it was woken after others, and it is not always the same one */
#define WEFT__T_WEAK WEFT__OWN(3)     /* only the time says that somebody got something */
#define WEFT__T_SEVERAL WEFT__OWN(4)  /* several got something */
#define WEFT__T_NAMELESS WEFT__OWN(5) /* what they wait for has no label */

/* Of stampedes (many at once). */
#define WEFT__M_SPECIFIC WEFT__OWN(0) /* others of the sort have other labels */
#define WEFT__M_KEPT WEFT__OWN(1)     /* later ones are quick, or there are none */
#define WEFT__M_WORK WEFT__OWN(2)     /* each of them runs, or makes something */
#define WEFT__M_SORT WEFT__OWN(3)     /* those that they are for are of one sort */

/* Of contention. */
#define WEFT__C_MARKED WEFT__OWN(0) /* some of the sort should resolve */
#define WEFT__C_FEW WEFT__OWN(1)    /* there are only few of the sort */
#define WEFT__C_BATCH WEFT__OWN(2)  /* all of them came at once, from one creator */
#define WEFT__C_LITTLE WEFT__OWN(3) /* it is mostly free, and a wait for it is short */

/* Of workers that are busy. */
#define WEFT__WB_FEW WEFT__OWN(0)   /* only few began late */
#define WEFT__WB_BURST WEFT__OWN(1) /* those were created at once */
#define WEFT__WB_SAME WEFT__OWN(2)  /* the workers were busy with the same sort */
#define WEFT__WB_RARE WEFT__OWN(3)  /* most of the sort began in time */

/* … that wait for each other. */
#define WEFT__WD_TYPE WEFT__OWN(0) /* none of what never ran is of a sort that ever ran */
#define WEFT__WD_CONCLUDED                                                                         \
    WEFT__OWN(1) /* what is waited for is not what never ran, but belongs to the same job */
#define WEFT__WD_FREE WEFT__OWN(2)  /* one of them waits for something else, too */
#define WEFT__WD_SHORT WEFT__OWN(3) /* it has not lasted for hang_ns */

/* Of queues that grow. */
#define WEFT__Q_DRAINED WEFT__OWN(0) /* all have ended */
#define WEFT__Q_MARKED WEFT__OWN(1)  /* some of them should resolve */
#define WEFT__Q_MANY WEFT__OWN(2)    /* different ones create them, or the loop */

/* Of what is ended twice. */
#define WEFT__AGAIN_SELF WEFT__OWN(0) /* by the same one */
#define WEFT__AGAIN_LOOP                                                                           \
    WEFT__OWN(1) /* once by the event loop, by itself, or by an unknown promise */
#define WEFT__AGAIN_TIMED WEFT__OWN(2) /* once because a time had come */
#define WEFT__AGAIN_USUAL WEFT__OWN(3) /* most of its sort are, by others each time */

/* WEFT_ROOT: of none. */
uint64_t weft__signs(const struct weft__search *s, uint32_t promise);

enum { WEFT__DROP = -1, WEFT__ONE_LESS = WEFT_CONFIDENCES };

struct weft__rule {
    uint32_t kinds; /* of findings: bits, 1 << kind */
    int most; /* how sure such a finding is at most; or ONE_LESS than before, or DROP: it is none */
    uint64_t when, unless; /* it has all of these signs, and none of those */
    const char *doubt;     /* why it is not surer; NULL: such findings never are */
    const char *scene;     /* which test needs it */
};

/* Not const: the tests change each rule in turn, and some scene must notice. */
extern struct weft__rule weft__rules[];
extern const unsigned weft__rules_count;

struct weft__verdict {
    enum weft_confidence confidence;
    const char *doubt; /* what lowered it last, or NULL */
};

/* Applies all rules for that kind in turn, starting from "certain". Returns false if the finding is to be dropped. */
bool weft__judge(struct weft__verdict *v, enum weft_finding_kind kind, uint64_t signs);

/* Judges and adds a finding, or one that lasts until the trace ends; NULL: it is none, or as weft__finding_add. */
struct weft_finding *weft__report(struct weft__search *s, enum weft_finding_kind kind,
                                  uint64_t signs, uint32_t promise, int64_t start_ns,
                                  int64_t end_ns, int64_t cost_ns);
struct weft_finding *weft__report_open(struct weft__search *s, enum weft_finding_kind kind,
                                       uint64_t signs, uint32_t promise, int64_t start_ns,
                                       int64_t cost_ns);

#endif
