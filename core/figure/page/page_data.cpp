#include "figure/page/page_data.h"

#include <algorithm>
#include <cmath>

#include "base/cast.h"
#include "model/heads.h"

namespace headlight {

PagePatterns::PagePatterns(const Trace& trace, int block) {
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

float PagePatterns::largest() const {
    float out = 0;
    for (const Matrix& pattern : patterns) out = std::max(out, pattern.cwiseAbs().maxCoeff());
    return out;
}

namespace {

/// Lists the stored cells that the block's mask hides: [query, first key, last key].
Json hidden_cells(const Trace& trace, int block, const PagePatterns& weights) {
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

Json block_facts(const Trace& trace, int block, const PagePatterns& weights) {
    return {{"label", block_path(trace.config(), block)},
            {"kind", trace.is_mixing(block) ? "mixing" : "softmax"},
            {"heads", weights.patterns.size()},
            {"queries", trace.query_count(block)},
            {"keys", trace.key_count(block)},
            {"query_tokens", sequence_of(trace, trace.queries(block))},
            {"key_tokens", sequence_of(trace, trace.keys(block))},
            {"sink", !trace.rule(block).sinks.empty()},
            {"rows", weights.lower ? "lower" : "full"},
            {"hidden", hidden_cells(trace, block, weights)},
            {"max", weights.largest()}};
}

std::string model_text(const Model& model) {
    const ModelConfig& c = model.config;
    return model.name + " · " + c.family_name + ", " + std::to_string(c.layers()) + " layers, " +
           per_stack(c, &AttentionSpec::heads) + " heads";
}

Json sequences_of(const Trace& trace) {
    Json out = Json::array();
    for (int stack = 0; stack < isize(trace.request.inputs); ++stack)
        out.push_back(
            {{"name", trace.config().stacks[size_t(stack)].name}, {"tokens", token_labels(trace, stack)}});
    return out;
}

double said_error(float error) {
    if (error <= 0) return 0;
    const double places = std::pow(10, -std::floor(std::log10(double(error))));
    return std::ceil(double(error) * places) / places;
}

Json lens_of(const Trace& trace, const Lens& lens) {
    Json after = Json::array(), layers = Json::array();
    for (int i = 0; !lens.top.empty() && i < isize(lens.top[0]); ++i) after.push_back(lens.first + i);
    for (int row = 0; row < isize(lens.top); ++row) {
        Json top = Json::array();
        for (const Prediction& p : lens.top[size_t(row)])
            top.push_back(Json::array({Json::array({listed_label(*trace.model, p.id), p.probability})}));
        layers.push_back(
            {{"label", row == 0 ? "embedding" : std::to_string(row - 1)}, {"top", std::move(top)}});
    }
    return {{"tokens_after", std::move(after)},
            {"sequence", trace.request.inputs.size() - 1},
            {"layers", std::move(layers)}};
}

namespace {

/// Returns what a reader types to have this token follow; "" where nothing typed does.
std::string text_to_add(const Model& model, int id) {
    return model.config.can.continue_text && model.tokenizer ? (*model.tokenizer)->decode({id}) : "";
}

}  // namespace

Json next_of(const Trace& trace, ThreadPool& pool) {
    constexpr int kListed = 5;
    Json out = Json::array();
    const std::vector<int> where = trace.can_run() ? predicting_positions(trace) : std::vector<int>();
    if (where.empty()) return out;
    for (const Prediction& p : predictions(trace, where.back(), kListed, pool))
        out.push_back({listed_label(*trace.model, p.id), p.probability, text_to_add(*trace.model, p.id)});
    return out;
}

Result<ForwardRequest> with_target(const std::shared_ptr<const Model>& model, ForwardRequest request,
                                   ThreadPool& pool, std::shared_ptr<const Trace>& written) {
    constexpr int kLongest = 64;
    if (!model->config.can.write_target) return request;
    TRY(Generation generation, generate(model, request, {{}, kLongest, {}}, pool, nullptr, written.get()));
    for (const int id : generation.ids()) append_token(*model, request.inputs.back(), id);
    written = std::move(generation.trace);
    return request;
}

}  // namespace headlight
