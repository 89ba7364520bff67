/* SPDX-License-Identifier: ISC */
/* Events to bytes and back, for every kind in the table; and that the documents agree with it. */
#include <ctype.h>

#include "encode.h"
#include "format/error.h"
#include "format/tsdl.h"
#include "trace.h"

static const uint64_t edges[] = {0,          1,         0xff,       0x100,     INT32_MAX,
                                 UINT32_MAX, INT64_MAX, 1ull << 63, UINT64_MAX};

static const char *const texts[] = {"", "x", "caf\xc3\xa9 \xff\t\"\x01", "__should_resolve"};

/* Some event of that kind with the n-th edge value in the fields that it has, shifted from one field to
 * the next. */
static struct weft_event event_of(unsigned kind, size_t n)
{
    const struct weft_event_desc *d = &weft_event_kinds[kind];
    struct weft_event ev = {.kind = (uint8_t)kind, .time_ns = edges[n % COUNT(edges)]};
    unsigned promises = 0;
    for (unsigned i = 0; i < d->fields; i++) {
        uint64_t v = edges[(n + i + 1) % COUNT(edges)];
        switch ((enum weft_field)d->field[i].field) {
        case WEFT_FIELD_PROMISE:
            *(promises++ ? &ev.b : &ev.a) = v;
            break;
        case WEFT_FIELD_TYPE:
        case WEFT_FIELD_REASON:
            ev.type = (uint8_t)v;
            break;
        case WEFT_FIELD_SIGNED:
        case WEFT_FIELD_DURATION:
            ev.value = (int64_t)v;
            break;
        case WEFT_FIELD_TEXT:
            ev = with_text(ev, texts[n % COUNT(texts)]);
            break;
        }
    }
    return ev;
}

static void assert_event(const struct weft_event *found, const struct weft_event *wanted)
{
    assert_int_equal(found->kind, wanted->kind);
    assert_int_equal(found->time_ns, wanted->time_ns);
    assert_int_equal(found->a, wanted->a);
    assert_int_equal(found->b, wanted->b);
    assert_int_equal(found->type, wanted->type);
    assert_int_equal(found->value, wanted->value);
    assert_int_equal(found->text_size, wanted->text_size);
    if (wanted->text_size)
        assert_memory_equal(found->text, wanted->text, wanted->text_size);
}

/* Decodes from a copy of exactly that size, so that a sanitizer sees the end. */
static ptrdiff_t decode(struct weft_event *ev, const unsigned char *bytes, size_t size,
                        unsigned char **copy)
{
    *copy = malloc(size + !size);
    assert_non_null(*copy);
    memcpy(*copy, bytes, size);
    return weft_event_decode(ev, *copy, size);
}

TEST(every_kind_round_trips)
{
    for (unsigned kind = 0; kind < WEFT_EVENT_KINDS; kind++) {
        for (size_t n = 0; n < COUNT(edges) * COUNT(texts); n++) {
            struct weft_event wanted = event_of(kind, n), found;
            unsigned char bytes[128], *copy;
            size_t size = weft_event_size(&wanted);
            assert_true(size + 8 <= sizeof bytes);
            memset(bytes, 0xaa, sizeof bytes);
            assert_int_equal(weft_event_encode(bytes, &wanted), size);
            assert_int_equal(bytes[size], 0xaa);
            ptrdiff_t all = decode(&found, bytes, size, &copy);
            if (weft_event_kinds[kind].in_mirage) {
                assert_int_equal(all, size);
                assert_event(&found, &wanted);
            } else {
                assert_int_equal(all, WEFT_DECODE_UNKNOWN);
            }
            free(copy);
            if (weft_event_kinds[kind].in_mirage) { /* more bytes behind it change nothing */
                assert_int_equal(decode(&found, bytes, sizeof bytes, &copy), size);
                assert_event(&found, &wanted);
                free(copy);
            }
        }
    }
}

TEST(every_truncation_is_short)
{
    for (unsigned kind = 0; kind < WEFT_EVENT_KINDS; kind++) {
        struct weft_event ev = event_of(kind, 2), found;
        unsigned char bytes[128], *copy;
        size_t size = weft_event_encode(bytes, &ev);
        for (size_t cut = 0; cut < size; cut++) {
            bool known = weft_event_kinds[kind].in_mirage || cut < WEFT_EVENT_HEADER_SIZE;
            assert_int_equal(decode(&found, bytes, cut, &copy),
                             known ? WEFT_DECODE_SHORT : WEFT_DECODE_UNKNOWN);
            free(copy);
        }
    }
}

