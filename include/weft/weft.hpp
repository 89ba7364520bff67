/* SPDX-License-Identifier: ISC */
/* weft.h for C++17 and later: promises that end with their scope, and guards for what runs and what is held.
 *
 *     struct session {
 *         weft::promise whole{"session", name()};         forgotten with the session, if nothing ends it
 *         void on_reply() {
 *             weft::run as{whole};                        runs until the end of this block
 *             …
 *             whole.fulfill();
 *         }
 *     };
 *
 * Nothing here throws or allocates. Contracts, threads and costs are those of weft.h; an object is used by one thread at a
 * time, as a std::unique_ptr is. Compiled with -DWEFT_DISABLE nothing is called.
 *
 * The place of a call is that of the caller: it is the default of a parameter `weft::place`, which a constructor can pass on. (For
 * the initializer of a member, gcc reports the constructor's place.) Such a function has no weft_site for each caller, as a macro
 * has. So a site is made in the call, and the recorder finds what it knows of it by its texts, as it does with every text that is not a
 * literal. This needs no macro, no table that grows, and nothing while nothing is recorded; while recording it takes some 50 ns
 * more than weft_create. Where that matters: `weft::promise p{weft_create("task", "literal")}`. */
#ifndef WEFT_WEFT_HPP
#define WEFT_WEFT_HPP

#include <weft/weft.h>

#include <exception>
#include <string>
#include <utility>

#if __cplusplus < 201703L
#error "weft/weft.hpp needs C++17; weft/weft.h does not"
#endif

#define WEFT_IMPL_METHOD __attribute__((always_inline)) inline

namespace weft
{

/* Where something is written. */
struct place {
    const char *file;
    unsigned line;
    const char *function;

    WEFT_IMPL_METHOD static constexpr place here(
        const char *file = __builtin_FILE(), unsigned line = __builtin_LINE(),
        const char *function = __builtin_FUNCTION()) noexcept
    {
        return {file, line, function};
    }
};

/* As weft_create_from, with the place of the caller; parent 0: the promise that runs. type and label need not be literals. */
WEFT_IMPL_METHOD weft_promise create(const char *type, const char *label = nullptr,
                                     weft_promise parent = 0,
                                     const place &where = place::here()) noexcept
{
    if (__builtin_expect(WEFT_IMPL_STATE() != 0, 0)) {
        struct weft_site site = {0, where.file, where.line, 0};
        return parent ? weft_impl_create_from(&site, parent, type, label)
                      : weft_impl_create(&site, type, label);
    }
    return 0;
}

/* What is thrown, in words. The text is as long valid as the exception. */
WEFT_IMPL_METHOD const char *reason_of(const std::exception_ptr &thrown) noexcept
{
#ifdef __cpp_exceptions
    try {
        if (thrown)
            std::rethrow_exception(thrown);
    } catch (const std::exception &e) {
        return e.what();
    } catch (const char *text) {
        return text;
    } catch (...) {
        return "an exception that is no std::exception";
    }
#else
    (void)thrown;
#endif
    return nullptr;
}

/* Owns a promise. What is neither ended nor released when it is destroyed is forgotten. */
class promise
{
  public:
    /* Untracked. */
    WEFT_IMPL_METHOD promise() noexcept : id_(0)
    {
    }

    /* Takes over what weft_create returned. */
    WEFT_IMPL_METHOD explicit promise(weft_promise id) noexcept : id_(id)
    {
    }

    WEFT_IMPL_METHOD promise(const char *type, const char *label = nullptr,
                             const place &where = place::here()) noexcept
        : id_(create(type, label, 0, where))
    {
    }

    WEFT_IMPL_METHOD promise(const char *type, const std::string &label,
                             const place &where = place::here()) noexcept
        : id_(create(type, label.c_str(), 0, where))
    {
    }

    /* Created by parent. */
    WEFT_IMPL_METHOD promise(const promise &parent, const char *type, const char *label = nullptr,
                             const place &where = place::here()) noexcept
        : id_(create(type, label, parent.id_, where))
    {
    }

