#include "session/end_signals.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

namespace headlight {

namespace {

constexpr int kSignals[] = {SIGTERM, SIGHUP, SIGINT};
std::atomic<int> write_end{-1};

/// Signal handler: may only call write(); a thread that reads the pipe does the rest.
void on_signal(int) {
    const int saved = errno;
    const char byte = 's';
    [[maybe_unused]] const auto written = write(write_end, &byte, 1);
    errno = saved;
}

}  // namespace

EndSignals::EndSignals(std::function<void()> wake) : wake_(std::move(wake)) {
    if (pipe2(pipe_, O_CLOEXEC) != 0) return;
    write_end = pipe_[1];
    thread_ = std::thread([this] {
        char byte = 0;
        for (ssize_t got = 0; (got = read(pipe_[0], &byte, 1)) == 1 || (got < 0 && errno == EINTR);) {
            if (got != 1) continue;
            if (byte != 's') return;
            received_ = true;
            wake_();
        }
    });
    struct sigaction action {};
    action.sa_handler = on_signal;
    action.sa_flags = SA_RESTART | SA_RESETHAND;
    for (const int signal : kSignals) {
        struct sigaction before {};
        if (sigaction(signal, nullptr, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(signal, &action, nullptr);  // keep nohup's setting
    }
}

EndSignals::~EndSignals() {
    if (!thread_.joinable()) return;
    for (const int signal : kSignals) {
        struct sigaction now {};
        if (sigaction(signal, nullptr, &now) == 0 && now.sa_handler == on_signal)
            std::signal(signal, SIG_DFL);
    }
    const char byte = 'q';
    while (write(pipe_[1], &byte, 1) < 0 && errno == EINTR) {
    }
    thread_.join();
    write_end = -1;
    close(pipe_[0]);
    close(pipe_[1]);
}

}  // namespace headlight
