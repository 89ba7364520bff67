/* SPDX-License-Identifier: ISC */
/* Decides how sure a finding is. A search measures and sets signs; the table in judge.def says what
 * follows from them. Internal to analyse. */
#pragma once

#include "analyse/finding.h"

/* Signs are bits. These apply to all findings; analyse_signs sets them. */
enum {
    ANALYSE_MIRAGE = 1 << 0,      /* the trace is not weft's own and has less information */
    ANALYSE_STOPPED = 1 << 1,     /* the program ended by itself */
    ANALYSE_KILLED = 1 << 2,      /* … was killed */
    ANALYSE_UNKNOWN_END = 1 << 3, /* … it is not known how it ended */
    /* What is known about the promise is incomplete. At most one of these is set. */
    ANALYSE_DISCARDED = 1 << 4,   /* some events are missing */
    ANALYSE_OVERWRITTEN = 1 << 5, /* its beginning was overwritten */
    ANALYSE_OLDER = 1 << 6,       /* it is older than the recording */
    ANALYSE_CALLED = 1 << 7,      /* the user's own words say that it is meant to be so */
    ANALYSE_INCOMPLETE = ANALYSE_DISCARDED | ANALYSE_OVERWRITTEN | ANALYSE_OLDER,
};

/* From here on each search has its own signs: ANALYSE_OWN(0) and so on. */
#define ANALYSE_OWN(n) (UINT64_C(1) << (8 + (n)))

/* For findings about what hangs. Marked: should_resolve. Meant: as analyse_is_meant says. */
#define ANALYSE_H_CONCLUDED ANALYSE_OWN(0) /* not everything is known about who holds it */
#define ANALYSE_H_CLOSED ANALYSE_OWN(1)    /* a circle that includes owners */
#define ANALYSE_H_TOLD ANALYSE_OWN(2)      /* … and the trace says who they are */
/* a circle, fully described, with a promise that is needed */
#define ANALYSE_H_LOCKED ANALYSE_OWN(3)
#define ANALYSE_H_ROOT_MARKED ANALYSE_OWN(4)
#define ANALYSE_H_MARKED ANALYSE_OWN(5) /* a marked promise waits for it */
/* … but only behind something that is meant to be pending */
#define ANALYSE_H_MARKED_LATER ANALYSE_OWN(6)
#define ANALYSE_H_ANY_MARK (ANALYSE_H_ROOT_MARKED | ANALYSE_H_MARKED | ANALYSE_H_MARKED_LATER)
#define ANALYSE_H_MEANT ANALYSE_OWN(7) /* it is meant to be pending */
#define ANALYSE_H_ALIVE ANALYSE_OWN(8) /* a promise depends on it that is not meant to be pending */
/* The waiter has done nothing at all since the signal that it missed. */
#define ANALYSE_H_CLEAR ANALYSE_OWN(9)
#define ANALYSE_H_SHORT ANALYSE_OWN(10) /* it has not lasted for hang_ns */
#define ANALYSE_H_FREE ANALYSE_OWN(11)  /* the waiter also waits for something else that may come */
#define ANALYSE_H_LIMITED ANALYSE_OWN(12) /* … for a time limit */
#define ANALYSE_H_ON_PURPOSE ANALYSE_OWN(13)
/* the recording was off since then, and nothing shows that it still hung */
#define ANALYSE_H_PAUSED ANALYSE_OWN(14)
/* others like it took as long, and it was there only for a short time */
#define ANALYSE_H_YOUNG ANALYSE_OWN(15)
#define ANALYSE_H_IN_FLIGHT ANALYSE_OWN(16) /* … and the program continued */
#define ANALYSE_H_FIRST ANALYSE_OWN(17)     /* none like it was ever resolved */
#define ANALYSE_H_MOVED ANALYSE_OWN(18)     /* something in it moved shortly before the end */
#define ANALYSE_H_USUAL ANALYSE_OWN(19)     /* others like it took nearly as long */
/* others took as long, and something else explains what hangs */
#define ANALYSE_H_ORDINARY ANALYSE_OWN(20)
#define ANALYSE_H_VAIN_BEFORE ANALYSE_OWN(21) /* an earlier signal without a waiter did no harm */
#define ANALYSE_H_SIGNALS ANALYSE_OWN(22)     /* there were signals and waits before that */
#define ANALYSE_H_ACTED ANALYSE_OWN(23)       /* the waiter may have handled it before */
#define ANALYSE_H_TO_OTHER ANALYSE_OWN(24)    /* another waiter was woken */
#define ANALYSE_H_LATE ANALYSE_OWN(25)        /* it was signalled once, and waited for afterwards */
#define ANALYSE_H_SOON ANALYSE_OWN(26)        /* the recording ended soon after the signal */
/* the beginning of the waiter was overwritten */
#define ANALYSE_H_READER_OVERWRITTEN ANALYSE_OWN(27)
#define ANALYSE_H_READER_OLDER ANALYSE_OWN(31) /* … or it is older than the recording */
/* others of the sort of a promise in it ended long ago */
#define ANALYSE_H_EXPECTED ANALYSE_OWN(28)
#define ANALYSE_H_KEPT ANALYSE_OWN(29)   /* all its holders have ended */
#define ANALYSE_H_WORKED ANALYSE_OWN(30) /* it has run, and not shortly before the end */
#define ANALYSE_H_SET ANALYSE_OWN(32)    /* a timer; others like it have gone off */

