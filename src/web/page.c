/* SPDX-License-Identifier: ISC */
/* What page.js calls besides the explorer's own functions (meson.build lists those): what can be passed between C and a
 * page is numbers and addresses.
 *
 * Texts are passed in through weft_room and come out terminated. The page reads variables and structures in place;
 * page_layout describes these. There is one explorer. What returns an int returns 0, or a negative WEFT_E code, and
 * page_said says why. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "explore/explore.h"
#include "explore/table.h"
#include "explore/tour.h"
#include "paint/paint.h"
#include "web/raster.h"
#include "web/system.h"

#define EXPORT(name) __attribute__((export_name(#name))) name

struct weft_explorer *page_explorer;
static struct raster raster;
char page_said[512];

/* ---- Layout ---- */

struct entry {
    const char *name;
    uint32_t value;
};

/* clang-format off */
#define FIELD(structure, field) {#structure "." #field, offsetof(struct structure, field)}
#define SIZE(structure) {#structure, sizeof(struct structure)}
#define VALUE(name) {#name, (uint32_t)name}
/* clang-format on */

/* Up to a name that is NULL. */
const struct entry page_layout[] = {
    SIZE(weft_fact),
    FIELD(weft_fact, name),
    FIELD(weft_fact, text),
    FIELD(weft_fact, link),
    FIELD(weft_fact, heading),
    FIELD(weft_fact, bad),
    SIZE(weft_visible),
    FIELD(weft_visible, text),
    FIELD(weft_visible, pane),
    FIELD(weft_visible, promise),
    SIZE(weft_table_view),
    FIELD(weft_table_view, open),
    FIELD(weft_table_view, working),
    FIELD(weft_table_view, by),
    FIELD(weft_table_view, sort),
    FIELD(weft_table_view, ascending),
    FIELD(weft_table_view, has_cpu),
    FIELD(weft_table_view, pinned),
    FIELD(weft_table_view, about),
    FIELD(weft_table_view, row),
    FIELD(weft_table_view, rows),
    FIELD(weft_table_view, all),
    FIELD(weft_table_view, bars_about),
    FIELD(weft_table_view, bar),
    FIELD(weft_table_view, bars),
    FIELD(weft_table_view, bar_max),
    SIZE(weft_table_row),
    FIELD(weft_table_row, cell),
    FIELD(weft_table_row, chosen),
    SIZE(weft_table_bar),
    FIELD(weft_table_bar, count),
    FIELD(weft_table_bar, text),
    SIZE(weft_note),
    FIELD(weft_note, text),
    FIELD(weft_note, about),
    FIELD(weft_note, at),
    FIELD(weft_note, pane),
    SIZE(weft_tour_step),
    FIELD(weft_tour_step, title),
    FIELD(weft_tour_step, text),
    SIZE(weft_command_info),
    FIELD(weft_command_info, name),
    FIELD(weft_command_info, where),
    FIELD(weft_command_info, group),
    FIELD(weft_command_info, keys),
    FIELD(weft_command_info, help),
    SIZE(weft_ink_info),
    FIELD(weft_ink_info, css),
    FIELD(weft_ink_info, rgb),
    FIELD(raster, pixel),
    FIELD(raster, shown),
    FIELD(raster, letters.wanted),
    FIELD(raster, letters.sheet),
    FIELD(raster, letters.sheet_width),
    FIELD(raster, letters.sheet_height),
    SIZE(letter_wanted),
    FIELD(letter_wanted, text),
    FIELD(letter_wanted, bytes),
    FIELD(letter_wanted, size),
    FIELD(letter_wanted, width),
    FIELD(letter_wanted, pen_x),
    FIELD(letter_wanted, pen_y),
    FIELD(letter_wanted, x),
    FIELD(letter_wanted, y),
    FIELD(letter_wanted, width_px),
    FIELD(letter_wanted, height_px),
    FIELD(letter_wanted, advance),
    FIELD(weft_drawlist, draw),
    FIELD(weft_drawlist, draws),
    FIELD(weft_drawlist, texts),
    SIZE(weft_draw),
    FIELD(weft_draw, op),
    FIELD(weft_draw, alpha),
    FIELD(weft_draw, ink),
    FIELD(weft_draw, bold),
    FIELD(weft_draw, size),
    FIELD(weft_draw, x0),
    FIELD(weft_draw, y0),
    FIELD(weft_draw, x1),
    FIELD(weft_draw, first),
    FIELD(weft_draw, count),
    VALUE(WEFT_DRAW_TEXT),
    VALUE(RASTER_RATIO_MAX),
    VALUE(WEFT_PX),
    VALUE(WEFT_INKS),
    VALUE(WEFT_COMMANDS),
    VALUE(WEFT_KINDS),
    VALUE(WEFT_COMMAND_FRONT),
    VALUE(WEFT_CHANGED_PICTURE),
    VALUE(WEFT_CHANGED_FACTS),
    VALUE(WEFT_CHANGED_SEARCH),
    VALUE(WEFT_CHANGED_TIP),
    VALUE(WEFT_CHANGED_PLACE),
    VALUE(WEFT_CHANGED_VISIBLE),
    VALUE(WEFT_CHANGED_STEP),
    VALUE(WEFT_CHANGED_TABLE),
    VALUE(WEFT_CHANGED_PANES),
    VALUE(WEFT_CHANGED_NOTES),
    VALUE(WEFT_CHANGED_TOUR),
    VALUE(WEFT_TOUR_STEPS),
    VALUE(WEFT_TABLES),
    VALUE(WEFT_TABLE_COLUMNS),
    VALUE(WEFT_TABLE_CPU),
    VALUE(WEFT_SHIFT),
    VALUE(WEFT_CTRL),
    VALUE(WEFT_ALT),
    VALUE(WEFT_LINK_NONE),
    VALUE(WEFT_NONE),
    VALUE(WEFT_PANES_MAX),
    {NULL, 0},
};

