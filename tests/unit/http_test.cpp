// Tests servers that never end: one drips, one sends for ever.
#include "io/http.h"

#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>

#include <atomic>
#include <thread>

#include "helpers.h"
#include "io/regular_file.h"

using namespace headlight;

namespace {

/// Sends a head, and then a piece every few milliseconds while someone reads.
class Endless {
public:
    explicit Endless(std::string piece) : server_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof address;
        auto* const at = reinterpret_cast<sockaddr*>(&address);
        REQUIRE((bind(server_.number(), at, size) == 0 && listen(server_.number(), 4) == 0));
        REQUIRE(getsockname(server_.number(), at, &size) == 0);
        url = "http://127.0.0.1:" + std::to_string(ntohs(address.sin_port)) + "/file";
        thread_ = std::thread([this, piece = std::move(piece)] {
            const std::string head = "HTTP/1.1 200 OK\r\nContent-Length: 100000000\r\n\r\n";
            const Descriptor client(accept(server_.number(), nullptr, nullptr));
            bool listens = send(client.number(), head.data(), head.size(), MSG_NOSIGNAL) > 0;
            while (listens && !done_) {
                listens = send(client.number(), piece.data(), piece.size(), MSG_NOSIGNAL) > 0;
                std::this_thread::sleep_for(std::chrono::milliseconds(20));
            }
        });
    }
    ~Endless() {
        done_ = true;
        shutdown(server_.number(), SHUT_RDWR);
        thread_.join();
    }
    std::string url;

private:
    Descriptor server_;
    std::atomic<bool> done_{false};
    std::thread thread_;
};

HttpRequest request_to(const Endless& server) {
    HttpRequest out;
    out.url = server.url;
    out.max = 100'000'000;
    return out;
}

}  // namespace

TEST_CASE("http: a server that sends a byte now and then times out") {
    const Endless server("x");
    HttpRequest request = request_to(server);
    request.patience = 1;
    std::string body;
    const auto answer = (*HttpClient::open())->get_text(request, body);
    REQUIRE(answer);
    CHECK((!answer->cut.empty() && body.size() < 2000));
}

TEST_CASE("http: an answer that takes too long times out") {
    const Endless server(std::string(1000, 'x'));
    HttpRequest request = request_to(server);
    request.seconds = 1;
    std::string body;
    const auto answer = (*HttpClient::open())->get_text(request, body);
    REQUIRE(answer);
    CHECK((!answer->cut.empty() && body.size() < 100'000'000));
}
