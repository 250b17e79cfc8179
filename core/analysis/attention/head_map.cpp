// Arranges heads by the similarity of their patterns.
#include "analysis/attention/head_map.h"

#include "analysis/attribution/pca.h"
#include "base/cast.h"

namespace headlight {

namespace {
constexpr int kReduced = 32;
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

}  // namespace headlight
