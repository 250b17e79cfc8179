// Looks up whole words.
#include "tokenizer/word_level.h"

namespace headlight {

Result<std::shared_ptr<const TokenModel>> WordLevel::from_json(const Json& model, const std::string& name) {
    TRY(Vocabulary vocabulary,
        Vocabulary::from_json(model.contains("vocab") ? model["vocab"] : Json(), name));
    TRY(const std::string unknown, json_string(model, "unk_token", "<unk>", name));
    auto out = std::shared_ptr<WordLevel>(new WordLevel(std::move(vocabulary)));
    if (const int id = out->vocabulary_.id_of(unknown); id >= 0) out->unknown_ = id;
    return std::shared_ptr<const TokenModel>(std::move(out));
}

std::vector<ModelToken> WordLevel::encode(std::string_view word) const {
    const int id = vocabulary_.id_of(word);
    return {{id >= 0 ? id : unknown_, 0, word.size()}};
}

}  // namespace headlight
