/* SPDX-License-Identifier: ISC */
#include "record/host.h"
#include "format/put.h"

static const char head[] =
    "/* CTF 1.8 */\n"
    "/* The packets of events of a weft trace. docs/format.md of weft says what the fields mean; "
    "`weft\n"
    "   export --to ctf` makes a trace that any CTF reader opens. */\n"
    "typealias integer { size = 16; align = 8; } := u16;\n"
    "typealias integer { size = 32; align = 8; } := u32;\n"
    "typealias integer { size = 64; align = 8; } := u64;\n"
    "typealias integer { size = 32; align = 8; signed = true; } := i32;\n"
    "typealias integer { size = 64; align = 8; signed = true; } := i64;\n"
    "trace { major = 1; minor = 8; byte_order = le;\n"
    "  packet.header := struct { u32 magic; integer { size = 8; align = 8; } uuid[16];\n"
    "    u32 signature; u16 version; u16 stream_id; u32 header_bytes; }; };\n"
    "stream { id = 1;\n"
    "  packet.context := struct { u64 packet_size; u64 content_size; u64 timestamp_begin;\n"
    "    u64 timestamp_end; u32 stream; u32 thread; u64 sequence; u64 events_before;\n"
    "    u64 discarded_before; u64 running; u64 base; u64 pair_ticks; u64 pair_mono_ns;\n"
    "    u64 pair_real_ns; u32 pair_error; u32 events;\n"
    "    integer { size = 8; align = 8; encoding = UTF8; } thread_name[16];\n"
    "    u32 ended_at; u32 ended_count; u64 counts;\n"
    "    integer { size = 8; align = 8; } ended[ended_count]; };\n"
    "  event.header := struct { integer { size = 56; align = 8; } timestamp;\n"
    "    integer { size = 8; align = 8; } id; }; };\n";

static const struct {
    const char *name, *fields;
    unsigned code;
} forms[] = {
#define RUNNING
#define A32 "i32 a; "
#define B32 "i32 b; "
#define A64 "u64 a; "
#define B64 "u64 b; "
#define SITE32 "u32 site; "
#define TEXT32 "u32 text; "
#define VALUE32 "i32 value; "
#define VALUE64 "i64 value; "
#define TOTAL32 "i32 total; "
#define TOTAL64 "i64 total; "
#define REASON32 "u32 reason; "
#define BYTES "integer { size = 8; align = 8; base = hex; } "
#define IDS BYTES "trace_id[16]; " BYTES "span_id[8]; "
#define FORM(words, number, NAME, KIND, FIELDS) {#NAME, "" FIELDS, (words)*32 + (number)},
#include "format/events.def"
};

size_t weft_record_metadata(char *out, size_t room)
{
    struct put p = put_begin(out, room);
    put_text(&p, head);
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        put_text(&p, "event { name = \"");
        put_text(&p, forms[i].name);
        put_text(&p, "\"; id = ");
        put_number(&p, forms[i].code);
        put_text(&p, "; stream_id = 1;\n  fields := struct { ");
        put_text(&p, forms[i].fields);
        put_text(&p, "}; };\n");
    }
    put_end(&p);
    return (size_t)(p.at - out);
}