TEST(unknown_kinds_are_unknown)
{
    unsigned char bytes[64] = {0};
    struct weft_event ev;
    for (unsigned kind = 14; kind < 256; kind++) {
        bytes[8] = (unsigned char)kind;
        assert_int_equal(weft_event_decode(&ev, bytes, sizeof bytes), WEFT_DECODE_UNKNOWN);
        assert_int_equal(weft_event_decode(&ev, bytes, 9), WEFT_DECODE_UNKNOWN);
    }
}

/* One event of mirage-profile byte by byte, from its metadata file. */
TEST(bytes_are_those_of_mirage)
{
    static const unsigned char wanted[] = {
        8,    7,    6,    5,    4,    3,    2,    1,    /* timestamp */
        6,                                              /* increase */
        2,    0,    0,    0,    0,    0,    0,    0,    /* promise */
        0xfd, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, /* amount */
        'r',  'x',  0};
    struct weft_event ev = increases(0x0102030405060708, 2, -3, "rx");
    unsigned char bytes[64];
    assert_int_equal(weft_event_encode(bytes, &ev), sizeof wanted);
    assert_memory_equal(bytes, wanted, sizeof wanted);
}

TEST(names_are_unique_and_plain)
{
    for (unsigned i = 0; i < WEFT_EVENT_KINDS; i++) {
        const struct weft_event_desc *d = &weft_event_kinds[i];
        for (const char *c = d->name; *c; c++)
            assert_true(islower((unsigned char)*c) || *c == '_');
        for (unsigned k = 0; k < i; k++)
            assert_string_not_equal(d->name, weft_event_kinds[k].name);
        for (unsigned k = 0; k < d->fields; k++)
            assert_non_null(d->field[k].name);
        assert_int_equal(d->in_mirage, i <= 13);
    }
    for (unsigned t = 0; t < WEFT_TYPES; t++)
        assert_non_null(weft_type_name(t));
    assert_null(weft_type_name(WEFT_TYPES));
    assert_null(weft_type_name(255));
    assert_string_equal(weft_type_name(17), "switch");
    assert_string_equal(weft_reason_name(0), "wait_for_work");
    assert_null(weft_reason_name(3));
}

TEST(headers_round_trip)
{
    struct weft_mirage_header in = {
        .packet_bits = 0xfffffff8, .content_bits = 0x12345678, .sequence = 0xfedc};
    unsigned char bytes[WEFT_MIRAGE_HEADER_SIZE];
    weft_mirage_header_write(bytes, in);
    struct weft_mirage_header out = weft_mirage_header_read(bytes);
    assert_int_equal(out.packet_bits, in.packet_bits);
    assert_int_equal(out.content_bits, in.content_bits);
    assert_int_equal(out.sequence, in.sequence);
    assert_memory_equal(bytes, "\xc1\x1f\xfc\xc1\x05\x88\x3b\x8d", 8);
    assert_int_equal(bytes[24], 0xdc);
    assert_int_equal(bytes[29], 0x12);
}

TEST(errors_are_one_plain_sentence)
{
    struct weft_error err;
    assert_int_equal(weft_error_set(&err, WEFT_E_FORMAT, 7, "found \x1b[31m%c\n", 0x7f),
                     WEFT_E_FORMAT);
    assert_string_equal(err.text, "found  [31m  ");
    assert_int_equal(err.code, WEFT_E_FORMAT);
    assert_int_equal(err.offset, 7);
    assert_int_equal(weft_error_set(NULL, WEFT_E_NOMEM, 0, "x"), WEFT_E_NOMEM);
    weft_error_set(&err, WEFT_E_IO, 0, "%0*d", 1000, 1);
    assert_int_equal(strlen(err.text), sizeof err.text - 1);
    for (int code = -6; code <= 1; code++)
        assert_true(*weft_error_name(code) != '\0');
    assert_string_equal(weft_error_name(WEFT_E_NOMEM), "out of memory");
}

