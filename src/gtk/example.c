/* SPDX-License-Identifier: ISC */
/* The tour: the example trace, which is a part of this program, and the card that says what its steps show. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "explore/tour.h"
#include "gtk/window.h"

#define EXAMPLE "/io/github/weft/View/example.weft"

/* The path of a copy in memory, for those who open paths; NULL: there is no memory. */
static const char *example_path(void)
{
    static char path[64];
    if (*path)
        return path;
    g_autoptr(GBytes) bytes = g_resources_lookup_data(EXAMPLE, G_RESOURCE_LOOKUP_FLAGS_NONE, NULL);
    int fd = bytes ? memfd_create("example.weft", MFD_CLOEXEC) : -1;
    gsize size = bytes ? g_bytes_get_size(bytes) : 0, done = 0;
    const char *data = bytes ? g_bytes_get_data(bytes, NULL) : NULL;
    while (fd >= 0 && done < size) {
        ssize_t n = write(fd, data + done, size - done);
        if (n < 0 && errno != EINTR)
            break;
        done += n > 0 ? (gsize)n : 0;
    }
    if (fd >= 0 && done == size)
        snprintf(path, sizeof path, WEFT_MEMORY_PATH "%d", fd);
    else if (fd >= 0)
        close(fd);
    return *path ? path : NULL;
}

bool weft_window_is_example(WeftWindow *w)
{
    const char *path = w->traces->len == 1 ? example_path() : NULL;
    const struct weft_trace *t = path ? w->traces->pdata[0] : NULL;
    return t && strcmp(t->path, path) == 0;
}

void weft_window_take_tour(WeftWindow *w, const char *place)
{
    const char *path = example_path();
    if (weft_explorer_is_example(w->e, 0)) {
        weft_explorer_tour_go(w->e, 1);
        weft_window_touched(w);
        return;
    }
    if (!path) {
        weft_window_toast(w, "There is no memory for the example");
        return;
    }
    if (g_strcmp0(w->loading, path) == 0) /* it is coming */
        return;
    if (w->traces->len || w->load) {
        w = weft_window_new(gtk_window_get_application(GTK_WINDOW(w)));
        gtk_window_present(GTK_WINDOW(w));
    }
    weft_window_read(w, (const char *[]){path, NULL}, place ? place : "tour=1");
}

static GtkWidget *button(const char *text, const char *action)
{
    GtkWidget *made = gtk_button_new_with_mnemonic(text);
    gtk_actionable_set_action_name(GTK_ACTIONABLE(made), action);
    gtk_widget_set_focus_on_click(made, FALSE); /* keys stay the picture's */
    return made;
}

GtkWidget *weft_window_card(WeftWindow *w)
{
    w->card_title = g_object_new(GTK_TYPE_LABEL, "xalign", 0.0, "wrap", TRUE, NULL);
    gtk_widget_add_css_class(w->card_title, "heading");
    /* A screen reader reads a status out when it changes. */
    w->card_text = g_object_new(GTK_TYPE_LABEL, "accessible-role", GTK_ACCESSIBLE_ROLE_STATUS,
                                "xalign", 0.0, "wrap", TRUE, "selectable", FALSE, NULL);
    GtkWidget *texts = gtk_box_new(GTK_ORIENTATION_VERTICAL, 3);
    gtk_widget_set_hexpand(texts, TRUE);
    gtk_box_append(GTK_BOX(texts), w->card_title);
    gtk_box_append(GTK_BOX(texts), w->card_text);
    w->card_back = weft_window_name(button("_Back", "win.tour-previous"), "Back",
                                    "The previous step (Page Up)");
    w->card_next =
        weft_window_name(button("_Next", "win.tour-next"), "Next", "The next step (Page Down)");
    gtk_widget_add_css_class(w->card_next, "suggested-action");
    w->card_leave = weft_window_name(button("_Leave", "win.tour-leave"), "Leave the tour",
                                     "Leave the tour, and look around (Escape)");
    GtkWidget *buttons = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 6);
    gtk_widget_set_valign(buttons, GTK_ALIGN_CENTER);
    gtk_box_append(GTK_BOX(buttons), w->card_back);
    gtk_box_append(GTK_BOX(buttons), w->card_next);
    gtk_box_append(GTK_BOX(buttons), w->card_leave);
    w->card = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 18);
    gtk_box_append(GTK_BOX(w->card), texts);
    gtk_box_append(GTK_BOX(w->card), buttons);
    gtk_widget_add_css_class(w->card, "card");
    gtk_widget_set_visible(w->card, FALSE);
    return w->card;
}

void weft_window_show_card(WeftWindow *w)
{
    const unsigned step = weft_explorer_tour(w->e);
    gtk_widget_set_visible(w->card, step > 0);
    if (!step) {
        weft_window_tell(w, "card", "");
        return;
    }
    const struct weft_tour_step *s = &weft_tour_steps[step - 1];
    g_autofree char *title = g_strdup_printf("%u of %d: %s", step, WEFT_TOUR_STEPS, s->title);
    g_autofree char *card = g_strconcat(title, "\n", s->text, NULL);
    gtk_label_set_text(GTK_LABEL(w->card_title), title);
    gtk_label_set_text(GTK_LABEL(w->card_text), s->text);
    gtk_widget_set_sensitive(w->card_back, step > 1);
    gtk_widget_set_visible(w->card_next, step < WEFT_TOUR_STEPS);
    gtk_button_set_label(GTK_BUTTON(w->card_leave), step < WEFT_TOUR_STEPS ? "_Leave" : "_Done");
    weft_window_tell(w, "card", card);
}
