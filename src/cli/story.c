/* SPDX-License-Identifier: ISC */
/* weft explain --promise. */
#include "cli/story.h"

#include <stdlib.h>

#include "cli/common.h"
#include "cli/which.h"

uint32_t weft__story_slowest(const struct weft__crowd_told *c, uint32_t slowest[WEFT__SLOWEST])
{
    uint32_t n = 0;
    while (n < WEFT__SLOWEST && n < c->crowd.members) {
        slowest[n] = c->crowd.member[c->crowd.members - 1 - n].promise;
        n++;
    }
    if (n == 0 && c->crowd.oldest_pending != WEFT_NONE)
        slowest[n++] = c->crowd.oldest_pending;
    return n;
}

static int print_one(const struct weft_history *h, uint32_t promise, bool json)
{
    return json ? weft__story_json(h, promise) : weft__story_text(h, promise);
}

static int print_crowd(const struct weft_history *h, struct weft__crowd_told *c, bool json)
{
    int rc = weft_crowd_find(&c->crowd, h, c->families, c->promise, c->count);
    if (rc == 0)
        rc = json ? weft__crowd_json(h, c) : weft__crowd_text(h, c);
    weft_crowd_fini(&c->crowd);
    return rc;
}

static int status(int rc)
{
    if (rc < 0)
        weft__say("explain", "%s", weft_error_name(rc));
    return rc < 0 ? WEFT__FAILED : WEFT__DONE;
}

int weft__story_print(const struct weft_history *h, const char *which, bool json)
{
    uint32_t number = weft__which_number(h->m, which);
    struct weft__families families;
    struct weft__which found;
    if (number != WEFT_NONE && number != WEFT_ROOT)
        return status(print_one(h, number, json));
    int rc = weft__families_init(&families, h->m);
    if (rc < 0)
        return status(rc);
    if (!weft__which_find(&found, h->m, &families, which)) {
        weft__families_fini(&families);
        return WEFT__FAILED;
    }
    struct weft__crowd_told crowd = {
        .which = which, .families = &families, .promise = found.promise, .count = found.count};
    rc = found.count == 1 ? print_one(h, found.promise[0], json) : print_crowd(h, &crowd, json);
    weft__which_fini(&found);
    weft__families_fini(&families);
    return status(rc);
}