/* For findings about a run that took long, or a turn of the loop. */
#define ANALYSE_B_UNSURE ANALYSE_OWN(0) /* the trace does not say when it ended */
#define ANALYSE_B_SILENT ANALYSE_OWN(1) /* it is the last one in the trace */
/* it is running when the trace ends, for at least never_yield_ns */
#define ANALYSE_B_ENDLESS ANALYSE_OWN(2)
#define ANALYSE_B_FOREVER ANALYSE_OWN(3) /* … and the program did not end by itself */
#define ANALYSE_B_NEEDED ANALYSE_OWN(4)  /* … while somebody waited for something */
/* nobody is known to have needed the loop: nobody was late, nothing unrelated ran as soon as it was
 * free, and nobody waited for anything meanwhile; for a turn: nobody was late */
#define ANALYSE_B_NOBODY ANALYSE_OWN(5)
#define ANALYSE_B_ALONE ANALYSE_OWN(6)   /* … and nothing else runs there */
#define ANALYSE_B_OUTLIER ANALYSE_OWN(7) /* it is far longer than others of its sort */
#define ANALYSE_B_LAST ANALYSE_OWN(8)    /* it is still running, and has harmed nobody yet */
#define ANALYSE_B_RARE ANALYSE_OWN(9)    /* others of its sort are short */
#define ANALYSE_B_ONCE ANALYSE_OWN(10)
#define ANALYSE_B_NEAR ANALYSE_OWN(11)   /* it is little longer than the limit */
#define ANALYSE_B_PROVEN ANALYSE_OWN(12) /* it was very long, and delayed others */
/* a turn: nobody was very late, or no single sort ran for most of it */
#define ANALYSE_B_MUCH ANALYSE_OWN(13)

/* For findings about what was ready and did not run. */
#define ANALYSE_W_NEAR ANALYSE_OWN(0)  /* it was not much longer than the limit */
#define ANALYSE_W_THERE ANALYSE_OWN(1) /* the result was there before the wait began */
#define ANALYSE_W_RARE ANALYSE_OWN(2)  /* this hardly ever happens to it, and not for long */

/* For findings about a spin. At most one of the first four is set. */
#define ANALYSE_S_NAPS ANALYSE_OWN(0)     /* the loop sleeps in between */
#define ANALYSE_S_OUTSIDE ANALYSE_OWN(1)  /* what wakes it may come from outside */
#define ANALYSE_S_VAIN ANALYSE_OWN(2)     /* it goes on until something else happens, or for ever */
#define ANALYSE_S_SELF ANALYSE_OWN(3)     /* it wakes itself */
#define ANALYSE_S_PROVEN ANALYSE_OWN(4)   /* it continues forever */
#define ANALYSE_S_PROGRESS ANALYSE_OWN(5) /* it did something that may be useful to others */
/* there were many runs, too short to do anything but check */
#define ANALYSE_S_QUICK ANALYSE_OWN(6)
#define ANALYSE_S_BUSY ANALYSE_OWN(7)    /* there were many runs, and they took most of the time */
#define ANALYSE_S_ASKS ANALYSE_OWN(8)    /* … too short to ask anybody outside for much */
#define ANALYSE_S_NO_WORK ANALYSE_OWN(9) /* … too short to do much */

