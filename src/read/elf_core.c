/* SPDX-License-Identifier: ISC */
/* elfutils reads cores, too, but it is not made for hostile files, so it would have to run in another process, and what
 * is wanted here are a few fixed structures of the kernel's (struct elf_prstatus …), which sys/procfs.h declares. */
#include "read/elf_core.h"

#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/procfs.h>
#include <sys/stat.h>
#include <sys/user.h>
#include <unistd.h>

#include "base/array.h"
#include "base/order.h"
#include "format/error.h"

enum {
    NOTES_MAX = 1 << 20,        /* of all threads together */
    FILES_BYTES_MAX = 16 << 20, /* of NT_FILE; the kernel's limit is 4 MiB */
    AUXV_BYTES_MAX = 4096,
    NAME_BYTES = 8, /* of a note: "CORE", "LINUX" */
};

#if defined(__x86_64__)
enum { MACHINE = EM_X86_64 };
#elif defined(__aarch64__)
enum { MACHINE = EM_AARCH64 };
#else
enum { MACHINE = EM_NONE };
#endif

static bool read_at(const struct weft_core *c, uint64_t at, void *to, size_t bytes)
{
    char *piece = to;
    while (bytes && at <= INT64_MAX) {
        const ssize_t n = pread(c->fd, piece, bytes, (off_t)at);
        if (n <= 0)
            return false;
        piece += n, at += (size_t)n, bytes -= (size_t)n;
    }
    return bytes == 0;
}

/* ---- Notes ---- */

struct note {
    uint32_t type;
    uint64_t at, bytes; /* of its contents */
};

#if defined(__x86_64__) || defined(__aarch64__)

/* A thread that a signal has torn out of a system call, as the end of the process does, returns with an error that only the
 * kernel sees, or with EINTR. */
static bool is_torn_out(int64_t result)
{
    return result == -4 || (result >= -516 && result <= -512);
}

static void take_registers(struct weft_core_thread *t, const elf_gregset_t *gregs)
{
    struct user_regs_struct u;
    _Static_assert(sizeof u <= sizeof *gregs && sizeof u <= sizeof t->reg, "the registers");
    memcpy(&u, gregs, sizeof u);
    memcpy(t->reg, &u, sizeof u);
    t->regs = sizeof u / sizeof *t->reg;
#if defined(__x86_64__)
    const uint64_t arg[6] = {u.rdi, u.rsi, u.rdx, u.r10, u.r8, u.r9};
    t->sp = u.rsp, t->pc = u.rip;
    t->call = is_torn_out((int64_t)u.rax) ? (int64_t)u.orig_rax : -1;
#else
    const uint64_t arg[6] = {0, u.regs[1], u.regs[2], u.regs[3], u.regs[4], u.regs[5]};
    t->sp = u.sp, t->pc = u.pc;
    t->call = is_torn_out((int64_t)u.regs[0]) ? (int64_t)u.regs[8] : -1;
#endif
    memcpy(t->arg, arg, sizeof arg);
}

static int take_thread(struct weft_core *c, const struct note *n)
{
    struct elf_prstatus s;
    if (n->bytes < sizeof s || !read_at(c, n->at, &s, sizeof s) ||
        c->threads == WEFT_CORE_THREADS_MAX)
        return 0;
    if (!weft_reserve(&c->thread, c->threads, &c->threads_room, sizeof *c->thread))
        return WEFT_E_NOMEM;
    struct weft_core_thread *t = &c->thread[c->threads++];
    *t = (struct weft_core_thread){.number = (uint32_t)s.pr_pid, .signal = s.pr_cursig};
    take_registers(t, &s.pr_reg);
    return 0;
}

#else
static int take_thread(struct weft_core *c, const struct note *n)
{
    (void)c, (void)n;
    return 0;
}
#endif

/* It follows the status of its thread. */
static void take_signal(struct weft_core *c, const struct note *n)
{
    struct weft_core_thread *t = c->threads ? &c->thread[c->threads - 1] : NULL;
    if (t && !t->has_info && n->bytes >= sizeof t->info)
        t->has_info = read_at(c, n->at, &t->info, sizeof t->info);
}

static void take_process(struct weft_core *c, const struct note *n)
{
    struct elf_prpsinfo p;
    if (c->process || n->bytes < sizeof p || !read_at(c, n->at, &p, sizeof p))
        return;
    c->process = (uint32_t)p.pr_pid;
    _Static_assert(sizeof p.pr_fname < sizeof c->program, "with a NUL");
    _Static_assert(sizeof p.pr_psargs < sizeof c->arguments, "with a NUL");
    memcpy(c->program, p.pr_fname, sizeof p.pr_fname);
    memcpy(c->arguments, p.pr_psargs, sizeof p.pr_psargs);
}

