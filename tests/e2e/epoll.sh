#!/bin/bash
# SPDX-License-Identifier: ISC
# Programs that call epoll or poll themselves, and that nobody changed: what is found in them, what is recorded of
# descriptors, and that they do what they do without weft.
. "$(dirname "$0")/lib.sh"
adapter=$BUILD_ROOT/adapters/preload/weft-epoll.so
[ -e "$adapter" ] || skip 'adapters are built for glibc, without a sanitizer'
command -v "${CC:=cc}" >/dev/null || missing 'a C compiler'
cd "$tmp"
unset WEFT_TRACE WEFT_TRACE_SIZE WEFT_TRACE_FOR WEFT_TRACE_FORK LD_PRELOAD

record() { # TRACE PROGRAM...
    local trace=$1
    shift
    "$WEFT" record --runtimes epoll --force --size 16M -o "$trace" -- "$@"
}

# facts TRACE EXPRESSION: see facts.py; numbers of descriptors and ports are left out
facts() {
    "$WEFT" dump "$1" | sed -E 's/(:|eventfd |pipe |timerfd )[0-9]+"/\1N"/' >dump
    python3 "$SOURCE_ROOT/tests/e2e/facts.py" --renamed "$2" <dump
}

# found TRACE: all that weft explain says, by name and label, but for what it judges by the clock
found() {
    "$WEFT" explain --all --json "$1" >json
    json json '" ".join(sorted({"%s %s" % (f["name"], f["label"].split(":")[0]) for f in d["findings"]
        if f["name"] not in ("loop-blocked", "slow-wake", "spin")}))'
}

# explains FAULT PATTERN: weft explain says it of the server
explains() {
    "$WEFT" explain --all "$1.weft" | tr '\n' ' ' >said
    says said "$2"
}

# ---- A server with planted faults ----
server=$EXAMPLES/bugs/epoll_server
for fault in good blocked forgotten unread; do
    status=0
    "$OWN_CLOCK" "$server" "$fault" >alone.out 2>alone.err </dev/null || status=$?
    run "$status" record "$fault.weft" "$OWN_CLOCK" "$server" "$fault"
    same "what $fault prints" alone.out "$tmp/out"
done
run 0 "$WEFT" explain --json good.weft
equal 'what is wrong with the good one' '' "$(findings good.weft)"
equal 'requests of the good one' "{'fulfills': 80}" \
    "$(facts good.weft '{k: sum(r[0] == "request" and r[2] == k for r in p) for k in ["fulfills"]}')"
equal 'connections of the good one' "[('tcp 127.0.0.1:N', 80), ('tcp listen 127.0.0.1:N', 1)]" \
    "$(facts good.weft 'sorted({(r[1], sum(q[:2] == r[:2] for q in p)) for r in p if r[0] == "descriptor" and r[1][:3] == "tcp"})')"
explains blocked "[0-9]\. loop-blocked \((likely|possible)\)    'tcp 127.0.0.1:[0-9]+' \(descriptor [0-9]+\), created by 'tcp listen"
explains forgotten "[0-9]\. never-resolved \(possible\)    'GET /page/27' \(request [0-9]+\), created by 'tcp "
equal 'requests that are not answered' 1 "$(facts forgotten.weft 'sum(r[0] == "request" and r[2] == "pending" for r in p)')"
run 0 "$WEFT" dump unread.weft
says "$tmp/out" ' label .*"ready 1000 times, not handled"'
explains unread "[0-9]\. spin \((likely|possible)\)    'eventfd [0-9]+' \(descriptor "

