/* SPDX-License-Identifier: ISC */
/* Runs a fuzz target over files and directories of files, without libFuzzer. */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int replay_file(const char *path, size_t bytes)
{
    FILE *file = fopen(path, "rb");
    uint8_t *data = malloc(bytes ? bytes : 1); /* exactly, so that a sanitizer sees the end */
    int status = -1;

    if (file && data && fread(data, 1, bytes, file) == bytes) {
        fprintf(stderr, "%s\n", path); /* the last one is the one that crashed */
        LLVMFuzzerTestOneInput(data, bytes);
        status = 0;
    } else {
        fprintf(stderr, "replay: %s: %s\n", path, strerror(errno));
    }
    free(data);
    if (file)
        fclose(file);
    return status;
}

/* Returns how many files ran, or -1. */
static long replay(const char *path)
{
    struct stat st;
    if (stat(path, &st) != 0) {
        fprintf(stderr, "replay: %s: %s\n", path, strerror(errno));
        return -1;
    }
    if (!S_ISDIR(st.st_mode))
        return replay_file(path, (size_t)st.st_size) == 0 ? 1 : -1;

    DIR *dir = opendir(path);
    if (!dir) {
        fprintf(stderr, "replay: %s: %s\n", path, strerror(errno));
        return -1;
    }
    long files = 0;
    for (struct dirent *entry; files >= 0 && (entry = readdir(dir));) {
        char name[PATH_MAX];
        if (entry->d_name[0] == '.')
            continue;
        snprintf(name, sizeof(name), "%s/%s", path, entry->d_name);
        if (stat(name, &st) == 0 && S_ISREG(st.st_mode))
            files = replay_file(name, (size_t)st.st_size) == 0 ? files + 1 : -1;
    }
    closedir(dir);
    return files;
}

int main(int argc, char **argv)
{
    long files = 0;
    for (int i = 1; i < argc; i++) {
        long n = replay(argv[i]);
        if (n < 0)
            return 1;
        files += n;
    }
    printf("%ld inputs\n", files);
    return files > 0 ? 0 : 77;
}
