/* SPDX-License-Identifier: ISC */
/* Lines of source files. The profile names the files, and somebody else may have made it: so only files that look like
 * program source are read, they must be regular files, and only a limited part is read. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/common.h"
#include "cli/profile/profile.h"
#include "symbols/regular.h"

enum { FILES = 64, FILE_BYTES = 4 << 20, LINE_BYTES = 240 };

struct source {
    char *path;
    char *text; /* NULL: cannot be shown */
    size_t size;
    bool changed;
};

/* The report. Source files are read once, and bounded. */
struct table {
    const struct cli_profile_view *v;
    const struct weft_profile_list *l;
    time_t recorded; /* when the recording ended; 0: not known */
    struct source file[FILES];
    unsigned files;
    char line[LINE_BYTES];
    bool changed; /* a file that was changed after the recording is shown */
};

static bool looks_like_source(const char *path)
{
    static const char *const suffixes[] = {
        "c",   "h",   "cc", "hh", "cpp", "hpp", "cxx",  "hxx", "inc", "inl", "ipp",
        "tcc", "S",   "s",  "rs", "go",  "d",   "m",    "mm",  "zig", "nim", "swift",
        "py",  "js",  "ts", "ml", "mli", "hs",  "java", "kt",  "f",   "f90", "pas",
        "adb", "ads", "cu", "l",  "y",   "re",  "vala", "cr",  "v"};
    const char *dot = strrchr(cli_base(path), '.');
    for (unsigned i = 0; dot && i < sizeof suffixes / sizeof *suffixes; i++)
        if (strcmp(dot + 1, suffixes[i]) == 0)
            return true;
    return false;
}

static char *read_all(int fd, size_t size)
{
    char *text = malloc(size + 1);
    size_t done = 0;
    ssize_t got = 1;
    while (text && done < size && (got = read(fd, text + done, size - done)) > 0)
        done += (size_t)got;
    if (text && (done < size || memchr(text, 0, size))) {
        free(text);
        return NULL;
    }
    if (text)
        text[size] = 0;
    return text;
}

static void load(struct table *s, struct source *f, const char *path)
{
    char full[4096];
    struct stat named, st;
    const char *root = s->v->r->sysroot ? s->v->r->sysroot : "";
    int n = snprintf(full, sizeof full, "%s%s", root, path);
    if (*path != '/' || n < 0 || (size_t)n >= sizeof full || !looks_like_source(path))
        return;
    /* Links are not followed: their names only look like those of source files. */
    if (lstat(full, &named) != 0 || !S_ISREG(named.st_mode))
        return;
    int fd = symbols_regular_open(NULL, full);
    if (fd < 0)
        return;
    if (fstat(fd, &st) == 0 && st.st_dev == named.st_dev && st.st_ino == named.st_ino &&
        st.st_size > 0 && st.st_size <= FILE_BYTES) {
        f->size = (size_t)st.st_size;
        f->text = read_all(fd, f->size);
        f->changed = s->recorded && st.st_mtime > s->recorded + 1;
    }
    close(fd);
}

static struct source *find(struct table *s, const char *path)
{
    for (unsigned i = 0; i < s->files; i++)
        if (strcmp(s->file[i].path, path) == 0)
            return &s->file[i];
    if (s->files == FILES)
        return NULL;
    struct source *f = &s->file[s->files];
    f->path = strdup(path);
    if (!f->path)
        return NULL;
    s->files++;
    load(s, f, path);
    return f;
}

/* The text of a line without leading and trailing space, or NULL. *changed: the file was changed after the recording. */
static const char *line_of(struct table *s, const char *path, uint32_t line, bool *changed)
{
    const struct source *f = line ? find(s, path) : NULL;
    if (!f || !f->text)
        return NULL;
    const char *at = f->text, *end = f->text + f->size;
    for (; at && line > 1; line--) {
        at = memchr(at, '\n', (size_t)(end - at));
        at = at ? at + 1 : NULL;
    }
    if (!at || at >= end)
        return NULL;
    const char *stop = memchr(at, '\n', (size_t)(end - at));
    stop = stop ? stop : end;
    while (at < stop && (*at == ' ' || *at == '\t'))
        at++;
    while (stop > at && (stop[-1] == ' ' || stop[-1] == '\t' || stop[-1] == '\r'))
        stop--;
    size_t size = (size_t)(stop - at) < LINE_BYTES - 1 ? (size_t)(stop - at) : LINE_BYTES - 1;
    memcpy(s->line, at, size);
    s->line[size] = 0;
    *changed = f->changed;
    return s->line;
}