TEST(metadata_describes_every_event)
{
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    weft_tsdl_write_mirage(out);
    assert_int_equal(fclose(out), 0);
    assert_non_null(strstr(text, "05883b8d-521a-487b-b397-456ab150680c"));
    for (unsigned k = 0; k < WEFT_EVENT_KINDS; k++) {
        char name[64];
        snprintf(name, sizeof name, "name = \"%s\";\n    id = %u;", weft_event_kinds[k].name, k);
        assert_int_equal(strstr(text, name) != NULL, weft_event_kinds[k].in_mirage);
    }
    free(text);
}

/* ---- Forms of weft's own packets ---- */

#define BASE UINT64_C(0x7700000000)
#define BEGIN UINT64_C(0xabcd00000000000)

/* Values that a word of that many times four bytes can hold. */
static uint64_t value_of(unsigned words, size_t n, bool is_unsigned)
{
    static const int64_t narrow[] = {0, 1, -1, INT32_MAX, INT32_MIN + 1, 77};
    static const uint64_t wide[] = {0, 1, UINT64_MAX, INT64_MAX, 1ull << 63, BASE};
    if (words == 2)
        return wide[n % COUNT(wide)];
    int64_t v = narrow[n % COUNT(narrow)];
    return words ? (is_unsigned ? (uint32_t)v : (uint64_t)v) : 0;
}

static uint64_t promise_of(unsigned words, size_t n)
{
    if (words == 1 && n % 7 == 6)
        return LOOP;
    return words == 1 ? BASE + value_of(1, n, false) : value_of(words, n, false);
}

/* Some event that the form can say, with the n-th values. */
static struct weft_event form_event(const struct weft_form_desc *f, size_t n, uint64_t running)
{
    struct weft_event ev = {.kind = f->kind, .time_ns = BEGIN + edges[n % 6], .running = running};
    ev.a = f->by_running ? running : promise_of(f->words[WEFT_WORD_A], n);
    ev.b = promise_of(f->words[WEFT_WORD_B], n + 1);
    ev.value = (int64_t)value_of(f->words[WEFT_WORD_VALUE], n + 2, f->is_unsigned);
    ev.total = (int64_t)value_of(f->words[WEFT_WORD_TOTAL], n + 3, false);
    ev.has_total = f->words[WEFT_WORD_TOTAL];
    ev.type = f->words[WEFT_WORD_REASON] ? (uint8_t)(n % 3) : 0;
    return ev;
}

TEST(every_form_round_trips)
{
    unsigned forms = 0;
    for (unsigned code = 0; code < 256; code++) {
        const struct weft_form_desc *f = &weft_forms[code];
        if (!f->bytes)
            continue;
        forms++;
        assert_int_equal(f->bytes, 8 + code / 32 * 4);
        for (size_t n = 0; n < 42; n++) {
            struct weft_event wanted = form_event(f, n, 4000 + n), found;
            struct weft_form_context c = {.base = BASE, .site = 100, .text = 200};
            unsigned char bytes[64], ids[WEFT_IDS_BYTES];
            for (size_t i = 0; i < sizeof ids; i++)
                ids[i] = (unsigned char)(n * sizeof ids + i);
            c.ids = ids;
            memset(bytes, 0xaa, sizeof bytes);
            assert_int_equal(weft_form_encode(bytes, code, &wanted, &c), f->bytes);
            assert_int_equal(bytes[f->bytes], 0xaa);
            assert_int_equal(bytes[7], code);
            for (size_t size = 0; size <= f->bytes; size++) {
                unsigned char *copy = malloc(size + !size);
                c = (struct weft_form_context){
                    .base = BASE, .begin_ticks = BEGIN, .running = 4000 + n};
                memcpy(copy, bytes, size);
                ptrdiff_t got = weft_form_decode(&found, &c, copy, size);
                assert_int_equal(got, size < f->bytes ? WEFT_DECODE_SHORT : f->bytes);
                if (got > 0 && f->words[WEFT_WORD_IDS])
                    assert_memory_equal(c.ids, ids, sizeof ids);
                else if (got > 0)
                    assert_null(c.ids);
                free(copy);
            }
            assert_event(&found, &wanted);
            assert_int_equal(found.total, wanted.total);
            assert_int_equal(found.has_total, wanted.has_total);
            assert_int_equal(found.running, wanted.running);
            assert_int_equal(c.site, f->words[WEFT_WORD_SITE] ? 100 : 0);
            assert_int_equal(c.text, f->words[WEFT_WORD_TEXT] ? 200 : 0);
            assert_int_equal(c.unknown, 0);
        }
    }
    assert_int_equal(forms, 61);
}

