/* SPDX-License-Identifier: ISC */
#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "cli/common.h"
#include "cli/record.h"

enum { OF_WEFT = 1, OF_OCAML = 2, SANITIZED = 4 };

/* The names by which these are recognised in a program. */
static const struct {
    const char *name;
    unsigned of;
} marks[] = {
    {"weft_impl_state", OF_WEFT}, /* the word that its calls test */
    {"weft__state", OF_WEFT},
    {"libweft.so", OF_WEFT},
    {"WEFT_TRACE_FORK", OF_WEFT},
    {"OCAMLRUNPARAM", OF_OCAML},
    /* Its library ends the program if another one is loaded first. */
    {"libasan.so", SANITIZED},
    {"libtsan.so", SANITIZED},
    {"libclang_rt.asan", SANITIZED},
    {"libclang_rt.tsan", SANITIZED},
};
#define MARKS (sizeof marks / sizeof *marks)
#define MARK_MAX 16

/* Opens the file that execvp would take. Returns a descriptor, or -1. */
static int open_program(const char *name)
{
    char path[PATH_MAX];
    const char *at = getenv("PATH");
    if (strchr(name, '/') || !at)
        return open(name, O_RDONLY | O_CLOEXEC);
    for (;; at++) {
        size_t n = strcspn(at, ":");
        int length = snprintf(path, sizeof path, "%.*s%s%s", (int)n, at, n ? "/" : "", name);
        if (length > 0 && (size_t)length < sizeof path && access(path, X_OK) == 0)
            return open(path, O_RDONLY | O_CLOEXEC);
        at += n;
        if (!*at)
            return -1;
    }
}

/* What the file has the names of. The whole file is read, once. */
static unsigned marks_of(int fd)
{
    static char block[1 << 16];
    unsigned found = 0;
    size_t kept = 0;
    off_t at = 0;
    ssize_t n;
    while ((n = pread(fd, block + kept, sizeof block - kept, at)) > 0) {
        size_t size = kept + (size_t)n;
        for (unsigned i = 0; i < MARKS; i++)
            if (!(found & marks[i].of) && memmem(block, size, marks[i].name, strlen(marks[i].name)))
                found |= marks[i].of;
        at += n;
        kept = size < MARK_MAX ? size : MARK_MAX; /* a name may span two blocks */
        memmove(block, block + size - kept, kept);
    }
    return found;
}

union elf {
    unsigned char ident[EI_NIDENT];
    Elf32_Ehdr narrow;
    Elf64_Ehdr wide;
};

/* Whether an ELF program names a loader, its interpreter, and which. Both classes have the needed fields, at different
 * offsets. */
static bool find_loader(int fd, const union elf *h, char loader[PATH_MAX])
{
    union {
        Elf32_Word type; /* the first field of both */
        Elf32_Phdr narrow;
        Elf64_Phdr wide;
    } p;
    const bool wide = h->ident[EI_CLASS] == ELFCLASS64;
    const unsigned count = wide ? h->wide.e_phnum : h->narrow.e_phnum;
    const size_t step = wide ? sizeof p.wide : sizeof p.narrow;
    off_t at = wide ? (off_t)h->wide.e_phoff : (off_t)h->narrow.e_phoff;
    *loader = 0;
    for (unsigned i = 0; i < count; i++, at += (off_t)step) {
        if (pread(fd, &p, step, at) != (ssize_t)step)
            return true; /* such a file is not a program that is linked statically */
        if (p.type == PT_INTERP) {
            const off_t text = wide ? (off_t)p.wide.p_offset : (off_t)p.narrow.p_offset;
            const ssize_t n = pread(fd, loader, PATH_MAX - 1, text);
            loader[n > 0 ? n : 0] = 0;
            return true;
        }
    }
    return false;
}

/* The descriptor may be -1. */
static bool is_elf(int fd, union elf *h)
{
    return fd >= 0 && pread(fd, h, sizeof *h, 0) == sizeof *h &&
           memcmp(h->ident, ELFMAG, SELFMAG) == 0;
}

