/* SPDX-License-Identifier: ISC */
#include "cli/profile/profiles.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "cli/common.h"
#include "base/array.h"
#include "model/strings.h"
#include "cli/source.h"
#include "profile/join.h"
#include "profile/build.h"
#include "read/alive.h"
#include "symbols/unwind.h"

/* What the functions here share while files are read. On failure, all of them print why and return false. */
struct loading {
    struct cli_profiles *out;
    const struct cli_profiles_options *o;
    const char *command;
    const char *model_path; /* whose events the model is of */
};

static bool fail(const struct loading *l, const char *path, int rc, const struct weft_error *err)
{
    const struct weft_error plain = {.code = rc, .offset = WEFT_NO_OFFSET};
    return cli_complain(path ? path : l->command, err && (*err->text || err->code) ? err : &plain);
}

static const uint8_t no_boot[16];

static bool known(const uint8_t *boot_id)
{
    return memcmp(boot_id, no_boot, sizeof no_boot) != 0;
}

/* ---- Files of other tools ---- */

static int unwinder_map(void *data, const struct weft_mapping *m, const char *path)
{
    return weft_unwinder_map(data, m, path);
}

static void unwinder_forget(void *data, uint32_t process)
{
    weft_unwinder_forget(data, process);
}

static int unwinder_fork(void *data, uint32_t process, uint32_t parent)
{
    return weft_unwinder_fork(data, process, parent);
}

static uint32_t unwinder_run(void *data, uint32_t process, uint32_t thread, uint64_t regs_mask,
                             const uint64_t *regs, const uint8_t *stack, uint64_t stack_bytes,
                             uint64_t *pcs, uint32_t room)
{
    const struct weft_unwind_input in = {.process = process,
                                         .thread = thread,
                                         .regs_mask = regs_mask,
                                         .regs = regs,
                                         .stack = stack,
                                         .stack_bytes = stack_bytes};
    return weft_unwinder_run(data, &in, pcs, room);
}

static void warn_foreign(const struct loading *l, const char *path,
                         const struct weft_foreign_facts *f)
{
    if (l->o->quiet)
        return;
    if (f->cut)
        cli_say(path, "warning: it was not finished: what records it was killed, or still runs");
    if (f->without_callers)
        cli_say(path,
                "warning: of %" PRIu64 " samples it is not known who called: their stacks "
                "could not be unwound",
                f->without_callers);
    if (f->other_machines)
        cli_say(path, "warning: %" PRIu64 " samples are of guests, whose addresses have no names",
                f->other_machines);
}

/* The lines of /proc/kallsyms are: address, kind, name. */
static bool kernel_is_at(uint64_t address)
{
    char line[512], name[128];
    uint64_t at;
    bool found = false;
    FILE *f = fopen("/proc/kallsyms", "re");
    while (f && !found && fgets(line, sizeof line, f))
        found = sscanf(line, "%" SCNx64 " %*c %127s", &at, name) == 2 && at == address &&
                (strcmp(name, "_text") == 0 || strcmp(name, "_stext") == 0);
    if (f)
        fclose(f);
    return found;
}

/* Returns true if a perf.data file was recorded on this machine since it was booted, so that its kernel's names are
 * those in /proc/kallsyms. It compares the host, the release and the address of the kernel, which changes with each
 * boot. */
static bool is_of_this_boot(const struct weft_foreign_facts *facts)
{
    struct utsname here;
    return facts->kernel_start && uname(&here) == 0 &&
           (!*facts->host || strcmp(facts->host, here.nodename) == 0) &&
           (!*facts->release || strcmp(facts->release, here.release) == 0) &&
           kernel_is_at(facts->kernel_start);
}