/* Each kind but those that only mirage's traces have can be written, with promises of 64 bits. */
TEST(every_kind_has_a_wide_form)
{
    for (unsigned kind = 0; kind < WEFT_EVENT_KINDS; kind++) {
        bool found = kind == WEFT_EVENT_SIGNAL_ONLY;
        for (unsigned code = 0; code < 256; code++) {
            const struct weft_form_desc *f = &weft_forms[code];
            found |= f->bytes && f->kind == kind && f->words[WEFT_WORD_A] != 1 &&
                     f->words[WEFT_WORD_B] != 1 && f->words[WEFT_WORD_VALUE] != 1;
        }
        assert_true(found);
    }
}

/* One event byte by byte, from docs/format.md. */
TEST(bytes_are_those_of_the_document)
{
    static const unsigned char bytes[] = {0x04, 0,    0,    0,
                                          0,    0,    0x01, 2 * 32 + 10, /* time, code of WAIT_BY */
                                          0xfe, 0xff, 0xff, 0xff,        /* a: base - 2 */
                                          0,    0,    0,    0x80};       /* b: the loop */
    struct weft_form_context c = {.base = 1000, .begin_ticks = 0x3301000000000003};
    struct weft_event ev;
    assert_int_equal(weft_form_decode(&ev, &c, bytes, sizeof bytes), sizeof bytes);
    assert_event(
        &ev, &(struct weft_event){
                 .kind = WEFT_EVENT_TRY_READ, .time_ns = 0x3301000000000004, .a = 998, .b = LOOP});
    /* Its low bits are before those of the beginning, so it is in the next round of 2^56 ticks. */
    c.begin_ticks = 0x3301000000000005;
    assert_int_equal(format_form_ticks(bytes, c.begin_ticks), 0x3401000000000004);
}

TEST(unknown_forms_are_skipped)
{
    unsigned char bytes[64] = {0};
    struct weft_event ev;
    for (unsigned code = 0; code < 256; code++) {
        if (weft_forms[code].bytes || code == WEFT_FORM_TEXT_FOLLOWS ||
            code == WEFT_FORM_STREAM_BEGINS)
            continue;
        struct weft_form_context c = {.running = 5};
        ptrdiff_t size = 8 + 4 * (ptrdiff_t)(code / 32);
        bytes[7] = (unsigned char)code;
        assert_int_equal(weft_form_decode(&ev, &c, bytes, sizeof bytes), size);
        assert_int_equal(ev.kind, WEFT_FORM_NO_EVENT);
        assert_int_equal(c.unknown, 1);
        assert_int_equal(c.running, 5);
        assert_int_equal(weft_form_decode(&ev, &c, bytes, (size_t)size - 1), WEFT_DECODE_SHORT);
    }
}

/* Decodes all of bytes; returns the last event. */
static struct weft_event decode_all(struct weft_form_context *c, const unsigned char *bytes,
                                    size_t size)
{
    struct weft_event ev = {0};
    while (size) {
        ptrdiff_t n = weft_form_decode(&ev, c, bytes, size);
        assert_true(n > 0 && n % 4 == 0 && (size_t)n <= size);
        bytes += n;
        size -= (size_t)n;
    }
    return ev;
}

TEST(texts_stand_before_their_events)
{
    for (uint32_t size = 0; size < 9; size++) {
        unsigned char bytes[128];
        struct weft_event ev = {.kind = WEFT_EVENT_CREATES, .b = 1};
        struct weft_form_context c = {.site = WEFT_STRING_INLINE, .text = WEFT_STRING_INLINE};
        size_t used = weft_form_encode_text(bytes, 0, "a type ..", size);
        assert_int_equal(used, 16 + (size + 3) / 4 * 4);
        used += weft_form_encode_text(bytes + used, 0, "label", 5);
        used += weft_form_encode(bytes + used, WEFT_FORM_CREATE_LABELLED, &ev, &c);
        c = (struct weft_form_context){.running = LOOP};
        ev = decode_all(&c, bytes, used);
        assert_int_equal(c.site, WEFT_STRING_INLINE);
        assert_int_equal(c.site_text.size, size);
        assert_memory_equal(c.site_text.text, "a type ..", size);
        assert_int_equal(ev.text_size, 5);
        assert_memory_equal(ev.text, "label", 5);
        assert_int_equal(ev.a, LOOP);
        /* The next event has none. */
        used = weft_form_encode(bytes, WEFT_FORM_LABEL, &ev,
                                &(struct weft_form_context){.text = WEFT_STRING_INLINE});
        ev = decode_all(&c, bytes, used);
        assert_null(ev.text);
    }
}

