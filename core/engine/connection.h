// Asks a server of the engine's protocol (docs/engine.md) and waits for its answers.
#pragma once

#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/threads.h"
#include "engine/frame.h"
#include "io/engine_address.h"

namespace headlight {

/// Returns an answer, or the server's sentence if it is a refusal.
Result<Frame> accepted(Frame answer);

/// Is one connection; any thread may ask. Answers are read on a thread of its own, so that a question never
/// waits for the answer to another.
class Connection {
public:
    /// Connects, and says hello. Fails in one sentence if nothing answers there, or not to this user.
    static Result<std::shared_ptr<Connection>> open(const EngineAddress& address, const std::string& shown,
                                                    const CancelFlag* cancel);
    ~Connection();
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    /// Sends a request and returns its answer. Fails with the server's sentence, if the connection ends, and
    /// once it has waited for `patience`. Once `cancel` is set, tells the server and returns.
    Result<Frame> ask(Json request, const CancelFlag* cancel, const std::vector<SentTensor>& tensors = {},
                      std::chrono::steady_clock::duration patience = std::chrono::hours(24 * 365));
    /// Does so, and returns a refusal too as what was answered, with its "error" and "code".
    Result<Frame> answer_to(Json request, const CancelFlag* cancel, const std::vector<SentTensor>& tensors,
                            std::chrono::steady_clock::duration patience = std::chrono::hours(24 * 365));

    /// Returns the server's answer to hello.
    const Json& about() const { return about_; }
    /// Returns why there are no more answers, or "".
    std::string ended() const;

private:
    class Socket;
    explicit Connection(std::unique_ptr<Socket> socket);
    Status say_hello(const EngineAddress& address, const CancelFlag* cancel);
    Result<Frame> receive(const CancelFlag* cancel);
    void read_answers();
    void end(const std::string& why);

    std::unique_ptr<Socket> socket_;
    Json about_;
    mutable std::mutex mutex_;  // guards the three below
    std::condition_variable answered_;
    std::map<int64_t, std::optional<Frame>> waiting_;  // by id
    std::string ended_;
    std::mutex sending_;
    std::atomic<int64_t> next_{1};
    std::thread reader_;  // last: starts when the rest is constructed
};

}  // namespace headlight
