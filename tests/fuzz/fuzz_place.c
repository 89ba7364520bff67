/* SPDX-License-Identifier: ISC */
/* Any bytes as a place, and as what somebody does with pointer, wheel and keys, to some traces that are
 * always the same, one of them with samples, others in which something is wrong: nothing crashes, and where one is can
 * be said and gone to.
 *
 * Up to the first line feed: a place. After it four bytes each: what is done, and three small numbers. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../fuzz/try.h"
#include "explore/explore.h"
#include "format/events.h"

enum { TRACES = 3, PLACE_MAX = 4000, STEPS_MAX = 200 };

/* ---- Traces ---- */

struct bytes {
    unsigned char at[1 << 16];
    size_t size;
};

static void add(struct bytes *b, struct weft_event ev)
{
    REQUIRE(b->size + weft_event_size(&ev) < sizeof b->at);
    weft_event_encode(b->at + b->size, &ev);
    b->size += weft_event_size(&ev);
}

static void add_text(struct bytes *b, struct weft_event ev, const char *text)
{
    ev.text = text;
    ev.text_size = (uint32_t)strlen(text);
    add(b, ev);
}

/* A promise every step_ns, alive of them at once. */
static void fill(struct bytes *b, uint64_t count, uint64_t alive, uint64_t step_ns)
{
    static const char *const names[] = {"GET /", "a,b%\xff", "\xd7\x90\xd7\x91", "q#1"};
    b->size = WEFT_MIRAGE_HEADER_SIZE;
    for (uint64_t i = 1; i <= count; i++) {
        uint64_t t = i * step_ns;
        add(b, (struct weft_event){
                   .time_ns = t, .a = i > 3 ? i - 3 : WEFT_ID_LOOP, .b = i, .type = 1});
        add_text(b, (struct weft_event){.time_ns = t, .kind = WEFT_EVENT_LABEL, .a = i},
                 names[i % 4]);
        add(b, (struct weft_event){
                   .time_ns = t, .kind = WEFT_EVENT_SWITCH, .a = i % 5 ? i : WEFT_ID_LOOP});
        add_text(b,
                 (struct weft_event){
                     .time_ns = t, .kind = WEFT_EVENT_COUNTER, .a = i, .value = (int64_t)(i % 7)},
                 names[i % 3]);
        if (i % 9 == 0)
            add(b, (struct weft_event){.time_ns = t, .kind = WEFT_EVENT_GC, .value = 3});
        if (i > alive)
            add(b, (struct weft_event){
                       .time_ns = t, .kind = WEFT_EVENT_FULFILLS, .a = i, .b = i - alive});
    }
    struct weft_mirage_header h = {.packet_bits = (uint32_t)b->size * 8,
                                   .content_bits = (uint32_t)b->size * 8};
    weft_mirage_header_write(b->at, h);
}

static const char *const faults[] = {
    CORPUS "cli/deadlock-07",
    CORPUS "cli/hang_root-21",
    CORPUS "cli/herd-09",
    CORPUS "cli/leak-19",
    CORPUS "cli/loop_blocked-19",
    CORPUS "cli/lost_wakeup-25",
    CORPUS "cli/never_resolved-10",
    CORPUS "cli/serial_waits-14",
    CORPUS "cli/slow_wake-10",
    CORPUS "cli/spin-11",
    CORPUS "cli/swallowed_failure-07",
    CORPUS "weft/run-arp-race-good",
    CORPUS "weft/ring",
    CORPUS "weft/run-loop-blocked-bad",
    CORPUS "weft/run-arp-race-bad",
};
_Static_assert(sizeof faults / sizeof *faults == 15, "see add_pane");

