/* SPDX-License-Identifier: ISC */
/* Uses everything that calls back in libuv, and prints what came of it: the same in every run, recorded or not. It is longer than
 * others because libuv has so many kinds of things.
 * uv_kinds DIRECTORY: where it may write. */
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <uv.h>

static uv_loop_t *loop;
static const char *directory;

/* What is expected, and what has come: `check` ends the program if that differs. */
static void check(const char *what, long long found, long long expected)
{
    if (found != expected) {
        printf("%s: %lld instead of %lld\n", what, found, expected);
        exit(1);
    }
}

static const char *path(const char *name)
{
    static char text[4][512];
    static int next;
    char *at = text[next++ % 4];
    snprintf(at, sizeof *text, "%s/%s", directory, name);
    return at;
}

static int closed;

static void on_closed(uv_handle_t *handle)
{
    (void)handle;
    closed++;
}

static void run(const char *what)
{
    uv_run(loop, UV_RUN_DEFAULT);
    printf("%s\n", what);
    fflush(stdout);
}

/* ---- Timers and what is called in every turn ---- */

static uv_timer_t timer, again, own;
static uv_idle_t idle;
static uv_prepare_t prepare;
static uv_check_t checked;
static int fired, fired_again, fired_own, turns;

static void on_timer(uv_timer_t *t)
{
    (void)t;
    fired++;
}

static void on_again(uv_timer_t *t)
{
    if (++fired_again == 3)
        uv_timer_stop(t);
}

static void on_own(uv_timer_t *t)
{
    if (++fired_own < 4)
        uv_timer_start(t, on_own, 1, 0);
}

static void on_idle(uv_idle_t *handle)
{
    if (++turns == 5)
        uv_idle_stop(handle);
}

static void on_prepare(uv_prepare_t *handle)
{
    uv_prepare_stop(handle);
}

static void on_check(uv_check_t *handle)
{
    uv_check_stop(handle);
}

static void count(uv_handle_t *handle, void *number)
{
    (void)handle;
    ++*(int *)number;
}

static void timers(void)
{
    int handles = 0;
    uv_timer_init(loop, &timer);
    timer.data = &timer;
    uv_timer_start(&timer, on_timer, 5000, 0);
    uv_timer_start(&timer, on_timer, 1, 0);
    uv_timer_init(loop, &again);
    check("again", uv_timer_again(&again), UV_EINVAL);
    uv_timer_start(&again, on_again, 0, 1);
    uv_timer_again(&again);
    uv_timer_init(loop, &own);
    uv_timer_start(&own, on_own, 1, 0);
    uv_idle_init(loop, &idle);
    uv_idle_start(&idle, on_idle);
    uv_prepare_init(loop, &prepare);
    uv_prepare_start(&prepare, on_prepare);
    uv_check_init(loop, &checked);
    uv_check_start(&checked, on_check);
    uv_walk(loop, count, &handles);
    check("handles", handles, 6);
    run("timers");
    check("fired", fired, 1);
    check("fired again", fired_again, 3);
    check("fired by itself", fired_own, 4);
    check("turns", turns, 5);
    check("data", timer.data == &timer, 1);
    uv_close((uv_handle_t *)&timer, on_closed);
    uv_close((uv_handle_t *)&again, NULL);
    uv_close((uv_handle_t *)&own, on_closed);
    uv_close((uv_handle_t *)&idle, on_closed);
    uv_close((uv_handle_t *)&prepare, NULL);
    uv_close((uv_handle_t *)&checked, NULL);
    run("closed");
    check("closed", closed, 3);
}

/* ---- Files ---- */

static uv_fs_t fs[3];
static char text[16];
static const char *reason;

static void on_read_file(uv_fs_t *request)
{
    check("read", request->result, 5);
    uv_fs_req_cleanup(request);
}

static void on_open(uv_fs_t *request)
{
    const uv_buf_t buffer = uv_buf_init(text, sizeof text);
    check("opened", request->result >= 0, 1);
    uv_fs_read(loop, &fs[1], (uv_file)request->result, &buffer, 1, 0, on_read_file);
}

