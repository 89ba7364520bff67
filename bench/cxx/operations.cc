// SPDX-License-Identifier: ISC
// operations post|socket ROUNDS: operations of Asio: handlers that are posted, bytes that go to and fro through a pair of sockets.
#include <asio.hpp>

#include <cstdlib>
#include <cstring>

static asio::io_context io;
static long left;

static void again()
{
    if (left-- > 0)
        asio::post(io, again);
}

static asio::local::stream_protocol::socket one(io), other(io);
static char sent = 'a', received;

static void ping()
{
    if (left-- <= 0)
        return;
    asio::async_write(one, asio::buffer(&sent, 1), [](asio::error_code, std::size_t) {});
    other.async_read_some(asio::buffer(&received, 1),
                          [](asio::error_code, std::size_t) { ping(); });
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    left = std::atol(argv[2]);
    asio::local::connect_pair(one, other);
    if (std::strcmp(argv[1], "post") == 0)
        again();
    else
        ping();
    io.run();
    return 0;
}
