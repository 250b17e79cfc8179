// Tests the mean and the maximum of several heads' patterns.
#include "trace/head_group.h"

#include "helpers.h"
#include "model/interventions/change.h"
#include "questions/answering.h"

using namespace headlight;

namespace {

std::shared_ptr<const Trace> some_trace(ThreadPool& pool, const char* name = "gpt2") {
    std::vector<int> ids;
    for (int i = 0; i < 41; ++i) ids.push_back(3 + i * 7 % 200);
    return trace_of(reference_model(name), ids, pool);
}

}  // namespace

TEST_CASE("head group: mean and maximum per cell, −1 where all heads mask it; rows of a mean sum to 1") {
    ThreadPool pool(2);
    for (const char* name : {"gpt2", "bert", "mistral"}) {
        CAPTURE(name);
        const auto trace = some_trace(pool, name);
        const auto heads = heads_alike(trace->config(), 0);
        CHECK(heads.size() == static_cast<size_t>(trace->config().head_count()));
        const Matrix mean = combined_pattern(*trace, {Combine::mean, heads}),
                     max = combined_pattern(*trace, {Combine::max, heads});
        for (int q = 0; q < 41; ++q) {
            CHECK(mean.row(q).cwiseMax(0.0f).sum() == doctest::Approx(1).epsilon(1e-5));
            for (int k = 0; k < 41; ++k) {
                float sum = 0, largest = kMasked;
                for (const AttentionHead head : heads) {
                    const float w = masked_pattern_rows(*trace, head.block, head.head, q, 1)(0, k);
                    sum += std::max(w, 0.0f);
                    largest = std::max(largest, w);
                }
                CHECK(max(q, k) == largest);
                if (largest < 0)
                    CHECK(mean(q, k) == kMasked);
                else
                    CHECK(mean(q, k) == doctest::Approx(sum / float(heads.size())).epsilon(1e-5));
            }
        }
    }
}

TEST_CASE("head group: a key that one head masks counts as 0 there and is shown if another attends to it") {
    ThreadPool pool(1);
    const auto model = reference_model("gpt2");
    ForwardRequest request = request_of({5, 9, 11, 20});
    Change change;
    change.kind = ChangeKind::mask;
    std::tie(change.block, change.head, change.query, change.key) = std::tuple{0, 1, 3, 2};
    request.intervention.changes.push_back(change);
    const auto trace = *run_trace(model, request, pool);
    const Matrix mean = combined_pattern(*trace, {Combine::mean, {{0, 0}, {0, 1}}});
    CHECK(mean(3, 2) == trace->pattern(0, 0)(3, 2) / 2);
    CHECK(mean(2, 3) == kMasked);
    CHECK(mean.row(3).sum() == doctest::Approx(1).epsilon(1e-6));
    CHECK(combined_pattern(*trace, {Combine::mean, {{0, 1}}})(3, 2) == kMasked);
    const Matrix rest = combined_pattern(*trace, {Combine::mean, {{0, 0}, {0, 1}}}, true);
    CHECK(rest(3, 0) == kMasked);
    CHECK(rest.row(3).cwiseMax(0.0f).sum() == doctest::Approx(1).epsilon(1e-6));
}

TEST_CASE("head group: a picture of several heads, full or max-pooled") {
    ThreadPool pool(2);
    const auto trace = some_trace(pool);
    PictureRequest request{1, 2};
    request.group = HeadGroup{Combine::mean, heads_of_block(trace->config(), 1)};
    const HeadPicture full = make_picture(*trace, request, pool),
                      small = make_picture(*trace, request, pool, 10);
    CHECK((full.levels[0] - combined_pattern(*trace, *request.group)).cwiseAbs().maxCoeff() == 0);
    CHECK((small.step == 5 && small.group == request.group && small.largest == full.largest));
    CHECK(small.at(17, 3) == full.levels[0].block(15, 0, 5, 5).maxCoeff());
}

TEST_CASE("head group: its title, and its heads that another model or block has") {
    const auto model = reference_model("gpt2");
    const ModelConfig& c = model->config;
    const auto layer = heads_of_block(c, 1);
    const std::string count = std::to_string(layer.size());
    CHECK(group_title(c, {Combine::mean, layer}) == "Mean of " + count + " heads, layer 1");
    CHECK(group_title(c, {Combine::max, heads_alike(c, 1)}) ==
          "Max of all " + std::to_string(c.head_count()) + " heads");
    CHECK(group_title(c, {Combine::mean, {{0, 1}, {1, 0}}}) == "Mean of heads 0.1, 1.0");
    const HeadGroup group{Combine::max, {{1, 0}, {0, 1}, {99, 0}}};
    CHECK(fitted(group, c, 0) == HeadGroup{Combine::max, {{0, 1}, {1, 0}}});
    CHECK_FALSE(fitted(HeadGroup{Combine::max, {{99, 0}}}, c, 0));
    const ModelConfig& two = translator()->config;
    const int cross = cross_block(two, 0);
    CHECK(heads_alike(two, 0).size() == static_cast<size_t>(two.stacks.front().depth() * two.heads(0)));
    CHECK_FALSE(fitted(HeadGroup{Combine::mean, {{cross, 0}}}, two, 0));
}

TEST_CASE("a picture's rows sum to 1 with the sink, of one head and of the mean of several") {
    ThreadPool pool(2);
    const auto model = reference_model("gpt_oss");
    const auto trace = *run_trace(model, request_of({5, 9, 20, 31, 44, 7, 12}), pool);
    PictureRequest one{1, 2}, mean = one;
    mean.group = HeadGroup{Combine::mean, {{0, 1}, {1, 2}, {1, 3}}};
    for (const PictureRequest& request : {one, mean}) {
        const HeadPicture p = make_picture(*trace, request, pool);
        REQUIRE(p.sinks.size() == 7);
        for (Index q = 0; q < 7; ++q)
            CHECK(p.levels[0].row(q).cwiseMax(0.0f).sum() + p.sinks[q] == doctest::Approx(1).epsilon(1e-5));
    }
    one.sink_dropped = true;  // the first key's rows are divided by what is left
    CHECK(make_picture(*trace, one, pool).sinks.size() == 0);
}
