// Declares options that several verbs share, and reads their values.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "io/json.h"
#include "model/input.h"
#include "questions/chat_input.h"
#include "trace/trace.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace headlight {

struct InputOptions {
    std::string model = "stories";
    std::string adapter;  // FOLDER=STRENGTH, as typed
    TextInput typed;
    std::string text_file, mask = "own", image;
    std::string chat;                                       // a file of messages instead of a text
    mutable std::shared_ptr<const ChatInput> conversation;  // what was read of it
    const char* text_option = "--text";                     // the option that gave the text
    std::string trace;                                      // a trace file instead of a model and a text
    std::vector<std::string> ablate, changes;
    std::string temperature;  // of attention, as typed
    int threads = default_thread_count();
    bool quiet = false;
};

/// Adds --model and --adapter.
CLI::Option* add_model_option(CLI::App& app, InputOptions& options);
/// Adds --adapter, which takes FOLDER=STRENGTH.
CLI::Option* add_adapter_option(CLI::App& app, std::string& adapter);
/// Adds --model, --adapter, --text, --text-file, --chat, --pair, --target, --ids, --target-ids,
/// --token-types, --image, --mask, --ablate, --temperature-attn, --change, --threads, --quiet.
void add_input_options(CLI::App& app, InputOptions& options);

/// Adds an option that takes whole numbers separated by commas.
CLI::Option* add_id_list(CLI::App& app, const char* name, std::vector<int>& into, const char* help);

/// Adds --threads and --quiet, which add_input_options adds too.
void add_run_options(CLI::App& app, InputOptions& options);

/// Adds --engine, which takes as model the address of a server.
CLI::Option* add_engine_option(CLI::App& app, std::string& model);

/// Adds --engine, which excludes options of another model.
void add_engine_instead(CLI::App& app, InputOptions& options);

/// Adds --trace and --engine, for verbs that need no weights.
CLI::Option* add_trace_option(CLI::App& app, InputOptions& options);
/// Adds them, and excludes with --trace a model or text, which would not be used.
void add_trace_alone(CLI::App& app, InputOptions& options);

/// Replaces the text, file or ids of the options by a text; `option` gave it.
void read_instead(InputOptions& options, const std::string& text, const char* option);

/// Adds --head, as 1.2 or as its number in --layer, and --layer; `by_default` ends their help.
void add_head_options(CLI::App& app, std::string& layer, int& head, const std::string& by_default);

/// Adds --metric, in the spelling of parse_metric.
void add_metric_option(CLI::App& app, std::string& metric, const std::string& what_it_does);

/// Adds --format and -o of figures and numbers; `of` ends the help text.
CLI::Option* add_format_options(CLI::App& app, std::string& format, std::string& output,
                                const std::string& of);

/// Fails if -o is not a file of numbers; `view`: the view that draws them.
Status check_numbers_output(const std::string& output, const std::string& view = "");

/// Removes masks and changes from the options.
void clear_changes(InputOptions& options);

/// Splits "1.2,3.0" at its commas. Keeps empty parts, so that a parser can report them.
std::vector<std::string> comma_list(const std::string& text);

/// Parses an attention block: "2", "encoder.0", "cross.1"; a number alone is the decoder's.
Result<int> parse_block(const ModelConfig& config, const std::string& text);

/// Parses "1600x1000" → {1600, 1000}.
Result<std::pair<int, int>> parse_size(const std::string& text);

Result<std::shared_ptr<const Model>> open_model(const InputOptions& options);

/// Tokenizes the input and reads masks and changes; warns on standard error if the context cuts the text.
Result<ForwardRequest> read_request(const InputOptions& options, const std::shared_ptr<const Model>& model,
                                    ThreadPool& pool);

/// Reads the input for a model, and runs it.
Result<std::shared_ptr<const Trace>> run_on(const std::shared_ptr<const Model>& model,
                                            const InputOptions& options, ThreadPool& pool);

/// Opens the model, reads the input, runs it.
Result<std::shared_ptr<const Trace>> run_input(const InputOptions& options, ThreadPool& pool);

/// Reads a file's text, or standard input for "-".
Result<std::string> read_text(const std::string& file);

/// Reads a file of messages, or standard input for "-".
Result<ChatRequest> read_chat(const std::string& file);

/// Writes to standard output; fails if the disk is full or the pipe closed. Control characters become
/// visible symbols (in JSON: escapes), so that no model file can send commands to the terminal.
Status print(const std::string& text);
Status print_json(const std::string& json);
/// Writes what a verb answers, an object, under the "version" of docs/json.md.
std::string json_answer(const nlohmann::ordered_json& answer, int indent = 2);

}  // namespace headlight
