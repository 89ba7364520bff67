/* SPDX-License-Identifier: ISC */
/* Names for addresses that are known: tests/symbols/subject.c says which function each of its addresses belongs to. */
#include <stdarg.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "allocations.h"
#include "symbols/names.h"
#include "symbols/symbols.h"
#include "symbols/symbol_table.h"
#include "symbols/worker.h"
#include "test.h"

static const uint8_t known_id[20] = {0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef, 0x01, 0x23,
                                     0x45, 0x67, 0x89, 0xab, 0xcd, 0xef, 0x01, 0x23, 0x45, 0x67};

/* ---- A directory that goes with the test ---- */

static char directory[] = "/tmp/weft-symbols-XXXXXX";

static int make_directory(void **state)
{
    (void)state;
    return mkdtemp(directory) ? 0 : -1;
}

static int remove_directory(void **state)
{
    char command[128];
    (void)state;
    snprintf(command, sizeof command, "rm -rf '%s'", directory);
    return system(command);
}

static void run(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void run(const char *format, ...)
{
    char command[8192];
    va_list args;
    va_start(args, format);
    assert_true(vsnprintf(command, sizeof command, format, args) < (int)sizeof command);
    va_end(args);
    int status = system(command);
    if (status != 0)
        print_error("%s: %d\n", command, status);
    assert_int_equal(status, 0);
}

static bool have(const char *program)
{
    char command[256];
    snprintf(command, sizeof command, "command -v %s >/dev/null", program);
    return system(command) == 0;
}

static const char *environment(const char *name)
{
    const char *value = getenv(name);
    if (!value)
        fail_msg("%s is not set: run it by meson test", name);
    return value;
}

/* ---- What the subject says of itself ---- */

enum { MAPS = 16, ATS = 4 };

struct said {
    struct {
        uint64_t start, end, offset;
        char path[512];
    } map[MAPS];
    struct {
        uint64_t address;
        char functions[256];
    } at[ATS];
    unsigned maps, ats;
};

static void ask(const char *program, struct said *s)
{
    char line[4352];
    FILE *out = popen(program, "r");
    assert_non_null(out);
    *s = (struct said){0};
    while (fgets(line, sizeof line, out)) {
        if (s->maps < MAPS && sscanf(line, "map %" SCNx64 " %" SCNx64 " %" SCNx64 " %511[^\n]",
                                     &s->map[s->maps].start, &s->map[s->maps].end,
                                     &s->map[s->maps].offset, s->map[s->maps].path) >= 3)
            s->maps++;
        else if (s->ats < ATS && sscanf(line, "at %" SCNx64 " %255s", &s->at[s->ats].address,
                                        s->at[s->ats].functions) == 2)
            s->ats++;
    }
    assert_int_equal(pclose(out), 0);
    assert_int_equal(s->ats, 3);
    assert_true(s->maps >= 3);
}

enum { PROCESS = 4242 };

static void add_map(struct weft_profile *p, uint64_t start, uint64_t end, uint64_t offset,
                    const char *path, const uint8_t *id)
{
    struct weft_mapping m = {
        .process = PROCESS, .start = start, .size = end - start, .offset = offset};
    m.path = weft_profile_add_text(p, path, (uint32_t)strlen(path));
    if (id) {
        memcpy(m.build_id, id, 20);
        m.build_id_bytes = 20;
    }
    assert_int_not_equal(weft_profile_add_mapping(p, &m), WEFT_NONE);
}

static uint32_t add_address(struct weft_profile *p, uint64_t address, uint8_t flags)
{
    uint32_t node =
        weft_profile_push(p, 0, flags & WEFT_NODE_KERNEL ? UINT32_MAX : PROCESS, address, flags, 1);
    assert_int_not_equal(node, WEFT_NONE);
    return node;
}

static struct weft_profile *profile_of(const struct said *s)
{
    struct weft_profile *p = weft_profile_new();
    assert_non_null(p);
    for (unsigned i = 0; i < s->maps; i++)
        add_map(p, s->map[i].start, s->map[i].end, s->map[i].offset, s->map[i].path, NULL);
    for (unsigned i = 0; i < s->ats; i++)
        add_address(p, s->at[i].address, WEFT_NODE_CALLER);
    assert_int_equal(weft_profile_finish(p), 0);
    return p;
}

static const struct weft_location *location_at(const struct weft_profile *p, uint64_t address)
{
    for (uint32_t i = 0; i < p->locations; i++)
        if (p->location[i].address == address)
            return &p->location[i];
    fail_msg("no location at %" PRIx64, address);
    return NULL;
}

/* "inner:21,middle:28" as it was found; without lines those are 0. */
static const char *found(const struct weft_profile *p, uint64_t address)
{
    static char text[4096];
    const struct weft_location *l = location_at(p, address);
    text[0] = '\0';
    for (uint32_t i = 0; i < l->frames; i++) {
        const struct weft_frame *f = &p->frame[l->first_frame + i];
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s:%u", i ? "," : "",
                 weft_profile_text(p, p->function[f->function].name), f->line);
    }
    return text;
}

static struct weft_symbols_stats resolve(struct weft_profile *p, struct weft_symbols_options o)
{
    struct weft_symbols_stats stats;
    assert_int_equal(weft_symbols_resolve(p, &o, &stats, NULL, NULL), 0);
    return stats;
}

