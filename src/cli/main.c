/* SPDX-License-Identifier: ISC */
/* weft COMMAND …: finds the command. */
#include <signal.h>
#include <string.h>

#include "cli/common.h"
#include "cli/report.h"

#define COMMAND(name) extern const struct cli_command cli_##name;
#include "cli/commands.def"
#undef COMMAND

static const struct cli_command *const commands[] = {
#define COMMAND(name) &cli_##name,
#include "cli/commands.def"
#undef COMMAND
};
#define COMMANDS (sizeof commands / sizeof *commands)

void (*cli_sigpipe)(int) = SIG_DFL;
bool cli_no_pager;
char *cli_arguments_end;

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

static const char *command_name(const void *unused, size_t i)
{
    (void)unused;
    return i < COMMANDS ? commands[i]->name : NULL;
}

/* A command may be shortened like an option, as long as the prefix is unique. NULL: none matches, or several, which are
 * then in list. */
static const struct cli_command *match_command(const char *name, char *list, size_t size)
{
    const struct cli_command *found = NULL;
    unsigned several = 0;
    *list = '\0';
    for (size_t i = 0; i < COMMANDS; i++) {
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
        if (!*name || strncmp(commands[i]->name, name, strlen(name)) != 0)
            continue;
        cli_append(list, size, "%s%s", several++ ? ", " : "", commands[i]->name);
        found = commands[i];
    }
    return several == 1 ? found : NULL;
}

static const struct cli_command *find_command(const char *name)
{
    char list[256];
    const struct cli_command *found = match_command(name, list, sizeof list);
    const char *nearest = found ? NULL : cli_nearest(name, command_name, NULL);
    if (!found && *list)
        cli_misuse("", "command \"%s\" is ambiguous: it may be one of %s", name, list);
    if (!found && nearest)
        cli_misuse("", "there is no command \"%s\" (did you mean \"%s\"?)", name, nearest);
    if (!found)
        cli_misuse("", "there is no command \"%s\"", name);
    return found;
}

static int help(const char *name)
{
    if (name)
        cli_help(find_command(name));
    else {
        cli_narrow_output();
        print_overview(stdout);
    }
    return CLI_DONE;
}

/* Prints what may come next; the last word may be incomplete. */
static int complete(int words, char **word)
{
    char list[256];
    const struct cli_command *c = NULL;
    const bool of_help = words > 1 && strcmp(word[0], "help") == 0;
    if (words == 1 || (words == 2 && of_help)) {
        for (size_t i = 0; i < COMMANDS; i++)
            cli_complete_word(commands[i]->name, commands[i]->summary);
        cli_complete_word(of_help ? NULL : "help", "say what a command does");
        cli_complete_word(of_help ? NULL : "--version", "say which weft this is");
        cli_complete_word(of_help ? NULL : "--help", "list the commands");
    } else if (words > 1 && (c = match_command(word[0], list, sizeof list))) {
        cli_complete(c, words - 1, word + 1);
    }
    return CLI_DONE;
}

int main(int argc, char **argv)
{
    cli_sigpipe = signal(SIGPIPE, SIG_IGN); /* cli_finish handles a reader that goes away */
    cli_arguments_end = argv[argc - 1] + strlen(argv[argc - 1]) + 1;
    cli_narrow_messages();
    if (argc > 1 && strcmp(argv[1], "--no-pager") == 0) {
        cli_no_pager = true;
        argc--;
        argv++;
    }
    if (argc < 2) {
        print_overview(stderr);
        return CLI_MISUSED;
    }
    const char *name = argv[1];
    if (strcmp(name, "--version") == 0 || strcmp(name, "version") == 0) {
        puts("weft " WEFT_VERSION);
        return cli_finish(CLI_DONE);
    }
    if (strcmp(name, "help") == 0 || strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
        return cli_finish(help(argv[2]));
    /* For shells, and for the manual. */
    if (strcmp(name, "--complete") == 0)
        return cli_finish(complete(argc - 2, argv + 2));
    if (strcmp(name, "--manual") == 0 && argc == 3) {
        cli_manual(find_command(argv[2]));
        return cli_finish(CLI_DONE);
    }
    if (*name == '-')
        cli_misuse("", "there is no option %s", name);
    const struct cli_command *command = find_command(name);
    int operands;
    char **operand = cli_parse(command, argc - 1, argv + 1, &operands);
    if (!command->raw)
        cli_narrow_output();
    if (command->paged)
        cli_page();
    return cli_finish(command->run(operands, operand));
}
