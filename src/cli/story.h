/* SPDX-License-Identifier: ISC */
/* The story of one promise and its critical path, or a summary of all promises with one label. */
#ifndef WEFT_CLI_STORY_H
#define WEFT_CLI_STORY_H

#include "analyse/crowd.h"
#include "analyse/story.h"

/* Prints it. which: see which.h. Prints what is wrong. Returns an exit status. */
int cli_story_print(const struct weft_history *h, const char *which, bool json);

/* Promises with one label, and figures about them. */
struct cli_crowd_told {
    const char *which;
    const struct analyse_families *families;
    const uint32_t *promise;
    uint32_t count;
    struct weft_crowd crowd;
};

#define CLI_SLOWEST 3 /* whose paths are shown */

/* The slowest promises, slowest first; pending ones if none was resolved. Returns how many. */
uint32_t cli_story_slowest(const struct cli_crowd_told *c, uint32_t slowest[CLI_SLOWEST]);

/* story_text.c */
void cli_story_text(const struct weft_history *h, uint32_t promise);
void cli_crowd_text(const struct weft_history *h, const struct cli_crowd_told *c);

#endif
