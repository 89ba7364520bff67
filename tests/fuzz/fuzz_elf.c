/* SPDX-License-Identifier: ISC */
/* Any bytes as an ELF file with DWARF: names of what is in it, and how to unwind from there. What a worker does is
 * done here, in the fuzzer's process, so that it sees it; now and then also by a worker. */
#include <fcntl.h>
#include <sys/socket.h>

#include "try.h"
#include "symbols/cfi.h"
#include "symbols/names.h"
#include "symbols/symbols.h"
#include "symbols/unwind.h"

enum { SIZE_MAX_BYTES = 1 << 16, OFFSETS = 1024, RULES = 100, START = 0x10000, PROCESS = 7 };

static uint32_t offsets_in(size_t size, uint32_t most, uint64_t offset[OFFSETS])
{
    uint32_t count = 0;
    size_t step = size / most + 1;
    for (uint64_t at = 0; at < size && count < most; at += step)
        offset[count++] = at;
    return count;
}

static void try_names(const char *path, size_t size, bool symbols_only, bool linked)
{
    uint64_t offset[OFFSETS];
    struct symbols_question q = {.offset = offset, .symbols_only = symbols_only, .linked = linked};
    int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    q.count = offsets_in(size, OFFSETS, offset);
    symbols_names_answer(&q, &(struct symbols_names_options){.debug_path = "/nowhere"},
                         open(path, O_RDONLY | O_CLOEXEC), nowhere);
}

/* All questions first: answers are small enough to wait in the socket. */
static void try_rules(const char *path, size_t size)
{
    uint64_t offset[OFFSETS];
    uint32_t count = offsets_in(size, RULES, offset);
    int pair[2];
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0);
    struct symbols_worker w = {.fd = pair[0]};
    struct symbols_rule rule;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    REQUIRE(fd >= 0 && symbols_cfi_object(&w, fd));
    close(fd);
    for (uint32_t i = 0; i < count; i++)
        REQUIRE(symbols_cfi_send(&w, 0, offset[i]));
    REQUIRE(shutdown(pair[0], SHUT_WR) == 0);
    symbols_cfi_work(pair[1], NULL);
    close(pair[1]);
    for (uint32_t i = 0; i < count; i++)
        REQUIRE(symbols_cfi_receive(&w, -1, &rule));
    close(pair[0]);
}

static void try_worker(const uint8_t *data, size_t size)
{
    struct weft_symbols_stats stats;
    char path[] = "/tmp/weft-fuzz-elf-XXXXXX"; /* what a link of /proc leads to is not opened */
    int fd = mkstemp(path);
    REQUIRE(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    close(fd);
    struct weft_profile *p = weft_profile_new();
    REQUIRE(p);
    uint32_t text = weft_profile_add_text(p, path, (uint32_t)strlen(path));
    struct weft_mapping m = {
        .process = PROCESS, .path = text, .start = START, .size = SIZE_MAX_BYTES};
    REQUIRE(weft_profile_add_mapping(p, &m) != WEFT_NONE);
    for (uint64_t at = 0; at < size; at += 16)
        REQUIRE(weft_profile_push(p, 0, PROCESS, START + at, 0, 1) != WEFT_NONE);
    REQUIRE(weft_profile_finish(p) == 0);
    struct weft_symbols_options o = {.debug_path = "/nowhere"};
    REQUIRE(weft_symbols_resolve(p, &o, &stats, NULL, NULL) == 0);
    REQUIRE(stats.named <= stats.locations && stats.with_lines <= stats.named);
    REQUIRE(stats.missing == 0 && stats.other_build == 0);

    struct weft_unwinder *u = weft_unwinder_new();
    uint64_t stack[64], regs[24], pc[32];
    REQUIRE(u && weft_unwinder_map(u, &m, path) == 0);
    for (unsigned i = 0; i < 64; i++)
        stack[i] = i % 2 ? START + i * 16 : 0x7000 + i * 8;
    for (unsigned i = 0; i < 24; i++)
        regs[i] = 0x7000 + i * 8;
    for (uint64_t at = 0; at < size && at < 1024; at += 32) {
        regs[8] = START + at;
        regs[7] = 0x7000;
        struct weft_unwind_input in = {PROCESS, PROCESS,          0xff01ff,
                                       regs,    (uint8_t *)stack, sizeof stack};
        uint32_t count = weft_unwinder_run(u, &in, pc, 32);
        REQUIRE(count <= 32);
    }
    weft_unwinder_free(u);
    weft_profile_free(p);
    unlink(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint32_t hash = 0;
    if (size == 0 || size > SIZE_MAX_BYTES)
        return 0;
    for (size_t i = 0; i < size; i++)
        hash = hash * 31 + data[i];
    const char *path = try_file(data, size);
    try_names(path, size, hash % 4 == 0, hash % 8 < 4);
    try_rules(path, size);
    if (hash % 16 == 8) /* some of the corpus are */
        try_worker(data, size);
    return 0;
}
