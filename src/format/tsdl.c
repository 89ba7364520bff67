/* SPDX-License-Identifier: ISC */
#include "format/tsdl.h"

#include "format/events.h"
#include "format/mirage.h"

/* Differs from mirage-profile's own metadata file where that one is wrong or says too little: its
 * version is 0.1, which babeltrace2 refuses; it has no clock; events 12 and 13 and the types from 15
 * on are missing. The first promise is a field here, not a context, so that every field has the name
 * that weft gives it. */

static void write_uuid(FILE *out)
{
    const char *uuid = WEFT_MIRAGE_UUID;
    for (unsigned i = 0; i < WEFT_UUID_SIZE; i++)
        fprintf(out, i == 4 || i == 6 || i == 8 || i == 10 ? "-%02x" : "%02x",
                (unsigned)(unsigned char)uuid[i]);
}

static void write_preamble(FILE *out)
{
    fputs("/* CTF 1.8 */\n\n"
          "typealias integer { size = 8; align = 8; signed = false; } := uint8_t;\n"
          "typealias integer { size = 16; align = 8; signed = false; } := uint16_t;\n"
          "typealias integer { size = 32; align = 8; signed = false; } := uint32_t;\n"
          "typealias integer { size = 64; align = 8; signed = false; } := uint64_t;\n"
          "typealias integer { size = 64; align = 8; signed = true; } := int64_t;\n\n"
          "trace {\n    major = 1;\n    minor = 8;\n    uuid = \"",
          out);
    write_uuid(out);
    fputs("\";\n    byte_order = le;\n"
          "    packet.header := struct {\n"
          "        uint32_t magic;\n"
          "        uint8_t uuid[16];\n"
          "    };\n};\n\n"
          "clock {\n"
          "    name = monotonic;\n"
          "    description = \"nanoseconds, origin unknown\";\n"
          "    freq = 1000000000;\n"
          "};\n\n"
          "typealias integer {\n"
          "    size = 64; align = 8; signed = false;\n"
          "    map = clock.monotonic.value;\n"
          "} := time_t;\n\n",
          out);
}

static void write_enums(FILE *out)
{
    fputs("enum promise_type : uint8_t {\n", out);
    for (unsigned t = 0; t < WEFT_TYPES; t++)
        fprintf(out, "    \"%s\" = %u,\n", weft_type_name(t), t);
    fputs("};\n\nenum event_id : uint8_t {\n", out);
    for (unsigned k = 0; k < WEFT_EVENT_KINDS; k++)
        if (weft_event_kinds[k].in_mirage)
            fprintf(out, "    \"%s\" = %u,\n", weft_event_kinds[k].name, k);
    fputs("};\n\n", out);
}

static void write_stream(FILE *out)
{
    fputs("stream {\n"
          "    packet.context := struct {\n"
          "        uint32_t packet_size;\n"
          "        uint16_t stream_packet_count;\n"
          "        uint32_t content_size;\n"
          "    };\n"
          "    event.header := struct {\n"
          "        time_t timestamp;\n"
          "        enum event_id id;\n"
          "    };\n};\n",
          out);
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

static void write_event(FILE *out, unsigned kind)
{
    const struct weft_event_desc *d = &weft_event_kinds[kind];
    fprintf(out, "\n/* %s */\nevent {\n    name = \"%s\";\n    id = %u;\n    fields := struct {\n",
            d->meaning, d->name, kind);
    for (unsigned i = 0; i < d->fields; i++)
        fprintf(out, "        %s %s;\n", field_type(d->field[i].field), d->field[i].name);
    fputs("    };\n};\n", out);
}

void weft_tsdl_write_mirage(FILE *out)
{
    write_preamble(out);
    write_enums(out);
    write_stream(out);
    for (unsigned k = 0; k < WEFT_EVENT_KINDS; k++)
        if (weft_event_kinds[k].in_mirage)
            write_event(out, k);
}
