/* SPDX-License-Identifier: ISC */
/* weft for C++20 coroutines: each is a promise, and each co_await says what it waits for.
 *
 * A coroutine type of a library that you do not want to change:
 *
 *     #include <cppcoro/task.hpp>
 *     #include <weft/coroutine.hpp>
 *     WEFT_COROUTINES(cppcoro::task)                 at global scope, in every file with coroutines of this type
 *
 * Your own: derive its promise_type from weft::coroutine and wrap what it returns at its ends:
 *
 *     struct promise_type : weft::coroutine {
 *         promise_type(const weft::place &where = weft::place::here()) : weft::coroutine(where) {}
 *         auto initial_suspend() noexcept { return begins(std::suspend_always{}); }
 *         auto final_suspend() noexcept { return ends(final_awaiter{}); }
 *         void return_void() noexcept { fulfilled(); }
 *         void unhandled_exception() noexcept { failed(); }
 *         …
 *     };
 *
 * and give the task a member `weft_promise weft_id() const`, which returns that of the promise_type: whoever awaits the task waits for it itself.
 *
 * The label is the name of the function. Whatever else is awaited is a promise of the type "await", which its type gives
 * the label; an awaited task of a type as above becomes the coroutine. A coroutine runs from its resumption until it suspends;
 * it ends by co_return or by an exception, which is the reason of its failure. If it is destroyed before, it is forgotten, and so is what it awaits.
 *
 * Nothing is allocated: the promise_type grows by 40 bytes, an await by 56 in the frame. Symmetric transfer stays one. While nothing
 * is recorded an await costs a few loads and branches; with -DWEFT_DISABLE nothing. Threads as weft.h; a coroutine may be resumed by any. */
#ifndef WEFT_COROUTINE_HPP
#define WEFT_COROUTINE_HPP

#include <weft/weft.hpp>

/* clang 14 has coroutines, but not the macro by which libstdc++ asks for them. */
#if defined __clang__ && __clang_major__ < 17 && !defined __cpp_impl_coroutine &&                  \
    __cplusplus >= 202002L
