/* SPDX-License-Identifier: ISC */
/* Commands by what users type of their names. */
#include <string.h>

#include "explore/command.h"

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

/* Where a word of that size is in a text, without regard to capitals: 2: where a word begins, 1: inside, 0: nowhere. */
static int find_word(const char *text, const char *word, size_t size)
{
    int best = 0;
    for (const char *t = text; *t && best < 2; t++) {
        size_t i = 0;
        while (i < size && t[i] && lower(t[i]) == lower(word[i]))
            i++;
        if (i == size)
            best = t == text || t[-1] == ' ' || t[-1] == '-' ? 2 : best > 1 ? best : 1;
    }
    return best;
}

/* How well a command fits: 0, not at all; every word must be somewhere. */
static unsigned rank(const struct weft_command_info *c, const char *query)
{
    unsigned sum = 1;
    for (const char *q = query + strspn(query, " "); *q; q += strspn(q, " ")) {
        size_t size = strcspn(q, " ");
        int name = find_word(c->name, q, size), help = find_word(c->help, q, size),
            group = find_word(c->group, q, size);
        if (!name && !help && !group)
            return 0;
        sum += (unsigned)(name * 4 + help * 2 + group);
        q += size;
    }
    return sum;
}

unsigned weft_command_find(const char *query, enum weft_command found[WEFT_COMMANDS])
{
    unsigned value[WEFT_COMMANDS], count = 0;
    for (unsigned i = 0; i < WEFT_COMMANDS; i++) {
        unsigned own = rank(&weft_commands[i], query), at = count;
        if (!own)
            continue;
        for (; at > 0 && value[at - 1] < own;
             at--) { /* equal ones stay in the order of the table */
            value[at] = value[at - 1];
            found[at] = found[at - 1];
        }
        value[at] = own;
        found[at] = (enum weft_command)i;
        count++;
    }
    return count;
}
