// Finds the chat templates of a model, in its folder or its GGUF file.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "chat/chat_template.h"
#include "io/gguf.h"
#include "tokenizer/folder.h"

namespace headlight {

struct NamedTemplate {
    std::string name;  // "default", "tool_use", "rag"
    std::string text;
    std::string file;  // for messages
};

/// Holds a model's templates and the special tokens that they write.
struct ChatTemplates {
    std::string model;  // its folder or file, for messages
    std::vector<NamedTemplate> all;
    std::map<std::string, std::string> special_tokens;  // "bos_token" → "<s>"

    /// Parses the template called `name`; "": tool_use where there are tools, else the default. Fails if the
    /// model has none.
    Result<ChatTemplate> choose(bool tools, const std::string& name = "") const;
};

/// Reads chat_template.jinja and additional_chat_templates/, else tokenizer_config.json, else
/// chat_template.json, as transformers does.
Result<ChatTemplates> read_chat_templates(const TokenizerFolder& folder);

/// Reads the value of "chat_template" as in tokenizer_config.json; messages call what holds it `file`.
Result<ChatTemplates> parse_chat_templates(const Json& value, const std::string& file);

/// Reads tokenizer.chat_template and tokenizer.chat_template.NAME.
Result<ChatTemplates> gguf_chat_templates(const Gguf& file, const std::string& name);

/// Reads those of a folder, of the run that a checkpoint belongs to, or of a GGUF file.
Result<ChatTemplates> open_chat_templates(const std::filesystem::path& model);

}  // namespace headlight
