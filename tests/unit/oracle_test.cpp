// Tests the fast forward pass against the textbook's: texts longer than a block of queries (64), a packed
// panel or a block of the MLP's rows (256), with a window across two blocks.
#include "oracle.h"

#include <cmath>
#include <functional>

#include "base/cast.h"
#include "helpers.h"
#include "model/attention.h"

using namespace headlight;
using namespace headlight::oracle;

namespace {

std::vector<int> random_ids(int count) {
    std::mt19937 random(7);
    std::vector<int> ids;
    for (int i = 0; i < count; ++i) ids.push_back(static_cast<int>(random() % kVocab));
    return ids;
}

bool in_window(int q, int k) { return k <= q && q - k < kWindow; }

void compare(const TinyMistral& tiny, const Trace& trace, const TinyMistral::Pass& slow, ThreadPool& pool) {
    for (int l = 0; l < kLayers; ++l)
        for (int h = 0; h < kHeads; ++h)
            CHECK(apart(trace.pattern(l, h), slow.patterns[l * kHeads + h]) < 2e-5);
    CHECK(apart(unembed(*tiny.model, trace.normalized().all(), pool), slow.logits) < 2e-5);
}

}  // namespace

TEST_CASE(
    "oracle: 300 tokens under a sliding window of 70 equal a textbook pass in double precision, fresh and "
    "after reuse past row 64") {
    ThreadPool pool(2);
    TemporaryFolder folder;
    const TinyMistral tiny(folder.path);
    const std::vector<int> ids = random_ids(kTokens);
    const auto slow = tiny.run(ids, in_window);
    compare(tiny, *trace_of(tiny.model, ids, pool), slow, pool);
    for (const int before : {63, 64, 65, 129, 257, 299}) {
        CAPTURE(before);
        const auto past = trace_of(tiny.model, {ids.begin(), ids.begin() + before}, pool);
        compare(tiny, **run_trace(tiny.model, request_of(ids), pool, nullptr, past.get()), slow, pool);
    }
    std::vector<int> other = ids;
    other[100] = (other[100] + 1) % kVocab;
    const auto past = trace_of(tiny.model, other, pool);
    compare(tiny, **run_trace(tiny.model, request_of(ids), pool, nullptr, past.get()), slow, pool);
}

TEST_CASE(
    "oracle: rectangles over several blocks of queries equal a textbook pass, fully masked rows included") {
    ThreadPool pool(2);
    TemporaryFolder folder;
    const TinyMistral tiny(folder.path);
    const std::vector<int> ids = random_ids(kTokens);
    ForwardRequest request = request_of(ids);
    for (const char* text : {"mask:50-140>30-100", "unmask:120..>0", "mask:70>*", "unmask:3>290"})
        request.intervention.changes.push_back(*parse_change(tiny.model->config, text));
    const auto slow = tiny.run(ids, [](int q, int k) {
        if (q == 3 && k == 290) return true;
        if (q == 70) return false;
        if (q >= 120 && k == 0) return true;
        return in_window(q, k) && !(q >= 50 && q <= 140 && k >= 30 && k <= 100);
    });
    const auto fresh = *run_trace(tiny.model, request, pool);
    compare(tiny, *fresh, slow, pool);
    CHECK(fresh->pattern(0, 0)(70, 299) == doctest::Approx(1.0 / kTokens));
    const auto past = trace_of(tiny.model, ids, pool);
    compare(tiny, **run_trace(tiny.model, request, pool, nullptr, past.get()), slow, pool);
}

TEST_CASE(
    "oracle: attention of 300 queries with shared heads, ALiBi, a soft cap, temperatures and edited scores") {
    ThreadPool pool(2);
    AttentionRule rule;
    rule.mask = MaskPlan::make({}, {true, kWindow}, std::vector<int>(kTokens, 0));
    rule.bias = alibi_bias({}, kHeads, kTokens);
    rule.scale = 0.4f;
    rule.cap = 3;
    rule.heads = kHeads;
    rule.kv_heads = kShared;
    rule.changed.resize(kHeads);
    rule.changed[1].temperature = 0.25f;
    rule.changed[2].scores = {{150, 120, 9.0f}, {10, 0, -4.0f}};
    const Matrix q = random_matrix(kTokens, kHeads * kWidth, 11),
                 k = random_matrix(kTokens, kShared * kWidth, 12),
                 v = random_matrix(kTokens, kShared * kWidth, 13);
    Matrix z(kTokens, kHeads * kWidth);
    attend(pool, rule, q, k, v, 0, z);
    const oracle::Table slow_q(q), slow_k(k), slow_v(v);
    for (int h = 0; h < kHeads; ++h) {
        const int shared = h / (kHeads / kShared) * kWidth;
        const double slope =
            std::pow(2.0, -2.0 * (h + 1));  // four heads: 2^(−8 (h + 1) / 4), Press et al. 2022
        const auto score = [&](int a, int b) {
            double s =
                3 * std::tanh(0.4 * dot(slow_q, a, h * kWidth, slow_k, b, shared, kWidth) / 3) + slope * b;
            if (h == 2 && a == 150 && b == 120) s = 9;
            if (h == 2 && a == 10 && b == 0) s = -4;
            return h == 1 ? s / 0.25 : s;
        };
        const Head slow = attention(kTokens, kTokens, score, in_window, slow_v, shared, kWidth);
        CHECK(apart(z.middleCols(h * kWidth, kWidth), slow.z) <
              1e-4);  // ALiBi's largest score is 75: 24 bits leave 1e-5 of it
        Matrix pattern(kTokens, kTokens);
        head_pattern(rule, h, q.middleCols(h * kWidth, kWidth), k.middleCols(shared, kWidth), 0, pattern);
        CHECK(apart(pattern, slow.pattern) < 1e-4);
    }
}

TEST_CASE("attention: one query of heads that share keys equals its row among all queries bit for bit") {
    ThreadPool pool(2);
    for (const auto& group : {std::pair{4, 4}, {6, 3}, {8, 2}, {5, 1}})
        for (const int width : {7, 16, 64})
            for (const int n : {1, 16, 33, 64, 65, 200}) {
                const int heads = group.first, shared = group.second;
                AttentionRule rule;
                rule.mask = MaskPlan::make({}, {true, 90}, std::vector<int>(n, 0));
                rule.bias = alibi_bias({}, heads, n);
                rule.scale = 0.3f;
                rule.cap = 2;
                rule.heads = heads;
                rule.kv_heads = shared;
                const Rows q = random_matrix(n, heads * width, 1), k = random_matrix(n, shared * width, 2),
                           v = random_matrix(n, shared * width, 3);
                Matrix all(n, heads * width), last(1, heads * width), seen = Matrix::Zero(heads, n);
                attend(pool, rule, q, k, v, 0, all);
                attend(pool, rule, q, k, v, n - 1, last, [&](const PatternTile& tile) {
                    seen.block(tile.head, tile.first_key, 1, tile.weights.cols()) = tile.weights;
                });
                INFO(heads, " heads on ", shared, ", width ", width, ", ", n, " tokens");
                CHECK(last.row(0) == all.row(n - 1));
                Matrix pattern(1, n);
                for (int h = 0; h < heads; ++h) {
                    const Index own = h * width, theirs = rule.kv_head(h) * width;
                    head_pattern(rule, h, q.columns(own, width), k.columns(theirs, width), n - 1, pattern);
                    CHECK(seen.row(h) == pattern.row(0));
                }
            }
}
