/* SPDX-License-Identifier: ISC */
/* How slots of sentences are filled, and which parts are left out. */
#include "analyse/sentence.h"
#include "trace.h"

static char said[256];

#define SAID(template, ...)                                                                        \
    (say(template, (const struct analyse_slot[]){{.name = ""}, __VA_ARGS__},                       \
         sizeof((const struct analyse_slot[]){{.name = ""}, __VA_ARGS__}) /                        \
             sizeof(struct analyse_slot)))

static const char *say(const char *template, const struct analyse_slot *slots, size_t count)
{
    struct analyse_text t = {0};
    analyse_fill(&t, NULL, NULL, template, slots, count);
    assert_false(t.failed);
    snprintf(said, sizeof said, "%s", t.text ? t.text : "");
    analyse_text_fini(&t);
    return said;
}

TEST(slots_are_filled)
{
    assert_string_equal(SAID("{a} of {b}: {c}", AMOUNT(a, 1204), NUMBER(b, 1204), TEXT(c, "x")),
                        "1,204 of 1204: x");
    assert_string_equal(SAID("for {a} at {b}", LENGTH(a, 8210000), TIME(b, 39912000)),
                        "for 8.21 ms at 39.912 ms");
    assert_string_equal(SAID("{n} {n|other|others}", AMOUNT(n, 1)), "1 other");
    assert_string_equal(SAID("{n} {n|other|others}", AMOUNT(n, 0)), "0 others");
    assert_string_equal(SAID("100 % of %s", TEXT(unused, "")), "100 % of %s");
}

TEST(a_part_is_left_out_if_it_has_nothing_to_say)
{
    assert_string_equal(SAID("a[, {n} more].", AMOUNT(n, 0)), "a.");
    assert_string_equal(SAID("a[, {n} more].", AMOUNT(n, 2)), "a, 2 more.");
    assert_string_equal(SAID("a[ for {n}].", LENGTH(n, 0)), "a.");
    assert_string_equal(SAID("a[ at {n}].", TIME(n, INT64_MIN)), "a.");
    assert_string_equal(SAID("a[ at {n}].", TIME(n, 0)), "a at 0 ns.");
    assert_string_equal(SAID("a[ by {p}].", PROMISE(p, WEFT_NONE)), "a.");
    assert_string_equal(SAID("a[ ({t})].", TEXT(t, NULL)), "a.");
    assert_string_equal(SAID("[{f?}yes][{g?}no]", FLAG(f, true), FLAG(g, false)), "yes");
    assert_string_equal(SAID("a[ {n} {m}] b[ {m}]", AMOUNT(n, 0), AMOUNT(m, 3)), "a b 3");
}

TEST(a_phrase_has_the_slots_of_its_sentence)
{
    assert_string_equal(
        SAID("({share})", PHRASE(share, SAY_SHARE_SOME), AMOUNT(some, 2), AMOUNT(all, 5)),
        "(2 of 5)");
    assert_string_equal(SAID("a[ ({share})]", PHRASE(share, SAY_NOTHING)), "a");
}

TEST(sentences_are_set_apart)
{
    struct analyse_text t = {0};
    analyse_put(&t, NULL, NULL, SAY_NO_COUNTERPARTS);
    analyse_put(&t, NULL, NULL, SAY_THE_END);
    analyse_fill(&t, NULL, NULL, ", and {n}.", (const struct analyse_slot[]){AMOUNT(n, 3)}, 1);
    assert_string_equal(
        t.text, "No promise has a counterpart: are these two runs of one program? The end, and 3.");
    analyse_text_fini(&t);
}

RUN_TESTS(NULL, NULL)
