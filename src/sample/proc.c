/* SPDX-License-Identifier: ISC */
#include "sample/proc.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

bool sample_line(char *line, size_t size, const char *format, ...)
{
    char path[160];
    va_list args;
    va_start(args, format);
    vsnprintf(path, sizeof path, format, args);
    va_end(args);
    FILE *f = fopen(path, "re");
    const bool read = f && fgets(line, (int)size, f);
    if (f)
        fclose(f);
    line[read ? strcspn(line, "\n") : 0] = 0;
    return read;
}

/* The second field, the name in brackets, may have anything in it. */
char sample_state(const char *line, uint32_t *parent)
{
    char state;
    uint32_t number;
    const char *after = strrchr(line, ')');
    if (!after || sscanf(after + 1, " %c %" SCNu32, &state, &number) != 2)
        return 0;
    if (parent)
        *parent = number;
    return state;
}

int sample_numbers_read(struct sample_numbers *n, const char *format, ...)
{
    char path[160];
    const struct dirent *entry;
    int error = 0;
    va_list args;
    va_start(args, format);
    vsnprintf(path, sizeof path, format, args);
    va_end(args);
    DIR *dir = opendir(path);
    if (!dir)
        return errno;
    while (!error && (entry = readdir(dir))) {
        if (!isdigit((unsigned char)*entry->d_name))
            continue;
        if (weft_reserve(&n->number, n->count, &n->room, sizeof *n->number))
            n->number[n->count++] = (uint32_t)strtoul(entry->d_name, NULL, 10);
        else
            error = ENOMEM;
    }
    closedir(dir);
    return error;
}
