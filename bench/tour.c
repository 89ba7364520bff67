/* SPDX-License-Identifier: ISC */
/* How long pictures of a trace take while somebody looks around in it:
 *
 *     tour FILE [WIDTH HEIGHT]
 *
 * opens the trace and flies through it, long sleep folded: ten seconds of 60 frames each. There are 20 zoom levels, from everything
 * down to a microsecond, each nearer than the one before by the same factor, and equally many frames at each, so
 * that no level counts more than another: at each of five places the flight goes down through all levels and pans
 * for six frames at each. At two of the places rows are spread more and more on the way down, at one a promise is
 * selected. The same flight every time.
 * Each frame is drawn (weft_view_draw) and painted onto an image surface (weft_paint_cairo), after some frames
 * that do not count, in which the painter loads its fonts. Prints name=value: how long opening took (seconds), the
 * CPU time of drawing, of painting and of both (milliseconds: median, 95th and 99th of a hundred, greatest, and
 * which frame that was), the same for painting a frame in which there is nothing (the limit), the greatest counts of
 * a draw list, and the most memory that the process has had. In the environment, TOUR_FRAMES: also a line for each
 * frame, with a sum over its pixels; TOUR_EVERY=N: only every N-th frame, for counting instructions. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "paint/cairo.h"
#include "view/view.h"

enum { FRAMES = 600, PLACES = 5, LEVELS = 20, PAN = FRAMES / PLACES / LEVELS, WARM = 10 };

#define DEEPEST_NS 1000

static double seconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* What a level shows. */
static double length_at(double all, int level)
{
    double low = 0, high = 1; /* the factor from one level to the next */
    for (int i = 0; i < 60; i++) {
        double factor = (low + high) / 2, length = all;
        for (int k = 1; k < LEVELS; k++)
            length *= factor;
        *(length < DEEPEST_NS ? &low : &high) = factor;
    }
    for (int k = 0; k < level; k++)
        all *= high;
    return all;
}

/* Where the flight is at a frame. */
static struct weft_viewport stop(const struct weft_scene *s, int frame, int32_t width,
                                 int32_t height)
{
    struct weft_viewport vp = {.width_px = width,
                               .height_px = height,
                               .selected = WEFT_NONE,
                               .hovered = WEFT_NONE,
                               .no_legend = true};
    int place = frame / (LEVELS * PAN), level = frame / PAN % LEVELS, along = frame % PAN;
    int64_t end = weft_folds_shown(&s->folds, s->m->end_ns);
    end = end > DEEPEST_NS ? end : DEEPEST_NS;
    int64_t length = (int64_t)length_at((double)end, level);
    int64_t middle = end / PLACES * place + end / (2 * PLACES);
    length = length > DEEPEST_NS ? length : DEEPEST_NS;
    if (level == 0) /* all of it, whatever the place */
        middle = end / 2;
    middle += length / 30 * along;
    vp.from_ns = weft_folds_time(&s->folds, middle - length / 2);
    vp.to_ns = weft_folds_time(&s->folds, middle - length / 2 + length);
    vp.folds = &s->folds;
    vp.focus_row = s->l->rows ? (uint32_t)((uint64_t)s->l->rows * (unsigned)place / PLACES) : 0;
    vp.focus_px = height / 2;
    vp.spread = (uint16_t)(place % 2 ? WEFT_SPREAD_MAX * level / (LEVELS - 1) : 0);
    if (place == 4 && s->m->promises > 1)
        vp.selected = s->m->promises / 2;
    return vp;
}