/* What the text's size says is not believed, and a NUL ends it. */
TEST(hostile_texts)
{
    unsigned char bytes[64];
    struct weft_event ev = {.kind = WEFT_EVENT_LABEL, .a = 1};
    struct weft_form_context c = {.text = WEFT_STRING_INLINE};
    size_t used = weft_form_encode_text(bytes, 0, "ab\0cdefg", 8);
    used += weft_form_encode(bytes + used, WEFT_FORM_LABEL, &ev, &c);
    weft_write_u32(bytes + 12, UINT32_MAX);
    ev = decode_all(&c, bytes, used);
    assert_int_equal(ev.text_size, 2);
    for (uint32_t words = 0; words < 12; words++) {
        weft_write_u32(bytes + 8, words);
        ptrdiff_t n = weft_form_decode(&ev, &c, bytes, 36);
        assert_int_equal(n, words <= 6 ? 12 + 4 * (ptrdiff_t)words : WEFT_DECODE_SHORT);
    }
    weft_write_u32(bytes + 8, UINT32_MAX);
    assert_int_equal(weft_form_decode(&ev, &c, bytes, 36), WEFT_DECODE_SHORT);
    assert_int_equal(weft_form_decode(&ev, &c, bytes, 11), WEFT_DECODE_SHORT);
}

TEST(what_runs_is_followed)
{
    static const struct {
        unsigned form;
        uint64_t a, b, then;
    } steps[] = {
        {WEFT_FORM_SWITCH, 5, 0, 5},        {WEFT_FORM_WAIT, 0, 9, 5},
        {WEFT_FORM_BECOME, 6, 7, 5},        {WEFT_FORM_BECOME, 5, 7, 7},
        {WEFT_FORM_READ, 8, 5, 8},          {WEFT_FORM_READ_LATER, 9, 5, 8},
        {WEFT_FORM_SIGNAL_WIDE, 10, 5, 10}, {WEFT_FORM_SUSPEND, 0, 0, LOOP},
        {WEFT_FORM_SWITCH_WIDE, 11, 0, 11}, {WEFT_FORM_RESUME, 0, 0, LOOP},
    };
    struct weft_form_context c = {.running = 4};
    uint64_t before = 4;
    for (size_t i = 0; i < COUNT(steps); i++) {
        unsigned char bytes[WEFT_FORM_MAX];
        struct weft_event ev = {.a = steps[i].a, .b = steps[i].b};
        size_t size = weft_form_encode(bytes, steps[i].form, &ev, &c);
        ev = decode_all(&c, bytes, size);
        assert_int_equal(ev.running, before);
        assert_int_equal(c.running, steps[i].then);
        before = c.running;
    }
    unsigned char begins[32] = {[7] = WEFT_FORM_STREAM_BEGINS, [8] = 3, [12] = 77, [16] = 'x'};
    c.running = 4;
    struct weft_event ev = decode_all(&c, begins, sizeof begins);
    assert_int_equal(ev.kind, WEFT_FORM_NEW_STREAM);
    assert_int_equal(c.running, LOOP);
    assert_int_equal(c.stream, 3);
    assert_int_equal(c.thread, 77);
    assert_memory_equal(c.thread_name, "x\0", 2);
}

/* ---- The tables in docs/format.md ---- */

static const char *type_of(uint8_t field)
{
    static const char *const names[] = {
        [WEFT_FIELD_PROMISE] = "promise", [WEFT_FIELD_TYPE] = "type",
        [WEFT_FIELD_REASON] = "reason",   [WEFT_FIELD_SIGNED] = "i64",
        [WEFT_FIELD_DURATION] = "u64",    [WEFT_FIELD_TEXT] = "text"};
    return names[field];
}

