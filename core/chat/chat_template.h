// Turns messages into a model's text by its chat template, equal to transformers' apply_chat_template, and
// says which bytes came from which message.
#pragma once

#include <ctime>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace headlight {

namespace jinja {
struct Program;
}

/// Keeps the keys of objects in their order: templates write tools as JSON.
using ChatJson = nlohmann::ordered_json;

/// Returns the local time, for templates that write the date.
std::tm local_time();

struct ChatOptions {
    bool add_generation_prompt = false;       // ends where the assistant's answer begins
    bool continue_final_message = false;      // ends within the last message, so that it can be continued
    ChatJson tools, documents;                // lists, or null
    ChatJson variables = ChatJson::object();  // others that a template reads ("enable_thinking")
    std::map<std::string, std::string> special_tokens;  // by name: "bos_token"
    std::tm now = local_time();
};

/// Is bytes [begin, end) of the rendered text and where they come from.
struct ChatStretch {
    size_t begin = 0, end = 0;
    int message = -1;  // −1: none; what is written for a message belongs to it
    std::string field;  // "content", "reasoning_content", "tool_calls", "role", …; "tools", …; "": template
    bool thinking =
        false;  // a message's reasoning, or what its content has between <think> and </think> or the like
    bool operator==(const ChatStretch&) const = default;
    bool is_template() const { return field.empty(); }
};

struct RenderedChat {
    std::string text;
    std::vector<ChatStretch> stretches;  // all of the text, in order
    std::vector<std::pair<size_t, size_t>>
        generated;      // bytes of {% generation %} blocks: what a model writes
    size_t prompt = 0;  // where the generation prompt begins; the end: there is none
};

/// Is a parsed template; immutable and thread-safe.
class ChatTemplate {
public:
    /// Parses a Jinja template; messages call it `name`.
    static Result<ChatTemplate> parse(std::string_view text, const std::string& name);

    /// Renders a list of messages, objects with "role" and "content" or what else the template reads. Fails
    /// with one sentence if the template refuses them, or runs or grows without end.
    Result<RenderedChat> render(const ChatJson& messages, const ChatOptions& options) const;

    const std::string& name() const { return name_; }

private:
    Result<RenderedChat> render_once(const ChatJson& messages, const ChatOptions& options) const;

    std::shared_ptr<const jinja::Program> program_;
    std::string name_, text_;
};

/// Returns the role of a message; "message": it has none.
std::string role_of_message(const ChatJson& messages, int message);

/// Checks that a value is a list of messages that a template can read; messages call it `name`.
Status check_messages(const ChatJson& messages, const std::string& name);

}  // namespace headlight
