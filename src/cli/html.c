/* SPDX-License-Identifier: ISC */
/* weft html: a page that shows traces, the same viewer as weft view, in one file. */
#include <errno.h>
#include <glib.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "cli/common.h"
#include "cli/picture.h"
#include "cli/source.h"
#include "explore/explore.h"
#include "format/utf8.h"
#include "notes/notes.h"
#include "read/snapshot.h"

/* Limits on the traces in a page: in total, because the traces and everything made from them must fit into 32 bits of
 * address space; and on each packed trace, because it is a string for the browser, which has at most 2^29
 * characters. */
#define PAGE_BYTES (UINT64_C(512) << 20)
#define PACKED_BYTES (UINT64_C(380) << 20)

/* The page without a trace, made by web/make-page; and the markers in it for what is added: in the head, and where the
 * traces go. */
extern const unsigned char cli_html_page[];
extern const size_t cli_page_bytes;
#define PAGE_HEAD "<!--@HEAD@-->"
#define PAGE_TRACES "<!--@TRACES@-->"

struct request {
    const char *out, *at, *title;
    uint64_t finding; /* 0: none */
    bool empty, raw, diff, no_notes;
    char **file;
    int files;
};

static struct request request;

static const struct cli_option options[] = {
    CLI_TEXT("output", request.out, "PAGE", "the page; - is standard output", .letter = 'o',
             .required = true, .completes = "html"),
    CLI_FLAG("empty", request.empty, "without a trace: one is dropped onto it, or chosen in it"),
    CLI_TEXT("at", request.at, "PLACE",
             "where to look at first, as \"copy link\" in a viewer gives it"),
    CLI_NUMBER("finding", request.finding, "N", "show finding N of weft explain first", .least = 1,
               .most = WEFT_FINDINGS_MAX),
    CLI_FLAG("diff", request.diff, "two FILEs, a good run and a bad one: show where they diverge"),
    CLI_TEXT("title", request.title, "TEXT", "instead of the names of the files"),
    CLI_FLAG("no-notes", request.no_notes, "without the notes that are kept beside a trace"),
    CLI_FLAG("raw", request.raw, "draw a bind and the like from its creation on"),
    CLI_END,
};

static void check(struct request *r)
{
    if (r->at && *r->at == '#')
        r->at++;
    if (r->empty && r->files)
        cli_misuse("html", "--empty is without a trace, and %s is one too many", r->file[0]);
    if (r->empty && (r->at || r->finding))
        cli_misuse("html", "--empty is without a trace, in which there is no %s",
                   r->at ? "place to go to (--at)" : "finding (--finding)");
    if (!r->empty && !r->files)
        cli_misuse("html", "no FILE is given: a trace, - for standard input, or --empty");
    if (r->diff && r->files != 2)
        cli_misuse("html", "--diff compares two FILEs, a good run and a bad one");
    if (r->files > WEFT_PANES_MAX)
        cli_misuse("html", "a page shows %d traces at most", WEFT_PANES_MAX);
    if (strcmp(r->out, "-") == 0 && isatty(STDOUT_FILENO))
        cli_misuse("html", "will not write a page to a terminal");
}

/* ---- The parts of a page ---- */

/* A text as the value of an attribute, or between tags. */
static void put_text(FILE *out, const char *text)
{
    char clean[3 * 1024];
    size_t size = strlen(text);
    size = weft_text_clean(clean, sizeof clean, text, size < 1024 ? size : 1024);
    for (size_t i = 0; i < size; i++) {
        if (strchr("&<>\"'", clean[i]))
            fprintf(out, "&#%d;", clean[i]);
        else
            fputc(clean[i], out);
    }
}

static void put_meta(FILE *out, const char *name, const char *content)
{
    fprintf(out, "<meta name=\"weft-%s\" content=\"", name);
    put_text(out, content);
    fputs("\">\n", out);
}

