#include "cli/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <clocale>
#include <csignal>
#include <iostream>
#include <tuple>

#include "base/check.h"
#include "base/memory.h"
#include "base/quoted.h"
#include "cli/options.h"
#include "cli/usage.h"
#include "cli/verbs.h"
#include "io/json.h"
#include "io/mapped_file.h"
#include "io/output_file.h"
#include "kernels/choice.h"
#include "window/window.h"

namespace headlight {

namespace {

constexpr Verb kVerbs[] = {
    {"render", "draw a figure (.png, .svg, .pdf)",
     "headlight render --text 'The cat sat on the mat.' -o heads.png\n"
     "headlight render --text 'The cat sat on the mat.' --view head --head 0.0 -o head.pdf\n"
     "headlight render --text 'The cat sat on the mat.' --view steps --head 1.1 --mask window:3 "
     "-o steps.svg\n"
     "headlight render --text 'The cat sat on the mat.' --view head --head 1.1 -o weights.csv\n"
     "headlight render --text 'The cat sat.' --view head --all-heads -o head.svg\n"
     "headlight render --text 'The cat sat.' --panel '0.1,1.2;2.3,3.0' --width-mm 178 -o panel.pdf\n"
     "headlight render --text 'The cat sat.' --text-b 'The dog sat.' --view compare --head 1.2 "
     "-o compare.pdf",
     declare_render},
    {"trace", "write the activations of a forward pass as safetensors",
     "headlight trace --text 'The cat sat.' -o trace.safetensors\n"
     "headlight trace --text 'The cat sat.' --capture 'blocks.*.attn.hook_q' --capture '*hook_z' -o "
     "qz.safetensors",
     declare_trace},
    {"tokenize", "print ids, tokens and offsets of JSON lines on standard input",
     "echo '{\"text\": \"Hello world\", \"special\": true}' | headlight tokenize --model stories",
     declare_tokenize},
    {"heads", "print statistics of every head, one row per head",
     "headlight heads --text 'The quick brown fox and the quick' --sort induction\n"
     "headlight heads --random-repeat 48 --sort induction --json\n"
     "headlight heads --text 'Lily had a red ball. Tom had a blue ball. Lily gave Tom the red' "
     "--metric 'ball - car' --sort effect\n"
     "headlight heads --corpus texts.txt -o heads.html\n"
     "headlight heads --prompts prompts.json -o effects.csv",
     declare_heads},
    {"generate", "continue a text, translate it, or fill its masks",
     "headlight generate --text 'Once upon a time' --tokens 40\n"
     "headlight generate --text 'Once upon a time' --temperature 0.8 --top-k 40 --seed 7\n"
     "headlight generate --model translator --text 'The cat sat on the mat.' --beams 4",
     declare_generate},
    {"compare",
     "compare two runs, or one before and after interventions: distance of each head's "
     "patterns",
     "headlight compare --text 'The cat sat on the mat.' --text-b 'The dog sat on the mat.'\n"
     "headlight compare --text 'Lily had a red ball. Tom had a blue ball. Lily gave Tom the red' "
     "--change 'mask:16>10' --json\n"
     "headlight compare --text 'The cat sat on the mat.' --change 'freeze:2.0=The dog sat on the mat.' "
     "--json",
     declare_compare},
    {"quantization",
     "compare a model in two encodings: what the encoding of each matrix costs the prediction",
     "headlight quantization --model small.gguf --model-b FOLDER --text 'The cat sat on the mat.'\n"
     "headlight quantization --model small.gguf --model-b FOLDER --text 'The cat sat on the mat.' "
     "--metric 'log p' --json",
     declare_quantization},
    {"patch", "activation patching: how much of a clean run's answer each activation restores",
     "headlight patch --clean 'Mia had a red ball. Tom had a blue car. Mia gave Tom the red' "
     "--corrupted 'Mia had a blue ball. Tom had a red car. Mia gave Tom the red' --what heads "
     "--metric 'ball - car' -o patch.csv\n"
     "headlight patch --clean 'The cat sat on the mat. The cat' --noise 1 --what resid_pre -o "
     "patch.json\n"
     "headlight patch --clean 'Mia had a red ball. Tom had a blue car. Mia gave Tom the red' "
     "--corrupted 'Mia had a blue ball. Tom had a red car. Mia gave Tom the red' --head 1.2 "
     "--metric 'ball - car'\n"
     "headlight patch --pairs pairs.jsonl --what heads --json",
     declare_patch},
    {"attribute", "score how much each input token contributes to a prediction",
     "headlight attribute --text 'Lily had a red ball. Tom had a blue ball. Lily gave Tom the red' "
     "--metric 'ball - car' --method input-x-gradient\n"
     "headlight attribute --text 'The cat sat on the mat.' --method integrated-gradients --steps 100 "
     "--baseline zero --json\n"
     "headlight attribute --text 'The cat sat on the mat.' --method relevance -o relevance.npy\n"
     "headlight attribute --text 'The cat sat on the mat.' --method relevance --over outputs -o "
     "relevance.csv\n"
     "headlight attribute --method attribution-patching --metric 'ball - car' "
     "--clean 'Mia had a red ball. Tom had a blue car. Mia gave Tom the red' "
     "--corrupted 'Mia had a blue ball. Tom had a red car. Mia gave Tom the red' --json\n"
     "headlight attribute --text 'The cat sat on the mat.' --method jacobian --probes 8 -o jacobian.csv\n"
     "headlight attribute --text 'The cat sat.' --metric 'log p' --gradients gradients.safetensors\n"
     "headlight attribute --text 'Lily had a red ball. Tom had a blue ball.' --over written --tokens 20 "
     "--parts sentences --method integrated-gradients\n"
     "headlight attribute --prompts prompts.json --each -o scores.csv",
     declare_attribute},
    {"explain",
     "find the circuit behind a prediction: the heads that carry it, from which words, along which paths",
     "headlight explain --text 'Lily had a red ball. Tom had a blue ball. Lily gave Tom the red'\n"
     "headlight explain --text 'Lily had a red ball. Tom had a blue ball. Lily gave Tom the red' "
     "--metric 'ball - car' -o circuit.json\n"
     "headlight render --view explain --text 'Lily had a red ball. Tom had a blue ball. Lily gave Tom the "
     "red' -o circuit.pdf\n"
     "headlight explain --prompts prompts.json --json",
     declare_explain},
    {"circuits",
     "analyze heads by their weights alone: QK and OV circuits, and composition with "
     "other heads",
     "headlight circuits --head 1.2\n"
     "headlight circuits --head 1.2 --json --pairs 50 -o circuits.json\n"
     "headlight circuits --model FOLDER -o scores.csv\n"
     "headlight circuits --composition --pairs 10",
     declare_circuits},
    {"report", "write one interactive page: predictions, all heads, statistics, and the views of the run",
     "headlight report --text 'The cat sat on the mat. The cat' -o report.html\n"
     "headlight report --text 'Lily had a red ball. Tom had a blue ball. Lily gave Tom the red' --heads "
     "1.2,3.0 --change 'mask:16>10' -o report.html\n"
     "headlight report --text 'Lily had a red ball. Tom had a blue ball. Lily gave Tom the red' --metric "
     "'ball - car' -o report.html",
     declare_report},
    {"page", "write a page with a model in it: the reader types, and every head reads along",
     "headlight page --live stories -o stories.html\n"
     "headlight page --live translator --text 'The cat sat on the mat.' --view heads -o translator.html\n"
     "headlight page --live formation --head 1.2 -o formation.html",
     declare_page},
    {"learn", "draw a station of Learn on a sentence, or write its numbers",
     "headlight learn --list\n"
     "headlight learn --station positions --text 'Bark is very cute and he is a dog' -o positions.pdf\n"
     "headlight learn --station positions --set width=8 --set base=100 -o positions.json\n"
     "headlight learn --station score-functions --head 1.2 --query 4 --set normalizer=sparsemax "
     "-o scores.svg\n"
     "headlight learn --station seq2seq --text 'The cat sat on the mat.' --set window=1 -o seq2seq.png\n"
     "headlight learn --station masks --model FOLDER --text 'The cat sat.' --width-mm 178 -o masks.pdf\n"
     "headlight learn --station worked-example -o worked.html\n"
     "headlight learn --station pictures --model FOLDER --image photo.jpg -o patches.png",
     declare_learn},
    {"lesson", "list, check or write lessons: tasks that the program judges",
     "headlight lesson\n"
     "headlight lesson check how-a-model-copies-a-word\n"
     "headlight lesson new -o mine.headlight-lesson.json\n"
     "headlight lesson new heads-with-a-job -o heads.headlight-lesson.json\n"
     "headlight lesson results FOLDER/*.results.json",
     declare_lesson},
    {"info", "print a model's configuration, shapes and parameter counts",
     "headlight info --model stories\nheadlight info --model FOLDER --json", declare_info},
    {"models", "list the models found on this computer", "headlight models\nheadlight models --json",
     declare_models},
    {"fetch", "download a model from the Hugging Face hub",
     "headlight fetch openai-community/gpt2\n"
     "headlight fetch Qwen/Qwen3-0.6B --revision main --json\n"
     "headlight fetch unsloth/Qwen3-0.6B-GGUF --gguf Q4_K_M\n"
     "headlight fetch --list",
     declare_fetch},
    {"completions", "print shell completions", "headlight completions bash", declare_completions},
    {"man", "print the manual page", "headlight man", declare_man},
};

}  // namespace

std::span<const Verb> verbs() { return kVerbs; }

std::span<const Variable> environment() {
    static const Variable table[] = {
        {"HEADLIGHT_KERNELS",
         "the instruction set: base, v3 (AVX2) or v4 (AVX-512); default: the best the "
         "processor has"},
        {"HF_HUB_CACHE, HF_HOME", "the cache of Hugging Face models (default: ~/.cache/huggingface)"},
        {"HF_TOKEN, HF_ENDPOINT, HF_HUB_OFFLINE",
         "the token for 'fetch' (else that of 'hf auth login'), the hub's address, and "
         "offline mode"},
        {"https_proxy, no_proxy", "the proxy for 'fetch', as in other programs"},
        {"OLLAMA_MODELS, LLAMA_CACHE", "the caches of Ollama and llama.cpp"},
        {"XDG_CONFIG_HOME", "the folder of headlight/settings.json (default: ~/.config)"},
    };
    return table;
}

namespace {

bool is_verb(const std::string& word) {
    return std::ranges::any_of(verbs(), [&](const Verb& verb) { return word == verb.name; });
}

/// Reads the options that a file lists (kOptionsFile).
Result<std::vector<std::string>> options_in(const std::string& file) {
    TRY(const std::string text, read_text(file));
    TRY(const Json list, parse_json(text, display_path(file)));
    const auto is_text = [](const Json& one) { return one.is_string(); };
    if (!list.is_array() || !std::all_of(list.begin(), list.end(), is_text))
        return Error{display_path(file) +
                     " lists no options; it must be a JSON array of texts, [\"--text\", \"The cat sat.\"] "
                     "for example."};
    return list.get<std::vector<std::string>>();
}

/// Returns the arguments after the program's name; replaces @FILE after a verb by what that file lists.
Result<std::vector<std::string>> arguments_of(int argc, char** argv) {
    std::vector<std::string> out(argv + std::min(argc, 1), argv + argc);
    if (out.size() < 2 || !out[1].starts_with('@') || !is_verb(out[0])) return out;
    TRY(const std::vector<std::string> options, options_in(out[1].substr(1)));
    out.erase(out.begin() + 1);
    out.insert(out.begin() + 1, options.begin(), options.end());
    return out;
}

constexpr const char* kWindowExamples =
    "headlight\n"
    "headlight --model FOLDER --text 'The quick brown fox'\n"
    "headlight --screenshot window.png --size 1600x1000 --theme light";

std::string example_block(const char* examples) {
    std::string out = "\nExamples:\n  ";
    for (const char* c = examples; *c; ++c) out += *c == '\n' ? "\n  " : std::string(1, *c);
    return out;
}

std::string environment_block() {
    std::string out = "\n\nEnvironment:";
    for (const Variable& row : environment()) out += std::string("\n  ") + row.name + ": " + row.help;
    return out;
}

int fail(const std::string& message, int status) {
    std::string line = printable(message);
    std::replace(line.begin(), line.end(), '\n', ' ');
    std::cerr << "headlight: " << line << "\n";
    return status;
}

/// Runs the chosen verb, or the window if there is none.
Status dispatch(CLI::App& app, WindowOptions& window, const std::string& size, int& exit_status,
                const std::vector<std::pair<CLI::App*, std::function<Status()>>>& runs) {
    for (const auto& [sub, run] : runs)
        if (app.got_subcommand(sub)) return run_verb(run);
    if (!size.empty()) {
        TRY(const auto pixels, parse_size(size));
        std::tie(window.width, window.height) = pixels;
    }
    std::signal(SIGPIPE, SIG_IGN);  // a closed pipe must not end the window
    return run_window(window, exit_status);
}

Result<int> parse_and_run(int argc, char** argv) {
    hold_reserve();
    std::setlocale(LC_CTYPE, "C.UTF-8");
    CLI::App app{"Headlight shows what every attention head of a transformer looks at.", "headlight"};
    app.set_version_flag("--version", "headlight " HEADLIGHT_VERSION);
    app.footer(example_block(kWindowExamples) + environment_block() + "\n\n" + kOptionsFile);
    TRY(std::vector<std::string> arguments, arguments_of(argc, argv));
    std::reverse(arguments.begin(), arguments.end());  // as CLI11 takes them
    WindowOptions window;
    std::string size;
    add_window_options(app, window);
    app.add_option("--size", size, "window size in pixels, 1600x1000");
    bool list = false;
    app.add_flag("--commands", list, "list the commands of the window, with their keys");
    std::vector<std::pair<CLI::App*, std::function<Status()>>> runs;
    for (const Verb& verb : verbs()) {
        CLI::App* sub = app.add_subcommand(verb.name, verb.help);
        sub->footer(example_block(verb.examples));
        runs.emplace_back(sub, verb.declare(*sub));
    }
    app.require_subcommand(0, 1);
    try {
        app.parse(std::move(arguments));
    } catch (const CLI::Success& e) {
        return app.exit(e);
    } catch (const CLI::ParseError& e) {
        return fail(usage_sentence(app, e), 2);
    }
    TRY_STATUS(check_kernels());
    int exit_status = 1;
    const Status done = list ? print(command_list()) : dispatch(app, window, size, exit_status, runs);
    return done ? 0 : fail(done.error().message, exit_status);
}

}  // namespace

Status run_verb(const std::function<Status()>& run) {
    const WholeFilesOnly guard;
    const Status done = guarded(run);
    if (!done) TRY_STATUS(check_mapped_files());
    return done;
}

int run_command_line(int argc, char** argv) {
    const auto status = guarded([&] { return parse_and_run(argc, argv); });
    return status ? *status : fail(status.error().message, 1);
}

}  // namespace headlight
