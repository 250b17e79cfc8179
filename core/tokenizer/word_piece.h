// WordPiece (Schuster and Nakajima 2012, as in BERT): takes the longest piece first, from left to right.
#pragma once

#include <memory>

#include "tokenizer/token_model.h"

namespace headlight {

class WordPiece final : public TokenModel {
public:
    static Result<std::shared_ptr<const TokenModel>> from_json(const Json& model, const std::string& name);
    /// `prefix` precedes pieces inside a word ("##"), `first` those that begin one (GGUF: "▁").
    static Result<std::shared_ptr<const TokenModel>> make(Vocabulary vocabulary, const std::string& unknown,
                                                          const std::string& prefix, const std::string& first,
                                                          int longest_word, const std::string& name);

    /// Makes a word one unknown token if it is too long or some part of it is in no piece.
    std::vector<ModelToken> encode(std::string_view word) const override;

private:
    using TokenModel::TokenModel;
    int unknown_ = -1, longest_word_ = 100;
    std::string prefix_, first_;
    size_t longest_piece_ = 0;
};

}  // namespace headlight
