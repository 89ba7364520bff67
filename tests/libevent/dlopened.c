/* SPDX-License-Identifier: ISC */
/* dlopened LIBRARY: loads it for itself only, as a program does with plugins, and calls its run. */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    int (*run)(int, char **) = library ? (int (*)(int, char **))dlsym(library, "run") : NULL;
    if (!run) {
        fprintf(stderr, "dlopened: %s\n", dlerror());
        return 1;
    }
    return run(argc - 1, argv + 1);
}
