// Maps whole words to ids; words that are not listed are unknown.
#pragma once

#include <memory>

#include "tokenizer/token_model.h"

namespace headlight {

class WordLevel final : public TokenModel {
public:
    static Result<std::shared_ptr<const TokenModel>> from_json(const Json& model, const std::string& name);
    std::vector<ModelToken> encode(std::string_view word) const override;

private:
    using TokenModel::TokenModel;
    int unknown_ = kNoToken;
};

}  // namespace headlight
