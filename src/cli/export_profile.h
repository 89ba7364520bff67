/* SPDX-License-Identifier: ISC */
/* weft export --to pprof and pprof-legacy: samples, of weft's own and of others, for pprof. */
#ifndef WEFT_CLI_EXPORT_PROFILE_H
#define WEFT_CLI_EXPORT_PROFILE_H

#include "cli/profiles.h"
#include "pprof/pprof.h"

struct weft__export_profile {
    bool legacy;
    struct weft_pprof_options pprof;
    struct weft__profiles_options profiles;
};

/* Writes the profiles of the files as one. Returns the exit status, and has said what is wrong. */
int weft__export_profile(const struct weft__export_profile *e, const char *target,
                         const char *const *path, unsigned paths);

#endif
