/* SPDX-License-Identifier: ISC */
#include "cli/xen.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/common.h"
#ifdef WEFT_HAS_XEN
#include "xen/libxen.h"
#endif

#define PREFIX "xen:"

/* How long to watch a guest to see its clock: it may record rarely. */
enum { SIGHT_MS = 100, SIGHT_AGAIN_MS = 16 };

enum {
    DRIFT = 20000
}; /* drift between the clocks: one part in this many, for two good clocks under NTP */

bool cli_is_xen(const char *name)
{
    return strncmp(name, PREFIX, strlen(PREFIX)) == 0;
}

int cli_xen_connect(struct weft_xen *xen, struct weft_error *err)
{
#ifdef WEFT_HAS_XEN
    return weft_xen_connect(xen, err);
#else
    (void)xen;
    return weft_error_set(err, WEFT_E_IO, WEFT_NO_OFFSET,
                          "weft was built without Xen; on Debian: apt-get install libxen-dev, and "
                          "build it again (a file of that name: ./xen:…)");
#endif
}

void cli_xen_disconnect(struct weft_xen *xen)
{
#ifdef WEFT_HAS_XEN
    weft_xen_disconnect(xen);
#else
    (void)xen;
#endif
}

/* ---- A domain's trace ---- */

int cli_guest_open(struct cli_guest *g, const struct weft_xen *xen, const char *name,
                   uint64_t limit_bytes, struct weft_error *err)
{
    *g = (struct cli_guest){.domain.id = CLI_NO_DOMAIN, .in.fd = -1};
    int rc = weft_xen_find(xen, name + strlen(PREFIX), &g->domain, err);
    if (rc < 0) {
        g->domain.id = CLI_NO_DOMAIN;
        return rc;
    }
    rc = weft_xen_open(&g->ring, xen, g->domain.id, limit_bytes, err);
    if (rc < 0) {
        g->ring = NULL;
        return rc;
    }
    g->in = (struct weft_input){
        .fd = -1,
        .size = weft_xen_ring_bytes(g->ring),
        .copy = weft_xen_ring_copy,
        .memory = g->ring,
    };
    cli_guest_look(g, xen);
    return 0;
}

void cli_guest_close(struct cli_guest *g)
{
    if (g->ring)
        weft_xen_close(g->ring);
    g->ring = NULL;
}

bool cli_xen_is_dead(enum weft_xen_state state)
{
    return state == WEFT_XEN_SHUT || state == WEFT_XEN_CRASHED || state == WEFT_XEN_GONE;
}

void cli_guest_watch(struct cli_guest *g)
{
    struct weft_sight sight;
    bool again = g->watched;
    g->watched = true;
    if (!weft_sight_take(&sight, &g->in, again ? SIGHT_AGAIN_MS : SIGHT_MS))
        return;
    /* The earlier one may be better, even with the drift since then. */
    const struct weft_sight *was = g->in.sight;
    const uint64_t age = was && sight.real_ns > was->real_ns ? sight.real_ns - was->real_ns : 0;
    if (!was || sight.error_ns / 2 <= was->error_ns + age / DRIFT) {
        g->sight = sight;
        g->in.sight = &g->sight;
    }
}

void cli_guest_look(struct cli_guest *g, const struct weft_xen *xen)
{
    if (g->domain.state != WEFT_XEN_GONE) /* it does not come back */
        g->domain.state = xen->state(xen->context, g->domain.id);
    bool dead = g->withdrawn || cli_xen_is_dead(g->domain.state);
    g->in.writer = dead ? WEFT_WRITER_DEAD : WEFT_WRITER_ALIVE;
    if (!dead)
        cli_guest_watch(g);
}

/* ---- Words ---- */

struct cli_guest_name cli_guest_name(const struct weft_xen_domain *domain)
{
    struct cli_guest_name n;
    if (*domain->name)
        snprintf(n.text, sizeof n.text, "domain %u (%.*s)", domain->id, WEFT_XEN_NAME_MAX,
                 cli_shown(domain->name).text);
    else
        snprintf(n.text, sizeof n.text, "domain %u", domain->id);
    return n;
}

const char *cli_xen_has(enum weft_xen_state state)
{
    return state == WEFT_XEN_SHUT      ? "has shut down"
           : state == WEFT_XEN_CRASHED ? "has crashed"
           : state == WEFT_XEN_GONE    ? "is gone"
                                       : "is running";
}

int cli_guest_no_trace(const struct cli_guest *g, struct weft_error *err)
{
    unsigned char head[4] = {0};
    weft_xen_ring_copy(g->ring, head, sizeof head, 0);
    return weft_error_set(err, WEFT_E_FORMAT, WEFT_NO_OFFSET,
                          "offers %" PRIu64
                          " bytes that are no trace: expected a packet beginning with c1 1f fc c1, "
                          "found %02x %02x %02x %02x",
                          g->in.size, head[0], head[1], head[2], head[3]);
}

void cli_advise(struct weft_error *err, const char *advice)
{
    char text[sizeof err->text];
    snprintf(text, sizeof text, "%s", err->text);
    weft_error_set(err, err->code, err->offset, "%.*s; %s",
                   (int)(sizeof text - strlen(advice) - sizeof "; "), text, advice);
}