/* ---- Life ---- */

static int say(int code, const char *why)
{
    snprintf(page_said, sizeof page_said, "%s", why);
    return code;
}

/* Must be called first. Both numbers are random. */
int EXPORT(weft_begin)(uint32_t random_high, uint32_t random_low)
{
    web_seed((uint64_t)random_high << 32 | random_low);
    if (weft_explorer_new(&page_explorer) < 0)
        return say(WEFT_E_NOMEM, weft_error_name(WEFT_E_NOMEM));
    weft_explorer_usually_overview(page_explorer);
    weft_explorer_fold(page_explorer, true);
    return 0;
}

/* Memory that the page fills. NULL: there is none. */
void *EXPORT(weft_room)(uint32_t bytes)
{
    return malloc((uint64_t)bytes + 1);
}

void EXPORT(weft_drop)(void *room)
{
    free(room);
}

/* ---- Traces ---- */

static void say_error(int code, const struct weft_error *err)
{
    const char *why = *err->text ? err->text : weft_error_name(code);
    if (err->offset == WEFT_NO_OFFSET)
        snprintf(page_said, sizeof page_said, "%s", why);
    else
        snprintf(page_said, sizeof page_said, "%s, at offset %llu", why,
                 (unsigned long long)err->offset);
}

static int read_trace(struct weft_model **model, struct weft_scene **scene, bool raw)
{
    struct weft_reader *reader;
    struct weft_error err = {.offset = WEFT_NO_OFFSET};
    int rc = weft_reader_open(&reader, "", &err);
    if (rc == 0) {
        rc = weft_model_build(model, reader, NULL, NULL, &err);
        if (rc == 0)
            rc = weft_scene_load(scene, *model, reader, raw, NULL, NULL);
        weft_reader_close(reader);
    }
    if (rc < 0)
        say_error(rc, &err);
    return rc;
}

/* Shows the trace in those bytes, which come from weft_room and are released. It replaces the trace of that pane, which is
 * the same one read again; if there is no such pane, it is added below the others or, if it is to be alone, shown like the
 * first one, and the others are closed. */
int EXPORT(weft_show)(unsigned char *bytes, uint32_t size, const char *title, bool raw,
                      uint32_t pane, bool alone)
{
    struct weft_model *model = NULL;
    struct weft_scene *scene = NULL;
    web_input(bytes, size);
    int rc = read_trace(&model, &scene, raw);
    web_input(NULL, 0);
    free(bytes);
    if (rc == 0 && pane < weft_explorer_panes(page_explorer)) {
        weft_explorer_replace(page_explorer, pane, scene, model);
        return 0;
    }
    if (rc == 0) {
        while (alone && weft_explorer_panes(page_explorer))
            weft_explorer_remove(page_explorer, weft_explorer_panes(page_explorer) - 1);
        if (alone)
            weft_explorer_go(page_explorer, ""); /* nothing of the old view is left */
        rc = weft_explorer_add(page_explorer, scene, model, title);
        for (unsigned i = rc == 0 && alone ? weft_explorer_source(page_explorer, 0) : 0; i > 1; i--)
            weft_explorer_forget_source(page_explorer, i - 1);
        if (rc == 0)
            return 0;
        say(rc, rc == WEFT_E_LIMIT ? "there is no room for more traces" : weft_error_name(rc));
    }
    weft_scene_free(scene);
    weft_model_free(model);
    return rc;
}

