// Connects to a server, sends requests, and reads answers on a thread.
#include "engine/connection.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>

#include "base/cast.h"
#include "base/check.h"
#include "base/memory.h"
#include "base/quoted.h"
#include "io/mapped_file.h"

namespace headlight {

namespace {

using Clock = std::chrono::steady_clock;
constexpr int kProtocol = 1;
constexpr auto kPatience = std::chrono::seconds(10);   // until hello is answered
constexpr auto kLook = std::chrono::milliseconds(20);  // between looks at a flag
constexpr uint64_t kMaxWelcome = 64 << 10;             // bytes of the answer to hello
constexpr std::string_view kShared = "/dev/shm/headlight-";

/// Returns 64 random letters, or "" if the system gives none.
std::string random_name() {
    std::byte bytes[32];
    const int from = ::open("/dev/urandom", O_RDONLY | O_CLOEXEC);
    if (from < 0) return "";
    const bool whole = ::read(from, bytes, sizeof bytes) == ssize_t{sizeof bytes};
    ::close(from);
    std::string out;
    for (const std::byte b : bytes)
        for (const int digit : {std::to_integer<int>(b >> 4), std::to_integer<int>(b & std::byte{15})})
            out += "0123456789abcdef"[digit];
    return whole ? out : "";
}

/// Is a file that both sides of a connection on one machine can read, and no one else.
class Probe {
public:
    Probe() : nonce_(random_name()), path_(std::string(kShared) + random_name()) {
        const int file =
            nonce_.empty() ? -1 : ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        made_ = file >= 0;
        if (!made_) return;
        made_ = ::write(file, nonce_.data(), nonce_.size()) == std::ssize(nonce_);
        ::close(file);
    }
    ~Probe() {
        if (made_) ::unlink(path_.c_str());
    }
    Probe(const Probe&) = delete;
    Probe& operator=(const Probe&) = delete;
    Json described() const { return made_ ? Json{{"path", path_}, {"nonce", nonce_}} : Json(); }

private:
    std::string nonce_, path_;
    bool made_ = false;
};

/// Maps the file that holds an answer's body, which is then this side's to remove.
Result<Frame> with_mapped_body(Json header) {
    TRY(const std::string path, json_string(header, "body_file", "", "The server's answer"));
    const std::string_view name = std::string_view(path).substr(std::min(kShared.size(), path.size()));
    if (!path.starts_with(kShared) || name.find('/') != std::string_view::npos)
        return Error{"The server names a file that is not its own; start it again."};
    auto file = MappedFile::open(path);
    ::unlink(path.c_str());
    if (!file) return file.error();
    TRY(const int64_t bytes, json_integer(header, "body_bytes", -1, 0, INT64_MAX, "The server's answer"));
    if (bytes != std::ssize((*file)->bytes()))
        return Error{"The server's file is not as long as its frame says; connect again."};
    Frame out;
    TRY(out.tensors, frame_tensors(header, (*file)->bytes()));
    out.header = std::move(header);
    out.body = *std::move(file);
    return out;
}

}  // namespace

/// Owns the descriptor.
class Connection::Socket {
public:
    Socket(int number, std::string shown) : number_(number), shown_(std::move(shown)) {}
    ~Socket() { ::close(number_); }
    Socket(const Socket&) = delete;
    Socket& operator=(const Socket&) = delete;

    static Result<std::unique_ptr<Socket>> connect(const EngineAddress& address, const std::string& shown);

    void shut() { ::shutdown(number_, SHUT_RDWR); }

