/* SPDX-License-Identifier: ISC */
#include "format/forms.h"

#include "format/bytes.h"
#include "format/form_table.h"
#include "format/utf8.h"

enum { HEAD = FORMAT_FORM_HEAD, WORD = 4 };

const struct weft_form_desc *const weft_forms = format_forms;

static int64_t number_at(const unsigned char *at, unsigned words, bool is_unsigned)
{
    if (words == 2)
        return (int64_t)weft_read_u64(at);
    uint32_t n = weft_read_u32(at);
    return is_unsigned ? (int64_t)n : (int32_t)n;
}

/* Returns the next of the texts that preceded the event; its text is NULL if there is none. */
static struct weft_form_text next_text(struct weft_form_context *c, unsigned *taken)
{
    return *taken < c->befores ? c->before[(*taken)++] : (struct weft_form_text){NULL, 0};
}

static void decode_texts(struct weft_event *ev, struct weft_form_context *c,
                         const struct weft_form_desc *f, const unsigned char *bytes)
{
    unsigned taken = 0;
    if (f->words[WEFT_WORD_SITE]) {
        c->site = weft_read_u32(bytes + f->at[WEFT_WORD_SITE]);
        if (c->site == WEFT_STRING_INLINE)
            c->site_text = next_text(c, &taken);
    }
    if (f->words[WEFT_WORD_TEXT]) {
        c->text = weft_read_u32(bytes + f->at[WEFT_WORD_TEXT]);
        if (c->text == WEFT_STRING_INLINE) {
            struct weft_form_text t = next_text(c, &taken);
            ev->text = t.text;
            ev->text_size = t.size;
        }
    }
    c->befores = 0;
}

/* Decodes what is not an event: a text for the next event, the beginning of a stream, or an unknown form. */
static ptrdiff_t decode_other(struct weft_event *ev, struct weft_form_context *c, unsigned code,
                              const unsigned char *bytes, size_t size)
{
    const uint64_t whole = format_form_bytes(bytes, size);
    ev->kind = WEFT_FORM_NO_EVENT;
    if (size < whole)
        return WEFT_DECODE_SHORT;
    if (code == WEFT_FORM_TEXT_FOLLOWS && whole >= HEAD + 2 * WORD) {
        const char *text = (const char *)bytes + HEAD + 2 * WORD;
        size_t room = (size_t)whole - HEAD - 2 * WORD, says = weft_read_u32(bytes + HEAD + WORD);
        const size_t length = strnlen(text, says < room ? says : room);
        if (c->befores < WEFT_FORM_TEXTS)
            c->before[c->befores++] = (struct weft_form_text){
                text, (uint32_t)weft_text_keep(text, length, WEFT_TEXT_LONGEST)};
    } else if (code == WEFT_FORM_STREAM_BEGINS) {
        ev->kind = WEFT_FORM_NEW_STREAM;
        c->stream = weft_read_u32(bytes + HEAD);
        c->thread = weft_read_u32(bytes + HEAD + WORD);
        memcpy(c->thread_name, bytes + HEAD + 2 * WORD, sizeof c->thread_name);
        c->running = WEFT_ID_LOOP;
        c->befores = 0;
    } else {
        c->unknown++;
        c->befores = 0;
    }
    return (ptrdiff_t)whole;
}

ptrdiff_t weft_form_decode(struct weft_event *ev, struct weft_form_context *c,
                           const unsigned char *bytes, size_t size)
{
    if (size < HEAD)
        return WEFT_DECODE_SHORT;
    unsigned code = bytes[7];
    const struct weft_form_desc *f = &format_forms[code];
    if (__builtin_expect(!f->bytes, 0))
        return decode_other(ev, c, code, bytes, size);
    if (size < f->bytes)
        return WEFT_DECODE_SHORT;
    *ev = (struct weft_event){.time_ns = format_form_ticks(bytes, c->begin_ticks),
                              .kind = f->kind,
                              .running = c->running};
    c->site = c->text = 0;
    c->ids = f->words[WEFT_WORD_IDS] ? bytes + f->at[WEFT_WORD_IDS] : NULL;
    format_promises(f, bytes, c->base, c->running, &ev->a, &ev->b);
    if (f->words[WEFT_WORD_SITE] | f->words[WEFT_WORD_TEXT])
        decode_texts(ev, c, f, bytes);
    else
        c->befores = 0;
    if (f->words[WEFT_WORD_VALUE])
        ev->value =
            number_at(bytes + f->at[WEFT_WORD_VALUE], f->words[WEFT_WORD_VALUE], f->is_unsigned);
    if (f->words[WEFT_WORD_TOTAL]) {
        ev->total = number_at(bytes + f->at[WEFT_WORD_TOTAL], f->words[WEFT_WORD_TOTAL], false);
        ev->has_total = true;
    }
    if (f->words[WEFT_WORD_REASON]) {
        uint32_t reason = weft_read_u32(bytes + f->at[WEFT_WORD_REASON]);
        ev->type = reason < UINT8_MAX ? (uint8_t)reason : UINT8_MAX;
    }
    c->running = format_running(ev->kind, ev->a, ev->b, c->running);
    return f->bytes;
}
