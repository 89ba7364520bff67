/* SPDX-License-Identifier: ISC */
/* A program with several copies of libweft: its arguments are plug-ins, each with one. For each line that it
 * reads, "N", every plug-in makes its number (1, 2 …) times N rounds of two events; then it says "ok". */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    void (*rounds[8])(int);
    int count = 0, n;
    for (int i = 1; i < argc && count < 8; i++) {
        void *plugin = dlopen(argv[i], RTLD_NOW | RTLD_LOCAL);
        void *function = plugin ? dlsym(plugin, "plugin_rounds") : NULL;
        if (!function) {
            fprintf(stderr, "plugged: %s\n", dlerror());
            return 1;
        }
        memcpy(&rounds[count++], &function, sizeof function);
    }
    do {
        puts("ok");
        fflush(stdout);
        if (scanf("%d", &n) != 1)
            break;
        for (int i = 0; i < count; i++)
            rounds[i]((i + 1) * n);
    } while (1);
    return 0;
}
