/* SPDX-License-Identifier: ISC */
/* The story of one promise and its critical path, or how all those of one label fared. */
#ifndef WEFT_CLI_STORY_H
#define WEFT_CLI_STORY_H

#include "analyse/crowd.h"
#include "analyse/story.h"

/* Prints it. which: see which.h. Says what is wrong. Returns an exit status. */
int weft__story_print(const struct weft_history *h, const char *which, bool json);

/* Promises of one label, and their numbers. */
struct weft__crowd_told {
    const char *which;
    const struct weft__families *families;
    const uint32_t *promise;
    uint32_t count;
    struct weft_crowd crowd;
};

#define WEFT__SLOWEST 3 /* whose paths are shown */

/* The slowest ones, the first the slowest; pending ones where none was resolved. Returns how many. */
uint32_t weft__story_slowest(const struct weft__crowd_told *c, uint32_t slowest[WEFT__SLOWEST]);

/* story_json.c. Returns 0 or WEFT_E_NOMEM. */
int weft__story_json(const struct weft_history *h, uint32_t promise);
int weft__crowd_json(const struct weft_history *h, const struct weft__crowd_told *c);

/* story_text.c. Returns 0 or WEFT_E_NOMEM. */
int weft__story_text(const struct weft_history *h, uint32_t promise);
int weft__crowd_text(const struct weft_history *h, const struct weft__crowd_told *c);

#endif
