/* SPDX-License-Identifier: ISC */
#include "explore/command.h"

#include <string.h>

#include "explore/explore.h"

const struct weft_command_info weft_commands[WEFT_COMMANDS] = {
#define COMMAND(NAME, name, where, group, keys, help)                                              \
    {name, WEFT_COMMAND_##where, group, keys, help},
#include "explore/command.def"
};

/* Returns true if `wanted` is one of `keys`, which are separated by spaces. */
static bool is_among(const char *keys, const char *wanted)
{
    size_t n = strlen(wanted);
    for (const char *k = keys; *k; k += strspn(k, " ")) {
        size_t size = strcspn(k, " ");
        if (size == n && !memcmp(k, wanted, n))
            return true;
        k += size;
    }
    return false;
}

static enum weft_command command_of(const char *key, unsigned mods)
{
    char wanted[48] = "";
    if (mods & WEFT_SHIFT)
        strcat(wanted, "Shift+");
    if (mods & WEFT_CTRL)
        strcat(wanted, "Ctrl+");
    if (mods & WEFT_ALT)
        strcat(wanted, "Alt+");
    strcat(wanted, strcmp(key, " ") ? key : "Space");
    unsigned i = 0;
    while (i < WEFT_COMMANDS && !is_among(weft_commands[i].keys, wanted))
        i++;
    return (enum weft_command)i;
}

enum weft_command weft_command_of_key(const char *key, unsigned mods)
{
    enum weft_command command = WEFT_COMMANDS;
    if (strlen(key) > 24)
        return WEFT_COMMANDS;
    if (mods & WEFT_SHIFT) /* the character itself already says whether Shift is held */
        command = command_of(key, mods);
    return command < WEFT_COMMANDS ? command : command_of(key, mods & ~(unsigned)WEFT_SHIFT);
}
