// Lists the verbs: the only place to add one.
#pragma once

#include <functional>
#include <span>

#include "base/result.h"

namespace CLI {
class App;
}

namespace headlight {

struct Verb {
    const char* name;
    const char* help;
    const char* examples;
    /// Declares the verb's options on `app` and returns what runs it.
    std::function<Status()> (*declare)(CLI::App& app);
};

std::span<const Verb> verbs();

/// Describes an environment variable that the program reads.
struct Variable {
    const char* name;
    const char* help;
};

std::span<const Variable> environment();

/// Says how a verb's options may stand in a file.
inline constexpr const char* kOptionsFile =
    "VERB @FILE reads more options from a file, a JSON array of texts, where they are too long for a command "
    "line.";

struct WindowOptions;
void add_window_options(CLI::App& app, WindowOptions& options);

std::function<Status()> declare_render(CLI::App& app);
std::function<Status()> declare_trace(CLI::App& app);
std::function<Status()> declare_tokenize(CLI::App& app);
std::function<Status()> declare_heads(CLI::App& app);
std::function<Status()> declare_generate(CLI::App& app);
std::function<Status()> declare_patch(CLI::App& app);
std::function<Status()> declare_compare(CLI::App& app);
std::function<Status()> declare_quantization(CLI::App& app);
std::function<Status()> declare_attribute(CLI::App& app);
std::function<Status()> declare_explain(CLI::App& app);
std::function<Status()> declare_circuits(CLI::App& app);
std::function<Status()> declare_learn(CLI::App& app);
std::function<Status()> declare_lesson(CLI::App& app);
std::function<Status()> declare_info(CLI::App& app);
std::function<Status()> declare_models(CLI::App& app);
std::function<Status()> declare_fetch(CLI::App& app);
std::function<Status()> declare_report(CLI::App& app);
std::function<Status()> declare_page(CLI::App& app);
std::function<Status()> declare_man(CLI::App& app);
std::function<Status()> declare_completions(CLI::App& app);

}  // namespace headlight