static bool load_foreign(struct loading *l, const struct weft_input *in,
                         struct cli_profiles_file *file)
{
    struct weft_error err = {.offset = WEFT_NO_OFFSET};
    struct weft_foreign_facts facts;
    struct weft_foreign_unwinder unwinder = {weft_unwinder_new(), unwinder_map, unwinder_forget,
                                             unwinder_run, unwinder_fork};
    const struct weft_foreign_options o = {.kind = file->kind,
                                           .period_ns = l->o->period_ns,
                                           .unwinder = unwinder.data ? &unwinder : NULL};
    int rc = weft_profile_load_foreign(l->out->profile, in, &o, &facts, &err);
    weft_unwinder_free(unwinder.data);
    file->real_ns = facts.real_ns;
    file->clock_ns = (uint64_t)facts.clock_ns;
    file->this_boot = facts.kind == WEFT_FOREIGN_PERF && is_of_this_boot(&facts);
    /* A truncated file is valid up to where it was cut. */
    file->damaged = rc < 0;
    bool usable = (rc == WEFT_E_FORMAT || rc == WEFT_E_LIMIT) && facts.samples;
    if (usable && !l->o->quiet) {
        char text[sizeof err.text];
        snprintf(text, sizeof text, "%s", err.text);
        cli_say(file->path,
                "warning: it is damaged at offset %" PRIu64 ": %s; what stands "
                "before that is used",
                err.offset, text);
    }
    if (rc < 0 && !usable)
        return fail(l, file->path, rc, &err);
    if (*facts.command)
        file->program = strdup(facts.command);
    warn_foreign(l, file->path, &facts);
    return true;
}

/* ---- Traces ---- */

/* "program arg arg", or NULL. */
static char *program_of(const struct weft_process_facts *f)
{
    size_t size = 1;
    for (uint32_t i = 0; i < f->args; i++)
        size += strlen(f->arg[i]) + 1;
    if (f->args == 0)
        return f->program ? strdup(f->program) : NULL;
    char *text = malloc(size), *at = text;
    for (uint32_t i = 0; text && i < f->args; i++)
        at += sprintf(at, "%s%s", i ? " " : "", f->arg[i]);
    return text;
}

/* Uses the file's events if no other file had any: they say which promise ran. */
static bool load_events(struct loading *l, struct weft_reader *reader,
                        struct cli_profiles_file *file)
{
    struct cli_profiles *out = l->out;
    struct weft_model *m;
    struct weft_error err = {.offset = WEFT_NO_OFFSET};
    bool wanted = !l->o->no_model && !l->o->model;
    if (weft_reader_facts(reader)->packets == 0 || !wanted)
        return true;
    struct cli_progress progress = cli_progress_begin(l->o->quiet ? NULL : file->path);
    int rc = weft_model_build(&m, reader, cli_progress_show, &progress, &err);
    cli_progress_end(&progress);
    if (rc < 0)
        return fail(l, file->path, rc, &err);
    file->events = m->events_total > 0;
    if (file->events && !out->model) {
        out->model = m;
        l->model_path = file->path;
        return true;
    }
    if (file->events && !l->o->quiet)
        cli_say(file->path, "warning: its events are left out: those of %s say which promise ran",
                cli_shown(l->model_path).text);
    weft_model_free(m);
    return true;
}

static bool load_trace(struct loading *l, const char *path, struct cli_profiles_file *file)
{
    struct weft_reader *reader;
    struct weft_error err = {.offset = WEFT_NO_OFFSET};
    int rc = weft_reader_open(&reader, path, &err);
    if (rc < 0)
        return fail(l, file->path, rc, &err);
    rc = weft_profile_load_trace(l->out->profile, reader, &err);
    bool ok = rc < 0 ? fail(l, file->path, rc, &err) : load_events(l, reader, file);
    if (ok) {
        const struct weft_process_facts *f = &weft_reader_facts(reader)->process;
        file->program = program_of(f);
        file->real_ns = (int64_t)f->start_real_ns;
        file->clock_ns = f->start_ns;
        if (known(f->boot_id))
            memcpy(file->boot_id, f->boot_id, sizeof file->boot_id);
        if (!l->o->quiet)
            cli_warn(file->path, weft_reader_damage(reader));
    }
    weft_reader_close(reader);
    return ok;
}

/* ---- ---- */

/* The path under which the reader finds the contents of `in`: a pipe has already been read. */
static void path_of(char *path, size_t room, const struct weft_input *in, const char *given)
{
    struct stat st;
    if (strcmp(given, "-") != 0 && stat(given, &st) == 0 && S_ISREG(st.st_mode))
        snprintf(path, room, "%s", given);
    else
        snprintf(path, room, "/proc/self/fd/%d", in->fd);
}

