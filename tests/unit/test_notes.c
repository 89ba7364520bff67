/* SPDX-License-Identifier: ISC */
/* Where notes are kept: beside a trace, or in the user's data directory. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "notes/notes.h"
#include "test.h"

static char folder[] = "/tmp/weft-notes-XXXXXX";
static char trace[200], beside[220], where[500];

static int set_up(void **state)
{
    (void)state;
    if (!mkdtemp(folder))
        return -1;
    snprintf(trace, sizeof trace, "%s/a.weft", folder);
    snprintf(beside, sizeof beside, "%s.weft-notes", trace);
    FILE *f = fopen(trace, "w");
    setenv("XDG_DATA_HOME", folder, 1);
    return f ? fclose(f) : -1;
}

static void write_text(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

/* "since: at~text;…" of what is kept; an error as its text. */
static const char *kept(void)
{
    static char text[5000];
    struct weft_notes notes;
    struct weft_error err = {.offset = WEFT_NO_OFFSET};
    int rc = weft_notes_load(&notes, trace, &err);
    int n = snprintf(text, sizeof text, "%s:", notes.since ? notes.since : "none");
    for (size_t i = 0; i < notes.count; i++)
        n += snprintf(text + n, sizeof text - (size_t)n, "%s%s~%s", i ? ";" : " ", notes.item[i].at,
                      notes.item[i].text);
    if (rc < 0)
        snprintf(text, sizeof text, "%s", err.text);
    weft_notes_fini(&notes);
    return text;
}

static int keep(const char *at, const char *text)
{
    struct weft_notes notes = {.since = strdup("12")};
    struct weft_error err = {.offset = WEFT_NO_OFFSET};
    if (at)
        assert_int_equal(weft_notes_add(&notes, at, text), 0);
    int rc = weft_notes_save(&notes, trace, where, sizeof where, &err);
    weft_notes_fini(&notes);
    return rc;
}

TEST(they_are_kept_beside_the_trace)
{
    assert_string_equal(kept(), "none:");
    assert_int_equal(keep("413", "a \"note\" <b> \xe2\x98\x85"), 0);
    assert_string_equal(where, beside);
    assert_string_equal(kept(), "12: 413~a \"note\" <b> \xe2\x98\x85");
    assert_int_equal(keep("t5", ""), 0); /* replaces it */
    assert_string_equal(kept(), "12: t5~");
    assert_int_equal(keep(NULL, NULL), 0);
    assert_int_equal(access(beside, F_OK), -1);
    assert_string_equal(kept(), "none:");
}

TEST(what_is_something_else_is_left_alone)
{
    static const char *const wrong[] = {
        "a diary",
        "{}",
        "[]",
        "{\"weft-notes\": 2, \"since\": \"0\", \"notes\": []}",
        "{\"weft-notes\": 1, \"since\": 0, \"notes\": []}",
        "{\"weft-notes\": 1, \"since\": \"0\", \"notes\": {}}",
        "{\"weft-notes\": 1, \"since\": \"0\", \"notes\": []} and more",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        write_text(beside, wrong[i]);
        if (!strstr(kept(), beside))
            fail_msg("'%s' is read: %s", wrong[i], kept());
        assert_int_equal(keep("413", "elsewhere"), 0);
        assert_non_null(strstr(where, "/weft/notes/"));
        char text[200] = "";
        FILE *f = fopen(beside, "r");
        assert_non_null(f);
        assert_non_null(fgets(text, sizeof text, f));
        fclose(f);
        assert_string_equal(text, wrong[i]);
        unlink(beside);
        assert_string_equal(kept(), "12: 413~elsewhere");
    }
    /* Once there is room beside it, that is the only place. */
    assert_int_equal(keep("414", "here"), 0);
    assert_string_equal(where, beside);
    assert_string_equal(kept(), "12: 414~here");
    assert_int_equal(keep(NULL, NULL), 0);
    assert_string_equal(kept(), "none:");
}

TEST(hostile_files_are_bounded)
{
    write_text(
        beside,
        "{\"weft-notes\": 1, \"since\": \"0\", \"notes\": [1, {}, {\"at\": 5, \"text\": \"x\"}, "
        "{\"at\": \"7\", \"text\": \"fine\"}, {\"at\": \"8\"}], \"more\": [[[]]]}");
    assert_string_equal(kept(), "0: 7~fine");
    FILE *f = fopen(beside, "w");
    assert_non_null(f);
    for (int i = 0; i < 100000; i++)
        fputc('[', f);
    assert_int_equal(fclose(f), 0);
    assert_non_null(strstr(kept(), "is not JSON"));
    assert_int_equal(truncate(beside, WEFT_NOTES_FILE_BYTES + 1), 0);
    assert_non_null(strstr(kept(), "is too large for notes"));
    unlink(beside);
    assert_int_equal(mkfifo(beside, 0600), 0); /* nobody writes into it */
    assert_non_null(strstr(kept(), "is not a file"));
    unlink(beside);
}

TEST(a_page_gets_them_in_one_piece)
{
    struct weft_notes notes = {.since = strdup("0")};
    assert_int_equal(weft_notes_add(&notes, "7", "</script>"), 0);
    char *text = weft_notes_text(&notes);
    assert_string_equal(text,
                        "{\"weft-notes\":1,\"since\":\"0\",\"notes\":[{\"at\":\"7\",\"text\":\""
                        "\\u003c/script>\"}]}");
    free(text);
    weft_notes_fini(&notes);
}

static int tear_down(void **state)
{
    (void)state;
    char command[300];
    snprintf(command, sizeof command, "rm -r '%s'", folder);
    return system(command);
}

RUN_TESTS(set_up, tear_down)
