#include "chat/chat_template.h"

#include <algorithm>

#include "base/check.h"
#include "base/quoted.h"
#include "base/utf8.h"
#include "chat/jinja/interpreter.h"
#include "chat/stretches.h"
#include "io/text_file.h"

namespace headlight {

namespace {

constexpr size_t kLargestTemplate = 1 << 20;  // bytes; the largest real one has 20,000
constexpr size_t kMaxMessages = 100'000;
constexpr std::string_view kContinued = "CONTINUE_FINAL_MESSAGE_TAG ";  // as transformers marks the place

/// Names a message's reasoning goes by. The first is the one that templates read.
constexpr std::string_view kReasoning[] = {"reasoning_content", "thinking", "reasoning"};

bool is_reasoning(std::string_view key) {
    return std::find(std::begin(kReasoning), std::end(kReasoning), key) != std::end(kReasoning);
}

/// Makes the values that a template reads, and the table of where their bytes come from.
class ChatInput {
public:
    explicit ChatInput(jinja::Budget& budget) : budget_(budget) {}

    jinja::Value value(const ChatJson& json, jinja::Origin origin, int depth = 0) {
        if (depth >= jinja::kDeepestValue) jinja::fail("gets messages that nest too deep", "shorten them");
        if (json.is_string()) return jinja::Text(valid_utf8(json.get_ref<const std::string&>()), origin);
        if (json.is_boolean()) return {json.get<bool>(), origin};
        if (json.is_number_unsigned() && json.get<uint64_t>() > uint64_t{INT64_MAX})
            return {json.get<double>(), origin};
        if (json.is_number_integer()) return {json.get<int64_t>(), origin};
        if (json.is_number()) return {json.get<double>(), origin};
        if (json.is_array()) {
            std::vector<jinja::Value> items;
            for (const ChatJson& item : json) items.push_back(value(item, origin, depth + 1));
            return jinja::make_sequence(budget_, std::move(items), jinja::SequenceKind::list, origin);
        }
        if (!json.is_object()) return {jinja::None{}, origin};
        std::vector<std::pair<jinja::Value, jinja::Value>> items;
        for (const auto& [key, item] : json.items())
            items.emplace_back(jinja::Text(valid_utf8(key), origin), value(item, origin, depth + 1));
        return jinja::make_dict(budget_, std::move(items), origin);
    }

    /// Converts messages as transformers does: without keys that are null, reasoning under all its names.
    jinja::Value messages(const ChatJson& list) {
        std::vector<jinja::Value> out;
        for (const ChatJson& message : list)
            out.push_back(one_message(message, static_cast<int>(out.size())));
        return jinja::make_sequence(budget_, std::move(out));
    }

    jinja::Origin source(int message, std::string field) {
        for (auto i = static_cast<std::ptrdiff_t>(sources.size()) - 1;
             i > 0 && sources[size_t(i)].message == message; --i)
            if (sources[size_t(i)].field == field) return static_cast<jinja::Origin>(i);
        sources.push_back({message, std::move(field)});
        return static_cast<jinja::Origin>(sources.size() - 1);
    }

    std::vector<ChatSource> sources{1};
    jinja::Turns turns;

private:
    jinja::Value one_message(const ChatJson& message, int index) {
        const jinja::Origin whole = source(index, "message");
        turns.of_message.push_back(whole);
        turns.of_template.push_back(source(index, ""));
        std::vector<std::pair<jinja::Value, jinja::Value>> items;
        const auto add = [&](const std::string& key, const ChatJson& json) {
            const jinja::Origin from = source(index, is_reasoning(key) ? std::string(kReasoning[0]) : key);
            items.emplace_back(jinja::Text(key, from), value(json, from));
        };
        const ChatJson* reasoning = nullptr;
        for (const std::string_view name : kReasoning) {
            const auto found = message.find(std::string(name));
            if (!reasoning && found != message.end() && !found->is_null()) reasoning = &*found;
        }
        if (reasoning) add("thinking", *reasoning);
        for (const auto& [key, json] : message.items())
            if (!json.is_null()) add(valid_utf8(key), json);
        if (reasoning) add("reasoning_content", *reasoning);
        return jinja::make_dict(budget_, std::move(items), whole);
    }

