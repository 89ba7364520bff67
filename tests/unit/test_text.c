/* SPDX-License-Identifier: ISC */
/* view/text.h: whatever bytes come in, clean UTF-8 of a known width comes out. */
#include <stdlib.h>
#include <string.h>

#include "test.h"
#include "view/text.h"

#define FFFD "\xef\xbf\xbd"
#define PX 64
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* One, two, three and four bytes long, and a combining mark. */
static const char mixed[] = "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x8e\x89"
                            "e\xcc\x81z";

/* A copy on the heap that is exactly so large, so that a sanitizer sees a read past its end. */
static size_t clean(char *out, size_t room, const char *text, size_t size)
{
    char *in = malloc(size + !size), *exact = malloc(room + !room);

    assert_non_null(in);
    assert_non_null(exact);
    memcpy(in, text, size);
    size_t n = weft_text_clean(exact, room, in, size);
    assert_true(n <= room);
    memcpy(out, exact, n);
    free(in);
    free(exact);
    return n;
}

static void check(const char *text, size_t size, const char *expected)
{
    char out[256];
    size_t n = clean(out, sizeof(out) - 1, text, size);

    out[n] = '\0';
    assert_string_equal(out, expected);
}

#define CHECK(text, expected) check(text, sizeof(text) - 1, expected)

/* How much is kept of a text: whole characters, and of what has none as much as fits. */
TEST(whole_characters_are_kept)
{
    static const size_t kept[] = {0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10};
    for (size_t most = 0; most < COUNT(kept); most++)
        assert_int_equal(weft_text_keep(mixed, sizeof mixed - 1, most), kept[most]);
    assert_int_equal(weft_text_keep(mixed, 3, 100), 3);
    assert_int_equal(weft_text_keep("\x80\x80\x80\x80\x80\x80\x80\x80", 8, 6), 6);
}

TEST(good_text_stays)
{
    CHECK("", "");
    CHECK("ring.poll <&> \"x\"", "ring.poll <&> \"x\"");
    CHECK("\xc2\xa0\xdf\xbf\xe0\xa0\x80\xef\xbf\xbc", "\xc2\xa0\xdf\xbf\xe0\xa0\x80\xef\xbf\xbc");
    CHECK("\xed\x9f\xbf\xee\x80\x80", "\xed\x9f\xbf\xee\x80\x80"); /* beside the surrogates */
    CHECK("\xf0\x90\x80\x80\xf4\x8f\xbf\xbd", "\xf0\x90\x80\x80\xf4\x8f\xbf\xbd");
    CHECK(FFFD, FFFD);
    check(mixed, sizeof(mixed) - 1, mixed);
}

/* As many U+FFFD as Unicode recommends. */
TEST(what_is_not_utf8_is_replaced)
{
    CHECK("\x80", FFFD);
    CHECK("\xff\xfe", FFFD FFFD);
    CHECK("\xc0\x80", FFFD FFFD);          /* overlong NUL */
    CHECK("\xc1\xbf", FFFD FFFD);          /* overlong */
    CHECK("\xe0\x80\xaf", FFFD FFFD FFFD); /* overlong */
    CHECK("\xe0\x9f\xbf", FFFD FFFD FFFD); /* overlong */
    CHECK("\xf0\x8f\xbf\xbf", FFFD FFFD FFFD FFFD);
    CHECK("\xed\xa0\x80\xed\xbf\xbf", FFFD FFFD FFFD FFFD FFFD FFFD); /* surrogates */
    CHECK("\xf4\x90\x80\x80", FFFD FFFD FFFD FFFD);                   /* past U+10FFFF */
    CHECK("\xf5\x80\x80\x80", FFFD FFFD FFFD FFFD);
    CHECK("\xf8\x88\x80\x80\x80", FFFD FFFD FFFD FFFD FFFD);          /* five bytes */
    CHECK("\xfc\x84\x80\x80\x80\x80", FFFD FFFD FFFD FFFD FFFD FFFD); /* six */
    CHECK("\xe2\x82z", FFFD "z");                                     /* broken off */
    CHECK("\xf0\x9f\x8ez", FFFD "z");
    CHECK("\xc3\xc3\xa9", FFFD "\xc3\xa9");
    CHECK("\xe2\x82\xf0\x9f\x8e\x89", FFFD "\xf0\x9f\x8e\x89");
    CHECK("\xef\xbf\xbe\xef\xbf\xbf", FFFD FFFD);         /* U+FFFE, U+FFFF */
    CHECK("\xef\xb7\x90\xef\xb7\xaf", FFFD FFFD);         /* U+FDD0, U+FDEF */
    CHECK("\xf0\x9f\xbf\xbe\xf4\x8f\xbf\xbf", FFFD FFFD); /* U+1FFFE, U+10FFFF */
}

