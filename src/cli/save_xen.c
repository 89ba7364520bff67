/* SPDX-License-Identifier: ISC */
/* weft save xen:DOMAIN. The copy is written directly, without a copy in memory: the ring may be larger than the free
 * memory. Only for a pipe, which may be slow while the guest keeps recording, is it made in another file first. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "cli/live.h"
#include "cli/memory.h"
#include "cli/save.h"
#include "cli/xen.h"
#include "read/wall.h"

struct job {
    struct cli_copy copy;
    struct weft_xen xen;
    struct cli_guest guest;
    bool replaced; /* the domain offers another trace now */
};

static int open_guest(struct job *j)
{
    const struct cli_save_request *r = j->copy.request;
    const uint64_t limit = r->limit_bytes ? r->limit_bytes : CLI_LIMIT_BYTES;
    int rc = cli_guest_open(&j->guest, &j->xen, r->source, limit, &j->copy.err);
    if (rc == WEFT_E_LIMIT)
        cli_advise(&j->copy.err, "--limit SIZE allows more");
    return rc;
}

static void say_state(const struct job *j, const char *more)
{
    cli_say(j->copy.source, "%s %s%s", cli_guest_name(&j->guest.domain).text,
            j->replaced          ? "offers another trace now"
            : j->guest.withdrawn ? "has withdrawn its trace"
                                 : cli_xen_has(j->guest.domain.state),
            more);
}

/* ---- Room ---- */

/* Reserves disk space for the copy: there may be none left when the domain ends. Not every file system supports that. */
static int take_room(struct job *j)
{
    const off_t most = (off_t)j->guest.in.size + WEFT_SIGHT_TEXT;
    if (!j->copy.out.temporary ||
        fallocate(fileno(j->copy.out.file), FALLOC_FL_KEEP_SIZE, 0, most) == 0)
        return 0;
    if (errno != ENOSPC && errno != EDQUOT && errno != EFBIG)
        return 0;
    return weft_error_set(&j->copy.err, WEFT_E_IO, WEFT_NO_OFFSET,
                          "its %" PRIu64 " bytes have no room in %s: %s", j->guest.in.size,
                          j->copy.request->target, strerror(errno));
}

/* ---- Waiting ---- */

/* How often to check whether a signal arrived just before the wait began, or whether a domain that was unknown so far
 * exists. */
#define LOOK_EVERY_MS 500

#define SIGNALS 3
static const int signals[SIGNALS] = {SIGINT, SIGTERM, SIGHUP};
static volatile sig_atomic_t signaled; /* which */

static void note_signal(int signal_number)
{
    signaled = signal_number;
}

/* Ignored signals, as with nohup, stay ignored. */
static void catch_signals(struct sigaction before[SIGNALS])
{
    struct sigaction note = {.sa_handler = note_signal};
    for (unsigned i = 0; i < SIGNALS; i++)
        if (sigaction(signals[i], NULL, &before[i]) == 0 && before[i].sa_handler != SIG_IGN)
            sigaction(signals[i], &note, NULL);
}

static void release_signals(const struct sigaction before[SIGNALS])
{
    for (unsigned i = 0; i < SIGNALS; i++)
        sigaction(signals[i], &before[i], NULL);
}

/* Nobody is left to write for. */
static bool nobody_reads(const struct job *j)
{
    return j->copy.out.file == stdout && cli_stdout_left();
}

static bool stopped(const struct job *j)
{
    return signaled || nobody_reads(j);
}

/* Maps the trace as soon as there is one. A guest that is just starting or ending may be seen half way through. */
static int await_trace(struct job *j)
{
    enum { TRIES = 4 };
    int rc;
    bool said = false;
    for (unsigned failed = 0; !stopped(j);) {
        j->copy.err = (struct weft_error){.offset = WEFT_NO_OFFSET};
        rc = open_guest(j);
        bool nothing = rc == WEFT_E_INVALID;
        failed = nothing ? 0 : failed + 1;
        if (rc == 0 || rc == WEFT_E_NOMEM || rc == WEFT_E_LIMIT || failed == TRIES)
            return rc;
        if (nothing && !said)
            cli_say(j->copy.source, "%.*s; waiting", (int)strcspn(j->copy.err.text, ";"),
                    j->copy.err.text);
        said |= nothing;
        if (!nothing || j->guest.domain.id == CLI_NO_DOMAIN)
            poll(NULL, 0, LOOK_EVERY_MS);
        else if (j->xen.wait(j->xen.context, j->guest.domain.id, LOOK_EVERY_MS) < 0)
            poll(NULL, 0, LOOK_EVERY_MS);
    }
    return weft_error_set(&j->copy.err, WEFT_E_CANCELED, WEFT_NO_OFFSET,
                          "stopped before there was a trace");
}

/* A trace that has been replaced may go on. */
static bool offers_another(const struct job *j)
{
    struct weft_xen_domain d;
    struct weft_error err;
    char number[16];
    snprintf(number, sizeof number, "%u", j->guest.domain.id);
    return weft_xen_find(&j->xen, number, &d, &err) == 0 && (d.lists || d.indexes);
}