/* "burn.c:17"; where no line is known, "[kernel]" … */
static struct cli_shown where_of(const struct cli_profile_view *v, const struct weft_named_frame *f)
{
    const struct weft_profile *p = v->p;
    char text[500];
    const char *file =
        f->function == WEFT_NONE ? "" : weft_profile_text(p, p->function[f->function].file);
    if (f->function == WEFT_NONE && f->kind == WEFT_FRAME_FUNCTION) /* several, on one line */
        return cli_shown(cli_base(weft_profile_text(p, f->text)));
    if (!*file || !f->line) {
        struct cli_shown place = cli_profile_place(v, f);
        return *place.text ? place : (struct cli_shown){"-"};
    }
    snprintf(text, sizeof text, "%.450s:%" PRIu32, cli_base(file), f->line);
    return cli_shown(text);
}

static struct cli_shown function_of(const struct weft_profile *p, const struct weft_named_frame *f)
{
    return cli_shown(
        weft_profile_text(p, f->function == WEFT_NONE ? f->text : p->function[f->function].name));
}

static void put_row(struct table *t, struct cli_table *out, const struct weft_profile_row *r,
                    uint64_t sum)
{
    const struct weft_profile *p = t->v->p;
    const uint64_t total = t->l->total;
    const char *line = NULL;
    bool changed = false;
    cli_cell(out, "", "%s", cli_profile_amount(t->v, r->self, total).text);
    cli_cell(out, "", "%s", cli_profile_share(r->self, total).text);
    cli_cell(out, "", "%s", cli_profile_share(sum, total).text);
    cli_cell(out, "", "%s", cli_profile_share(r->total, total).text);
    cli_cell(out, "", "%s", where_of(t->v, &r->frame).text);
    cli_cell(out, "", "%s", function_of(p, &r->frame).text);
    if (r->frame.function != WEFT_NONE)
        line = line_of(t, weft_profile_text(p, p->function[r->frame.function].file), r->frame.line,
                       &changed);
    t->changed |= changed;
    char text[700];
    snprintf(text, sizeof text, "%s%.300s", changed ? "~ " : "", line ? cli_shown(line).text : "");
    cli_cell_aside(out, line ? text : "");
}

void cli_profile_print_lines(const struct cli_profile_view *v)
{
    static const struct cli_column columns[] = {
        {.head = "self", .least = 10},
        {.head = "self %", .least = 8},
        {.head = "sum %", .least = 8},
        {.head = "total %", .gap = 2, .least = 8},
        {.head = "line", .gap = 2, .least = 6, .most = 40, .left = true},
        {.head = "function, and what stands there", .gap = 2, .left = true}};
    struct cli_table out = CLI_TABLE(columns);
    struct table t = {.v = v};
    struct weft_profile_list *l = cli_profile_list(v, v->o.by);
    uint64_t sum = 0;
    if (!l)
        return;
    t.l = l;
    if (v->files->this_boot)
        t.recorded =
            time(NULL) - (time_t)((weft_monotonic_ns() - (int64_t)v->p->last_ns) / 1000000000);
    const uint32_t shown = cli_profile_rows_shown(l, v->r->limit, v->r->least);
    for (uint32_t i = 0; i < shown; i++) {
        sum += l->row[i].self;
        put_row(&t, &out, &l->row[i], sum);
    }
    if (l->samples == 0)
        cli_profile_say_nothing(v);
    else
        cli_table_print(&out);
    if (shown < l->rows)
        printf("%*s%s more; --limit 0 shows all\n", 41, "", weft_count(l->rows - shown).text);
    if (t.changed)
        printf("~: the file has been written since the recording, so something else may stand "
               "there\n");
    for (unsigned i = 0; i < t.files; i++) {
        free(t.file[i].path);
        free(t.file[i].text);
    }
    weft_profile_list_free(l);
}
