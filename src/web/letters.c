/* SPDX-License-Identifier: ISC */
#include "web/letters.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "format/error.h"
#include "format/utf8.h"

enum {
    SHEET_WIDTH = 1024,     /* pixels, at least */
    SHEET_PIXELS = 1 << 20, /* at most, unless one row of boxes takes more */
    MASKS_MAX = 32 << 20,   /* bytes that are kept from one picture to the next */
    LETTERS_MAX = 20000,    /* the same */
    OWN_COLOUR = 24, /* a colour that differs this much from the fill is no rounding error … */
    OWN_COLOUR_ALPHA = 64, /* … where it is this opaque */
};

struct mask {
    uint32_t at;                 /* its bytes: opacities, or pixels */
    int32_t x, y, width, height; /* pixels, from the pixel of the pen */
};

struct letter {
    uint64_t hash;
    uint32_t text, bytes;
    int32_t size;  /* of the font; negative: bold */
    int32_t width; /* of a text as a whole; 0: one character */
    int32_t advance;
    bool is_coloured; /* its masks are pixels, R, G, B, A, premultiplied */
    struct mask mask[LETTERS_STEPS];
};

void letters_fini(struct letters *l)
{
    weft_free_all(l->letter, l->text, l->mask, l->wanted, l->sheet);
    weft_table_drop(&l->table);
    *l = (struct letters){.letter = NULL};
}

static void forget_all(struct letters *l)
{
    weft_table_drop(&l->table);
    memset(l->face, 0, sizeof l->face);
    l->letters = l->text_bytes = l->mask_bytes = 0;
}

void letters_begin(struct letters *l, uint8_t fill, uint32_t width_px)
{
    if (!l->seed)
        l->seed = weft_seed() | 1;
    if (l->fill != fill || l->mask_bytes > MASKS_MAX || l->letters > LETTERS_MAX)
        forget_all(l);
    l->fill = fill;
    l->sheet_width = width_px > SHEET_WIDTH ? width_px : SHEET_WIDTH;
    l->wanted_count = l->next = 0;
    l->failed = false;
}

/* ---- Finding ---- */

struct key {
    const struct letters *l;
    const char *text;
    size_t bytes;
    int32_t size, width;
};

static uint64_t hash_key(const struct key *k)
{
    const uint64_t looks = (uint64_t)(uint32_t)k->size << 32 | (uint32_t)k->width;
    return weft_table_hash(k->text, k->bytes, weft_mix(looks, k->l->seed));
}

static uint64_t hash_letter(const void *array, uint32_t item, uint64_t seed)
{
    (void)seed; /* the hash has it */
    return ((const struct letter *)array)[item].hash;
}

static bool same_letter(const void *array, uint32_t item, const void *key)
{
    const struct letter *x = (const struct letter *)array + item;
    const struct key *k = key;
    return x->size == k->size && x->width == k->width && x->bytes == k->bytes &&
           memcmp(k->l->text + x->text, k->text, k->bytes) == 0;
}

/* The table for quick finding; NULL: there are too many sizes. */
static struct letter_face *face_of(struct letters *l, int32_t size)
{
    for (int i = 0; i < LETTERS_FACES; i++) {
        struct letter_face *f = &l->face[i];
        if (!f->size) {
            f->size = size;
            memset(f->letter, 0xff, sizeof f->letter);
        }
        if (f->size == size)
            return f;
    }
    return NULL;
}

/* UINT32_MAX: it is not there. */
static uint32_t get(const struct letters *l, const struct letter_face *f, const struct key *k)
{
    const unsigned char first = (unsigned char)*k->text;
    if (f && k->bytes == 1 && first < LETTERS_QUICK && k->width == 0)
        return f->letter[first];
    return l->table.room ? *weft_table_find(&l->table, hash_key(k), same_letter, l->letter, k) - 1
                         : UINT32_MAX;
}

/* The size of a text's font as letters have it. */
static int32_t font_of(const struct weft_draw *d, int scale)
{
    return d->bold ? -d->size * scale : d->size * scale;
}

/* The room that a text has. */
static int32_t room_of(const struct weft_draw *d, int scale)
{
    const int64_t room = ((int64_t)d->x1 - d->x0) * scale;
    return room < INT32_MAX / 2 ? (int32_t)room : INT32_MAX / 2;
}

/* Can be composed of its characters. */
static bool is_simple(uint32_t code)
{
    return code < 0x300 || (code >= 0x370 && code < 0x483) || (code >= 0x48a && code < 0x530) ||
           (code >= 0x1e00 && code < 0x200b) || (code >= 0x2010 && code < 0x20d0) ||
           (code >= 0x2100 && code < 0x2c00) || code == 0xfffd;
}