static void check_all_known(const char *program)
{
    struct said s;
    ask(program, &s);
    struct weft_profile *p = profile_of(&s);
    struct weft_symbols_stats stats = resolve(p, (struct weft_symbols_options){0});
    for (unsigned i = 0; i < s.ats; i++)
        assert_string_equal(found(p, s.at[i].address), s.at[i].functions);
    assert_int_equal(stats.locations, 3);
    assert_int_equal(stats.named, 3);
    assert_int_equal(stats.with_lines, 3);
    assert_int_equal(stats.objects, 2);
    assert_int_equal(stats.missing + stats.other_build + stats.damaged, 0);

    const struct weft_location *l = location_at(p, s.at[0].address);
    const struct weft_function *f = &p->function[p->frame[l->first_frame].function];
    const char *file = weft_profile_text(p, f->file);
    assert_true(l->resolved);
    assert_string_equal(weft_profile_text(p, f->system_name), "inner");
    assert_non_null(strstr(file, "/tests/symbols/subject.c"));
    assert_null(strstr(file, "/../"));
    assert_true(f->start_line > 0 && f->start_line < p->frame[l->first_frame].line);
    weft_profile_free(p);
}

TEST(position_independent)
{
    check_all_known(environment("SUBJECT"));
}

TEST(position_dependent)
{
    check_all_known(environment("SUBJECT_FIXED"));
}

/* ---- Files that have changed, or lie elsewhere ---- */

TEST(build_id)
{
    uint8_t id[WEFT_BUILD_ID_MAX] = {0};
    assert_int_equal(weft_symbols_build_id(NULL, environment("SUBJECT"), id), 20);
    assert_memory_equal(id, known_id, 20);
    assert_int_equal(weft_symbols_build_id(NULL, "/dev/zero", id), 0);
    assert_int_equal(weft_symbols_build_id(NULL, "/nowhere", id), 0);
    assert_int_equal(weft_symbols_build_id(NULL, "/proc/self/maps", id), 0);
}

/* The subject's file with a build id in the mapping; what the first address is named. */
static const char *found_with(const struct said *s, const char *sysroot, const char *debug_path,
                              const uint8_t *id, struct weft_symbols_stats *stats)
{
    static char text[4096];
    struct weft_profile *p = weft_profile_new();
    assert_non_null(p);
    for (unsigned i = 0; i < s->maps; i++)
        if (s->at[0].address - s->map[i].start < s->map[i].end - s->map[i].start)
            add_map(p, s->map[i].start, s->map[i].end, s->map[i].offset, s->map[i].path, id);
    add_address(p, s->at[0].address, WEFT_NODE_CALLER);
    assert_int_equal(weft_profile_finish(p), 0);
    *stats =
        resolve(p, (struct weft_symbols_options){.sysroot = sysroot, .debug_path = debug_path});
    snprintf(text, sizeof text, "%s", found(p, s->at[0].address));
    assert_int_equal(location_at(p, s->at[0].address)->resolved,
                     stats->missing == 0 && stats->other_build == 0 && stats->damaged == 0);
    weft_profile_free(p);
    return text;
}

TEST(other_build)
{
    struct said s;
    struct weft_symbols_stats stats;
    uint8_t other[20] = {1, 2, 3};
    ask(environment("SUBJECT"), &s);
    assert_string_equal(found_with(&s, NULL, NULL, other, &stats), "");
    assert_int_equal(stats.other_build, 1);
    assert_int_equal(stats.named, 0);
    assert_string_equal(found_with(&s, NULL, NULL, known_id, &stats), s.at[0].functions);
    assert_int_equal(stats.other_build, 0);
    assert_string_equal(found_with(&s, "/nowhere", NULL, NULL, &stats), "");
    assert_int_equal(stats.missing, 1);
}

/* A copy of the subject below the directory; its path there. */
static const char *copy_subject(const struct said *s, const char *root)
{
    static char path[1024];
    (void)s;
    snprintf(path, sizeof path, "%s%s", root, environment("SUBJECT"));
    run("mkdir -p '%s%s' && rmdir '%s%s' && cp '%s' '%s'", root, environment("SUBJECT"), root,
        environment("SUBJECT"), environment("SUBJECT"), path);
    return path;
}

TEST(separate_debuginfo)
{
    struct said s;
    struct weft_symbols_stats stats;
    char root[128], debug[256];
    if (!have("objcopy"))
        skip();
    ask(environment("SUBJECT"), &s);
    snprintf(root, sizeof root, "%s/root", directory);
    snprintf(debug, sizeof debug, "%s/debug", directory);
    run("mkdir '%s'", debug);
    const char *copy = copy_subject(&s, root);

    /* Without debug information: the symbol table, which knows nothing of what is inlined. */
    run("objcopy --only-keep-debug '%s' '%s/subject.debug'", copy, directory);
    run("objcopy --strip-debug '%s'", copy);
    assert_string_equal(found_with(&s, root, debug, known_id, &stats), "outer:0");
    assert_int_equal(stats.named, 1);
    assert_int_equal(stats.with_lines, 0);

    /* Without symbols, too. Function names that the dynamic linker needs stay, but these are not. */
    run("objcopy --strip-all '%s'", copy);
    assert_string_equal(found_with(&s, root, debug, known_id, &stats), "");
    assert_int_equal(stats.damaged + stats.other_build + stats.missing, 0);

    /* By build id */
    run("mkdir -p '%s/.build-id/01' && cp '%s/subject.debug' "
        "'%s/.build-id/01/23456789abcdef0123456789abcdef01234567.debug'",
        debug, directory, debug);
    assert_string_equal(found_with(&s, root, debug, NULL, &stats), s.at[0].functions);
    run("rm -r '%s/.build-id'", debug);
    assert_string_equal(found_with(&s, root, debug, NULL, &stats), "");

    /* By link, beside the file, where the usual path looks */
    run("mv '%s/subject.debug' \"$(dirname '%s')/linked\" && cd \"$(dirname '%s')\" && "
        "objcopy --add-gnu-debuglink=linked '%s'",
        directory, copy, copy, copy);
    assert_string_equal(found_with(&s, root, NULL, known_id, &stats), s.at[0].functions);
    run("rm -r '%s' '%s'", root, debug);
}

