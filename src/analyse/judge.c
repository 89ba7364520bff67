/* SPDX-License-Identifier: ISC */
#include "analyse/judge.h"

#define K(kind) (1u << WEFT_FINDING_##kind)
#define ANY (~0u)
#define HANGS (K(DEADLOCK) | K(LOST_WAKEUP) | K(HANG_ROOT) | K(NEVER_RESOLVED))
#define NO_CIRCLE (HANGS & ~K(DEADLOCK))

/* In the order in which they are applied: where several lower it to the same, the first says why. */
struct weft__rule weft__rules[] = {
    /* ---- What hangs ---- */
    {HANGS, WEFT_LIKELY, WEFT__H_CONCLUDED, 0,
     "not all events about what is held are there: that nobody else holds it is concluded from "
     "those that are",
     "what_one_at_a_time_has_held_is_a_lock"},
    {HANGS, WEFT_LIKELY, WEFT__H_CLOSED, WEFT__H_TOLD,
     "the trace does not say who is to resolve what: that is concluded from who created it, or who "
     "resolved the ones before it",
     "locks_that_their_holders_created"},
    {HANGS, WEFT_LIKELY, WEFT__H_MARKED | WEFT__H_MEANT, 0,
     "what it waits for is marked as meant to be pending for long",
     "a_condition_that_is_marked_as_background"},
    {HANGS, WEFT_LIKELY, 0, WEFT__H_ROOT_MARKED | WEFT__H_TOLD,
     "the trace does not say who is to resolve what: that is concluded from who resolved the ones "
     "before it",
     "the_one_who_would_resolve_it_is_held_up"},
    {HANGS, WEFT_POSSIBLE, WEFT__H_MARKED_LATER, WEFT__H_MARKED | WEFT__STOPPED,
     "what it waits for is marked as meant to be pending for long",
     "a_condition_that_is_marked_as_background"},
    {HANGS, WEFT_LIKELY, WEFT__H_MARKED_LATER, WEFT__H_MARKED,
     "what it waits for is marked as meant to be pending for long", "what_is_passed_on_is_nobodys"},
    /* … nothing of which is marked */
    {NO_CIRCLE, WEFT__DROP, WEFT__H_MEANT, WEFT__H_MARKED | WEFT__H_MARKED_LATER, NULL,
     "by_marks_and_ends"},
    {K(HANG_ROOT), WEFT__DROP, 0, WEFT__H_ALIVE | WEFT__H_MARKED | WEFT__H_MARKED_LATER, NULL,
     "what_is_meant_to_wait_does"},
    {K(HANG_ROOT) | K(NEVER_RESOLVED), WEFT__DROP, WEFT__H_SET, 0, NULL,
     "a_timer_that_has_yet_to_go_off"},
    {NO_CIRCLE, WEFT__DROP, WEFT__H_SHORT, WEFT__H_WORKED | WEFT__H_ANY_MARK, NULL,
     "without_a_mark_it_is_only_possible"},
    {HANGS, WEFT_POSSIBLE, 0,
     WEFT__H_LOCKED | WEFT__H_CLEAR | WEFT__H_EXPECTED | WEFT__H_KEPT | WEFT__H_ANY_MARK,
     "nothing that waits here is marked as something that should be resolved",
     "signalled_before_anybody_waited"},
    {HANGS, WEFT_LIKELY, 0, WEFT__H_ROOT_MARKED,
     "nothing that waits here is marked as something that should be resolved", "a_circle_of_waits"},
    {K(NEVER_RESOLVED), WEFT_POSSIBLE, 0, WEFT__H_WORKED | WEFT__H_MARKED,
     "nobody waits for it, and it has done nothing", "others_have_long_ended"},
    /* … that may yet go on */
    {HANGS, WEFT_LIKELY, WEFT__H_FREE, 0, "it also waits for something that may yet come",
     "a_circle_that_somebody_outside_can_break"},
    {HANGS, WEFT_POSSIBLE, WEFT__H_LIMITED, 0,
     "it also waits for a time limit, and the program still ran", "a_time_limit_will_free_it"},
    {HANGS, WEFT_POSSIBLE, WEFT__H_ON_PURPOSE, 0,
     "others went on meanwhile: it may wait on purpose, until the program is ended",
     "a_server_waits_on_purpose"},
    {HANGS, WEFT_POSSIBLE, WEFT__H_PAUSED, 0,
     "the recording was off for a time after this began: it may have ended then",
     "a_condition_needs_a_new_wait"},
    {NO_CIRCLE, WEFT_POSSIBLE, WEFT__H_IN_FLIGHT, 0,
     "others like it have taken as long: it may only have been cut off by the end",
     "what_is_in_flight_at_the_end_does_not_hang"},
    {NO_CIRCLE, WEFT_LIKELY, WEFT__H_YOUNG, 0,
     "others like it have taken as long, and the program ended right after it began",
     "what_is_in_flight_at_the_end_does_not_hang"},
    {HANGS, WEFT_LIKELY, WEFT__UNKNOWN_END, 0,
     "the trace does not say whether the program had ended", "a_lonely_one_of_mirage"},
    {HANGS, WEFT_LIKELY, 0, WEFT__STOPPED,
     "the program had not ended by itself, so it might still have gone on",
     "none_like_it_has_ended_yet"},
    {K(NEVER_RESOLVED), WEFT_POSSIBLE, WEFT__H_FIRST, WEFT__STOPPED | WEFT__KILLED | WEFT__MIRAGE,
     "the program still ran, and none like it shows how long one takes",
     "none_like_it_has_ended_yet"},
    {HANGS, WEFT_POSSIBLE, WEFT__H_MOVED, WEFT__STOPPED | WEFT__MIRAGE,
     "something of it still moved shortly before the recording ended",
     "a_killed_program_may_have_gone_on"},
    {NO_CIRCLE, WEFT_POSSIBLE, WEFT__H_USUAL, WEFT__STOPPED | WEFT__MIRAGE,
     "others like it have taken nearly as long", "others_have_taken_nearly_as_long"},
    {HANGS, WEFT_POSSIBLE, WEFT__H_ORDINARY, 0,
     "others like it have taken as long, and something else explains what hangs",
     "what_goes_on_as_always_is_not_the_cause"},
    /* … a signal that nobody heard */
    {K(LOST_WAKEUP), WEFT__ONE_LESS, WEFT__H_VAIN_BEFORE, 0,
     "it was signalled in vain before, too, and the next one who waited went on all the same",
     "one_signal_too_many_to_be_certain"},
    {K(LOST_WAKEUP), WEFT_POSSIBLE, WEFT__H_SIGNALS | WEFT__H_ACTED, WEFT__STOPPED,
     "it was signalled or waited for before, too: somebody may have acted on this signal without "
     "waiting for it",
     "who_waits_may_have_acted_on_it"},
    {K(LOST_WAKEUP), WEFT_LIKELY, WEFT__H_SIGNALS, 0,
     "it was signalled or waited for before, too: somebody may have acted on this signal without "
     "waiting for it",
     "who_waits_may_have_acted_on_it"},
    {K(LOST_WAKEUP), WEFT_LIKELY, WEFT__H_TO_OTHER, 0,
     "who was woken may have done what the signal told of", "signalled_the_wrong_one"},
    {K(LOST_WAKEUP), WEFT_LIKELY, WEFT__H_LATE, 0, "it may be meant to be signalled again",
     "signalled_once_for_all"},
    {K(LOST_WAKEUP), WEFT_LIKELY, WEFT__H_SOON, 0, "the recording ended soon afterwards",
     "resolved_and_nobody_was_told"},
    {HANGS, WEFT_LIKELY, WEFT__H_READER_OVERWRITTEN, 0,
     "the beginning of the recording was overwritten, and with it a part of this promise's story",
     "who_waits_is_older"},
    {HANGS, WEFT_LIKELY, WEFT__H_READER_OLDER, 0,
     "the promise is older than the recording, so a part of its story is missing",
     "who_waits_is_older"},

