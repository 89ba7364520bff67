/* SPDX-License-Identifier: ISC */
/* Makes a trace of mirage-profile from lines as `weft dump` prints them:
 *
 *     mktrace [OPTION…] FILE < lines
 *
 *     0 0 creates parent=-1 child=1 type=bind
 *     5 0 label p=1 text="caf\xc3\xa9"
 *     # comments and empty lines are skipped
 *
 * The time counts from --start; the stream must be there and says nothing. Fields may stand in any
 * order; one that is missing is 0 or empty. A type may be a number that no table has. FILE may be -.
 *
 *   --packet-bytes N  begin a new packet when one holds N bytes, its header included (default 1 MiB)
 *   --pad             make each packet N bytes long, as those of a ring are
 *   --sequence N      number of the first packet (default 0)
 *   --rotate N        let the file begin with packet N, as a ring does that has wrapped
 *   --unused N        end with N packets that were never used
 *   --start NS        the clock at time 0 (default 1000000000) */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/mirage.h"
#include "write/mirage.h"

enum { PACKET_BYTES = 1000, PAD, SEQUENCE, ROTATE, UNUSED, START };

static const struct option options[] = {
    {"packet-bytes", required_argument, NULL, PACKET_BYTES},
    {"pad", no_argument, NULL, PAD},
    {"sequence", required_argument, NULL, SEQUENCE},
    {"rotate", required_argument, NULL, ROTATE},
    {"unused", required_argument, NULL, UNUSED},
    {"start", required_argument, NULL, START},
    {0},
};

struct settings {
    uint64_t packet_bytes, sequence, rotate, unused, start;
    int pad;
};

static unsigned long line_number;

_Noreturn static void fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
_Noreturn static void fail(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fprintf(stderr, "mktrace: line %lu: ", line_number);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    exit(1);
}

/* ---- Lines ---- */

static uint64_t parse_number(const char *text, char **end)
{
    errno = 0;
    uint64_t n = *text == '-' ? (uint64_t)strtoll(text, end, 10) : strtoull(text, end, 10);
    if (*end == text || errno)
        fail("expected a number, found: %s", text);
    return n;
}

static unsigned hex_digit(char c)
{
    const char *digits = "0123456789abcdefABCDEF", *at = c ? strchr(digits, c) : NULL;
    if (!at)
        fail("expected two hexadecimal digits after \\x");
    return (unsigned)(at - digits) < 16 ? (unsigned)(at - digits) : (unsigned)(at - digits) - 6;
}

/* Undoes the escapes of a text in double quotes, in place. */
static void parse_text(struct weft_event *ev, char *text, char **end)
{
    char *out = text;
    ev->text = text;
    if (*text++ != '"')
        fail("expected a text in double quotes");
    for (; *text != '"'; text++) {
        if (!*text)
            fail("a text does not end");
        if (*text != '\\') {
            *out++ = *text;
            continue;
        }
        char c = *++text;
        if (c == 'x') {
            unsigned value = hex_digit(text[1]) << 4;
            value |= hex_digit(text[2]);
            *out++ = (char)value;
            text += 2;
            if (value == 0)
                fail("a text of this format cannot contain a NUL");
        } else {
            *out++ = c == 'n' ? '\n' : c == 't' ? '\t' : c == 'r' ? '\r' : c;
        }
    }
    ev->text_size = (uint32_t)(out - ev->text);
    *end = text + 1;
}

static uint8_t parse_type(const char *text, char **end)
{
    size_t size = strcspn(text, " ");
    for (unsigned t = 0; t < WEFT_TYPES; t++) {
        const char *name = weft_type_name(t);
        if (strlen(name) == size && memcmp(name, text, size) == 0) {
            *end = (char *)text + size;
            return (uint8_t)t;
        }
    }
    return (uint8_t)parse_number(text, end);
}

/* Reads name=value at text into *ev; returns where it ends. */
static char *parse_field(struct weft_event *ev, char *text)
{
    const struct weft_event_desc *d = &weft_event_kinds[ev->kind];
    size_t size = strcspn(text, "=");
    unsigned promises = 0, i = 0;
    for (; i < d->fields; i++) {
        if (strlen(d->field[i].name) == size && memcmp(d->field[i].name, text, size) == 0)
            break;
        promises += d->field[i].field == WEFT_FIELD_PROMISE;
    }
    if (i == d->fields || text[size] != '=')
        fail("%s has no field %.*s", d->name, (int)size, text);
    char *value = text + size + 1, *end;
    switch ((enum weft_field)d->field[i].field) {
    case WEFT_FIELD_PROMISE:
        *(promises ? &ev->b : &ev->a) = parse_number(value, &end);
        break;
    case WEFT_FIELD_TYPE:
    case WEFT_FIELD_REASON:
        ev->type = parse_type(value, &end);
        break;
    case WEFT_FIELD_SIGNED:
    case WEFT_FIELD_DURATION:
        ev->value = (int64_t)parse_number(value, &end);
        break;
    case WEFT_FIELD_TEXT:
        parse_text(ev, value, &end);
        break;
    }
    return end;
}

