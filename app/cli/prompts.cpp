#include "cli/prompts.h"

#include <CLI/CLI.hpp>
#include <cstdio>

#include "base/quoted.h"
#include "cli/progress.h"
#include "cli/usage.h"
#include "cli/validators.h"
#include "figure/file_formats.h"
#include "io/json.h"
#include "io/mapped_file.h"
#include "io/output_file.h"
#include "questions/questions.h"

namespace headlight {

void add_prompt_options(CLI::App& app, PromptOptions& o) {
    const std::string name = std::string("--") + o.name;
    const bool pairs = std::string(o.name) == "pairs";
    app.add_option(
           name, o.file,
           std::string("average over prompts, with 95 % intervals (Student's t): a .json template ") +
               (pairs ? R"({"text": "{A} had a {X}", "corrupted": "{A} had a {Y}", "metric": "{X} - {Y}", )"
                      : R"({"text": "When {A} and {B} met, {B} called", "metric": "{A} - {B}", )") +
               (pairs ? R"("fill": {"A": ["Tom"], "X": ["cat", "dog"], "Y": "X"}}, or a .jsonl file with )"
                      : R"("fill": {"A": ["Tom", "Lily"], "B": "A"}}, or a .jsonl file with )") +
               (pairs ? R"({"clean": …, "corrupted": …, "metric": …} a line)"
                      : R"({"text": …, "metric": …} a line)"))
        ->type_name("FILE");
    app.add_option("--at-most", o.at_most, "with " + name + ": how many to draw of more")
        ->check(whole_number(1, kMaxPrompts))
        ->capture_default_str();
    app.add_flag("--each", o.each, "with " + name + ": add each prompt's own values");
    if (!app.get_option_no_throw("--seed"))
        app.add_option("--seed", o.seed, "with " + name + ": seed of the draw")->capture_default_str();
}

Status check_prompts(const PromptOptions& o, const std::set<std::string>& given,
                     std::vector<std::string> others) {
    const std::string name = std::string("--") + o.name;
    if (!o.given()) return refuse_given(given, {"at-most", "each"}, name);
    for (const char* text :
         {"text", "text-file", "chat", "ids", "target-ids", "token-types", "image", "trace"})
        others.emplace_back(text);
    for (const std::string& other : others)
        if (given.count(other))
            return Error{name + " and --" + other + " exclude each other; leave one out."};
    return success();
}

namespace {

Result<PromptSet> read_prompt_file(const PromptOptions& o, const std::string& metric) {
    const bool standard = o.file == "-" || o.file == "-.jsonl";
    TRY(const std::string text, read_text(standard ? "-" : o.file));
    const std::string name = standard ? "standard input" + o.file.substr(1) : display_path(o.file);
    return read_prompts(text, name, {metric, o.at_most, o.seed});
}

void say(const InputOptions& input, const std::string& what) {
    if (!input.quiet && !what.empty()) std::fprintf(stderr, "headlight: %s\n", printable(what).c_str());
}

Status write_found(const PromptOptions& o, const PromptAverages& found, const ModelConfig& c,
                   const std::string& metric, const AveragesOutput& output) {
    const auto json = [&] { return json_text(averages_json(found, c, metric, o.each), 1) + "\n"; };
    if (output.file.ends_with(".json")) return write_file(output.file, json());
    if (output.file.ends_with(".csv")) return write_file(output.file, averages_csv(found, c, o.each));
    if (!output.file.empty()) {
        const NumberTable table = average_numbers(found, c, o.each);
        return write_numbers(output.file, {&table, 1});
    }
    return output.json ? print_json(json()) : print(averages_csv(found, c, o.each));
}

}  // namespace

Status write_averages(const PromptOptions& o, const InputOptions& input, const std::string& metric,
                      const PromptRequest& request, const AveragesOutput& output) {
    TRY(const PromptSet set, read_prompt_file(o, metric));
    TRY(const auto opened, open_model(input));
    TRY(const auto model, model_here(opened, nullptr));
    if (model->config.can.read_image)
        return Error{model->name + " reads images, and --" + o.name + " are texts; choose another model."};
    ThreadPool pool(input.threads);
    if (set.available > double(set.prompts.size()))
        say(input, std::to_string(set.prompts.size()) + " of " + decimals(set.available, 0) +
                       " prompts, drawn with seed " + std::to_string(o.seed) + ".");
    const ReadPrompt read = [&](const std::string& text) {
        InputOptions one = input;
        one.typed.text = text;
        return read_request(one, model, pool);
    };
    Progress progress(isize(set.prompts), input.quiet);
    TRY(const PromptAverages found, average_prompts(model, set.prompts, request, read, pool, nullptr,
                                                    [&](const PromptAverages&) { progress.step(); }));
    say(input, left_out_text(found));
    return write_found(o, found, model->config, set.metric, output);
}

}  // namespace headlight
