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

/* The names by which weft is recognised in a program: the word that its calls test, and the library. */
static const char *const of_weft[] = {"weft_impl_state", "weft__state", "libweft.so",
                                      "WEFT_TRACE_FORK", NULL};
/* … and OCaml's runtime. */
static const char *const of_ocaml[] = {"OCAMLRUNPARAM", NULL};
/* … and a sanitizer: its library ends the program if another one is loaded first. */
static const char *const of_sanitizers[] = {"libasan.so", "libtsan.so", "libclang_rt.asan",
                                            "libclang_rt.tsan", NULL};
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

/* Returns true if one of these is in the file. */
static bool names(int fd, const char *const *marks)
{
    static char block[1 << 16];
    size_t kept = 0;
    off_t at = 0;
    ssize_t n;
    while ((n = pread(fd, block + kept, sizeof block - kept, at)) > 0) {
        size_t size = kept + (size_t)n;
        for (unsigned i = 0; marks[i]; i++)
            if (memmem(block, size, marks[i], strlen(marks[i])))
                return true;
        at += n;
        kept = size < MARK_MAX ? size : MARK_MAX; /* a name may span two blocks */
        memmove(block, block + size - kept, kept);
    }
    return false;
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

static bool has(const char *name, const char *const *marks)
{
    const int fd = open_program(name);
    const bool found = fd >= 0 && names(fd, marks);
    cli_close(fd);
    return found;
}

bool cli_program_has_weft(const char *name)
{
    return has(name, of_weft);
}

const char *cli_program_refuses(const char *name, bool *harmless)
{
    union elf h;
    char loader[PATH_MAX];
    const char *why = NULL;
    const int fd = open_program(name);
    *harmless = true;
    if (is_elf(fd, &h)) {
        if (!find_loader(fd, &h, loader))
            why = "is linked statically";
        else if (secure(fd))
            why = secure(fd);
        *harmless = why;
        if (!why && h.ident[EI_CLASS] != (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32))
            why = sizeof(void *) == 8 ? "is a 32-bit program" : "is a 64-bit program";
        else if (!why && !is_our_loader(loader))
            why = "has another loader than weft, as programs for another libc have";
        else if (!why && names(fd, of_sanitizers))
            why = "is built with a sanitizer, which must be loaded before anything else";
    }
    cli_close(fd);
    return why;
}

static void examine(int fd, struct cli_why *why)
{
    char head[128];
    ssize_t n = pread(fd, head, sizeof head - 1, 0);
    head[n > 0 ? n : 0] = 0;
    if (strncmp(head, "#!", 2) == 0) {
        head[strcspn(head, "\r\n")] = 0;
        const struct cli_shown shown = cli_shown(head + 2 + strspn(head + 2, " \t"));
        why->is_script = true;
        snprintf(why->text, sizeof why->text,
                 "is a script for %.200s; give the program that it runs, or let the script exec it",
                 shown.text);
    } else if (strncmp(head, ELFMAG, SELFMAG) != 0) {
        snprintf(why->text, sizeof why->text, "is no ELF program; give the program that it runs");
    } else if (!names(fd, of_weft) && names(fd, of_ocaml)) {
        why->unlinked = why->of_ocaml = true;
        snprintf(why->text, sizeof why->text,
                 "is an OCaml program that is not linked with weft; how its Lwt tells weft of its "
                 "promises, docs/ocaml.md says");
    } else if (!names(fd, of_weft)) {
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
