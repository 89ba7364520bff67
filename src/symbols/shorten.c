/* SPDX-License-Identifier: ISC */
/* Names of functions as labels need them. A name of C++ has all types of its parameters and templates in
 * it, and can be as long as the compiler likes. Only the text is looked at: a name in which brackets do not match
 * is only cut. */
#include <string.h>

#include "symbols/names.h"

#define DOTS "\xe2\x80\xa6" /* … */

/* Cuts what compilers append to the names of copies of a function. */
static void cut_suffix(char *name)
{
    static const char *const suffixes[] = {" [clone", ".constprop.", ".isra.", ".part.",
                                           ".cold",   ".lto_priv.",  ".llvm."};
    for (unsigned i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        char *at = strstr(name, suffixes[i]);
        if (at && at > name)
            *at = '\0';
    }
}

/* Where the bracket at `at` was opened; NULL: nowhere. */
static char *opened(char *name, char *at)
{
    const char close = *at, open = close == ')' ? '(' : '<';
    for (unsigned depth = 0; at >= name; at--) {
        depth += *at == close && !(close == '>' && at > name && at[-1] == '-');
        depth -= *at == open;
        if (depth == 0)
            return at;
    }
    return NULL;
}

/* Cuts the parameters: "f(int) const" becomes "f". Those of a function around it, as of a lambda, stay. */
static void cut_parameters(char *name)
{
    char *end = strrchr(name, ')');
    char *begin = end ? opened(name, end) : NULL;
    const bool is_last = end && (end[1] == '\0' || end[1] == ' ');
    /* not "operator()" alone, nor "(anonymous namespace)" */
    if (is_last && begin && begin > name && begin[-1] != ' ' &&
        !(end == begin + 1 && begin - name >= 8 && memcmp(begin - 8, "operator", 8) == 0))
        *begin = '\0';
}

/* Cuts the type of the result, which demangled templates begin with. */
static void cut_result(char *name)
{
    unsigned depth = 0;
    if (strstr(name, "operator"))
        return;
    for (char *at = name + strlen(name); at-- > name;) {
        depth += *at == ')' || *at == '>' || *at == '}' || *at == ']';
        depth -= depth && (*at == '(' || *at == '<' || *at == '{' || *at == '[');
        if (*at == ' ' && depth == 0) {
            memmove(name, at + 1, strlen(at));
            return;
        }
    }
}

/* "{lambda(int)#1}::_FUN" becomes "{lambda#1}": compilers call what a lambda does by such names. */
static void cut_lambda(char *name)
{
    static const char *const calls[] = {"}::operator()", "}::_FUN", "}::__invoke"};
    for (char *at = name; (at = strstr(at, "{lambda("));) {
        at += strlen("{lambda");
        char *end = strchr(at, '#');
        while (end && end > at && end[-1] != ')')
            end = strchr(end + 1, '#');
        if (end)
            memmove(at, end, strlen(end) + 1);
    }
    for (unsigned i = 0; i < sizeof calls / sizeof *calls; i++) {
        char *at = strstr(name, calls[i]);
        if (at && at[strlen(calls[i])] == '\0')
            at[1] = '\0';
    }
}

/* "f<int, long>" becomes "f<…>". A name in which brackets do not match stays as it is. */
static void cut_arguments(char *name)
{
    static const char *const confusing[] = {"operator<", "operator>", "operator-"};
    for (unsigned i = 0; i < sizeof confusing / sizeof *confusing; i++)
        if (strstr(name, confusing[i]))
            return;
    for (char *at = name; (at = strchr(at, '<'));) {
        char *end = at;
        for (unsigned depth = 0; *end; end++) {
            depth += *end == '<';
            depth -= *end == '>' && end[-1] != '-' && depth;
            if (depth == 0)
                break;
        }
        if (!*end)
            return;
        const size_t inside = (size_t)(end - at - 1), dots = strlen(DOTS);
        if (inside > dots) {
            memcpy(at + 1, DOTS, dots);
            memmove(at + 1 + dots, end, strlen(end) + 1);
            end = at + 1 + dots;
        }
        at = end;
    }
}

/* Cuts the beginning: where a function is defined tells less than what it is called. */
static void cut_beginning(char *name, size_t most)
{
    const size_t size = strlen(name);
    if (size <= most)
        return;
    size_t at = size - (most - strlen(DOTS));
    while (at < size && (name[at] & 0xc0) == 0x80)
        at++;
    memmove(name + strlen(DOTS), name + at, size - at + 1);
    memcpy(name, DOTS, strlen(DOTS));
}

void symbols_shorten(char *name, size_t most)
{
    cut_suffix(name);
    cut_parameters(name);
    cut_result(name);
    cut_lambda(name);
    if (strlen(name) > most)
        cut_arguments(name);
    cut_beginning(name, most);
}
