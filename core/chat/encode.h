// Tokenizes a rendered chat, and reads chats from JSON.
#pragma once

#include "chat/chat_template.h"
#include "chat/files.h"
#include "tokenizer/tokenizer.h"

namespace headlight {

struct ChatTokens {
    Encoding encoding;
    std::vector<int> stretches;  // the stretch of the rendered text that holds most bytes of each token
};

/// Tokenizes it without adding special tokens: the template has written them.
Result<ChatTokens> encode_chat(const Tokenizer& tokenizer, const RenderedChat& chat);

/// Names what a stretch is to a reader: "system", "user", "thinking", "assistant", "tool", …; "template";
/// what is written after the messages, so that the model answers, is the "assistant"'s.
std::string role_of(const ChatStretch& stretch, const ChatJson& messages, const RenderedChat& chat);

/// Is what a file of --chat holds.
struct ChatRequest {
    ChatJson messages;
    ChatOptions options;
    std::string template_name;
};

/// Reads a list of messages, or an object with "messages" and perhaps "tools", "documents", "variables",
/// "template", "add_generation_prompt" and "continue_final_message". Unless that is given, a generation
/// prompt is added after a last message that is not the assistant's. Messages call it `name`.
Result<ChatRequest> parse_chat(std::string_view json, const std::string& name);

/// Renders a chat by a model's template.
Result<RenderedChat> render_chat(const ChatTemplates& templates, ChatRequest request);
Result<RenderedChat> render_chat(const std::filesystem::path& model, ChatRequest request);

/// Writes a chat's text, its tokens, and for each token the message it belongs to (null: none), its role and
/// the field that it spells ("": the template's own).
ChatJson chat_json(const RenderedChat& chat, const ChatTokens& tokens, const ChatJson& messages);

}  // namespace headlight