    /* ---- Failures that nobody looks at ---- */
    {K(SWALLOWED_FAILURE), WEFT_POSSIBLE, WEFT__F_LEFT, 0,
     "somebody had waited for it, and went on without it before it failed",
     "test_failure_possible"},
    {K(SWALLOWED_FAILURE), WEFT_POSSIBLE, WEFT__F_CANCELLED, 0,
     "its reason says that it was meant to be cancelled", "test_failure_possible"},
    {K(SWALLOWED_FAILURE), WEFT_POSSIBLE, WEFT__CALLED, WEFT__F_UNHANDLED,
     "its reason has a word that you have listed as meant to fail", "test_words_of_the_user"},
    {K(SWALLOWED_FAILURE), WEFT_POSSIBLE, WEFT__F_GIVEN_UP, WEFT__F_UNHANDLED,
     "the one that created it had been given up before", "test_failure_possible"},
    {K(SWALLOWED_FAILURE), WEFT_POSSIBLE, WEFT__F_PROGRAM, WEFT__F_UNHANDLED,
     "nobody stands above it: the program itself may have said so", "test_failure_possible"},
    {K(SWALLOWED_FAILURE), WEFT_POSSIBLE, WEFT__F_MASTER, WEFT__F_UNHANDLED,
     "nobody ever looks at promises of this sort: it may have dealt with the failure itself",
     "test_failure_possible"},
    {K(SWALLOWED_FAILURE), WEFT_POSSIBLE, WEFT__F_NEXT, WEFT__F_UNHANDLED,
     "another one of its sort is created right after the failure: it may be the next attempt",
     "test_failure_possible"},
    {K(SWALLOWED_FAILURE), WEFT_POSSIBLE, WEFT__F_KNOWN, WEFT__F_UNHANDLED,
     "the one that created it goes on right after the failure, and may know of it",
     "test_failure_possible"},
    {K(SWALLOWED_FAILURE), WEFT_POSSIBLE, WEFT__F_LATER, WEFT__F_UNHANDLED | WEFT__STOPPED,
     "the one that created it waits for others of this sort, and may come to it later",
     "test_failure_possible"},
    {K(SWALLOWED_FAILURE), WEFT_POSSIBLE, WEFT__F_PASSED, WEFT__F_UNHANDLED,
     "the one that created it looked at a later one of this sort, and may have looked at this one "
     "without saying so",
     "test_failure_come_to"},
    {K(SWALLOWED_FAILURE), WEFT_POSSIBLE, WEFT__F_PAUSED, WEFT__F_UNHANDLED,
     "the recording was off for a time afterwards: somebody may have looked at it then",
     "test_failure_before_a_pause"},
    {K(SWALLOWED_FAILURE), WEFT_POSSIBLE, 0, WEFT__F_CHANCE | WEFT__F_UNHANDLED,
     "the recording ends shortly after the failure", "test_failure_possible"},
    {K(SWALLOWED_FAILURE), WEFT_POSSIBLE, WEFT__MIRAGE | WEFT__F_NAMELESS, WEFT__F_UNHANDLED,
     "it has no label: it may be a part of another one, which was looked at",
     "test_failure_possible"},
    {K(SWALLOWED_FAILURE), WEFT_POSSIBLE, 0, WEFT__F_READS | WEFT__F_UNHANDLED,
     "the recording says nowhere who waits for what", "test_failure_possible"},
    {K(SWALLOWED_FAILURE), WEFT_LIKELY, 0, 0, NULL, "test_swallowed"},

