// Arranges heads by the similarity of their patterns.
#include "analysis/attention/head_map.h"

#include <algorithm>

#include "analysis/attribution/pca.h"
#include "base/cast.h"

namespace headlight {

namespace {
constexpr int kReduced = 32, kRandomTokens = 50;
}

Result<HeadMap> answer_head_map(const Trace& trace, const HeadMapRequest&, ThreadPool& pool,
                                const CancelFlag* cancel) {
    TRY(const auto heads, summarize_heads(trace, kReduced, pool, cancel));
    const Index cells = heads[0].thumbnail.size();
    Matrix points(heads.size(), cells);
    for (int i = 0; i < isize(heads); ++i)
        points.row(i) =
            Eigen::Map<const Eigen::RowVectorXf>(heads[i].thumbnail.data(), cells).cwiseMax(0.0f).cwiseSqrt();
    const Plane plane = principal_plane(points, cancel);
    if (stopped(cancel)) return cancelled();
    return HeadMap{plane.points, plane.kept};
}

Result<RandomStatistics> answer_random_statistics(const Trace& trace, const RandomStatisticsRequest&,
                                                  ThreadPool& pool, const CancelFlag* cancel) {
    if (!trace.has_weights()) return RandomStatistics{};
    const ModelConfig& c = trace.config();
    RandomStatistics out;
    if (c.can.read_image) return out;
    out.length = std::min(kRandomTokens, c.context / 2);
    ForwardRequest request;
    for (const StackConfig& stack : c.stacks) {
        Sequence s;
        s.ids = repeated_random_ids(stack.vocab, out.length, 0);
        request.inputs.push_back(std::move(s));
    }
    HeadObserver observer(c, request.inputs, 1);
    TRY(const auto random, run_trace(trace.model, std::move(request), pool, cancel, nullptr, &observer));
    const auto heads = std::move(observer).finish(*random, pool, cancel);
    out.heads = PerHead<std::array<float, kStatistics>>(c);
    for (size_t i = 0; i < heads.size(); ++i) out.heads[i] = heads[i].statistics;
    return out;
}

}  // namespace headlight