/* The place to show first. */
static void put_place(FILE *out, const struct request *r)
{
    fputs("<meta name=\"weft-at\" content=\"", out);
    put_text(out, r->at ? r->at : "");
    if (r->finding)
        fprintf(out, "%sfinding=%" PRIu64, r->at ? "&#38;" : "", r->finding);
    if (r->diff)
        fprintf(out, "%sdiff=1", r->at || r->finding ? "&#38;" : "");
    fputs("\">\n", out);
}

static void put_head(FILE *out, const struct request *r)
{
    fputs("<title>", out);
    for (int i = 0; i < r->files && !r->title; i++) {
        fputs(i ? ", " : "", out);
        put_text(out, cli_picture_title(r->file[i]));
    }
    put_text(out, r->title ? r->title : r->empty ? "weft" : "");
    fputs("</title>\n", out);
    if (r->title)
        put_meta(out, "title", r->title);
    if (r->at || r->finding || r->diff)
        put_place(out, r);
    if (r->raw)
        put_meta(out, "raw", "");
}

/* ---- Traces: gzip in base64 ---- */

enum { BLOCK = 96 << 10 };

struct packer {
    FILE *out;
    z_stream z;
    int state, kept; /* of base64, between two blocks */
    unsigned char packed[BLOCK], in[BLOCK];
    char text[BLOCK / 3 * 4 + 8];
};

/* Packs what is in p->in. */
static void pack(struct packer *p, size_t size, bool last)
{
    p->z.next_in = p->in;
    p->z.avail_in = (uInt)size;
    do {
        p->z.next_out = p->packed;
        p->z.avail_out = BLOCK;
        deflate(&p->z, last ? Z_FINISH : Z_NO_FLUSH);
        const size_t n = g_base64_encode_step(p->packed, BLOCK - p->z.avail_out, FALSE, p->text,
                                              &p->state, &p->kept);
        fwrite(p->text, 1, n, p->out);
    } while (p->z.avail_out == 0);
    if (last)
        fwrite(p->text, 1, g_base64_encode_close(FALSE, p->text, &p->state, &p->kept), p->out);
}

static int pack_all(struct packer *p, const struct weft_input *in, const char *path,
                    struct weft_error *err)
{
    struct cli_progress progress = cli_progress_begin(path);
    uint64_t done = 0;
    ptrdiff_t n;
    while ((n = weft_input_read(in, p->in, BLOCK, done, err)) > 0) {
        pack(p, (size_t)n, false);
        done += (uint64_t)n;
        cli_progress_show(&progress, (double)done / (double)in->size);
    }
    if (n == 0)
        pack(p, 0, true);
    cli_progress_end(&progress);
    if (n == 0 && ferror(p->out)) /* the caller that closes it prints why */
        errno = 0;
    return (int)n;
}

static int too_large(struct weft_error *err)
{
    return weft_error_set(
        err, WEFT_E_LIMIT, WEFT_NO_OFFSET,
        "is too large for a page, which can hold traces of 512 MiB in all, and of 380 MiB "
        "when they are packed; weft view and weft render show it");
}

static int put_block(FILE *out, const struct weft_input *in, const char *path,
                     struct weft_error *err)
{
    struct packer *p = malloc(sizeof *p);
    if (p)
        *p = (struct packer){.out = out};
    if (!p || deflateInit2(&p->z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 9,
                           Z_DEFAULT_STRATEGY) != Z_OK) {
        free(p);
        return weft_no_memory(err);
    }
    fputs("<script type=\"application/gzip\" data-trace=\"", out);
    put_text(out, cli_picture_title(path));
    fprintf(out, "\" data-bytes=\"%" PRIu64 "\">", in->size);
    int rc = pack_all(p, in, path, err);
    if (rc == 0 && p->z.total_out > PACKED_BYTES)
        rc = too_large(err);
    fputs("</script>\n", out);
    deflateEnd(&p->z);
    free(p);
    return rc;
}

/* ---- The command ---- */

/* The bytes of a file that is known to be a trace. For weft's own format: without unused space, and from one moment in
 * time. */
