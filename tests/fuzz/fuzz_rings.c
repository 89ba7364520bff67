/* SPDX-License-Identifier: ISC */
/* Any bytes as the contents of the kernel's rings: nothing crashes, and what is handed out of them can be written
 * into a file, which may be a ring, and whose packets are then sound. The first byte says where the second ring begins. */
#include "../unit/rings.h"
#include "profile/build.h"
#include "read/reader.h"
#include "require.h"
#include "sample/file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t samples;

static bool put(void *file, const struct weft_sampled *r)
{
    REQUIRE(r->addresses <= FRAMES && r->kernel_addresses <= r->addresses);
    int rc = weft_samples_put(file, r);
    REQUIRE(rc == 0 || rc == WEFT_E_LIMIT);
    samples += rc == 0 && r->kind == WEFT_RECORD_SAMPLE;
    return true;
}

static void check(int fd)
{
    char path[64];
    struct weft_reader *r;
    struct weft_error err;
    struct weft_profile *p = weft_profile_new();
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    REQUIRE(p && weft_reader_open(&r, path, &err) == 0);
    REQUIRE(weft_profile_load_trace(p, r, &err) == 0 && weft_profile_finish(p) == 0);
    REQUIRE(p->samples + p->overwritten == samples);
    weft_reader_close(r);
    weft_profile_free(p);
}

static void write_and_check(const uint8_t *data, size_t size, uint64_t ring_bytes)
{
    static struct rings rings;
    struct weft_samples_file *f;
    struct weft_error err;
    const struct weft_samples_facts facts = {.ring_bytes = ring_bytes};
    const struct weft_source source = {.unit = WEFT_UNIT_NS};
    const size_t first = (size - 1) * data[0] / 255;
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    samples = 0;
    REQUIRE(fd >= 0);
    rings_init(&rings);
    REQUIRE(weft_samples_begin(&f, fd, &facts, &source, "fuzz", &err) == 0);
    REQUIRE(rings_add(&rings, 0, data + 1, first) == 0);
    REQUIRE(rings_add(&rings, 1, data + 1 + first, size - 1 - first) == 0);
    rings_read(&rings, UINT64_MAX / 2, put, f);
    rings_read(&rings, UINT64_MAX, put, f);
    REQUIRE(weft_samples_end(f, &err) == 0);
    check(fd);
    close(fd);
    rings_fini(&rings);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1)
        return 0;
    write_and_check(data, size, 0);
    write_and_check(data, size, WEFT_SAMPLES_RING_LEAST);
    return 0;
}
