/* SPDX-License-Identifier: ISC */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/child.h"
#include "cli/common.h"
#include "cli/record.h"
#ifdef WEFT_HAS_XEN
#include "xen/libxen.h"
#endif

#define LIBRARY "libweft-xen.so.1"
#define REPORT_FD 100 /* scripts use small numbers themselves */

struct start {
    uint64_t bytes;
    char library[PATH_MAX];
    int report; /* the library writes its result there */
};

/* Next to this program in the build, in the installed location, or wherever the loader finds it. */
static void find_library(char *path, size_t size)
{
    char folder[PATH_MAX];
    if (cli_own_folder(folder, sizeof folder) &&
        (size_t)snprintf(path, size, "%s/" LIBRARY, folder) < size && access(path, R_OK) == 0)
        return;
    snprintf(path, size, "%s/" LIBRARY, WEFT_LIBDIR);
    if (access(path, R_OK) < 0)
        snprintf(path, size, LIBRARY);
}

static void prepare_child(void *data)
{
    const struct start *start = data;
    struct stat st;
    char report[64];
    int fd = fcntl(start->report, F_DUPFD, REPORT_FD);
    unsetenv("WEFT_TRACE"); /* it may belong to another program */
    unsetenv("WEFT_TRACE_FD");
    unsetenv("WEFT_XEN_REPORT");
    cli_env_number("WEFT_XEN", start->bytes);
    cli_env_number("WEFT_TRACE_FOR", (uint64_t)getpid());
    if (fd >= 0 && fstat(fd, &st) == 0) {
        snprintf(report, sizeof report, "%d:%" PRIu64, fd, (uint64_t)st.st_ino);
        setenv("WEFT_XEN_REPORT", report, 1);
    }
    cli_env_join("LD_PRELOAD", getenv("LD_PRELOAD"), ':', start->library);
}

/* ---- The result ---- */

static void tell_shared(const char *name, uint64_t bytes, int status)
{
    char text[300];
    snprintf(text, sizeof text, "xen:%s", name);
    const struct cli_shown place = cli_shown(text);
    fprintf(stderr, "weft: %s: %s KiB were shared, and are gone with the program", place.text,
            weft_count(bytes / 1024).text);
    cli_tell_ending(status);
    fprintf(stderr,
            "; while it runs, weft save -o FILE %s in the control domain copies them, and with "
            "--follow keeps what there is at the end\n",
            place.text);
}

/* A killed program has not withdrawn what it published: readers that follow it must see that it has ended. published:
 * "KEY VALUE", or as much as was written. */
static void withdraw(char *published)
{
#ifdef WEFT_HAS_XEN
    char *value = strchr(published, ' ');
    published[strcspn(published, "\n")] = 0;
    if (value) {
        *value++ = 0;
        weft_xen_forget(published, value);
    }
#else
    (void)published;
#endif
}

/* report: "BYTES NAME" and a line for withdraw; "0" if the library has printed why not; empty if the library was not
 * loaded. */
static void print_result(const struct start *start, int report, const char *program, int status)
{
    char text[PIPE_BUF + 1], *end;
    ssize_t n = read(report, text, sizeof text - 1);
    text[n > 0 ? n : 0] = 0;
    char *next = text + strcspn(text, "\n");
    if (*next) {
        *next++ = 0;
        withdraw(next);
    }
    const uint64_t bytes = strtoull(text, &end, 10);
    const struct cli_why why = cli_program_why(program);
    if (bytes && why.unlinked)
        cli_say(program, "nothing was recorded, unless it loads weft by itself: it %s", why.text);
    else if (bytes)
        tell_shared(*end == ' ' ? end + 1 : "", bytes, status);
    else if (n <= 0 && !why.unlinked && !strchr(start->library, '/'))
        cli_say(program,
                "nothing was recorded: there is no " LIBRARY ", which weft has only if it was "
                "built with -Dxen=enabled");
    else if (n <= 0)
        cli_say(program, "nothing was recorded: it %s", why.text);
}

int cli_record_xen(uint64_t bytes, char **argv)
{
    struct start start = {.bytes = bytes};
    int report[2], status = 0;
    pid_t pid;
    if (pipe2(report, O_CLOEXEC | O_NONBLOCK) < 0)
        return cli_fail("record", "%s", strerror(errno));
    start.report = report[1];
    find_library(start.library, sizeof start.library);
    int error = cli_child_start(&pid, argv, prepare_child, &start);
    if (!error)
        error = cli_child_go();
    if (error)
        return cli_child_failed(argv[0], error);
    cli_child_ended(true, &status);
    print_result(&start, report[0], argv[0], status);
    cli_end_as(status);
}
