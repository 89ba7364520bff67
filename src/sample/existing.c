/* SPDX-License-Identifier: ISC */
/* What exists before sampling begins, and so is not reported by the kernel: mappings and threads, read from
 * /proc; and the kernel itself. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "sample/state.h"
#include "symbols/elf_file.h"

/* Adds a record to be handed out; its text and build id are copied. */
static int add_record(struct weft_sampler *s, const struct weft_sampled *r)
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
    struct weft_sampled r = sample_record(WEFT_RECORD_MAPPING, time_ns);
    r.process = r.thread = process;
    r.start = start;
    r.size = end - start;
    r.offset = file ? offset : start; /* as the kernel reports mappings without a file */
    r.text = *path ? path : "//anon";
    r.build_id = id;
    r.build_id_bytes = file ? sample_build_id(&s->build_ids, process, path, id) : 0;
    return add_record(s, &r);
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
    char name[64];
    struct weft_sampled r = sample_record(WEFT_RECORD_THREAD, time_ns);
    if (!sample_line(name, sizeof name, "/proc/%u/task/%u/comm", process, thread))
        return 0; /* the process has ended */
    r.process = process;
    r.thread = thread;
    r.text = name;
    return sample_comms_set(&s->comms, thread, name) ? add_record(s, &r) : WEFT_E_NOMEM;
}

int weft_sampler_tell(struct weft_sampler *s, uint32_t process, uint64_t time_ns)
{
    struct sample_numbers threads = {0};
    int rc = 0;
    if (sample_numbers_read(&threads, "/proc/%u/task", process) == ENOMEM)
        rc = WEFT_E_NOMEM;
    for (uint32_t i = 0; rc == 0 && i < threads.count; i++)
        rc = tell_thread(s, process, threads.number[i], time_ns);
    free(threads.number);
    return rc < 0 ? rc : tell_mappings(s, process, time_ns);
}

int sample_tell_processes(struct weft_sampler *s, uint64_t time_ns)
{
    struct sample_numbers processes = {0};
    int rc = 0;
    if (sample_numbers_read(&processes, "/proc") == ENOMEM)
        rc = WEFT_E_NOMEM;
    for (uint32_t i = 0; rc == 0 && i < processes.count; i++)
        rc = weft_sampler_tell(s, processes.number[i], time_ns);
    free(processes.number);
    return rc;
}

/* ---- The kernel ---- */

static int tell_text(struct weft_sampler *s, uint64_t start, uint64_t size, const char *name,
                     const char *notes)
{
    uint8_t id[WEFT_BUILD_ID_MAX], bytes[4096];
    FILE *f = fopen(notes, "re");
    const size_t n = f ? fread(bytes, 1, sizeof bytes, f) : 0;
    struct weft_sampled r = sample_record(WEFT_RECORD_MAPPING, sample_now_ns());
    if (f)
        fclose(f);
    r.flags = WEFT_MAPPING_KERNEL;
    r.start = r.offset = start; /* the kernel's symbols are recorded by address */
    r.size = size;
    r.text = name;
    r.build_id = id;
    r.build_id_bytes = symbols_build_id_find(bytes, n, 4, id);
    return start && size ? add_record(s, &r) : 0;
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