/* Waits until the domain ends or withdraws the trace, or until a signal arrives. */
static int await_end(struct job *j)
{
    struct cli_guest *g = &j->guest;
    int rc = 0;
    if (isatty(STDERR_FILENO) && !cli_xen_is_dead(g->domain.state))
        cli_say(j->copy.source, "following %s; Ctrl-C copies what is there",
                cli_guest_name(&g->domain).text);
    while (rc == 0 && !stopped(j) && !cli_xen_is_dead(g->domain.state)) {
        cli_guest_watch(g);
        rc = weft_xen_ring_wait(g->ring, LOOK_EVERY_MS, &g->domain.state, &j->copy.err);
    }
    if (rc < 0) /* the pages are still there */
        cli_complain(j->copy.source, &j->copy.err);
    bool over = rc > 0 && !cli_xen_is_dead(g->domain.state);
    j->replaced = over && offers_another(j);
    g->withdrawn = over && !j->replaced;
    cli_guest_look(g, &j->xen);
    if (nobody_reads(j))
        return weft_error_set(&j->copy.err, WEFT_E_CANCELED, WEFT_NO_OFFSET,
                              "stopped: nobody reads standard output any more");
    say_state(j, rc == 0 && signaled ? "; copied now, since a signal came"
                 : rc < 0            ? "; copied now, since nothing more can be known of it"
                                     : "");
    return 0;
}

static int follow(struct job *j)
{
    struct sigaction before[SIGNALS];
    catch_signals(before);
    int rc = await_trace(j);
    if (rc == 0)
        rc = take_room(j);
    if (rc == 0)
        rc = await_end(j);
    release_signals(before); /* the next signal ends the copying */
    return rc;
}

/* ---- Copying ---- */

/* Sets the time of the copy; makes it in another file first if that is better. */
static int begin_copy(struct job *j)
{
    struct cli_copy *c = &j->copy;
    uint64_t size = j->guest.in.size;
    cli_memory_confine(2 * size + CLI_MEMORY_SLACK);
    int rc = weft_snapshot_begin(&c->snapshot, &j->guest.in, &c->err);
    if (rc == 0)
        return cli_guest_no_trace(&j->guest, &c->err);
    if (rc < 0 || !cli_save_elsewhere(c))
        return rc;
    if (size <= cli_memory_available() / 2)
        return weft_snapshot_to_room(c->snapshot, &c->spooled, &c->err);
    if (c->request->compress)
        return weft_error_set(&c->err, WEFT_E_NOMEM, WEFT_NO_OFFSET,
                              "is too large to be copied elsewhere first; try it without "
                              "--compress");
    cli_say(c->source,
            "is too large to be copied elsewhere first: what the guest overwrites while %s is "
            "written is lost; a file would be better",
            strcmp(c->request->target, "-") == 0 ? "standard output" : "the target");
    return rc;
}

/* Notices if the domain has ended just now. */
static void look_again(struct job *j)
{
    if (cli_xen_is_dead(j->guest.domain.state))
        return;
    cli_guest_look(&j->guest, &j->xen);
    if (cli_xen_is_dead(j->guest.domain.state))
        say_state(j, ", while it was copied");
}

static int save(struct job *j)
{
    struct cli_copy *c = &j->copy;
    const bool following = c->request->follow;
    int rc = following ? 0 : open_guest(j);
    if (rc < 0)
        cli_complain(c->source, &c->err);
    if (rc < 0 || !cli_output_open(&c->out, c->request->target, WEFT_OUTPUT_TRACE, &c->source, 1))
        return CLI_FAILED;
    rc = following ? follow(j) : 0;
    if (rc == 0 && !following && cli_xen_is_dead(j->guest.domain.state))
        say_state(j, "");
    if (rc < 0 || begin_copy(j) < 0)
        return cli_save_give_up(c);
    int status = cli_save_write(c, NULL);
    if (status == CLI_DONE)
        look_again(j);
    return status;
}

int cli_save_guest(const struct cli_save_request *r)
{
    struct job j = {.copy = {.request = r,
                             .source = r->source,
                             .spooled = {.fd = -1},
                             .still = {.fd = -1},
                             .err = {.offset = WEFT_NO_OFFSET}}};
    if (cli_xen_connect(&j.xen, &j.copy.err) < 0)
        return cli_fail_by(r->source, &j.copy.err);
    int status = save(&j);
    cli_save_fini(&j.copy);
    cli_guest_close(&j.guest);
    cli_xen_disconnect(&j.xen);
    return status;
}

int cli_save_list(bool json)
{
    struct weft_xen xen;
    struct weft_error err = {.offset = WEFT_NO_OFFSET};
    if (cli_xen_connect(&xen, &err) < 0)
        return cli_fail_by("xen", &err);
    int status = cli_xen_list(&xen, json);
    cli_xen_disconnect(&xen);
    return status;
}
