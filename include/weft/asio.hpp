/* SPDX-License-Identifier: ISC */
/* weft for programs on Asio, standalone or Boost's, that are recompiled, not changed:
 *
 *     g++ -DASIO_CUSTOM_HANDLER_TRACKING='"weft/asio.hpp"' …
 *     g++ -DBOOST_ASIO_CUSTOM_HANDLER_TRACKING='"weft/asio.hpp"' …
 *
 * in every file of the program that includes Asio, and where Asio itself is compiled, if it is. Asio includes this header, and
 * calls the macros at its end. C++11; Asio 1.18 (Boost 1.74) to 1.30.
 *
 * Each asynchronous operation is a promise. Its type is that of the object: "socket", "timer", "resolver"; its label is the
 * operation and what it is for: "async_read 10.0.0.1:443", "async_wait 50 ms". Its creator is what runs when it is started. Its
 * handler runs as the operation, which ends when the handler returns, with the error that the handler was given.
 *
 * A coroutine of co_spawn is a promise, too: it waits for each operation that it awaits, and continues because of it. How a coroutine
 * ended is not known.
 *
 * What is cancelled has failed with "Operation canceled". What is destroyed without its handler being called is forgotten. When the
 * reactor sleeps is not recorded, because Asio says nothing before it sleeps.
 *
 * Threads as in weft.h. Nothing is allocated, except by an error's message(). An operation is 56 bytes larger; while nothing is
 * recorded it costs a few loads and branches besides. With -DWEFT_DISABLE nothing remains. */
#ifndef WEFT_ASIO_HPP
#define WEFT_ASIO_HPP

#include <weft/weft.h>

#ifndef WEFT_DISABLE

#include <arpa/inet.h>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <type_traits>

namespace weft
{
namespace asio
{

/* ---- What runs ---- */

/* A coroutine and Asio's own for it, if that is known; coroutine 0: none. group: the coroutine that waits for the end of this one,
 * perhaps of others with it. */
struct flow {
    weft_promise coroutine, group;
    const void *entry, *group_entry;
    bool named;
};

class location;

/* What this OS thread does. */
struct state {
    flow runs, may;            /* may: what will turn out to run, if a coroutine does */
    bool awaits;               /* the coroutine that runs has started what it will wait for */
    bool expects;              /* … but not yet the operation, though the next may be it */
    weft_promise moves;        /* what was handed to an executor since: perhaps the coroutine */
    const location *locations; /* the innermost */
};

inline state &here() noexcept
{
    static thread_local state mine; /* zero */
    return mine;
}

/* What each of Asio's operations begins with, or has in it. */
class tracked_handler
{
  protected:
    tracked_handler() noexcept : weft_id(0), weft_flow(), weft_awaited(false), weft_moves(false)
    {
    }

    ~tracked_handler()
    {
    }

