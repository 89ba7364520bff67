/* SPDX-License-Identifier: ISC */
#include "analyse/sentence.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

static const char *const texts[] = {
    [SAY_NOTHING] = "",
#define SENTENCE(NAME, text) [SAY_##NAME] = text,
#include "analyse/sentences.def"
#undef SENTENCE
};

struct filler {
    struct analyse_text *t;
    const struct weft_model *m;
    const struct analyse_families *families;
    const struct analyse_slot *slots;
    size_t count;
};

static void put_template(const struct filler *f, const char *text);

/* A name between two bytes of a template. */
struct word {
    const char *text;
    size_t size;
};

static bool is_word(struct word w, const char *text)
{
    return strlen(text) == w.size && memcmp(text, w.text, w.size) == 0;
}

static const struct analyse_slot *slot_of(const struct filler *f, struct word name)
{
    for (size_t i = 0; i < f->count; i++)
        if (is_word(name, f->slots[i].name))
            return &f->slots[i];
    return NULL;
}

/* Puts why a promise failed, if known; a long reason is cut between whole characters. */
static void put_reason(struct analyse_text *t, const struct weft_model *m, uint32_t promise)
{
    enum { REASON_BYTES = 120 };
    uint32_t size, reason = weft_model_reason(m, promise);
    if (m->promise[promise].outcome != WEFT_FAILED || reason == WEFT_NONE)
        return;
    const char *text = weft_model_text(m, reason, &size);
    uint32_t n = size < REASON_BYTES ? size : REASON_BYTES;
    while (n < size && n > 0 && ((unsigned char)text[n] & 0xc0) == 0x80)
        n--;
    analyse_put_format(t, "%.*s%s", (int)n, text, n < size ? "\xe2\x80\xa6" : "");
}

static void put_promise(const struct filler *f, const struct analyse_slot *slot, struct word form)
{
    const struct weft_model *m = slot->m ? slot->m : f->m;
    const uint32_t promise = (uint32_t)slot->value;
    if (promise == WEFT_NONE)
        return;
    const uint32_t final = weft_model_final(m, promise);
    if (is_word(form, "name") || (form.size == 0 && slot->is == ANALYSE_NAME))
        analyse_put_name(f->t, m, promise);
    else if (form.size == 0)
        analyse_put_full(f->t, m, promise);
    else if (is_word(form, "origin"))
        analyse_put_origin(f->t, m, promise);
    else if (is_word(form, "type"))
        analyse_put_format(f->t, "%.64s", weft_model_type(m, promise));
    else if (is_word(form, "number"))
        analyse_put_format(f->t, "%" PRIu64, m->promise[promise].id);
    else if (is_word(form, "verb"))
        analyse_put_format(f->t, "%s", analyse_outcome_verb(m, promise));
    else if (is_word(form, "end"))
        analyse_text_add(f->t, weft_moment(m->promise[final].end_ns).text);
    else if (is_word(form, "reason"))
        put_reason(f->t, m, final);
    else {
        assert(is_word(form, "ended")); /* "failed at 12 ms (timeout)" */
        const bool pending = m->promise[final].outcome == WEFT_PENDING;
        put_template(
            &(struct filler){.t = f->t, .m = m, .slots = &PROMISE(promise, promise), .count = 1},
            texts[pending ? SAY_STILL_PENDING : SAY_ENDED]);
    }
}

/* In a damaged trace times may be anything. */
static int64_t ago_ns(const struct weft_model *m, int64_t time_ns)
{
    int64_t ago;
    if (__builtin_sub_overflow(m->end_ns, time_ns, &ago))
        return INT64_MAX;
    return ago > 0 ? ago : 0;
}