    /* ---- Leaks ---- */
    {K(LEAK), WEFT__DROP, 0, WEFT__L_ORPHANS | WEFT__L_OLD | WEFT__L_MORE, NULL, "test_no_leak"},
    {K(LEAK), WEFT_POSSIBLE, WEFT__L_SOME_END, WEFT__L_ORPHANS | WEFT__L_OLD,
     "they come faster than they end, but those that are left may still be used",
     "test_leak_of_slow_ones"},
    {K(LEAK), WEFT_POSSIBLE, 0, WEFT__L_ORPHANS | WEFT__L_OLD | WEFT__L_STEADY,
     "somebody waits for each of them: they may all still come", "test_leak_of_slow_ones"},
    {K(LEAK), WEFT_POSSIBLE, WEFT__L_REUSED, 0,
     "things of this kind may be dropped without being resolved", "test_leak_outlived"},
    {K(LEAK), WEFT_POSSIBLE, WEFT__L_LASTING, WEFT__L_ORPHANS,
     "things of this type may be meant to stay", "test_leak_outlived"},
    {K(LEAK), WEFT_POSSIBLE, WEFT__CALLED, 0,
     "its label has a word that you have listed as what may last", "test_words_of_the_user"},
    {K(LEAK), WEFT_POSSIBLE, WEFT__L_FULL, 0,
     "none has come for long: they may be kept and used again", "test_leak_or_pool"},
    {K(LEAK), WEFT_POSSIBLE, WEFT__L_PAUSED, 0,
     "the recording was off for a time: they may have ended then", "test_leak_and_a_pause"},
    {K(LEAK), WEFT_POSSIBLE, WEFT__MIRAGE, 0,
     "this kind of recording does not say when a promise is dropped", "test_leak_of_ended"},
    {K(LEAK), WEFT_LIKELY, 0, 0, NULL, "test_leak_of_ended"},