# ---- Descriptors ----
cat >descriptors.c <<'END_OF_C'
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>
static int set;
static void add(int fd, uint32_t events)
{
    struct epoll_event e = {.events = events, .data.u64 = 0xabcd00000000u + (unsigned)fd};
    epoll_ctl(set, EPOLL_CTL_ADD, fd, &e);
}
static int wait_for(int fd, int timeout)
{
    struct epoll_event e[8];
    errno = 77; /* it stays, unless something fails */
    const int n = epoll_wait(set, e, 8, timeout);
    for (int i = 0; i < n; i++)
        if (e[i].data.u64 == 0xabcd00000000u + (unsigned)fd)
            return errno == 77 ? n : -2;
    return n < 0 ? -1 : 0;
}
int main(int count, char **word)
{
    char text[8];
    uint64_t times;
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof to;
    (void)count;
    set = epoll_create1(0);
    if (strcmp(word[1], "timer") == 0) {
        const int fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
        add(fd, EPOLLIN);
        timerfd_settime(fd, 0, &(struct itimerspec){.it_value.tv_nsec = 5000000}, NULL);
        printf("%d\n", wait_for(fd, -1));
        printf("%zd\n", read(fd, &times, sizeof times));
        timerfd_settime(fd, 0, &(struct itimerspec){.it_value.tv_sec = 3600}, NULL);
        timerfd_settime(fd, 0, &(struct itimerspec){.it_value.tv_sec = 0}, NULL);
        close(fd);
    } else if (strcmp(word[1], "eventfd") == 0) {
        const int fd = eventfd(0, EFD_NONBLOCK);
        add(fd, EPOLLIN);
        printf("%zd %d\n", read(fd, &times, sizeof times), errno == EAGAIN);
        times = 1;
        printf("%zd\n", write(fd, &times, sizeof times));
        printf("%d\n", wait_for(fd, -1));
        printf("%zd\n", read(fd, &times, sizeof times));
        printf("%d\n", wait_for(fd, 0));
        dup2(0, fd);
        printf("%d %d\n", epoll_ctl(set, EPOLL_CTL_DEL, 99, NULL), errno == EBADF);
    } else if (strcmp(word[1], "connect") == 0) {
        int error = 0;
        const int listener = socket(AF_INET, SOCK_STREAM, 0);
        const int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
        const int other = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
        if (bind(listener, (struct sockaddr *)&to, size) < 0 || listen(listener, 1) < 0 ||
            getsockname(listener, (struct sockaddr *)&to, &size) < 0)
            return 1;
        add(fd, EPOLLOUT);
        printf("%d %d\n", connect(fd, (struct sockaddr *)&to, size), errno == EINPROGRESS);
        printf("%d\n", wait_for(fd, -1));
        close(fd);
        close(listener);
        printf("%d %d\n", connect(other, (struct sockaddr *)&to, size), errno == EINPROGRESS);
        add(other, EPOLLOUT);
        printf("%d\n", wait_for(other, -1));
        size = sizeof error;
        printf("%d %s\n", getsockopt(other, SOL_SOCKET, SO_ERROR, &error, &size), strerror(error));
    } else {
        int ends[2];
        if (pipe(ends) < 0)
            return 1;
        struct pollfd p = {.fd = ends[0], .events = POLLIN};
        printf("%d\n", poll(&p, 1, 1));
        printf("%zd\n", write(ends[1], "x", 1));
        printf("%d\n", poll(&p, 1, -1));
        printf("%zd\n", read(ends[0], text, sizeof text));
        fd_set reads;
        FD_ZERO(&reads);
        FD_SET(ends[0], &reads);
        close(ends[1]);
        printf("%d\n", select(ends[0] + 1, &reads, NULL, NULL, NULL));
    }
    return 3;
}
END_OF_C
"$CC" -O2 descriptors.c -o descriptors
for what in timer eventfd connect poll; do
    run 3 ./descriptors "$what"
    cp "$tmp/out" alone.out
    run 3 record "$what.weft" ./descriptors "$what"
    same "what $what prints" alone.out "$tmp/out"
    equal "what is found in $what" '' "$(found "$what.weft")"
done
equal 'timers' "[('descriptor', 'timerfd N', 'cancels'), ('timer', '1 h', 'cancels'), ('timer', '5 ms', 'fulfills')]" \
    "$(facts timer.weft 'sorted((r[0], "1 h" if r[1] == "3600 s" else r[1], r[2]) for r in p)')"
