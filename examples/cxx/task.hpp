/* SPDX-License-Identifier: ISC */
/* A task as libraries of coroutines have it, such as cppcoro: it starts when it is awaited, and continues whoever awaits it. It knows
 * nothing of weft. And a loop with timers, which says when it sleeps. */
#pragma once

#include <weft/coroutine.hpp>

#include <chrono>
#include <coroutine>
#include <exception>
#include <map>
#include <optional>
#include <thread>
#include <utility>

/* What tasks of all types have. */
class task_promise
{
  public:
    std::suspend_always initial_suspend() noexcept
    {
        return {};
    }

    struct final_awaiter {
        bool await_ready() noexcept
        {
            return false;
        }

        template <class Promise>
        std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> handle) noexcept
        {
            return handle.promise().continuation;
        }

        void await_resume() noexcept
        {
        }
    };

    final_awaiter final_suspend() noexcept
    {
        return {};
    }

    void unhandled_exception() noexcept
    {
        thrown = std::current_exception();
    }

    std::coroutine_handle<> continuation = std::noop_coroutine();
    std::exception_ptr thrown;
};

template <class T> class task
{
  public:
    struct promise_type : task_promise {
        task get_return_object()
        {
            return task(std::coroutine_handle<promise_type>::from_promise(*this));
        }

        void return_value(T result)
        {
            value = std::move(result);
        }

        std::optional<T> value;
    };

    task(task &&other) noexcept : handle(std::exchange(other.handle, nullptr))
    {
    }

    ~task()
    {
        if (handle)
            handle.destroy();
    }

    void start()
    {
        handle.resume();
    }

    bool is_done() const
    {
        return handle.done();
    }

    auto operator co_await() const noexcept
    {
        struct awaiter {
            bool await_ready() noexcept
            {
                return handle.done();
            }

            std::coroutine_handle<> await_suspend(std::coroutine_handle<> continuation) noexcept
            {
                handle.promise().continuation = continuation;
                return handle;
            }

            T await_resume()
            {
                if (handle.promise().thrown)
                    std::rethrow_exception(handle.promise().thrown);
                return std::move(*handle.promise().value);
            }

            std::coroutine_handle<promise_type> handle;
        };
        return awaiter{handle};
    }

  private:
    explicit task(std::coroutine_handle<promise_type> of) : handle(of)
    {
    }

    std::coroutine_handle<promise_type> handle;
};

/* This is all that weft needs. */
WEFT_COROUTINES(task)

/* Runs what has slept long enough, until nothing sleeps. */
class loop
{
    using clock = std::chrono::steady_clock;

  public:
    struct sleep {
        bool await_ready() noexcept
        {
            return false;
        }

        void await_suspend(std::coroutine_handle<> handle)
        {
            owner.sleepers.emplace(clock::now() + time, handle);
        }

        void await_resume() noexcept
        {
        }

        loop &owner;
        clock::duration time;
    };

    sleep sleep_for(clock::duration time)
    {
        return {*this, time};
    }

    void run()
    {
        while (!sleepers.empty()) {
            const auto [time, handle] = *sleepers.begin();
            sleepers.erase(sleepers.begin());
            weft_suspend(WEFT_WAIT_FOR_WORK);
            std::this_thread::sleep_until(time);
            weft_resume();
            handle.resume();
        }
    }

  private:
    std::multimap<clock::time_point, std::coroutine_handle<>> sleepers;
};