    /* ---- Serial waits ---- */
    {K(SERIAL_WAITS), WEFT__DROP, WEFT__E_TIMER, 0, NULL, "test_not_serial"},
    {K(SERIAL_WAITS), WEFT__DROP, WEFT__E_BACKGROUND, 0, NULL, "test_not_serial"},
    {K(SERIAL_WAITS), WEFT__DROP, WEFT__E_ORDERED, WEFT__E_GOES_ON, NULL, "test_serial_ordered"},
    {K(SERIAL_WAITS), WEFT_POSSIBLE, WEFT__E_ORDERED, 0,
     "things of this type usually have to go on in order", "test_serial_ordered"},
    {K(SERIAL_WAITS), WEFT_POSSIBLE, WEFT__CALLED, 0,
     "their label has a word that you have listed as what goes on in order",
     "test_words_of_the_user"},
    {K(SERIAL_WAITS), WEFT_POSSIBLE, WEFT__E_NAMELESS, 0,
     "promises without a label may be different things, of which each needs the last",
     "test_serial_ordered"},
    {K(SERIAL_WAITS), WEFT_POSSIBLE, WEFT__E_FAILED, 0,
     "many of them failed, so these may be attempts at the same thing", "test_serial_ordered"},
    {K(SERIAL_WAITS), WEFT_POSSIBLE, WEFT__E_ASKED, 0,
     "there are so many that it may ask again and again until something changes",
     "test_serial_ordered"},
    {K(SERIAL_WAITS), WEFT_POSSIBLE, WEFT__E_PACED, 0,
     "the one that resolves them may have none before", "test_serial_ordered"},
    {K(SERIAL_WAITS), WEFT_POSSIBLE, WEFT__E_FEEDS, 0,
     "they give others something, for which it may matter what comes first", "test_serial_feeds"},
    {K(SERIAL_WAITS), WEFT_POSSIBLE, WEFT__E_ALIKE, 0,
     "all have the same label, and two of them are never on their way at once: they may be the "
     "same thing again, or pieces of one",
     "test_serial_alike"},
    {K(SERIAL_WAITS), WEFT_POSSIBLE, WEFT__E_SLEEPS, 0,
     "they do nothing but sleep: it may ask again and again until something changes",
     "test_serial_sleeps"},
    {K(SERIAL_WAITS), WEFT_POSSIBLE, 0, WEFT__E_GOES_ON,
     "the one that waits does nothing else up to the end, so this may be its purpose",
     "test_serial_possible"},
    {K(SERIAL_WAITS), WEFT_POSSIBLE, WEFT__E_LOAD, 0,
     "the one that waits may be there to ask one thing after the other", "test_serial_ordered"},
    {K(SERIAL_WAITS), WEFT_LIKELY, 0, 0, NULL, "test_serial"},

    /* ---- Herds ---- */
    {K(HERD), WEFT_POSSIBLE, WEFT__T_TIMER, 0, "all who wait for a time are meant to be told",
     "test_herd_guards"},
    {K(HERD), WEFT_POSSIBLE, WEFT__CALLED, 0,
     "its label has a word that you have listed as told to all", "test_words_of_the_user"},
    {K(HERD), WEFT_POSSIBLE, WEFT__T_EMPTY, 0,
     "mostly all that were woken waited again: they may be meant to be told", "test_herd_guards"},
    {K(HERD), WEFT_POSSIBLE, WEFT__T_LATE, 0,
     "who goes on is not the first that was woken, nor always another one: the others may be meant "
     "to be told, too",
     "test_herd_guards"},
    {K(HERD), WEFT_POSSIBLE, WEFT__T_WEAK, 0,
     "nothing says that the one that ran for longer got anything: all may be meant to be told",
     "test_herd_guards"},
    {K(HERD), WEFT_POSSIBLE, WEFT__T_SEVERAL, 0,
     "several go on each time: those that wait again may have looked for themselves",
     "test_herd_guards"},
    {K(HERD), WEFT_POSSIBLE, WEFT__MIRAGE | WEFT__T_NAMELESS, 0,
     "without a label it is not known what they wait for", "test_herd_guards"},
    {K(HERD), WEFT_LIKELY, 0, 0, NULL, "test_herd"},

