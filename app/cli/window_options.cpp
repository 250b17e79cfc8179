// Declares the options of the window, which come before a verb.
#include <CLI/CLI.hpp>
#include <filesystem>

#include "base/quoted.h"
#include "cli/options.h"
#include "cli/usage.h"
#include "cli/validators.h"
#include "cli/verbs.h"
#include "views/views.h"
#include "window/window.h"

namespace headlight {

namespace {

/// Returns "" if the file exists, else an error that suggests a verb.
std::string is_there(const std::string& path) {
    std::error_code ignored;
    if (std::filesystem::exists(path, ignored)) return "";
    std::vector<std::string> names;
    for (const Verb& verb : verbs()) names.emplace_back(verb.name);
    const std::string meant = nearest_word(path, names);
    return "There is no verb and no file " + in_quotes(shortened(path)) +
           (meant.empty() ? "" : "; did you mean " + in_quotes(meant) + "?");
}

void add_test_options(CLI::App& app, WindowOptions& o) {
    constexpr const char* kGroup = "For documents and tests";
    app.add_flag("--hints", o.hints, "show the hints of the first start")->group(kGroup);
    app.add_option("--settings", o.settings, "start from this settings file instead of the saved settings")
        ->check(CLI::ExistingFile)
        ->group(kGroup);
    app.add_option("--open-menu", o.open_menu, "open a menu at the start")
        ->check(one_of({"models", "settings", "keys", "save", "palette"}))
        ->group(kGroup);
    app.add_option("--report", o.report, "write what the window shows to this JSON file after each change")
        ->group(kGroup);
    app.add_flag("--report-texts", o.report_texts, "add every drawn text to the report")->group(kGroup);
    app.add_option("--list-texts", o.list_texts,
                   "with --screenshot, write each drawn text and its position to this file, one line of "
                   "JSON per command")
        ->group(kGroup);
    app.add_flag("--check-frames", o.check_frames,
                 "count in the report the pixels that differ from a full redraw")
        ->group(kGroup);
    app.add_option("--frames", o.frames,
                   "draw this many frames at rest and as many again while the pointer moves over the "
                   "view, print timings as JSON, and exit")
        ->check(within(1, 100000))
        ->group(kGroup);
    app.add_option("--shader-dir", o.shader_dir,
                   "read the shaders from this folder and reload them on change")
        ->group(kGroup);
}

}  // namespace

void add_window_options(CLI::App& app, WindowOptions& o) {
    app.add_option("file", o.file,
                   "anything you can drop on the window: a workspace (.headlight.json), a lesson "
                   "(.headlight-lesson.json), a model folder, "
                   "a .gguf file, a trace (.safetensors), a text, a corpus (.jsonl), a config.json or a "
                   "picture")
        ->option_text("[FILE]")
        ->check(is_there);
    app.add_option("--model", o.model,
                   "model folder or .gguf file, or the built-in 'stories', 'translator' or 'scenes'");
    CLI::Option* adapter = add_adapter_option(app, o.adapter);
    add_engine_option(app, o.model)->excludes(adapter)->excludes(app.get_option("--model"));
    app.add_option("--trace", o.file, "a trace file instead of a model");
    app.add_option("--text", o.text, "the sentence to start with");
    auto* pair =
        app.add_option("--pair", o.second, "the second sentence to start with, for BERT-like models");
    app.add_option("--target", o.second, "what the decoder of an encoder-decoder model reads")
        ->excludes(pair);
    app.add_option("--screenshot", o.screenshot, "draw one settled frame of the window to this PNG and exit");
    app.add_option("--theme", o.theme, "colors of the window")->check(one_of({"dark", "light"}));
    app.add_option("--head", o.head,
                   "head to show, as layer.head: 2.0; encoder.0.3 or cross.1.0 in models with several "
                   "kinds of attention");
    app.add_option("--lock", o.lock, "cell to lock, as query,key: 16,10");
    std::vector<std::string> keys;
    for (const View& view : views()) keys.push_back(view.key);
    app.add_option("--view", o.view, "view to show, by its key or its name in the window")
        ->transform(key_of_view)
        ->check(one_of(keys));
    app.add_option("--do", o.commands,
                   "commands to run at the start, separated by ;: \"view lines; head 2.0; lock 16,10; "
                   "mask 16>10\" (--commands lists them)");
    app.add_option("--scale", o.scale, "pixels per point (default: the display's)")->check(within(0.5, 8.0));
    app.add_option("--threads", o.threads, "number of compute threads")->check(within(1, 256));
    add_test_options(app, o);
}

}  // namespace headlight