/* Compressed as .gnu_debugdata: Fedora's way to keep names of local functions. */
TEST(minidebuginfo)
{
    struct said s;
    struct weft_symbols_stats stats;
    char root[128];
    if (!have("objcopy") || !have("xz"))
        skip();
    ask(environment("SUBJECT"), &s);
    snprintf(root, sizeof root, "%s/mini", directory);
    const char *copy = copy_subject(&s, root);
    run("cd '%s' && objcopy --strip-debug '%s' all && objcopy --only-keep-debug all mini && "
        "xz mini && objcopy --strip-all --add-section .gnu_debugdata=mini.xz '%s'",
        root, copy, copy);
    assert_string_equal(found_with(&s, root, "/nowhere", known_id, &stats), "outer:0");
    run("rm -r '%s'", root);
}

/* A library of which two pieces are mapped, as after an mprotect in its middle. */
TEST(two_pieces)
{
    struct said s;
    ask(environment("SUBJECT"), &s);
    struct weft_profile *p = weft_profile_new();
    unsigned pieces = 0;
    for (unsigned i = 0; i < s.maps; i++) {
        uint64_t start = s.map[i].start, end = s.map[i].end, offset = s.map[i].offset;
        uint64_t middle = s.at[2].address & ~UINT64_C(15);
        if (middle <= start || middle >= end)
            continue;
        add_map(p, start, middle, offset, s.map[i].path, NULL);
        add_map(p, middle, end, offset + (middle - start), s.map[i].path, NULL);
        pieces += 2;
    }
    assert_int_equal(pieces, 2);
    add_address(p, s.at[2].address, WEFT_NODE_CALLER);
    add_address(p, (s.at[2].address & ~UINT64_C(15)) - 1, 0);
    assert_int_equal(weft_profile_finish(p), 0);
    assert_int_not_equal(p->location[0].mapping, p->location[1].mapping);
    struct weft_symbols_stats stats = resolve(p, (struct weft_symbols_options){0});
    assert_int_equal(stats.objects, 1);
    assert_string_equal(found(p, s.at[2].address), s.at[2].functions);
    weft_profile_free(p);
}

/* What calls a library's function by way of a table. */
TEST(stubs)
{
    struct said s;
    bool seen = false;
    ask(environment("SUBJECT"), &s);
    struct weft_profile *p = weft_profile_new();
    for (unsigned i = 0; i < s.maps; i++) {
        if (s.at[0].address < s.map[i].start || s.at[0].address >= s.map[i].end)
            continue;
        add_map(p, s.map[i].start, s.map[i].end, s.map[i].offset, s.map[i].path, NULL);
        for (uint64_t at = s.map[i].start; at < s.map[i].end; at += 4)
            add_address(p, at, 0);
    }
    assert_int_equal(weft_profile_finish(p), 0);
    resolve(p, (struct weft_symbols_options){0});
    for (uint32_t i = 0; i < p->locations && !seen; i++)
        seen = strcmp(found(p, p->location[i].address), "in_library@plt:0") == 0;
    assert_true(seen);
    weft_profile_free(p);
}

/* ---- Beside addr2line ---- */

enum { ASKED = 400, LINE_BYTES = 4096 };

/* binutils' loses much of what clang has inlined. */
#ifdef __clang__
#define ADDR2LINE "llvm-addr2line"
#else
#define ADDR2LINE "addr2line"
#endif

struct theirs {
    char innermost[LINE_BYTES]; /* function and file:line */
    unsigned frames;
};

static struct theirs *ask_addr2line(const char *program, const uint64_t *address)
{
    static struct theirs answer[ASKED];
    char path[256], line[LINE_BYTES], where[LINE_BYTES];
    snprintf(path, sizeof path, "%s/addresses", directory);
    FILE *list = fopen(path, "w");
    assert_non_null(list);
    for (unsigned i = 0; i < ASKED; i++)
        fprintf(list, "0x%" PRIx64 "\n", address[i]);
    assert_int_equal(fclose(list), 0);
    snprintf(line, sizeof line, ADDR2LINE " -a -i -f -C -e '%s' < '%s'", program, path);
    FILE *out = popen(line, "r");
    assert_non_null(out);
    int i = -1;
    while (fgets(line, sizeof line, out)) {
        if (strncmp(line, "0x", 2) == 0) {
            if (++i >= ASKED)
                break;
            answer[i] = (struct theirs){0};
            continue;
        }
        assert_true(i >= 0 && i < ASKED && fgets(where, sizeof where, out));
        if (answer[i].frames++ > 0)
            continue;
        line[strcspn(line, "\n")] = '\0';
        where[strcspn(where, " \n")] = '\0'; /* "(discriminator 3)" */
        const char *file = strrchr(where, '/');
        snprintf(answer[i].innermost, LINE_BYTES, "%.*s %.*s", 2000, line, 2000,
                 file ? file + 1 : where);
    }
    assert_int_equal(pclose(out), 0);
    return answer;
}

