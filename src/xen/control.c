/* SPDX-License-Identifier: ISC */
#include "xen/control.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "xen/refs.h"

enum { ID_MAX = 0x7fef }; /* larger numbers are reserved for the hypervisor */

const char *weft_xen_state_name(enum weft_xen_state state)
{
    static const char *const names[] = {"unknown", "running", "shut down", "crashed", "gone"};
    return names[state];
}

static int out_of_memory(struct weft_error *err)
{
    return weft_error_set(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "out of memory");
}

/* Parses a domain's number: no sign, no leading zero. */
static bool parse_id(const char *text, unsigned *id)
{
    unsigned n = 0;
    if (!*text || (text[0] == '0' && text[1]))
        return false;
    for (; *text; text++) {
        if (*text < '0' || *text > '9')
            return false;
        n = n * 10 + (unsigned)(*text - '0');
        if (n > ID_MAX)
            return false;
    }
    *id = n;
    return true;
}

static int compare(const void *a, const void *b)
{
    const unsigned x = ((const struct weft_xen_domain *)a)->id,
                   y = ((const struct weft_xen_domain *)b)->id;
    return weft_order(x, y);
}

/* Lists the numbers of all domains, in order. The caller frees *domains. */
static int list_ids(const struct weft_xen *xen, struct weft_xen_domain **domains, uint32_t *count,
                    struct weft_error *err)
{
    unsigned names = 0;
    char **name = xen->list(xen->context, "/local/domain", &names);
    *domains = NULL;
    *count = 0;
    if (!name && errno == ENOMEM)
        return out_of_memory(err);
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
        return out_of_memory(err);
    qsort(d, *count, sizeof *d, compare);
    *domains = d;
    return 0;
}

/* The name is "" if the domain has none, or has just ended. */
static int read_name(const struct weft_xen *xen, struct weft_xen_domain *d, struct weft_error *err)
{
    char *value;
    size_t size;
    int rc = weft_xen_key(xen, d->id, "name", &value, &size, err);
    if (rc <= 0)
        return rc;
    if (size > WEFT_XEN_NAME_MAX)
        size = WEFT_XEN_NAME_MAX;
    memcpy(d->name, value, size);
    d->name[size] = '\0';
    free(value);
    return 0;
}

static int is_there(const struct weft_xen *xen, unsigned domain, const char *key, bool *there,
                    struct weft_error *err)
{
    char *value;
    size_t size;
    int rc = weft_xen_key(xen, domain, key, &value, &size, err);
    free(value);
    *there = rc > 0;
    return rc < 0 ? rc : 0;
}

/* Reads everything except number and name. */
static int read_rest(const struct weft_xen *xen, struct weft_xen_domain *d, struct weft_error *err)
{
    int rc = is_there(xen, d->id, WEFT_XEN_LIST_KEY, &d->lists, err);
    if (rc == 0)
        rc = is_there(xen, d->id, WEFT_XEN_INDEX_KEY, &d->indexes, err);
    d->state = xen->state(xen->context, d->id);
    return rc;
}

int weft_xen_domains(const struct weft_xen *xen, struct weft_xen_domain **domains, uint32_t *count,
                     struct weft_error *err)
{
    int rc = list_ids(xen, domains, count, err);
    for (uint32_t i = 0; i < *count && rc == 0; i++) {
        rc = read_name(xen, &(*domains)[i], err);
        if (rc == 0)
            rc = read_rest(xen, &(*domains)[i], err);
    }
    if (rc < 0) {
        free(*domains);
        *domains = NULL;
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

static int find_number(const struct weft_xen *xen, struct weft_xen_domain *d, uint32_t count,
                       unsigned id, struct weft_xen_domain **found, struct weft_error *err)
{
    for (uint32_t i = 0; i < count && !*found; i++)
        if (d[i].id == id)
            *found = &d[i];
    return *found ? read_name(xen, *found, err) : 0;
}

static int find_name(const struct weft_xen *xen, struct weft_xen_domain *d, uint32_t count,
                     const char *name, struct weft_xen_domain **found, struct weft_error *err)
{
    uint32_t matches = 0;
    for (uint32_t i = 0; i < count; i++) {
        int rc = read_name(xen, &d[i], err);
        if (rc < 0)
            return rc;
        if (strcmp(d[i].name, name) == 0) {
            *found = &d[i];
            matches++;
        }
    }
    return matches > 1 ? several(d, count, name, err) : 0;
}

int weft_xen_find(const struct weft_xen *xen, const char *name, struct weft_xen_domain *domain,
                  struct weft_error *err)
{
    struct weft_xen_domain *d, *found = NULL;
    uint32_t count;
    unsigned id;
    int rc = list_ids(xen, &d, &count, err);
    if (rc < 0)
        return rc;
    if (parse_id(name, &id))
        rc = find_number(xen, d, count, id, &found, err);
    else if (*name)
        rc = find_name(xen, d, count, name, &found, err);
    if (rc == 0 && !found)
        rc = weft_error_set(err, WEFT_E_INVALID, WEFT_NO_OFFSET,
                            "there is no such domain; \"weft save xen:\" lists them");
    if (rc == 0)
        rc = read_rest(xen, found, err);
    if (rc == 0)
        *domain = *found;
    free(d);
    return rc;
}
