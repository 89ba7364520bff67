/* SPDX-License-Identifier: ISC */
#include "cli/export_profile.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/common.h"

/* Each file is a separate profile: process ids and addresses from one mean nothing in another. */
struct loaded {
    struct cli_profiles *profiles;
    struct weft_pprof_part *part;
    unsigned count;
};

/* ---- What users of the result should know ---- */

static void warn_symbols(const char *path, const struct weft_symbols_stats *s,
                         const struct cli_export_profile *e)
{
    if (e->legacy || e->profiles.no_symbols)
        return;
    const struct {
        uint64_t files;
        const char *one, *many, *so;
    } list[] = {
        {s->missing, "is not there", "are not there",
         "so addresses in it have no names; --sysroot DIR says where the system is that ran it"},
        {s->other_build, "has been replaced since", "have been replaced since",
         "so addresses in it have no names"},
        {s->damaged, "cannot be read to the end", "cannot be read to the end",
         "so some addresses in it have no names"},
    };
    for (unsigned i = 0; i < sizeof list / sizeof *list; i++)
        if (list[i].files)
            cli_say(path, "warning: %" PRIu64 " file%s with code %s, %s", list[i].files,
                    weft_plural(list[i].files), list[i].files == 1 ? list[i].one : list[i].many,
                    list[i].so);
}

/* The kernel's names are only looked up if they belong to the kernel that was running. */
static void warn_kernel(const char *path, const struct cli_profiles *p,
                        const struct cli_export_profile *e)
{
    const struct weft_profile *profile = p->profile;
    bool any = false, named = false;
    for (uint32_t i = 0; i < profile->locations; i++) {
        any |= profile->location[i].kernel;
        named |= profile->location[i].kernel && profile->location[i].frames;
    }
    if (any && !named && !e->legacy && !e->profiles.no_symbols && !e->profiles.kallsyms)
        cli_say(path,
                "warning: addresses of the kernel have no names: %s; --kallsyms FILE has them",
                p->this_boot ? "only root may read them, unless kernel.kptr_restrict allows it"
                             : "it is not known which kernel ran");
}

static void warn_missing(const char *path, const struct cli_profiles *p,
                         const struct cli_export_profile *e)
{
    if (e->pprof.async != WEFT_ASYNC_NONE && !p->profile->model)
        cli_say(path, "warning: there are no promises in it, so stacks are as they are; weft "
                      "record --sample records both");
    if (e->pprof.off_cpu && p->profile->absences == 0)
        cli_say(path, "warning: it does not say when threads were away from their cores");
    if (p->profile->lost)
        cli_say(path, "warning: %" PRIu64 " samples were lost as it was recorded",
                p->profile->lost);
}

/* ---- ---- */

static bool has_process(const struct weft_profile *p, uint32_t process)
{
    for (uint32_t i = 0; i < p->samples; i++)
        if (p->thread[p->sample[i].thread].process == process)
            return true;
    for (uint32_t i = 0; i < p->absences; i++)
        if (p->thread[p->absence[i].thread].process == process)
            return true;
    return false;
}

/* Fills the next of l. */
static bool load(struct loaded *l, const struct cli_export_profile *e, const char *path)
{
    struct cli_profiles *p = &l->profiles[l->count];
    struct cli_profiles_options o = e->profiles;
    o.command = "export";
    o.no_model = e->legacy;
    o.no_symbols |= e->legacy; /* the format has no place for them */
    if (!cli_profiles_open(p, &path, 1, &o))
        return false;
    const struct cli_profiles_file *f = &p->file[0];
    struct weft_pprof_part *part = &l->part[l->count];
    *part = (struct weft_pprof_part){.profile = p->profile, .comment = f->program};
    if (e->pprof.async != WEFT_ASYNC_NONE && p->profile->model) {
        part->family = cli_profile_families(p->profile);
        if (!part->family)
            return cli_say(path, "%s", weft_error_name(WEFT_E_NOMEM)), false;
    }
    if (f->real_ns)
        part->real_ns = (int64_t)((uint64_t)f->real_ns + p->profile->first_ns - f->clock_ns);
    warn_symbols(path, &p->symbols, e);
    warn_kernel(path, p, e);
    warn_missing(path, p, e);
    return true;
}

static bool load_all(struct loaded *l, const struct cli_export_profile *e, const char *const *path,
                     unsigned paths)
{
    const struct weft_error no_memory = {.code = WEFT_E_NOMEM, .offset = WEFT_NO_OFFSET};
    l->profiles = calloc(paths, sizeof *l->profiles);
    l->part = calloc(paths, sizeof *l->part);
    if (!l->profiles || !l->part) {
        cli_complain("export", &no_memory);
        return false;
    }
    bool found = !e->pprof.only;
    for (bool ok = true; ok && l->count < paths;) {
        ok = load(l, e, path[l->count]);
        l->count++; /* it must be closed in this case, too */
        if (!ok)
            return false;
        found |= has_process(l->part[l->count - 1].profile, e->pprof.process);
    }
    if (!found)
        cli_say(path[0], "there are no samples of process %" PRIu32 "%s", e->pprof.process,
                paths > 1 ? " in any of these files" : " in it");
    return found;
}

static int write_profile(const struct loaded *l, const struct cli_export_profile *e,
                         const char *target, const char *const *path)
{
    struct weft_output out;
    struct weft_error err = {.offset = WEFT_NO_OFFSET};
    if (!cli_output_open(&out, target, WEFT_OUTPUT_OTHER, path, l->count))
        return CLI_FAILED;
    uint64_t cut;
    int rc = (e->legacy ? weft_pprof_write_legacy : weft_pprof_write)(out.file, l->part, l->count,
                                                                      &e->pprof, &cut, &err);
    const char *shown = strcmp(target, "-") == 0 ? "standard output" : target;
    if (out.file == stdout && cli_stdout_left())
        rc = 0;
    else if (rc < 0)
        cli_complain(shown, &err);
    bool kept = cli_output_close(&out, target, rc == 0);
    if (rc < 0 || !kept)
        return CLI_FAILED;
    if (cut)
        cli_say(shown,
                "warning: the stacks of %" PRIu64 " sample%s are too deep to be written whole; "
                "of each there are the innermost addresses, at most %d",
                cut, weft_plural(cut), WEFT_FRAMES_MAX);
    uint64_t samples = 0;
    for (unsigned i = 0; i < l->count; i++)
        samples += l->part[i].profile->samples;
    if (isatty(STDERR_FILENO))
        cli_say(shown, "%" PRIu64 " sample%s written; go tool pprof -http=: %s shows them", samples,
                weft_plural(samples), cli_shown(shown).text);
    return CLI_DONE;
}

int cli_export_profile(const struct cli_export_profile *e, const char *target,
                       const char *const *path, unsigned paths)
{
    struct loaded l = {.count = 0};
    int status = load_all(&l, e, path, paths) ? write_profile(&l, e, target, path) : CLI_FAILED;
    for (unsigned i = 0; i < l.count; i++) {
        for (unsigned f = 0; f < l.profiles[i].files; f++)
            if (l.profiles[i].file[f].damaged)
                status = CLI_FAILED; /* the readable part has been written */
        cli_profiles_close(&l.profiles[i]);
        free(l.part[i].family);
    }
    free(l.profiles);
    free(l.part);
    return status;
}