/* For findings about something that stopped. */
#define ANALYSE_A_TIMER ANALYSE_OWN(0)      /* nothing but timers ever woke it */
#define ANALYSE_A_BACKGROUND ANALYSE_OWN(1) /* it is meant to be pending for long */
#define ANALYSE_A_LATER ANALYSE_OWN(2)  /* what it had waited for came again, and nobody listened */
#define ANALYSE_A_NEEDED ANALYSE_OWN(3) /* somebody waits for it, or for what it resolved before */
#define ANALYSE_A_ALONE ANALYSE_OWN(4)  /* the others of its sort are waiting */
#define ANALYSE_A_ENDS ANALYSE_OWN(5)   /* others of its sort have ended */
#define ANALYSE_A_FAILED ANALYSE_OWN(6) /* what it last waited for failed */

#define ANALYSE_A_LINE ANALYSE_OWN(7) /* each time it is another timer, set by the previous one */

/* For findings about garbage collections. */
/* fewer than 3 held anybody up, and the longest took less than 3 times the limit */
#define ANALYSE_G_NEAR ANALYSE_OWN(0)
/* they took only a small part of the time that somebody waited */
#define ANALYSE_G_LITTLE ANALYSE_OWN(1)
#define ANALYSE_G_BUSY ANALYSE_OWN(2) /* others had the cores around that time */

/* For findings about results that are polled for. */
#define ANALYSE_Q_OWN ANALYSE_OWN(0)  /* the reader waited for it, or had created it */
#define ANALYSE_Q_VAIN ANALYSE_OWN(1) /* the reader had looked before, in vain */

/* For findings about a timer that drifts. */
#define ANALYSE_D_PAUSE ANALYSE_OWN(0) /* its type does not say that it comes at a fixed rate */

/* For findings about stragglers. */
#define ANALYSE_T_DIFFERENT ANALYSE_OWN(0) /* their labels say that they are different things */

/* For findings about attempts that fail. */
#define ANALYSE_R_LOOP ANALYSE_OWN(0)  /* the event loop makes them */
#define ANALYSE_R_OTHER ANALYSE_OWN(1) /* something else is waited for in between */
#define ANALYSE_R_SLOW ANALYSE_OWN(2)  /* each attempt takes long */

/* For findings about exhausted pools. */
#define ANALYSE_P_GONE ANALYSE_OWN(0)   /* a holder of a permit had ended */
#define ANALYSE_P_FIRST ANALYSE_OWN(1)  /* no permit was given back before */
#define ANALYSE_P_USUAL ANALYSE_OWN(2)  /* a permit is usually held for nearly as long */
#define ANALYSE_P_LOCK ANALYSE_OWN(3)   /* there is only one permit */
#define ANALYSE_P_ALONE ANALYSE_OWN(4)  /* only one waited */
#define ANALYSE_P_PASSED ANALYSE_OWN(5) /* others give permits back than those who got them */

/* For findings about failures. */
#define ANALYSE_F_UNHANDLED ANALYSE_OWN(0) /* its own runtime reports it as unhandled */
/* somebody had waited for it, and continued without it before it failed */
#define ANALYSE_F_LEFT ANALYSE_OWN(1)
#define ANALYSE_F_CANCELLED ANALYSE_OWN(2) /* its reason is that of a cancellation */
#define ANALYSE_F_GIVEN_UP ANALYSE_OWN(3)  /* its creator had been abandoned before */
#define ANALYSE_F_PROGRAM ANALYSE_OWN(4)   /* it is the program itself */
/* none of its sort is ever read; and it stands for somebody outside and was created by the loop or
 * a background promise, or its creator's type says that it may last */
