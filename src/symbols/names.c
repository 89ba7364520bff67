/* SPDX-License-Identifier: ISC */
/* The worker goes through all questions and writes what it finds. If a file crashes it, another
 * worker continues there, without DWARF for that file; if the file crashes that one, too, the file
 * is skipped.
 * A message is a head followed by its content, in the machine's own byte order. Several whole
 * messages are sent at once, after their size. */
#include "symbols/names.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/table.h"

enum { TEXT_MAX_BYTES = 4096, FLUSH_EVERY = 256, LATE_MAX = 5, PATIENCE_MS = 60000, TICK_MS = 200 };
enum { FILE_MS = 10000, ALL_SECONDS = 60 }; /* of CPU time, for one file, and for all together */
enum { OPENED_MAX = 1 << 14 };              /* files with debug information */

enum message { STATE = 1, FUNCTION, ANSWER, END };

struct head {
    uint32_t kind;
    uint32_t value;   /* STATE: which; FUNCTION: start_line; ANSWER: frames */
    uint32_t text[3]; /* FUNCTION: bytes of name, system name, file */
};

enum { ROOM = 1 << 16, MESSAGE_MAX = sizeof(struct head) + 3 * TEXT_MAX_BYTES }; /* of messages */

/* ---- In the worker ---- */

struct told { /* a function that was sent */
    const void *key;
    const char *file;
    uint32_t number;
};

struct teller {
    int to;
    uint32_t used; /* of bytes, which are not sent yet */
    char bytes[ROOM];
    struct told *told;
    uint32_t tolds, room, functions;
    struct weft_table by; /* sent functions by key and file */
    char file[TEXT_MAX_BYTES];
};

static void flush(struct teller *t)
{
    if (symbols_worker_put(t->to, &t->used, sizeof t->used))
        symbols_worker_put(t->to, t->bytes, t->used);
    t->used = 0;
}

static void put(struct teller *t, const void *bytes, size_t size)
{
    memcpy(t->bytes + t->used, bytes, size);
    t->used += (uint32_t)size;
}

static void begin(struct teller *t, struct head h)
{
    if (t->used > ROOM - MESSAGE_MAX)
        flush(t);
    put(t, &h, sizeof h);
}

/* Shortens "/a/b/../c/./d" to "/a/c/d", in place: compilers store the path that they were called
 * with. */
static void shorten(char *path)
{
    size_t used = 0;
    for (char *name = path; *name == '/';) {
        size_t part = strcspn(++name, "/");
        char *next = name + part;
        if (part == 2 && memcmp(name, "..", 2) == 0) {
            while (used > 0 && path[--used] != '/')
                ;
        } else if (part > 0 && !(part == 1 && name[0] == '.')) {
            path[used++] = '/';
            memmove(path + used, name, part);
            used += part;
        }
        name = next;
    }
    path[used] = '\0';
}

static const char *path_of(const struct symbols_named *f, char to[TEXT_MAX_BYTES])
{
    int n = f->file[0] == '/' || !f->directory
                ? snprintf(to, TEXT_MAX_BYTES, "%s", f->file)
                : snprintf(to, TEXT_MAX_BYTES, "%s/%s", f->directory, f->file);
    if (n < 0 || n >= TEXT_MAX_BYTES)
        return f->file;
    if (to[0] == '/')
        shorten(to);
    return to;
}

static uint32_t size_of(const char *text)
{
    return text ? (uint32_t)strnlen(text, TEXT_MAX_BYTES - 1) : 0;
}