/* Both are asked for addresses all over the weft program. addr2line names what lies between functions, and
 * some functions otherwise than their declaration does; the rest must be the same. */
TEST(beside_addr2line)
{
    const char *program = environment("WEFT");
    uint64_t address[ASKED], start = 0, size = 0;
    char line[512];
    if (!have(ADDR2LINE) || !have("readelf"))
        skip();
    snprintf(line, sizeof line, "readelf -SW '%s'", program);
    FILE *sections = popen(line, "r");
    bool debug = false;
    while (sections && fgets(line, sizeof line, sections)) {
        const char *text = strstr(line, " .text ");
        debug |= strstr(line, " .debug_info ") != NULL;
        if (text)
            sscanf(text, " .text PROGBITS %" SCNx64 " %*x %" SCNx64, &start, &size);
    }
    if (sections)
        pclose(sections);
    if (!debug || size < ASKED)
        skip();
    struct weft_profile *p = weft_profile_new();
    add_map(p, 0x10000000, 0x10000000 + start + size, 0, program, NULL);
    for (unsigned i = 0; i < ASKED; i++) {
        address[i] = start + size / ASKED * i;
        add_address(p, 0x10000000 + address[i], 0);
    }
    assert_int_equal(weft_profile_finish(p), 0);
    resolve(p, (struct weft_symbols_options){0});
    const struct theirs *theirs = ask_addr2line(program, address);
    unsigned compared = 0, same = 0;
    for (unsigned i = 0; i < ASKED; i++) {
        const struct weft_location *l = location_at(p, 0x10000000 + address[i]);
        char ours[LINE_BYTES];
        if (l->frames == 0 || p->frame[l->first_frame].line == 0)
            continue;
        const struct weft_frame *f = &p->frame[l->first_frame];
        const char *file = weft_profile_text(p, p->function[f->function].file);
        const char *slash = strrchr(file, '/');
        snprintf(ours, sizeof ours, "%s %s:%u", weft_profile_text(p, p->function[f->function].name),
                 slash ? slash + 1 : file, f->line);
        compared++;
        if (strcmp(ours, theirs[i].innermost) == 0 && l->frames == theirs[i].frames)
            same++;
        else
            print_message("%" PRIx64 ": %s (%u), addr2line %s (%u)\n", address[i], ours, l->frames,
                          theirs[i].innermost, theirs[i].frames);
    }
    weft_profile_free(p);
    print_message("%u of %u the same\n", same, compared);
    assert_true(compared > ASKED / 2);
    assert_true(same * 100 >= compared * 95);
}

/* ---- Kernel, vdso, generated code ---- */

static const char *write_file(const char *name, const char *text)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
    return path;
}

TEST(kernel)
{
    const char *path = write_file("kallsyms", "0000000000000000 A fixed_percpu_data\n"
                                              "ffffffff81000100 t __other_name\n"
                                              "ffffffff81000100 T name\n"
                                              "ffffffff81000100 W weak_name\n"
                                              "ffffffff81000180 d data\n"
                                              "ffffffff81000200 T after\n"
                                              "nonsense\nffffffffffffffffff T too_long\n"
                                              "ffffffffc0001000 t of_module\t[module]\n"
                                              "ffffffff81000300 T _etext");
    struct weft_profile *p = weft_profile_new();
    static const uint64_t at[] = {0xffffffff81000000, 0xffffffff81000101, 0xffffffff81000181,
                                  0xffffffff81000200, 0xffffffff81000400, 0xffffffffc0001008,
                                  0xfffffffff0001008};
    for (unsigned i = 0; i < sizeof at / sizeof *at; i++)
        add_address(p, at[i], WEFT_NODE_KERNEL);
    assert_int_equal(weft_profile_finish(p), 0);
    struct weft_symbols_stats stats = resolve(p, (struct weft_symbols_options){.kallsyms = path});
    assert_string_equal(found(p, at[0]), "");
    assert_string_equal(found(p, at[1]), "name:0");
    assert_string_equal(found(p, at[2]), "");
    assert_string_equal(found(p, at[3]), "after:0");
    assert_string_equal(found(p, at[4]), "");
    assert_string_equal(found(p, at[5]), "of_module:0");
    assert_string_equal(found(p, at[6]), "");
    assert_int_equal(stats.named, 3);
    weft_profile_free(p);
}

/* Addresses that the system hides are all zero. */
TEST(hidden_kernel)
{
    const char *path = write_file("hidden", "0000000000000000 T one\n0000000000000000 T two\n");
    struct weft_profile *p = weft_profile_new();
    add_address(p, 0xffffffff81000100, WEFT_NODE_KERNEL);
    add_address(p, 0, WEFT_NODE_KERNEL);
    assert_int_equal(weft_profile_finish(p), 0);
    assert_int_equal(resolve(p, (struct weft_symbols_options){.kallsyms = path}).named, 0);
    assert_int_equal(resolve(p, (struct weft_symbols_options){.kallsyms = "/nowhere"}).named, 0);
    assert_int_equal(resolve(p, (struct weft_symbols_options){.kallsyms = directory}).named, 0);
    weft_profile_free(p);
}

