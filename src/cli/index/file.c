/* SPDX-License-Identifier: ISC */
/* Where an index is, whether it fits, and how it is replaced. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/array.h"
#include "cli/index/parts.h"
#include "cli/source.h"
#include "output/beside.h"

#define FORMAT "weft-index"
#define SUFFIX ".weft-index"
#define TRACE_LEAST (UINT64_C(16) << 20) /* bytes of events: fewer are read as fast */
#define INDEX_SHARE 20                   /* of a trace's size, but at least and at most: */
#define INDEX_LEAST (UINT64_C(64) << 10)
#define INDEX_MOST (UINT64_C(4) << 20) /* in memory a hostile one takes some fifty times that */
/* A file that changed more recently may change again without another time of change. */
#define SETTLED_S 2

uint32_t cli_index_use;
enum { USE_AUTO, USE_ALWAYS, USE_NEVER };
const char *const cli_index_words[] = {"auto", "always", "never", NULL};

static const struct weft_beside_home home = {"XDG_CACHE_HOME", "/.cache", "weft/index"};

/* XXH3, 128 bits, as text. */
struct digest {
    char text[33];
};

struct cli_index {
    const char *path;
    int fd;          /* the trace, */
    struct stat was; /* as it was when it was opened */
    json_t *root;
    bool changed;
    bool large;                     /* what is kept of it is worth it */
    struct digest program, content; /* "" until it is needed */
};

/* ---- The trace ---- */

/* Of a file to its end; "" if it cannot be read. */
static struct digest digest_of(int fd)
{
    enum { PIECE = 1 << 20 };
    struct digest d = {""};
    XXH3_state_t *state = XXH3_createState();
    char *piece = malloc(PIECE);
    ssize_t n = -1;
    if (state && piece && XXH3_128bits_reset(state) == XXH_OK)
        for (off_t at = 0; (n = pread(fd, piece, PIECE, at)) > 0; at += n)
            XXH3_128bits_update(state, piece, (size_t)n);
    if (n == 0) {
        const XXH128_hash_t h = XXH3_128bits_digest(state);
        snprintf(d.text, sizeof d.text, "%016llx%016llx", (unsigned long long)h.high64,
                 (unsigned long long)h.low64);
    }
    free(piece);
    XXH3_freeState(state);
    return d;
}

/* Returns false if this program cannot be read. */
static bool know_program(struct cli_index *x)
{
    const int fd = *x->program.text ? -1 : open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    if (fd >= 0)
        x->program = digest_of(fd);
    cli_close(fd);
    return *x->program.text;
}

/* What the file system says of a file that has not changed. Null if it could change unnoticed by that. */
static json_t *stamp_of(const struct stat *st)
{
    const struct timespec *changed = &st->st_ctim;
    json_t *list = json_array();
    struct timespec now;
    if (clock_gettime(CLOCK_REALTIME, &now) < 0 || now.tv_sec - changed->tv_sec < SETTLED_S) {
        json_decref(list);
        return json_null();
    }
    index_add(&list, json_integer((json_int_t)st->st_dev));
    index_add(&list, json_integer((json_int_t)st->st_ino));
    index_add(&list, json_integer(st->st_mtim.tv_sec));
    index_add(&list, json_integer(st->st_mtim.tv_nsec));
    index_add(&list, json_integer(changed->tv_sec));
    index_add(&list, json_integer(changed->tv_nsec));
    return list;
}

static bool is_same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec &&
           a->st_ctim.tv_sec == b->st_ctim.tv_sec && a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

/* Returns true if that name of a trace names a file that has one, and nobody writes it. What is no file is not asked for its
 * trace here: that may take long. */