static void on_missing(uv_fs_t *request)
{
    reason = uv_err_name((int)request->result);
}

static void files(void)
{
    const uv_buf_t hello = uv_buf_init((char[]){"hello"}, 5);
    uv_fs_t now;
    const int fd = uv_fs_open(NULL, &now, path("file"), O_RDWR | O_CREAT | O_TRUNC, 0600, NULL);
    check("opened at once", fd >= 0, 1);
    check("written at once", uv_fs_write(NULL, &now, fd, &hello, 1, 0, NULL), 5);
    check("closed at once", uv_fs_close(NULL, &now, fd, NULL), 0);
    check("copied at once", uv_fs_copyfile(NULL, &now, path("file"), path("copy"), 0, NULL), 0);
    check("no such file", uv_fs_stat(NULL, &now, path("none"), NULL), UV_ENOENT);
    uv_fs_open(loop, &fs[0], path("file"), O_RDONLY, 0, on_open);
    uv_fs_stat(loop, &fs[2], path("none"), on_missing);
    run("files");
    check("reason", reason && strcmp(reason, "ENOENT") == 0, 1);
    check("text", memcmp(text, "hello", 5), 0);
}

/* ---- Work, names, random numbers ---- */

static uv_work_t work[8];
static uv_sem_t free_to_go;
static int worked, cancelled;
static char name[64], service[16];
static unsigned char random_bytes[16];

static void do_work(uv_work_t *request)
{
    (void)request;
    uv_sem_wait(&free_to_go);
}

static void on_work(uv_work_t *request, int status)
{
    (void)request;
    worked += status == 0;
    cancelled += status == UV_ECANCELED;
}

static void on_address(uv_getaddrinfo_t *request, int status, struct addrinfo *found)
{
    (void)request;
    check("address", status, 0);
    uv_freeaddrinfo(found);
}

static void on_name(uv_getnameinfo_t *request, int status, const char *host, const char *port)
{
    (void)request;
    check("name", status, 0);
    snprintf(name, sizeof name, "%s", host);
    snprintf(service, sizeof service, "%s", port);
}

static void on_random(uv_random_t *request, int status, void *buffer, size_t size)
{
    (void)request;
    check("random", status == 0 && buffer == random_bytes && size == sizeof random_bytes, 1);
}

static void requests(void)
{
    uv_getaddrinfo_t address, now;
    uv_getnameinfo_t names;
    uv_random_t bytes;
    struct sockaddr_in four;
    const struct addrinfo hints = {.ai_flags = AI_NUMERICHOST};
    uv_sem_init(&free_to_go, 0);
    for (int i = 0; i < 8; i++) /* four of them get a thread */
        uv_queue_work(loop, &work[i], do_work, i == 0 ? NULL : on_work);
    check("cancelled", uv_cancel((uv_req_t *)&work[7]), 0);
    for (int i = 0; i < 8; i++)
        uv_sem_post(&free_to_go);
    uv_ip4_addr("127.0.0.1", 9, &four);
    uv_getaddrinfo(loop, &address, on_address, "127.0.0.1", NULL, &hints);
    check("address at once", uv_getaddrinfo(loop, &now, NULL, "no-number", NULL, &hints),
          UV_EAI_NONAME);
    uv_getnameinfo(loop, &names, on_name, (struct sockaddr *)&four,
                   NI_NUMERICHOST | NI_NUMERICSERV);
    uv_random(loop, &bytes, random_bytes, sizeof random_bytes, 0, on_random);
    run("requests");
    check("worked", worked, 6);
    check("cancelled", cancelled, 1);
    check("name", strcmp(name, "127.0.0.1") || strcmp(service, "9"), 0);
    uv_sem_destroy(&free_to_go);
}

/* ---- Processes and signals ---- */

static uv_process_t processes[3];
static uv_signal_t signals;
static int64_t statuses[2];
static int by_signal;

static void on_exit_of(uv_process_t *process, int64_t status, int number)
{
    statuses[process - processes] = number ? -number : status;
    uv_close((uv_handle_t *)process, on_closed);
}

static void on_signal(uv_signal_t *handle, int number)
{
    by_signal = number;
    uv_close((uv_handle_t *)handle, NULL);
}

