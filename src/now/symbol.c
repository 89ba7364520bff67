/* SPDX-License-Identifier: ISC */
/* The file of a mapping may be anything, so libelf reads it in a confined worker, which gets each file with a question:
 * where it is mapped. Its answer is one address for each symbol. */
#include <gelf.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "now/process.h"
#include "symbols/regular.h"

enum {
    SYMBOLS_MAX = 32,
    OBJECT_MS = 2000, /* of CPU time for one file */
    ALL_SECONDS = 5,
    PATIENCE_MS = 5000,
    LOSSES_MAX = 3, /* files that broke the worker */
    HEADERS_MAX = 256,
};

/* ---- In the worker ---- */

struct wanted {
    const char *const *symbol;
    uint32_t count;
};

struct where { /* one mapping of the file */
    uint64_t start, offset;
};

struct found {
    uint64_t address[SYMBOLS_MAX];
};

/* What must be added to the addresses of the file. False: this mapping is not of a segment. */
static bool bias_of(Elf *elf, const struct where *w, uint64_t *bias)
{
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), low = page - 1;
    size_t count = 0;
    GElf_Phdr h;
    if (elf_getphdrnum(elf, &count) != 0)
        return false;
    for (size_t i = 0; i < count && i < HEADERS_MAX && gelf_getphdr(elf, (int)i, &h); i++) {
        const uint64_t begin = h.p_offset & ~low;
        if (h.p_type != PT_LOAD || w->offset < begin || w->offset >= h.p_offset + h.p_filesz)
            continue;
        *bias = w->start - ((h.p_vaddr & ~low) + (w->offset - begin));
        return true;
    }
    return false;
}

static void search_table(Elf_Scn *section, const GElf_Shdr *h, Elf *elf, const struct wanted *what,
                         uint64_t bias, struct found *found)
{
    Elf_Data *data = elf_getdata(section, NULL);
    const size_t size = gelf_fsize(elf, ELF_T_SYM, 1, EV_CURRENT);
    const size_t count = data && size ? data->d_size / size : 0;
    GElf_Sym s;
    for (size_t i = 0; i < count && i < INT32_MAX && gelf_getsym(data, (int)i, &s); i++) {
        const int type = GELF_ST_TYPE(s.st_info), bound = GELF_ST_BIND(s.st_info);
        if (s.st_shndx == SHN_UNDEF || (bound != STB_GLOBAL && bound != STB_WEAK) ||
            (type != STT_OBJECT && type != STT_FUNC && type != STT_NOTYPE))
            continue;
        const char *name = elf_strptr(elf, h->sh_link, s.st_name);
        for (uint32_t k = 0; name && k < what->count; k++)
            if (!found->address[k] && strcmp(name, what->symbol[k]) == 0)
                found->address[k] = s.st_value + bias;
    }
}

static void search_file(int fd, const struct where *w, const struct wanted *what,
                        struct found *found)
{
    Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
    uint64_t bias;
    if (elf && elf_kind(elf) == ELF_K_ELF && bias_of(elf, w, &bias)) {
        static const GElf_Word type[] = {SHT_DYNSYM, SHT_SYMTAB};
        for (unsigned t = 0; t < 2 && !found->address[0]; t++)
            for (Elf_Scn *s = NULL; (s = elf_nextscn(elf, s));) {
                GElf_Shdr h;
                if (gelf_getshdr(s, &h) && h.sh_type == type[t])
                    search_table(s, &h, elf, what, bias, found);
            }
    }
    elf_end(elf);
}

static void work(int fd, void *data)
{
    const struct wanted *what = data;
    struct where w;
    elf_version(EV_CURRENT);
    while (symbols_worker_get(fd, &w, sizeof w, -1)) {
        struct found found = {{0}};
        int error = 0;
        symbols_confine_time(OBJECT_MS);
        const int file = symbols_file_receive(fd, &error);
        if (file >= 0) {
            search_file(file, &w, what, &found);
            close(file);
        }
        symbols_confine_time(0);
        if (!symbols_worker_put(fd, &found, sizeof found))
            break;
    }
}

/* ---- Outside ---- */

/* The very file that is mapped. Following /proc/PID/map_files needs rights that a user may not have, so the path is the
 * second try, in the root directory of the process; if it was deleted, another file may have taken its place. */
static int open_mapped(pid_t pid, const struct now_mapping *m)
{
    static const char deleted[] = " (deleted)";
    const size_t length = strlen(m->path), end = sizeof deleted - 1;
    char name[96];
    snprintf(name, sizeof name, "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, (int)pid, m->start,
             m->end);
    int fd = symbols_regular_open_trusted(name);
    if (fd < 0 && !(length > end && strcmp(m->path + length - end, deleted) == 0)) {
        snprintf(name, sizeof name, "/proc/%d/root", (int)pid);
        fd = symbols_regular_open(name, m->path);
    }
    return fd;
}

static bool ask(struct symbols_worker *w, int fd, const struct now_mapping *m, struct found *found)
{
    const struct where where = {m->start, m->offset};
    return symbols_worker_put(w->fd, &where, sizeof where) && symbols_file_send(w->fd, fd, 0) &&
           symbols_worker_get(w->fd, found, sizeof *found, PATIENCE_MS);
}

/* The next mapping from *at on that is the first one of a file with such a name. */
static const struct now_mapping *next_object(const struct now_process *p, const char *object,
                                             uint32_t *at)
{
    while (*at < p->mappings) {
        const uint32_t i = (*at)++;
        const struct now_mapping *m = &p->mapping[i];
        const char *slash = strrchr(m->path, '/');
        if (m->path[0] == '/' && strncmp(slash + 1, object, strlen(object)) == 0 &&
            (i == 0 || strcmp(p->mapping[i - 1].path, m->path) != 0))
            return m;
    }
    return NULL;
}

/* Only what has code is an object: not a font, nor a database that is mapped. Its mappings follow one another. */
static bool has_code(const struct now_process *p, const struct now_mapping *m)
{
    for (const struct now_mapping *o = m; o < p->mapping + p->mappings; o++) {
        if (strcmp(o->path, m->path) != 0)
            return false;
        if (o->executable)
            return true;
    }
    return false;
}

void now_symbol_addresses(struct now_process *p, const char *object, const char *const *symbol,
                          uint32_t count, uint64_t *address)
{
    struct wanted what = {symbol, count < SYMBOLS_MAX ? count : SYMBOLS_MAX};
    const struct symbols_worker_options o = {.cpu_seconds = ALL_SECONDS};
    struct symbols_worker w = {.fd = -1};
    struct found found = {{0}};
    const struct now_mapping *m;
    unsigned losses = p->no_files ? LOSSES_MAX : 0;
    for (uint32_t at = 0; losses < LOSSES_MAX && !found.address[0];) {
        if (!(m = next_object(p, object, &at)))
            break;
        const int fd = !has_code(p, m) ? -1
                       : p->core       ? symbols_regular_open(NULL, m->path)
                                       : open_mapped(p->pid, m);
        if (fd < 0)
            continue;
        if (w.pid <= 0 && symbols_worker_start(&w, &o, work, &what) < 0)
            losses = LOSSES_MAX;
        else if (!ask(&w, fd, m, &found)) {
            found = (struct found){{0}};
            losses++;
            symbols_worker_stop(&w);
        }
        close(fd);
    }
    symbols_worker_stop(&w);
    for (uint32_t i = 0; i < count; i++)
        address[i] = found.address[0] && i < SYMBOLS_MAX ? found.address[i] : 0;
}
