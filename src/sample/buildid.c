/* SPDX-License-Identifier: ISC */
/* Build ids of files, for kernels that do not report them. A file is recognised by its inode number and times,
 * not by its name, so a changed file is noticed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "sample/state.h"
#include "symbols/elf_file.h"
#include "symbols/regular.h"

struct sample_build_ids {
    struct known {
        uint64_t device, inode, changed_ns;
        uint8_t id[WEFT_BUILD_ID_MAX];
        uint8_t bytes;
        bool used;
    } * slot;
    uint32_t slots, used;
    uint64_t seed;
};

struct sample_build_ids *sample_build_ids_new(void)
{
    struct sample_build_ids *b = calloc(1, sizeof *b);
    if (b)
        b->seed = weft_seed();
    return b;
}

void sample_build_ids_free(struct sample_build_ids *b)
{
    if (b)
        free(b->slot);
    free(b);
}

static struct known *find(struct known *slot, uint32_t slots, uint64_t seed, const struct known *k)
{
    uint64_t h = weft_mix(weft_mix(k->inode ^ k->device << 40, seed) ^ k->changed_ns, seed);
    uint32_t i = (uint32_t)h & (slots - 1);
    while (slot[i].used && (slot[i].inode != k->inode || slot[i].device != k->device ||
                            slot[i].changed_ns != k->changed_ns))
        i = (i + 1) & (slots - 1);
    return &slot[i];
}

static bool grow(struct sample_build_ids *b)
{
    const uint32_t slots = b->slots ? b->slots * 2 : 64;
    struct known *slot = slots ? calloc(slots, sizeof *slot) : NULL;
    if (!slot)
        return false;
    for (uint32_t i = 0; i < b->slots; i++)
        if (b->slot[i].used)
            *find(slot, slots, b->seed, &b->slot[i]) = b->slot[i];
    free(b->slot);
    b->slot = slot;
    b->slots = slots;
    return true;
}

uint32_t sample_build_id(struct sample_build_ids *b, uint32_t process, const char *path,
                         uint8_t id[WEFT_BUILD_ID_MAX])
{
    char root[64];
    struct stat st;
    uint32_t bytes = 0;
    if (*path != '/' || path[1] == '/') /* "//anon" */
        return 0;
    /* The path as the process sees it; its root may differ from ours. */
    snprintf(root, sizeof root, "/proc/%u/root", process);
    int fd = symbols_regular_open(root, path);
    if (fd < 0)
        fd = symbols_regular_open(NULL, path);
    if (fd < 0)
        return 0;
    if (fstat(fd, &st) == 0 && (b->used < b->slots / 2 || grow(b))) {
        struct known k = {.device = st.st_dev,
                          .inode = st.st_ino,
                          .changed_ns = (uint64_t)st.st_mtim.tv_sec * 1000000000u +
                                        (uint64_t)st.st_mtim.tv_nsec,
                          .used = true};
        struct known *slot = find(b->slot, b->slots, b->seed, &k);
        if (!slot->used) {
            k.bytes = (uint8_t)symbols_build_id_read(fd, k.id);
            *slot = k;
            b->used++;
        }
        memcpy(id, slot->id, WEFT_BUILD_ID_MAX);
        bytes = slot->bytes;
    }
    close(fd);
    return bytes;
}