static int spawn(uv_process_t *process, const char *file, const char *command)
{
    char *args[] = {(char *)(uintptr_t)file, (char[]){"-c"}, (char *)(uintptr_t)command, NULL};
    const uv_process_options_t options = {.file = file, .args = args, .exit_cb = on_exit_of};
    return uv_spawn(loop, process, &options);
}

static void processes_and_signals(void)
{
    check("sh", spawn(&processes[0], "sh", "exit 3"), 0);
    check("sh", spawn(&processes[1], "sh", "kill -9 $$"), 0);
    check("none", spawn(&processes[2], "/no/such/program", ""), UV_ENOENT);
    uv_close((uv_handle_t *)&processes[2], NULL);
    uv_signal_init(loop, &signals);
    uv_signal_start(&signals, on_signal, SIGUSR1);
    raise(SIGUSR1);
    run("processes");
    check("status", statuses[0], 3);
    check("signal", statuses[1], -9);
    check("own signal", by_signal, SIGUSR1);
}

/* ---- Sockets: a server, its client; datagrams; a descriptor ---- */

static uv_tcp_t server, client, peer;
static uv_udp_t here, there;
static uv_poll_t polled;
static uv_connect_t connecting;
static uv_write_t writing[2];
static uv_shutdown_t shutting;
static uv_udp_send_t sending;
static char room[2][64];
static int ends, datagrams, ready;

static void on_room(uv_handle_t *handle, size_t size, uv_buf_t *buffer)
{
    (void)size;
    *buffer = uv_buf_init(room[handle == (uv_handle_t *)&client], sizeof *room);
}

static void on_written(uv_write_t *request, int status)
{
    (void)request;
    check("written", status, 0);
}

static void on_shut(uv_shutdown_t *request, int status)
{
    check("shut down", status, 0);
    check("shut down", request == &shutting, 1);
}

/* Both sides: the server's answers, the client's gets the answer, and then both get the end. */
static void on_read(uv_stream_t *stream, ssize_t size, const uv_buf_t *buffer)
{
    const uv_buf_t answer = uv_buf_init(buffer->base, size > 0 ? (unsigned)size : 0);
    if (size == UV_EOF) {
        ends++;
        uv_close((uv_handle_t *)stream, on_closed);
    } else if (stream == (uv_stream_t *)&peer) {
        uv_write(&writing[1], stream, &answer, 1, NULL);
    } else {
        check("answer", size, 4);
        uv_shutdown(&shutting, stream, on_shut);
    }
}

static void on_connection(uv_stream_t *stream, int status)
{
    check("connection", status, 0);
    uv_tcp_init(loop, &peer);
    check("accepted", uv_accept(stream, (uv_stream_t *)&peer), 0);
    uv_read_start((uv_stream_t *)&peer, on_room, on_read);
    uv_close((uv_handle_t *)stream, NULL);
}

static void on_connect(uv_connect_t *request, int status)
{
    const uv_buf_t question = uv_buf_init((char[]){"ping"}, 4);
    check("connected", status, 0);
    uv_write(&writing[0], request->handle, &question, 1, on_written);
    uv_read_start(request->handle, on_room, on_read);
}

static void on_refused(uv_connect_t *request, int status)
{
    (void)request;
    check("refused", status, UV_ENOENT);
}

static void on_datagram(uv_udp_t *handle, ssize_t size, const uv_buf_t *buffer,
                        const struct sockaddr *from, unsigned flags)
{
    (void)buffer;
    (void)flags;
    if (!from)
        return;
    check("datagram", size, 3);
    datagrams++;
    uv_close((uv_handle_t *)handle, on_closed);
    uv_close((uv_handle_t *)&there, on_closed);
}

static void on_sent(uv_udp_send_t *request, int status)
{
    (void)request;
    check("sent", status, 0);
}

static void on_ready(uv_poll_t *handle, int status, int events)
{
    check("ready", status == 0 && events == UV_READABLE, 1);
    if (++ready == 2)
        uv_poll_stop(handle);
}