equal 'an eventfd' "[('descriptor', 'eventfd N', 'cancels'), ('ready', 'eventfd N', 'cancels')]" \
    "$(facts eventfd.weft 'sorted(r[:3] for r in p)')"
equal 'connections' "['fails', 'fulfills']" "$(facts connect.weft 'sorted(r[2] for r in p if r[0] == "connect")')"
run 0 "$WEFT" dump connect.weft
says "$tmp/out" 'Connection refused'
equal 'a pipe' "[('descriptor', 'pipe N', 'pending')]" "$(facts poll.weft 'sorted(r[:3] for r in p)')"

# ---- Who is not recorded ----
cat >none.c <<'END_OF_C'
#include <poll.h>
#include <stdio.h>
#include <unistd.h>
int main(void)
{
    char c;
    int ends[2];
    if (pipe(ends) < 0)
        return 1;
    return poll(&(struct pollfd){.fd = ends[0], .events = POLLIN}, 1, 0) + poll(NULL, 0, 1) + (write(ends[1], "x", 1) != 1) +
           (read(ends[0], &c, 1) != 1) + close(ends[0]);
}
END_OF_C
"$CC" none.c -o none
run 0 record none.weft ./none
says "$tmp/err" 'nothing was recorded: .* uses one of: epoll'
equal 'a trace of what does not wait' '' "$(ls none.weft 2>/dev/null)"
# A library of another adapter's, by name: if that adapter is there, its calls are that adapter's
cat >libuv.c <<'END_OF_C'
#include <poll.h>
int turn(int fd);
int turn(int fd)
{
    return poll(&(struct pollfd){.fd = fd, .events = POLLIN}, 1, 1);
}
END_OF_C
printf 'int turn(int);\nint main(void) { return turn(0) > 9; }\n' >uses.c
"$CC" -shared -fPIC libuv.c -o libuv.so.9
"$CC" uses.c ./libuv.so.9 -o uses
run 0 record uses.weft ./uses
equal 'a library, if its adapter is not chosen' 1 "$(facts uses.weft 'len(p)')"
rm uses.weft
if [ -e "$BUILD_ROOT/adapters/preload/weft-libuv.so" ]; then
    run 0 "$WEFT" record --runtimes libuv,epoll --size 1M -o uses.weft -- ./uses
    says "$tmp/err" 'nothing was recorded'
fi

# ---- A forked child has promises of its own ----
cat >forked.c <<'END_OF_C'
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>
int main(void)
{
    int ends[2], set = epoll_create1(0);
    char c;
    struct epoll_event e = {.events = EPOLLIN};
    if (pipe(ends) < 0)
        return 1;
    e.data.fd = ends[0];
    epoll_ctl(set, EPOLL_CTL_ADD, ends[0], &e);
    if (write(ends[1], "xy", 2) != 2)
        return 1;
    int n = epoll_wait(set, &e, 1, -1) != 1 || read(ends[0], &c, 1) != 1;
    const pid_t child = vfork();
    if (child == 0) {
        close(ends[0]); /* it is open in the parent, whose memory this is */
        _exit(0);
    }
    waitpid(child, NULL, 0);
    if (fork() == 0) {
        n += epoll_wait(set, &e, 1, -1) != 1 || read(ends[0], &c, 1) != 1;
        _exit(n);
    }
    wait(&n);
    close(ends[0]);
    return n;
}
END_OF_C
"$CC" forked.c -o forked
run 0 record forked.weft ./forked
equal 'of the parent' "[('descriptor', 'pipe N', 'cancels')]" "$(facts forked.weft 'sorted(r[:3] for r in p)')"
equal 'of the child' "[('descriptor', 'pipe N', 'pending')]" "$(facts forked-*.weft 'sorted(r[:3] for r in p)')"

# ---- io_uring ----
cat >uring.c <<'END_OF_C'
#include <arpa/inet.h>
#include <fcntl.h>
#include <liburing.h>
#include <stdio.h>

