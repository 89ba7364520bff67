// SPDX-License-Identifier: ISC
// flows THREADS: coroutines of Asio that start others and wait for the first of two, on strands and without them, and hand
// themselves to executors. How many there are is known: tests/e2e/cxx.sh counts them.
#include <asio.hpp>
#include <asio/experimental/awaitable_operators.hpp>

#include <weft/weft.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

using namespace std::chrono_literals;
using namespace asio::experimental::awaitable_operators;
using asio::awaitable;
using asio::use_awaitable;

static std::atomic<int> done;

static awaitable<void> nap(std::chrono::microseconds time)
{
    asio::steady_timer timer(co_await asio::this_coro::executor, time);
    co_await timer.async_wait(use_awaitable);
}

static awaitable<int> work(std::chrono::microseconds time)
{
    co_await nap(time);
    co_await asio::post(co_await asio::this_coro::executor, use_awaitable);
    co_await nap(time);
    co_return 1;
}

static awaitable<void> race(int i)
{
    for (int round = 0; round < 10; round++) {
        co_await (work(50us) || nap(i % 2 ? 30us : 500us));
        co_await nap(10us);
        done +=
            co_await asio::co_spawn(co_await asio::this_coro::executor, work(1us), use_awaitable);
        co_await nap(10us);
    }
    if (i % 5 == 0)
        throw std::runtime_error("fifth");
}

int main(int argc, char **argv)
{
    const int threads = argc > 1 ? std::atoi(argv[1]) : 1;
    {
        asio::io_context io;
        asio::steady_timer never(io);
        never.expires_at(asio::steady_timer::time_point::max());
        never.async_wait([](asio::error_code) {}); // destroyed with io
        std::atomic<int> running(20);
        for (int i = 0; i < 20; i++) {
            const auto ended = [&](std::exception_ptr) {
                if (--running == 0)
                    io.stop();
            };
            if (threads > 1 || i % 2)
                asio::co_spawn(asio::make_strand(io), race(i), ended);
            else
                asio::co_spawn(io, race(i), ended);
        }
        std::vector<std::thread> all;
        for (int i = 0; i < threads; i++)
            all.emplace_back([&] { io.run(); });
        for (std::thread &thread : all)
            thread.join();
    }
    std::printf("%d\n", done.load());
    weft_stop();
    return 0;
}
