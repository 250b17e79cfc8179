#include "session/file_dialog.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <sstream>

#include "base/check.h"

extern char** environ;

namespace headlight {

namespace {

constexpr size_t kMaxRead = 64 << 10;  // maximum bytes of a path
constexpr const char* kPrograms[] = {"zenity", "kdialog"};

bool has_ended(pid_t child) {
    siginfo_t info{};
    return waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT | WNOHANG) != 0 ||
           info.si_pid == child;
}

/// Reads the program's output until it ends or closes it; its children may hold the pipe open for longer.
std::string read_all(int from, pid_t child) {
    constexpr int kPatience = 100;  // milliseconds
    std::string out;
    char buffer[4096];
    while (out.size() < kMaxRead) {
        pollfd ready{from, POLLIN, 0};
        const bool ended = has_ended(child);
        const int events = ::poll(&ready, 1, ended ? 0 : kPatience);
        if (events == 0 && ended) break;
        if (events == 0 || (events < 0 && errno == EINTR)) continue;
        const ssize_t n = read(from, buffer, sizeof buffer);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) break;
        out.append(buffer, n);
    }
    return out;
}

/// Starts a program with its output in a pipe; no shell. 0 if it cannot be started.
pid_t start(const std::vector<std::string>& arguments, int& output) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return 0;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    std::vector<char*> argv;
    for (const std::string& a : arguments) argv.push_back(const_cast<char*>(a.c_str()));
    argv.push_back(nullptr);
    pid_t child = 0;
    const int failed = posix_spawnp(&child, argv[0], &actions, nullptr, argv.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    if (failed) close(ends[0]);
    output = ends[0];
    return failed ? 0 : child;
}

}  // namespace

std::string dialog_program() {
    const char* path = std::getenv("PATH");
    for (const char* program : kPrograms) {
        std::istringstream folders(path ? path : "");
        for (std::string folder; std::getline(folders, folder, ':');)
            if (!folder.empty() && access((folder + "/" + program).c_str(), X_OK) == 0) return program;
    }
    return {};
}

std::vector<std::string> dialog_arguments(const std::string& program, const std::string& title,
                                          const std::filesystem::path& proposed, DialogFor what) {
    const bool saves = what == DialogFor::saving;
    if (program == "kdialog")
        return {program, "--title", title, saves ? "--getsavefilename" : "--getopenfilename",
                proposed.string()};
    if (!saves) return {program, "--file-selection", "--title=" + title, "--filename=" + proposed.string()};
    return {program,
            "--file-selection",
            "--save",
            "--confirm-overwrite",
            "--title=" + title,
            "--filename=" + proposed.string()};
}

void FileDialog::ask(const std::string& title, const std::filesystem::path& proposed,
                     std::function<void()> wake, DialogFor what) {
    if (open()) return;
    closing_ = false;
    try {
        chosen_ = std::async(std::launch::async,
                             [this, arguments = dialog_arguments(dialog_program(), title, proposed, what),
                              wake = std::move(wake)] {
                                 auto out = guarded([&] { return run(arguments); });
                                 wake();
                                 return out;
                             });
    } catch (...) {
        std::promise<Result<std::string>> failed;
        failed.set_value(caught_error());
        chosen_ = failed.get_future();
    }
}

Result<std::string> FileDialog::run(const std::vector<std::string>& arguments) {
    int output = -1;
    {
        const std::lock_guard lock(mutex_);
        if (closing_) return std::string();
        child_ = start(arguments, output);
        if (!child_)
            return Error{"The file dialog " + arguments[0] + " could not be started; type the path instead."};
    }
    std::string chosen = read_all(output, child_);
    ::close(output);
    siginfo_t ended{};
    while (waitid(P_PID, static_cast<id_t>(child_), &ended, WEXITED | WNOWAIT) != 0 && errno == EINTR) {
    }
    const std::lock_guard lock(mutex_);  // until here child_ is valid, and close() may kill it
    waitpid(child_, nullptr, 0);
    child_ = 0;
    while (!chosen.empty() && chosen.back() == '\n') chosen.pop_back();
    return ended.si_code == CLD_EXITED && ended.si_status == 0 ? chosen : std::string();
}

std::optional<Result<std::string>> FileDialog::poll() {
    if (!open() || chosen_.wait_for(std::chrono::seconds(0)) != std::future_status::ready)
        return std::nullopt;
    return chosen_.get();
}

void FileDialog::close() {
    {
        const std::lock_guard lock(mutex_);
        closing_ = true;
        if (child_) kill(child_, SIGKILL);
    }
    if (open()) chosen_.wait();
}

}  // namespace headlight
