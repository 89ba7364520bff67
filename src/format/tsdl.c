/* SPDX-License-Identifier: ISC */
#include "format/tsdl.h"

#include <inttypes.h>
#include <stdbool.h>

#include "format/events.h"
#include "format/mirage.h"

/* The differences from mirage-profile's own metadata file are corrections. That file has version 0.1, which
 * babeltrace2 refuses; it has no clock; events 12 and 13 and the types from 15 on are missing; its packets do
 * not say when they begin, without which babeltrace2 2.1 aborts. Here the first promise is a field, not a
 * context, so that every field has the same name as in weft. */

static void write_uuid(FILE *out)
{
    const char *uuid = WEFT_MIRAGE_UUID;
    fputs("    uuid = \"", out);
    for (unsigned i = 0; i < WEFT_UUID_SIZE; i++)
        fprintf(out, i == 4 || i == 6 || i == 8 || i == 10 ? "-%02x" : "%02x",
                (unsigned)(unsigned char)uuid[i]);
    fputs("\";\n", out);
}

static void write_header(FILE *out, bool mirage)
{
    fputs("/* CTF 1.8 */\n\n"
          "typealias integer { size = 8; align = 8; signed = false; } := uint8_t;\n"
          "typealias integer { size = 16; align = 8; signed = false; } := uint16_t;\n"
          "typealias integer { size = 32; align = 8; signed = false; } := uint32_t;\n"
          "typealias integer { size = 64; align = 8; signed = false; } := uint64_t;\n"
          "typealias integer { size = 64; align = 8; signed = true; } := int64_t;\n\n"
          "trace {\n    major = 1;\n    minor = 8;\n    byte_order = le;\n",
          out);
    if (mirage)
        write_uuid(out);
    fputs("    packet.header := struct {\n"
          "        uint32_t magic;\n"
          "        uint64_t stream_instance_id;\n"
          "    };\n};\n\n",
          out);
}

/* more: what else is known about it. */
static void write_clock(FILE *out, const char *more)
{
    fprintf(out,
            "clock {\n"
            "    name = monotonic;\n"
            "%s"
            "    freq = 1000000000;\n"
            "};\n\n"
            "typealias integer {\n"
            "    size = 64; align = 8; signed = false;\n"
            "    map = clock.monotonic.value;\n"
            "} := time_t;\n\n",
            more);
}

/* fields: the packet's fields after its times, a 64-bit number first. id: the type of an event's number. */
static void write_stream(FILE *out, const char *fields, const char *id)
{
    fprintf(out,
            "stream {\n"
            "    packet.context := struct {\n"
            "        uint64_t packet_size;\n"
            "        uint64_t content_size;\n"
            "        time_t timestamp_begin;\n"
            "        time_t timestamp_end;\n"
            "%s"
            "    };\n"
            "    event.header := struct {\n"
            "        time_t timestamp;\n"
            "        %s id;\n"
            "    };\n};\n",
            fields, id);
}

static void write_event_ids(FILE *out)
{
    fputs("enum event_id : uint8_t {\n", out);
    for (unsigned k = 0; k < WEFT_EVENT_KINDS; k++)
        if (weft_event_kinds[k].in_mirage)
            fprintf(out, "    \"%s\" = %u,\n", weft_event_kinds[k].name, k);
    fputs("};\n\n", out);
}

/* text: the names of the values, from 0 up to the first NULL. */
static void write_enum(FILE *out, const char *name, const char *text(unsigned value))
{
    fprintf(out, "enum %s : uint8_t {\n", name);
    for (unsigned i = 0; text(i); i++)
        fprintf(out, "    \"%s\" = %u,\n", text(i), i);
    fputs("};\n\n", out);
}

static const char *field_type(uint8_t field)
{
    switch ((enum weft_field)field) {
    case WEFT_FIELD_PROMISE:
    case WEFT_FIELD_DURATION:
        return "uint64_t";
    case WEFT_FIELD_TYPE:
        return "enum promise_type";
    case WEFT_FIELD_REASON:
        return "uint8_t";
    case WEFT_FIELD_SIGNED:
        return "int64_t";
    case WEFT_FIELD_TEXT:
        return "string";
    }
    return "uint8_t";
}

/* Writes one class of events of weft's own traces, without what is left out, a combination of WEFT_TSDL_NO_…; or one
 * of mirage-profile's: MIRAGE. */
enum { MIRAGE = 1 << 8 };

