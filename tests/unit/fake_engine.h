// Serves the engine's protocol (docs/engine.md) from a few lines: one layer, two heads, one key/value head.
#pragma once

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <thread>

#include "engine/frame.h"
#include "helpers.h"

namespace headlight {

/// Is a server in this process, for one client at a time. Its texts have a token for each letter.
class FakeEngine {
public:
    static constexpr int kWidth = 3;

    FakeEngine() : path_(folder_.path / "fake-1-ab.sock") {
        listening_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        sockaddr_un at{};
        at.sun_family = AF_UNIX;
        std::strncpy(at.sun_path, path_.c_str(), sizeof at.sun_path - 1);
        REQUIRE(::bind(listening_, reinterpret_cast<sockaddr*>(&at), sizeof at) == 0);
        REQUIRE(::listen(listening_, 4) == 0);
        thread_ = std::thread([this] { serve(); });
    }
    ~FakeEngine() {
        ::shutdown(listening_, SHUT_RDWR);
        die();
        thread_.join();
        ::close(listening_);
    }
    std::string address() const { return "unix:" + path_.string(); }

    /// Ends the connection, as a server that is killed.
    void die() {
        std::lock_guard lock(mutex_);
        if (client_ >= 0) ::shutdown(client_, SHUT_RDWR);
    }
    /// Changes what one verb answers; null: it answers nothing.
    using Answer = std::function<std::string(const Json&)>;
    void answer(const std::string& verb, Answer with) {
        std::lock_guard lock(mutex_);
        otherwise_[verb] = std::move(with);
    }
    void answer_as_usual(const std::string& verb) {
        std::lock_guard lock(mutex_);
        otherwise_.erase(verb);
    }
    Json last(const std::string& verb) const {
        std::lock_guard lock(mutex_);
        const auto asked = asked_.find(verb);
        return asked == asked_.end() ? Json() : asked->second;
    }

    /// Component c of q or k at position i of token `id`; k has the salt 1.
    static float vector_at(int id, int head, int c, int salt) {
        return std::sin(float(id * 7 + head * 5 + c * 3 + salt));
    }
    static Json rule() {
        return {{"says", true}, {"causal", true}, {"window", nullptr}, {"scale", 0.5}, {"cap", nullptr}};
    }
    static Json described() {
        return {{"name", "fake"},
                {"family", "fake"},
                {"kind", "decoder"},
                {"d_model", 6},
                {"vocabulary", 256},
                {"positions", 64},
                {"config", Json::object()},
                {"can", {{"reuse", true}, {"positions", false}}},
                {"blocks",
                 {{{"path", "0"},
                   {"at", "blocks.0.attn"},
                   {"heads", 2},
                   {"kv_heads", 1},
                   {"d_head", kWidth},
                   {"d_value", kWidth},
                   {"rule", rule()}}}}};
    }
    static SentTensor tensor(const std::string& name, const std::vector<int>& ids, int first, int heads,
                             int salt) {
        SentTensor out{name, "F32", {std::ssize(ids) - first, heads, kWidth}, {}};
        for (int i = first; i < isize(ids); ++i)
            for (int head = 0; head < heads; ++head)
                for (int c = 0; c < kWidth; ++c) {
                    const float value = vector_at(ids[static_cast<size_t>(i)], head, c, salt);
                    out.bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
                }
        return out;
    }

private:
    void serve() {
        int client = -1;
        while ((client = ::accept4(listening_, nullptr, nullptr, SOCK_CLOEXEC)) >= 0) {
            {
                std::lock_guard lock(mutex_);
                client_ = client;
            }
            while (take(client)) {
            }
            std::lock_guard lock(mutex_);
            client_ = -1;
            ::close(client);
        }
    }
    static bool read(int client, void* into, size_t bytes) {
        return ::recv(client, into, bytes, MSG_WAITALL) == static_cast<ssize_t>(bytes);
    }
    /// Answers one request; false at the end.
    bool take(int client) {
        std::array<std::byte, kPrefaceBytes> preface;
        if (!read(client, preface.data(), preface.size())) return false;
        const auto sizes = read_preface(preface);
        if (!sizes) return false;
        std::string header(sizes->header, '\0'), body(sizes->body, '\0');
        if (!read(client, header.data(), header.size()) ||
            (!body.empty() && !read(client, body.data(), body.size())))
            return false;
        const Json request = Json::parse(header);
        const std::string out = answered(request);
        return ::send(client, out.data(), out.size(), MSG_NOSIGNAL) == std::ssize(out);
    }
    std::string answered(const Json& request) {
        const std::string verb = request["verb"];
        std::unique_lock lock(mutex_);
        asked_[verb] = request;
        if (const auto other = otherwise_.find(verb); other != otherwise_.end()) {
            const Answer with = other->second;
            lock.unlock();
            return with(request);
        }
        lock.unlock();
        Json told{{"id", request["id"]}};
        std::vector<SentTensor> tensors;
        if (verb == "hello")
            told.update({{"protocol", 1}, {"runs", "fake 1.0"}, {"device", "cpu"}, {"shared", false}});
        if (verb == "describe") told.update(described());
        if (verb == "encode") {
            for (const char letter : request["text"].get<std::string>()) {
                told["ids"].push_back(int(letter));
                told["tokens"].push_back(std::string(1, letter));
            }
            if (!told.contains("ids")) told["ids"] = told["tokens"] = Json::array();
        }
        if (verb == "run") {
            const auto ids = request["ids"].get<std::vector<int>>();
            const int from = std::min(request.value("from", 0), isize(ids) - 1);
            told.update({{"from", from}, {"rules", {{"blocks.0.attn", rule()}}}});
            tensors = {tensor("blocks.0.attn.hook_q", ids, from, 2, 0),
                       tensor("blocks.0.attn.hook_k", ids, from, 1, 1)};
        }
        return frame_bytes(told, tensors);
    }

    TemporaryFolder folder_;
    const std::filesystem::path path_;
    mutable std::mutex mutex_;
    int listening_ = -1, client_ = -1;
    std::map<std::string, Answer> otherwise_;
    std::map<std::string, Json> asked_;
    std::thread thread_;
};

}  // namespace headlight