static bool is_simple_text(const char *text, size_t size)
{
    uint32_t code = 0;
    for (size_t i = 0; i < size && is_simple(code);) {
        code = (unsigned char)text[i];
        i += code < 0x80 ? 1 : weft_utf8_decode(text + i, size - i, &code);
    }
    return is_simple(code);
}

/* The character of a simple text that begins at *at, which becomes the place after it. */
static struct key next_character(const struct letters *l, const char *text, size_t size, size_t *at,
                                 int32_t font)
{
    uint32_t code;
    const size_t from = *at;
    *at += (unsigned char)text[from] < 0x80 ? 1 : weft_utf8_decode(text + from, size - from, &code);
    return (struct key){l, text + from, *at - from, font, 0};
}

/* ---- Wanting: boxes in shelves ---- */

static int pixels(int64_t length)
{
    return (int)((length + WEFT_PX - 1) / WEFT_PX);
}

static uint32_t new_letter(struct letters *l, const struct key *k)
{
    if (!weft_table_reserve(&l->table, l->letter, l->letters, hash_letter, l->seed) ||
        !weft_reserve(&l->letter, l->letters, &l->letters_room, sizeof *l->letter) ||
        !weft_reserve_all(&l->text, (uint64_t)l->text_bytes + k->bytes, &l->text_room, 1))
        return UINT32_MAX;
    const uint64_t hash = hash_key(k);
    uint32_t *slot = weft_table_find(&l->table, hash, same_letter, l->letter, k);
    memcpy(l->text + l->text_bytes, k->text, k->bytes);
    l->letter[l->letters] = (struct letter){.hash = hash,
                                            .text = l->text_bytes,
                                            .bytes = (uint32_t)k->bytes,
                                            .size = k->size,
                                            .width = k->width};
    l->text_bytes += (uint32_t)k->bytes;
    *slot = ++l->letters;
    return l->letters - 1;
}

/* Whether there is room in the sheet for some boxes side by side; an empty sheet always has some. */
static bool has_room(struct letters *l, uint32_t width, uint32_t height)
{
    if (l->shelf_x + width > l->sheet_width) {
        l->shelf_y += l->shelf_height;
        l->shelf_x = l->shelf_height = 0;
    }
    return l->wanted_count == 0 || (uint64_t)(l->shelf_y + height) * l->sheet_width <= SHEET_PIXELS;
}

/* Returns false if the sheet is full, or there is no memory (l->failed). */
static bool want(struct letters *l, struct letter_face *f, const struct key *k)
{
    const int64_t em = k->size < 0 ? -k->size : k->size;
    const int left = pixels(em / 4), above = pixels(em * 5 / 4), height = above + pixels(em / 2);
    const int steps = k->width ? 1 : LETTERS_STEPS;
    int width = left + pixels(k->width ? k->width + em / 4 : em * 7 / 4) + 1;
    if (get(l, f, k) != UINT32_MAX)
        return true;
    if (width * steps > (int)l->sheet_width)
        width = (int)l->sheet_width / steps;
    if (!has_room(l, (uint32_t)(width * steps), (uint32_t)height))
        return false;
    const uint32_t letter = new_letter(l, k);
    l->failed = letter == UINT32_MAX ||
                !weft_reserve_all(&l->wanted, (uint64_t)l->wanted_count + LETTERS_STEPS,
                                  &l->wanted_room, sizeof *l->wanted);
    if (l->failed)
        return false;
    if (f && k->bytes == 1 && k->width == 0 && (unsigned char)*k->text < LETTERS_QUICK)
        f->letter[(unsigned char)*k->text] = letter;
    for (int step = 0; step < steps; step++) {
        const int x = (int)l->shelf_x, y = (int)l->shelf_y;
        l->wanted[l->wanted_count++] =
            (struct letter_wanted){.text = (uint32_t)(uintptr_t)k->text,
                                   .bytes = (uint32_t)k->bytes,
                                   .size = k->size,
                                   .width = k->width,
                                   .pen_x = (x + left) * WEFT_PX + step * WEFT_PX / LETTERS_STEPS,
                                   .pen_y = (y + above) * WEFT_PX,
                                   .x = x,
                                   .y = y,
                                   .width_px = width,
                                   .height_px = height,
                                   .letter = letter,
                                   .step = (uint32_t)step};
        l->shelf_x += (uint32_t)width;
    }
    l->shelf_height = l->shelf_height > (uint32_t)height ? l->shelf_height : (uint32_t)height;
    return true;
}

