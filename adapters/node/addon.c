/* SPDX-License-Identifier: ISC */
/* The calls of weft/weft.h for JavaScript. A promise's number is a double; 0 is the loop, or none. */
#include "addon.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ARGS_MAX = 5, TEXT_BYTES = 400 };
enum how { BY_UNKNOWN, BY_VALUE, BY_ERROR, BY_CANCEL };

__thread struct thread *me;

static __thread weft_promise running; /* what runs, as last told by JavaScript; may be WEFT_LOOP */

struct call {
    napi_env env;
    size_t count;
    napi_value arg[ARGS_MAX];
};

static struct call call_of(napi_env env, napi_callback_info info)
{
    struct call c = {.env = env, .count = ARGS_MAX};
    napi_get_cb_info(env, info, &c.count, c.arg, NULL, NULL);
    return c;
}

static double number(const struct call *c, unsigned i)
{
    double value = 0;
    napi_get_value_double(c->env, c->arg[i], &value);
    return value;
}

static weft_promise promise(const struct call *c, unsigned i)
{
    return (weft_promise)number(c, i);
}

/* As an actor, 0 (none) stands for the loop. */
static weft_promise actor(const struct call *c, unsigned i)
{
    const weft_promise p = promise(c, i);
    return p ? p : WEFT_LOOP;
}

static bool truth(const struct call *c, unsigned i)
{
    bool value = false;
    napi_get_value_bool(c->env, c->arg[i], &value);
    return value;
}

static const char *text(const struct call *c, unsigned i, char *to, size_t size)
{
    *to = 0;
    napi_get_value_string_utf8(c->env, c->arg[i], to, size, NULL);
    return to;
}

static napi_value give(napi_env env, weft_promise p)
{
    napi_value value = NULL;
    napi_create_double(env, p < UINT64_C(1) << 53 ? (double)p : 0, &value);
    return value;
}

bool call_back(struct thread *t, napi_ref function, bool argument)
{
    napi_handle_scope scope;
    napi_value f = NULL, self = NULL, result, given = NULL;
    bool thrown = false, fine = false;
    if (!function || napi_open_handle_scope(t->env, &scope) != 0)
        return false;
    napi_get_reference_value(t->env, function, &f);
    napi_get_undefined(t->env, &self);
    napi_get_boolean(t->env, argument, &given);
    if (f)
        fine = napi_call_function(t->env, self, f, 1, &given, &result) == 0;
    if (napi_is_exception_pending(t->env, &thrown) == 0 && thrown)
        napi_get_and_clear_last_exception(t->env, &result);
    napi_close_handle_scope(t->env, scope);
    return fine;
}

/* ---- What runs ---- */

static void awake(void)
{
    if (me && me->asleep) {
        me->asleep = false;
        weft_resume();
    }
}

static void now_runs(weft_promise p)
{
    awake();
    running = p;
    weft_run(p);
}

/* run(p) */
static napi_value do_run(napi_env env, napi_callback_info info)
{
    struct call c = call_of(env, info);
    now_runs(actor(&c, 0));
    return NULL;
}

/* wake(p, because of q): p runs, because q has ended */
static napi_value do_wake(napi_env env, napi_callback_info info)
{
    struct call c = call_of(env, info);
    awake();
    running = actor(&c, 0);
    weft_wake(running, promise(&c, 1));
    return NULL;
}

/* ---- Creating ---- */

/* create(parent, site) */
static napi_value do_create(napi_env env, napi_callback_info info)
{
    struct call c = call_of(env, info);
    const weft_promise p = site_create((int32_t)number(&c, 1), actor(&c, 0), running);
    if (!p && me)
        me->paused = true;
    return give(env, p);
}

/* begin(parent, site): creates a promise that runs at once */
static napi_value do_begin(napi_env env, napi_callback_info info)
{
    struct call c = call_of(env, info);
    const weft_promise p = site_create((int32_t)number(&c, 1), actor(&c, 0), running);
    if (p)
        now_runs(p);
    else if (me)
        me->paused = true;
    return give(env, p);
}

