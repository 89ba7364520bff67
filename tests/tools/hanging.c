/* SPDX-License-Identifier: ISC */
/* A process that whoever looks at it waits for: a file system that it keeps itself never says what is in its file, once
 * the process has mapped that. Needs root, and /dev/fuse. Says its id once it is ready, and waits until its parent, which
 * keeps the file system, is killed.
 *
 *     hanging code     the file is mapped as code is; it has been read, but is never opened again
 *     hanging object   the file is mapped as programs and libraries are
 *     hanging stack    … and lies in the way of who walks up its stack
 *     hanging trace    … as a trace is, and what is asked of the file itself is not answered either */
#include <fcntl.h>
#include <linux/fuse.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <ucontext.h>
#include <unistd.h>

enum { ROOT = FUSE_ROOT_ID, FILE_NODE = 2, SIZE = 1 << 17, SKIPPED = 77 };

static void skip(const char *why)
{
    perror(why);
    exit(SKIPPED);
}

/* ---- The file system ---- */

static void answer(int fuse, uint64_t to, int error, const void *body, size_t size)
{
    char bytes[4096];
    const struct fuse_out_header h = {
        .len = (uint32_t)(sizeof h + size), .error = -error, .unique = to};
    memcpy(bytes, &h, sizeof h);
    if (size)
        memcpy(bytes + sizeof h, body, size);
    if (write(fuse, bytes, sizeof h + size) < 0)
        perror("fuse");
}

static struct fuse_attr attributes(uint64_t node)
{
    return (struct fuse_attr){.ino = node,
                              .size = SIZE,
                              .blocks = SIZE / 512,
                              .mode = node == ROOT ? S_IFDIR | 0755 : S_IFREG | 0777,
                              .nlink = 1,
                              .blksize = 4096};
}

/* silent: shared; from then on nothing is answered. */
static void serve(int fuse, const volatile bool *silent, bool readable)
{
    static const char page[3072] = "\177ELF";
    static char bytes[1 << 18];
    const struct fuse_in_header *in = (const struct fuse_in_header *)bytes;
    while (read(fuse, bytes, sizeof bytes) > 0) {
        const struct fuse_entry_out entry = {.nodeid = FILE_NODE, .attr = attributes(FILE_NODE)};
        const struct fuse_attr_out attr = {.attr = attributes(in->nodeid)};
        if (*silent)
            continue;
        switch (in->opcode) {
        case FUSE_INIT: {
            const struct fuse_init_out out = {.major = FUSE_KERNEL_VERSION,
                                              .minor = FUSE_KERNEL_MINOR_VERSION,
                                              .max_write = 1 << 17};
            answer(fuse, in->unique, 0, &out, sizeof out);
            break;
        }
        case FUSE_LOOKUP:
            answer(fuse, in->unique, 0, &entry, sizeof entry);
            break;
        case FUSE_GETATTR:
            answer(fuse, in->unique, 0, &attr, sizeof attr);
            break;
        case FUSE_OPEN:
            answer(fuse, in->unique, 0, &(struct fuse_open_out){.fh = 1},
                   sizeof(struct fuse_open_out));
            break;
        case FUSE_READ: /* nobody hears of it again */
            if (readable)
                answer(fuse, in->unique, 0, page, sizeof page);
            break;
        case FUSE_FORGET:
            break;
        default:
            answer(fuse, in->unique, 38, NULL, 0); /* ENOSYS */
        }
    }
}

/* The path of its file, which only this process and its children see. */
static const char *make_file(volatile bool *silent, bool readable)
{
    char options[128];
    const int fuse = open("/dev/fuse", O_RDWR | O_CLOEXEC);
    if (fuse < 0)
        skip("/dev/fuse");
    snprintf(options, sizeof options, "fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other",
             fuse);
    if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
        mount("hanging", "/mnt", "fuse", 0, options) < 0)
        skip("/mnt");
    if (fork() > 0) { /* once this one is gone, all that wait for it are let go */
        serve(fuse, silent, readable);
        exit(0);
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    close(fuse);
    return "/mnt/file";
}

/* ---- The process ---- */

static ucontext_t outside, inside;

static void wait_for_ever(void)
{
    printf("%d\n", (int)getpid());
    fflush(stdout);
    for (;;)
        pause();
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    volatile bool *silent =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    const bool code = strcmp(how, "code") == 0;
    const int file = open(make_file(silent, code), O_RDWR);
    if (file < 0)
        skip("the file");
    if (strcmp(how, "trace") == 0) {
        mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        *silent = true;
        wait_for_ever();
    }
    if (code) {
        const volatile char *at = mmap(NULL, 2048, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0);
        *silent = *at != 0;
        wait_for_ever();
    }
    if (strcmp(how, "object") == 0) {
        mmap(NULL, SIZE, PROT_READ, MAP_PRIVATE, file, 0);
        wait_for_ever();
    }
    /* A stack, with pages above it that are the file's. */
    char *stack = mmap(NULL, 2 * SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mmap(stack + SIZE, SIZE, PROT_READ, MAP_PRIVATE | MAP_FIXED, file, 0);
    getcontext(&inside);
    inside.uc_stack.ss_sp = stack;
    inside.uc_stack.ss_size = SIZE;
    inside.uc_link = &outside;
    makecontext(&inside, wait_for_ever, 0);
    swapcontext(&outside, &inside);
    return 1;
}