static bool want_text(struct letters *l, const struct weft_drawlist *list,
                      const struct weft_draw *d, int scale)
{
    const char *text = list->texts + d->first;
    const int32_t font = font_of(d, scale);
    struct letter_face *f = face_of(l, font);
    if (!is_simple_text(text, d->count))
        return want(l, f, &(struct key){l, text, d->count, font, room_of(d, scale)});
    for (size_t at = 0; at < d->count;) {
        const struct key k = next_character(l, text, d->count, &at, font);
        if (!want(l, f, &k))
            return false;
    }
    return true;
}

/* ---- Taking masks from the sheet ---- */

static const uint8_t *sheet_at(const struct letters *l, int x, int y)
{
    return (const uint8_t *)(l->sheet + (size_t)y * l->sheet_width + x);
}

/* The rows and columns of a box in which there is something. */
static struct mask trim(const struct letters *l, const struct letter_wanted *w)
{
    int x0 = w->width_px, x1 = 0, y0 = w->height_px, y1 = 0;
    for (int y = 0; y < w->height_px; y++)
        for (int x = 0; x < w->width_px; x++)
            if (sheet_at(l, w->x + x, w->y + y)[3]) {
                x0 = x < x0 ? x : x0;
                x1 = x >= x1 ? x + 1 : x1;
                y0 = y < y0 ? y : y0;
                y1 = y + 1;
            }
    if (x0 >= x1)
        return (struct mask){0};
    return (struct mask){.x = w->x + x0 - w->pen_x / WEFT_PX,
                         .y = w->y + y0 - w->pen_y / WEFT_PX,
                         .width = x1 - x0,
                         .height = y1 - y0};
}

static bool is_own_colour(const struct letters *l, const uint8_t *pixel)
{
    bool is_own = false;
    for (int i = 0; i < 3; i++)
        is_own = is_own || abs(pixel[i] - l->fill) > OWN_COLOUR;
    return is_own && pixel[3] > OWN_COLOUR_ALPHA;
}

static bool has_own_colour(const struct letters *l, const struct letter_wanted *w)
{
    for (int y = 0; y < w->height_px; y++)
        for (int x = 0; x < w->width_px; x++)
            if (is_own_colour(l, sheet_at(l, w->x + x, w->y + y)))
                return true;
    return false;
}

static bool take(struct letters *l, const struct letter_wanted *w)
{
    struct letter *letter = &l->letter[w->letter];
    struct mask m = trim(l, w);
    if (w->step == 0)
        letter->is_coloured = has_own_colour(l, w);
    const uint64_t area = (uint64_t)m.width * (uint64_t)m.height * (letter->is_coloured ? 4 : 1);
    if (!weft_reserve_all(&l->mask, l->mask_bytes + area, &l->mask_room, 1))
        return false;
    m.at = l->mask_bytes;
    uint8_t *out = l->mask + m.at;
    for (int y = 0; y < m.height; y++) {
        const uint8_t *in = sheet_at(l, w->pen_x / WEFT_PX + m.x, w->pen_y / WEFT_PX + m.y + y);
        for (int x = 0; x < m.width; x++, in += 4) {
            for (int i = 0; letter->is_coloured && i < 3; i++)
                *out++ = (uint8_t)((in[i] * in[3] + 127) / 255);
            *out++ = in[3];
        }
    }
    l->mask_bytes += (uint32_t)area;
    letter->advance = w->advance > 0 ? w->advance : 0;
    letter->mask[w->step] = m;
    return true;
}

int letters_find(struct letters *l, const struct weft_drawlist *list, int scale)
{
    for (uint32_t i = 0; i < l->wanted_count && !l->failed; i++)
        l->failed = !take(l, &l->wanted[i]);
    l->wanted_count = l->shelf_x = l->shelf_y = l->shelf_height = 0;
    for (; l->next < list->draws && !l->failed; l->next++) {
        const struct weft_draw *d = &list->draw[l->next];
        if (d->op == WEFT_DRAW_TEXT && paint_shape_text(list, d) && !want_text(l, list, d, scale))
            break;
    }
    l->sheet_height = l->shelf_y + l->shelf_height;
    if (l->failed || !weft_reserve_all(&l->sheet, (uint64_t)l->sheet_width * l->sheet_height,
                                       &l->sheet_room, sizeof *l->sheet))
        return WEFT_E_NOMEM;
    return (int)l->wanted_count;
}

/* ---- Painting ---- */

/* Multiplies two of a pixel's bytes, in 16 bits each, by part / 255. */
static uint32_t times(uint32_t pair, uint32_t part)
{
    uint32_t t = pair * part + 0x800080;
    return (t + (t >> 8 & 0xff00ff)) >> 8 & 0xff00ff;
}

