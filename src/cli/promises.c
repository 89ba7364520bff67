/* SPDX-License-Identifier: ISC */
/* weft promises: every promise as a line of tab-separated values. */
#include <stdlib.h>

#include "cli/common.h"
#include "cli/sink.h"
#include "model/traced.h"

static struct {
    bool raw, full, ids;
    const char *trace, *span; /* the first digits; NULL: all promises */
} request;

/* The beginning of an id of so many digits, in upper or lower case. */
static char *take_digits(const struct cli_command *c, const struct cli_option *o, const char *text,
                         size_t most, char *out)
{
    size_t n = 0;
    for (; n < most && text[n]; n++)
        out[n] = (char)(text[n] >= 'A' && text[n] <= 'F' ? text[n] | 0x20 : text[n]);
    out[n] = '\0';
    if (n == 0 || text[n] || strspn(out, "0123456789abcdef") != n)
        cli_misuse(c->name, "--%s takes the first hexadecimal digits of an id, at most %zu",
                   o->name, most);
    return out;
}

static void take_trace(const struct cli_command *c, const struct cli_option *o, const char *text)
{
    static char digits[2 * WEFT_TRACE_ID_BYTES + 1];
    request.trace = take_digits(c, o, text, sizeof digits - 1, digits);
}

static void take_span(const struct cli_command *c, const struct cli_option *o, const char *text)
{
    static char digits[2 * WEFT_SPAN_ID_BYTES + 1];
    request.span = take_digits(c, o, text, sizeof digits - 1, digits);
}

static const struct cli_option options[] = {
    CLI_FLAG("raw", request.raw,
             "start_ns is always the creation; otherwise a bind and the like, which exists long "
             "before it does something, starts with its first read"),
    CLI_FLAG("full", request.full,
             "whole texts; otherwise the first 500 bytes of each, and how many more there are"),
    CLI_FLAG("ids", request.ids,
             "three more columns: trace_id, span_id, parent_span_id, of distributed traces"),
    CLI_CALL("trace", take_trace, "HEX",
             "only promises of the distributed trace whose id begins with HEX"),
    CLI_CALL("span", take_span, "HEX",
             "only promises that are a span whose id begins with HEX, or were caused by it"),
    CLI_PART,
    CLI_END,
};

/* The output is always valid UTF-8. Texts of weft's own traces are UTF-8, as a rule. mirage-profile's have no encoding:
 * as in mirage-trace-viewer's own listing, each byte is taken as the Latin-1 character with that number (so a label
 * that was UTF-8 comes out encoded twice). */
static void put_label(struct sink *s, const char *text, uint32_t size, bool utf8)
{
    if (utf8) {
        put_escaped(s, text, size, false);
        return;
    }
    const uint32_t kept = size < s->longest ? size : (uint32_t)s->longest;
    for (uint32_t i = 0; i < kept; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c < 0xa0) {
            put_escaped(s, text + i, 1, false);
        } else if (s->ascii) { /* as UTF-8, like all else */
            put_hex(s, (unsigned char)(0xc0 | c >> 6));
            put_hex(s, (unsigned char)(0x80 | (c & 0x3f)));
        } else {
            put_byte(s, (char)(0xc0 | c >> 6));
            put_byte(s, (char)(0x80 | (c & 0x3f)));
        }
    }
    put_left_out(s, size - kept);
}

/* ---- Distributed traces ---- */

static bool begins(const unsigned char *id, size_t size, const char *digits)
{
    char text[2 * WEFT_TRACE_ID_BYTES];
    format_hex(text, id, size);
    return strncmp(text, digits, strlen(digits)) == 0;
}

static bool is_span(const struct weft_traced *t)
{
    return t && begins(t->ids + WEFT_TRACE_ID_BYTES, WEFT_SPAN_ID_BYTES, request.span);
}