#define __cpp_impl_coroutine 201902L
#endif
#include <coroutine>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace weft
{

/* The name of a type, as the compiler writes it. */
template <class T> class type_name
{
    /* "… [with T = NAME]" or "… [T = NAME]" */
    template <class U> static constexpr auto found()
    {
        constexpr std::size_t size = sizeof __PRETTY_FUNCTION__;
        const char *const source = __PRETTY_FUNCTION__;
        std::size_t from = 0, to = size - 1;
        while (from + 4 < to &&
               !(source[from] == 'U' && source[from + 1] == ' ' && source[from + 2] == '='))
            from++;
        from += 4;
        for (std::size_t i = from; i < to; i++)
            if (source[i] == ';' || (source[i] == ']' && i + 1 == to))
                to = i;
        struct name {
            char text[size];
        } name = {};
        const bool is_long = to - from > 60;
        for (std::size_t i = from; i < to; i++) {
            name.text[i - from] = source[i];
            if (is_long && source[i] == '<') { /* "<…>" */
                for (int k = 0; k < 4; k++)
                    name.text[i - from + 1 + std::size_t(k)] = "\xe2\x80\xa6>"[k];
                break;
            }
        }
        return name;
    }

    static constexpr auto text = found<T>();

  public:
    static constexpr const char *value = text.text;
};

/* True for the types of WEFT_COROUTINES: whoever awaits one is resumed by its end, and by nothing else. */
template <class T> inline constexpr bool is_traced = false;

template <class T>
concept knows_promise = requires(const T &t)
{
    {
        t.weft_id()
        } -> std::convertible_to<weft_promise>;
};

template <class T>
concept has_member_await = requires(T &&t)
{
    static_cast<T &&>(t).operator co_await();
};

template <class T>
concept has_free_await = requires(T &&t)
{
    operator co_await(static_cast<T &&>(t));
};

template <class P, class T>
concept transforms = requires(P &p, T &&t)
{
    p.await_transform(static_cast<T &&>(t));
};

template <class P>
concept returns_void = requires(P &p)
{
    p.return_void();
};

/* `co_await weft::this_coroutine` is the number of the coroutine, at once: weft_should_resolve(co_await weft::this_coroutine). 0 in
 * a coroutine that is not traced. */
struct this_coroutine_type {
    weft_promise id = 0;

    bool await_ready() const noexcept
    {
        return true;
    }

    void await_suspend(std::coroutine_handle<>) const noexcept
    {
    }

    weft_promise await_resume() const noexcept
    {
        return id;
    }
};
inline constexpr this_coroutine_type this_coroutine;

#ifndef WEFT_DISABLE

/* What this thread has just gone to from an await of a traced coroutine: its frame, or if it is whichever begins before
 * await_suspend returns, this variable; and who awaits it. The other way: who had awaited what has just ended. */
struct transfer {
    const void *to;
    weft_promise reader;
    weft_promise ended, reader_of_ended;
};
inline constinit thread_local transfer transferred = {nullptr, 0, 0, 0};

/* Sites of texts that stay where they are: the recorder knows a site that it has seen by one load. There are few in a program; one
 * that finds no room is looked up by its texts each time. */
class known_sites
{
  public:
    static weft_promise create(const char *type, const char *label, const place &where) noexcept
    {
        entry &e = table[hash(label, where) % SITES];
        unsigned state = __atomic_load_n(&e.state, __ATOMIC_ACQUIRE);
        if (state == EMPTY && __atomic_compare_exchange_n(&e.state, &state, FILLING, false,
                                                          __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE)) {
            e.site.file = where.file;
            e.site.line = where.line;
            e.site.literal = 3;
            e.type = type;
            e.label = label;
            state = READY;
            __atomic_store_n(&e.state, state, __ATOMIC_RELEASE);
        }
        if (state == READY && e.label == label && e.type == type && e.site.line == where.line &&
            e.site.file == where.file)
            return weft_impl_create(&e.site, type, label);
        return weft::create(type, label, 0, where);
    }

  private:
    enum { SITES = 256 };
    enum state : unsigned { EMPTY, FILLING, READY };

    struct entry {
        struct weft_site site;
        const char *type, *label;
        unsigned state;
    };

    static std::size_t hash(const char *label, const place &where) noexcept
    {
        const std::uintptr_t n = reinterpret_cast<std::uintptr_t>(label) * 31 +
                                 reinterpret_cast<std::uintptr_t>(where.file) * 17 + where.line;
        return n ^ n >> 8;
    }

    static inline constinit entry table[SITES] = {};
};

/* The awaiter of what is awaited: a value where an operator returns one, otherwise a reference to what lives until the
 * end of the await anyhow. */
template <class T> WEFT_IMPL_METHOD decltype(auto) awaiter_of(T &&awaitable)
{
    if constexpr (has_member_await<T>)
        return static_cast<T &&>(awaitable).operator co_await();
    else if constexpr (has_free_await<T>)
        return operator co_await(static_cast<T &&>(awaitable));
    else
        return static_cast<T &&>(awaitable);
}

/* await_suspend with the handle that the awaiter takes: where a promise_type only adds weft to another one, that one's. */
template <class Awaiter, class Promise>
WEFT_IMPL_METHOD auto suspend(Awaiter &awaiter, std::coroutine_handle<Promise> handle)
{
    if constexpr (requires { typename Promise::weft_base; })
        return awaiter.await_suspend(
            std::coroutine_handle<typename Promise::weft_base>::from_address(handle.address()));
    else
        return awaiter.await_suspend(handle);
}

template <class Awaiter> class beginning;
template <class Awaiter> class ending;
template <class Awaitable, class Named> class awaiting;

class coroutine
{
  public:
    explicit coroutine(const place &where = place::here()) noexcept
        : id_(WEFT_IMPL_STATE() ? known_sites::create("coroutine", where.function, where) : 0)
    {
    }

    coroutine(const coroutine &) = delete;
    coroutine &operator=(const coroutine &) = delete;

    ~coroutine()
    {
        if (id_ && !ended_)
            weft_forget(id_);
    }

    weft_promise weft_id() const noexcept
    {
        return id_;
    }

    /* For return_value and return_void. */
    WEFT_IMPL_METHOD void fulfilled() noexcept
    {
        weft_fulfill(id_);
        ended_ = true;
    }

    /* For unhandled_exception, in which there is a current exception. */
    WEFT_IMPL_METHOD void failed() noexcept
    {
        weft_fail(id_, reason_of(std::current_exception()));
        ended_ = true;
    }

    /* For initial_suspend. */
    template <class Awaiter> beginning<Awaiter> begins(Awaiter awaiter)
    {
        return {std::move(awaiter), *this};
    }

    /* For final_suspend. */
    template <class Awaiter> ending<Awaiter> ends(Awaiter awaiter) noexcept
    {
        return {std::move(awaiter), *this};
    }

    this_coroutine_type await_transform(const this_coroutine_type &) noexcept
    {
        return {id_};
    }

    template <class T> auto await_transform(T &&awaited, const place &where = place::here())
    {
        return awaiting<T &&, T>(*this, where, awaited,
                                 [&]() -> T && { return static_cast<T &&>(awaited); });
    }

  protected:
    struct later {
    };

    explicit coroutine(later) noexcept : id_(0)
    {
    }

    void created(const place &where) noexcept
    {
        if (WEFT_IMPL_STATE())
            id_ = known_sites::create("coroutine", where.function, where);
    }

  private:
    template <class Awaiter> friend class beginning;
    template <class Awaiter> friend class ending;
    template <class Awaitable, class Named> friend class awaiting;

    /* It continues on this thread. */
    WEFT_IMPL_METHOD void runs() noexcept
    {
        if (!id_)
            return;
        const weft_promise last = weft_run(id_);
        if (last != id_) /* it is if the awaiter itself resumes it, before it has suspended */
            before_ = last;
    }

    weft_promise id_, before_ = WEFT_LOOP, reader_ = 0;
    void *frame_ = nullptr; /* of one that has yet to begin */
    bool ended_ = false;
};

/* co_await on the way in. */
template <class Awaiter> class beginning
{
  public:
    beginning(Awaiter &&awaiter, coroutine &self) : awaiter_(std::move(awaiter)), self_(self)
    {
    }

    bool await_ready()
    {
        return awaiter_.await_ready();
    }

    template <class Promise> auto await_suspend(std::coroutine_handle<Promise> handle)
    {
        self_.frame_ = handle.address();
        return suspend(awaiter_, handle);
    }

    decltype(auto) await_resume()
    {
        if (WEFT_IMPL_ON()) {
            const transfer last = std::exchange(transferred, transfer());
            if (last.to && (last.to == self_.frame_ || last.to == &transferred)) {
                self_.reader_ = last.reader;
                weft_wait_by(last.reader, self_.id_);
            }
            self_.runs();
        }
        return awaiter_.await_resume();
    }

  private:
    Awaiter awaiter_;
    coroutine &self_;
};

/* … and on the way out. */
template <class Awaiter> class ending
{
  public:
    ending(Awaiter &&awaiter, coroutine &self) noexcept : awaiter_(std::move(awaiter)), self_(self)
    {
    }

    bool await_ready() noexcept
    {
        const bool ready = awaiter_.await_ready();
        if (ready && self_.id_)
            weft_run(self_.before_);
        return ready;
    }

    /* The awaiter may destroy the frame. */
    template <class Promise> auto await_suspend(std::coroutine_handle<Promise> handle) noexcept
    {
        if (self_.id_) {
            transferred = {nullptr, 0, self_.id_, self_.reader_};
            weft_run(self_.before_);
        }
        return suspend(awaiter_, handle);
    }

    void await_resume() noexcept
    {
        awaiter_.await_resume();
    }

  private:
    Awaiter awaiter_;
    coroutine &self_;
};

/* Any other co_await. Awaitable: how what is awaited is kept, by value or as a reference. Named: its type in the program. */
template <class Awaitable, class Named> class awaiting
{
    using named = std::remove_cvref_t<Named>;
    using awaiter = decltype(awaiter_of(std::declval<Awaitable>()));

  public:
    template <class T, class Get>
    awaiting(coroutine &self, const place &where, const T &awaited, Get &&get)
        : awaitable_(get()), awaiter_(awaiter_of(static_cast<Awaitable &&>(awaitable_))),
          self_(self), where_(where), awaited_(0), suspended_(false)
    {
        if constexpr (knows_promise<named>)
            awaited_ = awaited.weft_id();
        else
            (void)awaited;
    }

    awaiting(const awaiting &) = delete;
    awaiting &operator=(const awaiting &) = delete;

    ~awaiting()
    {
        if constexpr (own)
            if (awaited_)
                weft_forget(awaited_);
    }

    decltype(auto) await_ready()
    {
        return awaiter_.await_ready();
    }

    /* As soon as the awaiter has the handle, another thread may continue: nothing of the frame is looked at after that. */
    template <class Promise> auto await_suspend(std::coroutine_handle<Promise> handle)
    {
        using result = decltype(suspend(awaiter_, handle));
        const weft_promise id = self_.id_, before = self_.before_;
        suspended_ = true;
        if (id && WEFT_IMPL_ON()) {
            if constexpr (own)
                awaited_ = known_sites::create("await", type_name<named>::value, where_);
            if constexpr (!is_child)
                weft_wait_by(id, awaited_);
        }
        if constexpr (std::is_convertible_v<result, std::coroutine_handle<>>) {
            auto next = suspend(awaiter_, handle);
            leaves(id, before);
            if constexpr (is_child)
                transferred = {std::coroutine_handle<>(next).address(), id, 0, 0};
            return next;
        } else {
            if constexpr (is_child)
                transferred = {&transferred, id, 0, 0};
            if constexpr (std::is_void_v<result>) {
                suspend(awaiter_, handle);
                forgets(id);
                leaves(id, before);
            } else {
                const bool suspended = suspend(awaiter_, handle);
                forgets(id);
                if (suspended)
                    leaves(id, before);
                return suspended;
            }
        }
    }

    decltype(auto) await_resume()
    {
        if (!suspended_ || !self_.id_ || !WEFT_IMPL_ON())
            return awaiter_.await_resume();
#ifdef __cpp_exceptions
        try {
            const resumption guard(*this);
            return awaiter_.await_resume();
        } catch (...) {
            if constexpr (own)
                weft_fail(awaited_, reason_of(std::current_exception()));
            continues();
            throw;
        }
#else
        const resumption guard(*this);
        return awaiter_.await_resume();
#endif
    }

  private:
    static constexpr bool is_child = is_traced<named> && !knows_promise<named>;
    static constexpr bool own = !knows_promise<named> && !is_child;

    /* The result is there. If it is an exception, there is more to say. */
    class resumption
    {
      public:
        explicit resumption(awaiting &of) : of_(of), thrown_(std::uncaught_exceptions())
        {
        }

        ~resumption()
        {
            if (std::uncaught_exceptions() != thrown_)
                return;
            if constexpr (own)
                weft_fulfill(of_.awaited_);
            of_.continues();
        }

      private:
        awaiting &of_;
        int thrown_;
    };

    void continues() noexcept
    {
        self_.runs();
        if (is_child && transferred.reader_of_ended == self_.id_)
            awaited_ = transferred.ended;
        weft_wake(self_.id_, awaited_);
        awaited_ = 0;
    }

    WEFT_IMPL_METHOD static void forgets(weft_promise id) noexcept
    {
        if (is_child && transferred.reader == id)
            transferred.to = nullptr;
    }

    WEFT_IMPL_METHOD static void leaves(weft_promise id, weft_promise before) noexcept
    {
        if (id)
            weft_run(before);
    }

    Awaitable awaitable_;
    awaiter awaiter_;
    coroutine &self_;
    place where_;
    weft_promise awaited_;
    bool suspended_;
};

/* P, the promise_type of a library, as the first part of ours, so that both have one address and one handle: derived from it, with
 * all that it has, or if it is final, only with what it must have. */
template <class P, bool = std::is_final_v<P>> struct library_part : public P {
    template <class... T> explicit library_part(T &...of_the_function) : P(of_the_function...)
    {
    }

    P &library() noexcept
    {
        return *this;
    }
};

template <class P> struct library_part<P, true> {
    template <class... T> explicit library_part(T &...of_the_function) : part(of_the_function...)
    {
    }

    P &library() noexcept
    {
        return part;
    }

    P part;
};

/* Of the names return_value and return_void, a promise_type has only one. */
template <class P, bool = returns_void<P>>
class traced_return : public library_part<P>, public coroutine
{
  public:
    template <class... T>
    explicit traced_return(T &...of_the_function)
        : library_part<P>(of_the_function...), coroutine(later())
    {
    }

    void return_void()
    {
        this->library().return_void();
        fulfilled();
    }
};

template <class P> class traced_return<P, false> : public library_part<P>, public coroutine
{
  public:
    template <class... T>
    explicit traced_return(T &...of_the_function)
        : library_part<P>(of_the_function...), coroutine(later())
    {
    }

    template <class T> void return_value(T &&value) requires requires(P &p)
    {
        p.return_value(std::forward<T>(value));
    }
    {
        this->library().return_value(std::forward<T>(value));
        fulfilled();
    }
};

template <class P> class traced : public traced_return<P>
{
  public:
    using weft_base = P;

    traced() requires std::default_initializable<P>
    {
    }

    template <class... T>
    requires(sizeof...(T) > 0 &&
             std::constructible_from<P, T &...>) explicit traced(T &...of_the_function)
        : traced_return<P>(of_the_function...)
    {
    }

    auto get_return_object(const place &where = place::here())
    {
        static_assert(alignof(traced) == alignof(P) || alignof(traced) <= 2 * sizeof(void *),
                      "both handles have the same address");
        this->created(where);
        return this->library().get_return_object();
    }

    auto initial_suspend()
    {
        return this->begins(this->library().initial_suspend());
    }

    auto final_suspend() noexcept
    {
        return this->ends(this->library().final_suspend());
    }

    void unhandled_exception()
    {
        this->failed();
        this->library().unhandled_exception();
    }

    this_coroutine_type await_transform(const this_coroutine_type &of) noexcept
    {
        return coroutine::await_transform(of);
    }

    template <class T> auto await_transform(T &&awaited, const place &where = place::here())
    {
        if constexpr (transforms<P, T>)
            return awaiting<
                decltype(std::declval<P &>().await_transform(static_cast<T &&>(awaited))), T>(
                *this, where, awaited, [&]() -> decltype(auto) {
                    return this->library().await_transform(static_cast<T &&>(awaited));
                });
        else
            return coroutine::await_transform(static_cast<T &&>(awaited), where);
    }
};

/* The coroutines of a class template of tasks; it has a promise_type. */
#define WEFT_COROUTINES(task)                                                                      \
    template <class... T, class... Parameters>                                                     \
    struct std::coroutine_traits<task<T...>, Parameters...> {                                      \
        using promise_type = weft::traced<typename task<T...>::promise_type>;                      \
    };                                                                                             \
    template <class... T> inline constexpr bool weft::is_traced<task<T...>> = true;

#else /* nothing is added to anything */

class coroutine
{
  public:
    explicit coroutine(const place & = place())
    {
    }

    weft_promise weft_id() const noexcept
    {
        return 0;
    }

    WEFT_IMPL_METHOD void fulfilled() noexcept
    {
    }

    WEFT_IMPL_METHOD void failed() noexcept
    {
    }

    template <class Awaiter> WEFT_IMPL_METHOD Awaiter begins(Awaiter awaiter)
    {
        return awaiter;
    }

    template <class Awaiter> WEFT_IMPL_METHOD Awaiter ends(Awaiter awaiter) noexcept
    {
        return awaiter;
    }
};

#define WEFT_COROUTINES(task)

#endif

} // namespace weft

#endif
