/* SPDX-License-Identifier: ISC */
#include "cli/names.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/order.h"
#include "cli/common.h"
#include "format/names.h"
#include "format/walk.h"
#include "model/strings.h"
#include "read/alive.h"
#include "symbols/symbols.h"

enum { PACKET_BYTES = 1 << 20 };

/* Children mention mostly the same places as their parent. */
static struct {
    struct weft_strings *places, *paths;
    struct weft_symbol *symbol; /* of each place that was looked up */
    uint32_t symbols, room;
} known;

/* ---- Which there are ---- */

struct list {
    uint32_t *place; /* numbers in known.places */
    uint32_t count, room;
    bool failed;
};

static void add_place(void *data, const char *place, size_t size)
{
    struct list *l = data;
    const uint32_t number = weft_strings_add(known.places, place, (uint32_t)size);
    if (number == WEFT_STRINGS_NONE ||
        !weft_reserve(&l->place, l->count, &l->room, sizeof *l->place))
        l->failed = true;
    else
        l->place[l->count++] = number;
}

/* Leaves each place once. */
static void drop_repeated(struct list *l)
{
    uint32_t kept = 0;
    weft_sort(l->place, l->count, sizeof *l->place, weft_order_u32);
    for (uint32_t i = 0; i < l->count; i++)
        if (!kept || l->place[kept - 1] != l->place[i])
            l->place[kept++] = l->place[i];
    l->count = kept;
}

/* ---- Looking up ---- */

struct wanted {
    uint32_t path, place;
    uint64_t address;
};

static int by_address(const void *a, const void *b)
{
    const struct wanted *x = a, *y = b;
    WEFT_ORDER(x->path, y->path);
    return weft_order(x->address, y->address);
}

/* Returns true if the file was changed, or put there, after the program had begun: then it may not be what the program
 * ran. */
static bool is_newer(const char *path, uint64_t start_real_ns)
{
    struct stat st;
    return stat(path, &st) == 0 &&
           (uint64_t)st.st_ctim.tv_sec * 1000000000 + (uint64_t)st.st_ctim.tv_nsec > start_real_ns;
}

/* Sorts the places that have not been looked up. Returns how many there are; -1: no memory. */
static ptrdiff_t list_wanted(struct wanted *w)
{
    ptrdiff_t count = 0;
    for (uint32_t i = known.symbols; i < weft_strings_count(known.places); i++) {
        struct weft_code code;
        uint32_t size;
        const char *place = weft_strings_get(known.places, i, &size);
        if (!format_code(place, size, &code))
            continue;
        const uint32_t path = weft_strings_add(known.paths, place, (uint32_t)code.path_size);
        if (path == WEFT_STRINGS_NONE)
            return -1;
        w[count++] = (struct wanted){path, i, code.address};
    }
    weft_sort(w, (size_t)count, sizeof *w, by_address);
    return count;
}

/* Leaves out those in files that are newer than the program. Returns how many are left. */
static uint32_t choose(struct wanted *w, uint32_t count, struct weft_symbol *s,
                       uint64_t start_real_ns, const char *name)
{
    uint32_t kept = 0;
    bool newer = false;
    for (uint32_t i = 0; i < count; i++) {
        const char *path = weft_strings_get(known.paths, w[i].path, NULL);
        if (i == 0 || w[i].path != w[i - 1].path) {
            newer = is_newer(path, start_real_ns);
            if (newer)
                cli_say(name,
                        "functions of %s stay without names: it was changed after the program "
                        "had begun",
                        cli_shown(path).text);
        }
        if (newer)
            continue;
        s[kept] = (struct weft_symbol){.path = path, .address = w[i].address};
        w[kept++] = w[i];
    }
    return kept;
}

/* Looks up all places that are new. */
static int look_up(uint64_t start_real_ns, const char *name)
{
    const uint32_t places = weft_strings_count(known.places), fresh = places - known.symbols;
    struct wanted *w = weft_resize(NULL, fresh, sizeof *w);
    struct weft_symbol *s = weft_resize(NULL, fresh, sizeof *s);
    ptrdiff_t count = w && s ? list_wanted(w) : -1;
    int rc = count < 0 || !weft_reserve_all(&known.symbol, places, &known.room, sizeof *s)
                 ? WEFT_E_NOMEM
                 : 0;
    if (rc == 0) {
        struct cli_progress progress = cli_progress_begin(name);
        count = choose(w, (uint32_t)count, s, start_real_ns, name);
        rc = weft_symbols_find(s, (uint32_t)count, cli_progress_show, &progress);
        cli_progress_end(&progress);
        memset(known.symbol + known.symbols, 0, fresh * sizeof *s);
        for (ptrdiff_t i = 0; i < count; i++)
            known.symbol[w[i].place] = s[i];
        known.symbols = places;
    }
    weft_free_all(w, s);
    return rc;
}