static uint32_t scaled(uint32_t pixel, uint32_t part)
{
    return times(pixel & 0xff00ff, part) | times(pixel >> 8 & 0xff00ff, part) << 8;
}

static void blend_opacities(uint32_t *out, const uint8_t *mask, int count, uint32_t ink,
                            uint32_t alpha)
{
    for (int x = 0; x < count; x++) {
        const uint32_t part = alpha == 255 ? mask[x] : (mask[x] * alpha + 127) / 255;
        if (part == 255)
            out[x] = ink;
        else if (part)
            out[x] = scaled(ink, part) + scaled(out[x], 255 - part);
    }
}

static void blend_colours(uint32_t *out, const uint8_t *mask, int count, uint32_t alpha)
{
    for (int x = 0; x < count; x++, mask += 4) {
        uint32_t pixel;
        memcpy(&pixel, mask, sizeof pixel);
        pixel = scaled(pixel, alpha);
        out[x] = pixel + scaled(out[x], 255 - (pixel >> 24));
    }
}

/* Blends a mask whose pen is at that pixel. */
static void blend(const struct letters *l, const struct letter *letter, const struct mask *m,
                  const struct paint_pixels *p, int64_t x, int64_t y)
{
    const int bytes = letter->is_coloured ? 4 : 1;
    const int64_t left = x + m->x, top = y + m->y;
    const int64_t x0 = left > p->x0 ? left : p->x0, y0 = top > p->y0 ? top : p->y0;
    const int64_t x1 = left + m->width < p->x1 ? left + m->width : p->x1;
    const int64_t y1 = top + m->height < p->y1 ? top + m->height : p->y1;
    for (int64_t row = y0; row < y1 && x0 < x1; row++) {
        uint32_t *out = (uint32_t *)(void *)(p->data + row * p->stride) + x0;
        const uint8_t *mask = l->mask + m->at + ((row - top) * m->width + x0 - left) * bytes;
        if (letter->is_coloured)
            blend_colours(out, mask, (int)(x1 - x0), p->alpha);
        else
            blend_opacities(out, mask, (int)(x1 - x0), p->ink | 0xff000000, p->alpha);
    }
}

/* The face that face_of has made; NULL: none. */
static const struct letter_face *known_face(const struct letters *l, int32_t size)
{
    for (int i = 0; i < LETTERS_FACES; i++)
        if (l->face[i].size == size)
            return &l->face[i];
    return NULL;
}

static int64_t natural_width(const struct letters *l, const struct letter_face *f, const char *text,
                             size_t size, int32_t font)
{
    int64_t width = 0;
    for (size_t at = 0; at < size;) {
        const struct key k = next_character(l, text, size, &at, font);
        const uint32_t i = get(l, f, &k);
        width += i == UINT32_MAX ? 0 : l->letter[i].advance;
    }
    return width;
}

void letters_paint(const struct letters *l, const struct paint_pixels *p,
                   const struct weft_drawlist *list, const struct weft_draw *d)
{
    const char *text = list->texts + d->first;
    const int32_t font = font_of(d, p->scale);
    const struct letter_face *f = known_face(l, font);
    const int64_t x0 = (int64_t)d->x0 * p->scale;
    const int32_t room = room_of(d, p->scale);
    const int64_t y = ((int64_t)d->y0 * p->scale + WEFT_PX / 2) >> 6;
    if (!is_simple_text(text, d->count)) {
        const uint32_t i = get(l, f, &(struct key){l, text, d->count, font, room});
        if (i != UINT32_MAX)
            blend(l, &l->letter[i], &l->letter[i].mask[0], p, (x0 + WEFT_PX / 2) >> 6, y);
        return;
    }
    /* Condensed if this machine's font is wider than the one that the picture was made for. */
    const int64_t width = natural_width(l, f, text, d->count, font);
    const int64_t most = (int64_t)room + p->scale * WEFT_PX;
    int64_t along = 0;
    for (size_t at = 0; at < d->count;) {
        const struct key k = next_character(l, text, d->count, &at, font);
        const uint32_t i = get(l, f, &k);
        if (i == UINT32_MAX)
            continue;
        const int64_t x =
            x0 + (width > most ? along * most / width : along) + WEFT_PX / LETTERS_STEPS / 2;
        blend(l, &l->letter[i], &l->letter[i].mask[(x & (WEFT_PX - 1)) * LETTERS_STEPS / WEFT_PX],
              p, x >> 6, y);
        along += l->letter[i].advance;
    }
}
