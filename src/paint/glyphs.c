/* SPDX-License-Identifier: ISC */
#include "paint/glyphs.h"

#include <math.h>
#include <pango/pangocairo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "view/text.h"

#define FAMILY "DejaVu Sans"
#define EM 2048             /* units of the advances: as many to an em as in the font */
#define KNOWN 1024          /* characters, of each weight; a power of two */
#define FONTS 32            /* sizes, weights and stretches that are cached */
#define SHAPED 512          /* texts shaped by Pango that are cached */
#define SHAPED_TEXT 256     /* maximum bytes of those texts */
#define SHAPED_STRETCHES 32 /* stretching is rounded to this part of their width */
#define RUN 1024            /* glyphs that are painted together */
#define STRETCHES 16        /* stretching is rounded to this part of a font's width */

struct known {
    uint32_t code; /* 0: none */
    uint32_t glyph;
    double advance; /* of one em */
};

struct paint_glyphs {
    cairo_t *cr;
    cairo_font_options_t *options;
    cairo_font_face_t *face[2];
    cairo_scaled_font_t *ruler[2]; /* of EM, for advances */
    struct known known[2][KNOWN];

    cairo_matrix_t ctm; /* the fonts are made for it, and the texts shaped */
    GHashTable *fonts;  /* by size, weight and stretch: cairo_scaled_font_t */

    PangoContext *context; /* NULL: no text has needed it yet */
    GHashTable *shaped;    /* by size, weight and text: PangoLayout */

    char *clean;
    uint32_t room;

    cairo_glyph_t run[RUN];
};

struct paint_glyphs *paint_glyphs_new(void)
{
    struct paint_glyphs *g = calloc(1, sizeof(*g));
    if (!g)
        return NULL;
    g->fonts = g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify)cairo_scaled_font_destroy);
    g->shaped = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_object_unref);
    /* Advances as the font has them, not rounded to pixels, like those in the view's table. */
    g->options = cairo_font_options_create();
    cairo_font_options_set_hint_metrics(g->options, CAIRO_HINT_METRICS_OFF);
    cairo_font_options_set_hint_style(g->options, CAIRO_HINT_STYLE_SLIGHT);
    cairo_font_options_set_antialias(g->options, CAIRO_ANTIALIAS_GRAY);
    for (int bold = 0; bold < 2; bold++) {
        cairo_matrix_t em, same;
        cairo_matrix_init_scale(&em, EM, EM);
        cairo_matrix_init_identity(&same);
        g->face[bold] =
            cairo_toy_font_face_create(FAMILY, CAIRO_FONT_SLANT_NORMAL,
                                       bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
        g->ruler[bold] = cairo_scaled_font_create(g->face[bold], &em, &same, g->options);
    }
    return g;
}

void paint_glyphs_free(struct paint_glyphs *g)
{
    if (!g)
        return;
    g_hash_table_unref(g->fonts);
    g_hash_table_unref(g->shaped);
    if (g->context)
        g_object_unref(g->context);
    for (int bold = 0; bold < 2; bold++) {
        cairo_scaled_font_destroy(g->ruler[bold]);
        cairo_font_face_destroy(g->face[bold]);
    }
    cairo_font_options_destroy(g->options);
    free(g->clean);
    free(g);
}

bool paint_glyphs_begin(struct paint_glyphs *g, cairo_t *cr, size_t longest)
{
    cairo_matrix_t ctm;
    /* A byte that is not UTF-8 becomes three. */
    if (!weft_reserve_all(&g->clean, 3 * longest + 1, &g->room, 1))
        return false;
    g->cr = cr;
    cairo_get_matrix(cr, &ctm);
    ctm.x0 = ctm.y0 = 0;
    if (memcmp(&ctm, &g->ctm, sizeof(ctm)) != 0) { /* they were made for another one */
        g_hash_table_remove_all(g->fonts);
        g_hash_table_remove_all(g->shaped);
    }
    g->ctm = ctm;
    return true;
}

void paint_use_ink(cairo_t *cr, uint32_t rgb, int alpha)
{
    cairo_set_source_rgba(cr, (rgb >> 16) / 255.0, (rgb >> 8 & 0xff) / 255.0, (rgb & 0xff) / 255.0,
                          alpha / 255.0);
}