    jinja::Budget& budget_;
};

/// Appends the mark of transformers to the text that is to be continued; returns what it was.
Result<std::string> mark_end(ChatJson& messages, std::string_view text_of_template, const std::string& name) {
    ChatJson& last = messages.back();
    const Error none{name + ": the last message has no text in its \"content\" to continue; end with one."};
    if (!last.contains("content")) return none;
    ChatJson* text = &last["content"];
    if (text->is_array()) {
        const auto part = std::find_if(text->rbegin(), text->rend(), [](const ChatJson& p) {
            return p.is_object() && p.contains("text") && p["text"].is_string();
        });
        if (part == text->rend()) return none;
        text = &(*part)["text"];
    }
    if (!text->is_string()) return none;
    if (text_of_template.find("content") == text_of_template.npos)
        return Error{name + " does not read the messages' \"content\"; a message cannot be continued in it."};
    const std::string last_text = valid_utf8(text->get_ref<const std::string&>());
    *text = last_text + std::string(kContinued);
    return last_text;
}

/// Cuts a rendered text at the mark. Fails if the template has changed the last message.
Status cut_at_mark(RenderedChat& chat, const std::string& last, const std::string& name) {
    const std::string_view mark = kContinued.substr(0, kContinued.size() - 1);
    const size_t at = chat.text.rfind(mark);
    const jinja::Stretch core = jinja::stripped(last, nullptr, true, true);
    if (at == std::string::npos ||
        chat.text.find(last.substr(core.begin, core.end - core.begin)) == std::string::npos)
        return Error{name +
                     " leaves out parts of the last message, so it cannot be continued; add a message."};
    const bool kept = std::string_view(chat.text).substr(at).starts_with(kContinued);
    const std::string_view before = std::string_view(chat.text).substr(0, at);
    const size_t end = kept ? at : jinja::stripped(before, nullptr, false, true).end;
    chat.text.resize(end);
    std::erase_if(chat.stretches, [&](const ChatStretch& s) { return s.begin >= end; });
    if (!chat.stretches.empty()) chat.stretches.back().end = std::min(chat.stretches.back().end, end);
    std::erase_if(chat.generated, [&](const auto& g) { return g.first >= end; });
    for (auto& g : chat.generated) g.second = std::min(g.second, end);
    return success();
}

Error sentence(const std::string& name, int line, const jinja::Trouble& trouble, const char* help) {
    return {name + ": line " + std::to_string(line) + " " + trouble.what + "; " +
            (trouble.help.empty() ? help : trouble.help) + "."};
}

}  // namespace

std::tm local_time() {
    const std::time_t now = std::time(nullptr);
    std::tm out{};
    localtime_r(&now, &out);
    return out;
}

std::string role_of_message(const ChatJson& messages, int message) {
    const ChatJson& of = messages[static_cast<size_t>(message)];
    const auto role = of.find("role");
    return role != of.end() && role->is_string() ? role->get<std::string>() : "message";
}

Status check_messages(const ChatJson& messages, const std::string& name) {
    if (!messages.is_array() || messages.empty())
        return Error{name +
                     " is not a list of messages; write [{\"role\": \"user\", \"content\": \"Hello\"}]."};
    if (messages.size() > kMaxMessages)
        return Error{name + " has " + std::to_string(messages.size()) +
                     " messages, but Headlight reads at most 100,000; shorten it."};
    for (size_t i = 0; i < messages.size(); ++i)
        if (!messages[i].is_object())
            return Error{name + ": message " + std::to_string(i) +
                         " is not an object; write {\"role\": \"user\", \"content\": \"Hello\"}."};
    return success();
}

Result<ChatTemplate> ChatTemplate::parse(std::string_view text, const std::string& name) {
    if (text.size() > kLargestTemplate)
        return Error{name + " has more than a million bytes, which no chat template has; name another file."};
    TRY_STATUS(check_is_text(text, name));
    return guarded([&]() -> Result<ChatTemplate> {
        int line = 1;
        try {
            ChatTemplate out;
            out.name_ = name;
            out.text_ = text;
            out.program_ = std::make_shared<const jinja::Program>(jinja::parse_program(text, line));
            return out;
        } catch (const jinja::Trouble& trouble) {
            return sentence(name, line, trouble, "correct the template");
        }
    });
}

Result<RenderedChat> ChatTemplate::render_once(const ChatJson& messages, const ChatOptions& o) const {
    return guarded([&]() -> Result<RenderedChat> {
        jinja::Budget budget;
        ChatInput input(budget);
        std::unique_ptr<jinja::Interpreter> run;
        try {
            const jinja::Value list = input.messages(messages);
            run = std::make_unique<jinja::Interpreter>(*program_, budget, input.turns, o.now);
            for (const auto& [key, token] : o.special_tokens) run->define(key, jinja::Text(token));
            run->define("messages", list);
            run->define("tools", input.value(o.tools, input.source(-1, "tools")));
            run->define("documents", input.value(o.documents, input.source(-1, "documents")));
            run->define("add_generation_prompt", o.add_generation_prompt);
            for (const auto& [key, json] : o.variables.items())
                run->define(key, input.value(json, input.source(-1, valid_utf8(key))));
            const jinja::Text text = run->render();
            RenderedChat out;
            out.text = text.string();
            out.stretches = chat_stretches(out.text.size(), text.runs(), input.sources);
            for (const jinja::Stretch& s : run->generated()) out.generated.emplace_back(s.begin, s.end);
            return out;
        } catch (const jinja::Trouble& trouble) {
            return sentence(name_, run ? run->line() : 1, trouble,
                            "change the messages, or correct the template");
        }
    });
}

Result<RenderedChat> ChatTemplate::render(const ChatJson& messages, const ChatOptions& options) const {
    TRY_STATUS(check_messages(messages, name_));
    if (options.add_generation_prompt && options.continue_final_message)
        return Error{name_ +
                     ": a chat either continues its last message or begins a new one; ask for one of them."};
    if (options.continue_final_message) {
        ChatJson marked = messages;
        TRY(const std::string last, mark_end(marked, text_, name_));
        TRY(RenderedChat out, render_once(marked, options));
        TRY_STATUS(cut_at_mark(out, last, name_));
        out.prompt = out.text.size();
        mark_thinking(out);
        return out;
    }
    TRY(RenderedChat out, render_once(messages, options));
    out.prompt = out.text.size();
    if (options.add_generation_prompt) {
        ChatOptions without = options;
        without.add_generation_prompt = false;
        const auto shorter = render_once(messages, without);
        if (shorter && out.text.starts_with(shorter->text)) out.prompt = shorter->text.size();
    }
    mark_thinking(out);
    return out;
}

}  // namespace headlight