/* make(parent, type, label, whether it should end) */
static napi_value do_make(napi_env env, napi_callback_info info)
{
    static struct weft_site site = {.file = NULL};
    struct call c = call_of(env, info);
    char type[64], label[TEXT_BYTES];
    text(&c, 1, type, sizeof type);
    text(&c, 2, label, sizeof label);
    if (!WEFT_IMPL_ON())
        return give(env, 0);
    const weft_promise p = weft_impl_create_from(&site, actor(&c, 0), type, *label ? label : NULL);
    if (truth(&c, 3))
        weft_should_resolve(p);
    return give(env, p);
}

/* site(type, label): its index */
static napi_value do_site(napi_env env, napi_callback_info info)
{
    struct call c = call_of(env, info);
    char type[64], label[TEXT_BYTES];
    napi_value value = NULL;
    text(&c, 0, type, sizeof type);
    text(&c, 1, label, sizeof label);
    napi_create_int32(env, site_add(type, label), &value);
    return value;
}

/* here(): the index of the program's current place, or -1 */
static napi_value do_here(napi_env env, napi_callback_info info)
{
    napi_value value = NULL;
    (void)info;
    napi_create_int32(env, site_here(), &value);
    return value;
}

/* learn(index, deep) */
static napi_value do_learn(napi_env env, napi_callback_info info)
{
    struct call c = call_of(env, info);
    site_learn((int32_t)number(&c, 0), number(&c, 1) != 0);
    return NULL;
}

/* ---- Waiting ---- */

/* wait(reader, p) */
static napi_value do_wait(napi_env env, napi_callback_info info)
{
    struct call c = call_of(env, info);
    weft_wait_by(actor(&c, 0), promise(&c, 1));
    return NULL;
}

/* suspend(reader, p, next): reader waits for p (0: for nothing that has a number), and next runs */
static napi_value do_suspend(napi_env env, napi_callback_info info)
{
    struct call c = call_of(env, info);
    const weft_promise p = promise(&c, 1);
    if (p)
        weft_wait_by(actor(&c, 0), p);
    now_runs(actor(&c, 2));
    return NULL;
}

/* read(reader, p) */
static napi_value do_read(napi_env env, napi_callback_info info)
{
    struct call c = call_of(env, info);
    weft_read(actor(&c, 0), promise(&c, 1));
    return NULL;
}

/* ---- Ending ---- */

/* "Error: bad row", like the first line of a stack trace, without running any of the program's code. */
static void describe(napi_env env, napi_value error, char *to, size_t size)
{
    napi_value stack = NULL, string = NULL;
    bool is_error = false, thrown = false;
    *to = 0;
    if (!error)
        return;
    napi_is_error(env, error, &is_error);
    if (is_error && napi_get_named_property(env, error, "message", &stack) == 0) {
        napi_value name = NULL;
        if (napi_get_named_property(env, error, "name", &name) == 0)
            napi_get_value_string_utf8(env, name, to, size / 4, NULL);
        size_t n = strlen(to);
        char message[TEXT_BYTES] = "";
        napi_get_value_string_utf8(env, stack, message, sizeof message, NULL);
        snprintf(to + n, size - n, "%s%s", n && *message ? ": " : "", message);
    } else if (napi_get_value_string_utf8(env, error, to, size, NULL) != 0 &&
               napi_coerce_to_string(env, error, &string) == 0) {
        napi_get_value_string_utf8(env, string, to, size, NULL);
    }
    if (napi_is_exception_pending(env, &thrown) == 0 && thrown)
        napi_get_and_clear_last_exception(env, &string);
}

enum { SAY, HOLD, UNHANDLED };

