/* SPDX-License-Identifier: ISC */
/* "xen:NAME" and "xen:NUMBER" where a command takes a trace: the one that a Xen domain offers.
 *
 *     struct weft_xen xen;
 *     struct cli_guest g;
 *     if (cli_xen_connect(&xen, &err) == 0 && cli_guest_open(&g, &xen, "xen:web", limit, &err) == 0)
 *         … weft_input_read(&g.in, …) …
 *     cli_guest_close(&g);
 *     cli_xen_disconnect(&xen);
 */
#pragma once

#include <stdbool.h>

#include "read/input.h"
#include "read/sight.h"
#include "xen/control.h"

/* Returns true if a name denotes a domain. A file with such a name is given as ./xen:… */
bool cli_is_xen(const char *name);

/* Returns 0 or a negative WEFT_E code, also if this weft was built without Xen. cli_xen_disconnect is needed only after
 * success. */
int cli_xen_connect(struct weft_xen *xen, struct weft_error *err);
void cli_xen_disconnect(struct weft_xen *xen);

/* A domain, and its trace as the bytes of a file. */
struct cli_guest {
    struct weft_xen_domain domain; /* its state, as of the last cli_guest_look */
    struct weft_xen_ring *ring;    /* NULL: not open */
    struct weft_input in;          /* as long as ring */
    struct weft_sight sight;       /* the latest sight of its clock, if in.sight is set */
    bool watched;                  /* we have tried to see its clock */
    bool withdrawn;                /* the domain no longer offers it */
};

/* Finds the domain, maps its trace, at most that many bytes, and gets the domain's state. Returns 0 or a negative
 * WEFT_E code: see weft_xen_find and weft_xen_open; g->ring is then NULL, and g->domain.id is CLI_NO_DOMAIN if there is
 * none. With WEFT_E_LIMIT, the text contains no advice. */
int cli_guest_open(struct cli_guest *g, const struct weft_xen *xen, const char *name,
                   uint64_t limit_bytes, struct weft_error *err);

#define CLI_NO_DOMAIN UINT32_MAX

void cli_guest_close(struct cli_guest *g);

/* Updates the domain's state; whether it may still write decides how a copy is marked. */
void cli_guest_look(struct cli_guest *g, const struct weft_xen *xen);

/* Reads its clock again, for a few milliseconds: the later this happens, the closer it is to the domain's end. */
void cli_guest_watch(struct cli_guest *g);

/* Returns true if the domain has crashed, shut down or gone. */
bool cli_xen_is_dead(enum weft_xen_state state);

/* "domain 3 (web)", safe to print. */
struct cli_guest_name {
    char text[WEFT_XEN_NAME_MAX + 32];
};
struct cli_guest_name cli_guest_name(const struct weft_xen_domain *domain);

/* "has crashed" */
const char *cli_xen_has(enum weft_xen_state state);

/* Sets an error that says what its pages contain instead of a trace. Returns WEFT_E_FORMAT. */
int cli_guest_no_trace(const struct cli_guest *g, struct weft_error *err);

/* Appends advice to an error's text. */
void cli_advise(struct weft_error *err, const char *advice);

/* Prints the domains that offer a trace. Returns the exit status. */
int cli_xen_list(const struct weft_xen *xen, bool json);

/* Calls put for the name of each domain that offers a trace. Prints nothing if there is no Xen. */
void cli_xen_names(void (*put)(const char *name));
