/* SPDX-License-Identifier: ISC */
/* Events to bytes and back, for every kind in the table; and that the documents agree with it. */
#include <ctype.h>

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

static void every_kind_round_trips(void **state)
{
    (void)state;
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

static void every_truncation_is_short(void **state)
{
    (void)state;
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

static void unknown_kinds_are_unknown(void **state)
{
    (void)state;
    unsigned char bytes[64] = {0};
    struct weft_event ev;
    for (unsigned kind = 14; kind < 256; kind++) {
        bytes[8] = (unsigned char)kind;
        assert_int_equal(weft_event_decode(&ev, bytes, sizeof bytes), WEFT_DECODE_UNKNOWN);
        assert_int_equal(weft_event_decode(&ev, bytes, 9), WEFT_DECODE_UNKNOWN);
    }
}

/* One event of mirage-profile byte by byte, from its metadata file. */
static void bytes_are_those_of_mirage(void **state)
{
    (void)state;
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

static void names_are_unique_and_plain(void **state)
{
    (void)state;
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

static void headers_round_trip(void **state)
{
    (void)state;
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

static void errors_are_one_plain_sentence(void **state)
{
    (void)state;
    struct weft_error err;
    assert_int_equal(weft_error_set(&err, WEFT_E_FORMAT, 7, "found \x1b[31m%c\n", 0x7f),
                     WEFT_E_FORMAT);
    assert_string_equal(err.text, "found ?[31m??");
    assert_int_equal(err.code, WEFT_E_FORMAT);
    assert_int_equal(err.offset, 7);
    assert_int_equal(weft_error_set(NULL, WEFT_E_NOMEM, 0, "x"), WEFT_E_NOMEM);
    weft_error_set(&err, WEFT_E_IO, 0, "%0*d", 1000, 1);
    assert_int_equal(strlen(err.text), sizeof err.text - 1);
    for (int code = -6; code <= 1; code++)
        assert_true(*weft_error_name(code) != '\0');
    assert_string_equal(weft_error_name(WEFT_E_NOMEM), "out of memory");
}

static void metadata_describes_every_event(void **state)
{
    (void)state;
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

/* ---- The table in docs/format.md ---- */

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

static void document_has_the_table(void **state)
{
    (void)state;
    static const char begin[] = "<!-- events -->\n", end[] = "<!-- /events -->";
    const char *root = getenv("SOURCE_ROOT");
    char path[4096];
    snprintf(path, sizeof path, "%s/docs/format.md", root ? root : ".");
    char *document = read_whole(path);
    if (!document) {
        print_message("no %s\n", path);
        skip();
    }
    char *wanted, *at = strstr(document, begin), *stop = at ? strstr(at, end) : NULL;
    size_t size;
    FILE *out = open_memstream(&wanted, &size);
    write_table(out);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_round_trips),
        cmocka_unit_test(every_truncation_is_short),
        cmocka_unit_test(unknown_kinds_are_unknown),
        cmocka_unit_test(bytes_are_those_of_mirage),
        cmocka_unit_test(names_are_unique_and_plain),
        cmocka_unit_test(headers_round_trip),
        cmocka_unit_test(errors_are_one_plain_sentence),
        cmocka_unit_test(metadata_describes_every_event),
        cmocka_unit_test(document_has_the_table),
    };
    return cmocka_run_group_tests_name("format", tests, NULL, NULL);
}
