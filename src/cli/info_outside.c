/* SPDX-License-Identifier: ISC */
#include "cli/info_outside.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/duration.h"
#include "cli/common.h"
#include "cli/report.h"
#include "cli/trace_json.h"

static const char *as_name(char as)
{
    return as == 'w' ? "wait" : as == 'h' ? "hold" : as == 'a' ? "wait for any" : "left out";
}

json_t *info_outside_json(const struct weft_outside *o)
{
    if (!o->known)
        return json_null();
    return CLI_OBJECT(
        "core", (bool)o->core, CLI_FIELDS(o, stopped_ns, stacks), "links",
        CLI_LIST(i, o->links,
                 CLI_OBJECT(CLI_FIELDS(&o->link[i], links, how), "as", as_name(o->link[i].as))),
        "remarks", CLI_LIST(i, o->remarks, cli_json_string(o->remark[i])));
}

void info_outside_print(const struct weft_process_facts *p)
{
    static const char *const as[] = {['h'] = "as holds",
                                     ['a'] = "as waits, though any one of several suffices",
                                     ['l'] = "left out: any one of several suffices, and as waits "
                                             "they would be a circle"};
    const struct weft_outside *o = &p->outside;
    if (o->core)
        puts("  seen          in a core file without a trace: what its threads waited for then");
    else
        printf("  seen          from outside, at one moment: the process records nothing; %s%s\n",
               o->stopped_ns ? "it was stopped for " : "it was not stopped for that",
               o->stopped_ns ? weft_duration((int64_t)o->stopped_ns).text : "");
    for (uint32_t i = 0; i < o->links; i++) {
        const struct weft_outside_links *l = &o->link[i];
        const unsigned char c = (unsigned char)l->as;
        printf("  %-13s %s × %s%s%s\n", i ? "" : "links", weft_count(l->links).text,
               cli_shown(l->how).text, c < sizeof as / sizeof *as && as[c] ? ", " : "",
               c < sizeof as / sizeof *as && as[c] ? as[c] : "");
    }
    if (o->stacks)
        printf("  stacks        %s, not in a trace\n", weft_count(o->stacks).text);
    for (uint32_t i = 0; i < o->remarks; i++)
        cli_wrap(i ? "                " : "  not seen      ", "                ",
                 cli_shown(o->remark[i]).text);
    if (o->core)
        puts("  more          weft explain says it, with the stacks");
    else
        printf("  more          while the process is there: weft explain %" PRIu32
               ", with the stacks; weft ctl %" PRIu32 " on begins to record\n",
               p->pid, p->pid);
}
