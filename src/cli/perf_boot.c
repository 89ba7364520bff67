/* SPDX-License-Identifier: ISC */
#include "cli/perf_boot.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

/* The lines of /proc/kallsyms are: address, kind, name. */
static bool kernel_is_at(uint64_t address)
{
    char line[512], name[128];
    uint64_t at;
    bool found = false;
    FILE *f = fopen("/proc/kallsyms", "re");
    while (f && !found && fgets(line, sizeof line, f))
        found = sscanf(line, "%" SCNx64 " %*c %127s", &at, name) == 2 && at == address &&
                (strcmp(name, "_text") == 0 || strcmp(name, "_stext") == 0);
    if (f)
        fclose(f);
    return found;
}

bool cli_perf_is_of_this_boot(const struct weft_foreign_facts *facts)
{
    struct utsname here;
    return facts->kernel_start && uname(&here) == 0 &&
           (!*facts->host || strcmp(facts->host, here.nodename) == 0) &&
           (!*facts->release || strcmp(facts->release, here.release) == 0) &&
           kernel_is_at(facts->kernel_start);
}
