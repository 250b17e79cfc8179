#include "chat/files.h"

#include <algorithm>

#include "base/quoted.h"
#include "io/folder.h"
#include "io/gguf_parts.h"
#include "io/mapped_file.h"
#include "io/text_file.h"
#include "tokenizer/classes.h"

namespace headlight {

namespace fs = std::filesystem;

namespace {

constexpr size_t kMaxTemplates = 100;
constexpr const char* kDefault = "default";

bool is_there(const fs::path& path) {
    std::error_code ignored;
    return fs::exists(path, ignored);
}

Status add_file(const fs::path& path, const std::string& name, ChatTemplates& out) {
    TRY(const auto file, MappedFile::open(path));
    TRY(const std::string_view text, text_of_file(file->text(), display_path(path)));
    out.all.push_back({name, std::string(text), display_path(path)});
    return file->check_unchanged();
}

/// Reads the value of "chat_template": a text, or a list of names and texts.
Status add_described(const Json& value, const std::string& file, ChatTemplates& out) {
    if (value.is_null()) return success();
    if (value.is_string()) {
        out.all.push_back({kDefault, value.get<std::string>(), file});
        return success();
    }
    if (!value.is_array())
        return wrong_type(file, "chat_template", "a template or a list of templates", value);
    for (const Json& row : value) {
        TRY(const std::string name, json_string(row, "name", "", file));
        TRY(std::string text, json_string(row, "template", "", file));
        if (name.empty() || out.all.size() >= kMaxTemplates)
            return Error{file +
                         ": chat_template lists a template without a name, or over 100; correct the file."};
        out.all.push_back({name, std::move(text), file});
    }
    return success();
}

/// Reads the templates of files of their own, which go before those of tokenizer_config.json.
Status add_files(const fs::path& folder, ChatTemplates& out) {
    if (is_there(folder / "chat_template.jinja"))
        TRY_STATUS(add_file(folder / "chat_template.jinja", kDefault, out));
    for (const fs::path& path : folder_entries(folder / "additional_chat_templates", kMaxTemplates))
        if (path.extension() == ".jinja") TRY_STATUS(add_file(path, path.stem().string(), out));
    return success();
}

/// Takes the special tokens of a folder, or else those of the class that reads it.
std::map<std::string, std::string> special_tokens_of(const TokenizerFolder& folder) {
    std::map<std::string, std::string> out;
    if (const TokenizerClass* row = tokenizer_class(choose_class(folder)))
        for (size_t i = 0; i < kSpecialNames.size(); ++i)
            if (row->specials[i]) out[kSpecialNames[i]] = row->specials[i];
    for (const auto& [key, token] : folder.named) {
        out.erase(key);
        if (token) out[key] = token->content;
    }
    return out;
}

}  // namespace

Result<ChatTemplate> ChatTemplates::choose(bool tools, const std::string& name) const {
    const auto named = [&](const std::string& wanted) {
        return std::find_if(all.begin(), all.end(), [&](const NamedTemplate& t) { return t.name == wanted; });
    };
    auto found = all.end();
    if (!name.empty())
        found = named(name);
    else if (tools)
        found = named("tool_use");
    if (found == all.end() && name.empty()) found = named(kDefault);
    if (found != all.end()) return ChatTemplate::parse(found->text, found->file);
    if (all.empty())
        return Error{model +
                     " has no chat template, as base models have none; open a chat model, or give it text."};
    std::string names;
    for (const NamedTemplate& t : all) names += (names.empty() ? "" : ", ") + in_quotes(t.name);
    return Error{model + " has no chat template " + in_quotes(name.empty() ? kDefault : name) + "; it has " +
                 shortened(names) + "."};
}

Result<ChatTemplates> parse_chat_templates(const Json& value, const std::string& file) {
    ChatTemplates out;
    out.model = file;
    TRY_STATUS(add_described(value, file, out));
    return out;
}

Result<ChatTemplates> read_chat_templates(const TokenizerFolder& folder) {
    const fs::path& path = folder.path;
    ChatTemplates out;
    out.model = display_path(path);
    out.special_tokens = special_tokens_of(folder);
    TRY_STATUS(add_files(path, out));
    const Json* described = json_find(folder.config, or_null("chat_template"));
    if (out.all.empty() && described) TRY_STATUS(add_described(*described, folder.config_name(), out));
    if (out.all.empty() && is_there(path / "chat_template.json")) {
        const std::string name = display_path(path / "chat_template.json");
        TRY(const Json file, read_json(path / "chat_template.json"));
        if (const Json* text = json_find(file, or_null("chat_template")))
            TRY_STATUS(add_described(*text, name, out));
    }
    return out;
}

Result<ChatTemplates> gguf_chat_templates(const Gguf& file, const std::string& name) {
    constexpr std::string_view key = "tokenizer.chat_template";
    ChatTemplates out;
    out.model = name;
    for (auto row = file.metadata.lower_bound(std::string(key)); row != file.metadata.end(); ++row) {
        const std::string_view rest =
            std::string_view(row->first).substr(std::min(key.size(), row->first.size()));
        if (!row->first.starts_with(key) || out.all.size() >= kMaxTemplates) break;
        if (!row->second.is_string() || (!rest.empty() && rest[0] != '.')) continue;
        out.all.push_back({rest.empty() ? kDefault : std::string(rest.substr(1)),
                           row->second.get<std::string>(), name + " (" + in_quotes(row->first) + ")"});
    }
    constexpr const char* ids[] = {"bos", "eos", "unknown", "seperator", "padding", "cls", "mask"};
    const Json& tokens = file.value("tokenizer.ggml.tokens");
    for (size_t i = 0; i < kSpecialNames.size(); ++i) {
        const Json& id = file.value(std::string("tokenizer.ggml.") + ids[i] + "_token_id");
        if (!id.is_number_unsigned() || !tokens.is_array() || id.get<uint64_t>() >= tokens.size()) continue;
        const Json& token = tokens[id.get<size_t>()];
        if (token.is_string()) out.special_tokens[kSpecialNames[i]] = token.get<std::string>();
    }
    return out;
}

Result<ChatTemplates> open_chat_templates(const fs::path& model) {
    std::error_code ignored;
    if (!fs::is_directory(model, ignored)) {
        TRY(const Gguf file, open_gguf(gguf_part_paths(model)[0]));
        return gguf_chat_templates(file, display_path(model));
    }
    TRY(const TokenizerFolder folder, read_tokenizer_folder(model));
    TRY(ChatTemplates out, read_chat_templates(folder));
    const fs::path full = fs::weakly_canonical(model, ignored);
    if (!out.all.empty() || !full.filename().string().starts_with("checkpoint-")) return out;
    TRY(const TokenizerFolder run, read_tokenizer_folder(full.parent_path()));
    return read_chat_templates(run);
}

}  // namespace headlight
