// Merges what the files of a folder say about its tokenizer, as transformers 5 does.
#pragma once

#include <array>
#include <filesystem>
#include <map>
#include <optional>
#include <set>

#include "tokenizer/added_tokens.h"

namespace headlight {

/// Lists the named special tokens, in the order in which they are added.
inline constexpr std::array kSpecialNames = {"bos_token", "eos_token", "unk_token", "sep_token",
                                             "pad_token", "cls_token", "mask_token"};

struct TokenizerFolder {
    std::filesystem::path path;
    Json config = Json::object();   // tokenizer_config.json
    Json described;                 // tokenizer.json, or null
    std::string class_name;         // as tokenizer_config.json says
    std::string model_type;         // from config.json
    std::string model_class;        // tokenizer_class of config.json
    bool own_code = false;          // its own class, in Python, is among the files
    std::vector<AddedToken> added;  // in the order of their ids
    /// no token: null, which removes the class's default
    std::map<std::string, std::optional<AddedToken>> named;
    std::set<std::string> described_names;                     // those described by more than their spelling
    std::vector<AddedToken> others;                            // with other names ("image_token")
    std::optional<std::vector<AddedToken>> extra, additional;  // extra_special_tokens, and its older name

    bool has(const char* file) const;
    std::string name() const;         // Returns the folder's name, for messages.
    std::string config_name() const;  // Returns the name of tokenizer_config.json, for messages.
    Result<bool> flag(JsonKey key, bool fallback) const;
    std::optional<AddedToken> token(const std::string& key) const;
};

/// Reads tokenizer_config.json, special_tokens_map.json, added_tokens.json, config.json and tokenizer.json;
/// ignores missing files and entries.
Result<TokenizerFolder> read_tokenizer_folder(const std::filesystem::path& path);

}  // namespace headlight