  private:
    friend class completion;
    friend struct creator;
    weft_promise weft_id;
    flow weft_flow; /* the coroutine that continues in its handler, or may turn out to */
    bool weft_awaited, weft_moves;
};

/* ---- Coroutines ---- */

/* A handler of Asio's that resumes a coroutine names its awaitable, or has an entry point. An operation has its handler among the
 * parameters of its template, within others: async_read's own, binders. */
template <class T> struct resumes {
    template <class U> static char names(typename U::awaitable_type *);
    template <class U> static long names(...);
    template <class U> static char enters(decltype(static_cast<U *>(nullptr)->entry_point()) *);
    template <class U> static long enters(...);
    static constexpr bool value = sizeof(names<T>(nullptr)) == 1 || sizeof(enters<T>(nullptr)) == 1;
};

template <bool... any> struct is_any : std::false_type {
};
template <bool... rest> struct is_any<true, rest...> : std::true_type {
};
template <bool... rest> struct is_any<false, rest...> : is_any<rest...> {
};

template <class T> struct is_awaited : std::integral_constant<bool, resumes<T>::value> {
};
template <template <class...> class Of, class... A>
struct is_awaited<Of<A...>>
    : std::integral_constant<bool,
                             resumes<Of<A...>>::value || is_any<is_awaited<A>::value...>::value> {
};

/* What Asio knows the coroutine by that a handler resumes, found within handlers that show what they consist of. nullptr: not known. */
template <class Handler>
auto entry_of(Handler &handler, int, int) noexcept
    -> decltype(static_cast<const void *>(handler.entry_point()))
{
    return handler.entry_point();
}

template <class Handler>
auto entry_of(Handler &handler, int, long) noexcept -> decltype(entry_of(handler.handler_, 0, 0))
{
    return entry_of(handler.handler_, 0, 0);
}

template <class Handler> const void *entry_of(Handler &, long, long) noexcept
{
    return nullptr;
}

inline bool has(const char *text, const char *part) noexcept
{
    return text && std::strstr(text, part);
}

/* The name in "asio::awaitable<void> chat::session(tcp::socket)". */
inline void function_name(const char *signature, char *name, std::size_t size) noexcept
{
    std::size_t depth = 0, from = 0, to = 0;
    for (; signature[to] && (signature[to] != '(' || depth); to++)
        if (signature[to] == '<')
            depth++;
        else if (signature[to] == '>' && depth)
            depth--;
        else if (signature[to] == ' ' && !depth)
            from = to + 1;
    std::snprintf(name, size, "%.*s", static_cast<int>(to - from), signature + from);
}

/* A coroutine ran without awaiting anything, though an operation was handed to an executor. That may be the coroutine itself: Asio hides
 * what it hands to executors of any kind. If it does not continue there, it has ended. The operation may be over before the run is, on
 * another thread; whoever comes second knows. Of operations that share an entry here, the last one counts. */
enum { MOVING = 8192 };
static constexpr weft_promise OVER = UINT64_C(1) << 63;

inline weft_promise &moving(weft_promise operation) noexcept
{
    static weft_promise all[MOVING];
    return all[operation % MOVING];
}

/* The run has stopped, or with the flag, the operation is over. Returns true if the other was noted before. */
inline bool note_moving(weft_promise operation, weft_promise flag) noexcept
{
    return __atomic_exchange_n(&moving(operation), operation | flag, __ATOMIC_ACQ_REL) ==
           (operation | (flag ^ OVER));
}

/* Returns true if the run has stopped, so that the coroutine may continue in the operation. */
inline bool take_moving(weft_promise operation) noexcept
{
    return __atomic_compare_exchange_n(&moving(operation), &operation, 0, false, __ATOMIC_ACQUIRE,
                                       __ATOMIC_RELAXED);
}

/* The coroutine that runs stops, and nobody says why. How it ended, if it has, is not known. */
inline void stops(const state &s) noexcept
{
    if (!s.runs.coroutine || s.awaits)
        return;
    if (!s.moves || note_moving(s.moves, 0))
        weft_resolve(s.runs.coroutine);
}

/* HANDLER_LOCATION: where an operation is started, as long as it is. Outermost is that of a co_await, with the program's place or
 * none, or the program's own; those of async_read and the like are within it. */
class location
{
  public:
    location(const char *file_of, int line_of, const char *function_of) noexcept
        : file(file_of), function(function_of), line(line_of), outer(nullptr), spawned_(0),
          on_(WEFT_IMPL_ON())
    {
        if (!on_)
            return;
        state &s = here();
        outer = s.locations;
        s.locations = this;
        if (has(function, "co_spawn_entry_point"))
            spawn(s);
        else if (s.runs.coroutine && (!outer || outer->is_entry()) && !is_composed())
            s.awaits = s.expects = true;
    }

    location(const location &) = delete;
    location &operator=(const location &) = delete;

    ~location()
    {
        if (!on_)
            return;
        state &s = here();
        s.locations = outer;
        s.expects = false;
        if (!spawned_)
            return;
        stops(s);
        s.runs = runs_;
        s.awaits = awaits_;
        s.moves = moves_;
        weft_run(ran_);
    }

