/* SPDX-License-Identifier: ISC */
#include "xen/control.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/count.h"
#include "base/order.h"
#include "xen/refs.h"

enum { ID_MAX = 0x7fef }; /* larger numbers are reserved for the hypervisor */

const char *weft_xen_state_name(enum weft_xen_state state)
{
    static const char *const names[] = {"unknown", "running", "shut down", "crashed", "gone"};
    return names[state];
}

/* Parses a domain's number: no sign, no leading zero. */
static bool parse_id(const char *text, unsigned *id)
{
    uint64_t n;
    if ((text[0] == '0' && text[1]) || !weft_parse_count(text, ID_MAX, &n))
        return false;
    *id = (unsigned)n;
    return true;
}

static int compare(const void *a, const void *b)
{
    const unsigned x = ((const struct weft_xen_domain *)a)->id,
                   y = ((const struct weft_xen_domain *)b)->id;
    return weft_order(x, y);
}

/* Reads everything except its number. What is missing is not there, or the domain has just ended. */
static int read_domain(const struct weft_xen *xen, struct weft_xen_domain *d,
                       struct weft_error *err)
{
    static const char *const keys[] = {WEFT_XEN_LIST_KEY, WEFT_XEN_INDEX_KEY};
    bool *const there[] = {&d->lists, &d->indexes};
    char *value;
    size_t size;
    int rc = weft_xen_key(xen, d->id, "name", &value, &size, err);
    if (rc > 0)
        memcpy(d->name, value, size < WEFT_XEN_NAME_MAX ? size : WEFT_XEN_NAME_MAX);
    free(value);
    for (unsigned i = 0; i < 2 && rc >= 0; i++) {
        rc = weft_xen_key(xen, d->id, keys[i], &value, &size, err);
        *there[i] = rc > 0;
        free(value);
    }
    d->state = xen->state(xen->context, d->id);
    return rc < 0 ? rc : 0;
}

int weft_xen_domains(const struct weft_xen *xen, struct weft_xen_domain **domains, uint32_t *count,
                     struct weft_error *err)
{
    unsigned names = 0;
    char **name = xen->list(xen->context, "/local/domain", &names);
    int rc = 0;
    *domains = NULL;
    *count = 0;
    if (!name && errno == ENOMEM)
        return weft_no_memory(err);
    if (!name && errno == EACCES)
        return weft_error_set(err, WEFT_E_IO, WEFT_NO_OFFSET,
                              "XenStore does not tell this domain about others; run weft in the "
                              "control domain, as root");
    if (!name)
        return weft_error_set(err, WEFT_E_IO, WEFT_NO_OFFSET,
                              "XenStore does not list the domains: %s", strerror(errno));
    struct weft_xen_domain *d = calloc(names ? names : 1, sizeof *d);
    for (unsigned i = 0; d && i < names; i++)
        *count += parse_id(name[i], &d[*count].id);
    free(name);
    if (!d)
        return weft_no_memory(err);
    qsort(d, *count, sizeof *d, compare);
    for (uint32_t i = 0; i < *count && rc == 0; i++)
        rc = read_domain(xen, &d[i], err);
    if (rc == 0) {
        *domains = d;
    } else {
        free(d);
        *count = 0;
    }
    return rc;
}

static int several(const struct weft_xen_domain *d, uint32_t count, const char *name,
                   struct weft_error *err)
{
    char numbers[128] = "";
    size_t used = 0;
    unsigned first = 0, found = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(d[i].name, name) != 0)
            continue;
        if (!found++)
            first = d[i].id;
        if (used < sizeof numbers - 16) /* room for a number, or for what replaces the rest */
            used += (size_t)snprintf(numbers + used, sizeof numbers - used, "%s%u",
                                     used ? ", " : "", d[i].id);
        else if (numbers[used - 1] != '.')
            used += (size_t)snprintf(numbers + used, sizeof numbers - used, " ...");
    }
    return weft_error_set(err, WEFT_E_INVALID, WEFT_NO_OFFSET,
                          "%u domains have this name: %s; give a number, as in xen:%u", found,
                          numbers, first);
}

int weft_xen_find(const struct weft_xen *xen, const char *name, struct weft_xen_domain *domain,
                  struct weft_error *err)
{
    struct weft_xen_domain *d;
    uint32_t count, matches = 0;
    unsigned id;
    const bool by_id = parse_id(name, &id);
    int rc = weft_xen_domains(xen, &d, &count, err);
    for (uint32_t i = 0; i < count; i++)
        if (by_id ? d[i].id == id : *name && strcmp(d[i].name, name) == 0) {
            *domain = d[i];
            matches++;
        }
    if (rc == 0 && matches == 0)
        rc = weft_error_set(err, WEFT_E_INVALID, WEFT_NO_OFFSET,
                            "there is no such domain; \"weft save xen:\" lists them");
    else if (matches > 1)
        rc = several(d, count, name, err);
    free(d);
    return rc;
}