static void sockets(void)
{
    struct sockaddr_in any, address;
    int size = sizeof address, fds[2];
    uv_pipe_t pipe_handle;
    uv_connect_t refused;
    const uv_buf_t datagram = uv_buf_init((char[]){"abc"}, 3);
    uv_ip4_addr("127.0.0.1", 0, &any);
    uv_tcp_init(loop, &server);
    uv_tcp_bind(&server, (struct sockaddr *)&any, 0);
    check("listen", uv_listen((uv_stream_t *)&server, 5, on_connection), 0);
    uv_tcp_getsockname(&server, (struct sockaddr *)&address, &size);
    uv_tcp_init(loop, &client);
    uv_tcp_connect(&connecting, &client, (struct sockaddr *)&address, on_connect);

    uv_pipe_init(loop, &pipe_handle, 0);
    uv_pipe_connect(&refused, &pipe_handle, path("no.sock"), on_refused);

    uv_udp_init(loop, &here);
    uv_udp_bind(&here, (struct sockaddr *)&any, 0);
    uv_udp_recv_start(&here, on_room, on_datagram);
    uv_udp_getsockname(&here, (struct sockaddr *)&address, &size);
    uv_udp_init(loop, &there);
    uv_udp_send(&sending, &there, &datagram, 1, (struct sockaddr *)&address, on_sent);

    check("pipe", pipe(fds), 0);
    check("pipe", write(fds[1], "x", 1), 1);
    uv_poll_init(loop, &polled, fds[0]);
    uv_poll_start(&polled, UV_READABLE, on_ready);
    closed = 0;
    uv_run(loop, UV_RUN_DEFAULT);
    uv_close((uv_handle_t *)&polled, NULL);
    uv_close((uv_handle_t *)&pipe_handle, NULL);
    run("sockets");
    check("ends", ends, 2);
    check("datagrams", datagrams, 1);
    check("ready", ready, 2);
    check("closed", closed, 4);
    close(fds[0]);
    close(fds[1]);
}

/* ---- Another thread's loop; a call from there ---- */

static uv_async_t called;
static int calls;

static void on_called(uv_async_t *handle)
{
    calls++;
    uv_close((uv_handle_t *)handle, on_closed);
}

static void thread(void *unused)
{
    uv_loop_t other;
    uv_timer_t t;
    int n = 0;
    (void)unused;
    uv_loop_init(&other);
    uv_timer_init(&other, &t);
    uv_timer_start(&t, on_timer, 1, 0);
    uv_run(&other, UV_RUN_DEFAULT);
    uv_walk(&other, count, &n);
    check("handles of the other loop", n, 1);
    uv_close((uv_handle_t *)&t, NULL);
    uv_run(&other, UV_RUN_DEFAULT);
    check("the other loop", uv_loop_close(&other), 0);
    uv_async_send(&called);
}

static void threads(void)
{
    uv_thread_t id;
    uv_async_init(loop, &called, on_called);
    uv_thread_create(&id, thread, NULL);
    run("threads");
    uv_thread_join(&id);
    check("calls", calls, 1);
}

/* ---- A child that goes on with the loop ---- */

static void child(void)
{
    int status = -1;
    fired = 0;
    uv_timer_init(loop, &timer);
    uv_timer_start(&timer, on_timer, 1, 0);
    fflush(stdout);
    const pid_t pid = fork();
    if (pid == 0) {
        check("fork", uv_loop_fork(loop), 0);
        uv_run(loop, UV_RUN_DEFAULT);
        check("fired in the child", fired, 1);
        _exit(7);
    }
    waitpid(pid, &status, 0);
    check("the child", WIFEXITED(status) ? WEXITSTATUS(status) : -1, 7);
    run("child");
    check("fired in the parent", fired, 1);
    uv_close((uv_handle_t *)&timer, NULL);
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    directory = argv[1];
    setenv("UV_THREADPOOL_SIZE", "4", 1);
    loop = uv_default_loop();
    timers();
    files();
    requests();
    processes_and_signals();
    sockets();
    threads();
    child();
    run("end");
    check("the loop", uv_loop_close(loop), 0);
    uv_library_shutdown();
    return 5;
}
