/* SPDX-License-Identifier: ISC */
/* Core files: what is in one that is as the kernel writes it, cut anywhere, and with each byte changed. */
#include <elf.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/procfs.h>
#include <sys/user.h>
#include <unistd.h>

#include <cmocka.h>

#include "read/elf_core.h"

enum { ROOM = 1 << 14, PARTS = 3 };

struct image {
    union {
        unsigned char byte[ROOM];
        Elf64_Ehdr head;
    };
    size_t size;
};

static void put(struct image *i, const void *from, size_t bytes)
{
    assert_true(i->size + bytes <= ROOM);
    memcpy(i->byte + i->size, from, bytes);
    i->size += bytes;
}

static void put_note(struct image *i, uint32_t type, const void *from, size_t bytes)
{
    static const char zeros[4];
    const Elf64_Nhdr h = {.n_namesz = 5, .n_descsz = (uint32_t)bytes, .n_type = type};
    put(i, &h, sizeof h);
    put(i, "CORE\0\0\0", 8);
    put(i, from, bytes);
    put(i, zeros, -bytes & 3);
}

static void put_thread(struct image *i, int number, int signal, uint64_t pc)
{
    struct elf_prstatus s = {.pr_pid = number, .pr_cursig = (short)signal};
    struct user_regs_struct u = {0};
#if defined(__x86_64__)
    u.rip = pc, u.rsp = 0x7000, u.rax = (unsigned long)(signal ? 0 : -512), u.orig_rax = 202;
    u.rdi = 0x1234;
#elif defined(__aarch64__)
    u.pc = pc, u.sp = 0x7000, u.regs[0] = (unsigned long)(signal ? 0 : -512), u.regs[8] = 202;
#endif
    memcpy(&s.pr_reg, &u, sizeof u);
    put_note(i, NT_PRSTATUS, &s, sizeof s);
}

static void put_notes(struct image *i)
{
    const struct elf_prpsinfo p = {
        .pr_pid = 4711, .pr_fname = "a long name of 1", .pr_psargs = "server -p 80"};
    const siginfo_t info = {.si_signo = SIGSEGV, .si_code = SEGV_MAPERR};
    static const struct {
        uint64_t count, page, place[3][3];
        char names[32];
    } files = {3,
               4096,
               {{0x3000, 0x5000, 7}, {0x1000, 0x2000, 0}, {0x9000, 0xa000, 1}},
               "/lib/c\0/bin/a\0/tmp/t (deleted)"};
    put_note(i, NT_PRPSINFO, &p, sizeof p);
    put_thread(i, 4713, SIGSEGV, 0x1010);
    put_note(i, NT_SIGINFO, &info, sizeof info);
    put_thread(i, 4711, 0, 0x3010);
    put_note(i, NT_FILE, &files, sizeof files);
}

/* Its memory: 16 bytes at 0x1000, 32 of 4096 bytes at 0x3000 and what follows at 0x3020 … not in order. */
static void make(struct image *i)
{
    static const struct {
        uint64_t start, size, bytes;
        uint32_t flags;
    } parts[PARTS] = {
        {0x3020, 64, 16, PF_R | PF_W}, {0x1000, 4096, 16, PF_R | PF_X}, {0x3000, 32, 32, PF_R}};
    Elf64_Phdr h[1 + PARTS] = {{.p_type = PT_NOTE, .p_offset = sizeof i->head + sizeof h}};
    memset(i, 0, sizeof *i);
    i->head = (Elf64_Ehdr){.e_type = ET_CORE,
                           .e_phoff = sizeof i->head,
                           .e_phentsize = sizeof *h,
                           .e_phnum = 1 + PARTS};
#if defined(__x86_64__)
    i->head.e_machine = EM_X86_64;
#elif defined(__aarch64__)
    i->head.e_machine = EM_AARCH64;
#endif
    memcpy(i->head.e_ident, ELFMAG, SELFMAG);
    i->head.e_ident[EI_CLASS] = ELFCLASS64;
    i->head.e_ident[EI_DATA] = ELFDATA2LSB;
    i->size = sizeof i->head + sizeof h;
    put_notes(i);
    h[0].p_filesz = i->size - h[0].p_offset;
    for (unsigned k = 0; k < PARTS; k++) {
        h[1 + k] = (Elf64_Phdr){.p_type = PT_LOAD,
                                .p_flags = parts[k].flags,
                                .p_offset = i->size,
                                .p_vaddr = parts[k].start,
                                .p_memsz = parts[k].size,
                                .p_filesz = parts[k].bytes};
        for (uint64_t b = 0; b < parts[k].bytes; b++)
            put(i, (unsigned char[]){(unsigned char)(parts[k].start + b)}, 1);
    }
    memcpy(i->byte + sizeof i->head, h, sizeof h);
}

static struct weft_core *open_image(const struct image *i, size_t bytes)
{
    struct weft_core *c;
    const int fd = memfd_create("core", MFD_CLOEXEC);
    assert_int_equal(write(fd, i->byte, bytes), bytes);
    const int rc = weft_core_open(&c, fd);
    close(fd);
    assert_true(rc == 0 || rc == 1);
    assert_int_equal(c != NULL, rc == 1);
    return c;
}

