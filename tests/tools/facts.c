/* SPDX-License-Identifier: ISC */
/* facts FILE [raw]: what the window and the page say of a trace, for tests that compare it with what other commands say.
 * Each line of standard input is a question:
 *
 *     trace               the facts of the trace
 *     promise NUMBER      the facts of that promise
 *     range FROM TO       the facts of that time, in nanoseconds
 *     search QUERY        one line: what is found
 *
 * An answer is lines of a name, a tab, and a text; a heading has no text. It ends with an empty line. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "explore/explore.h"

static struct weft_explorer *e;
static struct weft_model *m;

static void die(const char *what)
{
    fprintf(stderr, "facts: %s\n", what);
    exit(1);
}

static void load(const char *path, bool raw)
{
    struct weft_reader *r;
    struct weft_scene *s;
    struct weft_error err = {.offset = WEFT_NO_OFFSET};
    if (weft_reader_open(&r, path, &err) < 0 || weft_model_build(&m, r, NULL, NULL, &err) < 0)
        die(err.text);
    if (weft_scene_load(&s, m, r, raw, NULL, NULL) < 0 || weft_explorer_new(&e) < 0 ||
        weft_explorer_add(e, s, m, "trace") < 0 || weft_explorer_analyse(e) < 0)
        die("no memory");
    weft_reader_close(r);
}

static void print_facts(void)
{
    uint32_t count;
    const struct weft_fact *f = weft_explorer_facts(e, &count);
    const char *name = "";
    for (uint32_t i = 0; i < count; i++) {
        name = *f[i].name ? f[i].name : name;
        printf("%s\t%s\n", name, f[i].text);
    }
    putchar('\n');
}

static void answer(char *line)
{
    char place[100];
    uint64_t id;
    int64_t from, to;
    line[strcspn(line, "\n")] = '\0';
    weft_explorer_go(e, "");
    if (sscanf(line, "promise %" SCNu64, &id) == 1) {
        const uint32_t promise = weft_model_find(m, id);
        if (promise == WEFT_NONE)
            die("there is no such promise");
        weft_explorer_select(e, 0, promise);
    } else if (sscanf(line, "range %" SCNd64 " %" SCNd64, &from, &to) == 2) {
        snprintf(place, sizeof place, "range=%" PRId64 "-%" PRId64, from, to);
        if (!weft_explorer_go(e, place))
            die(line);
    } else if (strncmp(line, "search ", 7) == 0) {
        weft_explorer_search(e, line + 7);
        while (weft_explorer_work(e))
            ;
        printf("%s\t\n\n", weft_explorer_found(e));
        return;
    } else if (strcmp(line, "trace") != 0) {
        die("what is asked?");
    }
    print_facts();
}

int main(int argc, char **argv)
{
    char line[1000];
    if (argc < 2)
        return 2;
    load(argv[1], argc > 2);
    while (fgets(line, sizeof line, stdin))
        answer(line);
    weft_explorer_free(e);
    return ferror(stdin) || fflush(stdout) != 0;
}
