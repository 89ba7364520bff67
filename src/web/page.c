/* SPDX-License-Identifier: ISC */
/* What page.js calls: the explorer, through what can be passed between C and a page: numbers and addresses.
 *
 * Texts are passed in through weft_room and come out terminated. The page reads structures in place; weft_layout
 * describes their layout. There is one explorer. What returns an int returns 0, or a negative WEFT_E code, and
 * weft_said says why. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "explore/explore.h"
#include "paint/paint.h"
#include "web/brush.h"
#include "web/system.h"

#define EXPORT(name) __attribute__((export_name(#name))) name

static struct weft_explorer *explorer;
static struct brush brush;
static char said[512];

/* ---- Layout ---- */

struct entry {
    const char *name;
    uint32_t value;
};

#define FIELD(structure, field)                                                                    \
    {                                                                                              \
#structure "." #field, offsetof(struct structure, field)                                   \
    }
#define SIZE(structure)                                                                            \
    {                                                                                              \
#structure, sizeof(struct structure)                                                       \
    }
#define VALUE(name)                                                                                \
    {                                                                                              \
#name, (uint32_t)name                                                                      \
    }

static const struct entry layout[] = {
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
    SIZE(weft_command_info),
    FIELD(weft_command_info, name),
    FIELD(weft_command_info, where),
    FIELD(weft_command_info, group),
    FIELD(weft_command_info, keys),
    FIELD(weft_command_info, help),
    SIZE(weft_ink_info),
    FIELD(weft_ink_info, css),
    FIELD(weft_ink_info, rgb),
    FIELD(brush, word),
    FIELD(brush, words),
    FIELD(brush, pixel),
    FIELD(brush, width),
    FIELD(brush, height),
    VALUE(BRUSH_RECTS),
    VALUE(BRUSH_LINES),
    VALUE(BRUSH_HEADS),
    VALUE(BRUSH_TEXTS),
    VALUE(BRUSH_SHADES),
    VALUE(BRUSH_HEADER),
    VALUE(WEFT_PX),
    VALUE(WEFT_INKS),
    VALUE(WEFT_COMMANDS),
    VALUE(WEFT_COMMAND_FRONT),
    VALUE(WEFT_INK_GROUND),
    VALUE(WEFT_CHANGED_PICTURE),
    VALUE(WEFT_CHANGED_FACTS),
    VALUE(WEFT_CHANGED_SEARCH),
    VALUE(WEFT_CHANGED_TIP),
    VALUE(WEFT_CHANGED_PLACE),
    VALUE(WEFT_CHANGED_VISIBLE),
    VALUE(WEFT_SHIFT),
    VALUE(WEFT_CTRL),
    VALUE(WEFT_ALT),
    VALUE(WEFT_LINK_NONE),
    VALUE(WEFT_NONE),
    VALUE(WEFT_PANES_MAX),
    {NULL, 0},
};

/* Pairs of name and value, up to a name that is NULL. */
const struct entry *EXPORT(weft_layout)(void)
{
    return layout;
}

const struct weft_command_info *EXPORT(weft_command_table)(void)
{
    return weft_commands;
}

const struct weft_ink_info *EXPORT(weft_ink_table)(void)
{
    return weft_inks;
}

/* ---- Life ---- */

static int say(int code, const char *why)
{
    snprintf(said, sizeof said, "%s", why);
    return code;
}

const char *EXPORT(weft_said)(void)
{
    return said;
}

