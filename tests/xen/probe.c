/* SPDX-License-Identifier: ISC */
/* Maps pages of a domain itself, past weft:
 *
 *     probe read|write DOMAIN REFERENCE,REFERENCE...
 *
 * Says "mapped", or why not. */
#include <err.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <xengnttab.h>

enum { PAGES_MAX = 1024 };

int main(int argc, char **argv)
{
    uint32_t reference[PAGES_MAX], count = 0;
    if (argc != 4)
        return 2;
    for (char *at = argv[3]; *at && count < PAGES_MAX; at += *at == ',')
        reference[count++] = (uint32_t)strtoul(at, &at, 10);
    xengnttab_handle *table = xengnttab_open(NULL, 0);
    if (!table)
        err(1, "no grant table");
    int access = PROT_READ | (strcmp(argv[1], "write") ? 0 : PROT_WRITE);
    void *pages =
        xengnttab_map_domain_grant_refs(table, count, (uint32_t)atoi(argv[2]), reference, access);
    puts(pages ? "mapped" : strerror(errno));
    return 0;
}
