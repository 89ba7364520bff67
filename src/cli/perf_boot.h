/* SPDX-License-Identifier: ISC */
/* Returns true if a perf.data file was recorded on this machine since it was booted, so that its kernel's names are
 * those in /proc/kallsyms. It compares the host, the release and the address of the kernel, which changes with each
 * boot. */
#ifndef WEFT_CLI_PERF_BOOT_H
#define WEFT_CLI_PERF_BOOT_H

#include "profile/foreign.h"

bool cli_perf_is_of_this_boot(const struct weft_foreign_facts *facts);

#endif
