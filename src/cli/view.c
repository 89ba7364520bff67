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
#include "cli/source.h"

#define PROGRAM "weft-view"
#define PLACE_MAX 8192

static const char help[] =
    "usage: weft view [OPTION…] [FILE…]\n\n"
    "Shows traces in a window, one above the other. Drag to pan, turn the wheel to zoom, click on "
    "a\n"
    "promise to see what it waited for; ? shows the keys. FILE may be -, standard input, or "
    "xen:NAME.\n\n"
    "      --at PLACE      go to a place that \"copy link\" has copied\n"
    "      --from TIME     begin there (39.5ms, 2s; a bare number is nanoseconds)\n"
    "      --to TIME       end there\n"
    "      --select ID     select that promise\n"
    "      --finding N     show finding N of weft explain\n"
    "      --diff          two FILEs, a good run and a bad one: show where they diverge\n"
    "      --search TEXT   search\n"
    "      --raw           draw a bind and the like from its creation on\n"
    "      --theme THEME   light or dark (default: as the desktop is, or as it was chosen last)\n"
    "      --tour          go through the trace for ten seconds, print what a frame costs, and "
    "end\n"
    "      --help          this text\n\n"
    "Example: weft view --search \"ARP response\" bad.weft good.weft\n";

enum { AT = WEFT__HELP + 1, FROM, TO, SELECT, FINDING, DIFF, SEARCH, RAW, THEME, TOUR };

static const struct option options[] = {
    {"at", required_argument, NULL, AT},
    {"from", required_argument, NULL, FROM},
    {"to", required_argument, NULL, TO},
    {"select", required_argument, NULL, SELECT},
    {"finding", required_argument, NULL, FINDING},
    {"diff", no_argument, NULL, DIFF},
    {"search", required_argument, NULL, SEARCH},
    {"raw", no_argument, NULL, RAW},
    {"theme", required_argument, NULL, THEME},
    {"tour", no_argument, NULL, TOUR},
    WEFT__HELP_OPTION,
    {0},
};

struct request {
    char place[PLACE_MAX];
    size_t size; /* of place */
    bool raw, tour, diff, selected, finding;
    const char *theme;
};

/* Appends to the place as explore.h has it: what comes later counts. */
static void append(struct request *r, const char *key, const char *value)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~";
    if (r->size + strlen(key) + 3 * strlen(value) + 3 > sizeof r->place)
        weft__misuse("view", "the place is too long");
    r->size += (size_t)sprintf(r->place + r->size, "%s%s=", r->size ? "&" : "", key);
    for (; *value; value++)
        r->size += (size_t)sprintf(r->place + r->size, strchr(plain, *value) ? "%c" : "%%%02X",
                                   (unsigned char)*value);
}

static void append_time(struct request *r, const char *key, const char *option, const char *text)
{
    char number[32];
    snprintf(number, sizeof number, "%" PRId64, weft__time_value(&weft__view, option, text));
    append(r, key, number);
}

/* A link of a page is one, too: what follows the #. */
static void set_place(struct request *r, const char *text)
{
    const char *fragment = strchr(text, '#');
    const char *place = fragment ? fragment + 1 : text;
    if (r->size + strlen(place) + 2 > sizeof r->place)
        weft__misuse("view", "--at: the place is too long");
    r->size += (size_t)sprintf(r->place + r->size, "%s%s", r->size ? "&" : "", place);
}

static void parse_option(struct request *r, int c)
{
    uint64_t id;
    switch (c) {
    case AT:
        set_place(r, optarg);
        break;
    case FROM:
        append_time(r, "from", "--from", optarg);
        break;
    case TO:
        append_time(r, "to", "--to", optarg);
        break;
    case SELECT:
        if (!weft_parse_count(optarg, UINT64_MAX, &id))
            weft__misuse("view", "--select: \"%s\" is not the number of a promise", optarg);
        append(r, "select", optarg);
        r->selected = true;
        break;
    case FINDING:
        if (!weft_parse_count(optarg, WEFT_FINDINGS_MAX, &id) || id == 0)
            weft__misuse("view", "--finding: \"%s\" is not the number of a finding, from 1",
                         optarg);
        append(r, "finding", optarg);
        r->finding = true;
        break;
    case DIFF:
        r->diff = true;
        append(r, "diff", "1");
        break;
    case SEARCH:
        append(r, "search", optarg);
        break;
    case RAW:
        r->raw = true;
        break;
    case THEME:
        if (strcmp(optarg, "light") != 0 && strcmp(optarg, "dark") != 0)
            weft__misuse("view", "--theme: \"%s\" is neither light nor dark", optarg);
        r->theme = optarg;
        break;
    case TOUR:
        r->tour = true;
        break;
    }
}

/* Beside this program where it was built; else where it is installed. Only from there: what PATH has under
 * that name may be of another version. */
static const char *find_window(void)
{
    static char path[PATH_MAX + sizeof PROGRAM];
    char folder[PATH_MAX];
    if (weft__own_folder(folder, sizeof folder)) {
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
    char **argv = calloc(count + 8, sizeof *argv);
    size_t n = 0;
    if (!argv) {
        weft__say("view", "out of memory");
        return WEFT__FAILED;
    }
    argv[n++] = (char *)"weft view";
    if (r->size) {
        argv[n++] = (char *)"--at";
        argv[n++] = (char *)r->place;
    }
    if (r->raw)
        argv[n++] = (char *)"--raw";
    if (r->tour)
        argv[n++] = (char *)"--tour";
    if (r->theme) {
        argv[n++] = (char *)"--theme";
        argv[n++] = (char *)r->theme;
    }
    argv[n++] = (char *)"--";
    memcpy(argv + n, files, count * sizeof *argv);
    signal(SIGPIPE, weft__sigpipe);
    execv(path, argv);
    if (errno == ENOENT)
        weft__say(
            "view",
            "the window, %s, is not installed; install weft-gtk, or build weft where GTK 4 is (on "
            "Debian: apt-get install libgtk-4-dev), or use weft html",
            path);
    else
        weft__say("view", "cannot run %s: %s", path, strerror(errno));
    free(argv);
    return WEFT__FAILED;
}

/* Traces of Xen domains are copied, and the window opens the copies. */
static bool copy_guests(char **files, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct weft_error err = {.offset = WEFT_NO_OFFSET};
        const char *path = weft__trace_path_for_exec(files[i], &err);
        if (!path) {
            weft__complain(files[i], &err);
            return false;
        }
        files[i] = (char *)path;
    }
    return true;
}

static int run(int argc, char **argv)
{
    static struct request request;
    int c;
    while ((c = weft__option(&weft__view, argc, argv, ":", options)) != -1)
        parse_option(&request, c);
    if (request.tour && optind == argc)
        weft__misuse("view", "--tour needs a FILE");
    if (request.selected && (request.finding || request.diff))
        weft__misuse("view", "%s; leave out --select",
                     request.diff ? "--diff shows two traces where they part"
                                  : "--finding selects what is to blame");
    if (request.diff && argc - optind != 2)
        weft__misuse("view", "--diff compares two FILEs, a good run and a bad one");
    char **files = argv + optind;
    size_t count = (size_t)(argc - optind);
    return copy_guests(files, count) ? run_window(&request, files, count) : WEFT__FAILED;
}

const struct weft__command weft__view = {"view", "show traces in a window", help, run};
