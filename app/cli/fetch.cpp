#include "hub/fetch.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <csignal>
#include <cstdio>

#include "base/memory.h"
#include "base/quoted.h"
#include "cli/options.h"
#include "cli/verbs.h"
#include "hub/library.h"
#include "io/json.h"

namespace headlight {

namespace {

struct FetchOptions {
    std::string name, revision, gguf;
    bool json = false, list = false, quiet = false;
};

/// Cancels the fetch at the first Ctrl-C, SIGTERM or SIGHUP and ends the program at the second. Ignores
/// SIGPIPE: a connection closed by the hub is an error message.
class EndAsked {
public:
    EndAsked() : pipe_before_(std::signal(SIGPIPE, SIG_IGN)) {
        struct sigaction action {};
        action.sa_handler = [](int) { flag() = true; };
        action.sa_flags = int(SA_RESETHAND);
        for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaction(signal, &action, nullptr);
    }
    ~EndAsked() {
        for (const int signal : {SIGINT, SIGTERM, SIGHUP}) std::signal(signal, SIG_DFL);
        std::signal(SIGPIPE, pipe_before_);
    }
    EndAsked(const EndAsked&) = delete;
    EndAsked& operator=(const EndAsked&) = delete;
    static CancelFlag& flag() {
        static CancelFlag asked{false};
        return asked;
    }

private:
    void (*pipe_before_)(int);
};

/// Draws "[####....] 34 MB of 548 MB  model.safetensors" if standard error is a terminal.
class Bar {
public:
    explicit Bar(bool quiet) : shown_(!quiet && isatty(STDERR_FILENO)) {}
    ~Bar() { wipe(); }

    void draw(const FetchProgress& progress) {
        constexpr auto kPause = std::chrono::milliseconds(100);
        const auto now = std::chrono::steady_clock::now();
        if (!shown_ || now - drawn_ < kPause) return;
        drawn_ = now;
        wipe();
        const int64_t total = progress.total, done = progress.done;
        constexpr int kWide = 32;
        const int filled = total > 0 ? static_cast<int>(kWide * done / total) : 0;
        const std::string bar = std::string(filled, '#') + std::string(kWide - filled, '.'),
                          far = total > 0 ? short_bytes(done) + " of " + short_bytes(total) + "  " : "";
        std::fprintf(stderr, "\r[%s] %s%s", bar.c_str(), far.c_str(),
                     printable(shortened(progress.step(), 40)).c_str());
        std::fflush(stderr);
    }

private:
    void wipe() {
        if (shown_) std::fprintf(stderr, "\r%*s\r", 110, "");
    }

    bool shown_;
    std::chrono::steady_clock::time_point drawn_{};
};

Status list_suggestions(bool json) {
    auto list = nlohmann::ordered_json::array();
    std::string text;
    for (const HubSuggestion& s : hub_suggestions()) {
        list.push_back({{"name", s.repository}, {"what", s.what}, {"bytes", s.bytes}});
        char line[200];
        std::snprintf(line, sizeof line, "%-40s %7s  %s\n", s.repository, short_bytes(s.bytes).c_str(),
                      s.what);
        text += line;
    }
    return json ? print_json(json_answer({{"models", std::move(list)}})) : print(text);
}

std::string as_json(const HubName& name, const Fetched& fetched) {
    auto files = nlohmann::ordered_json::array();
    for (const HubFile& file : fetched.files)
        files.push_back({{"name", file.name}, {"bytes", file.size}, {"hash", file.hash}});
    const nlohmann::ordered_json root{{"name", name.repository},      {"revision", fetched.revision},
                                      {"commit", fetched.commit},     {"path", fetched.path.string()},
                                      {"received", fetched.received}, {"files", files}};
    return json_answer(root);
}

Result<Fetched> fetch_with_bar(const FetchOptions& o, const HubName& name) {
    const EndAsked end;
    FetchProgress progress;
    Bar bar(o.quiet);
    progress.changed = [&] { bar.draw(progress); };
    return fetch_model({name, o.gguf}, progress, &EndAsked::flag());
}

Status run(const FetchOptions& o) {
    if (o.list) return list_suggestions(o.json);
    if (o.name.empty())
        return Error{
            "Name a model of the Hugging Face hub, openai-community/gpt2 for example; 'headlight "
            "fetch --list' lists some to start with."};
    TRY(const HubName name, parse_hub_name(o.name, o.revision));
    const auto fetched = fetch_with_bar(o, name);
    if (!fetched && fetched.error().cancelled)
        return Error{"Stopped; the downloaded part of " + name.repository +
                     " is kept, and the next fetch resumes from there."};
    if (!fetched) return fetched.error();
    if (!o.quiet && !fetched->note.empty())
        std::fprintf(stderr, "headlight: %s\n", printable(fetched->note).c_str());
    if (o.json) return print_json(as_json(name, *fetched));
    if (!o.quiet && isatty(STDERR_FILENO))
        std::fprintf(stderr, "%s of %d files downloaded; open it with: headlight --model %s\n",
                     short_bytes(fetched->received).c_str(), static_cast<int>(fetched->files.size()),
                     name.repository.c_str());
    return print(fetched->path.string() + "\n");
}

}  // namespace

std::function<Status()> declare_fetch(CLI::App& app) {
    auto o = std::make_shared<FetchOptions>();
    app.add_option("name", o->name,
                   "a model on the hub: openai-community/gpt2, also with @REVISION, or the URL of its "
                   "page")
        ->option_text("NAME");
    app.add_option("--revision", o->revision, "Git revision: a branch, tag or commit (default: main)");
    app.add_option("--gguf", o->gguf, "a GGUF file, by its name or a unique part of it: Q4_K_M");
    app.add_flag("--list", o->list, "list some models to start with, and their sizes");
    app.add_flag("--json", o->json, "print JSON with each file's size and hash instead of the path to open");
    app.add_flag("--quiet", o->quiet, "show no progress");
    return [o] { return run(*o); };
}

}  // namespace headlight