TEST(real_kernel)
{
    char line[512], name[256], type;
    uint64_t address = 0;
    FILE *f = fopen("/proc/kallsyms", "r");
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "%" SCNx64 " %c %255s", &address, &type, name) == 3 && type == 'T' &&
            strcmp(name, "schedule") == 0)
            break;
        else
            address = 0;
    if (f)
        fclose(f);
    if (address == 0)
        skip();
    struct weft_profile *p = weft_profile_new();
    add_address(p, address + 1, WEFT_NODE_KERNEL);
    assert_int_equal(weft_profile_finish(p), 0);
    assert_int_equal(resolve(p, (struct weft_symbols_options){.this_machine = true}).named, 1);
    assert_string_equal(found(p, address + 1), "schedule:0");
    weft_profile_free(p);
}

TEST(vdso)
{
    struct said s;
    ask(environment("SUBJECT"), &s);
    struct weft_profile *p = weft_profile_new();
    uint64_t start = 0, end = 0;
    for (unsigned i = 0; i < s.maps; i++)
        if (strcmp(s.map[i].path, "[vdso]") == 0)
            start = s.map[i].start, end = s.map[i].end;
    if (start == 0)
        skip();
    add_map(p, start, end, 0, "[vdso]", NULL);
    for (uint64_t a = start; a < end; a += 16)
        add_address(p, a, 0);
    assert_int_equal(weft_profile_finish(p), 0);
    assert_int_equal(resolve(p, (struct weft_symbols_options){0}).named, 0);
    assert_true(resolve(p, (struct weft_symbols_options){.this_machine = true}).named > 0);
    bool clock = false;
    for (uint64_t a = start; a < end && !clock; a += 16)
        clock = strstr(found(p, a), "clock_gettime") != NULL;
    assert_true(clock);
    weft_profile_free(p);
}

/* Begins the file in which this process says what it has generated; skips the test where that cannot be. */
static FILE *begin_map(char path[64])
{
    snprintf(path, 64, "/tmp/perf-%u.map", (unsigned)getpid());
    unlink(path);
    FILE *f = fopen(path, "w");
    if (!f)
        skip();
    return f;
}

/* Ends it, and loads what it says. */
static struct symbols_symbol_table load_map(FILE *f, const char *path)
{
    struct symbols_symbol_table t;
    fclose(f);
    assert_true(symbols_perf_map_load(&t, (uint32_t)getpid()));
    unlink(path);
    return t;
}

/* The name at an address of it. */
static const char *generated_at(const struct symbols_symbol_table *t, uint64_t address)
{
    const struct symbols_symbol *s = symbols_symbol_table_find(t, address);
    return s ? t->names + s->name : "nothing";
}

TEST(generated)
{
    char path[64];
    FILE *f = begin_map(path);
    fputs("1000 100 first thing js:1\nzz\n1080 20\n7f00 0 empty\nffffffffffffffff 2 over\n"
          "2000 10 old\n2000 10 new\n",
          f);
    for (int i = 0; i < 3000; i++)
        fputc('5', f);
    fclose(f);
    struct symbols_symbol_table t;
    assert_true(symbols_perf_map_load(&t, (uint32_t)getpid()));
    assert_int_equal(t.symbols, 2);
    assert_string_equal(t.names + symbols_symbol_table_find(&t, 0x10ff)->name, "first thing js:1");
    assert_string_equal(t.names + symbols_symbol_table_find(&t, 0x200f)->name, "new");
    assert_null(symbols_symbol_table_find(&t, 0x1100));
    assert_null(symbols_symbol_table_find(&t, 0xfff));
    symbols_symbol_table_free(&t);

    /* An address that no file is mapped at is of that process */
    struct weft_profile *p = weft_profile_new();
    assert_int_not_equal(weft_profile_push(p, 0, (uint32_t)getpid(), 0x1010, 0, 1), WEFT_NONE);
    assert_int_equal(weft_profile_finish(p), 0);
    assert_int_equal(resolve(p, (struct weft_symbols_options){.this_machine = true}).named, 1);
    assert_string_equal(found(p, 0x1010), "first thing js:1:0");
    weft_profile_free(p);

    /* Somebody else's file, through a link with that name */
    char target[256];
    snprintf(target, sizeof target, "%s/map", directory);
    assert_int_equal(rename(path, target) == 0 || errno == EXDEV, true);
    unlink(path);
    assert_int_equal(symlink(target, path), 0);
    assert_true(symbols_perf_map_load(&t, (uint32_t)getpid()));
    assert_int_equal(t.symbols, 0);
    unlink(path);
}