    Status send(std::string_view bytes) {
        while (!bytes.empty()) {
            const ssize_t sent = ::send(number_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
            if (sent < 0 && errno == EINTR) continue;
            if (sent <= 0) return gone();
            bytes.remove_prefix(static_cast<size_t>(sent));
        }
        return success();
    }

    /// Fills `out`. Without a flag it waits as long as the connection stands.
    Status read(std::span<std::byte> out, const CancelFlag* cancel, Clock::time_point until) {
        while (!out.empty()) {
            TRY(const bool ready, wait(cancel, until));
            if (!ready) return Error{"The server at " + shown_ + " gives no answer; start it again."};
            const ssize_t got = ::recv(number_, out.data(), std::min<size_t>(out.size(), 1 << 20), 0);
            if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
            if (got <= 0) return gone();
            out = out.subspan(static_cast<size_t>(got));
        }
        return success();
    }

private:
    Error gone() const {
        return Error{"The server at " + shown_ + " has ended, or the way to it has; connect again."};
    }
    Result<bool> wait(const CancelFlag* cancel, Clock::time_point until) const {
        const bool endless = until == Clock::time_point::max();
        while (endless || Clock::now() < until) {
            if (stopped(cancel)) return cancelled();
            pollfd asked{number_, POLLIN, 0};
            const int ready = ::poll(&asked, 1, endless ? -1 : narrow<int>(kLook.count()));
            if (ready > 0) return true;
            if (ready < 0 && errno != EINTR) return gone();
        }
        return false;
    }

    const int number_;
    const std::string shown_;  // its address
};

Result<std::unique_ptr<Connection::Socket>> Connection::Socket::connect(const EngineAddress& address,
                                                                        const std::string& shown) {
    const bool local = address.port == 0;
    const int number = ::socket(local ? AF_UNIX : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (number < 0) return Error{std::string("No socket can be opened: ") + std::strerror(errno) + "."};
    auto out = std::make_unique<Socket>(number, shown);
    const timeval patience{kPatience.count(), 0};  // for what a server does not read
    ::setsockopt(number, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    int failed = 0;
    if (local) {
        sockaddr_un at{};
        at.sun_family = AF_UNIX;
        std::strncpy(at.sun_path, address.socket.c_str(), sizeof at.sun_path - 1);
        failed = ::connect(number, reinterpret_cast<const sockaddr*>(&at), sizeof at);
    } else {
        sockaddr_in at{};
        at.sin_family = AF_INET;
        at.sin_port = htons(narrow<uint16_t>(address.port));
        at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        const int on = 1;
        ::setsockopt(number, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        ::setsockopt(number, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
        failed = ::connect(number, reinterpret_cast<const sockaddr*>(&at), sizeof at);
    }
    if (failed)
        return Error{"No server answers at " + shown + " (" + std::strerror(errno) +
                     "); start one with python -m headlight live NAME, and copy the address that it prints."};
    return out;
}

Result<Frame> accepted(Frame answer) {
    TRY(const std::string refusal, json_string(answer.header, "error", "", "The server's answer"));
    return refusal.empty() ? Result<Frame>(std::move(answer))
                           : Result<Frame>(Error{printable(shortened(refusal, 400))});
}

Connection::Connection(std::unique_ptr<Socket> socket) : socket_(std::move(socket)) {}

Connection::~Connection() {
    socket_->shut();
    if (reader_.joinable()) reader_.join();
}

Result<std::shared_ptr<Connection>> Connection::open(const EngineAddress& address, const std::string& shown,
                                                     const CancelFlag* cancel) {
    TRY(auto socket, Socket::connect(address, shown));
    std::shared_ptr<Connection> out(new Connection(std::move(socket)));
    TRY_STATUS(out->say_hello(address, cancel));
    out->reader_ = std::thread([self = out.get()] { self->read_answers(); });
    return out;
}

Status Connection::say_hello(const EngineAddress& address, const CancelFlag* cancel) {
    const Probe probe;
    Json hello{{"verb", "hello"}, {"id", 0}, {"protocol", kProtocol}};
    if (!address.token.empty()) hello["token"] = address.token;
    if (Json shared = probe.described(); !shared.is_null()) hello["shared"] = std::move(shared);
    Status sent = socket_->send(frame_bytes(std::move(hello)));
    auto answer = sent ? receive(cancel) : Result<Frame>(sent.error());
    if (!answer) return answer.error();
    about_ = std::move(answer->header);
    TRY(const std::string refusal, json_string(about_, "error", "", "The server's answer"));
    return refusal.empty() ? success() : Error{printable(shortened(refusal, 400))};
}

/// Reads a frame. While hello is not answered, no longer than kPatience, and of an unknown server not much.
Result<Frame> Connection::receive(const CancelFlag* cancel) {
    const auto until = about_.is_null() ? Clock::now() + kPatience : Clock::time_point::max();
    std::array<std::byte, kPrefaceBytes> preface;
    TRY_STATUS(socket_->read(preface, cancel, until));
    TRY(const FrameSizes sizes, read_preface(preface));
    if (about_.is_null() && (sizes.header > kMaxWelcome || sizes.body > 0))
        return Error{"What answers there does not say hello as an engine of Headlight; check the address."};
    check_fits(narrow<int64_t>(sizes.header + sizes.body));
    std::string text(sizes.header, '\0');
    TRY_STATUS(socket_->read(std::as_writable_bytes(std::span(text)), cancel, until));
    TRY(Json header, parse_frame_header(text));
    const Json* shared = about_.is_object() ? json_find(about_, "shared") : nullptr;
    if (shared && *shared == true && header.contains("body_file")) return with_mapped_body(std::move(header));
    Frame out;
    const auto body = std::make_shared<std::vector<std::byte>>(sizes.body);
    TRY_STATUS(socket_->read(*body, cancel, until));
    TRY(out.tensors, frame_tensors(header, *body));
    out.header = std::move(header);
    out.body = body;
    return out;
}

void Connection::end(const std::string& why) {
    std::lock_guard lock(mutex_);
    if (ended_.empty()) ended_ = why;
    socket_->shut();  // so that the server takes another connection
    answered_.notify_all();
}

void Connection::read_answers() {
    const Status read = guarded([&]() -> Status {
        while (true) {
            TRY(Frame frame, receive(nullptr));
            const auto id = frame.header.find("id");
            if (id == frame.header.end() || !id->is_number_integer()) continue;
            std::lock_guard lock(mutex_);
            if (const auto asked = waiting_.find(id->get<int64_t>()); asked != waiting_.end())
                asked->second = std::move(frame);  // else it was cancelled
            answered_.notify_all();
        }
    });
    end(read.error().message);
}

std::string Connection::ended() const {
    std::lock_guard lock(mutex_);
    return ended_;
}

Result<Frame> Connection::ask(Json request, const CancelFlag* cancel, const std::vector<SentTensor>& tensors,
                              Clock::duration patience) {
    TRY(Frame answer, answer_to(std::move(request), cancel, tensors, patience));
    return accepted(std::move(answer));
}

Result<Frame> Connection::answer_to(Json request, const CancelFlag* cancel,
                                    const std::vector<SentTensor>& tensors, Clock::duration patience) {
    const auto until = Clock::now() + patience;
    const int64_t id = next_++;
    request["id"] = id;
    request["slot"] = nullptr;  // cancelled by its own flag alone
    {
        std::lock_guard lock(mutex_);
        if (!ended_.empty()) return Error{ended_};
        waiting_[id];
    }
    const auto send = [&](const std::string& bytes) {
        std::lock_guard lock(sending_);
        return socket_->send(bytes);
    };
    if (const Status sent = send(frame_bytes(std::move(request), tensors)); !sent) end(sent.error().message);
    std::unique_lock lock(mutex_);
    const auto waits = [&] { return !waiting_[id] && ended_.empty() && !stopped(cancel); };
    while (waits() && Clock::now() < until) answered_.wait_for(lock, kLook);
    const bool late = waits();
    std::optional<Frame> answer = std::move(waiting_[id]);
    waiting_.erase(id);
    const std::string why = ended_;
    lock.unlock();
    if (!answer && !why.empty()) return Error{why};
    if (!answer) {
        static_cast<void>(send(frame_bytes({{"verb", "cancel"}, {"id", next_++}, {"of", id}})));
        return late ? Error{"The server gives no answer; start it again, and connect again."} : cancelled();
    }
    return *std::move(answer);
}

}  // namespace headlight