    /* One of Asio's own, within an operation that consists of several. */
    bool is_composed() const noexcept
    {
        return has(function, "async_");
    }

    const char *const file, *const function;
    const int line;
    const location *outer;

    bool is_entry() const noexcept
    {
        return spawned_;
    }

  private:
    /* A coroutine begins. What is started meanwhile is the first that it does, and if it begins at once, it runs meanwhile. */
    void spawn(state &s) noexcept
    {
        struct weft_site site = {0, nullptr, 0, 1};
        runs_ = s.runs;
        awaits_ = s.awaits;
        const bool awaited = outer && s.awaits;
        flow f = {0, s.runs.group, nullptr, s.runs.group_entry, false};
        if (awaited) {
            f.group = s.runs.coroutine;
            f.group_entry = s.runs.entry;
        }
        spawned_ = f.coroutine = weft_impl_create(&site, "coroutine", nullptr);
        if (awaited)
            weft_wait_by(f.group, spawned_);
        moves_ = s.moves;
        s.runs = f;
        s.awaits = s.expects = false;
        s.moves = 0;
        ran_ = weft_run(spawned_);
    }

    flow runs_;
    weft_promise ran_, spawned_, moves_;
    bool on_, awaits_;
};

/* ---- What operations are for ---- */

/* How often the meaning of a descriptor has changed; of descriptors that are equal in the last bits, together. */
enum { DESCRIPTORS = 1024, NAMED = 16, NAME_BYTES = 64 };

inline unsigned &changes_of(std::uintmax_t descriptor) noexcept
{
    static unsigned changes[DESCRIPTORS];
    return changes[descriptor % DESCRIPTORS];
}

template <class Context> void changed(Context &, std::uintmax_t descriptor, std::uintmax_t) noexcept
{
    __atomic_fetch_add(&changes_of(descriptor), 1, __ATOMIC_RELAXED);
}

/* The peer's address, or ":80" of a socket without a peer, or nothing. Returns false if it may yet have a peer. */
inline bool name_socket(int descriptor, char *name) noexcept
{
    sockaddr_storage address;
    std::memset(&address, 0, sizeof address);
    socklen_t size = sizeof address;
    sockaddr *const any = reinterpret_cast<sockaddr *>(&address);
    const bool peer = getpeername(descriptor, any, &size) == 0;
    char host[INET6_ADDRSTRLEN] = "";
    unsigned port = 0;
    size = sizeof address;
    if (!peer && getsockname(descriptor, any, &size) != 0)
        return false;
    if (address.ss_family == AF_INET) {
        const sockaddr_in *const in = reinterpret_cast<sockaddr_in *>(&address);
        inet_ntop(AF_INET, &in->sin_addr, host, sizeof host);
        port = ntohs(in->sin_port);
    } else if (address.ss_family == AF_INET6) {
        const sockaddr_in6 *const in = reinterpret_cast<sockaddr_in6 *>(&address);
        inet_ntop(AF_INET6, &in->sin6_addr, host, sizeof host);
        port = ntohs(in->sin6_port);
    } else if (address.ss_family == AF_UNIX) {
        std::snprintf(name, NAME_BYTES, "%.60s",
                      reinterpret_cast<sockaddr_un *>(&address)->sun_path);
        return peer;
    }
    if (peer)
        std::snprintf(name, NAME_BYTES, std::strchr(host, ':') ? "[%s]:%u" : "%s:%u", host, port);
    else if (port)
        std::snprintf(name, NAME_BYTES, ":%u", port);
    return peer;
}

/* Asking the kernel takes longer than recording, so each thread remembers some names. Leaves errno alone. */
inline const char *socket_name(std::uintmax_t descriptor) noexcept
{
    struct known {
        std::uintmax_t descriptor;
        unsigned changes;
        char name[NAME_BYTES];
    };
    static thread_local known names[NAMED];
    known &k = names[descriptor % NAMED];
    const unsigned changes = __atomic_load_n(&changes_of(descriptor), __ATOMIC_RELAXED);
    if (*k.name && k.descriptor == descriptor && k.changes == changes)
        return k.name;
    const int before = errno;
    k.descriptor = descriptor;
    k.changes = changes;
    *k.name = 0;
    if (!name_socket(static_cast<int>(descriptor), k.name))
        k.changes--; /* is asked again */
    if (!*k.name)
        std::snprintf(k.name, sizeof k.name, "fd %u", static_cast<unsigned>(descriptor));
    errno = before;
    return k.name;
}

/* How long a timer takes, rounded as people set them: the clock goes on between setting and waiting. Returns false for one that never
 * goes off: people use these as events, and cancel them. */
template <class Object>
auto name_time(Object *timer, char *name, int) noexcept
    -> decltype(timer->expiry - decltype(timer->expiry)::clock::now(), bool())
{
    using clock = typename decltype(timer->expiry)::clock;
    if (timer->expiry == (decltype(timer->expiry)::max)())
        return false;
    const long long us =
        std::chrono::duration_cast<std::chrono::microseconds>(timer->expiry - clock::now()).count();
    const long long step = us < 100000 ? 1000 : us < 10000000 ? 10000 : 100000;
    const long long ms = us < 0 ? 0 : (us + step / 2) / step * step / 1000;
    if (ms < 1000)
        std::snprintf(name, NAME_BYTES, "%lld ms", ms);
    else
        std::snprintf(name, NAME_BYTES, "%g s", static_cast<double>(ms) / 1000);
    return true;
}

template <class Object> bool name_time(Object *, char *, long) noexcept
{
    return true;
}

/* ---- Operations ---- */

struct creator {
    /* HANDLER_CREATION */
    template <class Context, class Operation, class Object>
    static void creation(Context &, Operation &operation, const char *type, Object *object,
                         std::uintmax_t descriptor, const char *name) noexcept
    {
        if (!WEFT_IMPL_ON())
            return;
        static struct weft_site sites[2] = {{0, nullptr, 0, 1}, {0, nullptr, 0, 1}};
        tracked_handler &op = operation;
        if (std::strcmp(type, "deadline_timer") == 0) {
            char time[NAME_BYTES] = "";
            const bool goes_off = name_time(object, time, 0);
            create(op, is_awaited<Operation>::value, &sites[goes_off], goes_off ? "timer" : "event",
                   name, time);
        } else {
            const bool is_socket = std::strcmp(type, "socket") == 0;
            create(op, is_awaited<Operation>::value, &sites[0], type, name,
                   is_socket ? socket_name(descriptor) : "");
        }
    }

