/* SPDX-License-Identifier: ISC */
#include "symbols/symbol_table.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/order.h"
#include "symbols/regular.h"

/* Ranges that contain others are rare and not deeply nested. */
#define LOOK_BACK 64

bool symbols_symbol_table_add(struct symbols_symbol_table *t, uint64_t start, uint64_t size,
                              uint32_t rank, const char *name, size_t name_size)
{
    name_size = strnlen(name, name_size);
    if (name_size == 0)
        return true;
    if (!weft_reserve(&t->symbol, t->symbols, &t->symbols_room, sizeof *t->symbol) ||
        !weft_reserve_all(&t->names, (uint64_t)t->names_bytes + name_size + 1, &t->names_room, 1))
        return false;
    memcpy(t->names + t->names_bytes, name, name_size);
    t->names[t->names_bytes + name_size] = '\0';
    t->symbol[t->symbols++] = (struct symbols_symbol){start, size, t->names_bytes, rank};
    t->names_bytes += (uint32_t)name_size + 1;
    return true;
}

/* The best symbol of an address comes last. Names are stored in the order of adding, so their
 * position gives that order. */
static int by_start(const void *a, const void *b)
{
    const struct symbols_symbol *x = a, *y = b;
    WEFT_ORDER(x->start, y->start);
    if ((x->size == 0) != (y->size == 0))
        return x->size == 0 ? -1 : 1;
    WEFT_ORDER(x->rank, y->rank);
    return weft_order(x->name, y->name);
}

void symbols_symbol_table_sort(struct symbols_symbol_table *t)
{
    if (t->symbols > 1)
        qsort(t->symbol, t->symbols, sizeof *t->symbol, by_start);
}

const struct symbols_symbol *symbols_symbol_table_find(const struct symbols_symbol_table *t,
                                                       uint64_t address)
{
    uint32_t low = 0, high = t->symbols;
    WEFT_SEEK(low, high, t->symbol[middle].start <= address);
    if (low == 0)
        return NULL;
    uint32_t last = low - 1, end = last < LOOK_BACK ? 0 : last - LOOK_BACK;
    for (uint32_t i = last + 1; i-- > end;) {
        const struct symbols_symbol *s = &t->symbol[i];
        if (s->size > 0 && address - s->start < s->size)
            return s;
    }
    return t->symbol[last].size == 0 ? &t->symbol[last] : NULL;
}

void symbols_symbol_table_free(struct symbols_symbol_table *t)
{
    free(t->symbol);
    free(t->names);
    *t = (struct symbols_symbol_table){0};
}

/* ---- Tables in files of text ---- */

enum { LINE_MAX_BYTES = 1024 };
#define PERF_MAP_MAX (UINT64_C(256) << 20)
#define KALLSYMS_MAX (UINT64_C(256) << 20)

/* Calls each for every line, without its end; lines that are too long are cut. Closes fd. */
static bool each_line(int fd, uint64_t most, bool each(struct symbols_symbol_table *t, char *line),
                      struct symbols_symbol_table *t)
{
    char line[LINE_MAX_BYTES];
    size_t used = 0;
    int c = 0;
    FILE *f = fdopen(fd, "r");
    bool ok = f != NULL;
    if (!f)
        close(fd);
    for (uint64_t all = 0; ok && c != EOF; all++) {
        c = all < most ? getc_unlocked(f) : EOF;
        if (c == '\n' || (c == EOF && used > 0)) {
            line[used] = '\0';
            ok = each(t, line);
            used = 0;
        } else if (c != EOF && used + 1 < sizeof line) {
            line[used++] = (char)c;
        }
    }
    if (f)
        fclose(f);
    return ok;
}

/* Reads a hexadecimal number and the space after it. Returns what follows, or NULL. */
static char *hexadecimal(char *text, uint64_t *number)
{
    char *end;
    *number = 0;
    if (!((*text >= '0' && *text <= '9') || (*text >= 'a' && *text <= 'f') ||
          (*text >= 'A' && *text <= 'F')))
        return NULL;
    errno = 0;
    *number = strtoull(text, &end, 16);
    return errno == 0 && *end == ' ' ? end + 1 : NULL;
}

