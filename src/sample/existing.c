/* SPDX-License-Identifier: ISC */
/* What exists before sampling begins, and so is not reported by the kernel: mappings and threads, read from
 * /proc; and the kernel itself. */
#include <ctype.h>
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "sample/state.h"

int sample_tell(struct weft_sampler *s, const struct weft_sampled *r)
{
    if (!weft_reserve(&s->told, s->tolds, &s->told_room, sizeof *s->told))
        return WEFT_E_NOMEM;
    struct sample_told *t = &s->told[s->tolds];
    *t = (struct sample_told){.r = *r, .text = strdup(r->text ? r->text : "")};
    if (!t->text)
        return WEFT_E_NOMEM;
    if (r->build_id_bytes)
        memcpy(t->build_id, r->build_id, r->build_id_bytes);
    s->tolds++;
    return 0;
}

/* ---- Processes ---- */

/* "7f00-7f10 r-xp 00001000 08:01 1234   /usr/lib/x.so" */
static int tell_mapping(struct weft_sampler *s, uint32_t process, uint64_t time_ns, char *line)
{
    uint64_t start, end, offset;
    char mode[8];
    int at = 0;
    if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %*s %*s %n", &start, &end, mode,
               &offset, &at) < 4 ||
        at == 0 || mode[2] != 'x' || end <= start || strncmp(line + at, "[vsyscall]", 10) == 0)
        return 0;
    char *path = line + at;
    path[strcspn(path, "\n")] = 0;
    uint8_t id[WEFT_BUILD_ID_MAX];
    const bool file = *path == '/';
    struct weft_sampled r = {
        .kind = WEFT_RECORD_MAPPING,
        .time_ns = time_ns,
        .process = process,
        .thread = process,
        .core = NONE,
        .start = start,
        .size = end - start,
        .offset = file ? offset : start, /* as the kernel reports mappings without a file */
        .text = *path ? path : "//anon",
        .build_id = id,
    };
    r.build_id_bytes = file ? sample_build_id(s->build_ids, process, path, id) : 0;
    return sample_tell(s, &r);
}

static int tell_mappings(struct weft_sampler *s, uint32_t process, uint64_t time_ns)
{
    char path[64], *line = NULL;
    size_t room = 0;
    int rc = 0;
    snprintf(path, sizeof path, "/proc/%u/maps", process);
    FILE *f = fopen(path, "re");
    while (f && rc == 0 && getline(&line, &room, f) > 0)
        rc = tell_mapping(s, process, time_ns, line);
    free(line);
    if (f)
        fclose(f);
    return rc;
}

static int tell_thread(struct weft_sampler *s, uint32_t process, uint32_t thread, uint64_t time_ns)
{
    char path[96], name[64] = "";
    snprintf(path, sizeof path, "/proc/%u/task/%u/comm", process, thread);
    FILE *f = fopen(path, "re");
    if (!f)
        return 0; /* the process has ended */
    if (!fgets(name, sizeof name, f))
        *name = 0;
    fclose(f);
    name[strcspn(name, "\n")] = 0;
    struct weft_sampled r = {
        .kind = WEFT_RECORD_THREAD,
        .time_ns = time_ns,
        .process = process,
        .thread = thread,
        .core = NONE,
        .parent = NONE,
        .text = name,
    };
    return sample_comms_set(&s->comms, thread, name) ? sample_tell(s, &r) : WEFT_E_NOMEM;
}

/* Calls back for each name in a folder that is a number. */
static int each_number(struct weft_sampler *s, const char *folder, uint32_t process,
                       uint64_t time_ns,
                       int (*fn)(struct weft_sampler *, uint32_t, uint32_t, uint64_t))
{
    DIR *dir = opendir(folder);
    const struct dirent *entry;
    int rc = 0;
    while (dir && rc == 0 && (entry = readdir(dir)))
        if (isdigit((unsigned char)*entry->d_name))
            rc = fn(s, process, (uint32_t)strtoul(entry->d_name, NULL, 10), time_ns);
    if (dir)
        closedir(dir);
    return rc;
}