    WEFT_IMPL_METHOD promise(promise &&other) noexcept : id_(other.release())
    {
    }

    WEFT_IMPL_METHOD promise &operator=(promise &&other) noexcept
    {
        if (this != &other) {
            forget();
            id_ = other.release();
        }
        return *this;
    }

    promise(const promise &) = delete;
    promise &operator=(const promise &) = delete;

    WEFT_IMPL_METHOD ~promise()
    {
        forget();
    }

    /* 0: untracked. After its end, a promise is untracked, too: what follows does nothing. */
    WEFT_IMPL_METHOD weft_promise id() const noexcept
    {
        return id_;
    }

    /* Gives up the promise without ending it. */
    WEFT_IMPL_METHOD weft_promise release() noexcept
    {
        return std::exchange(id_, 0);
    }

    /* ---- Ending, by the promise that runs ---- */

    WEFT_IMPL_METHOD void fulfill() noexcept
    {
        weft_fulfill(release());
    }

    WEFT_IMPL_METHOD void fail(const char *reason = nullptr) noexcept
    {
        const weft_promise id = release();
        weft_fail(id, reason);
    }

    WEFT_IMPL_METHOD void fail(const std::string &reason) noexcept
    {
        fail(reason.c_str());
    }

    WEFT_IMPL_METHOD void fail(const std::exception &e) noexcept
    {
        fail(e.what());
    }

    WEFT_IMPL_METHOD void fail(const std::exception_ptr &thrown) noexcept
    {
        const weft_promise id = release();
        weft_fail(id, reason_of(thrown));
    }

    WEFT_IMPL_METHOD void cancel() noexcept
    {
        weft_cancel(release());
    }

    WEFT_IMPL_METHOD void resolve() noexcept
    {
        weft_resolve(release());
    }

    WEFT_IMPL_METHOD void forget() noexcept
    {
        if (id_)
            weft_forget(release());
    }

    /* ---- Waiting, saying more ---- */

    WEFT_IMPL_METHOD void wait() const noexcept
    {
        weft_wait(id_);
    }

    WEFT_IMPL_METHOD void wait_by(const promise &reader) const noexcept
    {
        weft_wait_by(reader.id_, id_);
    }

    WEFT_IMPL_METHOD void notify() const noexcept
    {
        weft_notify(id_);
    }

    WEFT_IMPL_METHOD promise &label(const char *text) noexcept
    {
        weft_label(id_, text);
        return *this;
    }

    WEFT_IMPL_METHOD promise &label(const std::string &text) noexcept
    {
        return label(text.c_str());
    }

    /* See weft_span and weft_traceparent_sent. */
    WEFT_IMPL_METHOD promise &span(const uint8_t trace_id[16], const uint8_t span_id[8]) noexcept
    {
        weft_span(id_, trace_id, span_id);
        return *this;
    }

    WEFT_IMPL_METHOD promise &span_parent(const uint8_t trace_id[16],
                                          const uint8_t span_id[8]) noexcept
    {
        weft_span_parent(id_, trace_id, span_id);
        return *this;
    }

    WEFT_IMPL_METHOD promise &traceparent_sent(const char *header) noexcept
    {
        weft_traceparent_sent(id_, header);
        return *this;
    }

    WEFT_IMPL_METHOD promise &traceparent_received(const char *header) noexcept
    {
        weft_traceparent_received(id_, header);
        return *this;
    }

    WEFT_IMPL_METHOD promise &should_resolve() noexcept
    {
        weft_should_resolve(id_);
        return *this;
    }

    WEFT_IMPL_METHOD promise &background() noexcept
    {
        weft_background(id_);
        return *this;
    }

  private:
    weft_promise id_;
};

/* Runs as a promise until the end of the block; then runs again what ran before. Blocks nest. */
class [[nodiscard]] run
{
  public:
    WEFT_IMPL_METHOD explicit run(weft_promise p) noexcept : before_(weft_run(p))
    {
    }

    WEFT_IMPL_METHOD explicit run(const promise &p) noexcept : run(p.id())
    {
    }