    static char *add(char *to, const char *text) noexcept
    {
        for (int i = 0; i < NAME_BYTES && *text; i++)
            *to++ = *text++;
        return to;
    }

    /* site: of operations of which the program's place is not known. */
    static void create(tracked_handler &op, bool awaited, struct weft_site *site, const char *type,
                       const char *name, const char *what) noexcept
    {
        state &s = here();
        const location *place = nullptr;
        for (const location *l = s.locations; l; l = l->outer)
            if (l->is_composed())
                name = l->function;
            else if (l->file && !l->is_entry() && !has(l->file, "/asio/"))
                place = l;
        char label[NAME_BYTES * 2 + 2], *end = add(label, name);
        if (*what)
            end = add(add(end, " "), what);
        *end = 0;
        const bool begins = s.locations && s.locations->is_entry() && !s.awaits;
        awaited = awaited || begins || (s.expects && is_executor(type));
        s.expects = false;
        if (awaited)
            begin_flow(s);
        if (place) {
            struct weft_site placed = {0, place->file, static_cast<std::uint32_t>(place->line), 0};
            op.weft_id = weft_impl_create(&placed, type, label);
        } else {
            op.weft_id = weft_impl_create(site, type, label);
        }
        if (awaited) {
            if (!s.runs.named && !begins)
                name_flow(s, place, label);
            weft_wait_by(s.runs.coroutine, op.weft_id);
            s.awaits = true;
        } else if (s.runs.coroutine && !s.locations && !s.moves && is_executor(type)) {
            s.moves = op.weft_id;
            op.weft_moves = true;
        }
        if (std::strcmp(name, "async_accept") == 0 || std::strcmp(type, "signal_set") == 0) {
            weft_background(op.weft_id); /* it waits for what may never come */
            if (awaited)
                weft_background(s.runs.coroutine);
        }
        op.weft_flow = s.runs;
        if (!s.runs.coroutine) {
            op.weft_flow.group = s.may.coroutine;
            op.weft_flow.group_entry = s.may.entry;
        }
        op.weft_awaited = awaited;
    }

