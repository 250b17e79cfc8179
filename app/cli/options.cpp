#include "cli/options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>

#include "analysis/patching/patch.h"
#include "base/cast.h"
#include "base/quoted.h"
#include "base/utf8.h"
#include "cli/validators.h"
#include "engine/open.h"
#include "figure/file_formats.h"
#include "hub/adapted.h"
#include "io/engine_address.h"
#include "io/mapped_file.h"
#include "io/regular_file.h"
#include "io/text_file.h"
#include "model/interventions/change_place.h"
#include "model/loading/parameters.h"
#include "trace/trace_file.h"

namespace headlight {

CLI::Option* add_adapter_option(CLI::App& app, std::string& adapter) {
    return app
        .add_option("--adapter", adapter,
                    "an adapter on the model (LoRA): a folder that peft saved, and its strength: poems=0.5 "
                    "(0: the model alone; 1, as trained, without a number)")
        ->type_name("FOLDER[=STRENGTH]")
        ->check([](const std::string& text) {
            const auto read = read_adapter(text);
            return read ? std::string() : read.error().message;
        });
}

CLI::Option* add_engine_option(CLI::App& app, std::string& model) {
    return app
        .add_option(
            "--engine", model,
            "the address of a Python process that computes instead: unix:PATH or 127.0.0.1:PORT/TOKEN, "
            "as 'python -m headlight live NAME' prints it")
        ->type_name("ADDRESS")
        ->check([](const std::string& text) {
            const auto read = parse_engine_address(text);
            std::string said = read ? "" : read.error().message;
            if (said.ends_with('.')) said.pop_back();  // what follows is in brackets
            return said;
        });
}

CLI::Option* add_model_option(CLI::App& app, InputOptions& o) {
    add_adapter_option(app, o.adapter);
    return app
        .add_option(
            "--model", o.model,
            "Hugging Face folder, .gguf file, the built-in 'stories', 'translator' or 'scenes', or a name "
            "listed by 'headlight models'")
        ->capture_default_str();
}

CLI::Option* add_id_list(CLI::App& app, const char* name, std::vector<int>& into, const char* help) {
    const auto read = [name, &into](const std::string& text) {
        into.clear();
        for (const std::string& part : comma_list(text)) {
            int id = 0;
            if (!read_number(part, id))
                throw CLI::ValidationError(
                    name, in_quotes(text) +
                              " must be whole numbers with one comma between them, 1,2,3 for example");
            into.push_back(id);
        }
    };
    return app.add_option_function<std::string>(name, read, help)->type_name("1,2,3");
}

namespace {

std::string check_temperature(const std::string& text) {
    const auto read = parse_temperature(text);
    return read ? "" : read.error().message;
}

void add_text_options(CLI::App& app, InputOptions& o) {
    auto* text = app.add_option("--text", o.typed.text, "the sentence");
    auto* file =
        app.add_option("--text-file", o.text_file, "read the sentence from a file ('-': standard input)");
    auto* chat = app.add_option("--chat", o.chat,
                                "a JSON file with a list of messages, read through the model's chat template "
                                "('-': standard input)");
    auto* pair = app.add_option("--pair", o.typed.pair, "a second sentence, for BERT-like models");
    auto* target =
        app.add_option("--target", o.typed.target, "what the decoder of an encoder-decoder model reads");
    auto* ids = add_id_list(app, "--ids", o.typed.ids, "token ids instead of a text, as 1,2,3");
    auto* target_ids = add_id_list(app, "--target-ids", o.typed.target_ids,
                                   "token ids instead of a target, its start token included");
    add_id_list(app, "--token-types", o.typed.types, "token types of the ids, as 0,0,1")->needs(ids);
    app.add_option("--image", o.image, "the image that a vision model reads (PNG, JPEG)");
    text->excludes(file);
    text->excludes(ids);
    file->excludes(ids);
    for (auto* other : {text, file, ids, pair}) chat->excludes(other);
    target->excludes(target_ids);
}

void add_change_options(CLI::App& app, InputOptions& o) {
    std::string masks;
    for (const auto& kind : mask_kinds())
        masks += std::string(masks.empty() ? "" : ", ") + kind.name + " (" + kind.help + ")";
    app.add_option("--mask", o.mask, masks)->capture_default_str();
    app.add_option("--ablate", o.ablate,
                   "heads to ablate: 3.5, or 3.5:mean, :uniform, :hard, :keep (removes the other heads "
                   "of its layer); cross.0.2 in models with several kinds of attention");
    app.add_option("--temperature-attn", o.temperature,
                   "divide all attention scores by this before the softmax, cross-attention included; "
                   "0: hardmax; inf: uniform")
        ->check(check_temperature, "NUMBER");
    app.add_option("--change", o.changes,
                   "mask:16>10@2.0, unmask:3-5>9, mask:*>0@cross, score:16>10@2.0=4.5, "
                   "temperature:0.5@2.0, ablate:2.0:keep, freeze:2.0=TEXT (its pattern on that text), "
                   "skip-attention:3, skip-mlp:3, ablate-expert:3.5, positions:off, positions:shuffle:7, "
                   "patch-resid:16@3=TEXT (the layer's input on that text; also patch-attention, "
                   "patch-mlp, and patch-head:16@2.0 for z; without a text, of the unchanged run), "
                   "noise:3-5=SEED (repeatable). Places: @2.0 a head, @2 a layer, @encoder, @decoder, "
                   "@cross, @*; rows and columns: 16, 3-5, 16.. (and later), *");
}

}  // namespace

void add_input_options(CLI::App& app, InputOptions& o) {
    add_model_option(app, o);
    add_text_options(app, o);
    add_change_options(app, o);
    add_run_options(app, o);
}

void add_run_options(CLI::App& app, InputOptions& o) {
    app.add_option("--threads", o.threads, "number of compute threads")
        ->check(within(1, 256))
        ->capture_default_str();
    app.add_flag("--quiet", o.quiet, "print errors only");
}

void add_engine_instead(CLI::App& app, InputOptions& o) {
    CLI::Option* engine = add_engine_option(app, o.model);
    for (const char* instead : {"--model", "--adapter"})
        if (CLI::Option* there = app.get_option_no_throw(instead)) engine->excludes(there);
}

CLI::Option* add_trace_option(CLI::App& app, InputOptions& o) {
    add_engine_instead(app, o);
    return app.add_option("--trace", o.trace,
                          "a trace file instead of a model and a text, from 'headlight trace', or from "
                          "models/capture_trace.py on another machine");
}

void add_trace_alone(CLI::App& app, InputOptions& o) {
    CLI::Option* trace = add_trace_option(app, o);
    for (const char* run : {"--model", "--engine", "--adapter", "--text", "--text-file", "--chat", "--pair",
                            "--target", "--ids", "--target-ids", "--token-types", "--image"})
        trace->excludes(app.get_option(run));
}

void read_instead(InputOptions& o, const std::string& text, const char* option) {
    o.typed.text = text;
    o.text_option = option;
    o.typed.ids.clear();
    o.typed.types.clear();
    o.text_file.clear();
    o.chat.clear();
}

void add_head_options(CLI::App& app, std::string& layer, int& head, const std::string& by_default) {
    constexpr int kMaxHeadNumber = 1 << 16;
    CLI::Option* of = app.add_option(
        "--layer", layer,
        "layer, from 0; encoder.0, decoder.0 or cross.0 in models with several kinds of attention");
    const auto read = [of, &layer, &head](const std::string& text) {
        const size_t dot = text.rfind('.');
        const std::string number = dot == text.npos ? text : text.substr(dot + 1);
        if (!read_number(number, head) || head < 0 || head > kMaxHeadNumber || dot == 0)
            throw CLI::ValidationError("--head",
                                       in_quotes(text) +
                                           " is no head; give 1.2 for head 2 of layer 1, encoder.0.3 or "
                                           "cross.1.0, or its number in --layer");
        if (dot == text.npos) return;
        if (of->count() > 0)
            throw CLI::ValidationError("--head",
                                       in_quotes(text) + " names its layer, so --layer cannot name another");
        layer = text.substr(0, dot);
    };
    app.add_option_function<std::string>(
           "--head", read,
           "head, as 1.2; encoder.0.3 or cross.1.0 in models with several kinds of attention" + by_default)
        ->type_name("L.H");
}

void add_metric_option(CLI::App& app, std::string& metric, const std::string& what_it_does) {
    app.add_option("--metric", metric,
                   what_it_does +
                       ": ball (its logit), 'p(ball)', 'log p(ball)', 'ball - car' (difference of two "
                       "logits), kl (divergence from the unchanged run, in bits), each with @12 for a "
                       "position; 'p' or 'log p' alone: of the most probable token")
        ->check(a_metric())
        ->type_name("METRIC");
}

CLI::Option* add_format_options(CLI::App& app, std::string& format, std::string& output,
                                const std::string& of) {
    app.add_option("--format", format,
                   "format of the figure, numbers or page if -o is '-' or has no extension")
        ->check(one_of(format_words()));
    return app.add_option("-o,--output", output,
                          "the file to write: " + endings_of(FormatKind::picture) + ", or " +
                              endings_of(FormatKind::numbers) + " for the numbers" + of);
}

Status check_numbers_output(const std::string& output, const std::string& view) {
    if (output.empty() || is_numbers_path(output)) return success();
    return Error{in_quotes(output) + " does not end in " + endings_of(FormatKind::numbers) +
                 "; change its ending" +
                 (view.empty() ? "" : ", or draw it with 'headlight render --view " + view + "'") + "."};
}

void clear_changes(InputOptions& o) {
    const InputOptions none;
    o.mask = none.mask;
    o.ablate = none.ablate;
    o.changes = none.changes;
    o.temperature = none.temperature;
}

Result<std::shared_ptr<const Model>> open_model(const InputOptions& o) {
    TRY(const std::string model, with_adapter(o.model, o.adapter));
    return open_any_model(model);
}

Result<std::string> read_text(const std::string& file) {
    constexpr size_t kMaxStreamed = 64'000'000;  // bytes
    if (file == "-" || is_stream(file)) {
        const std::string name = file == "-" ? "Standard input" : display_path(file);
        TRY(const Descriptor stream, open_stream(file));
        TRY(const std::string read, read_stream(stream, kMaxStreamed, name));
        TRY(const std::string_view text, text_of_file(read, name));
        return std::string(text);
    }
    TRY(const auto mapped, MappedFile::open(file));
    TRY(const std::string_view text, text_of_file(mapped->text(), display_path(file)));
    return std::string(text);
}

namespace {

Result<Intervention> read_intervention(const InputOptions& o, const ModelConfig& c) {
    Intervention out;
    TRY(out.mask, Mask::parse(o.mask));
    for (const std::string& list : o.ablate)
        for (const std::string& text : comma_list(list)) {
            TRY(Change change, parse_ablation(c, text));
            out.changes.push_back(std::move(change));
        }
    if (!o.temperature.empty()) {
        Change change;
        change.kind = ChangeKind::temperature;
        TRY(change.value, parse_temperature(o.temperature));
        if (change.value != 1) out.changes.push_back(std::move(change));
    }
    for (const std::string& text : o.changes) {
        TRY(Change change, parse_change(c, text));
        out.changes.push_back(std::move(change));
    }
    return out;
}

/// Suggests a correction of a change that names a position after the text.
std::string help_of_place(const ModelConfig& c, bool row, int first, int last) {
    const bool can_be_written = row && c.stacks.back().causal && last < c.context;
    return can_be_written ? "correct --change, or name rows that are generated later as " +
                                in_quotes(std::to_string(first) + "..") + " (that one and later ones)."
                          : "correct --change.";
}

/// Checks that the positions of a change are in the text, or within the context if it may grow.
Status check_places(const Intervention& intervention, const std::vector<Sequence>& inputs,
                    const ModelConfig& c) {
    int longest = 0;
    bool fits = intervention.mask.file_rows() == 0;
    for (const Sequence& s : inputs) {
        longest = std::max(longest, s.size());
        fits = fits || s.size() == intervention.mask.file_rows();
    }
    if (!fits)
        return Error{"The mask " + intervention.mask.name() + " has " +
                     std::to_string(intervention.mask.file_rows()) + " rows, but the text has " +
                     std::to_string(longest) + " tokens; give it a row and a column for each token."};
    for (const Change& change : intervention.changes)
        for (const bool row : {true, false}) {
            const int first = row ? change.query : change.key, count = row ? change.queries : change.keys;
            const int max = count == kToEnd ? std::max(longest, c.context) : longest;
            const int last = last_named(first, count);
            if (last < max) continue;
            return Error{"A change names position " + std::to_string(last) + ", but " +
                         (count == kToEnd ? "a text" : "the text") + " has positions 0 … " +
                         std::to_string(max - 1) + "; " + help_of_place(c, row, first, last)};
        }
    return success();
}

/// Refuses a text for a vision model.
Status check_no_text(const InputOptions& o, const Model& model) {
    const std::pair<bool, const char*> texts[] = {{!o.typed.text.empty(), o.text_option},
                                                  {!o.text_file.empty(), "--text-file"},
                                                  {!o.chat.empty(), "--chat"},
                                                  {!o.typed.pair.empty(), "--pair"},
                                                  {!o.typed.target.empty(), "--target"},
                                                  {!o.typed.ids.empty(), "--ids"},
                                                  {!o.typed.target_ids.empty(), "--target-ids"}};
    for (const auto& [given, option] : texts)
        if (given) return Error{model.name + " reads images, not text; leave " + option + " out."};
    return success();
}

}  // namespace

Result<ChatRequest> read_chat(const std::string& file) {
    TRY(const std::string json, read_text(file));
    return parse_chat(json, file == "-" ? "Standard input" : display_path(file));
}

Result<ForwardRequest> read_request(const InputOptions& o, const std::shared_ptr<const Model>& model,
                                    ThreadPool& pool) {
    ForwardRequest request;
    TRY(request.intervention, read_intervention(o, model->config));
    if (model->config.can.read_image && (!o.image.empty() || o.typed.image))
        TRY_STATUS(check_no_text(o, *model));
    TextInput typed = o.typed;
    if (!o.text_file.empty()) {
        TRY(typed.text, read_text(o.text_file));
        while (!typed.text.empty() && (typed.text.back() == '\n' || typed.text.back() == '\r'))
            typed.text.pop_back();
    }
    if (!o.image.empty()) {
        TRY(RgbImage image, open_image(o.image));
        typed.image = std::make_shared<const RgbImage>(std::move(image));
    }
    ModelInput input;
    if (o.chat.empty()) {
        TRY(input, encode_input(*model, typed));
    } else {
        TRY(ChatRequest messages, read_chat(o.chat));
        TRY(ChatInput chat, encode_chat_input(*model, std::move(messages), typed.image));
        input = chat.input;
        o.conversation = std::make_shared<const ChatInput>(std::move(chat));
    }
    TRY_STATUS(check_sequences(*model, input.sequences));
    const auto kept = input.sequences[0].ids.size();
    if (input.tokens_in_all > kept && !o.quiet)
        std::cerr << "headlight: the text has " << input.tokens_in_all << " tokens; "
                  << printable(model->name) << " reads the first " << kept << ".\n";
    TRY_STATUS(check_places(request.intervention, input.sequences, model->config));
    request.inputs = std::move(input.sequences);
    if (needs_patching(request.intervention)) {
        TRY(const auto own, run_trace(model, {request.inputs, {}}, pool));
        TRY(request.intervention, patched(std::move(request.intervention), *own, pool));
    }
    return request;
}

namespace {

/// Opens a trace; refuses masks and changes, because a recording cannot be run again.
Result<std::shared_ptr<const Trace>> read_trace(const InputOptions& o) {
    const bool changed = o.mask != "own" || !o.ablate.empty() || !o.changes.empty() || !o.temperature.empty();
    if (changed)
        return Error{
            "A trace is a recording: masks and changes need the model; leave --trace out and "
            "give --model."};
    return open_trace(o.trace);
}

}  // namespace

Result<std::shared_ptr<const Trace>> run_on(const std::shared_ptr<const Model>& model, const InputOptions& o,
                                            ThreadPool& pool) {
    TRY(ForwardRequest request, read_request(o, model, pool));
    return run_trace(model, std::move(request), pool);
}

Result<std::shared_ptr<const Trace>> run_input(const InputOptions& o, ThreadPool& pool) {
    if (!o.trace.empty()) return read_trace(o);
    TRY(const auto model, open_model(o));
    return run_on(model, o, pool);
}

}  // namespace headlight