/* Must be called first. Both numbers are random. */
int EXPORT(weft_begin)(uint32_t random_high, uint32_t random_low)
{
    web_seed((uint64_t)random_high << 32 | random_low);
    return weft_explorer_new(&explorer) < 0 ? say(WEFT_E_NOMEM, weft_error_name(WEFT_E_NOMEM)) : 0;
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
        snprintf(said, sizeof said, "%s", why);
    else
        snprintf(said, sizeof said, "%s, at offset %llu", why, (unsigned long long)err->offset);
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

/* Shows the trace in those bytes, which come from weft_room and are released. It replaces the trace of that pane or, if
 * there is no such pane, is added below the others. */
int EXPORT(weft_show)(unsigned char *bytes, uint32_t size, const char *title, bool raw,
                      uint32_t pane)
{
    struct weft_model *model = NULL;
    struct weft_scene *scene = NULL;
    web_input(bytes, size);
    int rc = read_trace(&model, &scene, raw);
    web_input(NULL, 0);
    free(bytes);
    if (rc == 0 && pane < weft_explorer_panes(explorer)) {
        weft_explorer_replace(explorer, pane, scene, model);
        return 0;
    }
    if (rc == 0) {
        rc = weft_explorer_add(explorer, scene, model, title);
        if (rc == 0)
            return 0;
        say(rc, rc == WEFT_E_LIMIT ? "there is no room for more traces" : weft_error_name(rc));
    }
    weft_scene_free(scene);
    weft_model_free(model);
    return rc;
}

/* How many events the pane's trace has: explaining it takes as long as reading it, and nothing is shown meanwhile. */
double EXPORT(weft_events)(uint32_t pane)
{
    return pane < weft_explorer_panes(explorer) ? (double)weft_explorer_events(explorer, pane) : 0;
}

/* Analyses all traces that have not been analysed, and compares those that are to be compared. */
int EXPORT(weft_analyse)(void)
{
    int rc = weft_explorer_analyse(explorer);
    return rc < 0 ? say(rc, weft_error_name(rc)) : 0;
}

void EXPORT(weft_remove)(uint32_t pane)
{
    weft_explorer_remove(explorer, pane);
}

uint32_t EXPORT(weft_panes)(void)
{
    return weft_explorer_panes(explorer);
}

/* ---- Pictures ---- */

void EXPORT(weft_set_size)(int32_t width, int32_t height)
{
    weft_explorer_resize(explorer, width, height);
}

/* The picture as commands. NULL: no memory. */
const struct brush *EXPORT(weft_paint)(bool dark)
{
    const struct weft_drawlist *list = weft_explorer_draw(explorer);
    return list && brush_fill(&brush, list, dark) == 0 ? &brush : NULL;
}

static char *svg;
static size_t svg_bytes;

/* The current view as an SVG file; weft_picture_bytes is its size. It is valid until the next one. NULL: no memory. */
const char *EXPORT(weft_picture)(void)
{
    struct weft_drawlist list = {0};
    free(svg);
    svg = NULL;
    FILE *out = open_memstream(&svg, &svg_bytes);
    if (!out)
        return NULL;
    int rc = weft_explorer_picture(explorer, &list);
    if (rc == 0)
        rc = weft_paint_svg(&list, out, WEFT_AUTO);
    weft_drawlist_fini(&list);
    if (fclose(out) != 0)
        rc = WEFT_E_NOMEM;
    return rc == 0 ? svg : NULL;
}

uint32_t EXPORT(weft_picture_bytes)(void)
{
    return (uint32_t)svg_bytes;
}

uint32_t EXPORT(weft_changed)(void)
{
    return weft_explorer_changed(explorer);
}

bool EXPORT(weft_work)(void)
{
    return weft_explorer_work(explorer);
}

/* ---- Lists ---- */

static uint32_t count, all;

/* Of the list that was requested last. */
uint32_t EXPORT(weft_fact_count)(void)
{
    return count;
}

/* The total number, of which the list has some. */
uint32_t EXPORT(weft_all)(void)
{
    return all;
}

const struct weft_fact *EXPORT(weft_facts)(void)
{
    return weft_explorer_facts(explorer, &count);
}

void EXPORT(weft_follow)(uint32_t fact)
{
    weft_explorer_follow(explorer, fact);
}

const struct weft_visible *EXPORT(weft_visible)(void)
{
    return weft_explorer_visible(explorer, &count, &all);
}

void EXPORT(weft_select)(uint32_t pane, uint32_t promise)
{
    if (pane < weft_explorer_panes(explorer))
        weft_explorer_select(explorer, pane, promise);
}

/* WEFT_NONE: nothing is. */
uint32_t EXPORT(weft_selected)(void)
{
    return weft_explorer_selected(explorer, NULL);
}

uint32_t EXPORT(weft_selected_pane)(void)
{
    unsigned pane = 0;
    weft_explorer_selected(explorer, &pane);
    return pane;
}

uint32_t EXPORT(weft_counters)(void)
{
    return weft_explorer_counters(explorer);
}

const char *EXPORT(weft_counter)(uint32_t counter)
{
    bool shown;
    return weft_explorer_counter(explorer, counter, &shown);
}

bool EXPORT(weft_counter_shown)(uint32_t counter)
{
    bool shown = false;
    weft_explorer_counter(explorer, counter, &shown);
    return shown;
}

void EXPORT(weft_show_counter)(uint32_t counter, bool shown)
{
    weft_explorer_show_counter(explorer, counter, shown);
}

/* ---- Input ---- */

void EXPORT(weft_point)(double x, double y)
{
    weft_explorer_point(explorer, x, y);
}

void EXPORT(weft_leave)(void)
{
    weft_explorer_leave(explorer);
}

void EXPORT(weft_press)(double x, double y, int32_t clicks, uint32_t mods)
{
    weft_explorer_press(explorer, x, y, clicks, mods);
}

void EXPORT(weft_drag)(double x, double y)
{
    weft_explorer_drag(explorer, x, y);
}

void EXPORT(weft_release)(double x, double y)
{
    weft_explorer_release(explorer, x, y);
}

void EXPORT(weft_scroll)(double x, double y, double dx, double dy, uint32_t mods)
{
    weft_explorer_scroll(explorer, x, y, dx, dy, mods);
}

void EXPORT(weft_pinch)(double x, double y, double dx, double dy, double factor)
{
    weft_explorer_pinch(explorer, x, y, dx, dy, factor);
}

/* The number of a key's command; WEFT_COMMANDS if it has none. */
uint32_t EXPORT(weft_key_command)(const char *key, uint32_t mods)
{
    return weft_command_of_key(key, mods);
}

bool EXPORT(weft_key)(const char *key, uint32_t mods)
{
    return weft_explorer_key(explorer, key, mods);
}

bool EXPORT(weft_command)(uint32_t command)
{
    return command < WEFT_COMMANDS && weft_explorer_command(explorer, (enum weft_command)command);
}

const char *EXPORT(weft_tip)(void)
{
    return weft_explorer_tip(explorer);
}

void EXPORT(weft_search)(const char *query)
{
    weft_explorer_search(explorer, query);
}

const char *EXPORT(weft_query)(void)
{
    return weft_explorer_query(explorer);
}

const char *EXPORT(weft_found)(void)
{
    return weft_explorer_found(explorer);
}

const char *EXPORT(weft_place)(void)
{
    return weft_explorer_place(explorer);
}

bool EXPORT(weft_go)(const char *place)
{
    return weft_explorer_go(explorer, place);
}

void EXPORT(weft_text_size)(uint32_t percent)
{
    weft_explorer_text_size(explorer, percent);
}
