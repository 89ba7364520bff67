/* SPDX-License-Identifier: ISC */
#include "cli/target.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli/common.h"
#include "cli/rights.h"

#define NOTES_MAX (64 << 10) /* bytes of a segment */
#define IMAGE_MAX                                                                                  \
    (UINT64_C(1) << 20)  /* of an object's first segment: headers and notes are at its start */
#define OBJECTS_MAX 4096 /* objects of a process: programs and libraries; it may be malicious */
#define LOCK_TRIES 500

/* ---- Reading and writing ---- */

bool cli_target_read(const struct cli_target *t, uint64_t at, void *to, size_t bytes)
{
    return sample_distant_read(t->memory, at, to, bytes) == bytes;
}

bool cli_target_read_all(const struct cli_target *t, uint64_t at, void *to, size_t bytes)
{
    size_t n = 1;
    for (size_t done = 0; done < bytes && n > 0; done += n)
        n = sample_distant_read(t->memory, at + done, (char *)to + done, bytes - done);
    return n > 0;
}

bool cli_target_write(const struct cli_target *t, uint64_t at, const void *from, size_t bytes)
{
    size_t n = 1;
    for (size_t done = 0; done < bytes && n > 0; done += n)
        n = sample_distant_write(t->memory, at + done, (const char *)from + done, bytes - done);
    return n > 0;
}

/* ---- About the process ---- */

static bool describe(struct cli_target *t)
{
    char text[256];
    snprintf(t->name, sizeof t->name, "process %d", (int)t->pid);
    if (!cli_status_line(t->pid, "Name", t->program, sizeof t->program) ||
        (cli_status_line(t->pid, "State", text, sizeof text) && (*text == 'Z' || *text == 'X')))
        return false;
    t->user =
        cli_status_line(t->pid, "Uid", text, sizeof text) ? (uid_t)strtoul(text, NULL, 10) : 0;
    t->inner_pid = cli_inner_pid(t->pid);
    return true;
}

bool cli_target_elsewhere(const struct cli_target *t)
{
    char name[64];
    struct stat here, there;
    snprintf(name, sizeof name, "/proc/%d/root/.", (int)t->pid);
    if (stat("/.", &here) < 0 || stat(name, &there) < 0)
        return false; /* we cannot know */
    if (here.st_dev != there.st_dev || here.st_ino != there.st_ino)
        return true;
    snprintf(name, sizeof name, "/proc/%d/ns/mnt", (int)t->pid);
    return stat("/proc/self/ns/mnt", &here) == 0 && stat(name, &there) == 0 &&
           here.st_ino != there.st_ino;
}

/* Why the process's memory may not be accessed. */
static void say_closed(const struct cli_target *t, int error)
{
    char text[32] = "";
    FILE *f = fopen("/proc/sys/kernel/yama/ptrace_scope", "re");
    long scope = f && fgets(text, sizeof text, f) ? strtol(text, NULL, 10) : 0;
    if (f)
        fclose(f);
    if (geteuid() != 0 && t->user != geteuid())
        cli_say(t->name, "belongs to another user (%u); only that one and root can switch it",
                (unsigned)t->user);
    else if (scope == 1 && geteuid() != 0)
        cli_say(
            t->name,
            "may not be touched by other processes (kernel.yama.ptrace_scope is 1); be root, or "
            "set that to 0 with sysctl");
    else if (scope > 1)
        cli_say(t->name, "may not be touched (kernel.yama.ptrace_scope is %ld); %s", scope,
                scope > 2 || geteuid() == 0 ? "the system allows that to nobody" : "be root");
    else
        cli_say(t->name, "may not be touched: %s; %s", strerror(error),
                geteuid()
                    ? "it has hidden itself (prctl PR_SET_DUMPABLE), or had other rights; be root"
                    : "there is no right to trace processes here (CAP_SYS_PTRACE)");
}

/* ---- Finding the library ---- */

bool cli_target_control(const struct cli_target *t, const struct cli_copy *copy,
                        struct weft_record_control *c)
{
    *c = (struct weft_record_control){.old_word = NULL};
    return cli_target_read(t, copy->at, c, copy->bytes);
}

/* Adds a copy if the memory there is the control structure of a loaded libweft. *version: that of a libweft with an
 * unknown version. */
