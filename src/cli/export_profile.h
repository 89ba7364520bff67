/* SPDX-License-Identifier: ISC */
/* weft export --to pprof and pprof-legacy: samples, of weft's own and of others, for pprof. */
#ifndef WEFT_CLI_EXPORT_PROFILE_H
#define WEFT_CLI_EXPORT_PROFILE_H

#include "cli/profiles.h"
#include "pprof/pprof.h"

struct cli_export_profile {
    bool legacy;
    struct weft_pprof_options pprof;
    struct cli_profiles_options profiles;
};

/* Writes the profiles of the files as one. Prints what is wrong and returns the exit status. */
int cli_export_profile(const struct cli_export_profile *e, const char *target,
                       const char *const *path, unsigned paths);

#endif
