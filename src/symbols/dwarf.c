/* SPDX-License-Identifier: ISC */
/* What DWARF says about an address. libdw can answer that, but searches a whole compilation unit
 * each time. Since there are many addresses, the ranges of units, and of the functions of a unit,
 * are kept sorted. */
#include <dwarf.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/order.h"
#include "symbols/elf_file.h"

enum { LOOK_BACK = 8, DEPTH_MAX = 64 };

struct range {
    Dwarf_Addr from, to;
    uint32_t of; /* unit, or function */
};

struct ranges {
    struct range *range;
    uint32_t count, room;
};

struct unit {
    Dwarf_Die die;
    struct ranges functions;
    Dwarf_Die *function;
    uint32_t count, room;
    bool loaded;
};

struct symbols_dwarf {
    Dwarf *dwarf;
    Dwarf_Addr bias;
    struct ranges units;
    struct unit *unit;
    uint32_t count, room;
};

/* ---- Ranges ---- */

/* Adds all of them, or none. */
static bool add_ranges(struct ranges *r, Dwarf_Die *die, uint32_t of)
{
    const uint32_t before = r->count;
    Dwarf_Addr base, from, to;
    for (ptrdiff_t at = 0; (at = dwarf_ranges(die, at, &base, &from, &to)) > 0;) {
        if (from >= to || from == 0)
            continue; /* from 0: removed by the linker */
        if (!weft_reserve(&r->range, r->count, &r->room, sizeof *r->range)) {
            r->count = before;
            return false;
        }
        r->range[r->count++] = (struct range){from, to, of};
    }
    return true;
}

static int by_from(const void *a, const void *b)
{
    const struct range *x = a, *y = b;
    WEFT_ORDER(x->from, y->from);
    return weft_order(y->to, x->to); /* the narrower one last */
}

static void sort(struct ranges *r)
{
    if (r->count > 1)
        qsort(r->range, r->count, sizeof *r->range, by_from);
}

static const struct range *find(const struct ranges *r, Dwarf_Addr address)
{
    uint32_t low = 0, high = r->count;
    WEFT_SEEK(low, high, r->range[middle].from <= address);
    for (uint32_t i = low; i-- > 0 && low - i <= LOOK_BACK;)
        if (address < r->range[i].to)
            return &r->range[i];
    return NULL;
}

/* ---- Units ---- */

struct symbols_dwarf *symbols_dwarf_new(Dwfl_Module *module)
{
    Dwarf_Addr bias;
    Dwarf *dwarf = dwfl_module_getdwarf(module, &bias);
    struct symbols_dwarf *d = dwarf ? calloc(1, sizeof *d) : NULL;
    if (!d)
        return NULL;
    *d = (struct symbols_dwarf){.dwarf = dwarf, .bias = bias};
    uint8_t type;
    Dwarf_Die die, split;
    for (Dwarf_CU *cu = NULL;
         dwarf_get_units(dwarf, cu, &cu, NULL, &type, &die, &split) == 0 && cu;) {
        if (type != DW_UT_compile && type != DW_UT_skeleton)
            continue;
        if (!weft_reserve(&d->unit, d->count, &d->room, sizeof *d->unit) ||
            !add_ranges(&d->units, &die, d->count))
            break;
        d->unit[d->count++] =
            (struct unit){.die = type == DW_UT_skeleton && split.addr ? split : die};
    }
    sort(&d->units);
    return d;
}

void symbols_dwarf_free(struct symbols_dwarf *d)
{
    if (!d)
        return;
    for (uint32_t i = 0; i < d->count; i++)
        weft_free_all(d->unit[i].functions.range, d->unit[i].function);
    weft_free_all(d->unit, d->units.range, d);
}

/* ---- Functions ---- */

/* Returns true for entries whose children may be functions with code of their own. */
static bool may_hold_functions(int tag)
{
    switch (tag) {
    case DW_TAG_namespace:
    case DW_TAG_module:
    case DW_TAG_class_type:
    case DW_TAG_structure_type:
    case DW_TAG_union_type:
    case DW_TAG_enumeration_type:
    case DW_TAG_subprogram:
        return true;
    default:
        return false;
    }
}

/* The next sibling. A file may claim that it comes before this one. */
static bool next_sibling(Dwarf_Die *die)
{
    const void *at = die->addr;
    return dwarf_siblingof(die, die) == 0 && (const char *)die->addr > (const char *)at;
}

static bool add_function(struct unit *u, Dwarf_Die *die)
{
    uint32_t before = u->functions.count;
    if (dwarf_tag(die) != DW_TAG_subprogram)
        return true;
    if (!weft_reserve(&u->function, u->count, &u->room, sizeof *u->function) ||
        !add_ranges(&u->functions, die, u->count))
        return false;
    if (u->functions.count == before)
        return true; /* a declaration, or a function that only exists inlined */
    u->function[u->count++] = *die;
    return true;
}