static uint32_t tell_function(struct teller *t, const struct symbols_named *f)
{
    const struct told key = {f->key, f->file, t->functions};
    const uint32_t before = t->tolds;
    const uint32_t at = f->key ? weft_table_add(&t->by, &t->told, &t->tolds, &t->room, sizeof key,
                                                offsetof(struct told, number), &key, 0)
                               : UINT32_MAX; /* like having no memory: it will be sent again */
    if (at < before)
        return t->told[at].number;
    const char *system_name = f->system_name ? f->system_name : f->name;
    const char *file = f->file ? path_of(f, t->file) : NULL;
    struct head h = {
        FUNCTION, f->start_line, {size_of(f->name), size_of(system_name), size_of(file)}};
    begin(t, h);
    put(t, f->name, h.text[0]);
    put(t, system_name, h.text[1]);
    if (file)
        put(t, file, h.text[2]);
    return t->functions++;
}

static void send_answer(struct teller *t, const struct symbols_named *frame, uint32_t frames)
{
    struct symbols_answer answer[SYMBOLS_INLINED_MAX];
    for (uint32_t i = 0; i < frames; i++)
        answer[i] = (struct symbols_answer){tell_function(t, &frame[i]), frame[i].line};
    begin(t, (struct head){ANSWER, frames, {0}});
    put(t, answer, frames * sizeof *answer);
}

/* Leaves out what is inlined where a function begins. */
static uint32_t only_function(struct symbols_elf *e, uint64_t address, struct symbols_named *frame,
                              uint32_t frames)
{
    frame[0] = frame[frames - 1];
    symbols_elf_name_function(e, address, &frame[0]);
    return 1;
}

/* fd: or -1, with the reason in state. */
static void answer_question(struct teller *t, const struct symbols_question *q, uint32_t from,
                            const struct symbols_names_options *o, int fd,
                            enum symbols_file_state state)
{
    struct symbols_named frame[SYMBOLS_INLINED_MAX];
    struct symbols_elf *e = fd < 0 ? NULL : symbols_elf_open(fd, o->debug_path, q->symbols_only);
    if (fd >= 0 && !e)
        state = SYMBOLS_FILE_ODD;
    begin(t, (struct head){STATE, state, {0}});
    for (uint32_t i = from; e && i < q->count; i++) {
        uint64_t address = q->offset[i];
        bool code = q->linked ? symbols_elf_is_code(e->elf, address)
                              : symbols_elf_address(e->elf, q->offset[i], &address);
        uint32_t frames = code        ? symbols_elf_name(e, address, frame)
                          : q->linked ? symbols_elf_name_variable(e, address, &frame[0])
                                      : 0;
        if (q->linked && frames && frame[frames - 1].begins)
            frames = only_function(e, address, frame, frames);
        send_answer(t, frame, frames);
        if (i % FLUSH_EVERY == 0)
            flush(t);
    }
    symbols_elf_close(e);
    /* Keys are addresses, which may be reused for the next file. */
    weft_table_drop(&t->by);
    t->tolds = 0;
    begin(t, (struct head){END, 0, {0}});
    flush(t);
}

struct job {
    const struct symbols_question *q;
    uint32_t count, first, from; /* begin at index from of the offsets of question first */
    bool symbols_only;           /* for the first question */
    const struct symbols_names_options *o;
};

static void work(int fd, void *data)
{
    struct job *job = data;
    struct teller t = {.to = fd};
    for (uint32_t i = job->first; i < job->count; i++) {
        struct symbols_question q = job->q[i];
        q.symbols_only |= i == job->first && job->symbols_only;
        int state = SYMBOLS_FILE_MISSING;
        symbols_confine_time(FILE_MS);
        int fd =
            symbols_file_ask(SYMBOLS_WORKER_FILES, &(struct symbols_asked){.number = i}, &state);
        answer_question(&t, &q, i == job->first ? job->from : 0, job->o, fd,
                        fd < 0 ? (enum symbols_file_state)state : SYMBOLS_FILE_OPEN);
    }
}

void symbols_names_answer(const struct symbols_question *q, const struct symbols_names_options *o,
                          int fd, int to)
{
    struct teller t = {.to = to};
    answer_question(&t, q, 0, o, fd, fd < 0 ? SYMBOLS_FILE_MISSING : SYMBOLS_FILE_OPEN);
    close(to);
    free(t.told);
}