static struct io_uring ring;
static void results(int count)
{
    struct io_uring_cqe *c;
    for (; count > 0; count--) {
        if (io_uring_wait_cqe(&ring, &c) < 0)
            return;
        printf("%llu %d\n", (unsigned long long)c->user_data, c->res < 0 ? c->res : c->res > 0);
        io_uring_cqe_seen(&ring, c);
    }
}
int main(void)
{
    char text[64];
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof to;
    struct __kernel_timespec t = {.tv_nsec = 5000000};
    if (io_uring_queue_init(8, &ring, 0) < 0)
        return 77;
    struct io_uring_sqe *s = io_uring_get_sqe(&ring);
    io_uring_prep_openat(s, AT_FDCWD, "/none/here", O_RDONLY, 0);
    s->user_data = 1;
    s = io_uring_get_sqe(&ring);
    io_uring_prep_nop(s);
    s->user_data = 2;
    printf("submit %d\n", io_uring_submit(&ring));
    results(2);
    s = io_uring_get_sqe(&ring);
    io_uring_prep_timeout(s, &t, 0, 0);
    s->user_data = 3;
    printf("submit %d\n", io_uring_submit_and_wait(&ring, 1));
    results(1);
    const int listener = socket(AF_INET, SOCK_STREAM, 0), fd = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(listener, (struct sockaddr *)&to, size) < 0 || listen(listener, 4) < 0 ||
        getsockname(listener, (struct sockaddr *)&to, &size) < 0)
        return 1;
    s = io_uring_get_sqe(&ring);
    io_uring_prep_connect(s, fd, (struct sockaddr *)&to, size);
    s->user_data = 4;
    io_uring_submit(&ring);
    results(1);
    const int other = accept(listener, NULL, NULL);
    s = io_uring_get_sqe(&ring);
    io_uring_prep_recv(s, other, text, sizeof text, 0);
    s->user_data = 5;
    s = io_uring_get_sqe(&ring);
    io_uring_prep_send(s, fd, "hello", 5, 0);
    s->user_data = 6;
    io_uring_submit(&ring);
    results(2);
    s = io_uring_get_sqe(&ring);
    io_uring_prep_close(s, fd);
    s->user_data = 7;
    s = io_uring_get_sqe(&ring);
    io_uring_prep_recv(s, other, text, sizeof text, 0);
    s->user_data = 8;
    io_uring_submit(&ring);
    results(2);
    io_uring_peek_cqe(&ring, &(struct io_uring_cqe *){NULL});
    s = io_uring_get_sqe(&ring);
    io_uring_prep_accept(s, listener, NULL, NULL, 0);
    s->user_data = 9;
    io_uring_submit(&ring);
    io_uring_queue_exit(&ring);
    return 3;
}
END_OF_C
status=77
if nm -D "$adapter" | grep -q ' T io_uring_submit$' && "$CC" -O2 uring.c -o uring -luring 2>uring.err; then
    status=0
    ./uring >all.out 2>&1 || status=$?
    sort all.out >alone.out
fi
if [ "$status" -eq 77 ]; then
    echo 'not tried: io_uring, which is not there or not permitted'
else
    run 3 record uring.weft ./uring
    sort "$tmp/out" >uring.out
    same 'results of io_uring' alone.out uring.out
    equal 'what is found in them' '' "$(found uring.weft)"
    equal 'operations' \
        "accept pending, close fulfills, connect fulfills, nop fulfills, open fails, read fulfills, read fulfills, timer fulfills, write fulfills" \
        "$(facts uring.weft '", ".join(sorted(r[0] + " " + r[2] for r in p if r[0] not in ("descriptor", "ready")))')"
    equal 'their labels' "['/none/here', '5 ms', '127.0.0.1:N']" \
        "$(facts uring.weft '[r[1] for r in p if r[0] in ("open", "timer", "connect")]')"
    run 0 "$WEFT" dump uring.weft
    says "$tmp/out" 'fails .*No such file or directory'
fi

finish