static void load(struct unit *u)
{
    Dwarf_Die path[DEPTH_MAX], child;
    unsigned depth = 0;
    u->loaded = true;
    if (dwarf_child(&u->die, &path[0]) != 0)
        return;
    for (;;) {
        Dwarf_Die *die = &path[depth];
        if (!add_function(u, die))
            break;
        if (depth + 1 < DEPTH_MAX && may_hold_functions(dwarf_tag(die)) &&
            dwarf_child(die, &child) == 0) {
            path[++depth] = child;
            continue;
        }
        while (!next_sibling(&path[depth]))
            if (depth-- == 0)
                goto done;
    }
done:
    sort(&u->functions);
}

/* Finds the child of die, among those that are scopes, that contains the code at address; stores it
 * in *die. */
static bool inner_scope(Dwarf_Die *die, Dwarf_Addr address)
{
    Dwarf_Die child;
    if (dwarf_child(die, &child) != 0)
        return false;
    do {
        int tag = dwarf_tag(&child);
        if ((tag == DW_TAG_inlined_subroutine || tag == DW_TAG_lexical_block ||
             tag == DW_TAG_try_block || tag == DW_TAG_catch_block) &&
            dwarf_haspc(&child, address) == 1) {
            *die = child;
            return true;
        }
    } while (next_sibling(&child));
    return false;
}

/* The function at address and what is inlined there, outermost first. */
static uint32_t find_scopes(struct unit *u, Dwarf_Addr address,
                            Dwarf_Die scope[SYMBOLS_INLINED_MAX])
{
    if (!u->loaded)
        load(u);
    const struct range *r = find(&u->functions, address);
    if (!r)
        return 0;
    Dwarf_Die die = u->function[r->of];
    uint32_t count = 1;
    scope[0] = die;
    for (unsigned depth = 0; depth < 1000 && count < SYMBOLS_INLINED_MAX; depth++) {
        if (!inner_scope(&die, address))
            break;
        if (dwarf_tag(&die) == DW_TAG_inlined_subroutine)
            scope[count++] = die;
    }
    return count;
}

/* ---- Names ---- */

static const char *text_of(Dwarf_Die *die, unsigned name)
{
    Dwarf_Attribute a;
    return dwarf_formstring(dwarf_attr_integrate(die, name, &a));
}

static uint32_t number_of(Dwarf_Die *die, unsigned name)
{
    Dwarf_Attribute a;
    Dwarf_Word n;
    return dwarf_formudata(dwarf_attr(die, name, &a), &n) == 0 && n <= INT32_MAX ? (uint32_t)n : 0;
}

/* The same for all places where a function is inlined. */
static const void *key_of(Dwarf_Die *die)
{
    Dwarf_Attribute a;
    Dwarf_Die origin;
    if (dwarf_formref_die(dwarf_attr(die, DW_AT_abstract_origin, &a), &origin))
        return origin.addr;
    return die->addr;
}

static struct symbols_named named(Dwarf_Die *die)
{
    struct symbols_named n = {.key = key_of(die)};
    int line = 0;
    n.system_name = text_of(die, DW_AT_linkage_name);
    if (!n.system_name)
        n.system_name = text_of(die, DW_AT_MIPS_linkage_name);
    n.name = text_of(die, DW_AT_name);
    if (!n.name)
        n.name = n.system_name;
    if (dwarf_decl_line(die, &line) == 0 && line > 0)
        n.start_line = (uint32_t)line;
    return n;
}

static const char *call_file(struct unit *u, Dwarf_Die *die)
{
    Dwarf_Files *files;
    size_t count;
    uint32_t number = number_of(die, DW_AT_call_file);
    if (number == 0 || dwarf_getsrcfiles(&u->die, &files, &count) != 0 || number >= count)
        return NULL;
    return dwarf_filesrc(files, number, NULL, NULL);
}

static struct symbols_named find_line(struct unit *u, Dwarf_Addr address)
{
    struct symbols_named n = {.directory = text_of(&u->die, DW_AT_comp_dir)};
    int number;
    Dwarf_Line *l = dwarf_getsrc_die(&u->die, address);
    if (l && dwarf_lineno(l, &number) == 0 && number > 0)
        n.line = (uint32_t)number;
    if (l)
        n.file = dwarf_linesrc(l, NULL, NULL);
    return n;
}

uint32_t symbols_dwarf_name(struct symbols_dwarf *d, uint64_t address,
                            struct symbols_named frame[SYMBOLS_INLINED_MAX],
                            struct symbols_named *line)
{
    Dwarf_Die scope[SYMBOLS_INLINED_MAX];
    Dwarf_Addr entry;
    const struct range *r = find(&d->units, address - d->bias);
    if (!r)
        return 0;
    struct unit *u = &d->unit[r->of];
    *line = find_line(u, address - d->bias);
    struct symbols_named at = *line;
    uint32_t count = find_scopes(u, address - d->bias, scope), out = 0;
    while (count-- > 0) {
        struct symbols_named n = named(&scope[count]);
        if (n.name) {
            n.line = at.line;
            n.file = at.file ? at.file : dwarf_decl_file(&scope[count]);
            n.directory = at.directory;
            n.begins = dwarf_entrypc(&scope[count], &entry) == 0 && entry == address - d->bias;
            frame[out++] = n;
        }
        if (dwarf_tag(&scope[count]) == DW_TAG_inlined_subroutine) {
            at.line = number_of(&scope[count], DW_AT_call_line);
            at.file = call_file(u, &scope[count]);
        }
    }
    return out;
}
