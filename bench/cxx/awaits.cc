// SPDX-License-Identifier: ISC
// awaits child|leaf ROUNDS: awaits in a loop, of another coroutine or of something that is resumed by the loop.
#include "../../examples/cxx/task.hpp"

#include <cstdlib>
#include <cstring>

static std::coroutine_handle<> waiting;

struct leaf {
    bool await_ready() noexcept
    {
        return false;
    }

    void await_suspend(std::coroutine_handle<> handle) noexcept
    {
        waiting = handle;
    }

    void await_resume() noexcept
    {
    }
};

static task<long> child(long n)
{
    co_return n;
}

static task<long> children(long rounds)
{
    long sum = 0;
    for (long i = 0; i < rounds; i++)
        sum += co_await child(i);
    co_return sum;
}

static task<long> leaves(long rounds)
{
    for (long i = 0; i < rounds; i++)
        co_await leaf();
    co_return rounds;
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    const long rounds = std::atol(argv[2]);
    task<long> all = std::strcmp(argv[1], "child") == 0 ? children(rounds) : leaves(rounds);
    all.start();
    while (!all.is_done())
        waiting.resume();
    return 0;
}
