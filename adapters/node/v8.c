/* SPDX-License-Identifier: ISC */
/* A value of Node-API is a handle of V8's, and node exports V8's functions. Their names are those of V8 10.2 (Node 18)
 * to 14.6 (Node 26); a function that is not there under its name is not used. */
#include "addon.h"

#include <dlfcn.h>
#include <string.h>
#include <time.h>

static int (*promise_state)(napi_value promise);
static bool (*promise_handled)(napi_value promise);
static napi_value (*promise_result)(napi_value promise);
static int (*field_count)(napi_value object);
static void *(*field)(napi_value object, int index, uint16_t tag); /* older ones have no tag */
static void *(*current_isolate)(void);
static void (*stack_sample)(void *isolate, const void *registers, void **frames, size_t most,
                            void *info);
typedef void (*gc_callback)(void *isolate, int type, int flags);
static void (*gc_prologue)(void *isolate, gc_callback call, int types);
static void (*gc_epilogue)(void *isolate, gc_callback call, int types);

static __thread void (*on_moved)(void);
static __thread uint64_t gc_begun_ns;

enum { GC_SCAVENGE = 1, GC_ALL = 31 };

static void find(void *function, const char *name)
{
    void *there = dlsym(RTLD_DEFAULT, name);
    memcpy(function, &there, sizeof there);
}

void v8_find(void)
{
    find(&promise_state, "_ZN2v87Promise5StateEv");
    find(&promise_handled, "_ZNK2v87Promise10HasHandlerEv");
    find(&promise_result, "_ZN2v87Promise6ResultEv");
    find(&field_count, "_ZNK2v86Object18InternalFieldCountEv");
    find(&field, "_ZN2v86Object38SlowGetAlignedPointerFromInternalFieldEi");
    if (!field)
        find(&field, "_ZN2v86Object38SlowGetAlignedPointerFromInternalFieldEit");
    find(&current_isolate, "_ZN2v87Isolate10GetCurrentEv");
    find(&stack_sample,
         "_ZN2v87Isolate14GetStackSampleERKNS_13RegisterStateEPPvmPNS_10SampleInfoE");
    find(&gc_prologue, "_ZN2v87Isolate21AddGCPrologueCallbackEPFvPS0_NS_6GCTypeENS_"
                       "15GCCallbackFlagsEES2_");
    find(&gc_epilogue, "_ZN2v87Isolate21AddGCEpilogueCallbackEPFvPS0_NS_6GCTypeENS_"
                       "15GCCallbackFlagsEES2_");
}

int v8_state(napi_value promise)
{
    return promise_state ? promise_state(promise) : -1;
}

bool v8_handled(napi_value promise)
{
    return !promise_handled || promise_handled(promise);
}

uintptr_t v8_address(napi_value object)
{
    return *(uintptr_t *)object;
}

napi_value v8_result(napi_value promise)
{
    return promise_result ? promise_result(promise) : NULL;
}

void *v8_native(napi_value object)
{
    if (!field_count || !field)
        return NULL;
    const int n = field_count(object); /* in newer versions, the pointer is preceded by its owner */
    return n > 0 ? field(object, n > 1, 0) : NULL; /* newer versions begin with the owner */
}

unsigned v8_sample(uintptr_t *pc, unsigned most)
{
    /* Larger than V8's own structures, which begin with these fields. */
    struct {
        void *pc, *sp, *fp, *rest[5];
    } registers = {.sp = __builtin_frame_address(0), .fp = __builtin_frame_address(0)};
    struct {
        size_t count;
        void *rest[15];
    } info = {.count = 0};
    void *isolate;
    if (!stack_sample || !gc_epilogue || !current_isolate || !(isolate = current_isolate()))
        return 0;
    memset(pc, 0, most * sizeof *pc);
    stack_sample(isolate, &registers, (void **)pc, most, &info);
    if (info.count > most)
        return 0;
    return frames_learn(isolate, pc, (unsigned)info.count, most);
}

unsigned v8_where(uintptr_t *pc, unsigned most)
{
    const unsigned n = frames_walk(pc, most);
    return n ? n : v8_sample(pc, most);
}

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void gc_begins(void *isolate, int type, int flags)
{
    (void)isolate;
    (void)type;
    (void)flags;
    gc_begun_ns = now_ns();
}

static void gc_ends(void *isolate, int type, int flags)
{
    (void)isolate;
    (void)flags;
    if (on_moved && type != GC_SCAVENGE)
        on_moved();
    if (gc_begun_ns && WEFT_IMPL_ON())
        weft_gc(now_ns() - gc_begun_ns);
    gc_begun_ns = 0;
}

void v8_watch_gc(void (*moved)(void))
{
    void *isolate = current_isolate ? current_isolate() : NULL;
    on_moved = moved;
    if (!isolate || !gc_prologue || !gc_epilogue)
        return;
    gc_prologue(isolate, gc_begins, GC_ALL);
    gc_epilogue(isolate, gc_ends, GC_ALL);
}