TEST(controls_become_spaces)
{
    char text[32], spaces[33];

    for (int i = 0; i < 32; i++)
        text[i] = (char)i;
    memset(spaces, ' ', 32);
    spaces[32] = '\0';
    check(text, 32, spaces);
    CHECK("a\x7f"
          "b\xc2\x80"
          "c\xc2\x85"
          "d\xc2\x9f"
          "e",
          "a b c d e");
    CHECK("a\xe2\x80\xa8"
          "b\xe2\x80\xa9"
          "c",
          "a b c"); /* U+2028, U+2029 */
}

static void encode(char *out, unsigned code)
{
    out[0] = (char)(0xe0 | code >> 12);
    out[1] = (char)(0x80 | (code >> 6 & 0x3f));
    out[2] = (char)(0x80 | (code & 0x3f));
}

TEST(direction_and_invisible)
{
    static const struct {
        unsigned first, last;
        const char *becomes;
    } rows[] = {
        {0x202a, 0x202e, "[ ]"}, {0x2066, 0x2069, "[ ]"}, {0x200e, 0x200f, "[ ]"},
        {0x200b, 0x200d, "[]"},  {0x2060, 0x2064, "[]"},  {0xfeff, 0xfeff, "[]"},
        {0xfff9, 0xfffb, "[]"},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        for (unsigned code = rows[i].first; code <= rows[i].last; code++) {
            char text[] = "[...]";
            encode(text + 1, code);
            check(text, 5, rows[i].becomes);
        }
    }
    CHECK("a\xd8\x9c"
          "b",
          "a b"); /* U+061C */
    CHECK("a\xc2\xad"
          "b",
          "ab"); /* the soft hyphen */
    CHECK("a\xf3\xa0\x81\x81"
          "b",
          "ab"); /* a tag */
}

/* Neither input that ends anywhere nor room that ends anywhere leaves half a character. */
TEST(every_cut)
{
    static const size_t ends[] = {0, 1, 3, 6, 10, 11, 13, 14};
    char out[64];

    for (size_t cut = 0; cut < sizeof(mixed); cut++) {
        size_t whole = 0;

        for (size_t i = 0; i < COUNT(ends); i++)
            whole = ends[i] <= cut ? ends[i] : whole;
        assert_int_equal(clean(out, cut, mixed, sizeof(mixed) - 1), whole);
        assert_memory_equal(out, mixed, whole);

        size_t n = clean(out, sizeof(out), mixed, cut);
        assert_int_equal(n, whole + (cut > whole ? 3 : 0));
        assert_memory_equal(out, mixed, whole);
        if (cut > whole)
            assert_memory_equal(out + whole, FFFD, 3);
    }
    /* A character that has no room ends the text: a later, shorter one does not take its place. */
    assert_int_equal(clean(out, 3, "ab\xc3\xa9z", 5), 2);
    assert_int_equal(clean(out, 4, "ab\xffz", 4), 2);
}

/* Cleaning twice changes nothing more; widths of a text's parts fit together. */
TEST(random_bytes)
{
    /* Bytes with which something happens. */
    static const unsigned char spice[] = {0xe2, 0x80, 0xae, 0xef, 0xbf, 0xbe, 0xf0,
                                          0x9f, 0xed, 0xa0, 0xf4, 0x8f, 0xcc, 0x81,
                                          0xc3, 0xa9, 'a',  ' ',  0};
    uint32_t random = 2463534242;

    for (int round = 0; round < 20000; round++) {
        char text[24], once[80], twice[80];
        size_t size = next_random(&random) % sizeof(text);

        for (size_t i = 0; i < size; i++)
            text[i] = (char)(round % 2 ? next_random(&random)
                                       : spice[next_random(&random) % sizeof(spice)]);
        size_t n = clean(once, sizeof(once), text, size);
        assert_int_equal(clean(twice, sizeof(twice), once, n), n);
        assert_memory_equal(once, twice, n);

        int32_t all = weft_text_width(once, n, 11 * PX, false), fits;
        int32_t room = (int32_t)(next_random(&random) % (40 * PX));
        size_t head = weft_text_fit(once, n, 11 * PX, false, room, &fits);
        assert_true(head <= n && fits <= room);
        assert_int_equal(fits, weft_text_width(once, head, 11 * PX, false));
        assert_int_equal(clean(twice, sizeof(twice), once, head), head);
        assert_memory_equal(once, twice, head); /* no U+FFFD: not cut in half */
        assert_true(head == n ? fits == all : all > room);
        assert_true(weft_text_width(text, size, 11 * PX, true) >= 0); /* not clean: no harm */
    }
}

static int32_t width(const char *text)
{
    return weft_text_width(text, strlen(text), 2048, false);
}

