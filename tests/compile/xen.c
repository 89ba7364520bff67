/* SPDX-License-Identifier: ISC */
/* Every function of xen.h, as C and as C++. */
#include <weft/xen.h>

#ifdef __cplusplus
extern "C"
#endif
    int
    share(struct weft_xen_share *s, const struct weft_xen_system *system, void *pages);

int share(struct weft_xen_share *s, const struct weft_xen_system *system, void *pages)
{
    const int64_t room = weft_xen_grant(s, system, 0, pages, 1 << 20);
    const int rc = room < 0 ? (int)room : weft_xen_publish(s);
    weft_xen_withdraw(s);
    weft_xen_end(s);
#if __STDC_HOSTED__
    struct weft_xen_options o = {sizeof o, 1 << 20, 0, WEFT_START_PAUSED};
    const int more = weft_xen_start(&o);
    weft_xen_stop();
    return rc < 0 ? rc : more;
#else
    return rc;
#endif
}
