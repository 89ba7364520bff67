/* SPDX-License-Identifier: ISC */
/* Each kind of sources has a table of functions. Two of its functions are replaced where the table is, because programs
 * compare tables by address. A table that is constant is made writable for that moment. */
#include "glib.h"

#include <elf.h>
#include <errno.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

enum { DISPATCH, FINALIZE };
enum access { UNKNOWN, WRITABLE, CONSTANT };

static struct adapter_table kinds; /* by table and DISPATCH or FINALIZE: its own function */
static uint32_t patching;

static void *own(const GSourceFuncs *funcs, uint32_t which)
{
    struct adapter_entry e;
    return adapter_get(&kinds, adapter_key(funcs), which, &e) ? e.callback : NULL;
}

gboolean (*glib_dispatch_of(const GSourceFuncs *funcs))(GSource *, GSourceFunc, gpointer)
{
    return (gboolean(*)(GSource *, GSourceFunc, gpointer))own(funcs, DISPATCH);
}

void (*glib_finalize_of(const GSourceFuncs *funcs))(GSource *)
{
    return (void (*)(GSource *))own(funcs, FINALIZE);
}

/* What the loader has made of the memory from address to end, by the headers of the mapped file. */
static enum access access_of(uintptr_t address, uintptr_t end)
{
    struct adapter_file file;
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    enum access access = UNKNOWN;
    if (!adapter_file_of(&file, (const void *)address))
        return UNKNOWN;
    const ElfW(Ehdr) *header = (const void *)file.begin;
    const ElfW(Phdr) *part = (const void *)((const char *)header + header->e_phoff);
    if (header->e_phoff + header->e_phnum * sizeof *part > page)
        return UNKNOWN;
    for (unsigned i = 0; i < header->e_phnum; i++) {
        const uintptr_t begin = file.moved + part[i].p_vaddr;
        const uintptr_t stop = begin + part[i].p_memsz;
        if (part[i].p_type == PT_LOAD && address >= begin && end <= stop &&
            !(part[i].p_flags & PF_X))
            access = part[i].p_flags & PF_W ? WRITABLE : CONSTANT;
    }
    for (unsigned i = 0; i < header->e_phnum && access == WRITABLE; i++) {
        const uintptr_t begin = file.moved + part[i].p_vaddr;
        const uintptr_t stop = (begin + part[i].p_memsz) & ~(page - 1);
        if (part[i].p_type == PT_GNU_RELRO && end > (begin & ~(page - 1)) && address < stop)
            access = CONSTANT;
    }
    return access;
}

static void replace(GSourceFuncs *funcs)
{
    const uintptr_t begin = (uintptr_t)funcs, end = begin + sizeof *funcs;
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), first = begin & ~(page - 1);
    const enum access access = access_of(begin, end);
    struct adapter_entry dispatch = {.key = adapter_key(funcs), .kind = DISPATCH};
    struct adapter_entry finalize = {.key = adapter_key(funcs), .kind = FINALIZE};
    dispatch.callback = (void *)funcs->dispatch;
    finalize.callback = (void *)funcs->finalize;
    if (access == UNKNOWN || !adapter_put(&kinds, &finalize) || !adapter_put(&kinds, &dispatch) ||
        (access == CONSTANT && mprotect((void *)first, end - first, PROT_READ | PROT_WRITE) < 0))
        return;
    __atomic_store_n(&funcs->finalize, glib_on_finalize, __ATOMIC_RELEASE);
    __atomic_store_n(&funcs->dispatch, glib_on_dispatch, __ATOMIC_RELEASE);
    if (access == CONSTANT)
        mprotect((void *)first, end - first, PROT_READ);
}

static void forked(void)
{
    patching = 0;
}

ADAPTER_IN_CHILD(forked)

void glib_patch(const GSourceFuncs *constant)
{
    GSourceFuncs *funcs = (GSourceFuncs *)(uintptr_t)constant;
    const int error = errno;
    if (__atomic_load_n(&funcs->dispatch, __ATOMIC_ACQUIRE) == glib_on_dispatch || !funcs->dispatch)
        return;
    adapter_enter();
    adapter_lock(&patching);
    if (funcs->dispatch != glib_on_dispatch)
        replace(funcs);
    adapter_unlock(&patching);
    adapter_leave();
    errno = error;
}