    /* ---- Stampedes ---- */
    {K(STAMPEDE), WEFT__DROP, 0, WEFT__M_SPECIFIC | WEFT__M_KEPT, NULL, "each_makes_its_own"},
    {K(STAMPEDE), WEFT__DROP, 0, WEFT__M_SPECIFIC | WEFT__M_WORK, NULL, "each_makes_its_own"},
    {K(STAMPEDE), WEFT__DROP, 0, WEFT__M_KEPT | WEFT__M_WORK, NULL, "each_makes_its_own"},
    {K(STAMPEDE), WEFT_POSSIBLE, 0, WEFT__M_SPECIFIC,
     "their label does not say what each of them is for: they may be different things",
     "the_same_by_their_label_only"},
    {K(STAMPEDE), WEFT_POSSIBLE, 0, WEFT__M_KEPT,
     "nothing shows that a result is used again: each may be needed",
     "the_same_by_their_label_only"},
    {K(STAMPEDE), WEFT_POSSIBLE, 0, WEFT__M_WORK,
     "nothing says what is done for each of them: one may be done for all",
     "the_same_by_their_label_only"},
    {K(STAMPEDE), WEFT_POSSIBLE, 0, WEFT__M_SORT,
     "those that they are for are of different sorts: they may need different things",
     "the_same_by_their_label_only"},
    {K(STAMPEDE), WEFT_LIKELY, 0, 0, NULL, "all_make_the_same"},

    /* ---- Loops that are not free ---- */
    {K(LOOP_BLOCKED), WEFT__DROP, WEFT__B_ALONE, WEFT__B_SILENT | WEFT__B_FOREVER, NULL,
     "what_never_ends"},
    {K(LOOP_BLOCKED), WEFT_POSSIBLE, WEFT__B_UNSURE, WEFT__B_NEEDED,
     "the trace does not say when nothing runs, so that the run may have been shorter",
     "what_never_ends"},
    {K(LOOP_BLOCKED), WEFT_LIKELY, WEFT__B_UNSURE, 0,
     "the trace does not say when nothing runs, so that the run may have been shorter",
     "what_never_ends"},
    {K(LOOP_BLOCKED), WEFT_LIKELY, WEFT__B_SILENT, 0,
     "the trace ends with it: the program may also have crashed there", "what_the_trace_ends_with"},
    {K(LOOP_BLOCKED), WEFT_POSSIBLE, WEFT__B_NOBODY,
     WEFT__B_ENDLESS | WEFT__B_SILENT | WEFT__B_OUTLIER,
     "nobody needed the event loop meanwhile, as far as is recorded",
     "who_waits_for_the_work_is_served"},
    {K(LOOP_BLOCKED), WEFT_POSSIBLE, WEFT__B_ENDLESS, WEFT__B_FOREVER | WEFT__B_NEEDED,
     "the program may just have ended with it", "what_never_ends"},
    {K(LOOP_BLOCKED), WEFT_POSSIBLE, WEFT__B_LAST, WEFT__B_ENDLESS | WEFT__B_SILENT,
     "the program may just have ended with it", "what_never_ends"},
    {K(LOOP_BLOCKED), WEFT_POSSIBLE, WEFT__B_RARE, 0,
     "nearly all other runs of it are short, so that it may be due to what else the machine had to "
     "do",
     "who_waits_meanwhile_counts"},
    {K(LOOP_BLOCKED), WEFT_POSSIBLE, WEFT__B_ONCE, 0,
     "it happened once, and may be due to what else the machine had to do",
     "short_run_may_be_the_machine"},
    {K(LOOP_BLOCKED), WEFT_POSSIBLE, WEFT__B_NEAR, 0,
     "it was not much longer than the limit, and may be due to what else the machine had to do",
     "short_run_may_be_the_machine"},
    {K(LOOP_BLOCKED), WEFT_POSSIBLE, WEFT__B_MUCH, 0, "there may simply have been much to do",
     "news_that_nobody_looked_for"},
    {K(LOOP_BLOCKED), WEFT_LIKELY, 0, WEFT__B_PROVEN | WEFT__B_FOREVER, NULL,
     "long_run_harms_who_is_due"},
    {K(SLOW_WAKE), WEFT_POSSIBLE, WEFT__W_NEAR, 0, "it was not much longer than the limit",
     "behind_what_was_earlier"},
    {K(SLOW_WAKE), WEFT_POSSIBLE, WEFT__W_THERE, 0, "it was there already when the wait began",
     "there_before_the_wait"},
    {K(SLOW_WAKE), WEFT_POSSIBLE, WEFT__W_RARE, 0,
     "it happened hardly ever, and may be due to what else the machine had to do",
     "asleep_for_a_short_time"},
    {K(SLOW_WAKE), WEFT_LIKELY, 0, 0, NULL, "others_come_first"},
    {K(SPIN), WEFT_POSSIBLE, WEFT__S_PROGRESS, 0, "it may get on with something in between",
     "pieces_of_work_are_no_spin"},
    {K(SPIN), WEFT_POSSIBLE, WEFT__S_NAPS, WEFT__S_BUSY,
     "it asks again and again, but sleeps in between", "spins_with_naps"},
    {K(SPIN), WEFT_POSSIBLE, WEFT__S_OUTSIDE, WEFT__S_ASKS,
     "it may do its work in many small pieces", "spins_on_a_busy_machine"},
    {K(SPIN), WEFT_POSSIBLE, WEFT__S_SELF, WEFT__S_NO_WORK,
     "it may do its work in many small pieces", "pieces_of_work_are_no_spin"},
    {K(SPIN), WEFT_POSSIBLE, 0, WEFT__S_QUICK | WEFT__S_NAPS | WEFT__S_VAIN | WEFT__S_SELF,
     "it may do its work in many small pieces", "exchange_of_wakes"},
    {K(SPIN), WEFT_LIKELY, 0, WEFT__S_PROVEN, NULL, "spin_by_itself"},
    /* ---- What stopped ---- */
    {K(STOPPED), WEFT_POSSIBLE, WEFT__A_FAILED,
     WEFT__A_TIMER | WEFT__A_BACKGROUND | WEFT__A_LATER | WEFT__A_NEEDED,
     "what it waited for last failed: it may have given up, and not have said so",
     "gives_up_after_a_failure"},
    {K(STOPPED), WEFT_POSSIBLE, 0,
     WEFT__A_TIMER | WEFT__A_BACKGROUND | WEFT__A_LATER | WEFT__A_NEEDED | WEFT__A_ALONE |
         WEFT__A_ENDS,
     "it may have done all that it had to do, and not have said so", "has_done_all"},
    {K(STOPPED), WEFT_POSSIBLE, WEFT__A_LINE, WEFT__A_FAILED,
     "it may have done all that it had to do", "each_timer_sets_the_next"},
    {K(STOPPED), WEFT_LIKELY, 0, 0, NULL, "a_timer_is_not_set_again"},

