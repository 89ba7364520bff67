/* SPDX-License-Identifier: ISC */
/* What headers do with weft, included by two files. A comment that begins with @ says what its line creates. */
#pragma once

#include <string>

#include <weft/weft.h>

#define WORD "a macro"

// clang-format off
struct member {
    const char *name = "a member";
    std::string text = "a string";
    weft_promise literal = weft_create("member", "literal"); //@ member literal
    weft_promise pointer = weft_create("member", name); //@ member a member;member one;member two
    weft_promise by_this = weft_create("member", this->name); //@ member a member;member one;member two
    weft_promise buffer = weft_create("member", text.c_str()); //@ member a string
    weft_promise none = weft_create_from(literal, "member", nullptr); //@ member -
    weft_promise listed;

    member() : listed(weft_create("listed", NULL)) {} //@ listed -
    explicit member(const char *other) : name(other), listed(weft_create("listed", other)) {} //@ listed one;listed two

    void by_default(weft_promise p = weft_create("default", WORD)) { weft_label(p, name); } //@ default a macro
};

template <class T> struct generic {
    static weft_promise shared;
    weft_promise p = weft_create("generic member", T::name()); //@ generic member first;generic member second
    generic(weft_promise q = weft_create("generic default", "text")) { weft_wait(q); } //@ generic default text
    template <class U> weft_promise inner(U text) { return weft_create(T::name(), text); } //@ first x;second x;first y
};
template <class T> weft_promise generic<T>::shared = weft_create("generic static", T::name()); //@ generic static first;generic static second

struct first { static const char *name() { return "first"; } };
struct second { static const char *name() { return "second"; } };

template <class T> weft_promise function(const T &text) { return weft_create("function", text); } //@ function abc;function abd;function longer
inline weft_promise in_line(const char *text) { return weft_create("inline", text); } //@ inline one;inline two

#if __cplusplus >= 201402L
template <int N> weft_promise variable = weft_create("variable", "template"); //@ variable template
#endif
#if __cplusplus >= 201703L
inline weft_promise inline_variable = weft_create("variable", "inline"); //@ variable inline
#endif
// clang-format on

void two();
