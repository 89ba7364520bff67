/* SPDX-License-Identifier: ISC */
#include "notes/notes.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "output/beside.h"
#include "output/output.h"

#define SUFFIX ".weft-notes"
#define FORMAT "weft-notes"

enum { ITEMS_MAX = 10000 };

/* ---- Lists ---- */

int weft_notes_add(struct weft_notes *notes, const char *at, const char *text)
{
    struct weft_notes_item *item =
        weft_resize(notes->item, (uint64_t)notes->count + 1, sizeof *item);
    if (!item)
        return WEFT_E_NOMEM;
    notes->item = item;
    struct weft_notes_item added = {strdup(at), strdup(text)};
    if (!added.at || !added.text) {
        weft_free_all(added.at, added.text);
        return WEFT_E_NOMEM;
    }
    item[notes->count++] = added;
    return 0;
}

void weft_notes_fini(struct weft_notes *notes)
{
    for (size_t i = 0; i < notes->count; i++)
        weft_free_all(notes->item[i].at, notes->item[i].text);
    weft_free_all(notes->item, notes->since);
    *notes = (struct weft_notes){0};
}

/* ---- Where ---- */

static const struct weft_beside_home home = {"XDG_DATA_HOME", "/.local/share", "weft/notes"};

/* ---- Reading ---- */

static int bad(struct weft_error *err, const char *file, const char *what)
{
    return weft_error_set(err, WEFT_E_FORMAT, WEFT_NO_OFFSET, "%s: %s", file, what);
}

/* Adds what a file has; `of`: the trace that it must name, or NULL. */
static int read_file(struct weft_notes *out, const char *file, const char *of,
                     struct weft_error *err)
{
    char *text;
    size_t size;
    struct stat st;
    json_error_t problem;
    json_t *root = NULL;
    int rc = weft_beside_read(&text, &size, file, WEFT_NOTES_FILE_BYTES, "notes", &st, err);
    if (rc < 0 || !text)
        goto out;
    root = json_loadb(text, size, 0, &problem);
    const char *since = json_string_value(json_object_get(root, "since"));
    const char *named = json_string_value(json_object_get(root, "file"));
    const json_t *list = json_object_get(root, "notes");
    if (json_integer_value(json_object_get(root, FORMAT)) != 1 || !since || !json_is_array(list)) {
        rc = bad(err, file, root ? "does not hold notes" : "is not JSON");
        goto out;
    }
    if (of && (!named || strcmp(named, of) != 0))
        goto out; /* of another trace */
    if (!out->since && !(out->since = strdup(since)))
        rc = weft_no_memory(err);
    for (size_t i = 0; rc == 0 && i < json_array_size(list) && i < ITEMS_MAX; i++) {
        const json_t *item = json_array_get(list, i);
        const char *at = json_string_value(json_object_get(item, "at"));
        const char *note = json_string_value(json_object_get(item, "text"));
        if (at && note && weft_notes_add(out, at, note) < 0)
            rc = weft_no_memory(err);
    }
out:
    json_decref(root);
    free(text);
    return rc;
}

static bool is_newer(const char *a, const char *b)
{
    struct stat x, y;
    if (stat(a, &x) < 0 || stat(b, &y) < 0)
        return false;
    return x.st_mtim.tv_sec > y.st_mtim.tv_sec ||
           (x.st_mtim.tv_sec == y.st_mtim.tv_sec && x.st_mtim.tv_nsec > y.st_mtim.tv_nsec);
}

int weft_notes_load(struct weft_notes *out, const char *path, struct weft_error *err)
{
    char *full = NULL, *near = weft_beside(path, SUFFIX);
    char *far = weft_beside_home(path, SUFFIX, &home, false, &full);
    *out = (struct weft_notes){0};
    int rc = near ? 0 : weft_no_memory(err), other = 0;
    if (rc == 0 && far)
        rc = read_file(out, far, full, err);
    /* What was saved in the data directory later has all that was beside the trace then, but what was deleted. */
    if (near && !(out->since && far && is_newer(far, near)))
        other = read_file(out, near, NULL, err);
    weft_free_all(near, far, full);
    return rc < 0 ? rc : other;
}

