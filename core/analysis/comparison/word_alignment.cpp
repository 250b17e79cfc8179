// Reads cross-attention as a word alignment.
#include "analysis/comparison/word_alignment.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "analysis/comparison/words.h"
#include "analysis/prediction/predict.h"
#include "base/cast.h"
#include "trace/head_group.h"

namespace headlight {

namespace {

struct AlignedSide {
    std::vector<std::string> tokens, labels;  // as spelled in the vocabulary, and for users
};

AlignedSide side_of(const Trace& trace, int stack) {
    return {trace.request.inputs[stack].tokens, token_labels(trace, stack)};
}

/// Returns the last query's most probable choice; −1: unknown.
int most_probable_last(const Trace& trace, const Sequence& queries, ThreadPool& pool) {
    return trace.model->has_logits() && trace.has_weights()
               ? predictions(trace, queries.size() - 1, 1, pool)[0].id
               : -1;
}

/// Returns the tokens that follow the queries, and the last query's choice.
AlignedSide chosen_side(const Trace& trace, AlignedSide read, int last) {
    const Model& m = *trace.model;
    read.tokens.erase(read.tokens.begin());
    read.labels.erase(read.labels.begin());
    const bool known = last >= 0 && m.tokenizer;
    read.tokens.push_back(known ? m.target_tokenizer()->spelling(last) : "<next>");
    read.labels.push_back(last >= 0 ? prediction_label(m, last) : "next");
    return read;
}

std::vector<int> one_by_one(size_t count) {
    std::vector<int> out(count);
    std::iota(out.begin(), out.end(), 0);
    return out;
}

float row_entropy(const Eigen::Ref<const Eigen::RowVectorXf>& row) {
    float out = 0;
    for (Index k = 0; k < row.size(); ++k)
        if (row[k] > 0) out -= row[k] * std::log2(row[k]);
    return out;
}

}  // namespace

Result<WordAlignment> answer_word_alignment(const Trace& trace, const WordAlignmentRequest& request,
                                            ThreadPool& pool, const CancelFlag* cancel) {
    const AttentionBlock block = trace.config().block(request.block);
    WordAlignment out;
    AlignedSide rows = side_of(trace, block.stack);
    const bool chooses = !request.as_read && &trace.queries(request.block) ==
                                                 &trace.output();  // an encoder's queries choose no token
    if (chooses)
        rows = chosen_side(
            trace, std::move(rows),
            request.last >= 0 ? request.last : most_probable_last(trace, trace.queries(request.block), pool));
    const AlignedSide columns = side_of(trace, block.key_stack);
    out.row_of_token = request.by_words ? word_numbers(rows.tokens) : one_by_one(rows.tokens.size());
    out.column_of_token = request.by_words ? word_numbers(columns.tokens) : one_by_one(columns.tokens.size());
    out.rows = join_labels(rows.labels, out.row_of_token);
    out.columns = join_labels(columns.labels, out.column_of_token);
    if (stopped(cancel)) return cancelled();
    out.weights = join_pattern(mean_pattern(trace, request.block, request.heads), out.row_of_token,
                               out.column_of_token);
    for (Index r = 0; r < out.weights.rows(); ++r) {
        Index best = 0;
        out.weights.row(r).maxCoeff(&best);
        out.strongest.push_back(narrow<int>(best));
        out.entropy.push_back(row_entropy(out.weights.row(r)));
    }
    return out;
}

int WordAlignment::first_token(bool row, int index) const {
    const auto& of = row ? row_of_token : column_of_token;
    return narrow<int>(std::find(of.begin(), of.end(), index) - of.begin());
}

int count_crossings(const std::vector<int>& strongest) {
    int out = 0;
    for (size_t i = 0; i < strongest.size(); ++i)
        for (size_t j = i + 1; j < strongest.size(); ++j) out += strongest[i] > strongest[j];
    return out;
}

float alignment_bits(const Matrix& pattern) {
    float rows = 0;
    for (Index r = 0; r < pattern.rows(); ++r) rows += row_entropy(pattern.row(r));
    return row_entropy(pattern.colwise().mean()) - rows / float(pattern.rows());
}

int cross_block(const ModelConfig& c, int block) {
    if (c.block(block).kind == AttentionKind::cross) return block;
    if (!c.decoder().cross()) return -1;
    const int first = c.blocks() - c.decoder().depth();
    return first + std::min(c.block(block).layer, c.decoder().depth() - 1);
}

void WordAlignmentRequest::clamp_to(const Trace& t) {
    block = nearest_block(t, block);
    std::erase_if(heads, [&](int head) { return head >= t.config().heads(block); });
}
bool WordAlignmentRequest::valid_for(const Shown& shown) const { return block == shown.block; }

}  // namespace headlight