/* settle(p, promise, by, what to do with a failure): p ends the way `promise` has ended. Returns whether it has failed. */
static napi_value do_settle(napi_env env, napi_callback_info info)
{
    struct call c = call_of(env, info);
    char reason[TEXT_BYTES] = "unhandled rejection: ";
    napi_value failed = NULL;
    const int state = v8_state(c.arg[1]);
    const int how = (int)number(&c, 3);
    if (state == 2 && how != HOLD) {
        const size_t n = how == UNHANDLED ? strlen(reason) : 0;
        describe(env, v8_result(c.arg[1]), reason + n, sizeof reason - n);
        weft_resolve_by(actor(&c, 2), promise(&c, 0), WEFT_BY_ERROR, reason);
    } else if (state != 2) {
        weft_resolve_by(actor(&c, 2), promise(&c, 0), state == 1 ? WEFT_BY_VALUE : WEFT_BY_UNKNOWN,
                        NULL);
    }
    napi_get_boolean(env, state == 2, &failed);
    return failed;
}

/* end(p, how, reason, by, its name, if that is only known at the end) */
static napi_value do_end(napi_env env, napi_callback_info info)
{
    static const enum weft_ending endings[] = {WEFT_BY_UNKNOWN, WEFT_BY_VALUE, WEFT_BY_ERROR,
                                               WEFT_BY_CANCEL};
    struct call c = call_of(env, info);
    char reason[TEXT_BYTES], label[TEXT_BYTES];
    text(&c, 2, reason, sizeof reason);
    if (*text(&c, 4, label, sizeof label))
        weft_label(promise(&c, 0), label);
    weft_resolve_by(actor(&c, 3), promise(&c, 0), endings[(unsigned)number(&c, 1) & 3],
                    *reason ? reason : NULL);
    return NULL;
}

/* ---- Saying more ---- */

static napi_value do_label(napi_env env, napi_callback_info info)
{
    struct call c = call_of(env, info);
    char label[TEXT_BYTES];
    weft_label(promise(&c, 0), text(&c, 1, label, sizeof label));
    return NULL;
}

/* path(object): the path of node's pending file operation; '' if none is known */
static napi_value do_path(napi_env env, napi_callback_info info)
{
    struct call c = call_of(env, info);
    napi_value value = NULL;
    const char *path = loop_path(v8_native(c.arg[0]));
    napi_create_string_utf8(env, path ? path : "", NAPI_AUTO_LENGTH, &value);
    return value;
}

static napi_value do_should(napi_env env, napi_callback_info info)
{
    struct call c = call_of(env, info);
    weft_should_resolve(promise(&c, 0));
    return NULL;
}

/* traced(p, value of a header traceparent, whether p sent it): whatever is wrong with the header, it is ignored */
static napi_value do_traced(napi_env env, napi_callback_info info)
{
    struct call c = call_of(env, info);
    char header
        [TEXT_BYTES]; /* only later versions than the first may have more than 55 characters */
    text(&c, 1, header, sizeof header);
    if (truth(&c, 2))
        weft_traceparent_sent(promise(&c, 0), header);
    else
        weft_traceparent_received(promise(&c, 0), header);
    return NULL;
}

static napi_value do_background(napi_env env, napi_callback_info info)
{
    struct call c = call_of(env, info);
    weft_background(promise(&c, 0));
    return NULL;
}

/* hold(promise, resource, how): 0: has one from now on, 1: gives one back, 2: waits for one */
static napi_value do_hold(napi_env env, napi_callback_info info)
{
    struct call c = call_of(env, info);
    const int how = (int)number(&c, 2);
    if (how == 0)
        weft_acquire_by(actor(&c, 0), promise(&c, 1));
    else if (how == 1)
        weft_release_by(actor(&c, 0), promise(&c, 1));
    else
        weft_wait_by(actor(&c, 0), promise(&c, 1));
    return NULL;
}

/* snapshot(reason) */
static napi_value do_snapshot(napi_env env, napi_callback_info info)
{
    struct call c = call_of(env, info);
    char reason[TEXT_BYTES];
    weft_snapshot(text(&c, 0, reason, sizeof reason));
    return NULL;
}

