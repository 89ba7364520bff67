/* SPDX-License-Identifier: ISC */
/* weft explain --promise. */
#include "cli/story.h"

#include <stdlib.h>

#include "cli/common.h"
#include "cli/which.h"

uint32_t cli_story_slowest(const struct cli_crowd_told *c, uint32_t slowest[CLI_SLOWEST])
{
    uint32_t n = 0;
    while (n < CLI_SLOWEST && n < c->crowd.members) {
        slowest[n] = c->crowd.member[c->crowd.members - 1 - n].promise;
        n++;
    }
    if (n == 0 && c->crowd.oldest_pending != WEFT_NONE)
        slowest[n++] = c->crowd.oldest_pending;
    return n;
}

static int print_one(const struct weft_history *h, uint32_t promise, bool json)
{
    return json ? cli_story_json(h, promise) : cli_story_text(h, promise);
}

static int print_crowd(const struct weft_history *h, struct cli_crowd_told *c, bool json)
{
    int rc = weft_crowd_find(&c->crowd, h, c->families, c->promise, c->count);
    if (rc == 0)
        rc = json ? cli_crowd_json(h, c) : cli_crowd_text(h, c);
    weft_crowd_fini(&c->crowd);
    return rc;
}

static int status(int rc)
{
    if (rc < 0)
        cli_say("explain", "%s", weft_error_name(rc));
    return rc < 0 ? CLI_FAILED : CLI_DONE;
}

int cli_story_print(const struct weft_history *h, const char *which, bool json)
{
    uint32_t number = cli_which_number(h->m, which);
    struct analyse_families families;
    struct cli_which found;
    if (number != WEFT_NONE && number != WEFT_ROOT)
        return status(print_one(h, number, json));
    int rc = analyse_families_init(&families, h->m);
    if (rc < 0)
        return status(rc);
    if (!cli_which_find(&found, h->m, &families, which)) {
        analyse_families_fini(&families);
        return CLI_FAILED;
    }
    struct cli_crowd_told crowd = {
        .which = which, .families = &families, .promise = found.promise, .count = found.count};
    rc = found.count == 1 ? print_one(h, found.promise[0], json) : print_crowd(h, &crowd, json);
    cli_which_fini(&found);
    analyse_families_fini(&families);
    return status(rc);
}
