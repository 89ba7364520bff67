/* SPDX-License-Identifier: ISC */
/* A draw list as a file, for the commands that draw. */
#pragma once

#include "cli/common.h"
#include "cli/profile/profiles.h"
#include "paint/paint.h"
#include "view/flame.h"

enum cli_picture_form { CLI_SVG, CLI_PNG, CLI_PDF, CLI_PICTURE_FORMS };

struct cli_picture {
    const char *out; /* "-": standard output */
    enum cli_picture_form format;
    enum weft_theme theme;
    const char *const *source; /* names of the traces that it shows */
    unsigned sources;
};

/* Options of all pictures. */
extern const char *const cli_picture_formats[], *const cli_picture_themes[];
#define CLI_PICTURE_FORMAT(to_)                                                                    \
    CLI_TEXT("format", to_, "FORMAT", "whatever OUT is called:", .words = cli_picture_formats)
#define CLI_PICTURE_FROM(to_, given_)                                                              \
    CLI_TIME("from", to_, "TIME", "begin there (39.5ms, 2s; a bare number is nanoseconds)",        \
             .given = &(given_))
#define CLI_PICTURE_TO(to_, given_) CLI_TIME("to", to_, "TIME", "end there", .given = &(given_))
#define CLI_PICTURE_SIZE(call_)                                                                    \
    CLI_CALL("size", call_, "WxH",                                                                 \
             "in pixels; W alone: as high as need be, of several traces at most 900 each; with "   \
             "--at, --finding, --path or --diff 900, or 400 for each",                             \
             .shown = "1600")
#define CLI_PICTURE_THEME(to_)                                                                     \
    CLI_WORD("theme", to_, "THEME", "colours:", .words = cli_picture_themes,                       \
             .shown = "an SVG follows its reader")
#define CLI_PICTURE_NO_LEGEND(to_) CLI_FLAG("no-legend", to_, "without the legend")

/* From the option --format, which may be NULL, or the ending of out; exits if neither gives a format. */
enum cli_picture_form cli_picture_format(const char *command, const char *out, const char *format);

/* "1600x900", or only a width: height 0; exits if it is invalid, too small or too large. */
void cli_picture_size(const char *command, const char *text, int32_t *width_px, int32_t *height_px);

/* The title of a picture or page of that file: its name without the folder. Borrowed. */
const char *cli_picture_title(const char *path);

/* Writes the picture; on a terminal, says what it is and how large. Returns the exit status. */
int cli_picture_write(const struct cli_picture *p, const struct weft_drawlist *list,
                      const char *what);

/* ---- flame.c: weft render --flame ---- */

struct cli_flame_request {
    struct cli_picture picture;
    struct weft_calltree_options tree;
    struct weft_flame_options flame;
    bool has_from, has_to, has_promise, no_symbols;
    int64_t from, to;
    uint64_t promise;
    const char *other;  /* to be compared with, or NULL */
    const char *search; /* or NULL */
    const char *format;
    unsigned key; /* of keys */
    char **path;
    unsigned paths;
};

extern const struct cli_option cli_flame_options[];
extern struct cli_flame_request cli_flame_request;
#define CLI_FLAME_STATE CLI_STATE(cli_flame_request)
extern const char cli_flame_about[];
bool cli_flame_wanted(int argc, char **argv);
int cli_flame_run(int files, char **file);
