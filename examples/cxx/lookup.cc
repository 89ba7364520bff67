// SPDX-License-Identifier: ISC
// lookup good|bad: a server that looks words up, and a client that asks it for five, one after the other, on Asio. Prints what
// the client got within half a second.
//
// Wrong: for a word that it does not know, the server returns without an answer, and without reading on.
// Mended: it answers "?".
//
// Everything of Asio's is recorded by the -D with which this is compiled; of the client's requests the program says more.
#ifdef WITH_BOOST
#include <boost/asio.hpp>
namespace asio = boost::asio;
using boost::system::error_code;
#else
#include <asio.hpp>
using asio::error_code;
#endif

#include <weft/weft.hpp>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

using asio::ip::tcp;

static bool bad;

static std::string line_of(asio::streambuf &input)
{
    std::string line;
    std::istream stream(&input);
    std::getline(stream, line);
    return line;
}

class session : public std::enable_shared_from_this<session>
{
  public:
    explicit session(tcp::socket of) : socket(std::move(of))
    {
    }

    void read()
    {
        asio::async_read_until(socket, input, '\n',
                               [self = shared_from_this()](error_code error, std::size_t) {
                                   if (!error)
                                       self->look_up(line_of(self->input));
                               });
    }

  private:
    void look_up(const std::string &word)
    {
        static const std::map<std::string, std::string> words = {
            {"warp", "Kette"}, {"weft", "Schuss"}, {"loom", "Webstuhl"}, {"yarn", "Garn"}};
        const auto found = words.find(word);
        if (found == words.end() && bad) {
            idle.expires_at(std::chrono::steady_clock::time_point::max()); // keeps the connection
            idle.async_wait([self = shared_from_this()](error_code) {});
            return;
        }
        output = (found == words.end() ? "?" : found->second) + "\n";
        asio::async_write(socket, asio::buffer(output),
                          [self = shared_from_this()](error_code error, std::size_t) {
                              if (!error)
                                  self->read();
                          });
    }

    tcp::socket socket;
    asio::steady_timer idle{socket.get_executor()};
    asio::streambuf input;
    std::string output;
};

class client
{
  public:
    client(asio::io_context &io, const tcp::endpoint &server) : socket(io)
    {
        socket.async_connect(server, [this](error_code error) {
            if (!error)
                ask();
        });
    }

  private:
    void ask()
    {
        static const char *const words[] = {"weft", "warp", "heddle", "loom", "yarn"};
        if (asked == sizeof words / sizeof *words) {
            socket.close();
            return;
        }
        line = words[asked++];
        request = weft::promise("request", line);
        request.should_resolve();
        const weft::run as{request};
        line += "\n";
        asio::async_write(socket, asio::buffer(line), [this](error_code error, std::size_t) {
            if (!error)
                answer();
        });
    }

    void answer()
    {
        asio::async_read_until(socket, input, '\n', [this](error_code error, std::size_t) {
            if (error) {
                request.fail(error.message());
                return;
            }
            std::printf("%s\n", line_of(input).c_str());
            request.fulfill();
            ask();
        });
    }

    tcp::socket socket;
    asio::streambuf input;
    std::string line;
    std::size_t asked = 0;
    weft::promise request;
};

int main(int argc, char **argv)
{
    if (argc != 2 || (std::strcmp(argv[1], "good") != 0 && std::strcmp(argv[1], "bad") != 0)) {
        std::fprintf(stderr, "usage: lookup good|bad\n");
        return 2;
    }
    bad = std::strcmp(argv[1], "bad") == 0;
    asio::io_context io;
    tcp::acceptor acceptor(io, tcp::endpoint(asio::ip::address_v4::loopback(), 0));
    acceptor.async_accept([](error_code error, tcp::socket peer) {
        if (!error)
            std::make_shared<session>(std::move(peer))->read();
    });
    client asks(io, acceptor.local_endpoint());
    io.run_for(std::chrono::milliseconds(500));
    weft_stop(); // what is left hangs; it is not to be forgotten
    return 0;
}