/* counter(name): its index, or -1 */
static napi_value do_counter(napi_env env, napi_callback_info info)
{
    struct call c = call_of(env, info);
    char name[64];
    napi_value value = NULL;
    napi_create_int32(env, counter_add(text(&c, 0, name, sizeof name)), &value);
    return value;
}

/* count(index, value, add): adds or sets the value, which JavaScript has made a safe integer */
static napi_value do_count(napi_env env, napi_callback_info info)
{
    struct call c = call_of(env, info);
    counter_change((int32_t)number(&c, 0), (int64_t)number(&c, 1), number(&c, 2) != 0);
    return NULL;
}

/* ---- The beginning ---- */

/* start(path, bytes): starts recording in a process that weft record has not started itself. Returns 0, or the errno
 * that says why it does not record. */
static napi_value do_start(napi_env env, napi_callback_info info)
{
    struct call c = call_of(env, info);
    char path[4096];
    napi_value value = NULL;
    text(&c, 0, path, sizeof path);
    const struct weft_options o = {
        .size = sizeof o, .path = path, .bytes = (uint64_t)number(&c, 1)};
    napi_create_int32(env, WEFT_IMPL_ON() ? 0 : -weft_start(&o), &value);
    return value;
}

static napi_value do_recording(napi_env env, napi_callback_info info)
{
    napi_value value = NULL;
    (void)info;
    napi_get_boolean(env, WEFT_IMPL_ON() != 0, &value);
    return value;
}

/* state(promise): 0: pending, 1: fulfilled, 2: rejected, -1: not known */
static napi_value do_state(napi_env env, napi_callback_info info)
{
    struct call c = call_of(env, info);
    napi_value value = NULL;
    napi_create_int32(env, v8_state(c.arg[0]), &value);
    return value;
}

/* handled(promise) */
static napi_value do_handled(napi_env env, napi_callback_info info)
{
    struct call c = call_of(env, info);
    napi_value value = NULL;
    napi_get_boolean(env, v8_handled(c.arg[0]), &value);
    return value;
}

/* address(object) */
static napi_value do_address(napi_env env, napi_callback_info info)
{
    struct call c = call_of(env, info);
    napi_value value = NULL;
    napi_create_double(env, (double)v8_address(c.arg[0]), &value);
    return value;
}

/* room(bytes): memory that begins with its own address, and stays there until room(0). */
static napi_value do_room(napi_env env, napi_callback_info info)
{
    static __thread napi_ref kept;
    struct call c = call_of(env, info);
    const double bytes = number(&c, 0);
    napi_value buffer = NULL;
    void *data = NULL;
    if (bytes == 0 && kept) {
        napi_delete_reference(env, kept);
        kept = NULL;
    }
    if (bytes < 64 || bytes > 1 << 30 || kept ||
        napi_create_arraybuffer(env, (size_t)bytes, &data, &buffer) != 0 ||
        napi_create_reference(env, buffer, 1, &kept) != 0)
        return NULL;
    const uint64_t at = (uintptr_t)data;
    memcpy(data, &at, sizeof at);
    return buffer;
}

/* watched(): whether this thread is already watched, because node was told twice to load us */
static napi_value do_watched(napi_env env, napi_callback_info info)
{
    napi_value value = NULL;
    (void)info;
    napi_get_boolean(env, me != NULL, &value);
    return value;
}

/* watch(flush, switch): returns the shared memory, or undefined */
static napi_value do_watch(napi_env env, napi_callback_info info)
{
    struct call c = call_of(env, info);
    napi_value buffer = NULL;
    napi_ref kept;
    void *data = NULL;
    struct thread *t = calloc(1, sizeof *t);
    if (!t || napi_create_arraybuffer(env, SHARED_COUNT * sizeof(uint32_t), &data, &buffer) != 0 ||
        napi_create_reference(env, buffer, 1, &kept) != 0)
        return NULL;
    *t = (struct thread){.env = env, .shared = data, .recording = WEFT_IMPL_ON() != 0};
    napi_create_reference(env, c.arg[0], 1, &t->flush);
    napi_create_reference(env, c.arg[1], 1, &t->switch_);
    running = WEFT_LOOP;
    me = t;
    if (!loop_watch(t)) {
        me = NULL;
        return NULL;
    }
    return buffer;
}