static void put_slot(const struct filler *f, const struct analyse_slot *slot, struct word form)
{
    const int64_t value = slot->value;
    switch (slot->is) {
    case ANALYSE_PROMISE:
    case ANALYSE_NAME:
        put_promise(f, slot, form);
        break;
    case ANALYSE_FAMILY:
        if (value != WEFT_NONE)
            analyse_put_family(f->t, f->m, f->families, (uint32_t)value);
        break;
    case ANALYSE_TIME:
        if (is_word(form, "ago"))
            analyse_text_add(f->t, weft_duration(ago_ns(f->m, value)).text);
        else if (value != INT64_MIN)
            analyse_text_add(f->t, weft_moment(value).text);
        break;
    case ANALYSE_LENGTH:
        analyse_text_add(f->t, weft_duration(value).text);
        break;
    case ANALYSE_COUNT:
        analyse_text_add(f->t, weft_count((uint64_t)value).text);
        break;
    case ANALYSE_NUMBER:
        analyse_put_format(f->t, "%" PRId64, value);
        break;
    case ANALYSE_FLAG:
        break;
    case ANALYSE_TEXT:
        analyse_text_add(f->t, slot->text ? slot->text : "");
        break;
    case ANALYSE_PHRASE:
        put_template(f, slot->text);
    }
}

/* Returns true if a slot is empty; a part in brackets with such a slot is left out. */
static bool says_nothing(const struct analyse_slot *slot, size_t put)
{
    const bool is_number = slot->is == ANALYSE_LENGTH || slot->is == ANALYSE_COUNT ||
                           slot->is == ANALYSE_NUMBER || slot->is == ANALYSE_FLAG;
    return is_number ? slot->value == 0 : put == 0;
}

/* Puts what is in braces: a slot, perhaps with a form, or the words for one and for several.
 * Returns true if it is not empty. */
static bool put_braces(const struct filler *f, const char *text, size_t size)
{
    const struct word name = {text, strcspn(text, ".|?}")};
    const char *rest = text + name.size;
    const struct analyse_slot *slot = slot_of(f, name);
    const size_t before = f->t->size;
    assert(slot);
    if (*rest == '|') {
        const char *one = rest + 1, *several = strchr(one, '|') + 1;
        const bool is_one = slot->value == 1;
        analyse_put_format(f->t, "%.*s", (int)(is_one ? several - 1 - one : text + size - several),
                           is_one ? one : several);
        return true;
    }
    put_slot(f, slot, (struct word){rest + 1, *rest == '.' ? size - name.size - 1 : 0});
    return !says_nothing(slot, f->t->size - before);
}

static void put_template(const struct filler *f, const char *text)
{
    size_t part = 0;     /* where the part in brackets begins in the text */
    bool stands = false; /* … and it is not left out */
    while (*text) {
        const size_t plain = strcspn(text, "{[]"), braces = strcspn(text + plain, "}");
        analyse_put_format(f->t, "%.*s", (int)plain, text);
        text += plain;
        if (*text == '{') {
            stands &= put_braces(f, text + 1, braces - 1);
            text += braces + 1;
        } else if (*text) {
            if (*text == '[')
                part = f->t->size;
            else if (!stands)
                analyse_text_cut(f->t, part);
            stands = true;
            text++;
        }
    }
}

void analyse_fill(struct analyse_text *t, const struct weft_model *m,
                  const struct analyse_families *families, const char *text,
                  const struct analyse_slot *slots, size_t count)
{
    const struct filler f = {t, m, families, slots, count};
    if (t->size && t->text[t->size - 1] != ' ' && !strchr(" ,;:.)", *text))
        analyse_put_format(t, " ");
    put_template(&f, text);
}

void analyse_put_slots(struct analyse_text *t, const struct weft_model *m,
                       const struct analyse_families *families, enum analyse_sentence which,
                       const struct analyse_slot *slots, size_t count)
{
    analyse_fill(t, m, families, texts[which], slots, count);
}

char *analyse_put_slots_new(bool *failed, const struct weft_model *m,
                            const struct analyse_families *families, enum analyse_sentence which,
                            const struct analyse_slot *slots, size_t count)
{
    struct analyse_text t = {0};
    analyse_put_slots(&t, m, families, which, slots, count);
    *failed |= t.failed;
    return analyse_text_take(&t);
}

const char *analyse_sentence_text(enum analyse_sentence which)
{
    return texts[which];
}