    /* ---- Garbage collections ---- */
    {K(GC_PAUSE), WEFT_POSSIBLE, WEFT__G_NEAR, 0,
     "there were few, and not much longer than the limit: it may be due to what else the machine "
     "had to do",
     "one_short_collection"},
    {K(GC_PAUSE), WEFT_POSSIBLE, WEFT__G_LITTLE, 0,
     "it was a small part of the time for which they waited", "a_small_part_of_a_wait"},
    {K(GC_PAUSE), WEFT_POSSIBLE, WEFT__G_BUSY, 0,
     "others had the core of the event loop about then, and perhaps of those who collected, too",
     "a_collection_on_a_busy_machine"},
    {K(GC_PAUSE), WEFT_LIKELY, 0, 0, NULL, "who_waits_for_a_collection"},

    /* ---- Results that are looked for ---- */
    {K(POLLING), WEFT_POSSIBLE, 0, WEFT__Q_OWN,
     "what it looks at is of others: it may collect what has come, on purpose",
     "collects_what_has_come"},
    {K(POLLING), WEFT_POSSIBLE, 0, WEFT__Q_VAIN,
     "it had not looked before in vain: it may have had to sleep first", "sleeps_first"},
    {K(POLLING), WEFT_LIKELY, 0, 0, NULL, "looks_again_and_again"},

    /* ---- One that is served first ---- */
    {K(STARVATION), WEFT_LIKELY, 0, 0, NULL, "one_is_served_first"},

    /* ---- A timer that comes later each time ---- */
    {K(DRIFT), WEFT_POSSIBLE, WEFT__D_PAUSE, 0,
     "it may be meant to pause for so long after its work", "a_pause_after_the_work"},
    {K(DRIFT), WEFT_LIKELY, 0, 0, NULL, "comes_later_each_time"},

    /* ---- Who comes last ---- */
    {K(STRAGGLER), WEFT_POSSIBLE, WEFT__T_DIFFERENT, 0,
     "by their labels they are different things, of which one may take longer", "different_things"},
    {K(STRAGGLER), WEFT_LIKELY, 0, 0, NULL, "always_the_same"},

