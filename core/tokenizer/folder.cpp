// Reads a folder as PreTrainedTokenizerBase._from_pretrained of transformers 5 does, step by step: with
// added_tokens_decoder it reads neither special_tokens_map.json nor added_tokens.json.
#include "tokenizer/folder.h"

#include "base/cast.h"
#include "io/mapped_file.h"

namespace headlight {

namespace fs = std::filesystem;

namespace {

/// Reads a JSON object from a file that may be missing.
Result<Json> read_optional(const fs::path& path) {
    std::error_code ignored;
    if (!fs::exists(path, ignored)) return Json(Json::object());
    TRY(Json json, read_json(path, JsonNumbers::any));
    if (!json.is_object()) return Error{display_path(path) + " must be an object; correct the file."};
    return json;
}

/// Reads a token given as text or as an object.
Result<AddedToken> read_token(const Json& value, const std::string& key, const std::string& name) {
    if (value.is_object()) {
        Json described = value;
        if (!described.contains("special")) described["special"] = true;
        return read_added_token(described, name);
    }
    if (!value.is_string()) return wrong_type(name, key, "a token", value);
    TRY_STATUS(check_spelling(value.get_ref<const std::string&>(), name));
    return AddedToken{.content = value.get<std::string>(), .special = true};
}

Result<std::vector<AddedToken>> read_tokens(const Json& list, const std::string& key,
                                            const std::string& name) {
    if (!list.is_array()) return wrong_type(name, key, "a list of tokens", list);
    std::vector<AddedToken> out;
    for (const Json& value : list) {
        TRY(AddedToken token, read_token(value, key, name));
        out.push_back(std::move(token));
    }
    return out;
}

/// Reads extra_special_tokens and additional_special_tokens; named ones go to `others`, after unnamed ones.
Status take_lists(const Json& object, const std::string& name, TokenizerFolder& out) {
    for (const char* key : {"extra_special_tokens", "additional_special_tokens"}) {
        const Json* value = json_find(object, or_null(key));
        if (!value) continue;
        const bool extra = key == std::string_view("extra_special_tokens");
        if (!value->is_object() || !extra) {
            TRY((extra ? out.extra : out.additional), read_tokens(*value, key, name));
            continue;
        }
        for (const auto& [own, token] : value->items()) {
            TRY(AddedToken read, read_token(token, own, name));
            out.others.push_back(std::move(read));
        }
    }
    return success();
}

/// Reads every entry of an object that names special tokens.
Status take_tokens(const Json& object, const std::string& name, TokenizerFolder& out) {
    for (const auto& [key, value] : object.items()) {
        if (contains(kSpecialNames, key)) {
            std::optional<AddedToken> token;
            if (!value.is_null()) {
                TRY(token, read_token(value, key, name));
            }
            out.named[key] = std::move(token);
            if (value.is_object()) out.described_names.insert(key);
        } else if (key.ends_with("_token") && value.is_string()) {
            TRY(AddedToken token, read_token(value, key, name));
            out.others.push_back(std::move(token));
        }
    }
    return take_lists(object, name, out);
}

/// Added tokens by id; the later of two with one id counts.
using ById = std::map<int, AddedToken>;

Status put(ById& tokens, int64_t id, AddedToken token) {
    token.id = narrow<int>(id);
    tokens[token.id] = std::move(token);
    return success();
}

constexpr int64_t kMaxId = 100'000'000;

/// Reads {"50257": {"content": …}}.
Status take_decoder(const Json& decoder, const std::string& name, ById& tokens) {
    if (!decoder.is_object()) return wrong_type(name, "added_tokens_decoder", "an object", decoder);
    for (const auto& [key, value] : decoder.items()) {
        const Json id = Json::parse(key, nullptr, false);
        TRY(const int64_t number, whole_number(id, "added_tokens_decoder", 0, kMaxId, name));
        TRY(AddedToken token, read_added_token(value, name));
        TRY_STATUS(put(tokens, number, std::move(token)));
    }
    return success();
}

/// Reads added_tokens.json: {"<|user|>": 50257}.
Status take_added_json(const TokenizerFolder& folder, ById& tokens) {
    const std::string name = display_path(folder.path / "added_tokens.json");
    TRY(const Json listed, read_optional(folder.path / "added_tokens.json"));
    std::set<std::string> specials;
    for (const auto& [key, token] : folder.named)
        if (token) specials.insert(token->content);
    for (const AddedToken& t : folder.extra.value_or(std::vector<AddedToken>{})) specials.insert(t.content);
    for (const auto& [content, id] : listed.items()) {
        TRY(const int64_t number, whole_number(id, content, 0, kMaxId, name));
        TRY_STATUS(check_spelling(content, name));
        const bool special = specials.contains(content);
        TRY_STATUS(put(tokens, number, {.content = content, .normalized = !special, .special = special}));
    }
    return success();
}

/// Reads the tokens of tokenizer_config.json, else those of the older files and of tokenizer.json.
Status take_added(TokenizerFolder& out) {
    ById tokens;
    const std::string name = out.config_name();
    TRY_STATUS(take_tokens(out.config, name, out));
    const Json* extra = json_find(out.config, or_null("extra_special_tokens"));
    if (out.additional && (!extra || extra->empty())) out.extra = std::exchange(out.additional, {});
    if (const auto decoder = out.config.find("added_tokens_decoder"); decoder != out.config.end()) {
        TRY_STATUS(take_decoder(*decoder, name, tokens));
    } else {
        const std::string map = display_path(out.path / "special_tokens_map.json");
        TRY(const Json specials, read_optional(out.path / "special_tokens_map.json"));
        const auto before = out.extra;
        TRY_STATUS(take_tokens(specials, map, out));
        if (before && specials.contains("extra_special_tokens") && out.extra)
            out.extra->insert(out.extra->begin(), before->begin(), before->end());
        TRY_STATUS(take_added_json(out, tokens));
        if (out.described.is_object()) {
            const std::string file = display_path(out.path / "tokenizer.json");
            TRY(const auto listed, read_added_tokens(out.described.value("added_tokens", Json()), file));
            for (const AddedToken& t : listed) tokens[t.id] = t;
        }
    }
    for (const auto& [id, token] : tokens) out.added.push_back(token);
    return success();
}

/// Gives named tokens the flags of listed tokens with their spelling.
void adopt_added(TokenizerFolder& out) {
    for (auto& [key, token] : out.named)
        for (const AddedToken& t : out.added)
            if (token && token->content == t.content) {
                token = t;
                out.described_names.insert(key);
            }
}

}  // namespace

bool TokenizerFolder::has(const char* file) const {
    std::error_code ignored;
    return fs::exists(path / file, ignored);
}

std::string TokenizerFolder::name() const { return display_path(path); }
std::string TokenizerFolder::config_name() const { return display_path(path / "tokenizer_config.json"); }

Result<bool> TokenizerFolder::flag(JsonKey key, bool fallback) const {
    return json_boolean(config, key, fallback, config_name());
}

std::optional<AddedToken> TokenizerFolder::token(const std::string& key) const {
    const auto it = named.find(key);
    return it == named.end() ? std::nullopt : it->second;
}

Result<TokenizerFolder> read_tokenizer_folder(const fs::path& path) {
    TokenizerFolder out;
    out.path = path;
    TRY(out.config, read_optional(path / "tokenizer_config.json"));
    TRY(out.class_name, json_string(out.config, or_null("tokenizer_class"), "", out.config_name()));
    out.own_code = out.config.contains("auto_map") && !out.config["auto_map"].is_null();
    const std::string model_name = display_path(path / "config.json");
    TRY(const Json model, read_optional(path / "config.json"));
    TRY(out.model_type, json_string(model, or_null("model_type"), "", model_name));
    TRY(out.model_class, json_string(model, or_null("tokenizer_class"), "", model_name));
    if (out.has("tokenizer.json")) {
        TRY(out.described, read_json(path / "tokenizer.json"));
        if (!out.described.is_object())
            return Error{display_path(path / "tokenizer.json") +
                         " is not a tokenizer description; correct the file."};
    }
    TRY_STATUS(take_added(out));
    adopt_added(out);
    return out;
}

}  // namespace headlight
