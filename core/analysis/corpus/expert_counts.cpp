// Counts the experts that tokens choose.
#include "analysis/corpus/expert_counts.h"

#include <algorithm>
#include <limits>

#include "analysis/prediction/predict.h"
#include "base/cast.h"

namespace headlight {

ExpertCounts::ExpertCounts(const ModelConfig& c) {
    for (const int layer : layers_with_experts(c)) {
        const int experts = c.stacks.back().layers[size_t(layer)].mlp.experts->count;
        layers.push_back({layer, std::vector<ExpertCount>(size_t(experts))});
    }
}

void ExpertCounts::add(const Trace& trace, const ExpertRoutes& routes) {
    const std::vector<int>& ids = trace.output().ids;
    const int stack = isize(trace.config().stacks) - 1;
    tokens += isize(ids);
    for (const int id : ids)
        if (!layers.empty() && !labels.contains(id)) labels[id] = listed_label(*trace.model, id, stack);
    for (size_t l = 0; l < layers.size(); ++l)
        for (size_t token = 0; token < ids.size(); ++token)
            for (const ExpertChoice& choice : routes.chosen[l][token]) {
                ExpertCount& expert = layers[l].experts[size_t(choice.expert)];
                ++expert.tokens;
                expert.weight.add(double(choice.weight));
                ++expert.ids[ids[token]];
            }
}

std::vector<std::pair<int, int64_t>> most_frequent(const ExpertCount& expert, int count) {
    std::vector<std::pair<int, int64_t>> all(expert.ids.begin(), expert.ids.end());
    const auto kept = all.begin() + std::min(count, isize(all));
    std::partial_sort(all.begin(), kept, all.end(), [](const auto& a, const auto& b) {
        return a.second != b.second ? a.second > b.second : a.first < b.first;
    });
    all.erase(kept, all.end());
    return all;
}

std::vector<LayerExperts> experts_over_texts(const ExpertCounts& counts) {
    constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
    std::vector<LayerExperts> out;
    for (const LayerExpertCounts& of_layer : counts.layers) {
        LayerExperts layer{of_layer.layer, {}};
        for (const ExpertCount& expert : of_layer.experts) {
            ExpertOverTexts read;
            read.tokens = expert.tokens;
            read.share = counts.tokens ? double(expert.tokens) / double(counts.tokens) : kNone;
            read.weight = expert.tokens ? expert.weight.value() / double(expert.tokens) : kNone;
            for (const auto& [id, often] : most_frequent(expert, kFrequentTokens))
                read.often.emplace_back(counts.labels.at(id), often);
            layer.experts.push_back(std::move(read));
        }
        out.push_back(std::move(layer));
    }
    return out;
}

}  // namespace headlight