/* Of code that lies where other code lay the later counts. */
TEST(generated_again)
{
    static const struct {
        uint64_t at;
        const char *name;
    } expected[] = {
        {0x1000, "big"},     {0x1080, "big"},    {0x10ff, "big"},
        {0x2000, "nothing"}, {0x2040, "middle"}, {0x2090, "nothing"},
        {0x3000, "left"},    {0x3080, "right"},  {0x4010, "last"},
    };
    char path[64];
    FILE *f = begin_map(path);
    /* Small ones under a later big one; a big one under a later small one; neighbours; the same place thrice */
    fputs("1080 10 small\n10f0 20 at the end\n1000 100 big\n"
          "2000 100 whole\n2040 10 middle\n"
          "3000 80 left\n3080 80 right\n"
          "4000 20 first\n4000 40 second\n4008 10 last\n",
          f);
    struct symbols_symbol_table t = load_map(f, path);
    for (unsigned i = 0; i < sizeof expected / sizeof *expected; i++)
        assert_string_equal(generated_at(&t, expected[i].at), expected[i].name);
    symbols_symbol_table_free(&t);
}

/* Of one function there is one name, as the program has it, however it was compiled. */
TEST(names_of_runtimes)
{
    static const struct {
        const char *line, *name;
    } names[] = {
        {"JS:*handle /srv/app/pool.js:34:22", "handle pool.js:34"},
        {"JS:~handle /srv/app/pool.js:34:22", "handle pool.js:34"},
        {"JS:^Pool.acquire /srv/a b/pool.js:7:1", "Pool.acquire pool.js:7"},
        {"JS:+ file:///srv/app.mjs:2:101", "(anonymous) app.mjs:2"},
        {"JS:*run node:internal/timers:545:22", "run node:internal/timers:545"},
        {"JS:~later", "later"},
        {"JS:*set size /srv/app/pool.js:34:22", "set size pool.js:34"},
        {"JS:*get /srv/a b/pool.js:34:22", "get pool.js:34"},
        /* Node.js 18 */
        {"LazyCompile:*handle /srv/app/pool.js:34", "handle pool.js:34"},
        {"Function:^get size node:internal/util:7", "get size node:internal/util:7"},
        {"Eval:~ /srv/app/pool.js:1", "(anonymous) pool.js:1"},
        {"JS:*odd [eval]:x:", "odd [eval]:x:"},
        {"py::parse.<locals>.<genexpr>:/srv/app.py", "parse.<locals>.<genexpr> app.py"},
        {"py::<module>:<string>", "<module> <string>"},
        {"py::", "py::"},
        {"Builtin:Call", "Builtin:Call"},
    };
    char path[64];
    FILE *f = begin_map(path);
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        fprintf(f, "%x 10 %s\n", 0x1000 + 0x10 * i, names[i].line);
    struct symbols_symbol_table t = load_map(f, path);
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        assert_string_equal(generated_at(&t, 0x1000 + 0x10 * i), names[i].name);
    symbols_symbol_table_free(&t);
}

/* ---- Files that are no good, and what becomes of a worker ---- */

TEST(no_elf)
{
    char path[300];
    struct weft_symbols_stats stats;
    static const char *const texts[] = {"", "text", "\177ELF", "\177ELF\2\1\1 and no more"};
    for (unsigned i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct weft_profile *p = weft_profile_new();
        snprintf(path, sizeof path, "%s", write_file("odd", texts[i]));
        add_map(p, 0x1000, 0x2000, 0, path, NULL);
        add_address(p, 0x1010, 0);
        assert_int_equal(weft_profile_finish(p), 0);
        stats = resolve(p, (struct weft_symbols_options){0});
        assert_int_equal(stats.damaged, 1);
        assert_int_equal(stats.named, 0);
        weft_profile_free(p);
    }
    /* What would wait, or do something, is not opened */
    snprintf(path, sizeof path, "%s/pipe", directory);
    assert_int_equal(mkfifo(path, 0600), 0);
    struct weft_profile *p = weft_profile_new();
    add_map(p, 0x1000, 0x2000, 0, path, NULL);
    add_map(p, 0x3000, 0x4000, 0, directory, NULL);
    add_address(p, 0x1010, 0);
    add_address(p, 0x3010, 0);
    assert_int_equal(weft_profile_finish(p), 0);
    assert_int_equal(resolve(p, (struct weft_symbols_options){0}).missing, 2);
    weft_profile_free(p);
}

static void crash(int fd, void *data)
{
    (void)fd, (void)data;
    signal(SIGABRT, SIG_DFL);
    abort();
}

static void sleep_on(int fd, void *data)
{
    (void)fd, (void)data;
    for (;;)
        poll(NULL, 0, -1);
}

static void echo(int fd, void *data)
{
    char byte;
    (void)data;
    while (symbols_worker_get(fd, &byte, 1, -1))
        symbols_worker_put(fd, &byte, 1);
}

TEST(workers)
{
    struct symbols_worker w;
    char byte = 'x';
    assert_int_equal(symbols_worker_start(&w, NULL, echo, NULL), 0);
    assert_true(symbols_worker_put(w.fd, &byte, 1));
    byte = 0;
    assert_true(symbols_worker_get(w.fd, &byte, 1, -1));
    assert_int_equal(byte, 'x');
    symbols_worker_stop(&w);
    symbols_worker_stop(&w);

    assert_int_equal(symbols_worker_start(&w, NULL, crash, NULL), 0);
    assert_false(symbols_worker_get(w.fd, &byte, 1, -1));
    symbols_worker_stop(&w);

    assert_int_equal(symbols_worker_start(&w, NULL, sleep_on, NULL), 0);
    assert_int_equal(symbols_worker_wait(&w, 1), SYMBOLS_WORKER_NOTHING);
    assert_false(symbols_worker_get(w.fd, &byte, 1, 1));
    symbols_worker_stop(&w);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* nobody is left */
}