static int by_size(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

enum part { DRAW, PAINT, FRAME, EMPTY, PARTS };

struct flight {
    double ms[PARTS][FRAMES];
    int frames;
    uint32_t draws, texts, shades, arrows, points;
};

static void count(struct flight *f, const struct weft_drawlist *list)
{
    uint32_t texts = 0, arrows = 0;
    for (uint32_t i = 0; i < list->draws; i++) {
        texts += list->draw[i].op == WEFT_DRAW_TEXT;
        arrows += list->draw[i].op == WEFT_DRAW_ARROW;
    }
    f->draws = list->draws > f->draws ? list->draws : f->draws;
    f->texts = texts > f->texts ? texts : f->texts;
    f->arrows = arrows > f->arrows ? arrows : f->arrows;
    f->shades = list->shade_count > f->shades ? list->shade_count : f->shades;
    f->points = list->point_count > f->points ? list->point_count : f->points;
}

/* Differs if any pixel does. */
static uint64_t sum_of(cairo_surface_t *surface)
{
    uint64_t sum = 0;
    cairo_surface_flush(surface);
    for (int y = 0; y < cairo_image_surface_get_height(surface); y++) {
        const unsigned char *row = cairo_image_surface_get_data(surface) +
                                   (ptrdiff_t)y * cairo_image_surface_get_stride(surface);
        for (int x = 0; x < cairo_image_surface_get_width(surface); x++)
            for (int i = 0; i < 3; i++) /* the fourth byte means nothing */
                sum = (sum ^ row[4 * x + i]) * UINT64_C(0x100000001b3);
    }
    return sum;
}

/* Painting the background alone. */
static int show_nothing(struct flight *f, int frame, struct weft_drawlist *list, int32_t width,
                        int32_t height, struct weft_painter *painter, cairo_t *cr)
{
    weft_drawlist_clear(list, width, height);
    double begun = seconds(CLOCK_THREAD_CPUTIME_ID);
    int rc = weft_paint_cairo(painter, cr, list, WEFT_LIGHT);
    f->ms[EMPTY][frame] = (seconds(CLOCK_THREAD_CPUTIME_ID) - begun) * 1e3;
    return rc;
}

/* A frame of the flight, onto cr. */
static int show(struct flight *f, int frame, const struct weft_scene *s,
                const struct weft_viewport *vp, struct weft_drawlist *list, struct weft_geometry *g,
                struct weft_painter *painter, cairo_t *cr)
{
    double begun = seconds(CLOCK_THREAD_CPUTIME_ID);
    int rc = weft_view_draw(list, g, s, vp);
    double drawn = seconds(CLOCK_THREAD_CPUTIME_ID);
    if (rc == 0)
        rc = weft_paint_cairo(painter, cr, list, WEFT_LIGHT);
    double painted = seconds(CLOCK_THREAD_CPUTIME_ID);
    f->ms[DRAW][frame] = (drawn - begun) * 1e3;
    f->ms[PAINT][frame] = (painted - drawn) * 1e3;
    f->ms[FRAME][frame] = (painted - begun) * 1e3;
    return rc;
}

static int fly(struct flight *f, const struct weft_scene *s, int32_t width, int32_t height,
               bool each)
{
    struct weft_drawlist list = {0};
    struct weft_geometry g = {0};
    struct weft_painter *painter = weft_painter_new();
    cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, width, height);
    cairo_t *cr = cairo_create(surface);
    const char *given = getenv("TOUR_EVERY");
    int rc = painter ? 0 : WEFT_E_NOMEM, every = given && atoi(given) > 0 ? atoi(given) : 1;
    for (int i = -WARM; i < FRAMES && rc == 0; i += i < 0 ? 1 : every) {
        int frame = i < 0 ? (i + WARM) * FRAMES / WARM : i;
        struct weft_viewport vp = stop(s, frame, width, height);
        rc = show(f, i < 0 ? 0 : f->frames, s, &vp, &list, &g, painter, cr);
        if (i < 0)
            continue;
        count(f, &list);
        if (each)
            printf("frame %d: %" PRId64 " +%" PRId64 " spread %d: %.3f + %.3f ms, %u draws, "
                   "%u shades, %u rows, sum %016" PRIx64 "\n",
                   i, vp.from_ns, vp.to_ns - vp.from_ns, vp.spread, f->ms[DRAW][f->frames],
                   f->ms[PAINT][f->frames], list.draws, list.shade_count, g.shown, sum_of(surface));
        f->frames++;
    }
    for (int i = 0; i < f->frames && rc == 0; i++)
        rc = show_nothing(f, i, &list, width, height, painter, cr);
    cairo_destroy(cr);
    cairo_surface_destroy(surface);
    weft_painter_free(painter);
    weft_drawlist_fini(&list);
    weft_geometry_fini(&g);
    return rc;
}

