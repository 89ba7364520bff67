/* SPDX-License-Identifier: ISC */
/* Compares two profiles. Runs have different lengths, so shares are compared, not times. */
#include <math.h>
#include <string.h>

#include "cli/common.h"
#include "cli/profile/profile.h"

bool cli_profile_changes_find(struct cli_profile_changes *c, const struct cli_profile_view *before,
                              const struct cli_profile_view *after)
{
    *c = (struct cli_profile_changes){.before = {before, cli_profile_list(before, before->o.by)},
                                      .after = {after, cli_profile_list(after, after->o.by)}};
    const bool made =
        c->before.l && c->after.l &&
        weft_profile_compare(&c->deltas, before->p, c->before.l, after->p, c->after.l) == 0;
    if (!made)
        cli_lacks_memory();
    return made;
}

void cli_profile_changes_fini(struct cli_profile_changes *c)
{
    weft_profile_list_free(c->before.l);
    weft_profile_list_free(c->after.l);
    weft_profile_deltas_free(c->deltas);
}

struct weft_named_frame cli_profile_changed(const struct cli_profile_changes *c,
                                            const struct weft_profile_delta *d,
                                            const struct cli_profile_view **v)
{
    const bool after = d->after_row != WEFT_NONE;
    const struct cli_profile_side *side = after ? &c->after : &c->before;
    struct weft_named_frame f = side->l->row[after ? d->after_row : d->before_row].frame;
    f.promise = WEFT_NONE; /* its number means nothing in another run */
    *v = side->v;
    return f;
}

static void put_side(struct cli_table *t, bool there, uint64_t self,
                     const struct weft_profile_list *l)
{
    cli_cell(t, "", "%s", there ? cli_profile_share(self, l->total).text : "-");
}

static void put_change(struct cli_table *t, const struct cli_profile_changes *c,
                       const struct weft_profile_delta *d)
{
    const struct cli_profile_view *v;
    const struct weft_named_frame f = cli_profile_changed(c, d, &v);
    const double change = 100 * d->self_share;
    char points[32];
    snprintf(points, sizeof points, "%+.1f", change);
    put_side(t, d->before_row != WEFT_NONE, d->before_self, c->before.l);
    put_side(t, d->after_row != WEFT_NONE, d->after_self, c->after.l);
    cli_cell(t, cli_style_if(fabs(change) > 0.05, change > 0 ? CLI_BAD : CLI_GOOD), "%s",
             strcmp(points + 1, "0.0") == 0 ? "0.0" : points);
    cli_profile_cell_name(t, v->p, &f);
    cli_cell_aside(t, cli_profile_place(v, &f).text);
}

static void put_side_head(const char *what, const struct cli_profile_side *side)
{
    const struct cli_profile_view *v = side->v;
    const struct weft_profile_list *l = side->l;
    printf("  %-8s", what);
    for (unsigned i = 0; i < v->files->files; i++)
        printf("%s%s", i ? ", " : "", cli_shown(v->files->file[i].path).text);
    printf(": %s%s", v->o.off_cpu ? "" : weft_count(l->samples).text,
           v->o.off_cpu      ? ""
           : l->samples == 1 ? " sample, "
                             : " samples, ");
    printf("%s%s\n", cli_profile_amount(v, l->total, l->total).text, v->o.off_cpu ? " away" : "");
}

static void warn_units(const struct cli_profile_view *before, const struct cli_profile_view *after)
{
    if (before->o.off_cpu || before->o.source >= before->p->sources ||
        after->o.source >= after->p->sources)
        return;
    const char *b = weft_profile_text(before->p, before->p->source[before->o.source].name);
    const char *a = weft_profile_text(after->p, after->p->source[after->o.source].name);
    if (strcmp(a, b) != 0)
        printf("  note    before: samples of %s; after: of %s\n", cli_shown(b).text,
               cli_shown(a).text);
}

void cli_profile_print_diff(const struct cli_profile_view *before,
                            const struct cli_profile_view *after)
{
    struct cli_profile_changes c;
    const struct cli_profile_request *r = after->r;
    if (!cli_profile_changes_find(&c, before, after)) {
        cli_profile_changes_fini(&c);
        return;
    }
    put_side_head("before", &c.before);
    put_side_head("after", &c.after);
    warn_units(before, after);
    const struct cli_column columns[] = {
        {.head = "before", .least = 9},
        {.head = "after", .least = 8},
        {.head = "points", .gap = 2, .least = 8},
        {.head = cli_profile_by_name(after->o.by), .gap = 2, .left = true}};
    struct cli_table t = CLI_TABLE(columns);
    putchar('\n');
    uint32_t rows = 0, shown = 0;
    for (uint32_t i = 0; i < c.deltas->rows; i++) {
        const struct weft_profile_delta *d = &c.deltas->row[i];
        if (!d->before_self && !d->after_self) /* it only calls others */
            continue;
        bool reached = shown == rows; /* after the first row that is not shown, none is */
        rows++;
        if (reached && shown < r->limit && fabs(100 * d->self_share) >= r->least) {
            put_change(&t, &c, d);
            shown++;
        }
    }
    if (shown < rows) {
        for (unsigned i = 0; i < 3; i++)
            cli_cell(&t, "", "%s", "");
        cli_cell(&t, "", "%s more that changed no more than this; --limit 0 shows all",
                 weft_count(rows - shown).text);
    }
    cli_profile_changes_fini(&c);
    cli_table_print(&t);
}
