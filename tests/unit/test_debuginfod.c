/* SPDX-License-Identifier: ISC */
/* Nobody is asked for debug information over the network: not for names, not for the tables that unwinding goes by. The
 * test is the server that would be asked. */
#include <arpa/inet.h>
#include <elfutils/libdwfl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "symbols/symbols.h"
#include "symbols/unwind.h"
#include "test.h"

enum { PROCESS = 4242, FROM = 0x10000000, BYTES = 1 << 20 };

static char directory[] = "/tmp/weft-debuginfod-XXXXXX";
static char bare[64]; /* a program without debug information, but with a build id to ask by */
static int server = -1;

static int begin(void **state)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof at;
    char command[4400], url[64];
    const char *subject = getenv("SUBJECT");
    (void)state;
    server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (!subject || !mkdtemp(directory) || server < 0 ||
        bind(server, (struct sockaddr *)&at, sizeof at) < 0 || listen(server, 8) < 0 ||
        getsockname(server, (struct sockaddr *)&at, &size) < 0)
        return -1;
    snprintf(url, sizeof url, "http://127.0.0.1:%u", ntohs(at.sin_port));
    setenv("DEBUGINFOD_URLS", url, 1);
    setenv("DEBUGINFOD_CACHE_PATH", directory, 1);
    setenv("DEBUGINFOD_TIMEOUT", "5", 1);
    snprintf(bare, sizeof bare, "%s/bare", directory);
    snprintf(command, sizeof command, "objcopy --strip-debug '%s' '%s'", subject, bare);
    return system("command -v objcopy >/dev/null") == 0 ? system(command) : 0;
}

static int end(void **state)
{
    char command[128];
    (void)state;
    close(server);
    snprintf(command, sizeof command, "rm -rf '%s'", directory);
    return system(command);
}

static bool asked(int patience_ms)
{
    return poll(&(struct pollfd){.fd = server, .events = POLLIN}, 1, patience_ms) == 1;
}

TEST(nobody_is_asked)
{
    if (access(bare, R_OK) < 0)
        skip(); /* there is no objcopy */
    struct weft_profile *p = weft_profile_new();
    assert_non_null(p);
    struct weft_mapping m = {.process = PROCESS, .start = FROM, .size = BYTES};
    m.path = weft_profile_add_text(p, bare, (uint32_t)strlen(bare));
    m.build_id_bytes = (uint8_t)weft_symbols_build_id(NULL, bare, m.build_id);
    assert_int_equal(m.build_id_bytes, 20);
    assert_int_not_equal(weft_profile_add_mapping(p, &m), WEFT_NONE);

    struct weft_unwinder *u = weft_unwinder_new();
    assert_non_null(u);
    assert_int_equal(weft_unwinder_map(u, &m, bare), 0);
    for (uint64_t address = FROM; address < FROM + 0x4000; address += 16) {
        const uint64_t regs[] = {FROM, FROM, address}, stack[4] = {0};
        uint64_t pc[4];
        struct weft_unwind_input in = {.process = PROCESS,
                                       .regs_mask = 7 << 6,
                                       .regs = regs,
                                       .stack = (const uint8_t *)stack,
                                       .stack_bytes = sizeof stack};
        assert_true(weft_unwinder_run(u, &in, pc, 4) <= 4);
        assert_int_not_equal(weft_profile_push(p, 0, PROCESS, address, 0, 1), WEFT_NONE);
    }
    weft_unwinder_free(u);
    struct weft_symbols_stats stats;
    struct weft_symbols_options o = {.this_machine = true};
    assert_int_equal(weft_profile_finish(p), 0);
    assert_int_equal(weft_symbols_resolve(p, &o, &stats, NULL, NULL), 0);
    assert_true(stats.named > 0); /* it was looked at */
    assert_int_equal(stats.with_lines, 0);
    weft_profile_free(p);
    assert_false(asked(0));
}

/* libdwfl by itself would. Otherwise what is above says nothing. */
TEST(it_would_be)
{
    if (access(bare, R_OK) < 0)
        skip();
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        static char *path = NULL;
        static const Dwfl_Callbacks callbacks = {.find_elf = dwfl_build_id_find_elf,
                                                 .find_debuginfo = dwfl_standard_find_debuginfo,
                                                 .debuginfo_path = &path};
        Dwarf_Addr bias;
        Dwfl *d = dwfl_begin(&callbacks);
        Dwfl_Module *module = dwfl_report_offline(d, "bare", bare, -1);
        dwfl_report_end(d, NULL, NULL);
        dwfl_module_getdwarf(module, &bias);
        _exit(0);
    }
    const bool was = asked(4000);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    if (!was) {
        print_message("libdebuginfod is not installed\n");
        skip();
    }
}

RUN_TESTS(begin, end)