    static bool is_executor(const char *type) noexcept
    {
        return has(type, "executor") || has(type, "io_context") || has(type, "strand") ||
               has(type, "thread_pool");
    }

    /* A coroutine starts something. If none is known to run, one that waited for others to end continues, or one begins. */
    static void begin_flow(state &s) noexcept
    {
        if (s.runs.coroutine)
            return;
        struct weft_site site = {0, nullptr, 0, 1};
        s.runs = s.may;
        s.may = flow();
        if (!s.runs.coroutine)
            s.runs.coroutine = weft_impl_create(&site, "coroutine", nullptr);
        weft_run(s.runs.coroutine);
    }

    /* By its function; if that is not known, by what it does first. */
    static void name_flow(state &s, const location *place, const char *label) noexcept
    {
        char name[NAME_BYTES];
        if (place && place->function) {
            function_name(place->function, name, sizeof name);
            label = name;
        }
        weft_label(s.runs.coroutine, label);
        s.runs.named = true;
    }
};

/* HANDLER_COMPLETION: from where Asio has what it needs for the handler until the handler has returned. */
class completion
{
  public:
    template <class Handler>
    completion(const tracked_handler &op, Handler &handler) noexcept
        : entry_(op.weft_awaited ? entry_of(handler, 0, 0) : nullptr), id_(op.weft_id),
          flow_(op.weft_flow), awaited_(op.weft_awaited), moves_(op.weft_moves), inline_(false),
          begun_(false), failed_(false)
    {
    }

    completion(const completion &) = delete;
    completion &operator=(const completion &) = delete;

    ~completion()
    {
        if (!id_)
            return;
        if (begun_) {
            fail("left by an exception");
            invocation_end();
            return;
        }
        weft_forget(id_);
        if (awaited_ || (moves_ && take_moving(id_)))
            weft_forget(flow_.coroutine);
    }

    /* HANDLER_INVOCATION_BEGIN, with what the handler is called with, or some of it: the first is the error, if there is one. */
    void invocation_begin() noexcept
    {
        if (id_)
            begin();
    }

    template <class First, class... Rest>
    void invocation_begin(const First &first, const Rest &...) noexcept
    {
        if (!id_)
            return;
        look(first, 0);
        begin();
    }

    /* HANDLER_INVOCATION_END */
    void invocation_end() noexcept
    {
        if (!id_)
            return;
        if (inline_) {
            id_ = 0;
            return;
        }
        state &s = here();
        stops(s);
        if (moves_ && !awaited_ && !s.runs.coroutine && note_moving(id_, OVER))
            weft_resolve(flow_.coroutine);
        if (!awaited_)
            end(id_);
        s = before_;
        weft_run(ran_);
        id_ = 0;
    }

  private:
    template <class Error>
    auto look(const Error &error, int) noexcept -> decltype(error.message(), void())
    {
        if (!error || !WEFT_IMPL_ON())
            return;
#ifdef __cpp_exceptions
        try {
            fail(error.message().c_str());
        } catch (...) {
            fail(error.category().name());
        }
#else
        fail(error.message().c_str());
#endif
    }

    template <class Other> void look(const Other &, long) noexcept
    {
    }

    void fail(const char *reason) noexcept
    {
        failed_ = true;
        std::snprintf(reason_, sizeof reason_, "%s", reason);
    }

