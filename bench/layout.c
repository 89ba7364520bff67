/* SPDX-License-Identifier: ISC */
/* How long model and layout take, without a painter:
 *
 *     layout-bench FILE
 *
 * prints name=value for: events, promises, rows, model_s, layout_s, draw_s (seconds), model_rss_bytes and
 * rss_bytes (the most memory that the process has had with the model, and with the layout, its own start
 * included). */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include "view/view.h"

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static long peak_bytes(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss * 1024; /* Linux tells it in KiB */
}

int main(int argc, char **argv)
{
    struct weft_reader *reader = NULL;
    struct weft_model *m = NULL;
    struct weft_scene *s = NULL;
    struct weft_error err = {.text = "out of memory"};
    if (argc != 2) {
        fputs("usage: layout-bench FILE\n", stderr);
        return 2;
    }
    double begun = now_s();
    int rc = weft_reader_open(&reader, argv[1], &err);
    if (rc == 0)
        rc = weft_model_build(&m, reader, NULL, NULL, &err);
    double built = now_s();
    long model_bytes = peak_bytes();
    if (rc == 0)
        rc = weft_scene_new(&s, m, false, NULL, NULL);
    double placed = now_s();
    long bytes = peak_bytes();
    struct weft_drawlist list = {0};
    if (rc == 0)
        rc = weft_view_draw(&list, NULL, s,
                            &(struct weft_viewport){.selected = WEFT_NONE,
                                                    .hovered = WEFT_NONE,
                                                    .focus_row = WEFT_NONE});
    double drawn = now_s();
    if (rc < 0)
        fprintf(stderr, "layout-bench: %s: %s\n", argv[1], err.text);
    else
        printf("events=%" PRIu64 "\npromises=%" PRIu32 "\nrows=%" PRIu32 "\nmodel_s=%.4f\n"
               "layout_s=%.4f\ndraw_s=%.4f\nmodel_rss_bytes=%ld\nrss_bytes=%ld\n",
               m->events_total, m->promises - 1, s->l->rows, built - begun, placed - built,
               drawn - placed, model_bytes, bytes);
    weft_drawlist_fini(&list);
    weft_scene_free(s);
    weft_model_free(m);
    weft_reader_close(reader);
    return rc < 0;
}
