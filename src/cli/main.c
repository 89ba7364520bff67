/* SPDX-License-Identifier: ISC */
/* weft COMMAND …: finds the command. */
#include <signal.h>
#include <string.h>

#include "cli/common.h"

static const struct weft__command *const commands[] = {
    &weft__record,  &weft__sample,  &weft__ctl,      &weft__save,
    &weft__info,    &weft__dump,    &weft__promises, &weft__view,
#ifdef WEFT_HAS_PAGE
    &weft__html,
#endif
    &weft__render,  &weft__explain, &weft__stats,    &weft__diff,
    &weft__profile, &weft__export,  &weft__kprof,
};
#define COMMANDS (sizeof commands / sizeof *commands)

void (*weft__sigpipe)(int) = SIG_DFL;

static void print_overview(FILE *out)
{
    fputs("weft shows what an asynchronous program was waiting for.\n\n"
          "usage: weft COMMAND [OPTION…] FILE…\n"
          "       weft record [OPTION…] PROGRAM [ARG…]\n"
          "       weft help COMMAND\n"
          "       weft --version\n\n",
          out);
    for (size_t i = 0; i < COMMANDS; i++)
        fprintf(out, "  %-10s %s\n", commands[i]->name, commands[i]->summary);
    fputs("\n\"weft COMMAND --help\" says more. FILE is a trace of weft or mirage-profile; - is "
          "standard input,\n"
          "a number the id of a process that records, xen:NAME what that Xen guest records.\n"
          "Exit status: 0, 1 for a problem with a file, 2 for one with the command line, 3 for a "
          "check\n"
          "that fails.\n",
          out);
}

/* How many letters must be inserted, dropped or replaced to make b of a. */
static size_t distance(const char *a, const char *b)
{
    size_t row[32];
    size_t width = strlen(b);
    if (width >= sizeof row / sizeof *row)
        return SIZE_MAX;
    for (size_t j = 0; j <= width; j++)
        row[j] = j;
    for (size_t i = 1; *a; a++, i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= width; j++) {
            size_t best = diagonal + (*a != b[j - 1]);
            diagonal = row[j];
            if (row[j] + 1 < best)
                best = row[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            row[j] = best;
        }
    }
    return row[width];
}

_Noreturn static void unknown_command(const char *name)
{
    const char *nearest = NULL;
    size_t least = 3; /* farther is no typing error */
    for (size_t i = 0; i < COMMANDS; i++) {
        size_t d = distance(name, commands[i]->name);
        if (d < least) {
            least = d;
            nearest = commands[i]->name;
        }
    }
    if (nearest)
        weft__misuse("", "there is no command \"%s\" (did you mean \"%s\"?)", name, nearest);
    weft__misuse("", "there is no command \"%s\"", name);
}

/* A command may be shortened as an option may: as long as only one begins so. */
static const struct weft__command *find_command(const char *name)
{
    char list[256] = "";
    const struct weft__command *found = NULL;
    unsigned several = 0;
    for (size_t i = 0; i < COMMANDS; i++) {
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
        if (!*name || strncmp(commands[i]->name, name, strlen(name)) != 0)
            continue;
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", several++ ? ", " : "",
                 commands[i]->name);
        found = commands[i];
    }
    if (several > 1)
        weft__misuse("", "command \"%s\" is ambiguous: it may be one of %s", name, list);
    if (!found)
        unknown_command(name);
    return found;
}

static int help(const char *name)
{
    if (name)
        fputs(find_command(name)->help, stdout);
    else
        print_overview(stdout);
    return WEFT__DONE;
}

int main(int argc, char **argv)
{
    weft__sigpipe = signal(SIGPIPE, SIG_IGN); /* weft__finish looks after a reader that goes away */
    if (argc < 2) {
        print_overview(stderr);
        return WEFT__MISUSED;
    }
    const char *name = argv[1];
    if (strcmp(name, "--version") == 0 || strcmp(name, "version") == 0) {
        puts("weft " WEFT_VERSION);
        return weft__finish(WEFT__DONE);
    }
    if (strcmp(name, "help") == 0 || strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
        return weft__finish(help(argv[2]));
    if (*name == '-')
        weft__misuse("", "there is no option %s", name);
    const struct weft__command *command = find_command(name);
    return weft__finish(command->run(argc - 1, argv + 1));
}