/* ---- Writing ---- */

/* NULL: no memory, or a text that is not UTF-8. */
static json_t *to_json(const struct weft_notes *notes, const char *of)
{
    json_t *list = json_array(), *root = json_object();
    for (size_t i = 0; i < notes->count; i++) {
        json_t *item = json_object();
        bool fine = json_object_set_new(item, "at", json_string(notes->item[i].at)) == 0 &&
                    json_object_set_new(item, "text", json_string(notes->item[i].text)) == 0;
        if (json_array_append_new(list, item) < 0 || !fine)
            goto failed;
    }
    if (json_object_set_new(root, FORMAT, json_integer(1)) < 0 ||
        (of && json_object_set_new(root, "file", json_string(of)) < 0) ||
        json_object_set_new(root, "since", json_string(notes->since ? notes->since : "0")) < 0)
        goto failed;
    if (json_object_set_new(root, "notes", list) == 0)
        return root;
    list = NULL;
failed:
    json_decref(list);
    json_decref(root);
    return NULL;
}

char *weft_notes_text(const struct weft_notes *notes)
{
    json_t *root = to_json(notes, NULL);
    char *plain = root ? json_dumps(root, JSON_COMPACT) : NULL, *out = NULL;
    size_t size = 0;
    json_decref(root);
    FILE *file = plain ? open_memstream(&out, &size) : NULL;
    for (const char *c = plain; file && *c; c++) {
        if (*c == '<') /* only texts have it */
            fputs("\\u003c", file);
        else
            fputc(*c, file);
    }
    free(plain);
    if (file && fclose(file) != 0) {
        free(out);
        out = NULL;
    }
    return out;
}

/* Replaces a file that has notes, or makes it; without notes, it is removed. */
static int write_file(const struct weft_notes *notes, const char *file, const char *path,
                      const char *of, struct weft_error *err)
{
    struct weft_notes before = {0};
    struct weft_output out;
    const struct weft_output_options options = {WEFT_OUTPUT_OTHER, &path, 1};
    json_t *root = NULL;
    int rc = read_file(&before, file, NULL, err); /* what is something else stays */
    const bool there = before.since != NULL;
    weft_notes_fini(&before);
    if (rc < 0)
        return rc;
    if (!notes->count)
        return there && unlink(file) < 0 ? bad(err, file, strerror(errno)) : 0;
    if (!(root = to_json(notes, of)))
        return weft_no_memory(err);
    rc = weft_output_open(&out, file, &options, err);
    if (rc == 0) {
        bool fine = json_dumpf(root, out.file, JSON_INDENT(1)) == 0 && fputc('\n', out.file) != EOF;
        rc = weft_output_close(&out, fine, err);
        if (rc == 0 && !fine)
            rc = bad(err, file, "cannot be written");
    }
    json_decref(root);
    return rc;
}

int weft_notes_save(const struct weft_notes *notes, const char *path, char *where, size_t room,
                    struct weft_error *err)
{
    char *full = NULL, *near = weft_beside(path, SUFFIX);
    char *far = weft_beside_home(path, SUFFIX, &home, notes->count > 0, &full);
    int rc = near ? write_file(notes, near, path, NULL, err) : weft_no_memory(err);
    snprintf(where, room, "%s", near ? near : "");
    if (rc == 0 && far) { /* what was kept there is now here */
        struct weft_notes none = {0};
        struct weft_error ignored = {.offset = WEFT_NO_OFFSET};
        write_file(&none, far, path, full, &ignored);
    } else if (rc < 0 && far) {
        struct weft_error second = {.offset = WEFT_NO_OFFSET};
        int there = write_file(notes, far, path, full, &second);
        if (there == 0) {
            rc = 0;
            snprintf(where, room, "%s", far);
        }
    }
    weft_free_all(near, far, full);
    return rc;
}