/* ---- Appending ---- */

struct packet {
    int fd;
    off_t at; /* in the file */
    struct weft_names_header h;
    unsigned char *bytes;
    size_t used;
};

static bool flush(struct packet *p)
{
    if (!p->h.names)
        return true;
    p->h.packet.packet_bits = p->h.packet.content_bits = p->used * 8;
    memcpy(p->bytes, &p->h, sizeof p->h);
    for (size_t done = 0; done < p->used;) {
        const ssize_t n = pwrite(p->fd, p->bytes + done, p->used - done, p->at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        done += (size_t)n;
        p->at += n;
    }
    p->h.names = 0;
    p->used = sizeof p->h;
    return true;
}

static bool put_entry(struct packet *p, uint32_t place)
{
    const struct weft_symbol *s = &known.symbol[place];
    const char *text[] = {weft_strings_get(known.places, place, NULL),
                          s->function ? s->function : "", s->file ? s->file : ""};
    size_t size = sizeof(struct weft_name_entry);
    for (unsigned i = 0; i < 3; i++)
        size += strlen(text[i]) + 1;
    size = (size + 7) & ~(size_t)7;
    if (size > PACKET_BYTES - p->used && !flush(p))
        return false;
    const struct weft_name_entry e = {(uint32_t)size, s->line};
    unsigned char *to = p->bytes + p->used;
    memset(to, 0, size);
    memcpy(to, &e, sizeof e);
    to += sizeof e;
    for (unsigned i = 0; i < 3; i++) {
        memcpy(to, text[i], strlen(text[i]));
        to += strlen(text[i]) + 1;
    }
    p->used += size;
    p->h.names++;
    return true;
}

static bool append(int fd, const struct list *l)
{
    const off_t end = lseek(fd, 0, SEEK_END);
    struct packet p = {.fd = fd, .at = (end + 7) & ~(off_t)7, .used = sizeof p.h};
    struct weft_packet_header first;
    bool fine = end > 0 && pread(fd, &first, sizeof first, 0) == sizeof first &&
                format_has_mark(&first) && (p.bytes = malloc(PACKET_BYTES));
    p.h.packet = (struct weft_packet_header){.magic = WEFT_PACKET_MAGIC,
                                             .signature = WEFT_PACKET_SIGNATURE,
                                             .version = WEFT_FORMAT_VERSION,
                                             .class = WEFT_PACKET_NAMES,
                                             .header_bytes = sizeof p.h};
    memcpy(p.h.packet.uuid, first.uuid, sizeof first.uuid);
    for (uint32_t i = 0; fine && i < l->count; i++)
        fine = put_entry(&p, l->place[i]);
    fine = fine && flush(&p);
    const int error = errno;
    if (!fine && end > 0 && ftruncate(fd, end) < 0)
        p.at = 0; /* half a packet remains; readers skip it */
    free(p.bytes);
    errno = error;
    return fine;
}

/* ---- A trace ---- */

/* Addresses mean the files of this machine, as they are now. */
static bool is_of_here(const struct weft_reader_facts *f)
{
    uint8_t id[16];
    return weft_boot_id(id) && memcmp(id, f->process.boot_id, sizeof id) == 0 &&
           f->ended != WEFT_ENDED_RUNNING;
}

static int list_places(struct weft_reader *r, struct list *l, struct weft_error *err)
{
    known.places = known.places ? known.places : weft_strings_new();
    known.paths = known.paths ? known.paths : weft_strings_new();
    if (!known.places || !known.paths)
        return WEFT_E_NOMEM;
    const int rc = is_of_here(weft_reader_facts(r)) ? weft_reader_codes(r, add_place, l, err) : 0;
    drop_repeated(l);
    return l->failed ? WEFT_E_NOMEM : rc;
}

void cli_names_append(int fd, uid_t owner, const char *name)
{
    struct weft_error err;
    struct weft_reader *r = NULL;
    struct list l = {.count = 0};
    if (cli_open_file(&r, fd, &err) < 0)
        return; /* whoever reads it next says why */
    int rc = list_places(r, &l, &err);
    const bool mine = owner == geteuid();
    if (rc == 0 && l.count && mine)
        rc = look_up(weft_reader_facts(r)->process.start_real_ns, name);
    if (rc < 0)
        cli_say(name, "names of functions cannot be looked up: %s", weft_error_name(rc));
    else if (l.count && !mine)
        cli_say(name, "functions stay without names: the trace belongs to another user");
    else if (l.count && !append(fd, &l))
        cli_say(name, "names of functions cannot be added: %s", strerror(errno));
    free(l.place);
    weft_reader_close(r);
}

void cli_names_append_at(const char *path, const char *name)
{
    struct stat st;
    const int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
        cli_names_append(fd, st.st_uid, name);
    cli_close(fd);
}
