/* SPDX-License-Identifier: ISC */
/* Answers the shells' questions while the user types: completions/weft.bash, weft.zsh and weft.fish turn the answers
 * into what their shell expects. */
#include <dirent.h>
#include <stdio.h>
#include <string.h>

#include "cli/options.h"
#include "cli/xen.h"

void cli_complete_word(const char *word, const char *what)
{
    if (word && what)
        printf("d%s\t%s%c", word, what, '\0');
    else if (word)
        printf("w%s%c", word, '\0');
}

static void put_domain(const char *name)
{
    printf("wxen:%s%c", name, '\0');
}

static void put_processes(void)
{
    DIR *d = opendir("/proc");
    const struct dirent *entry;
    while (d && (entry = readdir(d)))
        if (*entry->d_name >= '1' && *entry->d_name <= '9')
            cli_complete_word(entry->d_name, NULL);
    if (d)
        closedir(d);
}

/* completes: as in cli_command. typed: what has been typed so far. */
static void put_completions(const char *completes, const char *typed)
{
    if (!completes)
        return;
    if (strcmp(completes, CLI_PROCESSES) == 0)
        put_processes();
    else if (strcmp(completes, CLI_USERS) == 0)
        printf("u%c", '\0');
    else if (strncmp(completes, CLI_TRACES, strlen(CLI_TRACES)) == 0 &&
             strncmp(typed, "xen:", strlen("xen:")) == 0)
        cli_xen_names(put_domain);
    else
        printf("f%s%c", completes, '\0');
}

/* Completes the values of an option. `before` is put in front of each: "--check=". */
static void put_values(const struct cli_option *o, const char *before, const char *typed)
{
    const char *word;
    char text[256];
    for (unsigned i = 0; (word = cli_word(o, i)); i++) {
        const char *comma = o->list ? strrchr(typed, ',') : NULL;
        snprintf(text, sizeof text, "%s%.*s%s", before, comma ? (int)(comma + 1 - typed) : 0, typed,
                 word);
        cli_complete_word(text, NULL);
    }
    if (!cli_word(o, 0))
        put_completions(o->completes, typed);
}

static void put_options(const struct cli_option *table, const struct cli_option *before)
{
    char text[80];
    for (const struct cli_option *o = table; o && o->kind != CLI_IS_END; o++) {
        bool known = !cli_is_listed(o);
        for (const struct cli_option *b = before; !known && b && b->kind != CLI_IS_END; b++)
            known = cli_is_listed(b) && strcmp(b->name, o->name) == 0;
        if (known)
            continue;
        snprintf(text, sizeof text, "--%s", o->name);
        cli_complete_word(text, o->help);
        if (o->alone) {
            snprintf(text, sizeof text, "--%s=", o->name);
            cli_complete_word(text, o->help);
        }
    }
}

/* The option that a word names, from the tables of the command. size: the length of the name. */
static const struct cli_option *find(const struct cli_command *c, const char *word)
{
    const struct cli_option *const tables[] = {c->others, c->options};
    const bool is_long = strncmp(word, "--", 2) == 0;
    const size_t size = is_long ? strcspn(word + 2, "=") : 0;
    const struct cli_option *found = NULL;
    if (*word != '-' || !word[1] || (is_long && !size))
        return NULL;
    for (size_t t = 0; t < 2; t++)
        for (const struct cli_option *o = tables[t]; o && o->kind != CLI_IS_END; o++) {
            if (!cli_is_listed(o))
                continue;
            if (is_long ? strncmp(o->name, word + 2, size) == 0 && !o->name[size]
                        : o->letter && o->letter == word[1] && !word[2])
                found = o;
        }
    return found;
}

void cli_complete(const struct cli_command *c, int words, char **word)
{
    const char *typed = word[words - 1];
    int operands = 0, first = words;
    bool only_operands = false;
    for (int i = 0; i + 1 < words; i++) {
        const struct cli_option *o = only_operands ? NULL : find(c, word[i]);
        if (!only_operands && strcmp(word[i], "--") == 0) {
            only_operands = true;
        } else if (o && o->value && !o->alone && !strchr(word[i], '=')) { /* takes the next word */
            if (i + 2 == words) {
                put_values(o, "", typed);
                return;
            }
            i++;
        } else if (only_operands || *word[i] != '-' || !word[i][1]) {
            first = operands++ == 0 ? i : first;
            if (c->program)
                break;
        }
    }
    if (c->program && (operands || *typed != '-' || only_operands)) {
        printf("p%d%c", operands ? first : words - 1, '\0');
        return;
    }
    if (!only_operands && *typed == '-') {
        const struct cli_option *o = strchr(typed, '=') ? find(c, typed) : NULL;
        if (o && o->value) {
            char before[80];
            const size_t size = strcspn(typed, "=") + 1;
            snprintf(before, sizeof before, "%.*s", (int)size, typed);
            put_values(o, before, typed + size);
            return;
        }
        put_options(c->options, NULL);
        put_options(c->others, c->options);
        if (c->paged)
            cli_complete_word("--no-pager", "do not show it in a pager");
        cli_complete_word("--help", "say what it does, and list its options");
        return;
    }
    for (unsigned i = 0; operands && c->words && c->words[i]; i++)
        cli_complete_word(c->words[i], NULL);
    put_completions(c->completes, typed);
}
