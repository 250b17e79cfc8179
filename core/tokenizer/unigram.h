// Finds the most probable segmentation of a text by a unigram language model (Kudo 2018), with Viterbi.
#pragma once

#include <memory>

#include "tokenizer/token_model.h"

namespace headlight {

class Unigram final : public TokenModel {
public:
    static Result<std::shared_ptr<const TokenModel>> from_json(const Json& model, const std::string& name);
    /// scores: log probability by id; `left_out`: ids that match no text. Unknown: the lowest score less 10.
    static Result<std::shared_ptr<const TokenModel>> make(Vocabulary vocabulary, std::vector<double> scores,
                                                          const std::vector<bool>& left_out, int unknown,
                                                          bool byte_fallback, const std::string& name);

    std::vector<ModelToken> encode(std::string_view text) const override;

private:
    using TokenModel::TokenModel;
    int id_in_text(std::string_view spelling) const;
    void name_unknown(std::string_view text, ModelToken run, std::vector<ModelToken>& out) const;
    std::vector<double> scores_;
    std::vector<int> sorted_;  // ids ordered by spelling, so that pieces with a common prefix are adjacent
    std::vector<int> byte_ids_;
    int unknown_ = -1;
    double unknown_score_ = 0;
};

}  // namespace headlight