static bool load_file(struct loading *l, struct cli_profiles_file *file)
{
    struct weft_profile *p = l->out->profile;
    struct weft_error err = {.offset = WEFT_NO_OFFSET};
    struct weft_input in;
    char path[4096];
    uint64_t samples = p->samples, absences = p->absences;
    uint8_t boot_id[16];
    const char *given = cli_trace_path(file->path, &err);
    int rc = given ? weft_input_open(&in, given, &err) : err.code;
    if (rc < 0)
        return fail(l, file->path, rc, &err);
    memcpy(boot_id, p->boot_id, sizeof boot_id);
    memset(p->boot_id, 0, sizeof p->boot_id);
    file->kind = l->o->from ? l->o->from : weft_foreign_kind(&in);
    path_of(path, sizeof path, &in, given);
    bool ok =
        file->kind == WEFT_FOREIGN_NONE ? load_trace(l, path, file) : load_foreign(l, &in, file);
    weft_input_close(&in);
    file->samples = p->samples - samples;
    file->absences = p->absences - absences;
    if (known(p->boot_id))
        memcpy(file->boot_id, p->boot_id, sizeof boot_id);
    if (known(boot_id))
        memcpy(p->boot_id, boot_id, sizeof boot_id);
    return ok;
}

/* Times from different boots cannot be compared. */
static bool same_boot(const struct loading *l)
{
    const struct cli_profiles *p = l->out;
    const uint8_t *first = NULL;
    for (unsigned i = 0; i < p->files; i++) {
        const struct cli_profiles_file *f = &p->file[i];
        if (!known(f->boot_id) || (f->samples == 0 && f->absences == 0 && !f->events))
            continue;
        if (first && memcmp(first, f->boot_id, 16) != 0)
            return false;
        first = first ? first : f->boot_id;
    }
    return true;
}

static bool join(struct loading *l)
{
    struct cli_profiles *out = l->out;
    const struct weft_model *m = l->o->model ? l->o->model : out->model;
    const char *path = l->model_path ? l->model_path : out->file[0].path;
    bool any = out->profile->samples || out->profile->absences, same = same_boot(l);
    if (!same && !l->o->quiet)
        cli_say(l->command,
                "warning: the files are of different boots of a machine, or of different "
                "machines: times of the one mean nothing in the other, only sums are right%s",
                m ? "; which promise ran is left out: give the files one by one for that" : "");
    if (!m || !any || !same)
        return true;
    const bool overlap = weft_model_time(out->profile->last_ns, m->first_ns) >= 0 &&
                         weft_model_time(out->profile->first_ns, m->first_ns) <= m->end_ns;
    if (!overlap && !l->o->quiet)
        cli_say(path, "warning: its events and the samples have no time in common: the clocks "
                      "differ, or they are of different runs; no sample belongs to a promise");
    int rc = weft_profile_join(out->profile, m);
    if (rc > 0 && !l->o->quiet)
        cli_say(path, "warning: the samples are of another boot than the events, so which promise "
                      "ran is not known");
    return rc >= 0 || fail(l, NULL, rc, NULL);
}

static bool of_this_boot(const struct cli_profiles *p)
{
    uint8_t id[16];
    bool there = weft_boot_id(id);
    for (unsigned i = 0; i < p->files; i++) {
        const struct cli_profiles_file *f = &p->file[i];
        if (f->samples + f->absences && !f->this_boot &&
            !(there && memcmp(id, f->boot_id, sizeof id) == 0))
            return false;
    }
    return true;
}

static bool resolve(struct loading *l)
{
    struct cli_profiles *out = l->out;
    const struct weft_symbols_options o = {
        .kallsyms = l->o->kallsyms, .sysroot = l->o->sysroot, .this_machine = out->this_boot};
    if (l->o->no_symbols)
        return true;
    struct cli_progress progress = cli_progress_begin(l->o->quiet ? NULL : "names of functions");
    int rc = weft_symbols_resolve(out->profile, &o, &out->symbols, cli_progress_show, &progress);
    cli_progress_end(&progress);
    return rc == 0 || fail(l, NULL, rc, NULL);
}

