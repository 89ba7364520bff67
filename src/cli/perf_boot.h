/* SPDX-License-Identifier: ISC */
/* Whether a perf.data file was recorded by this machine since it was booted, so that the names of its kernel are
 * those of /proc/kallsyms: host, release and the address of the kernel, which is another one after each boot, agree. */
#ifndef WEFT_CLI_PERF_BOOT_H
#define WEFT_CLI_PERF_BOOT_H

#include "profile/foreign.h"

bool cli_perf_is_of_this_boot(const struct weft_foreign_facts *facts);

#endif
