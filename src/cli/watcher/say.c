/* SPDX-License-Identifier: ISC */
/* Messages of a watcher: to its log, to the journal of systemd with fields of their own, or to standard error, where the
 * journal takes them with their priority. */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>

#include "cli/watcher/parts.h"
#include "format/bytes.h"

#define JOURNAL "/run/systemd/journal/socket"
#define KEPT_ID "5b0e8e3d2c1f4a6c9d0f6a7b8c3e4d21" /* of the message that something was kept */

/* Standard error is what the journal reads. */
static bool is_journal(void)
{
    const char *stream = getenv("JOURNAL_STREAM");
    struct stat st;
    uint64_t device, inode;
    return stream && sscanf(stream, "%" SCNu64 ":%" SCNu64, &device, &inode) == 2 &&
           fstat(STDERR_FILENO, &st) == 0 && st.st_dev == device && st.st_ino == inode;
}

/* A datagram of journald's native protocol, as systemd documents it: NAME=VALUE in a line, or, if the value has line ends,
 * NAME, its length in 64 bits, and the value. */
struct datagram {
    char bytes[8192];
    size_t size;
};

static void put(struct datagram *d, const char *name, const char *value)
{
    const size_t n = strlen(name), v = strlen(value);
    if (n + v + 16 > sizeof d->bytes - d->size)
        return;
    memcpy(d->bytes + d->size, name, n);
    d->size += n;
    if (strchr(value, '\n')) {
        d->bytes[d->size++] = '\n';
        weft_write_u64((unsigned char *)d->bytes + d->size, v);
        d->size += 8;
    } else {
        d->bytes[d->size++] = '=';
    }
    memcpy(d->bytes + d->size, value, v);
    d->size += v;
    d->bytes[d->size++] = '\n';
}

static bool to_journal(const struct cli_watcher *w, int priority, const struct cli_kept *kept,
                       const char *message)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX, .sun_path = JOURNAL};
    struct datagram d = {.size = 0};
    char path[PATH_MAX + NAME_MAX + 8], number[16];
    const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return false;
    snprintf(number, sizeof number, "%d", priority);
    put(&d, "MESSAGE", message);
    put(&d, "PRIORITY", number);
    put(&d, "SYSLOG_IDENTIFIER", "weft");
    snprintf(number, sizeof number, "%d", (int)(kept ? kept->pid : w->pid));
    put(&d, "WEFT_PID", number);
    put(&d, "WEFT_PROGRAM", w->program);
    if (kept) {
        put(&d, "MESSAGE_ID", KEPT_ID);
        put(&d, "WEFT_REASON", kept->reason);
        snprintf(path, sizeof path, "%s/%s", w->to, kept->name);
        put(&d, "WEFT_FILE", path);
        snprintf(path, sizeof path, "%s/%s.txt", w->to, kept->name);
        put(&d, "WEFT_TEXT", path);
    }
    const bool sent = sendto(fd, d.bytes, d.size, MSG_NOSIGNAL | MSG_DONTWAIT,
                             (struct sockaddr *)&to, sizeof to) == (ssize_t)d.size;
    close(fd);
    return sent;
}

bool cli_watcher_log(struct cli_watcher *w)
{
    FILE *log = w->k->log ? fopen(w->k->log, "ae") : NULL;
    w->to_journal = is_journal();
    if (w->k->log && !log)
        return cli_say(w->k->log, "cannot be opened: %s", strerror(errno));
    if (w->log)
        fclose(w->log);
    w->log = log;
    return true;
}

void cli_watcher_say(struct cli_watcher *w, int priority, const struct cli_kept *kept,
                     const char *format, ...)
{
    char said[2048], message[2048];
    va_list args;
    va_start(args, format);
    vsnprintf(said, sizeof said, format, args);
    va_end(args);
    snprintf(message, sizeof message, "%s", said);
    if (w->log) {
        const time_t now = time(NULL);
        struct tm tm;
        char when[40] = "";
        if (gmtime_r(&now, &tm))
            strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%SZ", &tm);
        fprintf(w->log, "%s weft: %s\n", when, message);
        fflush(w->log);
    } else if (w->to_journal && to_journal(w, priority, kept, message)) {
        return;
    } else if (w->to_journal) {
        fprintf(stderr, "<%d>weft: %s\n", priority, message);
    } else {
        fprintf(stderr, "weft: %s\n", message);
    }
}
