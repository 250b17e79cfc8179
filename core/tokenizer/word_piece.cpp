// Cuts words by WordPiece.
#include "tokenizer/word_piece.h"

#include <algorithm>

#include "base/cast.h"
#include "base/quoted.h"
#include "base/utf8.h"

namespace headlight {

Result<std::shared_ptr<const TokenModel>> WordPiece::from_json(const Json& model, const std::string& name) {
    TRY(Vocabulary vocabulary,
        Vocabulary::from_json(model.contains("vocab") ? model["vocab"] : Json(), name));
    TRY(const std::string unknown, json_string(model, "unk_token", "[UNK]", name));
    TRY(const std::string prefix, json_spelling(model, "continuing_subword_prefix", "##", name));
    TRY(const int64_t longest, json_integer(model, "max_input_chars_per_word", 100, 1, 10'000, name));
    return make(std::move(vocabulary), unknown, prefix, "", narrow<int>(longest), name);
}

Result<std::shared_ptr<const TokenModel>> WordPiece::make(Vocabulary vocabulary, const std::string& unknown,
                                                          const std::string& prefix, const std::string& first,
                                                          int longest_word, const std::string& name) {
    auto model = std::shared_ptr<WordPiece>(new WordPiece(std::move(vocabulary)));
    model->unknown_ = model->vocabulary_.id_of(unknown);
    if (model->unknown_ < 0)
        return Error{name + ": the unknown token " + in_quotes(unknown) +
                     " is not in the vocabulary; correct the file."};
    model->prefix_ = prefix;
    model->first_ = first;
    model->longest_word_ = longest_word;
    for (int id = 0; id < model->vocabulary_.size(); ++id)
        model->longest_piece_ = std::max(model->longest_piece_, model->vocabulary_.spelling(id).size());
    return std::shared_ptr<const TokenModel>(std::move(model));
}

std::vector<ModelToken> WordPiece::encode(std::string_view word) const {
    std::vector<ModelToken> unknown{{unknown_, 0, word.size()}};
    if (narrow<int>(count_code_points(word)) > longest_word_) return unknown;
    std::vector<ModelToken> out;
    for (size_t begin = 0; begin < word.size();) {
        const std::string& before = begin == 0 ? first_ : prefix_;
        size_t end = std::min(word.size(), begin + longest_piece_);
        int id = -1;
        for (; end > begin; --end) {
            const bool inside = end < word.size() && (as_byte(word[end]) & 0xC0) == 0x80;
            if (!inside &&
                (id = vocabulary_.id_of(before + std::string(word.substr(begin, end - begin)))) >= 0)
                break;
        }
        if (id < 0) return unknown;
        out.push_back({id, begin, end});
        begin = end;
    }
    return out;
}

}  // namespace headlight
