// Tests the heads that stations begin with.
#include <cmath>

#include "learn/stations/first_head.h"
#include "learn_bench.h"

using namespace headlight;
using namespace headlight::learn;

namespace {

/// ½ Σ |softmax(q · k) − softmax(q · k / √d)|, averaged over the queries of a decoder, from the trace's
/// scores.
float moved_by_division(const Trace& trace, AttentionHead head) {
    const Matrix divided = trace.pattern(head.block, head.head);
    const auto root = std::sqrt(float(trace.config().d_head(head.block)));
    double sum = 0;
    for (Index q = 0; q < divided.rows(); ++q) {
        const Eigen::ArrayXf dot = trace.scores(head.block, head.head).row(q).head(q + 1).array() * root;
        const Eigen::ArrayXf e = (dot - dot.maxCoeff()).exp();
        sum += double((e / e.sum() - divided.row(q).head(q + 1).transpose().array()).abs().sum()) / 2;
    }
    return float(sum / double(divided.rows()));
}

}  // namespace

TEST_CASE("the first head of a station is the one whose weights the division moves most") {
    ThreadPool pool(2);
    const auto trace = read_by_stories("The cat sat on a mat");  // no word twice
    const auto first = most_moved_head(*trace, pool);
    REQUIRE(first);
    const float most = moved_by_division(*trace, *first);
    CHECK(most > 0.3f);
    for (int i = 0; i < trace->config().head_count(); ++i)
        CHECK(moved_by_division(*trace, trace->config().head_at(i)) <= most);
    const auto before = previous_token_head(*trace, pool);
    REQUIRE(before);
    const Matrix weights = trace->pattern(before->block, before->head);
    CHECK(weights.diagonal(-1).mean() > 0.5f);
}

TEST_CASE("a station has no first head if none is distinct, or in an encoder–decoder") {
    ThreadPool pool(1);
    CHECK_FALSE(most_moved_head(*read_by_stories("a"), pool));
    CHECK_FALSE(previous_token_head(*read_by_stories("a"), pool));
    const Opened two("marian");
    CHECK_FALSE(most_moved_head(*two.trace, pool));
    for (const Station& station : stations())
        if (station.first_head) CHECK(std::string_view(station.opens) == "stories");
}
