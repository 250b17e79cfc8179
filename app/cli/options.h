// Options that several verbs share, and what they lead to.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/input.h"
#include "trace/trace.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace headlight {

struct InputOptions {
    std::string model = "stories";
    TextInput typed;
    std::string text_file, mask = "own", image;
    const char* text_option = "--text";  // by which the text was given
    std::string trace;                   // a trace file in place of a model and a text
    std::vector<std::string> ablate, changes;
    std::string temperature;  // of attention, as it was written
    int threads = default_thread_count();
    bool quiet = false;
};

CLI::Option* add_model_option(CLI::App& app, InputOptions& options);
/// --model, --text, --text-file, --pair, --target, --ids, --target-ids, --token-types, --image, --mask,
/// --ablate,
/// --temperature-attn, --change, --threads, --quiet.
void add_input_options(CLI::App& app, InputOptions& options);

/// Whole numbers with commas between them; none may be missing.
CLI::Option* add_id_list(CLI::App& app, const char* name, std::vector<int>& into, const char* help);

/// --threads and --quiet, which add_input_options adds too.
void add_run_options(CLI::App& app, InputOptions& options);

/// --trace, for verbs that only look at what was computed.
CLI::Option* add_trace_option(CLI::App& app, InputOptions& options);
/// The same where nothing else is run beside it, so that a model or a text would go unheard.
void add_trace_alone(CLI::App& app, InputOptions& options);

/// Another text in place of what the options name, whether as a text, a file or ids; `option` gave it.
void read_instead(InputOptions& options, const std::string& text, const char* option);

/// --metric, as parse_metric reads it.
void add_metric_option(CLI::App& app, std::string& metric, const std::string& what_it_does);

/// --format and -o of figures and numbers; `of`: whose numbers, and what else is to be said.
CLI::Option* add_format_options(CLI::App& app, std::string& format, std::string& output,
                                const std::string& of);

/// Fails where -o is no file of numbers; `view`: that draws the same.
Status check_numbers_output(const std::string& output, const std::string& view = "");

/// Takes masks and changes out of the options.
void clear_changes(InputOptions& options);

/// "1.2,3.0" → its parts, empty ones too, so that whoever reads them can say what is missing.
std::vector<std::string> comma_list(const std::string& text);

/// An attention block as it is named on the command line: "2", "encoder.0", "cross.1"; a number alone is the
/// decoder's.
Result<int> parse_block(const ModelConfig& config, const std::string& text);

/// "1600x1000" → {1600, 1000}.
Result<std::pair<int, int>> parse_size(const std::string& text);

Result<std::shared_ptr<const Model>> open_model(const InputOptions& options);

/// What was typed, as tokens of the model, with masks and changes; says on standard error when it was cut at
/// the context.
Result<ForwardRequest> read_request(const InputOptions& options, const std::shared_ptr<const Model>& model,
                                    ThreadPool& pool);

/// Opens the model, reads the input, runs it.
Result<std::shared_ptr<const Trace>> run_input(const InputOptions& options, ThreadPool& pool);

/// A file's text, or standard input's for "-".
Result<std::string> read_text(const std::string& file);

/// Writes to standard output and says when that failed (a full disk, a closed pipe). Control characters of a
/// text become pictures, so that no model's file speaks to the terminal; those of JSON become escapes.
Status print(const std::string& text);
Status print_json(const std::string& json);

}  // namespace headlight