static bool is_wanted(const struct weft_model *m, uint32_t promise)
{
    const struct weft_traced *t = request.trace ? weft_traced_inherited(m, promise) : NULL;
    if (request.trace && !(t && begins(t->ids, WEFT_TRACE_ID_BYTES, request.trace)))
        return false;
    return !request.span || is_span(weft_traced_of(m, promise, WEFT_TRACED_SPAN)) ||
           is_span(weft_traced_of(m, promise, WEFT_TRACED_PARENT));
}

/* A column; t: whose, or NULL. */
static void put_id_of(struct sink *s, const struct weft_traced *t, size_t at, size_t size)
{
    char text[2 * WEFT_TRACE_ID_BYTES];
    put_byte(s, '\t');
    if (!t) {
        put_byte(s, '-');
        return;
    }
    format_hex(text, t->ids + at, size);
    put_bytes(s, text, 2 * size);
}

static void put_ids(struct sink *s, const struct weft_model *m, uint32_t promise)
{
    put_id_of(s, weft_traced_inherited(m, promise), 0, WEFT_TRACE_ID_BYTES);
    put_id_of(s, weft_traced_of(m, promise, WEFT_TRACED_SPAN), WEFT_TRACE_ID_BYTES,
              WEFT_SPAN_ID_BYTES);
    put_id_of(s, weft_traced_of(m, promise, WEFT_TRACED_PARENT), WEFT_TRACE_ID_BYTES,
              WEFT_SPAN_ID_BYTES);
}

static void put_promise(struct sink *s, const struct weft_model *m, uint32_t index)
{
    const struct weft_promise *p = &m->promise[index];
    const char *type = weft_model_type(m, index);
    const uint32_t name = weft_model_name(m, index);
    put_unsigned(s, p->id);
    put_byte(s, '\t');
    put_escaped(s, type, strlen(type), false);
    put_byte(s, '\t');
    put_id(s, m->promise[p->creator].id);
    put_byte(s, '\t');
    put_signed(s, request.raw ? p->start_ns : weft_model_wake(m, p));
    put_byte(s, '\t');
    put_signed(s, p->end_ns);
    put_byte(s, '\t');
    put_text(s, weft_outcome_name(p->outcome));
    put_byte(s, '\t');
    if (p->becomes == WEFT_NONE)
        put_byte(s, '-');
    else
        put_id(s, m->promise[p->becomes].id);
    put_byte(s, '\t');
    if (name != WEFT_NONE) {
        uint32_t size;
        const char *text = weft_model_text(m, name, &size);
        put_label(s, text, size, !m->quirks.any_bytes);
    }
    if (request.ids)
        put_ids(s, m, index);
    put_byte(s, '\n');
}

static int run(int files, char **file)
{
    (void)files;
    static struct sink sink;
    struct weft_model *m = cli_model(*file);
    uint32_t *sorted = m ? weft_model_by_id(m) : NULL;
    int status = CLI_FAILED;
    if (m && !sorted)
        cli_say("promises", "out of memory");
    if (sorted) {
        sink_open(&sink, request.full);
        put_text(&sink, "id\ttype\tcreator\tstart_ns\tend_ns\toutcome\tbecomes\tlabel");
        put_text(&sink, request.ids ? "\ttrace_id\tspan_id\tparent_span_id\n" : "\n");
        for (uint32_t i = 0; i + 1 < m->promises && !sink.error; i++)
            if (is_wanted(m, sorted[i]))
                put_promise(&sink, m, sorted[i]);
        status = sink_close(&sink);
    }
    free(sorted);
    weft_model_free(m);
    return status;
}

const struct cli_command cli_promises = {
    .name = "promises",
    .summary = "print every promise as tab-separated values",
    .usage = "@ FILE",
    .about = "Prints every promise as a line of tab-separated values, sorted by id: id, type, "
             "creator, start_ns, end_ns, outcome, becomes, label. The first line has these "
             "names.\n",
    .options = options,
    .examples = "weft promises net.ctf | awk -F'\\t' '$6 == \"pending\"'\n"
                "weft promises --ids --trace 4bf92f3577b34da6 server.weft",
    .least = 1,
    .most = 1,
    .completes = CLI_TRACES,
    .paged = true,
    .run = run,
    .state = CLI_STATE(request),
};
