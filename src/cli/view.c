/* SPDX-License-Identifier: ISC */
/* weft view: runs the window, a program of its own (src/gtk), so that this one needs no GTK. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyse/explain.h"
#include "cli/common.h"
#include "cli/save.h"
#include "cli/source.h"

#define PROGRAM "weft-view"
#define PLACE_MAX 8192

struct request {
    char place[PLACE_MAX];
    size_t size; /* of place */
    bool raw, measure, diff, selected, finding, part;
    const char *theme;
};

static struct request request;

/* Appends to a place (explore.h): later values override earlier ones. */
static void append(struct request *r, const char *key, const char *value)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~";
    if (r->size + strlen(key) + 3 * strlen(value) + 3 > sizeof r->place)
        cli_misuse("view", "the place is too long");
    r->size += (size_t)sprintf(r->place + r->size, "%s%s=", r->size ? "&" : "", key);
    for (; *value; value++)
        r->size += (size_t)sprintf(r->place + r->size, strchr(plain, *value) ? "%c" : "%%%02X",
                                   (unsigned char)*value);
}

/* The option has the same name as the key of a place. */
static void append_time(const struct cli_command *c, const struct cli_option *o, const char *text)
{
    char number[32];
    const int64_t ns = cli_time(c, o, text);
    *(strcmp(o->name, "from") == 0 ? &cli_part.from_ns : &cli_part.to_ns) = ns;
    snprintf(number, sizeof number, "%" PRId64, ns);
    append(&request, o->name, number);
}

static void append_number(const struct cli_command *c, const struct cli_option *o, const char *text)
{
    uint64_t id;
    if (!weft_parse_count(text, o->most, &id) || id < o->least)
        cli_misuse(c->name, "--%s: \"%s\" is not the number of a %s", o->name, text,
                   o->least ? "finding, from 1" : "promise");
    append(&request, o->name, text);
}

static void append_text(const struct cli_command *c, const struct cli_option *o, const char *text)
{
    (void)c;
    append(&request, o->name, text ? text : "1");
}

/* A link to a page also works: the place is what follows the #. */
static void set_place(const struct cli_command *c, const struct cli_option *o, const char *text)
{
    struct request *r = &request;
    const char *fragment = strchr(text, '#');
    const char *place = fragment ? fragment + 1 : text;
    if (r->size + strlen(place) + 2 > sizeof r->place)
        cli_misuse(c->name, "--%s: the place is too long", o->name);
    r->size += (size_t)sprintf(r->place + r->size, "%s%s", r->size ? "&" : "", place);
}

static const char *const themes[] = {"light", "dark", NULL};

static const struct cli_option options[] = {
    CLI_CALL("at", set_place, "PLACE", "go to a place that \"copy link\" has copied"),
    CLI_CALL("from", append_time, "TIME", "begin there (39.5ms, 2s; a bare number is nanoseconds)"),
    CLI_CALL("to", append_time, "TIME", "end there"),
    CLI_FLAG("part", request.part,
             "open only what lies between --from and --to; the rest is not read, so it helps where "
             "a trace is larger than memory"),
    CLI_PART_STREAM,
    CLI_PART_PROMISE,
    CLI_CALL("select", append_number, "ID", "select that promise", .most = UINT64_MAX,
             .given = &request.selected),
    CLI_CALL("finding", append_number, "N", "show finding N of weft explain", .least = 1,
             .most = WEFT_FINDINGS_MAX, .given = &request.finding),
    CLI_CALL("diff", append_text, NULL,
             "two FILEs, a good run and a bad one: show where they diverge",
             .given = &request.diff),
    CLI_CALL("search", append_text, "TEXT", "search"),
    CLI_FLAG("raw", request.raw, "draw a bind and the like from its creation on"),
    CLI_TEXT("theme", request.theme, "THEME", "colours:", .words = themes,
             .shown = "as the desktop is, or as it was chosen last"),
    CLI_FLAG("measure", request.measure,
             "go through the trace for ten seconds, print what a frame costs, and end"),
    CLI_END,
};

/* Next to this program in the build, else in the installed location. PATH is not searched: a program of that name there
 * may be another version. */
static const char *find_window(void)
{
    static char path[PATH_MAX + sizeof PROGRAM];
    char folder[PATH_MAX];
    if (cli_own_folder(folder, sizeof folder)) {
        snprintf(path, sizeof path, "%s/" PROGRAM, folder);
        if (access(path, X_OK) == 0)
            return path;
    }
    snprintf(path, sizeof path, "%s/" PROGRAM, WEFT_LIBEXECDIR);
    return path;
}

static int run_window(const struct request *r, char **files, size_t count)
{
    const char *path = find_window();
    const char **argv = calloc(count + 8, sizeof *argv), **next = argv;
    if (!argv)
        return cli_fail("view", "out of memory");
    *next++ = "weft view";
    if (r->size) {
        *next++ = "--at";
        *next++ = r->place;
    }
    if (r->raw)
        *next++ = "--raw";
    if (r->measure)
        *next++ = "--measure";
    if (r->theme) {
        *next++ = "--theme";
        *next++ = r->theme;
    }
    *next++ = "--";
    memcpy(next, files, count * sizeof *next);
    signal(SIGPIPE, cli_sigpipe);
    execv(path, (char **)argv);
    if (errno == ENOENT)
        cli_say(
            "view",
            "the window, %s, is not installed; install weft-gtk, or build weft where GTK 4 is (on "
            "Debian: apt-get install libgtk-4-dev), or use weft html",
            path);
    else
        cli_say("view", "cannot run %s: %s", path, strerror(errno));
    free(argv);
    return CLI_FAILED;
}

/* Parts of traces, and traces of Xen domains, are copied, and the window opens the copies. */
static bool copy_guests(char **files, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct weft_error err = {.offset = WEFT_NO_OFFSET};
        if (request.part) {
            files[i] = (char *)cli_save_part(files[i]);
            if (!files[i])
                return false;
            continue;
        }
        const char *path = cli_trace_path_for_exec(files[i], &err);
        if (!path)
            return cli_complain(files[i], &err);
        files[i] = (char *)path;
    }
    return true;
}

static int run(int files, char **file)
{
    if (request.measure && files == 0)
        cli_misuse("view", "--measure needs a FILE");
    if (request.selected && (request.finding || request.diff))
        cli_misuse("view", "%s; leave out --select",
                   request.diff ? "--diff shows two traces where they part"
                                : "--finding selects what is to blame");
    if (request.diff && files != 2)
        cli_misuse("view", "--diff compares two FILEs, a good run and a bad one");
    request.part |= !weft_part_has_all(&cli_part);
    if (request.part && weft_part_is_whole(&cli_part))
        cli_misuse("view", "--part needs --from or --to");
    const size_t count = (size_t)files;
    return copy_guests(file, count) ? run_window(&request, file, count) : CLI_FAILED;
}

const struct cli_command cli_view = {
    .name = "view",
    .summary = "show traces in a window",
    .usage = "[OPTION…] [FILE…]",
    .about =
        "Shows traces in a window, one above the other. Drag to pan, turn the wheel to zoom, "
        "click on a promise to see what it waited for; ? shows the keys. FILE may be -, "
        "standard input, or xen:NAME. Without FILE, it opens a tour: what the parts of the picture "
        "mean, on an example.\n",
    .options = options,
    .examples = "weft view --search \"ARP response\" bad.weft good.weft",
    .completes = CLI_TRACES,
    .run = run,
    .state = CLI_STATE(request),
};