#define ANALYSE_F_MASTER ANALYSE_OWN(5)
#define ANALYSE_F_NEXT ANALYSE_OWN(6)      /* another one of its sort follows right afterwards */
#define ANALYSE_F_KNOWN ANALYSE_OWN(7)     /* its creator continues right afterwards */
#define ANALYSE_F_LATER ANALYSE_OWN(8)     /* its creator waits for another one of its sort */
#define ANALYSE_F_PASSED ANALYSE_OWN(9)    /* its creator looked at a later one of its sort */
#define ANALYSE_F_PAUSED ANALYSE_OWN(10)   /* the recording was off afterwards */
#define ANALYSE_F_CHANCE ANALYSE_OWN(11)   /* the loops ran long enough to look at it */
#define ANALYSE_F_NAMELESS ANALYSE_OWN(12) /* it has no label */
#define ANALYSE_F_READS ANALYSE_OWN(13)    /* the program says who reads what */

/* For findings about leaks. */
#define ANALYSE_L_ORPHANS ANALYSE_OWN(0)  /* whoever created them has ended */
#define ANALYSE_L_OLD ANALYSE_OWN(1)      /* they are old, and younger ones have ended */
#define ANALYSE_L_STEADY ANALYSE_OWN(2)   /* their number grows, none ends, and nobody waits */
#define ANALYSE_L_MORE ANALYSE_OWN(3)     /* their number grows */
#define ANALYSE_L_SOME_END ANALYSE_OWN(4) /* some have ended */
#define ANALYSE_L_REUSED ANALYSE_OWN(5)   /* they may be dropped without being resolved */
#define ANALYSE_L_LASTING ANALYSE_OWN(6)  /* their type says that they may stay */
#define ANALYSE_L_FULL ANALYSE_OWN(7)     /* none has been created for a long time */
#define ANALYSE_L_PAUSED ANALYSE_OWN(8)   /* the recording was off since most came */

/* For findings about serial waits. */
#define ANALYSE_E_TIMER ANALYSE_OWN(0)      /* the waits are for times */
#define ANALYSE_E_ORDERED ANALYSE_OWN(1)    /* their type says that each needs the one before */
#define ANALYSE_E_BACKGROUND ANALYSE_OWN(2) /* the waiter is meant to be pending for long */
#define ANALYSE_E_NAMELESS ANALYSE_OWN(3)
#define ANALYSE_E_FAILED ANALYSE_OWN(4)  /* half of them failed */
#define ANALYSE_E_ASKED ANALYSE_OWN(5)   /* there are very many */
#define ANALYSE_E_PACED ANALYSE_OWN(6)   /* whoever resolves them has a timer of its own */
#define ANALYSE_E_GOES_ON ANALYSE_OWN(7) /* the waiter does something else afterwards */
#define ANALYSE_E_LOAD ANALYSE_OWN(8)    /* waiting in this way seems to be the waiter's purpose */
/* nothing says that they are different things, or that two can run at once */
#define ANALYSE_E_ALIKE ANALYSE_OWN(9)

#define ANALYSE_E_SLEEPS ANALYSE_OWN(10) /* they do nothing but sleep */
#define ANALYSE_E_FEEDS ANALYSE_OWN(11)  /* they pass something on to others */

/* For findings about thundering herds. */
#define ANALYSE_T_TIMER ANALYSE_OWN(0) /* the waits are for a time */
#define ANALYSE_T_EMPTY ANALYSE_OWN(1) /* mostly nobody got anything */
/* the one that got it was woken after others, and it is not always the same one */
#define ANALYSE_T_LATE ANALYSE_OWN(2)
#define ANALYSE_T_WEAK ANALYSE_OWN(3)     /* only the timing says that somebody got something */
#define ANALYSE_T_SEVERAL ANALYSE_OWN(4)  /* several got something */
#define ANALYSE_T_NAMELESS ANALYSE_OWN(5) /* what they wait for has no label */

/* For findings about stampedes (many do the same at once). */
#define ANALYSE_M_SPECIFIC ANALYSE_OWN(0) /* others of the sort have other labels */
/* later ones end at once, or later creators of the same sort make none */
#define ANALYSE_M_KEPT ANALYSE_OWN(1)
#define ANALYSE_M_WORK ANALYSE_OWN(2) /* each of them runs, or creates something */
#define ANALYSE_M_SORT ANALYSE_OWN(3) /* the promises that they are for are of one sort */

