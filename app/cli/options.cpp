#include "cli/options.h"

#include <cstdio>
#include <iostream>
#include <iterator>

#include "io/mapped_file.h"
#include "model/parameters.h"

namespace headlight {

void add_model_option(CLI::App& app, InputOptions& o) {
    app.add_option("--model", o.model, "model folder (config.json, safetensors, tokenizer), or the built-in 'stories'")->capture_default_str();
}

void add_input_options(CLI::App& app, InputOptions& o) {
    add_model_option(app, o);
    auto* text = app.add_option("--text", o.text, "the sentence");
    auto* file = app.add_option("--text-file", o.text_file, "read the sentence from a file ('-': standard input)");
    auto* ids = app.add_option("--ids", o.ids, "token ids instead of a text, as 1,2,3")->delimiter(',');
    text->excludes(file);
    text->excludes(ids);
    file->excludes(ids);
    std::string masks;
    for (const auto& kind : mask_kinds()) masks += std::string(masks.empty() ? "" : ", ") + kind.name + " (" + kind.help + ")";
    app.add_option("--mask", o.mask, masks)->capture_default_str();
    app.add_option("--threads", o.threads, "threads to compute with")->check(CLI::Range(1, 256))->capture_default_str();
    app.add_flag("--quiet", o.quiet, "no messages but errors");
}

Result<std::pair<int, int>> parse_size(const std::string& text) {
    int width = 0, height = 0, used = 0;
    if (std::sscanf(text.c_str(), "%dx%d%n", &width, &height, &used) != 2 || used != static_cast<int>(text.size()) || width < 16 || height < 16 || width > 30000 || height > 30000)
        return Error{"The size \"" + text.substr(0, 40) + "\" is not usable; write WIDTHxHEIGHT in pixels, 1600x1000 for example."};
    return std::pair{width, height};
}

Result<std::shared_ptr<const Model>> open_model(const InputOptions& o) {
    TRY(const auto path, find_model(o.model));
    return Model::open(path);
}

Result<std::string> read_text(const std::string& file) {
    if (file == "-") return std::string(std::istreambuf_iterator<char>(std::cin), {});
    TRY(const auto mapped, MappedFile::open(file));
    return std::string(mapped->text());
}

Result<ForwardRequest> read_request(const InputOptions& o, const Model& model) {
    ForwardRequest request;
    TRY(request.mask, Mask::parse(o.mask));
    if (!o.ids.empty()) {
        TRY_STATUS(check_ids(model, o.ids));
        request.ids = o.ids;
        for (const int id : o.ids) request.tokens.push_back(model.tokenizer ? (*model.tokenizer)->spelling(id) : "#" + std::to_string(id));
        return request;
    }
    std::string text = o.text;
    if (!o.text_file.empty()) {
        TRY(text, read_text(o.text_file));
        while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
    }
    TRY(ModelInput input, encode_for(model, text));
    TRY_STATUS(check_ids(model, input.encoding.ids));
    if (input.tokens_in_all > input.encoding.size() && !o.quiet)
        std::cerr << "headlight: the text has " << input.tokens_in_all << " tokens; " << model.name << " reads the first " << input.encoding.size() << ".\n";
    request.ids = std::move(input.encoding.ids);
    request.tokens = std::move(input.encoding.tokens);
    return request;
}

Result<std::shared_ptr<const Trace>> run_input(const InputOptions& o, ThreadPool& pool) {
    TRY(auto model, open_model(o));
    TRY(ForwardRequest request, read_request(o, *model));
    return run_trace(std::move(model), std::move(request), pool);
}

Status print(const std::string& text) {
    if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0)
        return Error{"Standard output cannot be written: check the disk's free space, or the program that reads it."};
    return success();
}

}  // namespace headlight
