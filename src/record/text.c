/* SPDX-License-Identifier: ISC */
/* Texts and sites. Each is stored once in the strings packet, which is never overwritten; a hash table beside
 * it finds them again. Two threads that add the same text at the same time may store it twice; all later
 * lookups find the same one of the two. */
#include "record/record.h"
#include <weft/weft.h>

enum { PROBES = 64 };

static uint32_t hash_of(uint32_t kind, const unsigned char *bytes, size_t size)
{
    uint64_t h = kind ^ size * UINT64_C(0x9e3779b97f4a7c15);
    for (; size >= 8; bytes += 8, size -= 8) {
        uint64_t word;
        memcpy(&word, bytes, 8);
        h = (h ^ word) * UINT64_C(0xff51afd7ed558ccd);
        h ^= h >> 32;
    }
    for (; size; bytes++, size--)
        h = (h ^ *bytes) * UINT64_C(0x100000001b3);
    h ^= h >> 29;
    h *= UINT64_C(0xc4ceb9fe1a85ec53);
    return (uint32_t)(h >> 32);
}

static unsigned char *entry(uint32_t number)
{
    return (unsigned char *)weft_record_rec.strings + (size_t)number * 4;
}

static bool is(uint32_t number, uint32_t head, const unsigned char *bytes, size_t size)
{
    const unsigned char *e = entry(number);
    uint32_t have;
    memcpy(&have, e, 4);
    return have == head && !memcmp(e + 4, bytes, size);
}

/* Who needs room. Texts of pending promises outlive the packets, so a quarter of the room is reserved for
 * them. */
enum purpose { FOR_EVENTS, FOR_PENDING };

/* Stores an entry. Returns 0 if there is no room. */
static uint32_t store(uint32_t head, const unsigned char *bytes, size_t size, enum purpose purpose)
{
    struct weft_strings_header *s = weft_record_rec.strings;
    uint64_t room = s->packet.packet_bits / 8 - sizeof *s;
    room -= purpose == FOR_EVENTS ? room / 4 : 0;
    size_t whole = 4 + (size + 1 + 3) / 4 * 4; /* head, bytes, a NUL */
    uint64_t at = __atomic_load_n(&s->used_bytes, __ATOMIC_RELAXED);
    if (at + whole <= room)
        at = __atomic_fetch_add(&s->used_bytes, whole, __ATOMIC_RELAXED);
    if (at + whole > room) {
        __atomic_fetch_add(&s->lost, 1, __ATOMIC_RELAXED);
        return 0;
    }
    uint32_t number = (uint32_t)((sizeof *s + at) / 4);
    memcpy(entry(number) + 4, bytes, size);
    __atomic_store_n((uint32_t *)(void *)entry(number), head, __ATOMIC_RELEASE);
    return number;
}

/* Finds or adds an entry. Returns 0 if there is no room. */
static uint32_t intern(uint32_t kind, const unsigned char *bytes, size_t size, enum purpose purpose)
{
    struct recorder *r = &weft_record_rec;
    uint32_t head = kind << 24 | (uint32_t)size, hash = hash_of(kind, bytes, size), added = 0;
    for (uint32_t i = 0; i < PROBES; i++) {
        uint64_t *slot = &r->texts[(hash + i) & r->texts_mask];
        uint64_t have = __atomic_load_n(slot, __ATOMIC_ACQUIRE); /* with (F) */
        if (!have) {
            if (!added)
                added = store(head, bytes, size, purpose);
            if (!added)
                return 0;
            /* (F) the entry is stored */
            if (__atomic_compare_exchange_n(slot, &have, (uint64_t)hash << 32 | added, false,
                                            __ATOMIC_RELEASE, __ATOMIC_ACQUIRE))
                return added;
        }
        if (have >> 32 == hash && is((uint32_t)have, head, bytes, size))
            return (uint32_t)have;
    }
    return added; /* the table is crowded here: the text is stored, but will not be found again */
}

static void count_lost(void)
{
    __atomic_fetch_add(&weft_record_rec.facts->lost_texts, 1, __ATOMIC_RELAXED);
}

struct text_ref weft_record_text_inline(const char *text)
{
    /* Two such texts and their event must fit into any packet. */
    size_t max = (weft_record_rec.packet_bytes - events_at()) / 4;
    if (max > WEFT_TEXT_MAX)
        max = WEFT_TEXT_MAX;
    size_t size = text_size(text, max + 1);
    if (size > max) {
        count_lost();
        size = max;
    }
    return (struct text_ref){.number = WEFT_STRING_INLINE, .size = (uint32_t)size, .text = text};
}

struct text_ref weft_record_text(const char *text)
{
    if (!text)
        return (struct text_ref){0};
    size_t size = text_size(text, WEFT_TEXT_MAX + 1);
    bool cut = size > WEFT_TEXT_MAX;
    uint32_t number = intern(WEFT_STRING_TEXT, (const unsigned char *)text, size - cut, FOR_EVENTS);
    if (!number)
        return weft_record_text_inline(text);
    if (cut)
        count_lost();
    return (struct text_ref){.number = number};
}

uint32_t weft_record_site(const struct weft_site_entry *site)
{
    uint32_t number =
        intern(WEFT_STRING_SITE, (const unsigned char *)site, sizeof *site, FOR_EVENTS);
    return number ? number : WEFT_STRING_INLINE;
}

uint32_t weft_record_text_pending(const char *text, size_t size)
{
    uint32_t number = intern(WEFT_STRING_TEXT, (const unsigned char *)text, size, FOR_PENDING);
    if (!number)
        count_lost();
    return number;
}

uint32_t weft_record_site_pending(const char *type, size_t size)
{
    struct weft_site_entry site = {.type = weft_record_text_pending(type, size)};
    return intern(WEFT_STRING_SITE, (const unsigned char *)&site, sizeof site, FOR_PENDING);
}
