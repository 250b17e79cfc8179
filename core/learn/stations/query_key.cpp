// Provides queries and keys for stations.
#include "learn/stations/query_key.h"

#include <algorithm>
#include <limits>

#include "analysis/prediction/predict.h"
#include "learn/stations/small_vectors.h"
#include "model/heads.h"

namespace headlight::learn {

namespace {

std::vector<std::string> first_labels(const Trace& trace, int stack, int count) {
    std::vector<std::string> out = token_labels(trace, stack);
    out.resize(count);
    return out;
}

}  // namespace

Matrix QueryKey::masked(Matrix scores) const {
    for (int q = 0; q < scores.rows(); ++q)
        for (int k = 0; k < scores.cols(); ++k)
            if (!allowed[q][k]) scores(q, k) = std::numeric_limits<float>::quiet_NaN();
    return scores;
}

bool has_head(const StationInput& in) {
    return in.trace && in.trace->has_weights() && in.trace->has_scores(in.block);
}

QueryKey head_query_key(const StationInput& in) {
    const Trace& trace = *in.trace;
    const AttentionBlock block = trace.config().block(in.block);
    const int queries = std::min(kMaxWords, trace.query_count(in.block)),
              keys = std::min(kMaxWords, trace.key_count(in.block));
    QueryKey out;
    out.q = trace.q(in.block, in.head).topRows(queries);
    out.k = trace.k(in.block, in.head).topRows(keys);
    out.queries = first_labels(trace, block.stack, queries);
    out.keys = first_labels(trace, block.key_stack, keys);
    const MaskPlan& mask = trace.rule(in.block).mask_of(in.head);
    for (int q = 0; q < queries; ++q) {
        out.allowed.emplace_back(keys);
        for (int k = 0; k < keys; ++k) out.allowed[q][k] = mask.has_weight(q, k);
    }
    out.query = in.query_of(queries);
    out.cells = cells_of(out.query, keys);
    out.of_head = true;
    out.one_text = block.kind != AttentionKind::cross;
    out.origin = "q and k of head " + head_name(trace.config(), in.block, in.head);
    return out;
}

QueryKey small_query_key(const StationInput& in, const std::vector<float>& by_hand) {
    QueryKey out;
    out.queries = out.keys = words_of(in.text);
    out.q = out.k = edited(by_hand, small_vectors(out.keys));
    out.allowed.assign(isize(out.keys), std::vector<bool>(isize(out.keys), true));
    out.query = chosen_word(in, out.keys);
    out.cells = cells_of_words(in, out.keys);
    out.origin = small_origin(out.keys);
    return out;
}

}  // namespace headlight::learn
