#include "figure/page/page_blocks.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/cast.h"
#include "figure/page/packed.h"
#include "model/heads.h"

namespace headlight {

namespace {

/// Holds the weights of a block's heads, rows one after another, of each row the stored keys.
struct Weights {
    std::vector<Matrix> patterns;
    bool lower;  // keys up to the query alone: all later ones are 0

    Weights(const Trace& trace, int block) {
        for (int head = 0; head < trace.config().heads(block); ++head)
            patterns.push_back(trace.pattern(block, head));
        const Index queries = trace.query_count(block);
        lower = queries == trace.key_count(block) &&
                std::all_of(patterns.begin(), patterns.end(), [&](const Matrix& p) {
                    for (Index q = 0; q < queries; ++q)
                        if (!p.row(q).tail(queries - q - 1).isZero(0)) return false;
                    return true;
                });
    }
    Index stored(Index query) const { return lower ? query + 1 : patterns[0].cols(); }
    template <class Use>
    void each(const Matrix& pattern, const Use& use) const {
        for (Index q = 0; q < pattern.rows(); ++q)
            for (Index k = 0; k < stored(q); ++k) use(pattern(q, k));
    }
};

/// Rounds weights to 16 bits, a scale for each head. All low bytes come first: they compress better apart.
std::string in_steps(const Weights& weights, int steps, bool is_signed, Json& scales, float& error) {
    constexpr float kSigned = 32767, kUnsigned = 65535;
    std::string low, high;
    for (const Matrix& pattern : weights.patterns) {
        const float largest = pattern.cwiseAbs().maxCoeff(), step = largest > 0 ? largest / float(steps) : 1;
        scales.push_back(step * (is_signed ? kSigned : kUnsigned));
        weights.each(pattern, [&](float w) {
            const float rounded = std::round(w / step);
            error = std::max(error, std::abs(rounded * step - w));
            const int stored = int(rounded) + (is_signed ? 32768 : 0);
            low += char(stored & 0xFF);
            high += char(stored >> 8 & 0xFF);
        });
    }
    return low + high;
}

/// Lists the stored cells that the block's mask hides: [query, first key, last key].
Json hidden_cells(const Trace& trace, int block, const Weights& weights) {
    Json out = Json::array();
    const AttentionRule& rule = trace.rule(block);
    if (rule.is_recorded()) return out;
    for (int q = 0; q < trace.query_count(block); ++q)
        for (int k = 0; k < narrow<int>(weights.stored(q)); ++k) {
            if (rule.mask.allowed(q, k)) continue;
            const int first = k;
            while (k + 1 < narrow<int>(weights.stored(q)) && !rule.mask.allowed(q, k + 1)) ++k;
            out.push_back({q, first, k});
        }
    return out;
}

int sequence_of(const Trace& trace, const Sequence& sequence) {
    return narrow<int>(&sequence - trace.request.inputs.data());
}

}  // namespace

PackedBlock packed_block(const Trace& trace, int block, int steps) {
    const Weights weights(trace, block);
    const bool is_signed = trace.is_mixing(block);
    PackedBlock out;
    Json scales = Json::array();
    const std::string bytes = in_steps(weights, steps, is_signed, scales, out.error);
    float largest = 0;
    for (const Matrix& pattern : weights.patterns) largest = std::max(largest, pattern.cwiseAbs().maxCoeff());
    out.json = {{"label", block_path(trace.config(), block)},
                {"kind", is_signed ? "mixing" : "softmax"},
                {"heads", weights.patterns.size()},
                {"queries", trace.query_count(block)},
                {"keys", trace.key_count(block)},
                {"query_tokens", sequence_of(trace, trace.queries(block))},
                {"key_tokens", sequence_of(trace, trace.keys(block))},
                {"sink", !trace.rule(block).sinks.empty()},
                {"encoding", "u16"},
                {"scale", std::move(scales)},
                {"rows", weights.lower ? "lower" : "full"},
                {"data", packed(bytes)},
                {"hidden", hidden_cells(trace, block, weights)},
                {"max", largest}};
    return out;
}

}  // namespace headlight