static void write_table(FILE *out)
{
    fputs("| id | name | fields | in mirage | meaning |\n| --- | --- | --- | --- | --- |\n", out);
    for (unsigned k = 0; k < WEFT_EVENT_KINDS; k++) {
        const struct weft_event_desc *d = &weft_event_kinds[k];
        fprintf(out, "| %u | %s |", k, d->name);
        for (unsigned i = 0; i < d->fields; i++)
            fprintf(out, "%s %s %s", i ? "," : "", type_of(d->field[i].field), d->field[i].name);
        fprintf(out, " | %s | %s |\n", d->in_mirage ? "yes" : "no", d->meaning);
    }
}

static void put_words(FILE *out, unsigned code)
{
    static const char *const names[] = {
        [WEFT_WORD_A] = "a",           [WEFT_WORD_B] = "b",
        [WEFT_WORD_SITE] = "site",     [WEFT_WORD_TEXT] = "text",
        [WEFT_WORD_VALUE] = "value",   [WEFT_WORD_TOTAL] = "total",
        [WEFT_WORD_REASON] = "reason", [WEFT_WORD_IDS] = "trace id:128, span id"};
    const struct weft_form_desc *f = &weft_forms[code];
    const char *comma = "";
    for (unsigned w = 0; w < WEFT_WORDS; w++) {
        if (f->words[w])
            fprintf(out, "%s %s%s", comma,
                    w == WEFT_WORD_VALUE && f->is_unsigned ? "duration" : names[w],
                    f->words[w] == 2 || w == WEFT_WORD_IDS ? ":64" : "");
        comma = f->words[w] ? "," : comma;
    }
}

static void write_forms(FILE *out)
{
    static const unsigned codes[] = {
#define FORM(words, number, NAME, KIND, FIELDS) WEFT_FORM_##NAME,
#include "format/events.def"
    };
    fputs("| code | event | words after the first two |\n| --- | --- | --- |\n", out);
    for (size_t i = 0; i < COUNT(codes); i++) {
        fprintf(out, "| %u | %s |", codes[i], weft_event_kinds[weft_forms[codes[i]].kind].name);
        put_words(out, codes[i]);
        fputs(" |\n", out);
    }
    fprintf(out, "| %u | (stream begins) | stream, thread, name:128 |\n", WEFT_FORM_STREAM_BEGINS);
    fprintf(out, "| %u | (text follows) | count of the words after this one, size, text |\n",
            WEFT_FORM_TEXT_FOLLOWS);
}

static char *read_whole(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return NULL;
    char *text = NULL;
    size_t size = 0;
    if (getdelim(&text, &size, '\0', file) < 0)
        *(text = realloc(text, 1)) = '\0';
    fclose(file);
    return text;
}

/* Whether the document has, between two comments of that name, what write makes. */
static void expect_table(const char *name, void (*write)(FILE *out))
{
    const char *root = getenv("SOURCE_ROOT");
    char path[4096], begin[32], end[32];
    snprintf(path, sizeof path, "%s/docs/format.md", root ? root : ".");
    snprintf(begin, sizeof begin, "<!-- %s -->\n", name);
    snprintf(end, sizeof end, "<!-- /%s -->", name);
    char *document = read_whole(path);
    if (!document) {
        print_message("no %s\n", path);
        skip();
    }
    char *wanted, *at = strstr(document, begin), *stop = at ? strstr(at, end) : NULL;
    size_t size;
    FILE *out = open_memstream(&wanted, &size);
    write(out);
    assert_int_equal(fclose(out), 0);
    bool same = false;
    if (stop) {
        at += strlen(begin);
        at += strspn(at, "\n");
        while (stop > at && stop[-1] == '\n' && stop[-2] == '\n')
            stop--;
        same = (size_t)(stop - at) == size && memcmp(at, wanted, size) == 0;
    }
    if (!same)
        fprintf(stderr, "%s should have, between %.15s and %s:\n\n%s\n", path, begin, end, wanted);
    free(wanted);
    free(document);
    assert_true(same);
}

TEST(document_has_the_table)
{
    expect_table("events", write_table);
}

TEST(document_has_the_forms)
{
    expect_table("forms", write_forms);
}

RUN_TESTS(NULL, NULL)