static void add_pane(struct weft_explorer *e, unsigned n)
{
    static struct bytes bytes[TRACES];
    static const uint64_t shape[TRACES][3] = {{60, 4, 1000}, {120, 90, 1000000}, {1, 5, 1}};
    struct bytes *b = &bytes[n % TRACES];
    const uint64_t *s = shape[n % TRACES];
    bool sampled = n % 4 == 3;
    struct weft_reader *r;
    struct weft_model *m;
    struct weft_scene *scene;
    if (!b->size)
        fill(b, s[0], s[1], s[2]);
    const char *path = sampled ? CORPUS "samples/served" : try_file(b->at, b->size);
    if (n / 8 % 16 > 0)
        path = faults[n / 8 % 16 - 1];
    REQUIRE(weft_reader_open(&r, path, NULL) == 0);
    REQUIRE(weft_model_build(&m, r, NULL, NULL, NULL) == 0);
    REQUIRE(weft_scene_load(&scene, m, r, n % 2, NULL, NULL) == 0);
    weft_reader_close(r);
    REQUIRE(weft_explorer_add(e, scene, m, "a title") == 0);
}

/* ---- What must be so ---- */

static void require_text(const char *text)
{
    REQUIRE(text);
    for (const unsigned char *c = (const unsigned char *)text; *c; c++)
        REQUIRE(*c >= 0x20 && *c != 0x7f);
}

static void look(struct weft_explorer *e)
{
    uint32_t count, all;
    const struct weft_drawlist *list = weft_explorer_draw(e);
    REQUIRE(list);
    try_drawlist(list);
    const struct weft_fact *f = weft_explorer_facts(e, &count);
    for (uint32_t i = 0; i < count; i++) {
        require_text(f[i].name);
        require_text(f[i].text);
    }
    const struct weft_visible *v = weft_explorer_visible(e, &count, &all);
    REQUIRE(count <= WEFT_VISIBLE_MAX);
    for (uint32_t i = 0; i < count; i++) {
        require_text(v[i].text);
        REQUIRE(v[i].pane < weft_explorer_panes(e));
    }
    require_text(weft_explorer_tip(e));
    require_text(weft_explorer_found(e));
    require_text(weft_explorer_query(e));
    for (uint32_t i = 0; i < weft_explorer_counters(e); i++) {
        bool shown;
        require_text(weft_explorer_counter(e, i, &shown));
    }
}

/* Where one is: going there changes nothing that a place says, and the picture is the same again. */
static void return_here(struct weft_explorer *e)
{
    char place[20000], again[20000];
    snprintf(place, sizeof place, "%s", weft_explorer_place(e));
    require_text(place);
    bool sound = weft_explorer_go(e, place);
    snprintf(again, sizeof again, "%s", weft_explorer_place(e));
    if (strcmp(place, again) != 0 || !sound)
        fprintf(stderr, "%s\n%s\n", place, again);
    REQUIRE(strcmp(place, again) == 0);
    REQUIRE(sound);
}

static double small(uint8_t byte)
{
    return byte == 0xff ? 1e300 : byte == 0xfe ? -5 : byte * 7.3;
}

/* More than a pointer does: keys by their names, what is in lists, pictures. */
static void act_further(struct weft_explorer *e, const uint8_t *b)
{
    static const char *const keys[] = {"ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "PageUp",
                                       "PageDown",  "Home",       "End",     "Enter",     "Escape",
                                       "Backspace", "Delete",     "Tab",     "F1",        " "};
    enum { KEYS = sizeof keys / sizeof *keys };
    const char letter[2] = {(char)(b[2] & 0x7f), '\0'};
    unsigned panes = weft_explorer_panes(e);
    struct weft_drawlist list = {0};
    uint32_t count, all;
    switch (b[1] % 8) {
    case 0:
    case 1:
        weft_explorer_key(e, b[1] % 8 ? letter : keys[b[2] % KEYS], b[3] & 7);
        break;
    case 2:
        weft_explorer_visible(e, &count, &all);
        if (count) {
            const struct weft_visible v = weft_explorer_visible(e, &count, &all)[b[2] % count];
            weft_explorer_select(e, v.pane, v.promise);
            REQUIRE(weft_explorer_selected(e, NULL) == v.promise);
        }
        break;
    case 3:
        if (panes)
            weft_explorer_show_finding(e, b[2] % panes, b[3] % 16);
        break;
    case 4:
        REQUIRE(weft_explorer_picture(e, &list) == 0);
        try_drawlist(&list);
        weft_drawlist_fini(&list);
        break;
    case 5:
        REQUIRE(!panes || weft_explorer_natural_height(e, 16 + b[2] * 64) > 0);
        break;
    case 6:
        weft_explorer_leave(e);
        REQUIRE(!*weft_explorer_tip(e));
        break;
    case 7:
        if (panes) {
            require_text(weft_explorer_title(e, b[2] % panes));
            weft_explorer_events(e, b[2] % panes);
        }
        weft_explorer_changed(e);
        break;
    }
}