/* ---- Outside ---- */

struct hearer {
    const struct symbols_question *q;
    uint32_t count;
    const struct symbols_names_options *o;
    const struct symbols_listener *l;
    struct symbols_worker worker;
    uint32_t question, offset; /* the next to be answered */
    uint32_t functions;        /* how many this worker has sent */
    bool began;                /* the question's state is known */
    uint64_t done, all;        /* offsets */
    char bytes[ROOM];          /* received */
    uint32_t used, at;         /* at: the next to be understood */
    unsigned late;
    struct symbols_demangler demangler;
    uint32_t cpu_ms, opened;
};

enum { LOST = 1, FINISHED }; /* beside errors and 0: a message was understood */

static const void *take_bytes(struct hearer *h, size_t size)
{
    if (h->used - h->at < size)
        return NULL;
    h->at += (uint32_t)size;
    return h->bytes + h->at - size;
}

static int hear_state(struct hearer *h, enum symbols_file_state state)
{
    return h->l->state ? h->l->state(h->l->data, h->question, state) : 0;
}

static int hear_function(struct hearer *h, const struct head *head)
{
    char text[3][TEXT_MAX_BYTES];
    for (unsigned i = 0; i < 3; i++) {
        const void *bytes = head->text[i] < TEXT_MAX_BYTES ? take_bytes(h, head->text[i]) : NULL;
        if (!bytes)
            return LOST;
        memcpy(text[i], bytes, head->text[i]);
        text[i][head->text[i]] = '\0';
    }
    char people[SYMBOLS_DEMANGLED_BYTES];
    struct symbols_named f = {
        .name = symbols_demangle(&h->demangler, text[1], people) ? people : text[0],
        .system_name = text[1],
        .file = head->text[2] ? text[2] : NULL,
        .start_line = head->value,
    };
    return h->l->function(h->l->data, h->functions++, &f);
}

static int hear_answer(struct hearer *h, const struct head *head)
{
    struct symbols_answer frame[SYMBOLS_INLINED_MAX];
    if (!h->began || head->value > SYMBOLS_INLINED_MAX || h->offset >= h->q[h->question].count)
        return LOST;
    const void *bytes = take_bytes(h, head->value * sizeof *frame);
    if (!bytes)
        return LOST;
    memcpy(frame, bytes, head->value * sizeof *frame);
    for (uint32_t i = 0; i < head->value; i++)
        if (frame[i].function >= h->functions)
            return LOST;
    h->done++;
    return h->l->answer(h->l->data, h->question, h->offset++, frame, head->value);
}

static void next_question(struct hearer *h)
{
    h->done += h->q[h->question].count - h->offset;
    h->question++;
    h->offset = 0;
    h->began = false;
}

static int hear_message(struct hearer *h)
{
    struct head head;
    const void *bytes = take_bytes(h, sizeof head);
    if (!bytes)
        return LOST;
    memcpy(&head, bytes, sizeof head);
    if (head.kind == FUNCTION)
        return hear_function(h, &head);
    if (head.kind == ANSWER)
        return hear_answer(h, &head);
    if (head.kind == STATE && head.value <= SYMBOLS_FILE_ODD) {
        const bool again = h->began; /* this worker replaced another */
        h->began = true;
        if (!again || head.value != SYMBOLS_FILE_OPEN) /* … and the file has become invalid */
            return hear_state(h, again ? SYMBOLS_FILE_ODD : head.value);
        return 0;
    }
    if (head.kind != END || !h->began)
        return LOST;
    next_question(h);
    return h->question == h->count ? FINISHED : 0;
}