static void take_auxiliary(struct weft_core *c, const struct note *n)
{
    union {
        unsigned char bytes[AUXV_BYTES_MAX];
        Elf64_auxv_t entry[AUXV_BYTES_MAX / sizeof(Elf64_auxv_t)];
    } a;
    const size_t bytes = n->bytes < sizeof a ? (size_t)n->bytes : sizeof a;
    if (!read_at(c, n->at, a.bytes, bytes))
        return;
    for (size_t i = 0; i < bytes / sizeof *a.entry && a.entry[i].a_type != AT_NULL; i++) {
        if (a.entry[i].a_type == AT_SYSINFO_EHDR)
            c->vdso = a.entry[i].a_un.a_val;
        if (a.entry[i].a_type == AT_RANDOM)
            c->stack_top = a.entry[i].a_un.a_val;
    }
}

/* The number of files and the size of a page; each file's start, end and offset in pages; their names. */
static int take_files(struct weft_core *c, const struct note *n)
{
    uint64_t head[2], entry[3];
    if (c->file || n->bytes < sizeof head || !read_at(c, n->at, head, sizeof head))
        return 0;
    const uint64_t most = (n->bytes - sizeof head) / sizeof entry;
    const uint64_t count = head[0] < most ? head[0] : most;
    const uint64_t names_at = n->at + sizeof head + count * sizeof entry;
    const uint64_t left = n->at + n->bytes - names_at;
    const size_t bytes = left < FILES_BYTES_MAX ? (size_t)left : FILES_BYTES_MAX;
    c->paths = malloc(bytes + 1);
    c->file = weft_resize(NULL, count < WEFT_CORE_FILES_MAX ? count : WEFT_CORE_FILES_MAX,
                          sizeof *c->file);
    if (!c->paths || !c->file)
        return WEFT_E_NOMEM;
    const ssize_t got = pread(c->fd, c->paths, bytes, (off_t)names_at);
    c->paths[got > 0 ? got : 0] = 0;
    const char *name = c->paths, *end = c->paths + (got > 0 ? got : 0);
    for (uint64_t i = 0; i < count && c->files < WEFT_CORE_FILES_MAX && name < end; i++) {
        struct weft_core_file f = {.path = name};
        if (!read_at(c, n->at + sizeof head + i * sizeof entry, entry, sizeof entry))
            break;
        name += strlen(name) + 1;
        f.start = entry[0], f.end = entry[1];
        if (f.start < f.end && !__builtin_mul_overflow(entry[2], head[1], &f.offset))
            c->file[c->files++] = f;
    }
    return 0;
}

static int take_note(struct weft_core *c, const struct note *n, const char *name)
{
    const bool core = strcmp(name, "CORE") == 0;
    if (core && n->type == NT_PRSTATUS)
        return take_thread(c, n);
    if (core && n->type == NT_FILE)
        return take_files(c, n);
    if (core && n->type == NT_SIGINFO)
        take_signal(c, n);
    else if (core && n->type == NT_PRPSINFO)
        take_process(c, n);
    else if (core && n->type == NT_AUXV)
        take_auxiliary(c, n);
    return 0;
}

/* *left: how many more are looked at. */
static int take_notes(struct weft_core *c, uint64_t at, uint64_t bytes, uint32_t *left)
{
    const uint64_t end = bytes < INT64_MAX - at ? at + bytes : INT64_MAX;
    for (; *left && at < end; --*left) {
        Elf64_Nhdr h;
        char name[NAME_BYTES] = "";
        if (end - at < sizeof h || !read_at(c, at, &h, sizeof h)) {
            c->cut = true;
            break;
        }
        const uint64_t name_bytes = ((uint64_t)h.n_namesz + 3) & ~UINT64_C(3);
        const uint64_t all = ((uint64_t)h.n_descsz + 3) & ~UINT64_C(3);
        const struct note n = {h.n_type, at + sizeof h + name_bytes, h.n_descsz};
        if (h.n_namesz && h.n_namesz < sizeof name && read_at(c, at + sizeof h, name, h.n_namesz))
            TRY(take_note(c, &n, name));
        at = n.at + all;
    }
    return 0;
}

/* ---- Memory ---- */

static int take_part(struct weft_core *c, const Elf64_Phdr *h)
{
    if (h->p_memsz == 0 || h->p_memsz > UINT64_MAX - h->p_vaddr)
        return 0;
    if (!weft_reserve(&c->part, c->parts, &c->parts_room, sizeof *c->part))
        return WEFT_E_NOMEM;
    struct weft_core_part p = {.start = h->p_vaddr,
                               .size = h->p_memsz,
                               .at = h->p_offset,
                               .bytes = h->p_filesz < h->p_memsz ? h->p_filesz : h->p_memsz,
                               .readable = h->p_flags & PF_R,
                               .writable = h->p_flags & PF_W,
                               .executable = h->p_flags & PF_X};
    const uint64_t left = p.at < c->size ? c->size - p.at : 0;
    c->cut |= p.bytes > left;
    p.bytes = p.bytes < left ? p.bytes : left;
    c->part[c->parts++] = p;
    return 0;
}

