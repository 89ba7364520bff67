// SPDX-License-Identifier: ISC
// pool good|bad: twelve requests share two connections. Prints how many were answered.
//
// Wrong: a query that throws leaves its connection out of the pool.
// Mended: a guard gives it back.
#include "task.hpp"

#include <cstdio>
#include <cstring>
#include <deque>
#include <stdexcept>
#include <string>
#include <vector>

using namespace std::chrono_literals;

static loop io;

/* Connections, and those who wait for one in turn. */
class pool
{
  public:
    explicit pool(int connections) : free(connections)
    {
    }

    struct acquire {
        bool await_ready() noexcept
        {
            return of.free > 0 && of.free-- > 0;
        }

        void await_suspend(std::coroutine_handle<> handle)
        {
            of.waiting.push_back(handle);
        }

        void await_resume() noexcept
        {
        }

        pool &of;
    };

    void release()
    {
        if (waiting.empty()) {
            free++;
            return;
        }
        const std::coroutine_handle<> next = waiting.front();
        waiting.pop_front();
        next.resume();
    }

  private:
    int free;
    std::deque<std::coroutine_handle<>> waiting;
};

static pool connections(2);
static int answered;

static task<int> query(int row)
{
    co_await io.sleep_for(5ms);
    if (row % 5 == 4)
        throw std::runtime_error("bad row " + std::to_string(row));
    co_return row;
}

struct releases {
    ~releases()
    {
        connections.release();
    }
};

static task<int> handle(int row, bool bad)
{
    weft_should_resolve(co_await weft::this_coroutine);
    co_await pool::acquire{connections};
    if (bad) {
        const int result = co_await query(row);
        connections.release();
        co_return result;
    }
    const releases guard;
    co_return co_await query(row);
}

static task<bool> serve(int row, bool bad)
{
    try {
        co_await handle(row, bad);
        answered++;
    } catch (const std::exception &) { // as a server logs it, and goes on
        co_return false;
    }
    co_return true;
}

int main(int argc, char **argv)
{
    if (argc != 2 || (std::strcmp(argv[1], "good") != 0 && std::strcmp(argv[1], "bad") != 0)) {
        std::fprintf(stderr, "usage: pool good|bad\n");
        return 2;
    }
    std::vector<task<bool>> requests;
    for (int row = 0; row < 12; row++)
        requests.push_back(serve(row, std::strcmp(argv[1], "bad") == 0));
    for (task<bool> &request : requests)
        request.start();
    io.run();
    std::printf("%d answered\n", answered);
    weft_stop(); // what is left hangs; it is not to be forgotten
    return 0;
}