static int open_trace(struct weft_input *in, const char *path, struct weft_error *err)
{
    struct weft_reader *reader = NULL;
    struct weft_snapshot *snapshot = NULL;
    struct weft_input copy = {.fd = -1};
    char name[64];
    path = cli_trace_path(path, err);
    if (!path)
        return err->code;
    int rc = weft_input_open(in, path, err);
    if (rc < 0)
        return rc;
    snprintf(name, sizeof name, "/proc/self/fd/%d", in->fd); /* a pipe can be read only once */
    rc = weft_reader_open(&reader, name, err);
    weft_reader_close(reader);
    if (rc == 0)
        rc = weft_snapshot_begin(&snapshot, in, err);
    if (rc > 0)
        rc = weft_snapshot_to_room(snapshot, &copy, err);
    weft_snapshot_free(snapshot);
    if (rc < 0 || copy.fd >= 0)
        weft_input_close(in);
    if (rc == 0 && copy.fd >= 0)
        *in = copy;
    return rc;
}

/* The notes that are kept for a trace, in a block of their own. Says what is wrong with them. */
static bool put_notes(FILE *out, const struct request *r, int i)
{
    struct weft_notes notes = {0};
    struct weft_error err = {.offset = WEFT_NO_OFFSET};
    bool sound =
        r->no_notes || !strcmp(r->file[i], "-") || weft_notes_load(&notes, r->file[i], &err) == 0;
    char *text = sound && notes.count ? weft_notes_text(&notes) : NULL;
    if (text)
        fprintf(out, "<script type=\"application/json\" data-notes=\"%d\">%s</script>\n", i, text);
    if (!sound)
        cli_complain(r->file[i], &err);
    else if (notes.count && !text)
        sound = cli_say(r->file[i], "%s", weft_error_name(WEFT_E_NOMEM));
    free(text);
    weft_notes_fini(&notes);
    return sound;
}

static bool put_traces(FILE *out, const struct request *r)
{
    uint64_t bytes = 0;
    for (int i = 0; i < r->files; i++) {
        struct weft_input in;
        struct weft_error err = {.offset = WEFT_NO_OFFSET};
        int rc = open_trace(&in, r->file[i], &err);
        if (rc == 0) {
            bytes += in.size < PAGE_BYTES ? in.size : PAGE_BYTES + 1;
            rc = bytes > PAGE_BYTES ? too_large(&err) : put_block(out, &in, r->file[i], &err);
            weft_input_close(&in);
        }
        if (rc < 0)
            return cli_complain(r->file[i], &err);
        if (!put_notes(out, r, i))
            return false;
    }
    return true;
}

static int run(int files, char **file)
{
    struct request *r = &request;
    struct weft_output out;
    r->file = file;
    r->files = files;
    check(r);
    const char *page = (const char *)cli_html_page, *end = page + cli_page_bytes;
    const char *head = memmem(page, cli_page_bytes, PAGE_HEAD, strlen(PAGE_HEAD));
    const char *traces = memmem(page, cli_page_bytes, PAGE_TRACES, strlen(PAGE_TRACES));
    if (!cli_output_open(&out, r->out, WEFT_OUTPUT_OTHER, (const char *const *)r->file,
                         (unsigned)r->files))
        return CLI_FAILED;
    fwrite(page, 1, (size_t)(head - page), out.file);
    put_head(out.file, r);
    head += strlen(PAGE_HEAD);
    fwrite(head, 1, (size_t)(traces - head), out.file);
    bool good = put_traces(out.file, r);
    traces += strlen(PAGE_TRACES);
    fwrite(traces, 1, (size_t)(end - traces), out.file);
    bool kept = cli_output_close(&out, r->out, good);
    return good && kept ? CLI_DONE : CLI_FAILED;
}

const struct cli_command cli_html = {
    .name = "html",
    .summary = "make a page that shows traces",
    .usage = "-o PAGE [OPTION…] FILE…\n"
             "-o PAGE --empty",
    .about = "Makes a page that shows traces in a browser: one file, which opens from disk, can be "
             "sent, and fetches nothing. Several traces are shown one above the other.\n",
    .options = options,
    .examples = "weft html -o bad.html --at 'search=ARP%20response' bad.weft",
    .completes = CLI_TRACES,
    .raw = true,
    .run = run,
    .state = CLI_STATE(request),
};
