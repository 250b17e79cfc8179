// Writes experts over many texts as JSON and tables, and reads them again.
#include "analysis/corpus/dossier_experts.h"

#include <algorithm>
#include <limits>

#include "base/cast.h"

namespace headlight {

namespace {

using Ordered = nlohmann::ordered_json;

constexpr int64_t kMaxTokens = int64_t{1} << 53;
constexpr double kMaxOfLayer = 1e3, kMaxWeight = 1e6;  // above any share and any mean weight
constexpr size_t kMaxListed = 4096;

Ordered json_of(const ExpertOverTexts& expert) {
    Ordered out{{"tokens", expert.tokens},
                {"share", expert.share},
                {"weight", expert.weight},
                {"often", Ordered::array()}};
    for (const auto& [token, count] : expert.often)
        out["often"].push_back({{"token", token}, {"count", count}});
    return out;
}

/// The weights' sum, and every token with its id, label and count.
Ordered sums_of(const ExpertCounts& counts, const ExpertCount& expert) {
    Ordered out{{"weight", expert.weight.parts()}, {"tokens", Ordered::array()}};
    for (const auto& [id, often] : most_frequent(expert, isize(expert.ids)))
        out["tokens"].push_back({id, counts.labels.at(id), often});
    return out;
}

Error of_other_experts(const std::string& name) {
    return Error{name +
                 " is about other experts than those of the model that is open; open its model first."};
}

/// Reads a number that is null where nothing was counted.
Result<double> share_in(const Json& object, const char* key, double most, const std::string& name) {
    const Json* value = json_find(object, or_null(key));
    if (!value) return std::numeric_limits<double>::quiet_NaN();
    if (!value->is_number()) return wrong_type(name, key, "a number", *value);
    const double number = value->get<double>();
    if (!(std::abs(number) <= most)) return Error{name + ": " + key + " of an expert is out of range."};
    return number;
}

Result<ExpertOverTexts> expert_from(const Json& json, const std::string& name) {
    ExpertOverTexts out;
    TRY(out.tokens, json_integer(json, "tokens", 0, 0, kMaxTokens, name));
    TRY(out.share, share_in(json, "share", kMaxOfLayer, name));
    TRY(out.weight, share_in(json, "weight", kMaxWeight, name));
    TRY(const Json often, json_list(json, "often", name));
    if (often.size() > kMaxListed)
        return Error{name + " lists more than " + std::to_string(kMaxListed) + " tokens of an expert."};
    for (const Json& row : often) {
        TRY(const std::string token, json_string(row, "token", "", name));
        TRY(const int64_t count, json_integer(row, "count", 0, 0, kMaxTokens, name));
        out.often.emplace_back(token, count);
    }
    return out;
}

}  // namespace

Ordered experts_json(const Dossier& dossier, const Corpus* sums) {
    Ordered out = Ordered::array();
    for (size_t l = 0; l < dossier.experts.size(); ++l) {
        Ordered layer{{"layer", dossier.experts[l].layer}, {"experts", Ordered::array()}};
        for (size_t e = 0; e < dossier.experts[l].experts.size(); ++e) {
            layer["experts"].push_back(json_of(dossier.experts[l].experts[e]));
            if (sums)
                layer["experts"].back()["sums"] =
                    sums_of(sums->experts(), sums->experts().layers[l].experts[e]);
        }
        out.push_back(std::move(layer));
    }
    return out;
}

Result<std::vector<LayerExperts>> experts_from(const Json& root, const std::string& name,
                                               const ModelConfig& c) {
    std::vector<LayerExperts> out;
    if (!json_find(root, "experts")) return out;  // a model without them, or a file of an older version
    TRY(const Json layers, json_list(root, "experts", name));
    const ExpertCounts own(c);
    if (layers.size() != own.layers.size()) return of_other_experts(name);
    for (size_t l = 0; l < layers.size(); ++l) {
        TRY(const int64_t layer, json_integer(layers[l], "layer", -1, -1, 1 << 20, name));
        TRY(const Json experts, json_list(layers[l], "experts", name));
        if (layer != own.layers[l].layer || experts.size() != own.layers[l].experts.size())
            return of_other_experts(name);
        out.push_back({static_cast<int>(layer), {}});
        for (const Json& expert : experts) {
            TRY(ExpertOverTexts read, expert_from(expert, name));
            out.back().experts.push_back(std::move(read));
        }
    }
    return out;
}

Matrix expert_shares(const Dossier& d) {
    size_t most = 0;
    for (const LayerExperts& layer : d.experts) most = std::max(most, layer.experts.size());
    Matrix out = Matrix::Constant(isize(d.experts), Index(most), std::numeric_limits<float>::quiet_NaN());
    for (Index l = 0; l < out.rows(); ++l)
        for (Index e = 0; e < isize(d.experts[size_t(l)].experts); ++e)
            out(l, e) = float(d.experts[size_t(l)].experts[size_t(e)].share);
    return out;
}

std::vector<NumberTable> expert_numbers_of(const Dossier& d) {
    if (d.experts.empty()) return {};
    NumberTable shares{"share of tokens", "layer", "expert", {}, {}, expert_shares(d)};
    shares.columns = counted(shares.values.cols());
    NumberTable weights = shares;
    weights.name = "mean weight";
    for (Index l = 0; l < weights.values.rows(); ++l) {
        const LayerExperts& layer = d.experts[size_t(l)];
        for (Index e = 0; e < isize(layer.experts); ++e)
            weights.values(l, e) = float(layer.experts[size_t(e)].weight);
        shares.rows.push_back(std::to_string(layer.layer));
    }
    weights.rows = shares.rows;
    return {std::move(shares), std::move(weights)};
}

}  // namespace headlight