/* ---- Standing in for a function of node's ---- */

enum { PASSED_MAX = 8 };

struct stand_in {
    napi_ref original, before, after;
};

static void tell(napi_env env, napi_ref function, size_t count, const napi_value *args)
{
    napi_value f = NULL, self = NULL, result;
    bool thrown = false;
    napi_get_reference_value(env, function, &f);
    napi_get_undefined(env, &self);
    if (f)
        napi_call_function(env, self, f, count, args, &result);
    if (napi_is_exception_pending(env, &thrown) == 0 && thrown)
        napi_get_and_clear_last_exception(env, &result);
}

static napi_value stand_in(napi_env env, napi_callback_info info)
{
    napi_value args[PASSED_MAX + 1], self = NULL, original = NULL, result = NULL;
    size_t count = PASSED_MAX;
    void *data = NULL;
    napi_get_cb_info(env, info, &count, args + 1, &self, &data);
    const struct stand_in *s = data;
    count = count < PASSED_MAX ? count : PASSED_MAX;
    tell(env, s->before, count, args + 1);
    napi_get_reference_value(env, s->original, &original);
    if (napi_call_function(env, self, original, count, args + 1, &result) != 0)
        return NULL; /* what it has thrown is passed on */
    args[0] = result;
    tell(env, s->after, count + 1, args);
    return result;
}

/* wrap(function, name, before, after): a C function, which appears in no stack trace. before is called with its
 * arguments, after with the result and the arguments. */
static napi_value do_wrap(napi_env env, napi_callback_info info)
{
    struct call c = call_of(env, info);
    char name[64];
    napi_value f = NULL;
    struct stand_in *s = calloc(1, sizeof *s);
    if (!s || napi_create_reference(env, c.arg[0], 1, &s->original) != 0 ||
        napi_create_reference(env, c.arg[2], 1, &s->before) != 0 ||
        napi_create_reference(env, c.arg[3], 1, &s->after) != 0) {
        free(s);
        return NULL;
    }
    text(&c, 1, name, sizeof name);
    napi_create_function(env, name, NAPI_AUTO_LENGTH, stand_in, s, &f);
    return f;
}

static const struct {
    const char *name;
    napi_callback call;
} functions[] = {
    {"run", do_run},         {"wake", do_wake},
    {"create", do_create},   {"begin", do_begin},
    {"make", do_make},       {"site", do_site},
    {"here", do_here},       {"learn", do_learn},
    {"wait", do_wait},       {"suspend", do_suspend},
    {"read", do_read},       {"settle", do_settle},
    {"end", do_end},         {"label", do_label},
    {"hold", do_hold},       {"snapshot", do_snapshot},
    {"counter", do_counter}, {"count", do_count},
    {"path", do_path},       {"should", do_should},
    {"start", do_start},     {"room", do_room},
    {"state", do_state},     {"handled", do_handled},
    {"address", do_address}, {"background", do_background},
    {"traced", do_traced},   {"recording", do_recording},
    {"watch", do_watch},     {"watched", do_watched},
    {"wrap", do_wrap},
};

__attribute__((visibility("default"))) int32_t node_api_module_get_api_version_v1(void);
__attribute__((visibility("default"))) napi_value napi_register_module_v1(napi_env env,
                                                                          napi_value exports);

int32_t node_api_module_get_api_version_v1(void)
{
    return 8;
}

napi_value napi_register_module_v1(napi_env env, napi_value exports)
{
    v8_find();
    for (unsigned i = 0; i < sizeof functions / sizeof *functions; i++) {
        napi_value f;
        if (napi_create_function(env, functions[i].name, NAPI_AUTO_LENGTH, functions[i].call, NULL,
                                 &f) == 0)
            napi_set_named_property(env, exports, functions[i].name, f);
    }
    return exports;
}
