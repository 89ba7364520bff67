/* SPDX-License-Identifier: ISC */
/* "xen:NAME" and "xen:NUMBER" where a command takes a trace: the one that a Xen domain offers.
 *
 *     struct weft_xen xen;
 *     struct weft__guest g;
 *     if (weft__xen_connect(&xen, &err) == 0 && weft__guest_open(&g, &xen, "xen:web", limit, &err) == 0)
 *         … weft_input_read(&g.in, …) …
 *     weft__guest_close(&g);
 *     weft__xen_disconnect(&xen);
 */
#ifndef WEFT_CLI_XEN_H
#define WEFT_CLI_XEN_H

#include <stdbool.h>

#include "read/input.h"
#include "read/sight.h"
#include "xen/control.h"

/* Whether a name is one of a domain. A file that is called so is given as ./xen:… */
bool weft__is_xen(const char *name);

/* Returns 0 or a negative WEFT_E code: also if this weft was built without Xen. Only after success is weft__xen_disconnect
 * due. */
int weft__xen_connect(struct weft_xen *xen, struct weft_error *err);
void weft__xen_disconnect(struct weft_xen *xen);

/* A domain, and its trace as the bytes of a file. */
struct weft__guest {
    struct weft_xen_domain domain; /* its state: as weft__guest_look has seen it last */
    struct weft_xen_ring *ring;    /* NULL: not open */
    struct weft_input in;          /* as long as ring */
    struct weft_sight sight;       /* of its clock, if in.sight is set: the latest one */
    bool watched;                  /* whether it was tried to see its clock */
    bool withdrawn;                /* the domain does not offer it any more */
};

/* Finds the domain and maps its trace, at most that many bytes; asks how the domain is. Returns 0 or a negative WEFT_E
 * code: see weft_xen_find and weft_xen_open; g->ring is then NULL, and g->domain.id is WEFT__NO_DOMAIN if there is none.
 * WEFT_E_LIMIT: the text has no advice. */
int weft__guest_open(struct weft__guest *g, const struct weft_xen *xen, const char *name,
                     uint64_t limit_bytes, struct weft_error *err);

#define WEFT__NO_DOMAIN UINT32_MAX

void weft__guest_close(struct weft__guest *g);

/* Asks how the domain is now; whether it may still write decides what a copy says of itself. */
void weft__guest_look(struct weft__guest *g, const struct weft_xen *xen);

/* Looks at its clock again, for some milliseconds: the later, the nearer to its end. */
void weft__guest_watch(struct weft__guest *g);

/* Crashed, shut down, gone. */
bool weft__xen_is_dead(enum weft_xen_state state);

/* "domain 3 (web)", harmless. */
struct weft__guest_name {
    char text[WEFT_XEN_NAME_MAX + 32];
};
struct weft__guest_name weft__guest_name(const struct weft_xen_domain *domain);

/* "has crashed" */
const char *weft__xen_has(enum weft_xen_state state);

/* Says what its pages are instead of a trace. Returns WEFT_E_FORMAT. */
int weft__guest_no_trace(const struct weft__guest *g, struct weft_error *err);

/* Appends what to do to an error's text. */
void weft__advise(struct weft_error *err, const char *advice);

/* Prints the domains that offer a trace. Returns the exit status. */
int weft__xen_list(const struct weft_xen *xen, bool json);

/* Calls put for the name of each domain that offers a trace. Says nothing if there is no Xen. */
void cli_xen_names(void (*put)(const char *name));

#endif
