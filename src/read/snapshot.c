/* SPDX-License-Identifier: ISC */
/* Makes a consistent copy of a trace that is being recorded, in this order; 1 to 3 are in
 * snapshot_look.c, the rest in snapshot_copy.c:
 *   1. what is known to have ended: the ended bytes, and the marks in the packet of pending promises;
 *   2. the moment: the time of the newest event in any packet, or in a cell. Everything recorded by then is
 *      complete, and so are the events that say how those of 1 ended; whatever is newer is left out;
 *   3. the headers: which packets there are, and how far they are filled;
 *   4. packets, oldest first, since the oldest is overwritten next;
 *   5. the packet of pending promises: those of a packet are put there before the packet is overwritten, so they
 *      are in one of the two places. If they are in both, the reader of the copy knows by the packets' numbers;
 *   6. texts, which only ever grow: the texts of everything that was copied were there before. (A text that was
 *      stored beside its event, for lack of space, is stored with those of pending promises when the packet is
 *      overwritten. How many could not be stored is in the facts, which are read again.)
 * A packet that is handed to another stream while it is copied is left out, and counted as
 * overwritten. If it was closed only after step 1 had begun, as in a small ring, it may have had an
 * event between 1 and the moment that says how a promise ended. Then what is known to have ended is
 * what was known when its packet was copied; a promise that ended after the moment may be shown as
 * one that ended before. If less than a quarter of the packets is left, because the copying was
 * interrupted while the ring wrapped around, everything is done again. */
#include "read/snapshot.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "read/alive.h"
#include "read/snapshot_parts.h"

/* Attempts, if most packets are overwritten before they are copied. A malicious writer can make the
 * copy this many times slower. */
enum { TRIES = 10 };

/* Where the copy begins in the file, if the file can seek; otherwise -1. */
static off_t start_of(FILE *file)
{
    const int fd = fileno(file), flags = fd < 0 ? 0 : fcntl(fd, F_GETFL);
    return flags >= 0 && flags & O_APPEND ? -1 : ftello(file);
}

static void free_findings(struct weft_snapshot *s)
{
    for (size_t i = 0; i < s->endeds; i++)
        free(s->ended[i].word);
    read_emptied_fini(&s->emptied);
    weft_free_all(s->ended, s->late, s->on_roll, s->piece, s->buffer);
}

/* Sets a new moment, for a copy that begins again. Returns 0 or a negative WEFT_E code. */
static int begin_again(struct weft_snapshot *s, off_t start)
{
    const struct weft_snapshot anew = {.in = s->in,
                                       .keeps_state = s->keeps_state,
                                       .sampling = s->sampling,
                                       .out = s->out,
                                       .err = s->err,
                                       .leaves_holes = s->leaves_holes};
    free_findings(s);
    *s = anew;
    read_scan_init(s);
    int rc = read_snapshot_look(s);
    if (rc == 0)
        rc = weft_error_set(s->err, WEFT_E_INVALID, WEFT_NO_OFFSET,
                            "has gone away while it was copied");
    if (rc > 0 &&
        (fseeko(s->out, start, SEEK_SET) != 0 ||
         (ftruncate(fileno(s->out), start) != 0 && errno != EINVAL))) /* not a regular file */
        rc = read_snapshot_cannot_write(s->err);
    return rc < 0 ? rc : 0;
}

int weft_snapshot_write(struct weft_snapshot *s, FILE *file, weft_progress_fn *progress, void *data,
                        struct weft_error *err)
{
    const off_t start = start_of(file);
    struct stat st;
    int rc = 0;
    s->out = file;
    s->err = err;
    s->leaves_holes =
        start >= 0 && fstat(fileno(file), &st) == 0 && S_ISREG(st.st_mode) && st.st_size <= start;
    if (s->mirage)
        return read_mirage_copy_write(s, start, progress, data);
    for (unsigned i = 0; i <= TRIES && rc == 0; i++) {
        rc = i ? begin_again(s, start) : 0;
        const uint64_t listed = s->live ? s->listed : 0;
        if (rc == 0)
            rc = read_snapshot_write_packets(s, start, progress, data);
        /* Otherwise most packets have been overwritten since the moment, or before they were found. */
        if (start < 0 || (s->copied >= listed / 4 && (s->copied || !listed)))
            break;
    }
    return rc;
}

int weft_snapshot_begin(struct weft_snapshot **out, const struct weft_input *in,
                        struct weft_error *err)
{
    *out = NULL;
    struct weft_snapshot *s = calloc(1, sizeof *s);
    if (!s)
        return weft_no_memory(err);
    s->in = in;
    s->err = err;
    read_scan_init(s);
    int rc = in->process ? 0 : read_mirage_copy_begin(&s->mirage, in, err);
    if (rc > 0)
        s->live = in->writer == WEFT_WRITER_ALIVE;
    else if (rc == 0)
        rc = read_snapshot_look(s);
    s->sampling = rc > 0 && !s->mirage && s->has_facts && weft_facts_sampling(&s->facts, in->fd);
    if (rc > 0)
        *out = s;
    else
        weft_snapshot_free(s);
    return rc;
}

