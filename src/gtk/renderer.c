/* SPDX-License-Identifier: ISC */
#include "gtk/renderer.h"

#include <epoxy/gl.h>
#include <gtk/gtk.h>
#include <stdbool.h>
#include <string.h>

/* Returns true if the kernel offers a graphics processor; if it does not, asking OpenGL would only load a compiler. */
static bool has_processor(void)
{
    g_autoptr(GDir) dir = g_dir_open("/dev/dri", 0, NULL);
    const char *name;
    while (dir && (name = g_dir_read_name(dir)))
        if (g_str_has_prefix(name, "renderD"))
            return true;
    return false;
}

/* Remote screens use OpenGL in software even if there is a graphics processor. */
static bool is_software(void)
{
    static const char *const names[] = {"llvmpipe", "softpipe", "swrast", "Software"};
    g_autoptr(GdkGLContext) context =
        gdk_display_create_gl_context(gdk_display_get_default(), NULL);
    if (!context || !gdk_gl_context_realize(context, NULL))
        return true;
    gdk_gl_context_make_current(context);
    const char *renderer = (const char *)glGetString(GL_RENDERER);
    bool software = !renderer;
    for (size_t i = 0; !software && i < G_N_ELEMENTS(names); i++)
        software = strstr(renderer, names[i]) != NULL;
    gdk_gl_context_clear_current();
    return software;
}

void weft_renderer_choose(void)
{
    if (!g_getenv("GSK_RENDERER") && (!has_processor() || is_software()))
        g_setenv("GSK_RENDERER", "cairo", TRUE);
}