/* "ffffffff81000000 T _stext", followed by a tab and "[module]" if it belongs to one. Symbols have
 * no sizes there: each ends where the next one begins, of any type. Data symbols are kept only as
 * ends (rank 0). */
static bool kernel_line(struct symbols_symbol_table *t, char *line)
{
    uint64_t address;
    char *type = hexadecimal(line, &address);
    if (!type || address == 0 || type[0] == '\0' || type[1] != ' ')
        return true;
    char *name = type + 2;
    size_t size = strcspn(name, " \t");
    bool text = strchr("tTwW", type[0]);
    /* As perf does: of several names it prefers the one that is visible elsewhere. */
    uint32_t rank = !text ? 0 : type[0] == 'T' ? 1000 : type[0] == 't' ? 700 : 400;
    for (size_t i = 0; text && i < size && i < 100 && name[i] == '_'; i++)
        rank--;
    return symbols_symbol_table_add(t, address, 0, rank, name, size);
}

/* Removes symbols that only mark ends, and what is too far after the last function. */
static void drop_ends(struct symbols_symbol_table *t)
{
    static const char *const ends[] = {"_etext", "_einittext", "__end_rodata", "_end"};
    for (uint32_t i = 0; i < t->symbols; i++)
        for (unsigned k = 0; k < sizeof ends / sizeof *ends; k++)
            if (strcmp(t->names + t->symbol[i].name, ends[k]) == 0)
                t->symbol[i].rank = 0;
}

bool symbols_kallsyms_load(struct symbols_symbol_table *t, const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    struct stat st;
    bool ok = true;
    *t = (struct symbols_symbol_table){0};
    if (fd < 0)
        return true;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
        ok = each_line(fd, KALLSYMS_MAX, kernel_line, t);
    else
        close(fd);
    drop_ends(t);
    symbols_symbol_table_sort(t);
    return ok;
}

/* Where the part of a path begins that is worth showing; the directory before it adds nothing. */
static const char *base_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && strncmp(path, "node:", 5) != 0 ? slash + 1 : path;
}

/* How many bytes come before ":22" at the end of a text of a given size; all of them if it does not
 * end like that. */
static size_t before_number(const char *text, size_t n)
{
    size_t i = n;
    while (i > 0 && text[i - 1] >= '0' && text[i - 1] <= '9')
        i--;
    return i > 0 && i < n && text[i - 1] == ':' ? i - 1 : n;
}

/* Removes ":22" from "pool.js:34:22". */
static size_t without_column(const char *place)
{
    const size_t n = strlen(place), line = before_number(place, n);
    return before_number(place, line) < line ? line : n;
}

/* Skips V8's prefix that says how the function was compiled: "JS:", up to Node.js 18 another word,
 * then a mark for its compiler. Returns NULL if there is none. */
static const char *v8_function(const char *name)
{
    static const char *const tags[] = {"JS:", "LazyCompile:", "Function:", "Eval:", "Script:"};
    for (unsigned i = 0; i < sizeof tags / sizeof *tags; i++) {
        const size_t n = strlen(tags[i]);
        if (strncmp(name, tags[i], n) == 0)
            return name + n + strspn(name + n, "*~^+'");
    }
    return NULL;
}

/* Where the name of a function ends and its place begins: "get size /srv/a b.js:7". Or NULL. */
static const char *v8_place(const char *function)
{
    const bool accessor = strncmp(function, "get ", 4) == 0 || strncmp(function, "set ", 4) == 0;
    const char *space = strchr(function, ' ');
    if (accessor && function[4 + strcspn(function + 4, " /:")] == ' ')
        space = strchr(function + 4, ' ');
    return space;
}

/* The function's name as the program uses it, the same however it was compiled: V8's "JS:*handle
 * /srv/pool.js:34:22" and "JS:~handle /srv/pool.js:34:22" become "handle pool.js:34"; CPython's
 * "py::handle:/srv/pool.py" becomes "handle pool.py". Others stay as they are. */
