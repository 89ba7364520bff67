// SPDX-License-Identifier: ISC
// Everywhere that an expression may stand in C++11 and later. Recorded by WEFT_TRACE, which begins before globals
// are initialized. A comment that begins with @ says what its line creates: types and labels.
#include "cxx.h"

// clang-format off
weft_promise global = weft_create("global", "x"); //@ global x
static weft_promise global_from = weft_create_from(global, "global", WORD); //@ global a macro
namespace inside { weft_promise global_id = weft_create_id(global, UINT64_C(1) << 60, "global", "of a number"); } //@ global of a number

extern "C" weft_promise c_function(void);
extern "C" weft_promise c_function(void) { return weft_create("C", "function"); } //@ C function

static weft_promise by_default(int, weft_promise p = weft_create("default", "function")) { return p; } //@ default function

static void lambdas()
{
    const char *local = "local";
    std::string text = "captured";
    auto copy = [=] { return weft_create("lambda", local); }; //@ lambda local
    auto reference = [&] { return weft_create(text.c_str(), "lambda"); }; //@ captured lambda
    auto none = [] { return weft_create("lambda", "literal"); }; //@ lambda literal
    weft_wait(copy());
    weft_wait(reference());
    weft_wait(none());
    weft_create("by a lambda", [&] { return text.c_str(); }()); //@ by a lambda captured
    weft_label(global, [&] { weft_create("within", "a text"); return text.c_str(); }()); //@ within a text
#if __cplusplus >= 201402L
    auto generic_one = [](auto t) { return weft_create("generic lambda", t); }; //@ generic lambda one;generic lambda two
    generic_one("one");
    generic_one(static_cast<const char *>("two"));
    weft_wait(variable<1>);
    auto held = [p = weft_create("held", "by a lambda")] { return p; }; //@ held by a lambda
    weft_wait(held());
#endif
}

static void texts()
{
    char buffer[] = "a";
    const char array[] = {'c', 0};
    for (int i = 0; i < 2; i++, buffer[0]++)
        weft_create("array", buffer); //@ array a;array b
    weft_create("array", array); //@ array c
    weft_create("odd", buffer[0] == 'c' ? "y" : "n"); //@ odd y
    weft_create("odd", "\"quoted\\" " twice"); //@ odd \"quoted\\ twice
    weft_create("odd", ("in brackets")); //@ odd in brackets
    weft_create("odd", "ab"[0] == 'a' ? "first" : "other"); //@ odd first
    weft_create("odd", &"shorter"[2]); //@ odd orter
    weft_create("odd", 0 ? "zero" : nullptr); //@ odd -
    for (int i = 0; i < 2; i++)
        weft_fail(weft_create("failing", i ? "one" : "two"), i ? "this" : "that"); //@ failing one;failing two
    weft_resolve_by(global, global_from, WEFT_BY_ERROR, "literal");
}

int main()
{
    member m, other("one");
    m.by_default();
    c_function();
    by_default(1);
    lambdas();
    texts();
    function("abc");
    function("longer");
    in_line("one");
    generic<first> g;
    g.inner("x");
    g.inner(std::string("y").c_str());
    weft_wait(generic<first>::shared);
    static const weft_promise local = weft_create("local", "static"); //@ local static
    weft_wait(local);
    if (local)
        weft_label(local, "then");
    else
        weft_label(local, "else");
    switch (weft_create("switch", "on")) { default: break; } //@ switch on
    two();
#if __cplusplus >= 201703L
    weft_wait(inline_variable);
#endif
}