static void write_class(FILE *out, unsigned kind, unsigned left_out)
{
    const struct weft_event_desc *d = &weft_event_kinds[kind];
    const bool own = left_out != MIRAGE, creates = own && kind == WEFT_EVENT_CREATES;
    fprintf(out, "\n/* %s */\nevent {\n    name = \"%s\";\n    id = %u;\n    fields := struct {\n",
            d->meaning, d->name, own ? kind | left_out << 5 : kind);
    for (unsigned i = 0; i < d->fields; i++) {
        const uint8_t field = d->field[i].field;
        const char *type = own && field == WEFT_FIELD_TYPE     ? "string"
                           : own && field == WEFT_FIELD_REASON ? "enum reason"
                                                               : field_type(field);
        if (!(own && field == WEFT_FIELD_TEXT && left_out & WEFT_TSDL_NO_TEXT) &&
            !(own && field == WEFT_FIELD_TYPE && left_out & WEFT_TSDL_NO_TYPE))
            fprintf(out, "        %s %s;\n", type, d->field[i].name);
    }
    if (creates && !(left_out & WEFT_TSDL_NO_TEXT))
        fputs("        string label;\n", out);
    if (creates && !(left_out & WEFT_TSDL_NO_PLACE))
        fputs("        string file;\n        uint32_t line;\n", out);
    if (own && kind == WEFT_EVENT_INCREASE)
        fputs("        int64_t value;\n", out);
    fputs("    };\n};\n", out);
}

void weft_tsdl_write_mirage(FILE *out)
{
    write_header(out, true);
    write_clock(out, "    description = \"nanoseconds, origin unknown\";\n");
    write_enum(out, "promise_type", weft_type_name);
    write_event_ids(out);
    write_stream(out, "        uint64_t stream_packet_count;\n", "enum event_id");
    for (unsigned k = 0; k < WEFT_EVENT_KINDS; k++)
        if (weft_event_kinds[k].in_mirage)
            write_class(out, k, MIRAGE);
}

/* ---- weft's own traces ---- */

/* Writes any bytes as the value of a string. What is not printable ASCII becomes a question mark. */
static void write_text(FILE *out, const char *key, const char *text)
{
    if (!text)
        return;
    fprintf(out, "    %s = \"", key);
    for (const char *c = text; *c; c++) {
        if (*c == '"' || *c == '\\')
            fputc('\\', out);
        fputc(*c >= ' ' && *c < 0x7f ? *c : '?', out);
    }
    fputs("\";\n", out);
}

static void write_environment(FILE *out, const struct weft_tsdl_trace *t)
{
    fputs("env {\n    tracer_name = \"weft\";\n", out);
    write_text(out, "tracer_version", t->version);
    write_text(out, "hostname", t->host);
    write_text(out, "procname", t->program);
    if (t->pid)
        fprintf(out, "    vpid = %" PRIu32 ";\n", t->pid);
    fputs("};\n\n", out);
}

static void write_own_clock(FILE *out, const struct weft_tsdl_trace *t)
{
    char more[128] = "";
    const uint64_t offset = t->start_real_ns - t->start_ns;
    if (t->start_real_ns && t->start_real_ns >= t->start_ns)
        snprintf(more, sizeof more,
                 "    offset_s = %" PRIu64 ";\n    offset = %" PRIu64 ";\n    absolute = true;\n",
                 offset / 1000000000, offset % 1000000000);
    write_clock(out, more);
}

static void write_classes(FILE *out, unsigned kind)
{
    const struct weft_event_desc *d = &weft_event_kinds[kind];
    unsigned possible = 0;
    if (d->fields && d->field[d->fields - 1].field == WEFT_FIELD_TEXT)
        possible = WEFT_TSDL_NO_TEXT;
    if (kind == WEFT_EVENT_CREATES)
        possible = WEFT_TSDL_NO_TEXT | WEFT_TSDL_NO_TYPE | WEFT_TSDL_NO_PLACE;
    for (unsigned left_out = 0; left_out <= possible; left_out++)
        write_class(out, kind, left_out);
}

void weft_tsdl_write_weft(FILE *out, const struct weft_tsdl_trace *trace)
{
    write_header(out, false);
    write_environment(out, trace);
    write_own_clock(out, trace);
    write_enum(out, "reason", weft_reason_name);
    write_stream(out,
                 "        uint64_t packet_seq_num;\n"
                 "        uint32_t thread;\n"
                 "        string thread_name;\n",
                 "uint8_t");
    for (unsigned k = 0; k < WEFT_EVENT_KINDS; k++)
        write_classes(out, k);
}
