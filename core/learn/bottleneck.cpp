// Limits a decoder's view of the source.
#include "learn/bottleneck.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "analysis/prediction/generate.h"
#include "analysis/prediction/predict.h"
#include "io/json.h"
#include "model/input.h"

namespace headlight {

namespace {

constexpr int kGroup = 10;

/// Masks all keys except [first, last] for the named rows.
void hide_beyond(std::vector<std::string>& out, const std::string& rows, int first, int last, int source) {
    const std::string before = first > 1 ? "0-" + std::to_string(first - 1) : "0";
    if (first > 0) out.push_back("mask:" + rows + ">" + before + "@cross");
    if (last < source - 1) out.push_back("mask:" + rows + ">" + std::to_string(last + 1) + "..@cross");
}

/// [rows, vocab] → the probability of one id per row.
std::vector<float> probability_of(const Matrix& logits, const std::vector<int>& ids) {
    std::vector<float> out;
    for (Index i = 0; i < logits.rows(); ++i) out.push_back(probabilities(logits.row(i).transpose())[ids[i]]);
    return out;
}

std::vector<TranslationPair> read_pairs() {
    std::vector<TranslationPair> out;
    for (const Json& pair : embedded_json("assets/held_out.json")) out.push_back({pair[0], pair[1]});
    return out;
}

LengthPoint mean_of_group(std::span<const TranslationPair> pairs, std::span<const float> probabilities) {
    LengthPoint out;
    const auto count = float(pairs.size());
    float squares = 0;
    for (size_t i = 0; i < pairs.size(); ++i) {
        out.words += float(pairs[i].words()) / count;
        out.probability += probabilities[i] / count;
    }
    for (const float p : probabilities) squares += (p - out.probability) * (p - out.probability);
    out.error = count > 1 ? std::sqrt(squares / (count - 1) / count) : 0;
    return out;
}

}  // namespace

std::vector<std::string> cross_changes(const CrossLimit& limit, int source) {
    std::vector<std::string> out;
    const auto within = [&](int key) { return std::clamp(key, 0, source - 1); };
    const int one = within(limit.position), last = source - 1;
    switch (limit.reach) {
        case CrossReach::all:
            break;
        case CrossReach::one:
            hide_beyond(out, "*", one, one, source);
            break;
        case CrossReach::last:
            hide_beyond(out, "*", last, last, source);
            break;
        case CrossReach::window:
            for (int t = 0; t < last; ++t)
                hide_beyond(out, std::to_string(t), within(t - limit.half_width),
                            within(t + limit.half_width), source);
            hide_beyond(out, std::to_string(last) + "..", within(last - limit.half_width), last, source);
    }
    return out;
}

Result<ForwardRequest> limited_request(const Model& model, const Sequence& source, const CrossLimit& limit) {
    ForwardRequest out{{source, {}}, {}};
    append_token(model, out.inputs[1], model.config.start_id);
    for (const std::string& change : cross_changes(limit, out.inputs[0].size())) {
        TRY(Change read, parse_change(model.config, change));
        out.intervention.changes.push_back(std::move(read));
    }
    return out;
}

float ReferenceTokens::mean_probability() const {
    double sum = 0;
    for (const float p : probabilities) sum += std::log(std::max(double(p), 1e-30));
    return probabilities.empty() ? 0 : float(std::exp(sum / double(probabilities.size())));
}

Result<std::vector<int>> translation_ids(const Model& model, const std::string& target) {
    TextInput typed;
    typed.text = typed.target = target;
    TRY(ModelInput input, encode_input(model, typed));
    std::vector<int> out(input.sequences[1].ids.begin() + 1, input.sequences[1].ids.end());
    if (model.config.end_id >= 0) out.push_back(model.config.end_id);
    return out;
}

Result<ReferenceTokens> read_reference(const std::shared_ptr<const Model>& model, ForwardRequest request,
                                       const std::vector<int>& ids, ThreadPool& pool,
                                       const CancelFlag* cancel, const Trace* past) {
    Sequence& target = request.inputs[1];
    for (size_t i = 0; i + 1 < ids.size(); ++i) append_token(*model, target, ids[i]);
    TRY(const auto trace, run_trace(model, std::move(request), pool, cancel, past));
    ReferenceTokens out{ids, {}, {}, trace};
    for (const int id : ids) out.labels.push_back(prediction_label(*model, id));
    return guarded([&]() -> Result<ReferenceTokens> {
        const auto rows = narrow<Index>(ids.size());
        out.probabilities = probability_of(unembed(*model, trace->normalized().bottomRows(rows), pool), ids);
        return std::move(out);
    });
}

int TranslationPair::words() const {
    std::istringstream in(source);
    return narrow<int>(std::distance(std::istream_iterator<std::string>(in), {}));
}

const std::vector<TranslationPair>& held_out_pairs() {
    static const auto pairs = read_pairs();
    return pairs;
}

Result<std::vector<std::vector<LengthPoint>>> reference_by_length(const std::shared_ptr<const Model>& model,
                                                                  std::span<const CrossLimit> limits,
                                                                  ThreadPool& pool,
                                                                  const CancelFlag* cancel) {
    const std::span<const TranslationPair> pairs = held_out_pairs();
    std::vector<std::vector<float>> probabilities(limits.size());
    for (const TranslationPair& pair : pairs) {
        TextInput typed;
        typed.text = pair.source;
        TRY(const ModelInput input, encode_input(*model, typed));
        TRY(const auto ids, translation_ids(*model, pair.target));
        std::shared_ptr<const Trace> past;  // its encoder serves every limit
        for (size_t i = 0; i < limits.size(); ++i) {
            TRY(ForwardRequest request, limited_request(*model, input.sequences[0], limits[i]));
            TRY(const ReferenceTokens reference,
                read_reference(model, std::move(request), ids, pool, cancel, past.get()));
            probabilities[i].push_back(reference.mean_probability());
            past = reference.trace;
        }
    }
    std::vector<std::vector<LengthPoint>> out(limits.size());
    for (size_t i = 0; i < limits.size(); ++i)
        for (size_t first = 0; first < pairs.size(); first += kGroup) {
            const size_t count = std::min<size_t>(kGroup, pairs.size() - first);
            out[i].push_back(mean_of_group(pairs.subspan(first, count),
                                           std::span(probabilities[i]).subspan(first, count)));
        }
    return out;
}

}  // namespace headlight