/* A pane that is to be closed, or WEFT_NONE. */
uint32_t EXPORT(weft_closing)(void)
{
    unsigned pane;
    return weft_explorer_wants_close(page_explorer, &pane) ? pane : WEFT_NONE;
}

/* Analyses all traces that have not been analysed, and compares those that are to be compared. */
int EXPORT(weft_analyse)(void)
{
    int rc = weft_explorer_analyse(page_explorer);
    return rc < 0 ? say(rc, weft_error_name(rc)) : 0;
}

/* The commands that fit the query, as weft_command_find has them. Returns their number. */
enum weft_command page_found[WEFT_COMMANDS];

uint32_t EXPORT(weft_find_commands)(const char *query)
{
    return weft_command_find(query, page_found);
}

/* ---- Pictures ---- */

/* Before weft_paint, if things may move: the time in milliseconds, of any clock. */
void EXPORT(weft_frame)(double now_ms)
{
    weft_explorer_frame(page_explorer, (int64_t)(now_ms * 1e6));
}

bool EXPORT(weft_glides)(void)
{
    return weft_explorer_glides(page_explorer);
}

/* Begins the picture, see web/raster.h. NULL: no memory. */
const struct raster *EXPORT(weft_paint)(uint32_t theme, uint32_t width, uint32_t height,
                                        double ratio)
{
    const struct weft_drawlist *list = weft_explorer_draw(page_explorer);
    return list && raster_begin(&raster, list, theme & 3, width, height, ratio) == 0 ? &raster
                                                                                     : NULL;
}

/* How many letters the page is to draw now; < 0: no memory. */
int EXPORT(weft_letters)(void)
{
    return letters_find(&raster.letters, raster.list, raster.pixels.scale);
}

/* Paints the picture once there are all letters. */
int EXPORT(weft_pixels)(void)
{
    return raster_paint(&raster);
}

static char *svg;
size_t page_svg_bytes;

/* The current view as an SVG file of page_svg_bytes. It is valid until the next one. NULL: no memory. */
const char *EXPORT(weft_picture)(void)
{
    struct weft_drawlist list = {0};
    free(svg);
    svg = NULL;
    FILE *out = open_memstream(&svg, &page_svg_bytes);
    if (!out)
        return NULL;
    int rc = weft_explorer_picture(page_explorer, &list);
    if (rc == 0)
        rc = weft_paint_svg(&list, out, WEFT_AUTO);
    weft_drawlist_fini(&list);
    if (fclose(out) != 0)
        rc = WEFT_E_NOMEM;
    return rc == 0 ? svg : NULL;
}

/* ---- Lists ---- */

/* How many the list has that was requested last; and the total number, of which it has some. */
uint32_t page_count, page_all;

const struct weft_fact *EXPORT(weft_facts)(void)
{
    return weft_explorer_facts(page_explorer, &page_count);
}

const struct weft_visible *EXPORT(weft_visible)(void)
{
    return weft_explorer_visible(page_explorer, &page_count, &page_all);
}

const struct weft_note *EXPORT(weft_notes)(void)
{
    return weft_explorer_notes(page_explorer, &page_count);
}

void EXPORT(weft_select)(uint32_t pane, uint32_t promise)
{
    if (pane < weft_explorer_panes(page_explorer))
        weft_explorer_select(page_explorer, pane, promise);
}

uint32_t EXPORT(weft_selected_pane)(void)
{
    unsigned pane = 0;
    weft_explorer_selected(page_explorer, &pane);
    return pane;
}

/* The text of a kind that is on screen or switched off; NULL: it is neither. */
const char *EXPORT(weft_kind)(uint32_t kind)
{
    const char *text;
    bool shown;
    return weft_explorer_kind(page_explorer, (enum weft_kind)kind, &text, &shown) ? text : NULL;
}

bool EXPORT(weft_kind_shown)(uint32_t kind)
{
    const char *text;
    bool shown = false;
    weft_explorer_kind(page_explorer, (enum weft_kind)kind, &text, &shown);
    return shown;
}

const char *EXPORT(weft_table_heading)(uint32_t column)
{
    return column < WEFT_TABLE_COLUMNS ? weft_table_headings[column] : "";
}

const char *EXPORT(weft_counter)(uint32_t counter)
{
    bool shown;
    return weft_explorer_counter(page_explorer, counter, &shown);
}

bool EXPORT(weft_counter_shown)(uint32_t counter)
{
    bool shown = false;
    weft_explorer_counter(page_explorer, counter, &shown);
    return shown;
}