/* ---- Texts that need no shaping ---- */

static bool is_simple(uint32_t code)
{
    return code < 0x300 || (code >= 0x370 && code < 0x483) || (code >= 0x48a && code < 0x530) ||
           (code >= 0x1e00 && code < 0x200b) || (code >= 0x2010 && code < 0x20d0) ||
           (code >= 0x2100 && code < 0x2c00) || code == 0xfffd;
}

/* NULL: the font does not have the character, whose bytes are those from text to end. */
static const struct known *find_glyph(struct paint_glyphs *g, int bold, uint32_t code,
                                      const char *text, const char *end)
{
    struct known *known = &g->known[bold][code % KNOWN];
    if (known->code != code) {
        cairo_glyph_t one, *glyphs = &one;
        cairo_text_extents_t extents;
        int count = 1;
        if (cairo_scaled_font_text_to_glyphs(g->ruler[bold], 0, 0, text, (int)(end - text), &glyphs,
                                             &count, NULL, NULL, NULL) != CAIRO_STATUS_SUCCESS)
            return NULL;
        known->code = code;
        known->glyph = count == 1 ? (uint32_t)glyphs[0].index : 0;
        cairo_scaled_font_glyph_extents(g->ruler[bold], glyphs, count, &extents);
        known->advance = extents.x_advance / EM;
        if (glyphs != &one)
            cairo_glyph_free(glyphs);
    }
    return known->glyph != 0 ? known : NULL;
}

/* NULL: cairo has no memory. */
static cairo_scaled_font_t *find_font(struct paint_glyphs *g, int32_t size, int bold, int stretch)
{
    void *key = GINT_TO_POINTER(size << 12 | stretch << 1 | bold);
    cairo_scaled_font_t *scaled = g_hash_table_lookup(g->fonts, key);
    double em = size / (double)WEFT_PX;
    cairo_matrix_t matrix;
    if (scaled)
        return scaled;
    cairo_matrix_init_scale(&matrix, em * stretch / STRETCHES, em);
    scaled = cairo_scaled_font_create(g->face[bold], &matrix, &g->ctm, g->options);
    if (cairo_scaled_font_status(scaled)) {
        cairo_scaled_font_destroy(scaled);
        return NULL;
    }
    if (g_hash_table_size(g->fonts) == FONTS)
        g_hash_table_remove_all(g->fonts);
    g_hash_table_insert(g->fonts, key, scaled);
    return scaled;
}

/* The factor by which a text is stretched to its width. Limited, because a list that wants more is wrong. */
static double ratio_of(const struct weft_draw *d, double natural)
{
    double width = ((double)d->x1 - d->x0) / WEFT_PX;
    return natural > width / 8 && natural < width * 8 ? width / natural : 1;
}

/* False: it needs Pango. */
static bool draw_simple(struct paint_glyphs *g, const struct weft_draw *d, uint32_t rgb,
                        size_t size)
{
    const char *end = g->clean + size;
    double em = d->size / (double)WEFT_PX, natural = 0;
    int bold = d->bold != 0;
    for (const char *at = g->clean, *from = at; at < end; from = at) {
        uint32_t code;
        at += weft_utf8_decode(at, (size_t)(end - at), &code);
        const struct known *known = is_simple(code) ? find_glyph(g, bold, code, from, at) : NULL;
        if (!known)
            return false;
        natural += known->advance;
    }
    /* The font is stretched in coarse steps, so that there are few fonts; the glyphs' positions are exact. */
    double ratio = ratio_of(d, natural * em);
    long stretch = ratio > 0.95 && ratio < 1.05 ? STRETCHES : lround(ratio * STRETCHES);
    cairo_scaled_font_t *font = find_font(g, d->size, bold, (int)stretch);
    if (!font)
        return true;
    paint_use_ink(g->cr, rgb, d->alpha);
    cairo_set_scaled_font(g->cr, font);

    double x = d->x0 / (double)WEFT_PX, y = d->y0 / (double)WEFT_PX;
    int count = 0;
    for (const char *at = g->clean, *from = at; at < end; from = at) {
        uint32_t code;
        at += weft_utf8_decode(at, (size_t)(end - at), &code);
        const struct known *known = find_glyph(g, bold, code, from, at);
        if (known && code != ' ')
            g->run[count++] = (cairo_glyph_t){known->glyph, x, y};
        if (known)
            x += known->advance * em * ratio;
        if (count == RUN || at == end) {
            cairo_show_glyphs(g->cr, g->run, count);
            count = 0;
        }
    }
    return true;
}