/* ---- Workers that are lost in the middle of a file ---- */

enum { MANY = 100000 };

struct heard {
    const char *cut; /* a file to be cut off as soon as something is heard */
    bool kill; /* or the worker is killed, whenever something is heard of the first question */
    unsigned states[2][4], answers[2];
};

static int hear_state(void *data, uint32_t question, enum symbols_file_state state)
{
    struct heard *h = data;
    h->states[question][state]++;
    return 0;
}

static int hear_function(void *data, uint32_t number, const struct symbols_named *f)
{
    (void)data, (void)number;
    assert_non_null(f->name);
    return 0;
}

static void kill_children(void)
{
    char path[64];
    int child;
    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    FILE *f = fopen(path, "r");
    while (f && fscanf(f, "%d", &child) == 1)
        kill(child, SIGKILL);
    if (f)
        fclose(f);
}

static int hear_answer(void *data, uint32_t question, uint32_t offset,
                       const struct symbols_answer *frame, uint32_t frames)
{
    struct heard *h = data;
    (void)frame, (void)frames;
    assert_true(offset == h->answers[question]);
    h->answers[question]++;
    if (question == 0 && h->cut) {
        assert_int_equal(truncate(h->cut, 0), 0);
        h->cut = NULL;
    }
    if (question == 0 && h->kill)
        kill_children();
    return 0;
}

/* Two questions, the first one with so many answers that a worker waits for them to be heard. */
static struct heard find_with(const char *path, struct heard h)
{
    static uint64_t offset[MANY];
    uint64_t one = 0x1010;
    for (uint64_t i = 0; i < MANY; i++)
        offset[i] = 0x1000 + i / 100;
    const struct symbols_question q[2] = {
        {.place = {.path = path}, .offset = offset, .count = MANY},
        {.place = {.path = environment("SUBJECT")}, .offset = &one, .count = 1},
    };
    const struct symbols_listener l = {&h, hear_state, hear_function, hear_answer};
    assert_int_equal(symbols_names_find(q, 2, &(struct symbols_names_options){0}, &l), 0);
    assert_int_equal(h.states[1][SYMBOLS_FILE_OPEN], 1);
    assert_int_equal(h.answers[1], 1);
    return h;
}

/* Whoever reads a mapped file that somebody cuts off is ended by it. */
TEST(cut_off)
{
    char path[256];
    snprintf(path, sizeof path, "%s/cut", directory);
    run("cp '%s' '%s'", environment("SUBJECT"), path);
    struct heard h = find_with(path, (struct heard){.cut = path});
    assert_int_equal(h.states[0][SYMBOLS_FILE_OPEN], 1);
    assert_true(h.answers[0] > 0 && h.answers[0] < MANY);
    assert_int_equal(h.states[0][SYMBOLS_FILE_ODD], 1);
}

TEST(killed)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    if (access(path, R_OK) != 0)
        skip();
    struct heard h = find_with(environment("SUBJECT"), (struct heard){.kill = true});
    assert_int_equal(h.states[0][SYMBOLS_FILE_OPEN], 1);
    assert_int_equal(h.states[0][SYMBOLS_FILE_ODD], 1); /* the second time it is given up */
    assert_true(h.answers[0] > 0 && h.answers[0] < MANY);
    h = find_with(environment("SUBJECT"), (struct heard){0});
    assert_int_equal(h.answers[0], MANY);
}

static bool stop_at_once(void *data, double share)
{
    (void)data;
    assert_true(share >= 0 && share <= 1);
    return false;
}

TEST(canceled)
{
    struct said s;
    ask(environment("SUBJECT"), &s);
    struct weft_profile *p = profile_of(&s);
    assert_int_equal(weft_symbols_resolve(p, NULL, NULL, stop_at_once, NULL), WEFT_E_CANCELED);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    weft_profile_free(p);
}

/* An address of a program in a mapping of the kernel, which has the name of a file: it is nobody's. */
TEST(kernel_file)
{
    const char *path = environment("SUBJECT");
    struct weft_symbols_stats stats;
    struct weft_profile *p = weft_profile_new();
    struct weft_mapping m = {.process = UINT32_MAX,
                             .path = weft_profile_add_text(p, path, (uint32_t)strlen(path)),
                             .start = 0x1000,
                             .size = 0x100000,
                             .kernel = true};
    assert_int_not_equal(weft_profile_add_mapping(p, &m), WEFT_NONE);
    add_address(p, 0x2000, 0);
    assert_int_equal(weft_profile_finish(p), 0);
    assert_int_equal(p->location[0].mapping, 0);
    assert_int_equal(weft_symbols_resolve(p, NULL, &stats, NULL, NULL), 0);
    assert_int_equal(stats.named, 0);
    assert_int_equal(stats.objects, 0);
    weft_profile_free(p);
}

/* ---- Places in code ---- */

/* The address of a function or variable in the file. */
static uint64_t linked_at(const char *program, const char *name)
{
    char command[1024];
    uint64_t address = 0;
    snprintf(command, sizeof command, "nm '%s' | sed -n 's/ [tTbBdD] %s$//p'", program, name);
    FILE *out = popen(command, "r");
    assert_non_null(out);
    assert_int_equal(fscanf(out, "%" SCNx64, &address), 1);
    assert_int_equal(pclose(out), 0);
    return address;
}