    void begin() noexcept
    {
        state &s = here();
        begun_ = true;
        if (moves_ && s.moves == id_) {
            inline_ = awaited_ =
                true; /* at once, within the run of the coroutine that handed it over */
            s.moves = 0;
            end(flow_.coroutine);
            return;
        }
        before_ = s;
        s = state();
        s.runs = flow_;
        awaited_ = awaited_ || (moves_ && take_moving(id_));
        if (awaited_) {
            ran_ = weft_run(WEFT_LOOP);
            correct(s.runs);
            flow_ = s.runs;
            end(WEFT_LOOP);
            weft_wake(flow_.coroutine, id_);
        } else {
            s.runs = flow();
            if (moves_) /* it may be moving on another thread, which is not that far */
                s.may = flow_;
            else
                s.may = {flow_.group, 0, flow_.group_entry, nullptr, true};
            ran_ = weft_run(id_);
        }
    }

    /* A coroutine that ends resumes the one that waited for it, of which only what it awaits next says that it is another one. */
    void correct(flow &f) noexcept
    {
        if (!entry_ || f.entry == entry_)
            return;
        if (f.entry && f.group && (!f.group_entry || f.group_entry == entry_)) {
            weft_resolve(f.coroutine);
            weft_read(f.group, f.coroutine);
            f = {f.group, 0, nullptr, nullptr, true};
        }
        f.entry = entry_;
    }

    /* Whoever gets an error knows of it. */
    void end(weft_promise resolver) noexcept
    {
        weft_resolve_by(resolver, id_, failed_ ? WEFT_BY_ERROR : WEFT_BY_VALUE,
                        failed_ ? reason_ : nullptr);
        if (failed_ && !awaited_)
            weft_read(WEFT_LOOP, id_);
    }

    const void *entry_;
    weft_promise id_, ran_;
    flow flow_;
    state before_;
    bool awaited_, moves_, inline_, begun_, failed_;
    char reason_[2 * NAME_BYTES];
};

/* HANDLER_OPERATION */
template <class Context>
void operation(Context &context, const char *, void *, std::uintmax_t descriptor,
               const char *) noexcept
{
    changed(context, descriptor, 0);
}

template <class... A> void nothing(const A &...) noexcept
{
}

} // namespace asio
} // namespace weft

#endif

#endif

/* Not guarded: a file may include both kinds of Asio, with different macros. */
#ifndef WEFT_DISABLE
#define WEFT_IMPL_ASIO_INHERIT : public ::weft::asio::tracked_handler
#define WEFT_IMPL_ASIO_ALSO_INHERIT , public ::weft::asio::tracked_handler
#define WEFT_IMPL_ASIO_LOCATION(args) ::weft::asio::location tracked_location args
#define WEFT_IMPL_ASIO_CREATION(args) ::weft::asio::creator::creation args
/* Every operation of Asio's has a handler_, which only its own functions may name; this is one. */
#define WEFT_IMPL_ASIO_COMPLETION(args)                                                            \
    ::weft::asio::completion tracked_completion(args, args.handler_)
#define WEFT_IMPL_ASIO_BEGIN(args) tracked_completion.invocation_begin args
#define WEFT_IMPL_ASIO_END tracked_completion.invocation_end()
#define WEFT_IMPL_ASIO_OPERATION(args) ::weft::asio::operation args
#define WEFT_IMPL_ASIO_CHANGED(args) ::weft::asio::changed args
#define WEFT_IMPL_ASIO_NOTHING(args) ::weft::asio::nothing args
#else
#define WEFT_IMPL_ASIO_INHERIT
#define WEFT_IMPL_ASIO_ALSO_INHERIT
#define WEFT_IMPL_ASIO_LOCATION(args) (void)0
#define WEFT_IMPL_ASIO_CREATION(args) (void)0
#define WEFT_IMPL_ASIO_COMPLETION(args) (void)0
#define WEFT_IMPL_ASIO_BEGIN(args) (void)0
#define WEFT_IMPL_ASIO_END (void)0
#define WEFT_IMPL_ASIO_OPERATION(args) (void)0
#define WEFT_IMPL_ASIO_CHANGED(args) (void)0
#define WEFT_IMPL_ASIO_NOTHING(args) (void)0
#endif