/* Handles messages that were sent together. */
static int hear(struct hearer *h)
{
    const int fd = h->worker.fd;
    int rc = 0;
    h->at = 0;
    if (!symbols_worker_get(fd, &h->used, sizeof h->used, PATIENCE_MS) || h->used > ROOM ||
        !symbols_worker_get(fd, h->bytes, h->used, PATIENCE_MS))
        return LOST;
    while (rc == 0 && h->at < h->used)
        rc = hear_message(h);
    return rc;
}

static int show(struct hearer *h)
{
    double share = h->all ? (double)h->done / (double)h->all : 1;
    return h->o->progress && !h->o->progress(h->o->progress_data, share) ? WEFT_E_CANCELED : 0;
}

/* The worker cannot open anything itself: it asks for the file of a question, or for one that such
 * a file names. */
static void serve(struct hearer *h)
{
    struct symbols_asked asked;
    int fd = -1, error = EMFILE;
    if (!symbols_file_asked(h->worker.files, &asked))
        return;
    if (asked.number < h->count) {
        enum symbols_file_state state;
        fd = symbols_place_open(&h->q[asked.number].place, &state);
        error = (int)state;
    } else if (asked.number == SYMBOLS_ASKED_PATH && h->opened < OPENED_MAX) {
        h->opened++;
        fd = symbols_debug_open(asked.path);
        error = errno;
    }
    symbols_file_send(h->worker.files, fd, fd < 0 ? error : 0);
    if (fd >= 0)
        close(fd);
}

/* Listens to a worker until it is done or lost. */
static int listen_to(struct hearer *h)
{
    int64_t last = weft_monotonic_ns();
    int rc;
    while ((rc = show(h)) == 0) {
        enum symbols_worker_event event = symbols_worker_wait(&h->worker, TICK_MS);
        if (event == SYMBOLS_WORKER_SENT) {
            rc = hear(h);
            if (rc != 0)
                break;
            last = weft_monotonic_ns();
            continue;
        }
        if (event == SYMBOLS_WORKER_ASKS)
            serve(h);
        if (weft_monotonic_ns() - last >= PATIENCE_MS * INT64_C(1000000)) {
            h->late++;
            return LOST;
        }
    }
    return rc;
}

/* A worker was lost while it handled a file. */
static int give_up_file(struct hearer *h, enum symbols_file_state why)
{
    int rc = hear_state(h, why);
    next_question(h);
    return rc;
}

static int find_all(struct hearer *h)
{
    uint32_t lost_at = UINT32_MAX; /* the file at which the last worker was lost */
    int rc = 0;
    while (h->question < h->count && rc >= 0) {
        if (h->cpu_ms >= ALL_SECONDS * 1000u) {
            rc = give_up_file(h, SYMBOLS_FILE_LATE);
            continue;
        }
        struct symbols_worker_options options = {.cpu_seconds = ALL_SECONDS - h->cpu_ms / 1000};
        struct job job = {h->q, h->count, h->question, h->offset, lost_at == h->question, h->o};
        TRY(symbols_worker_start(&h->worker, &options, work, &job));
        h->functions = 0;
        rc = listen_to(h);
        struct symbols_worker_end end = symbols_worker_stop(&h->worker);
        h->cpu_ms += end.cpu_ms;
        if (rc != LOST)
            continue;
        rc = 0;
        if (lost_at == h->question || h->late >= LATE_MAX)
            rc = give_up_file(h, end.late || h->late ? SYMBOLS_FILE_LATE : SYMBOLS_FILE_ODD);
        else
            lost_at = h->question;
    }
    return rc < 0 ? rc : 0;
}

int symbols_names_find(const struct symbols_question *q, uint32_t count,
                       const struct symbols_names_options *o, const struct symbols_listener *l)
{
    struct hearer h = {.q = q, .count = count, .o = o, .l = l, .worker = {.fd = -1}};
    if (count == 0)
        return 0;
    for (uint32_t i = 0; i < count; i++)
        h.all += q[i].count;
    int rc = find_all(&h);
    symbols_demangler_end(&h.demangler);
    return rc;
}