static bool is_for(struct cli_index *x)
{
    struct weft_error err;
    uint32_t pid;
    if (strcmp(x->path, "-") == 0)
        return false;
    x->fd = open(x->path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    return x->fd >= 0 && fstat(x->fd, &x->was) == 0 && S_ISREG(x->was.st_mode) &&
           (cli_index_use == USE_ALWAYS || (uint64_t)x->was.st_size >= TRACE_LEAST) &&
           cli_trace_path(x->path, &err) == x->path && !weft_output_is_recorded(x->fd, &pid);
}

/* ---- Reading ---- */

/* Returns true if it was made of the very bytes that the trace has. */
static bool fits(struct cli_index *x, const json_t *root)
{
    const json_t *trace = json_object_get(root, "trace");
    const json_t *stamp = json_object_get(trace, "stamp");
    const char *content = json_string_value(json_object_get(trace, "content"));
    const char *program = json_string_value(json_object_get(root, "program"));
    if (json_integer_value(json_object_get(root, FORMAT)) != 1 || !program || !content ||
        !know_program(x) || strcmp(program, x->program.text) != 0 ||
        json_integer_value(json_object_get(trace, "bytes")) != x->was.st_size)
        return false;
    json_t *mine = stamp_of(&x->was);
    const bool same = json_is_array(mine) && json_equal(mine, stamp);
    if (!same) {
        x->content = digest_of(x->fd);
        x->changed = json_is_array(mine); /* by its stamp it is known faster the next time */
    } else if (strlen(content) < sizeof x->content.text) {
        snprintf(x->content.text, sizeof x->content.text, "%s", content);
    }
    json_decref(mine);
    return *x->content.text && strcmp(content, x->content.text) == 0;
}

/* Takes over what a file has, if it fits. of: the trace that it must name, or NULL. */
static bool load(struct cli_index *x, const char *file, const char *of)
{
    struct weft_error err;
    struct stat st;
    char *text = NULL;
    size_t size = 0;
    json_t *root = NULL;
    if (file && weft_beside_read(&text, &size, file, INDEX_MOST, "an index", &st, &err) == 0 &&
        text && (st.st_uid == 0 || st.st_uid == geteuid() || st.st_uid == x->was.st_uid))
        root = json_loadb(text, size, 0, NULL);
    free(text);
    const char *named = json_string_value(json_object_get(root, "file"));
    bool fine = root && (!of || (named && strcmp(named, of) == 0)) && fits(x, root);
    x->large |= fine;
    if (fine)
        x->root = root;
    else
        json_decref(root);
    return fine;
}

struct cli_index *cli_index_open(const char *path)
{
    if (cli_index_use == USE_NEVER || !weft_part_is_whole(&cli_part))
        return NULL;
    struct cli_index *x = calloc(1, sizeof *x);
    if (!x)
        return NULL;
    *x = (struct cli_index){.path = path, .fd = -1};
    if (is_for(x)) {
        char *full = NULL, *near = weft_beside(path, SUFFIX);
        char *far = weft_beside_home(path, SUFFIX, &home, false, &full);
        if (!load(x, near, NULL) && !load(x, far, full)) {
            x->changed = false;
            x->root = json_object();
        }
        weft_free_all(near, far, full);
        if (x->root)
            return x;
    }
    cli_close(x->fd);
    free(x);
    return NULL;
}

const json_t *index_section(const struct cli_index *x, const char *name)
{
    return x ? json_object_get(x->root, name) : NULL;
}

/* ---- Writing ---- */

void index_put_section(struct cli_index *x, const char *name, json_t *section)
{
    if (section && json_object_set_new(x->root, name, section) == 0)
        x->changed = true;
}

void index_is_of(struct cli_index *x, uint64_t content_bytes)
{
    if (x)
        x->large |= content_bytes >= TRACE_LEAST;
}

bool cli_index_keeps(const struct cli_index *x)
{
    return x && (x->large || cli_index_use == USE_ALWAYS);
}

bool index_lacks(const struct cli_index *x, const char *name)
{
    return cli_index_keeps(x) && !index_section(x, name);
}

bool index_checked(struct cli_index *x, const char *name, bool fine)
{
    if (x && !fine)
        json_object_del(x->root, name);
    return fine;
}

/* Returns true if there is nothing at that place, or an index. */
static bool may_replace(const char *file)
{
    struct weft_error err;
    struct stat st;
    char *text;
    size_t size;
    json_t *root = NULL;
    if (weft_beside_read(&text, &size, file, INDEX_MOST, "an index", &st, &err) < 0)
        return false;
    if (text)
        root = json_loadb(text, size, 0, NULL);
    const bool may = !text || json_object_get(root, FORMAT);
    free(text);
    json_decref(root);
    return may;
}

static bool write_file(const struct cli_index *x, const char *file, const char *text)
{
    const struct weft_output_options o = {WEFT_OUTPUT_OTHER, &x->path, 1};
    struct weft_output out;
    struct weft_error err;
    if (!file || !may_replace(file) || weft_output_open(&out, file, &o, &err) < 0)
        return false;
    const bool fine = fputs(text, out.file) != EOF && fputc('\n', out.file) != EOF;
    return weft_output_close(&out, fine, &err) == 0 && fine;
}

/* NULL: it would be too large, or there is no memory. */
static char *text_of(struct cli_index *x, const char *full)
{
    const uint64_t share = (uint64_t)x->was.st_size / INDEX_SHARE;
    const uint64_t limit = share < INDEX_LEAST  ? INDEX_LEAST
                           : share > INDEX_MOST ? INDEX_MOST
                                                : share;
    static const char *const largest[] = {"explain", "stats", "summary"};
    json_t *trace = json_object();
    index_set(&trace, "bytes", json_integer(x->was.st_size));
    index_set(&trace, "stamp", stamp_of(&x->was));
    index_set(&trace, "content", json_string(x->content.text));
    index_set(&x->root, FORMAT, json_integer(1));
    index_set(&x->root, "file", json_string(full ? full : x->path));
    index_set(&x->root, "program", json_string(x->program.text));
    index_set(&x->root, "trace", trace);
    for (unsigned i = 0; x->root && i < sizeof largest / sizeof *largest; i++) {
        char *text = json_dumps(x->root, JSON_COMPACT);
        if (text && strlen(text) < limit)
            return text;
        free(text);
        json_object_del(x->root, largest[i]);
    }
    return NULL;
}

static void save(struct cli_index *x)
{
    struct stat now;
    uint32_t pid;
    fflush(stdout);
    if (!*x->content.text)
        x->content = digest_of(x->fd);
    if (!know_program(x) || !*x->content.text || weft_output_is_recorded(x->fd, &pid) ||
        fstat(x->fd, &now) < 0 || !is_same(&now, &x->was) || stat(x->path, &now) < 0 ||
        !is_same(&now, &x->was))
        return;
    char *full = NULL, *near = weft_beside(x->path, SUFFIX);
    char *far = weft_beside_home(x->path, SUFFIX, &home, false, &full);
    char *text = text_of(x, full);
    if (text && !write_file(x, near, text)) {
        weft_free_all(far, full);
        far = weft_beside_home(x->path, SUFFIX, &home, true, &full);
        write_file(x, far, text);
    }
    weft_free_all(near, far, full, text);
}

void cli_index_close(struct cli_index *x)
{
    if (!x)
        return;
    if (x->changed && cli_index_keeps(x))
        save(x);
    json_decref(x->root);
    cli_close(x->fd);
    free(x);
}