    /* reader runs because p was resolved. */
    WEFT_IMPL_METHOD run(weft_promise reader, weft_promise p) noexcept : before_(weft_run(reader))
    {
        weft_wake(reader, p);
    }

    run(const run &) = delete;
    run &operator=(const run &) = delete;

    WEFT_IMPL_METHOD ~run()
    {
        weft_run(before_);
    }

  private:
    weft_promise before_;
};

/* A guard: `weft::run as = weft::wake(request, reply);` */
WEFT_IMPL_METHOD run wake(weft_promise reader, weft_promise p) noexcept
{
    return run(reader, p);
}

WEFT_IMPL_METHOD run wake(const promise &reader, const promise &p) noexcept
{
    return run(reader.id(), p.id());
}

/* Holds a resource until the end of the block; say it once the resource is held. holder 0: the promise that runs. Name the
 * holder where another one runs when it is released. */
class [[nodiscard]] hold
{
  public:
    WEFT_IMPL_METHOD explicit hold(weft_promise resource, weft_promise holder = 0) noexcept
        : resource_(resource), holder_(holder)
    {
        if (holder_)
            weft_acquire_by(holder_, resource_);
        else
            weft_acquire(resource_);
    }

    WEFT_IMPL_METHOD explicit hold(const promise &resource) noexcept : hold(resource.id())
    {
    }

    WEFT_IMPL_METHOD hold(const promise &resource, const promise &holder) noexcept
        : hold(resource.id(), holder.id())
    {
    }

    WEFT_IMPL_METHOD hold(hold &&other) noexcept
        : resource_(std::exchange(other.resource_, 0)), holder_(other.holder_)
    {
    }

    hold(const hold &) = delete;
    hold &operator=(const hold &) = delete;

    /* Before the end of the block. */
    WEFT_IMPL_METHOD void release() noexcept
    {
        const weft_promise resource = std::exchange(resource_, 0);
        if (resource && holder_)
            weft_release_by(holder_, resource);
        else if (resource)
            weft_release(resource);
    }

    WEFT_IMPL_METHOD ~hold()
    {
        release();
    }

  private:
    weft_promise resource_, holder_;
};

/* A counter of the program, for all threads together; name is a literal:
 *     static weft::counter queued{"queued"};        queued += 1; */
class counter
{
  public:
    WEFT_IMPL_METHOD constexpr explicit counter(const char *name) noexcept
        : counter_ WEFT_COUNTER(name)
    {
    }

    counter(const counter &) = delete;
    counter &operator=(const counter &) = delete;

    WEFT_IMPL_METHOD void set(int64_t value) noexcept
    {
        weft_counter_set(&counter_, value);
    }

    WEFT_IMPL_METHOD counter &operator+=(int64_t amount) noexcept
    {
        weft_counter_add(&counter_, amount);
        return *this;
    }

    WEFT_IMPL_METHOD counter &operator-=(int64_t amount) noexcept
    {
        return *this += -amount;
    }

    WEFT_IMPL_METHOD counter &operator++() noexcept
    {
        return *this += 1;
    }

    WEFT_IMPL_METHOD counter &operator--() noexcept
    {
        return *this += -1;
    }

  private:
    struct weft_counter counter_;
};

/* Records from here to the end of the block, if nothing is recorded already. */
class [[nodiscard]] recording
{
  public:
    WEFT_IMPL_METHOD explicit recording(const char *path = nullptr) noexcept
    {
        struct weft_options options = {};
        options.path = path;
        error_ = weft_start(path ? &options : nullptr);
    }

    WEFT_IMPL_METHOD explicit recording(const struct weft_options &options) noexcept
        : error_(weft_start(&options))
    {
    }

    recording(const recording &) = delete;
    recording &operator=(const recording &) = delete;

    /* 0, or the negative errno of weft_start. */
    WEFT_IMPL_METHOD int error() const noexcept
    {
        return error_;
    }

    WEFT_IMPL_METHOD ~recording()
    {
        if (!error_)
            weft_stop();
    }

  private:
    int error_ = 0;
};

} // namespace weft

#endif