int sample_tell_process(struct weft_sampler *s, uint32_t process, uint64_t time_ns)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%u/task", process);
    int rc = each_number(s, path, process, time_ns, tell_thread);
    return rc < 0 ? rc : tell_mappings(s, process, time_ns);
}

static int tell_one(struct weft_sampler *s, uint32_t ignored, uint32_t process, uint64_t time_ns)
{
    (void)ignored;
    return sample_tell_process(s, process, time_ns);
}

int sample_tell_processes(struct weft_sampler *s, uint64_t time_ns)
{
    return each_number(s, "/proc", 0, time_ns, tell_one);
}

/* ---- The kernel ---- */

/* Finds the GNU build id among ELF notes. */
static uint32_t read_notes(const char *path, uint8_t *id)
{
    uint8_t notes[4096];
    FILE *f = fopen(path, "re");
    size_t n = f ? fread(notes, 1, sizeof notes, f) : 0, at = 0;
    if (f)
        fclose(f);
    while (n - at >= 12) {
        uint32_t head[3]; /* sizes of name and body, type */
        memcpy(head, notes + at, sizeof head);
        at += sizeof head;
        const size_t name = ((size_t)head[0] + 3) & ~(size_t)3;
        if (name > n - at || head[1] > n - at - name)
            return 0;
        if (head[2] == 3 && head[0] == 4 && memcmp(notes + at, "GNU", 4) == 0 &&
            head[1] <= WEFT_BUILD_ID_MAX) {
            memcpy(id, notes + at + name, head[1]);
            return head[1];
        }
        const size_t body = ((size_t)head[1] + 3) & ~(size_t)3;
        if (body > n - at - name)
            return 0;
        at += name + body;
    }
    return 0;
}

static int tell_text(struct weft_sampler *s, uint64_t start, uint64_t size, const char *name,
                     const char *notes)
{
    uint8_t id[WEFT_BUILD_ID_MAX];
    struct weft_sampled r = {
        .kind = WEFT_RECORD_MAPPING,
        .flags = WEFT_MAPPING_KERNEL,
        .time_ns = sample_now_ns(),
        .process = NONE,
        .thread = NONE,
        .core = NONE,
        .start = start,
        .size = size,
        .offset = start, /* the kernel's symbols are recorded by address */
        .text = name,
        .build_id = id,
        .build_id_bytes = read_notes(notes, id),
    };
    return start && size ? sample_tell(s, &r) : 0;
}

static int tell_modules(struct weft_sampler *s)
{
    char line[1024], name[64], bracketed[80], notes[128];
    uint64_t size, start;
    int rc = 0;
    FILE *f = fopen("/proc/modules", "re");
    while (f && rc == 0 && fgets(line, sizeof line, f))
        if (sscanf(line, "%63s %" SCNu64 " %*s %*s %*s 0x%" SCNx64, name, &size, &start) == 3) {
            snprintf(bracketed, sizeof bracketed, "[%s]", name);
            snprintf(notes, sizeof notes, "/sys/module/%s/notes/.note.gnu.build-id", name);
            rc = tell_text(s, start, size, bracketed, notes);
        }
    if (f)
        fclose(f);
    return rc;
}

int sample_tell_kernel(struct weft_sampler *s)
{
    char line[512], name[128];
    uint64_t start = 0, end = 0, at;
    FILE *f = fopen("/proc/kallsyms", "re");
    while (f && (!start || !end) && fgets(line, sizeof line, f)) {
        char type;
        const char *third = strrchr(line, ' ');
        if (!third || third[1] != '_') /* most lines are neither, and there are many */
            continue;
        if (sscanf(line, "%" SCNx64 " %c %127s", &at, &type, name) != 3)
            continue;
        if (strcmp(name, "_stext") == 0)
            start = at;
        else if (strcmp(name, "_etext") == 0)
            end = at;
    }
    if (f)
        fclose(f);
    int rc = end > start ? tell_text(s, start, end - start, "[kernel]", "/sys/kernel/notes") : 0;
    return rc < 0 ? rc : tell_modules(s);
}