TEST(widths)
{
    /* DejaVu Sans has 2048 units to an em. */
    assert_int_equal(width(""), 0);
    assert_int_equal(width(" "), 651);
    assert_int_equal(width("A"), 1401);
    assert_int_equal(width("AVA"), 2 * 1401 + 1401);
    assert_int_equal(weft_text_width("A", 1, 2048, true), 1585);
    assert_int_equal(width("\xc5\xbf"), 721);                  /* U+017F, the end of a range */
    assert_int_equal(width("\xe2\x80\xa6"), 2048);             /* … */
    assert_int_equal(width("\xe2\x86\x92"), 1716);             /* → */
    assert_int_equal(width("e\xcc\x81"), width("e"));          /* a combining mark */
    assert_int_equal(width("\xe6\x97\xa5\xe6\x9c\xac"), 4096); /* CJK */
    assert_int_equal(width("\xf0\x9f\x8e\x89"), 2048);         /* emoji */
    assert_int_equal(width("\xe1\x82\xa0"), 1229);             /* Georgian: not in the table */
    /* Rounded up; nothing at sizes that make no sense; no overflow. */
    assert_int_equal(weft_text_width("A", 1, 11 * PX, false), (1401 * 11 * PX + 2047) / 2048);
    assert_int_equal(weft_text_width("A", 1, 0, false), 0);
    assert_int_equal(weft_text_width("A", 1, -5, false), 0);
    assert_int_equal(weft_text_width("AAAA", 4, INT32_MAX, false), INT32_MAX);
}

TEST(fitting)
{
    int32_t fits;

    assert_int_equal(weft_text_fit("AAA", 3, 2048, false, 2 * 1401, &fits), 2);
    assert_int_equal(fits, 2 * 1401);
    assert_int_equal(weft_text_fit("AAA", 3, 2048, false, 2 * 1401 - 1, &fits), 1);
    assert_int_equal(weft_text_fit("AAA", 3, 2048, false, 0, &fits), 0);
    assert_int_equal(fits, 0);
    assert_int_equal(weft_text_fit("AAA", 3, 2048, false, -1, &fits), 0);
    assert_int_equal(fits, 0);
    /* The mark stays with its letter. */
    assert_int_equal(weft_text_fit("e\xcc\x81z", 4, 2048, false, 1300, &fits), 3);
    assert_int_equal(weft_text_fit("e\xcc\x81z", 4, 2048, false, 1200, &fits), 0);
}

/* What may leave as it is, to be escaped otherwise. */
TEST(harmless)
{
    static const char *const good[] = {
        "a", "~", "\xc2\xa0", "\xe2\x80\x8b", FFFD, "\xf0\x9f\x8e\x89"};
    static const char *const bad[] = {
        "\x1b",         "\n",           "\x7f",         "\xc2\x80",     "\xc2\x9f",
        "\xd8\x9c",     "\xe2\x80\x8e", "\xe2\x80\xa8", "\xe2\x80\xae", "\xe2\x81\xa6",
        "\xe2\x81\xa9", "\x9b",         "\xc3(",        "\xe2\x80",     "\xc0\xaf",
        "\xed\xa0\x80", "\xff",         "\xef\xbf\xbe"};
    for (size_t i = 0; i < COUNT(good); i++)
        assert_int_equal(weft_utf8_harmless(good[i], strlen(good[i])), strlen(good[i]));
    for (size_t i = 0; i < COUNT(bad); i++)
        assert_int_equal(weft_utf8_harmless(bad[i], strlen(bad[i])), 0);
    assert_int_equal(weft_utf8_harmless("", 1), 0);
}

/* What fits is the longest beginning that is not wider. */
TEST(what_fits_is_the_longest)
{
    static const char text[] = "Wi\xcc\x81 \xe4\xb8\xad"
                               "x\xff~\xcc\x81.";
    const int32_t fonts[] = {0, 1, 704, 2048, 40000};

    for (size_t f = 0; f < sizeof fonts / sizeof *fonts; f++)
        for (int32_t width = -1; width < 9000; width += width < 300 ? 1 : 13) {
            size_t longest = 0, at = 0;
            int32_t fits;
            while (at < sizeof text - 1) {
                uint32_t code;
                at += weft_utf8_decode(text + at, sizeof text - 1 - at, &code);
                if (weft_text_width(text, at, fonts[f], false) > width)
                    break;
                longest = at;
            }
            size_t is = weft_text_fit(text, sizeof text - 1, fonts[f], false, width, &fits);
            if (is != longest)
                fail_msg("font %d, width %d: %zu bytes, not %zu", fonts[f], width, is, longest);
            assert_int_equal(fits, weft_text_width(text, is, fonts[f], false));
        }
}

RUN_TESTS(NULL, NULL)