/* ---- Texts that need shaping ---- */

static PangoLayout *shape(struct paint_glyphs *g, const struct weft_draw *d, size_t size)
{
    PangoFontDescription *font = pango_font_description_new();
    PangoLayout *layout;

    if (!g->context) {
        g->context = pango_cairo_create_context(g->cr);
        pango_cairo_context_set_font_options(g->context, g->options);
        pango_context_set_base_dir(g->context, PANGO_DIRECTION_LTR); /* as in SVG */
    }
    pango_cairo_update_context(g->cr, g->context);
    pango_context_set_round_glyph_positions(g->context, FALSE);
    pango_font_description_set_family_static(font, FAMILY);
    pango_font_description_set_weight(font, d->bold ? PANGO_WEIGHT_BOLD : PANGO_WEIGHT_NORMAL);
    pango_font_description_set_absolute_size(font, (double)d->size * PANGO_SCALE / WEFT_PX);
    layout = pango_layout_new(g->context);
    pango_layout_set_font_description(layout, font);
    pango_layout_set_single_paragraph_mode(layout, TRUE);
    pango_layout_set_auto_dir(layout, FALSE);
    pango_layout_set_text(layout, g->clean, (int)size);
    pango_font_description_free(font);
    return layout;
}

/* The caller owns a reference. */
static PangoLayout *find_shaped(struct paint_glyphs *g, const struct weft_draw *d, size_t size)
{
    char key[SHAPED_TEXT + 32];
    PangoLayout *layout;

    if (size > SHAPED_TEXT)
        return shape(g, d, size);
    snprintf(key, sizeof(key), "%d %d %.*s", d->size, d->bold != 0, (int)size, g->clean);
    layout = g_hash_table_lookup(g->shaped, key);
    if (!layout) {
        if (g_hash_table_size(g->shaped) == SHAPED)
            g_hash_table_remove_all(g->shaped);
        layout = shape(g, d, size);
        g_hash_table_insert(g->shaped, g_strdup(key), layout);
    }
    return g_object_ref(layout);
}

static void draw_shaped(struct paint_glyphs *g, const struct weft_draw *d, uint32_t rgb,
                        size_t size)
{
    PangoLayout *layout = find_shaped(g, d, size);
    PangoRectangle logical;

    pango_layout_get_extents(layout, NULL, &logical);
    cairo_save(g->cr);
    paint_use_ink(g->cr, rgb, d->alpha);
    cairo_translate(g->cr, d->x0 / (double)WEFT_PX, d->y0 / (double)WEFT_PX);
    /* A character may have any number of marks, one above the other. */
    double em = d->size / (double)WEFT_PX;
    cairo_rectangle(g->cr, -em / 4, -em * 5 / 4, ((double)d->x1 - d->x0) / WEFT_PX + em / 2,
                    em * 7 / 4);
    cairo_clip(g->cr);
    /* For cairo, each stretched font is a font of its own: there must be few, and none may be wider than the space. */
    double ratio =
        floor(ratio_of(d, logical.width / (double)PANGO_SCALE) * SHAPED_STRETCHES + 0.01);
    cairo_scale(g->cr, fmax(ratio, 1) / SHAPED_STRETCHES, 1);
    cairo_new_path(g->cr);
    cairo_move_to(g->cr, 0, 0);
    pango_cairo_show_layout_line(g->cr, pango_layout_get_line_readonly(layout, 0));
    cairo_new_path(g->cr);
    cairo_restore(g->cr);
    g_object_unref(layout);
}

void paint_glyphs_text(struct paint_glyphs *g, const struct weft_drawlist *list,
                       const struct weft_draw *d, uint32_t rgb)
{
    size_t size = weft_text_clean(g->clean, g->room - 1, list->texts + d->first, d->count);
    g->clean[size] = '\0';
    if (size > 0 && !draw_simple(g, d, rgb, size))
        draw_shaped(g, d, rgb, size);
}
