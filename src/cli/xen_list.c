/* SPDX-License-Identifier: ISC */
/* weft save xen: - which domains offer a trace. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "cli/common.h"
#include "cli/report.h"
#include "cli/trace_json.h"
#include "cli/xen.h"
#include "format/mirage.h"
#include "format/walk.h"

/* A domain, and what can be seen of its trace without reading it. */
struct offer {
    const struct weft_xen_domain *domain;
    bool open; /* else err says why not */
    uint64_t bytes;
    const char *format, *trace; /* NULL: none; not known */
    struct weft_error err;
};

static struct offer look_at(const struct weft_xen *xen, const struct weft_xen_domain *domain)
{
    struct offer o = {.domain = domain};
    unsigned char head[WEFT_XEN_PAGE] = {0};
    struct weft_facts_header facts;
    o.open = weft_xen_look(xen, domain->id, head, &o.bytes, &o.err) == 0;
    memcpy(&facts, head, sizeof facts);
    if (o.open && format_is_facts(&facts)) {
        o.format = "weft";
        o.trace = facts.state == WEFT_TRACE_STOPPED     ? "stopped"
                  : facts.state != WEFT_TRACE_RECORDING ? NULL
                  : cli_xen_is_dead(domain->state)      ? "killed"
                                                        : "recording";
    } else if (o.open && memcmp(head, WEFT_MIRAGE_MARK, WEFT_MIRAGE_MARK_SIZE) == 0) {
        o.format = "mirage";
    }
    return o;
}

/* Why it is not open, or what it is. */
static const char *words(const struct offer *o, char *text, size_t room)
{
    if (!o->open)
        return *o->err.text ? o->err.text : weft_error_name(o->err.code);
    snprintf(text, room, "%s%s%s", o->format ? o->format : "no trace", o->trace ? ", " : "",
             o->trace ? o->trace : "");
    return text;
}

static void put_row(struct cli_table *t, const struct offer *o)
{
    char text[64];
    cli_cell(t, "", "%u", o->domain->id);
    cli_cell(t, "", "%s", cli_shown(o->domain->name).text);
    cli_cell(t, "", "%s", weft_xen_state_name(o->domain->state));
    cli_cell(t, "", "%s", o->open ? weft_size(o->bytes).text : "-");
    cli_cell(t, "", "%s", cli_shown(words(o, text, sizeof text)).text);
}

static json_t *as_json(const struct offer *o)
{
    char text[64];
    return CLI_OBJECT("id", o->domain->id, "name", o->domain->name, "state",
                      weft_xen_state_name(o->domain->state), "bytes",
                      o->open ? json_integer((json_int_t)o->bytes) : json_null(), "format",
                      o->format, "trace", o->trace, "error",
                      o->open ? NULL : words(o, text, sizeof text));
}

static void list_all(const struct weft_xen *xen, const struct weft_xen_domain *domain,
                     uint32_t count, bool json)
{
    static const struct cli_column columns[] = {
        {.head = "ID", .least = 5},
        {.head = "NAME", .gap = 2, .left = true, .most = 40},
        {.head = "STATE", .gap = 2, .left = true, .least = 9},
        {.head = "SIZE", .gap = 2, .least = 10},
        {.head = "TRACE", .gap = 2, .left = true}};
    struct cli_table t = CLI_TABLE(columns);
    json_t *list = json ? json_array() : NULL;
    for (uint32_t i = 0; i < count; i++) {
        if (!domain[i].lists && !domain[i].indexes)
            continue;
        const struct offer o = look_at(xen, &domain[i]);
        if (json)
            cli_json_append(list, as_json(&o));
        else
            put_row(&t, &o);
    }
    if (json) {
        cli_json_print(list);
    } else if (t.cells) {
        cli_narrow_output();
        cli_table_print(&t);
    } else {
        cli_say("xen", "no domain offers a trace; a guest does by weft record --xen -- PROGRAM, "
                       "or by itself with libweft-xen");
    }
}

int cli_xen_list(const struct weft_xen *xen, bool json)
{
    struct weft_xen_domain *domain;
    struct weft_error err = {.offset = WEFT_NO_OFFSET};
    uint32_t count;
    if (weft_xen_domains(xen, &domain, &count, &err) < 0)
        return cli_fail_by("xen", &err);
    list_all(xen, domain, count, json);
    free(domain);
    return CLI_DONE;
}

void cli_xen_names(void (*put)(const char *name))
{
    struct weft_xen xen;
    struct weft_error err;
    struct weft_xen_domain *domain;
    uint32_t count;
    if (cli_xen_connect(&xen, &err) < 0)
        return;
    if (weft_xen_domains(&xen, &domain, &count, &err) == 0) {
        for (uint32_t i = 0; i < count; i++)
            if ((domain[i].lists || domain[i].indexes) && *domain[i].name)
                put(domain[i].name);
        free(domain);
    }
    cli_xen_disconnect(&xen);
}
