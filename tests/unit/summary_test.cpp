// Tests summaries of heads: their sums, and that they do not depend on who shows the pattern or on an earlier
// pass.
#include <cmath>

#include "analysis/attention/head_summary.h"
#include "helpers.h"
#include "kernels/choice.h"
#include "summaries.h"

using namespace headlight;

TEST_CASE("kernels: entropy and distance of weights equal plain sums, and the larger of two rows is kept") {
    for (const Kernels* set : usable_kernels())
        for (const int count : {1, 7, 8, 9, 15, 16, 17, 47, 48, 49, 193}) {
            const Matrix numbers = random_matrix(2, count + 1, 4);
            std::vector<float> row(numbers.data(), numbers.data() + count),
                kept(numbers.data() + count + 1, numbers.data() + 2 * (count + 1));
            float total = 0;
            for (float& w : row) total += w = w < 0 ? 0 : w * w * w * w;  // some of them 0
            if (total == 0) total = row[0] = 1;
            double bits = 0, apart_by = 0;
            for (int i = 0; i < count; ++i) {
                row[i] /= total;
                if (row[i] > 0) bits -= row[i] * std::log2(double(row[i]));
                apart_by += double(row[i]) * std::abs(i - 20);
            }
            INFO(set->name, " of ", count);
            CHECK(set->entropy(row.data(), count) == doctest::Approx(bits).epsilon(2e-6));
            CHECK(set->distance(row.data(), count, -20) == doctest::Approx(apart_by).epsilon(2e-6));
            const std::vector<float> before = kept;
            set->keep_larger(kept.data(), row.data(), count);
            for (int i = 0; i < count; ++i) CHECK(kept[i] == std::max(before[i], row[i]));
            CHECK(kept[count] == before[count]);
        }
}

TEST_CASE("kernels: the entropy's logarithm equals the library's, from 1 down to the smallest weight") {
    for (const Kernels* set : usable_kernels())
        for (float w = 1; w > 1e-30f; w *= 0.87f) {
            const double want = -double(w) * std::log2(double(w));
            CHECK(std::abs(set->entropy(&w, 1) - want) <= 2e-7 * (want + w));
        }
}

TEST_CASE("reuse: summaries of a growing, shrinking and edited text equal those of one read at once") {
    ThreadPool pool(2);
    const auto model = reference_model("gpt2");
    std::vector<int> ids;
    auto past = trace_of(model, {7}, pool);
    for (int i = 0; i < 40; ++i) {
        ids.push_back(i * 11 % 420);
        if (i % 7 == 3) ids.erase(ids.begin() + i % 3);
        if (i % 11 == 5) ids.insert(ids.begin() + 2, 9);
        if (i == 30) ids.resize(12);
        const auto now = *run_trace(model, request_of(ids), pool, nullptr, past.get());
        CAPTURE(ids.size());
        CHECK(summary_that_differs(*now, *past, 8, pool) == -1);
        past = now;
    }
}

TEST_CASE("observers: a pass of many tiles shows each row of each pattern once, whatever the threads") {
    struct Patterns : PatternObserver {
        std::vector<Matrix> heads;
        std::vector<int> begun = std::vector<int>(2, -1);
        void begin(int block, int first) override { begun[block] = first; }
        void see(int block, const PatternTile& tile) override {
            heads[block * 4 + tile.head].block(tile.first, tile.first_key, tile.weights.rows(),
                                               tile.weights.cols()) += tile.weights;
        }
    };
    ThreadPool one(1), three(3);
    const auto model = reference_model("bloom");
    std::vector<int> ids;
    for (int i = 0; i < 150; ++i) ids.push_back(1 + i * 11 % 420);
    for (const char* change :
         {"temperature:0.5", "ablate:0.1:mean", "ablate:1.2", "mask:70..>3-40", "skip-attention:0"}) {
        CAPTURE(change);
        const ForwardRequest request = with_change(request_of(ids), *model, change);
        HeadObserver alone(model->config, request.inputs, 8), together(model->config, request.inputs, 8);
        const auto trace = *run_trace(model, request, one, nullptr, nullptr, &alone);
        Patterns seen;
        seen.heads.assign(8, Matrix::Zero(150, 150));
        REQUIRE(run_trace(model, request, three, nullptr, nullptr, &seen));
        REQUIRE(run_trace(model, request, three, nullptr, nullptr, &together));
        for (int i = 0; i < 8; ++i) CHECK(seen.heads[i] == trace->pattern(i / 4, i % 4));
        CHECK(seen.begun == std::vector<int>{0, 0});
        const auto whole = *summarize_heads(*trace, 8, three);
        CHECK(first_difference(std::move(alone).finish(*trace, one), whole) == -1);
        CHECK(first_difference(std::move(together).finish(*trace, three), whole) == -1);
    }
}

TEST_CASE("observers: a mean-ablated head has its mean z in any requested rows") {
    ThreadPool pool(2);
    const auto model = reference_model("bloom");
    std::vector<int> ids;
    for (int i = 0; i < 150; ++i) ids.push_back(1 + i * 11 % 420);
    const auto own = trace_of(model, ids, pool);
    const auto mean = *run_trace(model, with_change(request_of(ids), *model, "ablate:0.1:mean"), pool);
    const Index width = model->config.d_head(0);
    const Matrix z = own->z(0, 0, 150, pool).middleCols(width, width), all = mean->z(0, 0, 150, pool);
    const Matrix want = z.colwise().mean();
    for (const int row : {0, 63, 64, 149}) {
        CHECK((all.row(row).segment(width, width) - want).cwiseAbs().maxCoeff() < 1e-6f);
        CHECK(mean->z(0, row, 1, pool) == all.row(row));
    }
}

TEST_CASE("reuse: a typed token changes one row of a summary and no other") {
    ThreadPool pool(2);
    const auto model = reference_model("gpt2");
    const auto past = trace_of(model, {5, 9, 200, 31}, pool);
    PerHead<HeadSummary> before = *summarize_heads(*past, 8, pool);
    for (HeadSummary& head : before) {  // reveals what is reused
        Matrix marked = head.by_query.all();
        marked.row(1).setConstant(0.25f);
        head.by_query = Rows(std::move(marked));
    }
    const auto now = *run_trace(model, request_of({5, 9, 200, 31, 7}), pool, nullptr, past.get());
    const auto quick = *summarize_heads(*now, 8, pool, nullptr, {past.get(), &before});
    for (const HeadSummary& head : quick) CHECK((head.by_query.row(1).array() == 0.25f).all());
}