/* ---- Parts ---- */

struct offsets {
    uint64_t *at;
    uint64_t count;
    uint32_t room;
};

static bool add_offset(void *data, uint64_t offset)
{
    struct offsets *o = data;
    if (!weft_reserve(&o->at, o->count, &o->room, sizeof *o->at))
        return false;
    o->at[o->count++] = offset;
    return true;
}

int weft_snapshot_keep_part(struct weft_snapshot *s, const struct weft_reader *part,
                            struct weft_error *err)
{
    const struct weft_reader_facts *f = weft_reader_facts(part);
    struct offsets o = {.at = NULL};
    if (!s || s->mirage || !f->is_part || part->format != &read_weft_format)
        return weft_error_set(err, WEFT_E_INVALID, WEFT_NO_OFFSET,
                              "is not in weft's own format, so no part of it can be saved; weft "
                              "export --to mirage writes one");
    if (!read_part_packets(part, add_offset, &o)) {
        free(o.at);
        return weft_no_memory(err);
    }
    weft_sort(o.at, o.count, sizeof *o.at, weft_order_u64);
    for (size_t i = 0; i < s->pieces; i++) {
        struct piece *p = &s->piece[i];
        p->left_out = p->sequence &&
                      !(o.count && bsearch(&p->at, o.at, o.count, sizeof *o.at, weft_order_u64));
        s->left_out += p->left_out;
        if (p->left_out)
            s->overwritten -= p->overwritten; /* as when the part of the whole is read */
    }
    free(o.at);
    snprintf(s->part, sizeof s->part,
             "part=%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64, f->first_ns,
             part->from_ns, part->to_ns, f->part.stream, f->part.promise);
    return 0;
}

uint64_t weft_snapshot_left_out(const struct weft_snapshot *s, uint64_t *all)
{
    *all = s->listed;
    return s->left_out;
}

bool weft_snapshot_is_live(const struct weft_snapshot *s)
{
    return s->live;
}

uint64_t weft_snapshot_bytes(const struct weft_snapshot *s)
{
    return s->written;
}

uint64_t weft_snapshot_gone(const struct weft_snapshot *s)
{
    return s->gone;
}

void weft_snapshot_free(struct weft_snapshot *s)
{
    if (!s)
        return;
    read_mirage_copy_free(s->mirage);
    free_findings(s);
    free(s);
}

/* ---- In a file without a name ---- */

int weft_snapshot_room(struct weft_error *err)
{
    const char *folder = getenv("TMPDIR");
    int fd = open(folder && *folder ? folder : "/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC | O_EXCL,
                  S_IRUSR | S_IWUSR);
    if (fd < 0)
        fd = memfd_create("weft-snapshot", MFD_CLOEXEC);
    if (fd < 0)
        return weft_error_set(err, WEFT_E_IO, WEFT_NO_OFFSET, "no room to hold it: %s",
                              strerror(errno));
    return fd;
}

int weft_snapshot_to_fd(struct weft_snapshot *s, int fd, struct weft_error *err)
{
    const int own = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 3);
    FILE *file = own < 0 ? NULL : fdopen(own, "w");
    if (!file) {
        weft_error_set(err, WEFT_E_IO, WEFT_NO_OFFSET, "no room to hold it: %s", strerror(errno));
        if (own >= 0)
            close(own);
        return WEFT_E_IO;
    }
    int rc = weft_snapshot_write(s, file, NULL, NULL, err);
    if (fclose(file) != 0 && rc == 0)
        rc = weft_error_set(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "no room to hold it: %s",
                            strerror(errno));
    return rc;
}

int weft_snapshot_to_room(struct weft_snapshot *s, struct weft_input *out, struct weft_error *err)
{
    struct stat st;
    *out = (struct weft_input){.fd = weft_snapshot_room(err)};
    int rc = out->fd < 0 ? out->fd : weft_snapshot_to_fd(s, out->fd, err);
    if (rc == 0 && fstat(out->fd, &st) == 0)
        out->size = (uint64_t)st.st_size;
    if (rc < 0)
        weft_input_close(out);
    return rc;
}

/* Returns 1 if it is worth copying, 0 if not, or a negative WEFT_E code. */
static int probe(const struct weft_input *in, struct weft_error *err)
{
    struct weft_snapshot s = {.in = in, .err = err};
    int rc = in->writer == WEFT_WRITER_ALIVE ? read_is_mirage(in, err) : 0;
    if (rc == 0)
        rc = read_snapshot_read_facts(&s);
    return rc == 0 ? s.live : rc;
}

int weft_snapshot_of_live(struct weft_input *out, const struct weft_input *in,
                          struct weft_error *err)
{
    struct weft_snapshot *s;
    *out = (struct weft_input){.fd = -1};
    int rc = probe(in, err);
    if (rc > 0)
        rc = weft_snapshot_begin(&s, in, err);
    if (rc <= 0)
        return rc;
    s->keeps_state = true;
    rc = weft_snapshot_to_room(s, out, err);
    weft_snapshot_free(s);
    return rc < 0 ? rc : 1;
}
