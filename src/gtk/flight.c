/* SPDX-License-Identifier: ISC */
/* A scripted flight through a trace, for measuring what a frame costs. */
#include <stdio.h>
#include <time.h>

#include "base/order.h"
#include "gtk/window.h"

#define FRAMES 600
#define EMPTY 100 /* frames in which there is nothing, after the others */
#define WARM_UP 10
#define ROUND 150
#define NOTCHES 2.7 /* notches of the wheel to the next zoom level; there are 25 levels */
#define LOOK_EVERY_MS 5

struct flight {
    WeftWindow *w;
    int width, height;
    int frame; /* below 0: before it begins */
    double last_ms, cost_ms[FRAMES + EMPTY];
    int64_t called_us, opened_us, began_us, ended_us;
    int64_t looked_us, stall_us; /* the longest time the window did not respond while reading */
    double worked_ms, busy_ms;   /* … and the most that it did itself in such a time */
};

static double cpu_ms(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return weft_order(x, y);
}

/* Sorts them. */
static void print_costs(const char *prefix, double *ms, int n)
{
    qsort(ms, (size_t)n, sizeof *ms, by_size);
    printf("%sp50_ms %.2f\n%sp95_ms %.2f\n%sp99_ms %.2f\n%smax_ms %.2f\n", prefix, ms[n / 2],
           prefix, ms[n * 95 / 100], prefix, ms[n * 99 / 100], prefix, ms[n - 1]);
}

static void report(struct flight *t)
{
    double sum = 0;
    for (int i = 0; i < FRAMES; i++)
        sum += t->cost_ms[i];
    const int64_t outlined_us = weft_outline_area_shown(t->w->outline);
    if (outlined_us)
        printf("outlined_ms %.0f\n", (double)(outlined_us - t->called_us) / 1e3);
    printf("opened_ms %.0f\nstall_ms %.0f\nstall_cpu_ms %.0f\n",
           (double)(t->opened_us - t->called_us) / 1e3, (double)t->stall_us / 1e3, t->busy_ms);
    printf("frames %d\nseconds %.2f\nmean_ms %.2f\n", FRAMES,
           (double)(t->ended_us - t->began_us) / 1e6, sum / FRAMES);
    print_costs("", t->cost_ms, FRAMES);
    print_costs("empty_", t->cost_ms + FRAMES, EMPTY);
    fflush(stdout);
}

static void drag(const struct flight *t, double dx, double dy)
{
    struct weft_explorer *e = t->w->e;
    double x = t->width / 2.0, y = t->height / 2.0;
    weft_explorer_press(e, x, y, 1, 0);
    weft_explorer_drag(e, x + dx, y + dy);
    weft_explorer_release(e, x + dx, y + dy);
}

/* In four rounds at different places, from everything to some microseconds and back, with as many frames at each zoom
 * level: one zooms there, the others pan in both directions and squeeze or spread rows. The whole picture changes in
 * each frame. */
static void step(const struct flight *t, int frame)
{
    struct weft_explorer *e = t->w->e;
    static const double places[][2] = {{0.3, 0.3}, {0.7, 0.6}, {0.5, 0.8}, {0.15, 0.45}};
    const double *place = places[frame / ROUND];
    double x = place[0] * t->width, y = place[1] * t->height;
    int at = frame % (ROUND / 2), way = frame % ROUND < ROUND / 2 ? -1 : 1;
    if (frame % ROUND == 0)
        weft_explorer_command(e, WEFT_COMMAND_FIT);
    if (at % 3 == 0)
        weft_explorer_scroll(e, x, y, 0, way * NOTCHES, 0);
    else if (at % 3 == 1)
        drag(t, way * 40, at % 2 ? 6 : -9);
    else if (at % 6 == 2)
        drag(t, way * -40, way * 30);
    else /* and back six frames later */
        weft_explorer_scroll(e, x, y, 0, at % 12 == 5 ? 1 : -1, WEFT_CTRL);
}

static gboolean on_look(gpointer data)
{
    struct flight *t = data;
    int64_t now = g_get_monotonic_time();
    double worked = cpu_ms(CLOCK_THREAD_CPUTIME_ID);
    t->stall_us = MAX(t->stall_us, now - t->looked_us);
    t->busy_ms = MAX(t->busy_ms, worked - t->worked_ms);
    t->looked_us = now;
    t->worked_ms = worked;
    return t->opened_us ? G_SOURCE_REMOVE : G_SOURCE_CONTINUE;
}

static gboolean on_tick(GtkWidget *widget, GdkFrameClock *clock, gpointer data)
{
    struct flight *t = data;
    (void)widget;
    (void)clock;
    if (!t->w->traces->len || t->w->load)
        return G_SOURCE_CONTINUE;
    double now = cpu_ms(CLOCK_PROCESS_CPUTIME_ID);
    if (t->frame > 0) /* the cost of the previous step, until it was shown */
        t->cost_ms[t->frame - 1] = now - t->last_ms;
    t->last_ms = now;
    if (t->frame == 1 - WARM_UP) /* the first picture has been shown */
        t->opened_us = g_get_monotonic_time();
    if (t->frame == 0)
        t->began_us = g_get_monotonic_time();
    if (t->frame == FRAMES)
        t->ended_us = g_get_monotonic_time();
    if (t->frame == FRAMES + EMPTY) {
        report(t);
        gtk_window_close(GTK_WINDOW(t->w));
        g_free(t);
        return G_SOURCE_REMOVE;
    }
    if (t->frame >= FRAMES)
        weft_picture_empty(t->w->picture);
    else if (t->frame >= 0)
        step(t, t->frame);
    t->frame++;
    weft_window_touched(t->w);
    gtk_widget_queue_draw(GTK_WIDGET(t->w->picture));
    return G_SOURCE_CONTINUE;
}

void weft_flight_begin(WeftWindow *w, int width, int height)
{
    struct flight *t = g_new0(struct flight, 1);
    t->w = w;
    t->width = width;
    t->height = height;
    t->frame = -WARM_UP;
    t->called_us = t->looked_us = g_get_monotonic_time();
    g_timeout_add_full(G_PRIORITY_HIGH, LOOK_EVERY_MS, on_look, t, NULL);
    t->worked_ms = cpu_ms(CLOCK_THREAD_CPUTIME_ID);
    w->forgets = w->measures = true;
    gtk_widget_set_size_request(GTK_WIDGET(w->picture), width, height);
    g_action_group_change_action_state(G_ACTION_GROUP(w), "panel", g_variant_new_boolean(FALSE));
    gtk_widget_add_tick_callback(GTK_WIDGET(w), on_tick, t, NULL);
}
