/* SPDX-License-Identifier: ISC */
/* Sessions with an explorer in which each allocation fails once; for a test that is linked with --wrap=malloc and so on. */
#pragma once

#include "allocations.h"
#include "model/model.h"

/* Runs sessions until no allocation fails. A session owns the model that make returned, and returns 0 or WEFT_E_NOMEM. */
static inline void try_sessions(struct weft_model *make(void), int session(struct weft_model *m))
{
    bool failed = true;
    long left = 0;
    for (long n = 1; failed; n++) {
        struct weft_model *m = make();
        long before = live;
        fail_at = n;
        int rc = session(m);
        failed = fail_at == 0;
        fail_at = 0;
        assert_true(rc == 0 || rc == WEFT_E_NOMEM);
        assert_true(failed || rc == 0);
        assert_true(live < before); /* the model, too */
        long now = live;
        if (n > 1 && now != left)
            fail_msg("allocation %ld: %ld leaked", n, now - left);
        left = now;
        assert_true(n < 5000);
    }
}