/* Sorts them. */
static void print_times(const char *name, double *ms, int frames)
{
    int slowest = 0;
    for (int i = 1; i < frames; i++)
        slowest = ms[i] > ms[slowest] ? i : slowest;
    qsort(ms, (size_t)frames, sizeof *ms, by_size);
    printf("%s_median_ms=%.3f\n%s_95_ms=%.3f\n%s_99_ms=%.3f\n%s_max_ms=%.3f\n%s_slowest=%d\n", name,
           ms[frames / 2], name, ms[frames * 95 / 100], name, ms[frames * 99 / 100], name,
           ms[frames - 1], name, slowest);
}

static long peak_bytes(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss * 1024; /* Linux tells it in KiB */
}

int main(int argc, char **argv)
{
    static struct flight f;
    struct weft_reader *reader = NULL;
    struct weft_model *m = NULL;
    struct weft_scene *s = NULL;
    struct weft_layout *l = NULL;
    struct weft_error err = {.text = "out of memory"};
    if (argc != 2 && argc != 4) {
        fputs("usage: tour FILE [WIDTH HEIGHT]\n", stderr);
        return 2;
    }
    int32_t width = argc == 4 ? atoi(argv[2]) : 1600, height = argc == 4 ? atoi(argv[3]) : 900;
    double begun = seconds(CLOCK_MONOTONIC);
    int rc = weft_reader_open(&reader, argv[1], &err);
    if (rc == 0)
        rc = weft_model_build(&m, reader, NULL, NULL, &err);
    weft_reader_close(reader);
    double built = seconds(CLOCK_MONOTONIC);
    long model_bytes = peak_bytes();
    if (rc == 0)
        rc = weft_scene_new(&s, m, false, NULL, NULL);
    double indexed = seconds(CLOCK_MONOTONIC);
    long bytes = peak_bytes();
    if (rc == 0)
        rc = weft_layout_new(&l, m, false); /* once more, to know how much of it that was */
    double placed = seconds(CLOCK_MONOTONIC) - indexed;
    weft_layout_free(l);
    if (rc == 0)
        rc = fly(&f, s, width, height, getenv("TOUR_FRAMES"));
    if (rc < 0) {
        fprintf(stderr, "tour: %s: %s\n", argv[1], err.text);
    } else {
        printf("events=%" PRIu64 "\npromises=%" PRIu32 "\nrows=%" PRIu32 "\nfolds=%" PRIu32
               "\nmodel_s=%.4f\n"
               "scene_s=%.4f\nlayout_s=%.4f\nmodel_rss_bytes=%ld\nrss_bytes=%ld\n",
               m->events_total, m->promises - 1, s->l->rows, s->folds.count, built - begun,
               indexed - built, placed, model_bytes, bytes);
        print_times("draw", f.ms[DRAW], f.frames);
        print_times("paint", f.ms[PAINT], f.frames);
        print_times("frame", f.ms[FRAME], f.frames);
        print_times("empty", f.ms[EMPTY], f.frames);
        printf("draws=%u\ntexts=%u\narrows=%u\nshades=%u\npoints=%u\n", f.draws, f.texts, f.arrows,
               f.shades, f.points);
    }
    weft_scene_free(s);
    weft_model_free(m);
    return rc < 0;
}