static void sort_parts(struct weft_core *c)
{
    uint32_t kept = 0;
    weft_sort(c->part, c->parts, sizeof *c->part, weft_order_u64);
    for (uint32_t i = 0; i < c->parts; i++) {
        const struct weft_core_part *last = kept ? &c->part[kept - 1] : NULL;
        if (!last || last->start + last->size <= c->part[i].start)
            c->part[kept++] = c->part[i];
    }
    c->parts = kept;
    weft_sort(c->file, c->files, sizeof *c->file, weft_order_u64);
}

const struct weft_core_part *weft_core_part_at(const struct weft_core *c, uint64_t address)
{
    uint32_t low = 0, high = c->parts;
    WEFT_SEEK(low, high, c->part[middle].start <= address);
    const struct weft_core_part *p = low ? &c->part[low - 1] : NULL;
    return p && address - p->start < p->size ? p : NULL;
}

const struct weft_core_file *weft_core_file_at(const struct weft_core *c, uint64_t address)
{
    uint32_t low = 0, high = c->files;
    WEFT_SEEK(low, high, c->file[middle].start <= address);
    const struct weft_core_file *f = low ? &c->file[low - 1] : NULL;
    return f && address < f->end ? f : NULL;
}

/* A piece of memory may lie in two parts, as a mapping does of which some pages have other rights. */
size_t weft_core_read(const struct weft_core *c, uint64_t address, void *to, size_t bytes)
{
    size_t done = 0;
    while (done < bytes) {
        const struct weft_core_part *p = weft_core_part_at(c, address + done);
        const uint64_t within = p ? address + done - p->start : 0;
        if (!p || within >= p->bytes)
            break;
        const uint64_t left = p->bytes - within;
        const size_t some = left < bytes - done ? (size_t)left : bytes - done;
        const ssize_t n = pread(c->fd, (char *)to + done, some, (off_t)(p->at + within));
        if (n <= 0)
            break;
        done += (size_t)n;
    }
    return done;
}

/* ---- All of it ---- */

static bool is_core(const Elf64_Ehdr *h)
{
    const unsigned char order =
        __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB;
    return memcmp(h->e_ident, ELFMAG, SELFMAG) == 0 && h->e_ident[EI_CLASS] == ELFCLASS64 &&
           h->e_ident[EI_DATA] == order && h->e_type == ET_CORE && h->e_machine == MACHINE &&
           h->e_phentsize == sizeof(Elf64_Phdr);
}

/* More than 65,534 are counted in the first section's header. */
static uint32_t count_parts(const struct weft_core *c, const Elf64_Ehdr *h)
{
    Elf64_Shdr first;
    if (h->e_phnum != PN_XNUM)
        return h->e_phnum;
    if (!h->e_shoff || !read_at(c, h->e_shoff, &first, sizeof first))
        return 0;
    return first.sh_info < WEFT_CORE_PARTS_MAX ? first.sh_info : WEFT_CORE_PARTS_MAX;
}

static int read_all(struct weft_core *c, const Elf64_Ehdr *h)
{
    const uint32_t count = count_parts(c, h);
    uint32_t notes = NOTES_MAX;
    Elf64_Phdr p;
    if (h->e_phoff > INT64_MAX / 2)
        return 0;
    for (uint32_t i = 0; i < count; i++) {
        if (!read_at(c, h->e_phoff + i * sizeof p, &p, sizeof p)) {
            c->cut = true;
            break;
        }
        if (p.p_type == PT_LOAD && p.p_offset <= INT64_MAX)
            TRY(take_part(c, &p));
        else if (p.p_type == PT_NOTE && p.p_offset <= INT64_MAX)
            TRY(take_notes(c, p.p_offset, p.p_filesz, &notes));
    }
    sort_parts(c);
    return 1;
}

int weft_core_open(struct weft_core **core, int fd)
{
    Elf64_Ehdr h;
    struct stat st;
    *core = NULL;
    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) ||
        pread(fd, &h, sizeof h, 0) != (ssize_t)sizeof h || !is_core(&h))
        return 0;
    struct weft_core *c = calloc(1, sizeof *c);
    if (!c)
        return WEFT_E_NOMEM;
    c->fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    c->size = (uint64_t)st.st_size;
    c->written_ns = st.st_mtim.tv_sec * INT64_C(1000000000) + st.st_mtim.tv_nsec;
    const int rc = c->fd < 0 ? WEFT_E_NOMEM : read_all(c, &h);
    if (rc == 1)
        *core = c;
    else
        weft_core_close(c);
    return rc;
}

void weft_core_close(struct weft_core *c)
{
    if (!c)
        return;
    if (c->fd >= 0)
        close(c->fd);
    weft_free_all(c->thread, c->part, c->file, c->paths, c);
}
