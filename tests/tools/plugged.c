/* SPDX-License-Identifier: ISC */
/* A program with several copies of libweft: its arguments are plug-ins, each with one. For each line that it
 * reads, "N", every plug-in makes its number (1, 2 …) times N rounds of two events; then it says "ok".
 *     plugged --again PLUGIN   loads it, has it make a round and unloads it, many times; says how many mappings the process
 *                              has more then than after the first time */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

enum { TIMES = 20 };

/* NULL: there is none. */
static void (*load(const char *path, void **plugin))(int)
{
    void (*rounds)(int);
    *plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    void *function = *plugin ? dlsym(*plugin, "plugin_rounds") : NULL;
    memcpy(&rounds, &function, sizeof function);
    if (!rounds)
        fprintf(stderr, "plugged: %s\n", dlerror());
    return rounds;
}

static int mappings(void)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    int lines = 0;
    for (int c; maps && (c = getc(maps)) != EOF;)
        lines += c == '\n';
    if (maps)
        fclose(maps);
    return lines;
}

static int load_again_and_again(const char *path)
{
    int first = 0;
    for (int i = 0; i < TIMES; i++) {
        void *plugin;
        void (*rounds)(int) = load(path, &plugin);
        if (!rounds)
            return 1;
        rounds(1);
        dlclose(plugin);
        if (i == 0)
            first = mappings();
    }
    printf("%d\n", mappings() - first);
    return 0;
}

int main(int argc, char **argv)
{
    void (*rounds[8])(int);
    int count = 0, n;
    if (argc == 3 && strcmp(argv[1], "--again") == 0)
        return load_again_and_again(argv[2]);
    for (int i = 1; i < argc && count < 8; i++) {
        void *plugin;
        rounds[count] = load(argv[i], &plugin);
        if (!rounds[count++])
            return 1;
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
