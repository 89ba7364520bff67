/* SPDX-License-Identifier: ISC */
#include "cli/late/ask.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/common.h"
#include "cli/late/seen.h"

#define STEP_NS 1000000
/* For what it does once it has answered: a large heap takes long, and so does memory for a large trace. */
#define PATIENCE_NS INT64_C(60000000000)

static void pause_step(void)
{
    nanosleep(&(struct timespec){.tv_nsec = STEP_NS}, NULL);
}

static bool is_peer(void *data, uint16_t from)
{
    const struct cli_late_ask *a = data;
    bool is;
    /* Until it has accepted the connection, nobody has its socket. */
    while (!(is = cli_ports_is_peer(a->t->pid, a->port, from)) && weft_monotonic_ns() < a->until_ns)
        pause_step();
    return is;
}

/* ---- Calls ---- */

static void ask_on(struct cli_inspector *i, const char *object, const char *function,
                   json_t *arguments)
{
    cli_inspector_ask(i, "Runtime.callFunctionOn",
                      json_pack("{s:s, s:s, s:o, s:b, s:b}", "objectId", object,
                                "functionDeclaration", function, "arguments", arguments,
                                "returnByValue", 1, "silent", 1));
}

/* The result; NULL: there is none in time, or what was thrown is in *e. */
static json_t *answer_on(struct cli_inspector *i, int64_t until_ns, struct cli_inspector_error *e)
{
    json_t *answer = cli_inspector_answer(i, until_ns, e), *result = NULL;
    const json_t *thrown = json_object_get(answer, "exceptionDetails");
    const char *text =
        json_string_value(json_object_get(json_object_get(thrown, "exception"), "description"));
    if (thrown)
        snprintf(e->text, sizeof e->text, "%.*s", text ? (int)strcspn(text, "\n") : 0,
                 text ? text : "");
    else
        result = json_incref(json_object_get(answer, "result"));
    json_decref(answer);
    return result;
}

static json_t *call_on(struct cli_inspector *i, const char *object, const char *function,
                       json_t *arguments, struct cli_inspector_error *e)
{
    ask_on(i, object, function, arguments);
    return answer_on(i, weft_monotonic_ns() + PATIENCE_NS, e);
}

static const char *id_of(const json_t *object)
{
    return json_string_value(json_object_get(object, "objectId"));
}

/* ---- Loading ---- */

/* Whether its clocks are ours. */
static bool same_time(pid_t pid)
{
    char path[64], own[64], other[64];
    snprintf(path, sizeof path, "/proc/%d/ns/time", (int)pid);
    const ssize_t m = readlink("/proc/self/ns/time", own, sizeof own),
                  n = readlink(path, other, sizeof other);
    return m == n && (m <= 0 || memcmp(own, other, (size_t)m) == 0);
}

/* Loads late.js. A process that does so only after we have given up closes what was opened, and does nothing else. */
static json_t *load(const struct cli_late_ask *a, struct cli_inspector *i,
                    struct cli_inspector_error *e)
{
    char text[2 * PATH_MAX + 256];
    json_t *name = json_string(a->file), *result = NULL;
    char *quoted = name ? json_dumps(name, JSON_ENCODE_ANY) : NULL;
    *e = (struct cli_inspector_error){.late = false};
    if (quoted) {
        snprintf(text, sizeof text, "process.hrtime.bigint() > %" PRId64 "n ? %s : require(%s)",
                 same_time(a->t->pid) ? a->until_ns : INT64_MAX,
                 a->opened ? "void process._debugEnd()" : "undefined", quoted);
        cli_inspector_ask(i, "Runtime.evaluate",
                          json_pack("{s:s, s:b, s:b}", "expression", text, "includeCommandLineAPI",
                                    1, "silent", 1));
        result = answer_on(i, a->until_ns, e);
    } else {
        snprintf(e->text, sizeof e->text, "the name of %s is not UTF-8", a->file);
    }
    if (result && !id_of(result)) {
        e->late = true;
        json_decref(result);
        result = NULL;
    }
    free(quoted);
    json_decref(name);
    return result;
}

static int begin(const struct cli_late_ask *a, struct cli_inspector *i, const char *object,
                 struct cli_inspector_error *e)
{
    json_t *answer = call_on(
        i, object, "function (path, bytes) { return this.begin(path, bytes) }",
        json_pack("[{s:s}, {s:I}]", "value", a->l->path, "value", (json_int_t)a->l->bytes), e);
    const json_t *value = json_object_get(answer, "value");
    const char *why = json_string_value(json_object_get(value, "why"));
    const json_int_t error = json_integer_value(json_object_get(value, "error"));
    if (why)
        snprintf(e->text, sizeof e->text, "%s", why);
    const int rc = !answer || why || error < 0 || error > INT_MAX ? -1 : (int)error;
    json_decref(answer);
    return rc;
}

/* ---- What is pending ---- */