static void take_copy(struct cli_target *t, uint64_t at, uint32_t *version)
{
    struct cli_copy *copy = &t->copy[t->copies];
    struct weft_record_control c;
    const size_t head = offsetof(struct weft_record_control, bell) + sizeof c.bell;
    if (!cli_target_read(t, at, &c, head) ||
        memcmp(c.magic, WEFT_RECORD_CONTROL_MAGIC, sizeof c.magic) != 0 || (uintptr_t)c.self != at)
        return;
    const size_t wanted = c.version == 1   ? WEFT_RECORD_CONTROL_BYTES_1
                          : c.version == 2 ? WEFT_RECORD_CONTROL_BYTES_2
                                           : sizeof c;
    if (c.version < 1 || c.version > WEFT_RECORD_CONTROL_VERSION || c.bytes != wanted) {
        *version = c.version;
        return;
    }
    *copy = (struct cli_copy){.at = at, .bytes = c.bytes};
    if (!cli_target_control(t, copy, &c))
        return;
    copy->word = (uintptr_t)c.word;
    copy->old_word = (uintptr_t)c.old_word;
    copy->bell = (uintptr_t)c.bell;
    copy->interrupted = (uintptr_t)c.interrupted;
    copy->recorder = t->recorders;
    for (unsigned i = 0; i < t->copies; i++)
        if (t->copy[i].word == copy->word)
            copy->recorder = t->copy[i].recorder;
    t->recorders += copy->recorder == t->recorders;
    t->copies++;
}

/* Searches the notes of a segment, which may be in any of the object's mappings. bias: the offset added to the object's
 * addresses. */
static void look_at_notes(struct cli_target *t, const GElf_Phdr *segment, uint64_t bias,
                          uint32_t *version)
{
    static char bytes[NOTES_MAX];
    Elf_Data notes = {.d_buf = bytes,
                      .d_type = segment->p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR,
                      .d_version = EV_CURRENT,
                      .d_size = segment->p_filesz},
             *data = &notes;
    GElf_Nhdr note;
    size_t next, name, description;
    if (segment->p_filesz > sizeof bytes ||
        !cli_target_read(t, bias + segment->p_vaddr, bytes, segment->p_filesz))
        return;
    for (size_t at = 0; (next = gelf_getnote(data, at, &note, &name, &description)) > 0;
         at = next) {
        int64_t distance;
        if (note.n_type != WEFT_RECORD_NOTE_TYPE || note.n_namesz != sizeof WEFT_RECORD_NOTE_NAME ||
            note.n_descsz != sizeof distance ||
            memcmp((const char *)data->d_buf + name, WEFT_RECORD_NOTE_NAME, note.n_namesz) != 0)
            continue;
        memcpy(&distance, (const char *)data->d_buf + description, sizeof distance);
        uint64_t control = bias + segment->p_vaddr + description + (uint64_t)distance;
        if (t->copies < CLI_COPIES)
            take_copy(t, control, version);
    }
}

/* The start of a mapped file, which may be a program or a library. */
static void look_at_object(struct cli_target *t, uint64_t start, uint64_t bytes, uint32_t *version)
{
    char *image = malloc(bytes);
    size_t n = image ? sample_distant_read(t->memory, start, image, bytes) : 0;
    Elf *elf = n > 0 ? elf_memory(image, n) : NULL;
    GElf_Phdr segment;
    size_t segments = 0;
    uint64_t bias = start;
    t->narrow |= elf && gelf_getclass(elf) == ELFCLASS32;
    if (elf && gelf_getclass(elf) == ELFCLASS64 && elf_getphdrnum(elf, &segments) < 0)
        segments = 0;
    for (size_t i = 0; i < segments; i++)
        if (gelf_getphdr(elf, (int)i, &segment) && segment.p_type == PT_LOAD &&
            segment.p_offset == 0)
            bias = start - segment.p_vaddr;
    for (size_t i = 0; i < segments; i++)
        if (gelf_getphdr(elf, (int)i, &segment) && segment.p_type == PT_NOTE)
            look_at_notes(t, &segment, bias, version);
    elf_end(elf);
    free(image);
}

static void find_copies(struct cli_target *t, uint32_t *version)
{
    char *line = NULL;
    size_t room = 0;
    unsigned objects = 0;
    elf_version(EV_CURRENT);
    FILE *maps = sample_distant_maps(t->memory);
    while (maps && objects < OBJECTS_MAX && getline(&line, &room, maps) > 0) {
        uint64_t start, end, offset, inode;
        char mode[8];
        if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %*s %" SCNu64, &start, &end, mode,
                   &offset, &inode) == 5 &&
            mode[0] == 'r' && mode[3] == 'p' && offset == 0 && inode != 0) {
            objects++;
            look_at_object(t, start, end - start < IMAGE_MAX ? end - start : IMAGE_MAX, version);
        }
    }
    free(line);
    if (maps)
        fclose(maps);
}

