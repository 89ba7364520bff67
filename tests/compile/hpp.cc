// SPDX-License-Identifier: ISC
// Where weft/weft.hpp may stand. A comment that begins with @ says what its line creates: the place is the caller's.
#include <weft/weft.hpp>

#include <stdexcept>
#include <string>

// clang-format off
weft::promise global{"global", "x"}; //@ global x
static weft::promise of_a_call{weft_create("global", "by weft_create")}; //@ global by weft_create
static weft::counter queued{"queued"};

struct member {
    weft::promise literal{"member", "literal"};
    weft::promise below{literal, "member", "below"};
    weft::promise listed;

    explicit member(const char *name) : listed("listed", name) {} //@ listed a member
    explicit member(const std::string &name, const weft::place &where = weft::place::here()) : listed("passed on", name, where) {}

    void by_default(weft::promise p = weft::promise("default")) { p.fulfill(); }
};

template <class T> struct generic {
    static inline weft::promise shared{"generic static", T::name()}; //@ generic static first
    weft::promise own{"generic member"};
};

struct first { static const char *name() { return "first"; } };

static void held()
{
    weft::promise lock{"lock"}; //@ lock -
    weft::promise owner{"owner"}; //@ owner -
    weft::hold a{lock};
    weft::hold b{lock, owner};
    weft::hold c{std::move(b)};
    a.release();
}

int main()
{
    member m("a member");
    member n(std::string("a string")); //@ passed on a string
    m.by_default(); //@ default -
    generic<first> g;
    generic<first>::shared.wait();
    held();
    queued += 2;
    ++queued;
    queued.set(0);
    auto moved = [p = weft::promise("lambda", "held")]() mutable { p.resolve(); }; //@ lambda held
    auto called = std::move(moved);
    {
        const weft::run as{m.literal};
        const auto woken = weft::wake(m.listed, m.below);
        m.below.label("more").should_resolve().background();
        m.below.fail(std::make_exception_ptr(std::runtime_error("thrown")));
    }
    n.literal.fail(std::runtime_error("known"));
    n.below.fail(std::string("text"));
    n.listed = weft::promise("assigned"); //@ assigned -
    n.listed.cancel();
    weft_fulfill(global.release());
    const weft::recording again("nowhere/weft.trace");
    return again.error() == 0;
}