    /* ---- Attempts that fail ---- */
    {K(RETRY_STORM), WEFT_POSSIBLE, WEFT__R_LOOP, 0,
     "the event loop makes them: they may be requests of others", "requests_that_fail"},
    {K(RETRY_STORM), WEFT_POSSIBLE, WEFT__R_OTHER, 0,
     "something else is waited for before each: it may be asked to do it again",
     "is_asked_each_time"},
    {K(RETRY_STORM), WEFT_POSSIBLE, WEFT__R_SLOW, 0,
     "each of them takes long, so they are not many at a time", "slow_attempts"},
    {K(RETRY_STORM), WEFT_LIKELY, 0, 0, NULL, "fails_again_and_again"},

    /* ---- Pools that are exhausted ---- */
    {K(POOL_EXHAUSTED), WEFT_LIKELY, 0, 0, NULL, "held_by_one_that_has_ended"},
    {K(POOL_EXHAUSTED), WEFT__DROP, WEFT__P_LOCK, WEFT__P_GONE, NULL,
     "a_lock_that_is_held_for_long"},
    {K(POOL_EXHAUSTED), WEFT__DROP, WEFT__P_USUAL, WEFT__P_GONE, NULL, "as_long_as_usual"},
    {K(POOL_EXHAUSTED), WEFT_POSSIBLE, WEFT__P_FIRST, WEFT__P_GONE,
     "none was given back before, so it is not known how long one is usually held",
     "held_for_long_from_the_beginning"},
    {K(POOL_EXHAUSTED), WEFT_POSSIBLE, WEFT__P_PASSED, 0,
     "others give permits back than those who got them: who holds them is not known",
     "given_back_by_others"},
    {K(POOL_EXHAUSTED), WEFT_POSSIBLE, WEFT__P_ALONE, WEFT__P_GONE, "only one waited for it",
     "only_one_waits"},

    /* ---- Contention ---- */
    {K(CONTENTION), WEFT_LIKELY, 0, 0, NULL, "one_lock_for_all"},
    {K(CONTENTION), WEFT_POSSIBLE, WEFT__C_FEW, WEFT__C_MARKED,
     "there are only few of these, and none is marked as something that should be resolved",
     "a_lock_that_few_want"},
    {K(CONTENTION), WEFT_POSSIBLE, WEFT__C_BATCH, WEFT__C_MARKED,
     "all of them were begun at once: they may be meant to go on one after the other",
     "a_batch_that_takes_turns"},
    {K(CONTENTION), WEFT_POSSIBLE, WEFT__C_LITTLE, WEFT__C_MARKED,
     "most of the time nobody waits for it, and who does has it soon",
     "a_lock_that_is_mostly_free"},

    /* ---- Workers ---- */
    {K(WORKERS_BUSY), WEFT_LIKELY, 0, 0, NULL, "workers_that_others_keep_busy"},
    {K(WORKERS_BUSY), WEFT_POSSIBLE, WEFT__WB_FEW, 0, "that happened hardly ever",
     "one_that_began_late"},
    {K(WORKERS_BUSY), WEFT_POSSIBLE, WEFT__WB_BURST, 0,
     "all that began late were created at once: they may be meant to go on one after the other",
     "more_work_than_workers"},
    {K(WORKERS_BUSY), WEFT_POSSIBLE, WEFT__WB_SAME | WEFT__WB_RARE, 0,
     "most others of the sort began in time", "more_work_than_workers"},
    {K(POOL_DEADLOCK), WEFT__DROP, WEFT__WD_SHORT, WEFT__STOPPED, NULL,
     "workers_that_wait_for_each_other"},
    {K(POOL_DEADLOCK), WEFT_LIKELY, WEFT__WD_TYPE, 0,
     "none of this sort ever ran; that these workers would run it is concluded from its type",
     "workers_that_wait_for_each_other"},
    {K(POOL_DEADLOCK), WEFT_LIKELY, WEFT__WD_CONCLUDED, 0,
     "it is concluded that what they wait for needs what never ran",
     "workers_that_wait_for_each_other"},
    {K(POOL_DEADLOCK), WEFT_LIKELY, WEFT__WD_FREE, 0,
     "one of them waits for something else, too, that may come",
     "workers_that_wait_for_each_other"},

    /* ---- Queues that grow ---- */
    {K(QUEUE_GROWTH), WEFT_LIKELY, 0, 0, NULL, "more_come_than_end"},
    {K(QUEUE_GROWTH), WEFT_POSSIBLE, WEFT__Q_DRAINED, WEFT__Q_MARKED | WEFT__Q_MANY,
     "one creates all of them, and in the end all were done: it may be a batch",
     "a_batch_that_is_done_in_the_end"},

