/* SPDX-License-Identifier: ISC */
/* What saving a file and saving a domain's trace share. All of this says what is wrong. */
#ifndef WEFT_CLI_SAVE_H
#define WEFT_CLI_SAVE_H

#include "cli/common.h"
#include "read/snapshot.h"

struct cli_save_request {
    const char *source, *target;
    uint64_t limit_bytes; /* of the trace; 0: the default */
    bool follow;          /* a domain, until it ends */
};

/* Copies the bytes of from to out. Returns 0 or a negative WEFT_E code. */
int cli_save_bytes(FILE *out, const struct weft_input *from, const char *name,
                   struct weft_error *err);

/* Copies the packets. Likewise. */
int cli_save_packets(FILE *out, struct weft_snapshot *s, const char *name, struct weft_error *err);

/* What is not known yet as the copy begins can be written into it at its end. */
bool cli_save_can_seek(FILE *file);

/* Ends the output; rc is what writing it returned, err its error. Returns the exit status. */
int cli_save_end(struct weft_output *out, const char *source, const char *target, int rc,
                 struct weft_error *err);

/* Says what is worth knowing of a copy that was made. */
void cli_save_report(const char *source, const char *target, uint64_t gone, uint64_t bytes);

/* Saves the trace of a Xen domain. Returns the exit status. */
int cli_save_guest(const struct cli_save_request *r);

/* Lists the domains that offer one. Likewise. */
int cli_save_list(bool json);

#endif