static const char *plain_name(const char *name, char *to, size_t size)
{
    const char *function = v8_function(name);
    if (function) {
        const char *place = v8_place(function);
        if (!place)
            return function;
        const bool named = place > function;
        const char *base = base_of(place + 1);
        snprintf(to, size, "%.*s %.*s", named ? (int)(place - function) : 11,
                 named ? function : "(anonymous)", (int)without_column(base), base);
        return to;
    }
    if (strncmp(name, "py::", 4) == 0 && strchr(name + 4, ':')) {
        const size_t n = strcspn(name + 4, ":");
        snprintf(to, size, "%.*s %s", (int)n, name + 4, base_of(name + 4 + n + 1));
        return to;
    }
    return name;
}

/* "7f3a01000000 40 Interpreter:~loop file.js:1": start, size, and the name up to the end of the
 * line. */
static bool generated_line(struct symbols_symbol_table *t, char *line)
{
    uint64_t start, size;
    char *rest = hexadecimal(line, &start);
    rest = rest ? hexadecimal(rest, &size) : NULL;
    if (!rest || size == 0 || size > UINT64_MAX - start)
        return true;
    rest[strcspn(rest, "\r")] = 0;
    char plain[1024];
    const char *name = plain_name(rest, plain, sizeof plain);
    return symbols_symbol_table_add(t, start, size, 1, name, strlen(name));
}

/* If code was placed over other code, the later one is what is there; the earlier one is removed
 * completely. Sorts by start, in place; names are in the order of the lines. */
static void drop_replaced(struct symbols_symbol_table *t)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < t->symbols; i++) {
        const struct symbols_symbol s = t->symbol[i];
        const struct symbols_symbol *last;
        while (kept > 0 && (last = &t->symbol[kept - 1], last->start + last->size > s.start) &&
               last->name < s.name)
            kept--;
        if (kept == 0 || t->symbol[kept - 1].start + t->symbol[kept - 1].size <= s.start)
            t->symbol[kept++] = s;
    }
    t->symbols = kept;
}

/* Everybody may create files in /tmp under any name, so the file must belong to the user who runs
 * the process. If the process has ended, nobody knows who that was. Then the file must be ours or
 * root's; if we are root, it may be anybody's, and root may see wrong names, but only for generated
 * code. */
static bool trusted(int fd, uint32_t process)
{
    struct stat st, owner;
    char path[64];
    snprintf(path, sizeof path, "/proc/%u", process);
    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
        return false;
    if (st.st_uid == 0)
        return true;
    if (stat(path, &owner) == 0)
        return st.st_uid == owner.st_uid;
    return geteuid() == 0 || st.st_uid == geteuid();
}

/* The number that a process in a container has there; 0: the same. */
static uint32_t inner_number(uint32_t process)
{
    char path[64], line[256];
    uint32_t number = 0;
    snprintf(path, sizeof path, "/proc/%u/status", process);
    FILE *status = fopen(path, "re");
    while (status && fgets(line, sizeof line, status))
        if (strncmp(line, "NSpid:", 6) == 0 && strrchr(line, '\t') > line + 6)
            number = (uint32_t)strtoul(strrchr(line, '\t') + 1, NULL, 10);
    if (status)
        fclose(status);
    return number;
}

bool symbols_perf_map_load(struct symbols_symbol_table *t, uint32_t process)
{
    char path[96];
    uint32_t inner = inner_number(process);
    *t = (struct symbols_symbol_table){0};
    if (inner)
        snprintf(path, sizeof path, "/proc/%u/root/tmp/perf-%u.map", process, inner);
    else
        snprintf(path, sizeof path, "/tmp/perf-%u.map", process);
    int place = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    snprintf(path, sizeof path, "/proc/self/fd/%d", place);
    int fd = place < 0 ? -1 : symbols_regular_open_trusted(path);
    if (place >= 0)
        close(place);
    if (fd < 0)
        return true;
    if (!trusted(fd, process)) {
        close(fd);
        return true;
    }
    bool ok = each_line(fd, PERF_MAP_MAX, generated_line, t);
    symbols_symbol_table_sort(t);
    drop_replaced(t);
    return ok;
}
