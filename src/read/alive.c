/* SPDX-License-Identifier: ISC */
#include "read/alive.h"

#include <errno.h>
#include <sys/file.h>
#include <unistd.h>

#include "format/process.h"
#include "format/walk.h"

bool weft_facts_read(int fd, struct weft_facts_header *facts)
{
    return pread(fd, facts, sizeof *facts, 0) == sizeof *facts && format_is_facts(facts);
}

bool weft_boot_id(uint8_t id[16])
{
    return format_boot_id(id);
}

uint64_t weft_process_start(uint32_t pid)
{
    return format_process_start(pid);
}

bool weft_facts_alive_as(const struct weft_facts_header *facts, uint32_t pid)
{
    const uint64_t start = facts->process_start;
    uint8_t id[16];
    return facts->state == WEFT_TRACE_RECORDING && start != 0 && format_boot_id(id) &&
           memcmp(id, facts->boot_id, sizeof id) == 0 && format_process_start(pid) == start;
}

bool weft_facts_sampling(const struct weft_facts_header *facts, int fd)
{
    if (fd < 0 || facts->state != WEFT_TRACE_RECORDING || facts->process_start)
        return false;
    if (flock(fd, LOCK_SH | LOCK_NB) < 0)
        return errno == EWOULDBLOCK;
    flock(fd, LOCK_UN);
    return false;
}

bool weft_facts_alive(const struct weft_facts_header *facts)
{
    return weft_facts_alive_as(facts, facts->pid);
}