/* As in adapters/node/late.js. */
enum { ROOM_STEP = 8, ROOM_COUNT = 12, ROOM_DATA = 16, ROOM_BYTES = 8 << 20 };
enum { LOOK = 1, LOOKED, LISTED, RECORDS, NOTHING };

/* Waits until the process has done a step. */
static bool await_step(const struct cli_target *t, uint64_t room, int32_t step, int64_t until_ns)
{
    int32_t done = 0;
    while (cli_target_read(t, room + ROOM_STEP, &done, sizeof done) && done != step) {
        if (done > step || weft_monotonic_ns() > until_ns)
            return false;
        pause_step();
    }
    return done == step;
}

static bool write_number(const struct cli_target *t, uint64_t at, int32_t number)
{
    return cli_target_write(t, at, &number, sizeof number);
}

/* The records of what is seen from outside and listed there, as text. The caller frees it; NULL: there is none. */
static char *records_of(const struct cli_target *t, uint64_t room, const struct now *before)
{
    uint32_t count = 0;
    uint64_t *address = NULL;
    struct now *after = NULL;
    char *text = NULL;
    if (cli_target_read(t, room + ROOM_COUNT, &count, sizeof count) &&
        count <= (ROOM_BYTES - ROOM_DATA) / sizeof *address &&
        (address = calloc(count + 1u, sizeof *address)) != NULL &&
        cli_target_read_all(t, room + ROOM_DATA, address, count * sizeof *address) &&
        (after = cli_seen_look(t->pid)) != NULL) {
        json_t *records = cli_seen_records(before, after, address, count);
        text = records ? json_dumps(records, JSON_COMPACT) : NULL;
        json_decref(records);
    }
    free(address);
    now_free(after);
    return text;
}

/* While the process is in the call record: it stops twice, for a look from outside. */
static bool look_twice(const struct cli_target *t, uint64_t room)
{
    const int64_t until = weft_monotonic_ns() + PATIENCE_NS;
    if (!await_step(t, room, LOOK, until))
        return false;
    struct now *before = cli_seen_look(t->pid);
    char *text = NULL;
    if (before && write_number(t, room + ROOM_STEP, LOOKED) && await_step(t, room, LISTED, until))
        text = records_of(t, room, before);
    const size_t bytes = text ? strlen(text) : 0;
    const bool done = text && bytes <= ROOM_BYTES - ROOM_DATA &&
                      cli_target_write(t, room + ROOM_DATA, text, bytes) &&
                      write_number(t, room + ROOM_COUNT, (int32_t)bytes) &&
                      write_number(t, room + ROOM_STEP, RECORDS);
    if (!done) /* it need not wait any longer */
        write_number(t, room + ROOM_STEP, NOTHING);
    free(text);
    now_free(before);
    return done;
}

static void record_pending(const struct cli_late_ask *a, struct cli_inspector *i,
                           const char *object)
{
    struct cli_inspector_error e;
    json_t *answer = call_on(i, object, "function () { return this.share() }", json_array(), &e);
    const double room = json_number_value(json_object_get(answer, "value"));
    json_decref(answer);
    answer = NULL;
    if (room > 0 && room < 0x1p63) {
        ask_on(i, object, "function () { return this.record() }", json_array());
        if (!look_twice(a->t, (uint64_t)room))
            cli_say(a->t->name, "what is pending already is recorded without names");
        answer = answer_on(i, weft_monotonic_ns() + PATIENCE_NS, &e);
    }
    const json_t *count = json_object_get(answer, "value");
    if (json_is_integer(count) && json_integer_value(count) >= 0)
        a->l->pending = (uint32_t)json_integer_value(count);
    else
        cli_say(a->t->name, "records, but not what was pending before: %s",
                e.late ? "it has not answered" : cli_shown(e.text).text);
    json_decref(answer);
}

/* ---- All of it ---- */

int cli_late_ask(const struct cli_late_ask *a, struct cli_inspector_error *e)
{
    struct cli_late_ask copy = *a;
    const struct cli_inspector_peer peer = {a->host, a->port, is_peer, &copy};
    struct cli_inspector *i = cli_inspector_open(&peer, a->until_ns, e);
    json_t *object = i ? load(a, i, e) : NULL;
    const int rc = object ? begin(a, i, id_of(object), e) : -1;
    if (rc == 0)
        record_pending(a, i, id_of(object));
    /* One that has not answered yet closes it as soon as it goes on (load). */
    const bool answers = i && !(rc < 0 && e->late);
    if (a->opened &&
        (!i || (answers && !cli_inspector_last(i, "Runtime.evaluate",
                                               json_pack("{s:s, s:b}", "expression",
                                                         "process._debugEnd()", "silent", 1),
                                               weft_monotonic_ns() + PATIENCE_NS))))
        cli_say(a->t->name, "its inspector stays open, on %s:%u", a->host, (unsigned)a->port);
    json_decref(object);
    cli_inspector_close(i);
    return rc;
}