static bool say_empty(const struct loading *l)
{
    const struct cli_profiles *p = l->out;
    const char *path = p->file[0].path;
    if (l->o->may_be_empty)
        return true;
    if (p->profile->lost)
        return cli_say(path, "there are no samples in it: all %" PRIu64 " were lost",
                       p->profile->lost);
    if (p->file[0].kind != WEFT_FOREIGN_NONE)
        return cli_say(path, "there are no samples in this %s", cli_profiles_kind(p->file[0].kind));
    return cli_say(path,
                   "there are no samples in %s; record some: weft record --sample -- PROGRAM (with "
                   "its promises), or weft sample -- PROGRAM",
                   p->files > 1 ? "any of these files" : "it");
}

/* Files recorded at different frequencies can be added if they count the same thing. False: no memory. */
static bool unite_sources(struct weft_profile *p)
{
    enum { UNITS = WEFT_UNIT_CYCLES + 1 };
    uint64_t texts = weft_strings_count(p->strings);
    uint32_t *first = weft_resize(NULL, texts * UNITS, sizeof *first); /* by name and unit */
    uint32_t *to = weft_resize(NULL, p->sources, sizeof *to);
    for (uint64_t i = 0; first && i < texts * UNITS; i++)
        first[i] = WEFT_NONE;
    for (uint32_t s = 0; first && to && s < p->sources; s++) {
        struct weft_source *source = &p->source[s];
        uint32_t *known = &first[(uint64_t)source->name * UNITS + source->unit % UNITS];
        *known = to[s] = *known == WEFT_NONE ? s : *known;
        struct weft_source *united = &p->source[to[s]];
        united->frequency = united->frequency == source->frequency ? source->frequency : 0;
        united->period = united->period == source->period ? source->period : 0;
    }
    bool ok = first && to;
    for (uint32_t i = 0; ok && i < p->samples; i++)
        p->sample[i].source = to[p->sample[i].source];
    free(first);
    free(to);
    return ok;
}

bool cli_profiles_open(struct cli_profiles *p, const char *const *path, unsigned paths,
                       const struct cli_profiles_options *o)
{
    struct loading l = {.out = p, .o = o, .command = o->command ? o->command : "profile"};
    *p = (struct cli_profiles){.profile = weft_profile_new(),
                               .file = calloc(paths, sizeof *p->file)};
    if (!p->profile || !p->file)
        return fail(&l, NULL, WEFT_E_NOMEM, NULL);
    for (; p->files < paths; p->files++) {
        p->file[p->files].path = path[p->files];
        if (!load_file(&l, &p->file[p->files])) {
            p->files++;
            return false;
        }
    }
    if (weft_profile_finish(p->profile) < 0 || !unite_sources(p->profile))
        return fail(&l, NULL, WEFT_E_NOMEM, NULL);
    if (p->profile->skipped && !o->quiet)
        cli_say(path[0], "warning: %" PRIu64 " records of samples could not be understood",
                p->profile->skipped);
    p->this_boot = of_this_boot(p);
    if (p->profile->samples == 0 && p->profile->absences == 0)
        return say_empty(&l);
    return join(&l) && resolve(&l);
}

void cli_profiles_close(struct cli_profiles *p)
{
    weft_profile_free(p->profile);
    weft_model_free(p->model);
    for (unsigned i = 0; i < p->files; i++)
        free(p->file[i].program);
    free(p->file);
    *p = (struct cli_profiles){0};
}

void cli_tell_cut(const struct weft_calltree *t)
{
    if (t->cut)
        cli_say("profile",
                "warning: more than %u calls are different: %" PRIu64
                " samples count to the innermost caller that has a place",
                WEFT_CALLS_MAX, t->cut);
}

const char *const cli_async_words[] = {"creators", "waits", NULL};

void cli_take_kallsyms(const struct cli_command *c, const struct cli_option *o, const char *path)
{
    if (access(path, R_OK) < 0)
        cli_misuse(c->name, "--%s: %s cannot be read", o->name, path);
    *(const char **)o->to = path;
}

const char *cli_profiles_kind(enum weft_foreign kind)
{
    static const char *const kinds[] = {
        [WEFT_FOREIGN_NONE] = "weft trace",
        [WEFT_FOREIGN_AKAROS] = "stream of Akaros's kpoprofile",
        [WEFT_FOREIGN_KPDATA] = "stream of Akaros's kpdata",
        [WEFT_FOREIGN_TICKS] = "stream of Akaros's kpdata",
        [WEFT_FOREIGN_PERF] = "perf.data file",
    };
    return kinds[kind];
}
