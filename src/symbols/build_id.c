/* SPDX-License-Identifier: ISC */
/* The build id is read here and not with libelf, since it is needed while samples are taken, for
 * files that anybody may have written. Only what is needed is read, and everything is checked. */
#include <elf.h>
#include <string.h>
#include <unistd.h>

#include "symbols/elf_file.h"
#include "symbols/regular.h"
#include "symbols/symbols.h"

enum { HEADERS_MAX = 256, NOTES_MAX = 16384 };

uint32_t symbols_build_id_find(const uint8_t *notes, size_t size, size_t align,
                               uint8_t id[WEFT_BUILD_ID_MAX])
{
    for (size_t at = 0; size - at >= sizeof(Elf64_Nhdr);) {
        Elf64_Nhdr n; /* the same in 32 bits */
        memcpy(&n, notes + at, sizeof n);
        at += sizeof n;
        size_t name = ((size_t)n.n_namesz + align - 1) & ~(align - 1);
        if (name > size - at || n.n_descsz > size - at - name)
            return 0;
        if (n.n_type == NT_GNU_BUILD_ID && n.n_namesz == 4 && memcmp(notes + at, "GNU", 4) == 0 &&
            n.n_descsz <= WEFT_BUILD_ID_MAX) {
            memcpy(id, notes + at + name, n.n_descsz);
            return n.n_descsz;
        }
        size_t content = ((size_t)n.n_descsz + align - 1) & ~(align - 1);
        if (content > size - at - name)
            return 0;
        at += name + content;
    }
    return 0;
}

static uint32_t read_notes(int fd, uint64_t at, uint64_t size, uint64_t align, uint8_t *id)
{
    uint8_t notes[NOTES_MAX];
    if (at > INT64_MAX)
        return 0;
    ssize_t n = pread(fd, notes, size < sizeof notes ? (size_t)size : sizeof notes, (off_t)at);
    return n > 0 ? symbols_build_id_find(notes, (size_t)n, align == 8 ? 8 : 4, id) : 0;
}

uint32_t symbols_build_id_read(int fd, uint8_t id[WEFT_BUILD_ID_MAX])
{
    union {
        unsigned char ident[EI_NIDENT];
        Elf32_Ehdr narrow;
        Elf64_Ehdr wide;
    } h = {{0}};
    if (pread(fd, &h, sizeof h, 0) < (ssize_t)sizeof h.narrow ||
        memcmp(h.ident, ELFMAG, SELFMAG) != 0 || h.ident[EI_DATA] != ELFDATA2LSB)
        return 0;
    bool wide = h.ident[EI_CLASS] == ELFCLASS64;
    uint64_t at = wide ? h.wide.e_phoff : h.narrow.e_phoff;
    unsigned count = wide ? h.wide.e_phnum : h.narrow.e_phnum;
    size_t size = wide ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
    if ((wide ? h.wide.e_phentsize : h.narrow.e_phentsize) != size || at > INT32_MAX)
        return 0;
    for (unsigned i = 0; i < count && i < HEADERS_MAX; i++) {
        union {
            Elf32_Phdr narrow;
            Elf64_Phdr wide;
        } p;
        uint32_t bytes = 0;
        if (pread(fd, &p, size, (off_t)(at + i * size)) != (ssize_t)size)
            return 0;
        if (wide && p.wide.p_type == PT_NOTE)
            bytes = read_notes(fd, p.wide.p_offset, p.wide.p_filesz, p.wide.p_align, id);
        else if (!wide && p.narrow.p_type == PT_NOTE)
            bytes = read_notes(fd, p.narrow.p_offset, p.narrow.p_filesz, p.narrow.p_align, id);
        if (bytes > 0)
            return bytes;
    }
    return 0;
}

uint32_t weft_symbols_build_id(const char *root, const char *path, uint8_t *id)
{
    int fd = symbols_regular_open(root, path);
    uint32_t bytes = fd < 0 ? 0 : symbols_build_id_read(fd, id);
    if (fd >= 0)
        close(fd);
    return bytes;
}