/* For findings about contention. */
#define ANALYSE_C_MARKED ANALYSE_OWN(0) /* some promises of the sort should resolve */
#define ANALYSE_C_FEW ANALYSE_OWN(1)    /* there are only few of the sort */
#define ANALYSE_C_BATCH ANALYSE_OWN(2)  /* all of them came at once, from one creator */
#define ANALYSE_C_LITTLE ANALYSE_OWN(3) /* it is mostly free, and waits for it are short */

/* For findings about busy workers. */
#define ANALYSE_WB_FEW ANALYSE_OWN(0)   /* only few jobs began late */
#define ANALYSE_WB_BURST ANALYSE_OWN(1) /* those were created at the same time */
#define ANALYSE_WB_SAME ANALYSE_OWN(2)  /* the workers were busy with the same sort */
#define ANALYSE_WB_RARE ANALYSE_OWN(3)  /* most jobs of the sort began in time */

/* For findings about workers that wait for each other. */
#define ANALYSE_WD_TYPE ANALYSE_OWN(0) /* no job that never ran is of a sort that ever ran */
/* what is waited for is not the job that never ran, but belongs to it */
#define ANALYSE_WD_CONCLUDED ANALYSE_OWN(1)
#define ANALYSE_WD_FREE ANALYSE_OWN(2)  /* one of them waits for something else, too */
#define ANALYSE_WD_SHORT ANALYSE_OWN(3) /* it has not lasted for hang_ns */

/* For findings about queues that grow. */
#define ANALYSE_Q_DRAINED ANALYSE_OWN(0) /* all have ended */
#define ANALYSE_Q_MARKED ANALYSE_OWN(1)  /* some of them should resolve */
#define ANALYSE_Q_MANY ANALYSE_OWN(2) /* they have different creators, or the loop creates them */

/* For findings about promises that are ended twice. */
#define ANALYSE_AGAIN_SELF ANALYSE_OWN(0) /* both times by the same promise */
/* once by the event loop, by itself, or by an unknown promise */
#define ANALYSE_AGAIN_LOOP ANALYSE_OWN(1)
#define ANALYSE_AGAIN_TIMED ANALYSE_OWN(2) /* once because a time was reached */
/* at least 4, and half of its sort, are ended twice, by another pair each time */
#define ANALYSE_AGAIN_USUAL ANALYSE_OWN(3)

/* The signs that all findings share. WEFT_ROOT: those that are not about a promise. */
uint64_t analyse_signs(const struct analyse_search *s, uint32_t promise);

enum { ANALYSE_DROP = -1, ANALYSE_ONE_LESS = WEFT_CONFIDENCES };

struct analyse_rule {
    uint32_t kinds; /* bits for the kinds of findings: 1 << kind */
    /* the highest confidence; or ONE_LESS than before; or DROP: it is not a finding */
    int most;
    uint64_t when, unless; /* the rule applies if all of `when` are set, and none of `unless` */
    const char *doubt;     /* why the finding is not more certain; NULL: such findings never are */
    const char *scene;     /* the test that needs this rule */
};

/* Not const: the tests change each rule in turn, and some scene must notice. */
extern struct analyse_rule analyse_rules[];
extern const unsigned analyse_rules_count;

struct analyse_verdict {
    enum weft_confidence confidence;
    const char *doubt; /* the doubt of the last rule that lowered the confidence, or NULL */
};

/* Applies all rules for that kind in turn, from "certain" on. Returns false if it is dropped. */
bool analyse_judge(struct analyse_verdict *v, enum weft_finding_kind kind, uint64_t signs);

/* Judges and adds a finding. NULL: it was dropped, or as for analyse_finding_add. */
struct weft_finding *analyse_report(struct analyse_search *s, enum weft_finding_kind kind,
                                    uint64_t signs, uint32_t promise, int64_t start_ns,
                                    int64_t end_ns, int64_t cost_ns);