enum cli_found cli_target_open(struct cli_target *t, pid_t pid)
{
    static struct symbols_worker memory;
    char name[64];
    uint32_t version = 0;
    memory = (struct symbols_worker){.fd = -1};
    *t = (struct cli_target){.pid = pid, .mem = -1, .memory = &memory};
    bool there = describe(t);
    snprintf(name, sizeof name, "/proc/%d/mem", (int)pid);
    t->mem = there ? open(name, O_RDWR | O_CLOEXEC) : -1;
    if (!there || (t->mem < 0 && (errno == ESRCH || errno == ENOENT))) {
        cli_say(t->name, kill(pid, 0) == 0
                             ? "has no memory: it is a thread of the kernel, or has just ended"
                             : "there is none; of one that has ended, the trace may be there");
        return CLI_FOUND_GONE;
    }
    if (t->mem < 0) {
        say_closed(t, errno);
        return CLI_FOUND_CLOSED;
    }
    snprintf(name, sizeof name, "/proc/%d/maps", (int)pid);
    const int maps = open(name, O_RDONLY | O_CLOEXEC);
    const bool begun = sample_distant_open(t->memory, t->mem, maps) == 0;
    if (begun)
        find_copies(t, &version);
    cli_close(maps);
    if (!begun) {
        cli_say(t->name, "cannot be looked at: there can be no more processes");
        return CLI_FOUND_GONE;
    }
    if (t->memory->late || (t->copies == 0 && !describe(t))) {
        cli_target_gone(t);
        return CLI_FOUND_GONE;
    }
    t->unknown = version;
    return t->copies ? CLI_FOUND : CLI_FOUND_NONE;
}

void cli_target_none(const struct cli_target *t)
{
    if (t->unknown)
        cli_say(t->name,
                "has a libweft whose interface is of version %" PRIu32
                ", and this weft knows %u; use the weft that belongs to it",
                t->unknown, WEFT_RECORD_CONTROL_VERSION);
    else if (t->narrow)
        cli_say(t->name, "is a 32-bit program (%s), which cannot be switched from outside",
                cli_shown(t->program).text);
    else
        cli_say(
            t->name,
            "is not linked with weft (%s), or with one that cannot be switched from outside; weft "
            "explain %d says what it waits for now",
            cli_shown(t->program).text, (int)t->pid);
}

void cli_target_close(struct cli_target *t)
{
    symbols_worker_stop(t->memory);
    cli_close(t->mem);
    t->mem = -1;
}

void cli_target_gone(const struct cli_target *t)
{
    if (t->memory->late)
        cli_say(t->name,
                "does not let itself be looked at: its memory has not answered for %d s, as with "
                "a file system that hangs; nothing more is tried",
                SYMBOLS_ASIDE_SECONDS);
    else
        cli_say(t->name, "has ended meanwhile, or is another program now");
}

/* ---- Asking ---- */

bool cli_target_lock(struct cli_target *t)
{
    /* Only those who may write to the process can have this file open. */
    for (int i = 0; flock(t->mem, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK; i++) {
        if (i == LOCK_TRIES)
            return cli_say(t->name, "another weft ctl is at work on it; try again");
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    }
    return true;
}

bool cli_target_ask(const struct cli_target *t, struct weft_record_request *r)
{
    static const uint64_t none;
    static const unsigned char ring = WEFT_RECORD_RING;
    const size_t after = offsetof(struct weft_record_request, check), path_bytes = strlen(r->path);
    bool done = true;
    do
        if (getrandom(&r->number, sizeof r->number, 0) != sizeof r->number)
            r->number = (uint64_t)time(NULL) << 32 | (uint32_t)getpid();
    while (r->number == 0);
    r->pid = (uint32_t)t->inner_pid;
    for (unsigned i = 0; i < t->copies && done; i++) {
        const struct cli_copy *copy = &t->copy[i];
        const uint64_t at = copy->at + offsetof(struct weft_record_control, request);
        uint32_t word = 0;
        if (copy->recorder > 0 && path_bytes > 0)
            snprintf(r->path + path_bytes, sizeof r->path - path_bytes, ".%u", copy->recorder + 1);
        r->check = weft_record_request_check(r);
        done = cli_target_write(t, at, &none, sizeof none) &&
               cli_target_write(t, at + after, (const char *)r + after, sizeof *r - after) &&
               cli_target_write(t, at, &r->number, sizeof r->number) &&
               cli_target_write(t, copy->bell, &ring, sizeof ring) &&
               cli_target_read(t, copy->word, &word, sizeof word);
        unsigned char byte = (unsigned char)((word & WEFT_RECORD_STANDBY) | WEFT_RECORD_CALL_US);
        done = done && cli_target_write(t, copy->word, &byte, sizeof byte);
        if (copy->old_word)
            done = done && cli_target_write(t, copy->old_word, &byte, sizeof byte);
        r->path[path_bytes] = 0;
    }
    return done;
}

/* Of copies that share a word, the program uses the one that has it. */
const struct cli_copy *cli_target_worker(const struct cli_target *t, unsigned recorder)
{
    const struct cli_copy *best = NULL;
    uint64_t least = UINT64_MAX;
    for (unsigned i = 0; i < t->copies; i++) {
        const struct cli_copy *c = &t->copy[i];
        const uint64_t far = c->word > c->at ? c->word - c->at : c->at - c->word;
        if (c->recorder == recorder && c->interrupted && far < least) {
            least = far;
            best = c;
        }
    }
    return best;
}
