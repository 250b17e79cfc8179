// What the files of a folder say about its tokenizer, merged as transformers 5 merges them.
#pragma once

#include <array>
#include <filesystem>
#include <map>
#include <optional>
#include <set>

#include "tokenizer/added_tokens.h"

namespace headlight {

/// The named special tokens, in the order in which they are added.
inline constexpr std::array kSpecialNames = {"bos_token", "eos_token", "unk_token", "sep_token",
                                             "pad_token", "cls_token", "mask_token"};

struct TokenizerFolder {
    std::filesystem::path path;
    Json config = Json::object();   // tokenizer_config.json
    Json described;                 // tokenizer.json, or null
    std::string class_name;         // what tokenizer_config.json says it is
    std::string model_type;         // config.json's
    std::string model_class;        // config.json's tokenizer_class
    bool own_code = false;          // a class of its own, in Python, lies beside the files
    std::vector<AddedToken> added;  // in the order of their ids
    std::map<std::string, std::optional<AddedToken>> named;  // no token: null, which undoes a class's own
    std::set<std::string> described_names;                   // those of which more than the spelling is said
    std::vector<AddedToken> others;                          // under other names ("image_token")
    std::optional<std::vector<AddedToken>> extra, additional;  // extra_special_tokens, and its older name

    bool has(const char* file) const;
    std::string name() const;         // of the folder, for messages
    std::string config_name() const;  // of tokenizer_config.json, for messages
    Result<bool> flag(JsonKey key, bool fallback) const;
    std::optional<AddedToken> token(const std::string& key) const;
};

/// From tokenizer_config.json, special_tokens_map.json, added_tokens.json, config.json and tokenizer.json;
/// files and entries that are not there say nothing.
Result<TokenizerFolder> read_tokenizer_folder(const std::filesystem::path& path);

}  // namespace headlight