static void act(struct weft_explorer *e, const uint8_t *b)
{
    double x = small(b[1]), y = small(b[2]);
    uint32_t count;
    switch (b[0] % 16) {
    case 0:
        weft_explorer_scroll(e, x, y, 0, ((int)b[3] - 128) / 16.0, (b[0] >> 4) & 7);
        break;
    case 1:
        weft_explorer_scroll(e, x, y, ((int)b[3] - 128) / 16.0, 0, 0);
        break;
    case 2:
        weft_explorer_press(e, x, y, 1 + b[3] % 2, (b[0] >> 4) & 7);
        break;
    case 3:
        weft_explorer_drag(e, x, y);
        break;
    case 4:
        weft_explorer_release(e, x, y);
        break;
    case 5:
    case 6:
        weft_explorer_command(e, (enum weft_command)(b[1] % WEFT_COMMANDS));
        break;
    case 7:
        act_further(e, b);
        break;
    case 8:
        weft_explorer_point(e, x, y);
        break;
    case 9:
        weft_explorer_pinch(e, x, y, b[3], (double)b[1] - b[3], b[3] / 64.0);
        break;
    case 10:
        weft_explorer_resize(e, b[1] * 9, b[2] * 9);
        break;
    case 11:
        weft_explorer_search(e, b[1] % 2 ? "GET" : b[2] % 2 ? "" : ">1ms");
        break;
    case 12:
        weft_explorer_facts(e, &count);
        if (count)
            weft_explorer_follow(e, b[1] % count);
        break;
    case 13:
        if (weft_explorer_panes(e) && b[1] % 4 == 0)
            weft_explorer_remove(e, b[2] % weft_explorer_panes(e));
        else if (weft_explorer_panes(e) < 4)
            add_pane(e, b[2]);
        break;
    case 14:
        if (weft_explorer_counters(e))
            weft_explorer_show_counter(e, b[1] % weft_explorer_counters(e), b[2] % 2);
        break;
    case 15:
        weft_explorer_work(e);
        weft_explorer_text_size(e, b[1] * 2u);
        if (b[2] % 8 == 0)
            REQUIRE(weft_explorer_analyse(e) == 0);
        if (b[3] % 2)
            weft_explorer_frame(e, b[3] * INT64_C(1000000));
        look(e);
        break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct weft_explorer *e;
    char place[PLACE_MAX + 1];
    const uint8_t *line = memchr(data, '\n', size);
    size_t first = line ? (size_t)(line - data) : size;
    size_t n = first < PLACE_MAX ? first : PLACE_MAX;
    if (n)
        memcpy(place, data, n);
    place[n] = '\0';
    REQUIRE(weft_explorer_new(&e) == 0);
    for (unsigned i = 0; i < 1 + n % 3; i++)
        add_pane(e, i * 2); /* the first one is not raw */
    weft_explorer_go(e, place);
    look(e);
    return_here(e);
    unsigned steps = 0;
    for (size_t at = first + 1; at + 4 <= size && steps < STEPS_MAX; at += 4, steps++)
        act(e, data + at);
    while (weft_explorer_work(e))
        ;
    look(e);
    weft_explorer_release(e, 0, 0);
    return_here(e);
    look(e);
    weft_explorer_free(e);
    return 0;
}
