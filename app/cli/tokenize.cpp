#include <CLI/CLI.hpp>

#include "cli/options.h"
#include "cli/verbs.h"
#include "hub/library.h"
#include "io/json.h"
#include "io/regular_file.h"

namespace headlight {

namespace {

Result<std::string> tokenize_line(const Tokenizer& tokenizer, const std::string& line, size_t number) {
    const std::string name = "Line " + std::to_string(number) + " of standard input";
    const auto parsed = parse_json(line, name);
    if (!parsed || !parsed->is_object() || !parsed->contains("text") || !(*parsed)["text"].is_string())
        return Error{name + " is not a JSON object with a \"text\"; write {\"text\": \"…\"}."};
    const Json& request = *parsed;
    const std::string text = request["text"].get<std::string>();
    TRY(const bool special, json_boolean(request, "special", true, name));
    TRY(const std::string pair, json_string(request, or_null("pair"), "", name));
    TRY(const Encoding e,
        pair.empty() ? tokenizer.encode(text, special) : tokenizer.encode_pair(text, pair, special));
    Json offsets = Json::array();
    for (const Span& s : e.offsets) offsets.push_back({s.begin, s.end});
    const nlohmann::ordered_json answer{{"ids", e.ids}, {"tokens", e.tokens}, {"offsets", offsets}};
    return json_text(answer) + "\n";
}

Status tokenize_chat(const std::filesystem::path& model, const Tokenizer& tokenizer,
                     const std::string& file) {
    TRY(const ChatRequest request, read_chat(file));
    TRY(const RenderedChat chat, render_chat(model, request));
    TRY(const ChatTokens tokens, encode_chat(tokenizer, chat));
    return print_json(json_text(chat_json(chat, tokens, request.messages)) + "\n");
}

}  // namespace

std::function<Status()> declare_tokenize(CLI::App& app) {
    auto o = std::make_shared<InputOptions>();
    add_model_option(app, *o);
    app.add_option("--chat", o->chat,
                   "instead of lines: a JSON file with a list of messages, read through the model's chat "
                   "template ('-': standard input)");
    return [o]() -> Status {
        TRY(const auto path, find_model(o->model));
        TRY(const auto tokenizer, open_tokenizer(path));
        if (!o->chat.empty()) return tokenize_chat(path, *tokenizer, o->chat);
        constexpr size_t kLongestLine = 8 << 20;
        TRY(Descriptor input, open_stream("-"));
        StreamLines lines(std::move(input), kLongestLine);
        std::string line;
        for (size_t number = 1;; ++number) {
            TRY(const bool any, lines.next(line));
            if (!any) break;
            if (line.empty()) continue;
            if (line.size() > kLongestLine)
                return Error{"Line " + std::to_string(number) +
                             " of standard input has more than 8 million bytes; give one text per line."};
            TRY(const std::string answer, tokenize_line(*tokenizer, line, number));
            TRY_STATUS(print_json(answer));
        }
        return success();
    };
}

}  // namespace headlight
