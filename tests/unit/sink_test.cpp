// Tests that the weight of a sink, which is no token, stands beside the weights that it completes.
#include "analysis/attention/cell.h"
#include "analysis/attention/head_summary.h"
#include "analysis/attention/links.h"
#include "analysis/attribution/flow.h"
#include "helpers.h"
#include "trace/trace.h"
#include "views/tables.h"

using namespace headlight;

namespace {

const std::vector<int> kSunkIds{5, 9, 20, 31, 44, 7, 12};

std::shared_ptr<const Trace> trace_with_sinks(ThreadPool& pool, const std::vector<int>& ids = kSunkIds) {
    return trace_of(reference_model("gpt_oss"), ids, pool);
}

float on_keys(const Trace& trace, AttentionHead head, int query) {
    return trace.pattern_rows(head.block, head.head, query, 1).sum();
}

}  // namespace

TEST_CASE("sink: a thumbnail's rows sum to 1 with the column beside them, of a continued pass too") {
    ThreadPool pool(2);
    const auto trace = trace_with_sinks(pool);
    const auto heads = *summarize_heads(*trace, kThumbnailSide, pool);
    for (const HeadSummary& head : heads) {
        REQUIRE(head.sinks.size() == 7);
        REQUIRE(head.thumbnail.rows() == 7);
        for (Index q = 0; q < 7; ++q)
            CHECK(head.thumbnail.row(q).cwiseMax(0.0f).sum() + head.sinks[q] ==
                  doctest::Approx(1).epsilon(1e-5));
    }
    std::vector<int> longer = kSunkIds;
    longer.push_back(3);
    const auto next = *run_trace(trace->model, request_of(longer), pool, nullptr, trace.get());
    const auto fresh = *summarize_heads(*next, kThumbnailSide, pool),
               quick = *summarize_heads(*next, kThumbnailSide, pool, nullptr, {trace.get(), &heads});
    for (size_t i = 0; i < fresh.size(); ++i) CHECK(quick[i].sinks == fresh[i].sinks);
    const auto without = *summarize_heads(*trace_of(reference_model("gpt2"), kSunkIds, pool), 8, pool);
    CHECK(without[0].sinks.size() == 0);
}

TEST_CASE("sink: a thumbnail of many tokens has the largest weight of the queries of each row") {
    ThreadPool pool(2);
    std::vector<int> ids;
    for (int i = 0; i < 45; ++i) ids.push_back(3 + i * 7 % 50);
    const auto trace = trace_with_sinks(pool, ids);
    const auto heads = *summarize_heads(*trace, 16, pool);
    const Index rows = heads[0].sinks.size();
    REQUIRE(rows == 12);  // of 4 queries each
    for (Index row = 0; row < rows; ++row) {
        float largest = 0;
        for (int q = 4 * int(row); q < std::min(45, 4 * int(row) + 4); ++q)
            largest = std::max(largest, 1 - on_keys(*trace, {0, 0}, q));
        CHECK(heads[0].sinks[row] == doctest::Approx(largest).epsilon(1e-5));
    }
}

TEST_CASE("sink: a cell's row, links and the table of a pattern end in what no key has") {
    ThreadPool pool(2);
    const auto trace = trace_with_sinks(pool);
    const CellReport cell = report_cell(*trace, {1, 2, 5, 3}, false, pool);
    REQUIRE(cell.sink);
    CHECK(*cell.sink + on_keys(*trace, {1, 2}, 5) == doctest::Approx(1).epsilon(1e-5));
    const LayerLinks all = *answer_links(*trace, {1, 1}, pool), some = *answer_links(*trace, {1, 0.7f}, pool);
    REQUIRE(all.sinks.size() == size_t(trace->config().heads(1)));
    for (int head = 0; head < trace->config().heads(1); ++head)
        for (int q = 0; q < 7; ++q) {
            float sum = all.sinks[head][q], drawn = 0;
            for (const Link& link : all.of_head[head][q]) sum += link.weight;
            CHECK(sum == doctest::Approx(1).epsilon(1e-5));
            for (const Link& link : some.of_head[head][q]) drawn += link.weight;
            if (some.draws_sink(head, q, 0.7f)) drawn += some.sinks[head][q];
            CHECK(drawn >= 0.6999f);
        }
    const std::vector<std::string> names(7, "a");
    const NumberTable table = pattern_table("pattern", names, names, masked_pattern(*trace, 1, 2),
                                            sink_weights(*trace, {1, 2}, 0, 7));
    REQUIRE(table.columns.back() == "sink");
    for (Index q = 0; q < 7; ++q)
        CHECK(table.values.row(q).array().isNaN().select(0, table.values.row(q).array()).sum() ==
              doctest::Approx(1).epsilon(1e-5));
    const auto none = trace_of(reference_model("gpt2"), kSunkIds, pool);
    CHECK(answer_links(*none, {1, 1}, pool)->sinks.empty());
    CHECK(!report_cell(*none, {1, 2, 5, 3}, false, pool).sink);
}

TEST_CASE("sink: in the graph, links of rollout and what goes to sinks sum to 1, a part of the stream") {
    ThreadPool pool(2);
    const auto trace = trace_with_sinks(pool);
    const Graph graph = *answer_graph(Runs{*trace}, {{}, 1, Origins::rollout, {}}, pool, nullptr);
    REQUIRE(graph.sinks.size() == graph.links.size());
    for (size_t layer = 0; layer < graph.links.size(); ++layer)
        for (int q = 0; q < 7; ++q) {
            float sum = graph.sinks[layer][q];
            for (const Link& link : graph.links[layer][size_t(q)]) sum += link.weight;
            CHECK(sum == doctest::Approx(1).epsilon(1e-5));
            CHECK(graph.residual_weight[layer][q] - graph.sinks[layer][q] ==
                  doctest::Approx(1).epsilon(1e-5));
        }
    const Graph moved = *answer_graph(Runs{*trace}, {{}, 1, Origins::contribution, {}}, pool, nullptr);
    for (const Vector& of_layer : moved.sinks) CHECK(of_layer.isZero());
}
