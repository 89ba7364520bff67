/* SPDX-License-Identifier: ISC */
/* weft promises: every promise as a line of tab-separated values. */
#include <stdlib.h>

#include "cli/common.h"
#include "cli/sink.h"

static struct {
    bool raw, full;
} request;

static const struct cli_option options[] = {
    CLI_FLAG("raw", request.raw,
             "start_ns is always the creation; otherwise a bind and the like, which exists long "
             "before it does something, starts with its first read"),
    CLI_FLAG("full", request.full,
             "whole texts; otherwise the first 500 bytes of each, and how many more there are"),
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
        put_text(&sink, "id\ttype\tcreator\tstart_ns\tend_ns\toutcome\tbecomes\tlabel\n");
        for (uint32_t i = 0; i + 1 < m->promises && !sink.error; i++)
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
    .examples = "weft promises net.ctf | awk -F'\\t' '$6 == \"pending\"'",
    .least = 1,
    .most = 1,
    .completes = CLI_TRACES,
    .paged = true,
    .run = run,
    .state = CLI_STATE(request),
};
