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

void sample_build_ids_fini(struct sample_build_ids *b)
{
    free(b->file);
    weft_table_drop(&b->by);
}

uint32_t sample_build_id(struct sample_build_ids *b, uint32_t process, const char *path,
                         uint8_t id[WEFT_BUILD_ID_MAX])
{
    char root[64];
    struct stat st;
    uint32_t bytes = 0, number;
    if (*path != '/' || path[1] == '/') /* "//anon" */
        return 0;
    /* The path as the process sees it; its root may differ from ours. */
    snprintf(root, sizeof root, "/proc/%u/root", process);
    int fd = symbols_regular_open(root, path);
    if (fd < 0)
        fd = symbols_regular_open(NULL, path);
    if (fd < 0)
        return 0;
    if (fstat(fd, &st) == 0) {
        const uint32_t before = b->files;
        const struct sample_build_id key = {
            .device = st.st_dev,
            .inode = st.st_ino,
            .changed_ns = (uint64_t)st.st_mtim.tv_sec * 1000000000u + (uint64_t)st.st_mtim.tv_nsec,
        };
        b->seed = before ? b->seed : weft_seed();
        number = weft_table_add(&b->by, &b->file, &b->files, &b->room, sizeof key,
                                offsetof(struct sample_build_id, id), &key, b->seed);
        if (number != UINT32_MAX) {
            struct sample_build_id *f = &b->file[number];
            if (number == before)
                f->bytes = (uint8_t)symbols_build_id_read(fd, f->id);
            memcpy(id, f->id, WEFT_BUILD_ID_MAX);
            bytes = f->bytes;
        }
    }
    close(fd);
    return bytes;
}