/* True also if it is not known. */
static bool is_our_loader(const char *loader)
{
    union elf h;
    char ours[PATH_MAX], same[PATH_MAX], other[PATH_MAX];
    const int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    const bool known = is_elf(fd, &h) && find_loader(fd, &h, ours) && *ours;
    cli_close(fd);
    return !known || strcmp(loader, ours) == 0 ||
           (realpath(loader, other) && realpath(ours, same) && strcmp(other, same) == 0);
}

/* The loader ignores weft's environment if a program gets rights that its caller does not have. */
static const char *secure(int fd)
{
    struct stat st;
    if (fstat(fd, &st) < 0)
        return NULL;
    if (st.st_mode & S_ISUID && st.st_uid != getuid())
        return "is set-user-id";
    if (st.st_mode & S_ISGID && st.st_mode & S_IXGRP && st.st_gid != getgid())
        return "is set-group-id";
    if (getuid() != 0 && fgetxattr(fd, "security.capability", NULL, 0) > 0)
        return "is given capabilities";
    return NULL;
}

struct cli_program cli_program_look(const char *name)
{
    union elf h;
    char loader[PATH_MAX];
    struct cli_program p = {.harmless = true};
    const int fd = open_program(name);
    const unsigned found = fd >= 0 ? marks_of(fd) : 0;
    p.has_weft = found & OF_WEFT;
    if (is_elf(fd, &h)) {
        p.refuses = find_loader(fd, &h, loader) ? secure(fd) : "is linked statically";
        p.harmless = p.refuses;
        if (!p.refuses && h.ident[EI_CLASS] != (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32))
            p.refuses = sizeof(void *) == 8 ? "is a 32-bit program" : "is a 64-bit program";
        else if (!p.refuses && !is_our_loader(loader))
            p.refuses = "has another loader than weft, as programs for another libc have";
        else if (!p.refuses && found & SANITIZED)
            p.refuses = "is built with a sanitizer, which must be loaded before anything else";
    }
    cli_close(fd);
    return p;
}

static void examine(int fd, struct cli_why *why)
{
    char head[128];
    ssize_t n = pread(fd, head, sizeof head - 1, 0);
    head[n > 0 ? n : 0] = 0;
    const unsigned found = marks_of(fd);
    if (strncmp(head, "#!", 2) == 0) {
        head[strcspn(head, "\r\n")] = 0;
        const struct cli_shown shown = cli_shown(head + 2 + strspn(head + 2, " \t"));
        why->is_script = true;
        snprintf(why->text, sizeof why->text,
                 "is a script for %.200s; give the program that it runs, or let the script exec it",
                 shown.text);
    } else if (strncmp(head, ELFMAG, SELFMAG) != 0) {
        snprintf(why->text, sizeof why->text, "is no ELF program; give the program that it runs");
    } else if (!(found & OF_WEFT) && found & OF_OCAML) {
        why->unlinked = why->of_ocaml = true;
        snprintf(why->text, sizeof why->text,
                 "is an OCaml program that is not linked with weft; how its Lwt tells weft of its "
                 "promises, docs/ocaml.md says");
    } else if (!(found & OF_WEFT)) {
        why->unlinked = true;
        snprintf(why->text, sizeof why->text,
                 "is not linked with weft; what it starts is not recorded, give that instead");
    } else {
        const char *right = secure(fd);
        snprintf(why->text, sizeof why->text,
                 right ? "%s: weft takes nothing from the environment of such a program"
                       : "is linked with weft, but did not begin to record; what it says may tell "
                         "why%s",
                 right ? right : "");
    }
}

struct cli_why cli_program_why(const char *name)
{
    struct cli_why why = {.text = "cannot be read, so weft cannot say why"};
    int fd = open_program(name);
    if (fd >= 0) {
        examine(fd, &why);
        close(fd);
    }
    return why;
}

bool cli_program_script(const char *name, char *line, size_t size)
{
    int fd = open_program(name);
    ssize_t n = fd >= 0 ? pread(fd, line, size - 1, 0) : -1;
    cli_close(fd);
    line[n > 0 ? n : 0] = 0;
    if (strncmp(line, "#!", 2) != 0)
        return false;
    line[strcspn(line, "\r\n")] = 0;
    memmove(line, line + 2, strlen(line) - 1);
    return true;
}
