/* SPDX-License-Identifier: ISC */
/* The commands of the viewers; keys and menu items trigger them. */
#pragma once

enum weft_command {
#define COMMAND(NAME, name, where, group, keys, help) WEFT_COMMAND_##NAME,
#include "explore/command.def"
    WEFT_COMMANDS
};

enum weft_command_where {
    WEFT_COMMAND_CORE,  /* weft_explorer_command does it */
    WEFT_COMMAND_FRONT, /* the window or the page does it */
};

struct weft_command_info {
    const char *name;
    enum weft_command_where where;
    const char *group, *keys, *help;
};
extern const struct weft_command_info weft_commands[WEFT_COMMANDS];

/* The command of a key (see weft_explorer_key), or WEFT_COMMANDS. */
enum weft_command weft_command_of_key(const char *key, unsigned mods);

/* The commands that fit what somebody types, the best first: each word, separated by spaces, must be in a command's name,
 * help or group, capitals or not. An empty query fits all, in the order of the table. Returns their number. */
unsigned weft_command_find(const char *query, enum weft_command found[WEFT_COMMANDS]);