#if defined ASIO_CUSTOM_HANDLER_TRACKING && !defined ASIO_HANDLER_CREATION
#define ASIO_INHERIT_TRACKED_HANDLER WEFT_IMPL_ASIO_INHERIT
#define ASIO_ALSO_INHERIT_TRACKED_HANDLER WEFT_IMPL_ASIO_ALSO_INHERIT
#define ASIO_HANDLER_TRACKING_INIT (void)0
#define ASIO_HANDLER_LOCATION(args) WEFT_IMPL_ASIO_LOCATION(args)
#define ASIO_HANDLER_CREATION(args) WEFT_IMPL_ASIO_CREATION(args)
#define ASIO_HANDLER_COMPLETION(args) WEFT_IMPL_ASIO_COMPLETION(args)
#define ASIO_HANDLER_INVOCATION_BEGIN(args) WEFT_IMPL_ASIO_BEGIN(args)
#define ASIO_HANDLER_INVOCATION_END WEFT_IMPL_ASIO_END
#define ASIO_HANDLER_OPERATION(args) WEFT_IMPL_ASIO_OPERATION(args)
#define ASIO_HANDLER_REACTOR_REGISTRATION(args) WEFT_IMPL_ASIO_CHANGED(args)
#define ASIO_HANDLER_REACTOR_DEREGISTRATION(args) WEFT_IMPL_ASIO_CHANGED(args)
#define ASIO_HANDLER_REACTOR_READ_EVENT 1
#define ASIO_HANDLER_REACTOR_WRITE_EVENT 2
#define ASIO_HANDLER_REACTOR_ERROR_EVENT 4
#define ASIO_HANDLER_REACTOR_EVENTS(args) WEFT_IMPL_ASIO_NOTHING(args)
#define ASIO_HANDLER_REACTOR_OPERATION(args) WEFT_IMPL_ASIO_NOTHING(args)
#endif

#if defined BOOST_ASIO_CUSTOM_HANDLER_TRACKING && !defined BOOST_ASIO_HANDLER_CREATION
#define BOOST_ASIO_INHERIT_TRACKED_HANDLER WEFT_IMPL_ASIO_INHERIT
#define BOOST_ASIO_ALSO_INHERIT_TRACKED_HANDLER WEFT_IMPL_ASIO_ALSO_INHERIT
#define BOOST_ASIO_HANDLER_TRACKING_INIT (void)0
#define BOOST_ASIO_HANDLER_LOCATION(args) WEFT_IMPL_ASIO_LOCATION(args)
#define BOOST_ASIO_HANDLER_CREATION(args) WEFT_IMPL_ASIO_CREATION(args)
#define BOOST_ASIO_HANDLER_COMPLETION(args) WEFT_IMPL_ASIO_COMPLETION(args)
#define BOOST_ASIO_HANDLER_INVOCATION_BEGIN(args) WEFT_IMPL_ASIO_BEGIN(args)
#define BOOST_ASIO_HANDLER_INVOCATION_END WEFT_IMPL_ASIO_END
#define BOOST_ASIO_HANDLER_OPERATION(args) WEFT_IMPL_ASIO_OPERATION(args)
#define BOOST_ASIO_HANDLER_REACTOR_REGISTRATION(args) WEFT_IMPL_ASIO_CHANGED(args)
#define BOOST_ASIO_HANDLER_REACTOR_DEREGISTRATION(args) WEFT_IMPL_ASIO_CHANGED(args)
#define BOOST_ASIO_HANDLER_REACTOR_READ_EVENT 1
#define BOOST_ASIO_HANDLER_REACTOR_WRITE_EVENT 2
#define BOOST_ASIO_HANDLER_REACTOR_ERROR_EVENT 4
#define BOOST_ASIO_HANDLER_REACTOR_EVENTS(args) WEFT_IMPL_ASIO_NOTHING(args)
#define BOOST_ASIO_HANDLER_REACTOR_OPERATION(args) WEFT_IMPL_ASIO_NOTHING(args)
#endif
