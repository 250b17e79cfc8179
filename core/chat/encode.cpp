#include "chat/encode.h"

#include <algorithm>

#include "base/quoted.h"
#include "base/utf8.h"
#include "chat/stretches.h"
#include "io/json.h"

namespace headlight {

namespace {

Result<bool> flag_of(const ChatJson& root, const char* key, bool fallback, const std::string& name) {
    const auto found = root.find(key);
    if (found == root.end()) return fallback;
    if (found->is_boolean()) return found->get<bool>();
    return Error{name + ": " + in_quotes(key) + " is not true or false; correct the file."};
}

Status check_keys(const ChatJson& root, const std::string& name) {
    constexpr std::string_view known[] = {"messages",
                                          "tools",
                                          "documents",
                                          "variables",
                                          "template",
                                          "add_generation_prompt",
                                          "continue_final_message"};
    for (const auto& [key, value] : root.items())
        if (std::find(std::begin(known), std::end(known), key) == std::end(known))
            return Error{name + " has the key " + in_quotes(key) +
                         ", which a chat does not have; put what the template reads under \"variables\"."};
    return success();
}

Status take_lists(const ChatJson& root, const std::string& name, ChatOptions& out) {
    for (const auto& [key, to] : {std::pair{"tools", &out.tools}, std::pair{"documents", &out.documents}}) {
        const auto found = root.find(key);
        if (found == root.end() || found->is_null()) continue;
        const bool objects =
            found->is_array() &&
            std::all_of(found->begin(), found->end(), [](const ChatJson& row) { return row.is_object(); });
        if (!objects)
            return Error{name + ": " + in_quotes(key) + " is not a list of objects; correct the file."};
        *to = *found;
    }
    return success();
}

}  // namespace

Result<ChatTokens> encode_chat(const Tokenizer& tokenizer, const RenderedChat& chat) {
    ChatTokens out;
    TRY(out.encoding, tokenizer.encode(chat.text, false));
    const std::vector<size_t> starts = code_point_starts(chat.text);
    for (const Span& span : out.encoding.offsets) {
        const auto byte = [&](int at) {
            return starts[std::min(static_cast<size_t>(at), starts.size() - 1)];
        };
        out.stretches.push_back(stretch_of(chat.stretches, byte(span.begin), byte(span.end)));
    }
    return out;
}

std::string role_of(const ChatStretch& s, const ChatJson& messages, const RenderedChat& chat) {
    if (s.thinking) return "thinking";
    if (s.message < 0) return s.begin >= chat.prompt ? "assistant" : (s.is_template() ? "template" : s.field);
    return role_of_message(messages, s.message);
}

Result<ChatRequest> parse_chat(std::string_view json, const std::string& name) {
    TRY(ChatJson root, parse_ordered_json(json, name));
    ChatRequest out;
    const bool object = root.is_object() && root.contains("messages");
    out.messages = object ? root["messages"] : root;
    TRY_STATUS(check_messages(out.messages, name));
    if (!object) root = ChatJson::object();
    TRY_STATUS(check_keys(root, name));
    TRY_STATUS(take_lists(root, name, out.options));
    if (const auto variables = root.find("variables"); variables != root.end()) {
        if (!variables->is_object())
            return Error{name + ": \"variables\" is not an object; correct the file."};
        out.options.variables = *variables;
    }
    if (const auto wanted = root.find("template"); wanted != root.end()) {
        if (!wanted->is_string()) return Error{name + ": \"template\" is not a name; correct the file."};
        out.template_name = wanted->get<std::string>();
    }
    TRY(out.options.continue_final_message, flag_of(root, "continue_final_message", false, name));
    const ChatJson& last = out.messages.back();
    const bool answered = last.contains("role") && last["role"] == "assistant";
    TRY(out.options.add_generation_prompt,
        flag_of(root, "add_generation_prompt", !answered && !out.options.continue_final_message, name));
    return out;
}

Result<RenderedChat> render_chat(const ChatTemplates& templates, ChatRequest request) {
    TRY(const ChatTemplate chosen, templates.choose(!request.options.tools.is_null(), request.template_name));
    request.options.special_tokens = templates.special_tokens;
    return chosen.render(request.messages, request.options);
}

Result<RenderedChat> render_chat(const std::filesystem::path& model, ChatRequest request) {
    TRY(const ChatTemplates templates, open_chat_templates(model));
    return render_chat(templates, std::move(request));
}

ChatJson chat_json(const RenderedChat& chat, const ChatTokens& tokens, const ChatJson& messages) {
    ChatJson offsets = ChatJson::array(), of_message = offsets, roles = offsets, fields = offsets;
    for (const Span& s : tokens.encoding.offsets) offsets.push_back({s.begin, s.end});
    for (const int index : tokens.stretches) {
        const ChatStretch stretch = index < 0 ? ChatStretch{} : chat.stretches[static_cast<size_t>(index)];
        of_message.push_back(stretch.message < 0 ? ChatJson() : ChatJson(stretch.message));
        roles.push_back(role_of(stretch, messages, chat));
        fields.push_back(stretch.field);
    }
    return {{"text", chat.text},  {"ids", tokens.encoding.ids}, {"tokens", tokens.encoding.tokens},
            {"offsets", offsets}, {"messages", of_message},     {"roles", roles},
            {"fields", fields}};
}

}  // namespace headlight