/* Returns 0 for a line without an event. */
static int parse_line(struct weft_event *ev, char *line, uint64_t start)
{
    line[strcspn(line, "\n")] = 0;
    line += strspn(line, " ");
    if (!*line || *line == '#')
        return 0;
    *ev = (struct weft_event){.text = ""};
    ev->time_ns = parse_number(line, &line) + start;
    parse_number(line, &line);
    line += strspn(line, " ");
    size_t size = strcspn(line, " ");
    while (ev->kind < WEFT_EVENT_KINDS && (strlen(weft_event_kinds[ev->kind].name) != size ||
                                           memcmp(weft_event_kinds[ev->kind].name, line, size)))
        ev->kind++;
    if (ev->kind == WEFT_EVENT_KINDS)
        fail("there is no event %.*s", (int)size, line);
    for (line += size; *(line += strspn(line, " "));)
        line = parse_field(ev, line);
    return 1;
}

/* ---- Packets ---- */

/* All lines as one packet after another, without gaps; the caller frees it. */
static unsigned char *read_lines(const struct settings *s, size_t *size)
{
    char *bytes = NULL, *line = NULL;
    size_t room = 0;
    FILE *memory = open_memstream(&bytes, size);
    struct weft_mirage_writer *writer;
    struct weft_mirage_options how = {.packet_bytes = (uint32_t)s->packet_bytes,
                                      .first_sequence = (uint16_t)s->sequence};
    struct weft_error err = {.text = "out of memory"};
    struct weft_event ev;
    if (!memory || weft_mirage_writer_open(&writer, memory, &how, &err) < 0)
        fail("%s", err.text);
    while (getline(&line, &room, stdin) >= 0) {
        line_number++;
        if (parse_line(&ev, line, s->start) && weft_mirage_writer_append(writer, &ev, &err) < 0)
            fail("%s", err.text);
    }
    free(line);
    if (weft_mirage_writer_close(writer, &err) < 0 || fclose(memory) != 0)
        fail("%s", err.text);
    return (unsigned char *)bytes;
}

static void write_packet(FILE *out, const struct settings *s, const unsigned char *packet,
                         size_t size)
{
    struct weft_mirage_header h = weft_mirage_header_read(packet);
    unsigned char header[WEFT_MIRAGE_HEADER_SIZE];
    size_t tail = s->pad && size < s->packet_bytes ? s->packet_bytes - size : 0;
    h.packet_bits += (uint32_t)tail * 8;
    weft_mirage_header_write(header, h);
    fwrite(header, 1, sizeof header, out);
    fwrite(packet + sizeof header, 1, size - sizeof header, out);
    while (tail--)
        fputc(0, out);
}

static void write_unused(FILE *out, const struct settings *s)
{
    struct weft_mirage_header h = {.packet_bits = WEFT_MIRAGE_HEADER_SIZE * 8,
                                   .content_bits = WEFT_MIRAGE_HEADER_SIZE * 8};
    unsigned char header[WEFT_MIRAGE_HEADER_SIZE];
    weft_mirage_header_write(header, h);
    for (uint64_t i = 0; i < s->unused; i++)
        write_packet(out, s, header, sizeof header);
}

/* The packets, beginning with the one that --rotate says. */
static void write_packets(FILE *out, const struct settings *s, const unsigned char *bytes,
                          size_t size)
{
    for (int lap = 0; lap < 2; lap++) {
        uint64_t i = 0;
        for (size_t at = 0, n; at < size; at += n, i++) {
            n = weft_mirage_header_read(bytes + at).packet_bits / 8;
            if ((lap == 0) == (i >= s->rotate))
                write_packet(out, s, bytes + at, n);
        }
    }
    write_unused(out, s);
}

static void set(struct settings *s, int c, const char *value)
{
    char *end;
    switch (c) {
    case PACKET_BYTES:
        s->packet_bytes = parse_number(value, &end);
        break;
    case PAD:
        s->pad = 1;
        break;
    case SEQUENCE:
        s->sequence = parse_number(value, &end);
        break;
    case ROTATE:
        s->rotate = parse_number(value, &end);
        break;
    case UNUSED:
        s->unused = parse_number(value, &end);
        break;
    case START:
        s->start = parse_number(value, &end);
        break;
    default:
        exit(2);
    }
}

int main(int argc, char **argv)
{
    struct settings s = {.packet_bytes = 1 << 20, .start = 1000000000};
    int c;
    while ((c = getopt_long(argc, argv, "", options, NULL)) != -1)
        set(&s, c, optarg);
    if (argc - optind != 1) {
        fputs("usage: mktrace [OPTION…] FILE < lines\n", stderr);
        return 2;
    }
    size_t size;
    unsigned char *bytes = read_lines(&s, &size);
    const char *path = argv[optind];
    FILE *out = strcmp(path, "-") == 0 ? stdout : fopen(path, "w");
    if (!out) {
        perror(path);
        return 1;
    }
    write_packets(out, &s, bytes, size);
    free(bytes);
    if (fclose(out) != 0) {
        perror(path);
        return 1;
    }
    return 0;
}
