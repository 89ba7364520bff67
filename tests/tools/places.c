/* SPDX-License-Identifier: ISC */
/* A program that knows its functions only by address, like what is loaded into programs that nobody
 * changed, and writes these into its trace as docs/format.md says under "Names".
 *
 *     places [fork | hang FIFO] [LABELS]
 *
 * fork: a child does the same. hang: says "ready" to the fifo and waits for a signal. LABELS: so many further promises
 * get labels of their own, which begin with a place that was there before; one more gets one of another function. */
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <weft/weft.h>

enum { PLACE_BYTES = 4200, TEXT_BYTES = 4300 };

__attribute__((noinline)) static int on_read(int n)
{
    return n + 1;
}

/* What is inlined where it begins must not be taken for it. */
static inline __attribute__((always_inline)) int inlined(const volatile int *n)
{
    return *n + *n;
}

__attribute__((noinline)) static int on_timer(const volatile int *n)
{
    return inlined(n) + 1;
}

__attribute__((noinline)) static int on_close(int n)
{
    return n - 1;
}

typedef void function(void);

/* Writes "PATH+0xHEX" for an address that is `more` behind the function. */
static const char *place(char to[PLACE_BYTES], const void *address, long more)
{
    Dl_info info;
    struct link_map *map;
    char path[4096], *real;
    if (!dladdr1(address, &info, (void **)&map, RTLD_DL_LINKMAP))
        abort();
    real = realpath(*map->l_name ? map->l_name : "/proc/self/exe", path);
    snprintf(to, PLACE_BYTES, "%s+0x%lx", real ? real : "?",
             (unsigned long)address - map->l_addr + (unsigned long)more);
    return to;
}

static const void *address_of(function *f)
{
    const void *address;
    memcpy(&address, &f, sizeof address);
    return address;
}

static weft_promise create(const char *type, const char *label, const char *file)
{
    struct weft_site *site = calloc(1, sizeof *site); /* lives as long as the recording */
    if (site)
        site->file = file ? strdup(file) : NULL;
    return weft_impl_create(site, type, label);
}

static void say(const void *address, const char *rest)
{
    char code[PLACE_BYTES], label[TEXT_BYTES];
    place(code, address, 0);
    snprintf(label, sizeof label, "%s%s", code, rest);
    weft_should_resolve(create("handle", label, code));
}

static void say_all(void)
{
    char code[PLACE_BYTES], label[TEXT_BYTES];
    volatile int n = 1;
    n = on_read(n) + on_timer(&n);
    say(address_of((function *)on_read), " tcp 10.0.0.1:443");
    say(address_of((function *)on_timer), "");
    /* a library's, which has no debug information here */
    say(dlsym(RTLD_DEFAULT, "lfind"), " search");
    /* where no function is */
    Dl_info info;
    if (!dladdr(address_of((function *)on_read), &info))
        abort();
    place(code, address_of((function *)on_read), (char *)info.dli_fbase + 16 - (char *)on_read);
    snprintf(label, sizeof label, "%s nowhere", code);
    weft_fulfill(create("handle", label, code));
    weft_fulfill(create("handle", "/no/such/library.so.1+0x1f0 gone", NULL));
    weft_fulfill(create(place(code, address_of((function *)on_read), 0), "of a type", NULL));
    weft_fulfill(create("handle", "/etc/hosts+0xyz is a text like others", NULL));
}

static void wait_for_signal(const char *fifo)
{
    FILE *f = fopen(fifo, "w");
    if (!f || fputs("ready\n", f) < 0 || fclose(f) != 0)
        abort();
    for (;;)
        pause();
}

int main(int argc, char **argv)
{
    char code[PLACE_BYTES], label[TEXT_BYTES];
    int at = 1, status = 0;
    const char *what = argc > 1 ? argv[1] : "";
    say_all();
    if (strcmp(what, "fork") == 0) {
        at = 2;
        const pid_t child = fork();
        if (child == 0)
            say_all();
        else if (waitpid(child, &status, 0) != child || status)
            return 1;
    }
    if (strcmp(what, "hang") == 0 && argc > 2)
        wait_for_signal(argv[2]);
    place(code, address_of((function *)on_read), 0);
    for (long i = 0, n = argc > at ? atol(argv[at]) : 0; i < n; i++) {
        snprintf(label, sizeof label, "%s number %ld", code, i);
        weft_fulfill(create("handle", label, NULL));
    }
    if (argc > at)
        say(address_of((function *)on_close), " at the end");
    return on_close(1);
}