static void whole(void **state)
{
    static struct image i;
    unsigned char bytes[64];
    (void)state;
    make(&i);
    struct weft_core *c = open_image(&i, i.size);
    assert_non_null(c);
    assert_false(c->cut);
    assert_int_equal(c->process, 4711);
    assert_string_equal(c->program, "a long name of 1");
    assert_string_equal(c->arguments, "server -p 80");
    assert_int_equal(c->threads, 2);
    assert_int_equal(c->thread[0].number, 4713);
    assert_int_equal(c->thread[0].signal, SIGSEGV);
    assert_true(c->thread[0].has_info);
    assert_int_equal(c->thread[0].info.si_code, SEGV_MAPERR);
    assert_int_equal(c->thread[0].pc, 0x1010);
    assert_int_equal(c->thread[0].call, -1);
    assert_false(c->thread[1].has_info);
    assert_int_equal(c->thread[1].sp, 0x7000);
    assert_int_equal(c->thread[1].call, 202);
#if defined(__x86_64__)
    assert_int_equal(c->thread[1].arg[0], 0x1234);
#endif
    assert_int_equal(c->files, 3);
    assert_string_equal(weft_core_file_at(c, 0x1fff)->path, "/bin/a");
    assert_int_equal(weft_core_file_at(c, 0x3000)->offset, 7 * 4096);
    assert_string_equal(weft_core_file_at(c, 0x9000)->path, "/tmp/t (deleted)");
    assert_null(weft_core_file_at(c, 0x2000));
    assert_null(weft_core_file_at(c, 0xfff));
    assert_int_equal(c->parts, PARTS);
    assert_true(weft_core_part_at(c, 0x1fff)->executable);
    assert_null(weft_core_part_at(c, 0x2000));
    /* Over the boundary of two parts, and up to where nothing is there. */
    assert_int_equal(weft_core_read(c, 0x3010, bytes, sizeof bytes), 32);
    for (unsigned k = 0; k < 32; k++)
        assert_int_equal(bytes[k], 0x10 + k);
    assert_int_equal(weft_core_read(c, 0x1008, bytes, 4), 4);
    assert_int_equal(weft_core_read(c, 0x1010, bytes, 4), 0);
    assert_int_equal(weft_core_read(c, 0x0fff, bytes, 4), 0);
    weft_core_close(c);
}

/* Whatever it says, nothing is outside of the file or of a table. */
static void check(const struct weft_core *c, size_t size)
{
    unsigned char bytes[256];
    if (!c)
        return;
    for (uint32_t k = 0; k < c->parts; k++) {
        const struct weft_core_part *p = &c->part[k];
        if (p->bytes > p->size || (p->bytes && (p->at > size || p->bytes > size - p->at)) ||
            (k && p[-1].start + p[-1].size > p->start))
            fail_msg("part %u of %zu bytes: 0x%" PRIx64 "+0x%" PRIx64 ", 0x%" PRIx64
                     " at 0x%" PRIx64,
                     k, size, p->start, p->size, p->bytes, p->at);
        assert_true(weft_core_read(c, p->start, bytes, sizeof bytes) <= sizeof bytes);
        weft_core_read(c, p->start + p->size - 1, bytes, sizeof bytes);
    }
    for (uint32_t k = 0; k < c->files; k++) {
        assert_true(c->file[k].start < c->file[k].end);
        assert_true(strlen(c->file[k].path) < ROOM);
        weft_core_file_at(c, c->file[k].start);
    }
    assert_true(strlen(c->program) < sizeof c->program);
    assert_true(strlen(c->arguments) < sizeof c->arguments);
}

static void cut(void **state)
{
    static struct image i;
    (void)state;
    make(&i);
    for (size_t size = 0; size < i.size; size++) {
        struct weft_core *c = open_image(&i, size);
        check(c, size);
        if (c && !c->cut)
            fail_msg("%zu of %zu bytes count as all", size, i.size);
        weft_core_close(c);
    }
}

static void damaged(void **state)
{
    static const unsigned char values[] = {0, 1, 0x7f, 0x80, 0xff};
    static struct image i;
    (void)state;
    make(&i);
    for (size_t at = 0; at < i.size; at++) {
        const unsigned char before = i.byte[at];
        for (unsigned k = 0; k < sizeof values; k++) {
            i.byte[at] = values[k];
            struct weft_core *c = open_image(&i, i.size);
            check(c, i.size);
            weft_core_close(c);
        }
        /* … and what follows: sizes and addresses of 8 bytes */
        unsigned char kept[8];
        const size_t some = i.size - at < sizeof kept ? i.size - at : sizeof kept;
        i.byte[at] = before;
        memcpy(kept, i.byte + at, some);
        memset(i.byte + at, 0xff, some);
        struct weft_core *c = open_image(&i, i.size);
        check(c, i.size);
        weft_core_close(c);
        memcpy(i.byte + at, kept, some);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole),
        cmocka_unit_test(cut),
        cmocka_unit_test(damaged),
    };
#if !defined(__x86_64__) && !defined(__aarch64__)
    return 77;
#endif
    return cmocka_run_group_tests(tests, NULL, NULL);
}
