// Finds heads that look at different words.
#include "learn/heads_of_words.h"

#include <algorithm>

#include "analysis/comparison/words.h"
#include "analysis/prediction/predict.h"
#include "base/cast.h"

namespace headlight {

namespace {

/// [heads of the stack's self-attention, words]: the weights of a token, summed over each word's tokens.
struct WordRows {
    std::vector<AttentionHead> heads;
    Matrix weights;
};

WordRows word_rows(const Trace& trace, int stack, int query, const std::vector<int>& words, int count) {
    const ModelConfig& c = trace.config();
    WordRows out;
    for (int i = 0; i < c.head_count(); ++i) {
        const AttentionHead head = c.head_at(i);
        const AttentionBlock block = c.block(head.block);
        if (block.stack == stack && block.kind != AttentionKind::cross) out.heads.push_back(head);
    }
    out.weights = Matrix::Zero(isize(out.heads), count);
    for (int i = 0; i < isize(out.heads); ++i) {
        const Matrix row = trace.pattern_rows(out.heads[i].block, out.heads[i].head, query, 1);
        for (int key = 0; key < row.cols(); ++key) out.weights(i, words[key]) += row(0, key);
    }
    return out;
}

}  // namespace

std::optional<HeadsOfWords> heads_of_words(const Trace& trace, int stack, int query, int count) {
    const std::vector<int> of_token = word_numbers(trace.request.inputs[stack].tokens);
    if (query < 0 || query >= isize(of_token)) return std::nullopt;
    HeadsOfWords out;
    out.words = join_labels(token_labels(trace, stack), of_token);
    out.first_tokens.assign(out.words.size(), 0);
    for (int i = isize(of_token) - 1; i >= 0; --i) out.first_tokens[of_token[i]] = i;
    const WordRows rows = word_rows(trace, stack, query, of_token, isize(out.words));
    if (rows.heads.empty()) return std::nullopt;
    std::vector<std::pair<HeadOfWord, Index>> all;
    for (int word = 0; word < isize(out.words); ++word) {
        Index row = 0;
        const float most = rows.weights.col(word).maxCoeff(&row);
        const bool near = word == of_token[query] || word + 1 == of_token[query];
        if (!near && most > 0) all.push_back({{rows.heads[row], word, most}, row});
    }
    std::stable_sort(all.begin(), all.end(),
                     [](const auto& a, const auto& b) { return a.first.weight > b.first.weight; });
    std::vector<Index> kept;
    for (const auto& [found, row] : all) {
        if (isize(kept) == count || std::find(kept.begin(), kept.end(), row) != kept.end()) continue;
        kept.push_back(row);
        out.heads.push_back(found);
    }
    if (isize(kept) < 2) return std::nullopt;
    out.rows = rows.weights(kept, Eigen::all);
    out.mean = out.rows.colwise().mean().transpose();
    return out;
}

}  // namespace headlight