    /* ---- What is ended twice ---- */
    {K(DOUBLE_RESOLVE), WEFT_POSSIBLE, WEFT__AGAIN_SELF, 0,
     "the same one ended it both times: it may only make sure", "the_same_one_ends_it_twice"},
    {K(DOUBLE_RESOLVE), WEFT_POSSIBLE, WEFT__AGAIN_LOOP, 0, "the trace does not say who ended it",
     "nobody_knows_who_ended_it"},
    {K(DOUBLE_RESOLVE), WEFT_POSSIBLE, WEFT__AGAIN_TIMED, 0,
     "a time limit may end it, too: then whoever comes first may count",
     "a_time_limit_ends_it_too"},
    {K(DOUBLE_RESOLVE), WEFT_POSSIBLE, WEFT__AGAIN_USUAL, 0,
     "most of this sort are ended twice, by others each time: whoever comes first may be meant to "
     "count",
     "most_are_ended_twice"},
    {K(DOUBLE_RESOLVE), WEFT_LIKELY, 0, 0, NULL, "two_workers_end_it"},

    /* ---- Incomplete traces ---- */
    {ANY, WEFT__ONE_LESS, WEFT__DISCARDED, 0,
     "some events in between are missing; one of them may be what is missing here",
     "what_is_not_known_of_all_is_said_so"},
    {ANY, WEFT__ONE_LESS, WEFT__OVERWRITTEN, 0,
     "the beginning of the recording was overwritten, and with it a part of this promise's story",
     "a_ring_that_has_wrapped_lowers_confidence"},
    {ANY, WEFT__ONE_LESS, WEFT__OLDER, 0,
     "the promise is older than the recording, so a part of its story is missing",
     "a_ring_that_has_wrapped_lowers_confidence"},
};
const unsigned weft__rules_count = sizeof weft__rules / sizeof *weft__rules;

uint64_t weft__signs(const struct weft__search *s, uint32_t promise)
{
    const struct weft_losses *l = &s->m->losses;
    const struct weft_promise *p = &s->m->promise[promise];
    uint64_t signs = s->m->quirks.mirage_kinds ? WEFT__MIRAGE : 0;
    if (l->ended == WEFT_ENDED_STOPPED)
        signs |= WEFT__STOPPED;
    else if (l->ended == WEFT_ENDED_KILLED)
        signs |= WEFT__KILLED;
    else if (l->ended == WEFT_ENDED_UNKNOWN)
        signs |= WEFT__UNKNOWN_END;
    if (l->discarded)
        signs |= WEFT__DISCARDED;
    else if (promise != WEFT_ROOT && (!p->created || p->promoted) && l->overwritten)
        signs |= WEFT__OVERWRITTEN;
    else if (promise != WEFT_ROOT && !p->created)
        signs |= WEFT__OLDER;
    return signs;
}

bool weft__judge(struct weft__verdict *v, enum weft_finding_kind kind, uint64_t signs)
{
    *v = (struct weft__verdict){.confidence = WEFT_CERTAIN};
    for (const struct weft__rule *r = weft__rules; r < weft__rules + weft__rules_count; r++) {
        int most = r->most;
        if (!(r->kinds & 1u << kind) || (signs & r->when) != r->when || (signs & r->unless))
            continue;
        if (most == WEFT__DROP)
            return false;
        if (most == WEFT__ONE_LESS)
            most = (int)v->confidence - 1;
        if (most < 0 || most >= (int)v->confidence)
            continue;
        v->confidence = (enum weft_confidence)most;
        v->doubt = r->doubt;
    }
    return true;
}

struct weft_finding *weft__report(struct weft__search *s, enum weft_finding_kind kind,
                                  uint64_t signs, uint32_t promise, int64_t start_ns,
                                  int64_t end_ns, int64_t cost_ns)
{
    struct weft__verdict v;
    return weft__judge(&v, kind, signs)
               ? weft__finding_add(s, kind, &v, promise, start_ns, end_ns, cost_ns)
               : NULL;
}

struct weft_finding *weft__report_open(struct weft__search *s, enum weft_finding_kind kind,
                                       uint64_t signs, uint32_t promise, int64_t start_ns,
                                       int64_t cost_ns)
{
    struct weft__verdict v;
    return weft__judge(&v, kind, signs)
               ? weft__finding_add_open(s, kind, &v, promise, start_ns, cost_ns)
               : NULL;
}