/* "outer subject.c:40" */
static void expect_symbol(struct weft_symbol *s, const char *function, unsigned line)
{
    const char *file = s->file ? strrchr(s->file, '/') : NULL;
    char text[256], wanted[256];
    snprintf(text, sizeof text, "%s %s:%u", s->function ? s->function : "-", file ? file + 1 : "-",
             s->line);
    snprintf(wanted, sizeof wanted, "%s %s:%u", function, line ? "subject.c" : "-", line);
    assert_string_equal(text, wanted);
    free(s->function);
    free(s->file);
}

TEST(places)
{
    const char *program = environment("SUBJECT_FIXED"), *moved = environment("SUBJECT");
    struct said said;
    unsigned inner, outer;
    if (!have("nm"))
        skip();
    ask(program, &said); /* it runs where it was linked */
    assert_int_equal(sscanf(said.at[0].functions, "inner:%u,middle:%*u,outer:%u", &inner, &outer),
                     2);
    struct weft_symbol s[] = {
        {.path = "/no/such/file", .address = 0x1000},
        {.path = "/usr", .address = 0x1000},
        {.path = program, .address = 0},
        {.path = program, .address = said.at[0].address - 1},
        {.path = moved, .address = linked_at(moved, "outer")},
        {.path = moved, .address = linked_at(moved, "outer") + 1},
        {.path = moved, .address = UINT64_MAX},
        {.path = moved, .address = linked_at(moved, "kept")},
        {.path = moved, .address = linked_at(moved, "kept") + 2},
        {.path = moved, .address = linked_at(moved, "kept") + 4},
    };
    assert_int_equal(weft_symbols_find(s, sizeof s / sizeof *s, NULL, NULL), 0);
    expect_symbol(&s[0], "-", 0);
    expect_symbol(&s[1], "-", 0);
    expect_symbol(&s[2], "-", 0);
    expect_symbol(&s[3], "inner", inner);     /* a call */
    expect_symbol(&s[4], "outer", outer - 2); /* where the function begins */
    assert_non_null(s[5].function);           /* what is inlined there, or not */
    free(s[5].function);
    free(s[5].file);
    expect_symbol(&s[6], "-", 0);
    expect_symbol(&s[7], "kept", 0); /* a variable */
    expect_symbol(&s[8], "kept+0x2", 0);
    assert_true(s[9].function == NULL || strncmp(s[9].function, "kept", 4) != 0); /* behind it */
    free(s[9].function);
    assert_int_equal(weft_symbols_find(NULL, 0, NULL, NULL), 0);
}

TEST(no_memory_for_places)
{
    const char *program = environment("SUBJECT");
    const uint64_t outer = have("nm") ? linked_at(program, "outer") : 0x1100;
    struct failing f = {0};
    int rc = 0;
    while (fails_next(&f, rc)) {
        struct weft_symbol s[] = {{.path = program, .address = outer},
                                  {.path = program, .address = outer + 1}};
        rc = weft_symbols_find(s, 2, NULL, NULL);
        for (unsigned i = 0; i < 2; i++) {
            free(s[i].function);
            free(s[i].file);
        }
    }
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

TEST(no_memory)
{
    struct said s;
    ask(environment("SUBJECT"), &s);
    const char *kallsyms = write_file("few", "ffffffff81000100 T name\n");
    for (long n = 1;; n++) {
        long before = live;
        struct weft_profile *p = profile_of(&s);
        add_address(p, 0xffffffff81000101, WEFT_NODE_KERNEL);
        assert_int_equal(weft_profile_finish(p), 0);
        fail_at = n;
        int rc = weft_symbols_resolve(p, &(struct weft_symbols_options){.kallsyms = kallsyms}, NULL,
                                      NULL, NULL);
        bool failed = fail_at == 0;
        fail_at = 0;
        weft_profile_free(p);
        assert_int_equal(live, before);
        assert_int_equal(rc, failed ? WEFT_E_NOMEM : 0);
        if (!failed)
            break;
        assert_true(n < 1000);
    }
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

/* What the worker does: where there is no memory for a unit or a function, no range names it. */
TEST(no_memory_for_names)
{
    struct said s;
    static uint64_t offset[1024]; /* of all code around the first address */
    uint32_t count = 0;
    ask(environment("SUBJECT"), &s);
    for (unsigned m = 0; m < s.maps; m++)
        for (uint64_t at = s.map[m].start;
             s.at[0].address - s.map[m].start < s.map[m].end - s.map[m].start &&
             at < s.map[m].end && count < sizeof offset / sizeof *offset;
             at += 4)
            offset[count++] = at - s.map[m].start + s.map[m].offset;
    const struct symbols_question q = {.offset = offset, .count = count};
    const struct symbols_names_options o = {.debug_path = NULL};
    bool failed = true;
    for (long n = 1; failed; n++) {
        long before = live;
        int fd = open(environment("SUBJECT"), O_RDONLY), to = open("/dev/null", O_WRONLY);
        assert_true(fd >= 0 && to >= 0);
        fail_at = n;
        symbols_names_answer(&q, &o, fd, to);
        failed = fail_at == 0;
        fail_at = 0;
        assert_int_equal(live, before);
        assert_true(n < 1000);
    }
}

RUN_TESTS(make_directory, remove_directory)
