// Masks and changes: hand-checked cases, and what must follow from what.
#include <cmath>

#include "analysis/compare.h"
#include "helpers.h"

using namespace headlight;

namespace {

const std::vector<int> kIds{5, 9, 200, 31, 5, 9, 77, 300, 12, 5};

std::string drawn(const Mask& mask, const Visibility& own, const std::vector<int>& sentences) {
    const MaskPlan plan = MaskPlan::make(mask, own, sentences);
    std::string out;
    for (int q = 0; q < plan.keys; ++q) {
        for (int k = 0; k < plan.keys; ++k) out += plan.allows(q, k) ? 'x' : '.';
        out += q + 1 < plan.keys ? " " : "";
    }
    return out;
}

std::shared_ptr<const Trace> changed(const std::shared_ptr<const Model>& model, const std::vector<std::string>& changes, ThreadPool& pool, const Trace* past = nullptr) {
    ForwardRequest request = request_of(kIds);
    if (model->config.stacks.size() > 1) request.inputs.push_back(request_of({0, 4, 7, 9}).inputs[0]);
    for (const std::string& text : changes) {
        const auto change = parse_change(model->config, text);
        REQUIRE_MESSAGE(change, text);
        CHECK(change_name(model->config, *change) == text);
        request.intervention.changes.push_back(*change);
    }
    return *run_trace(model, request, pool, nullptr, past);
}

bool same(const Matrix& a, const Matrix& b) { return a.rows() == b.rows() && a.cols() == b.cols() && (a.array() == b.array()).all(); }

}  // namespace

TEST_CASE("masks by hand: window, prefix, global, block") {
    const std::vector<int> one(4, 0), two{0, 0, 1, 1};
    CHECK(drawn(*Mask::parse("window:2"), {true, 0}, one) == "x... xx.. .xx. ..xx");
    CHECK(drawn(*Mask::parse("window:2"), {false, 0}, one) == "xx.. xxx. .xxx ..xx");
    CHECK(drawn(*Mask::parse("prefix:3"), {true, 0}, one) == "xxx. xxx. xxx. xxxx");
    CHECK(drawn(*Mask::parse("global:1:2"), {true, 0}, one) == "x... xx.. xxx. x.xx");
    CHECK(drawn(*Mask::parse("global:1:1"), {false, 0}, one) == "xxxx xx.. x.x. x..x");
    CHECK(drawn(*Mask::parse("block"), {true, 0}, two) == "x... xx.. ..x. ..xx");
    CHECK(drawn(*Mask::parse("block"), {false, 0}, two) == "xx.. xx.. ..xx ..xx");
    for (const char* text : {"window:2", "prefix:3", "global:1:2", "block", "none", "own"}) CHECK(Mask::parse(text)->name() == text);
    for (const char* text : {"window", "window:x", "window:-1", "global:1", "prefix:1:2", "file:/nowhere.json", ""}) CHECK(!Mask::parse(text));
    CHECK(sentence_numbers(std::vector<std::string>{"A", "b", ".", "C", "!", "d"}, {}, 6) == std::vector<int>{0, 0, 0, 1, 1, 2});
}

TEST_CASE("a plan's cells are painted one by one") {
    MaskPlan plan = MaskPlan::make({}, {true, 0}, std::vector<int>(4, 0));
    plan.set(3, 1, false);
    CHECK((!plan.allows(3, 1) && plan.allows(3, 0) && plan.allows(3, 2)));
    plan.set(0, 2, true);
    CHECK((plan.allows(0, 2) && !plan.allows(0, 1)));
    for (int k = 0; k < 4; ++k) plan.set(2, k, false);
    CHECK(plan.seen[2].size() == 0);
    plan.set(3, 1, true);
    for (int k = 0; k < 4; ++k) CHECK(plan.allows(3, k));
}

TEST_CASE("changes: a forbidden link weighs nothing and the rest of its row is renormalised") {
    ThreadPool pool(2);
    for (const char* name : {"gpt2", "llama", "bert", "bloom"}) {
        CAPTURE(name);
        const auto model = reference_model(name);
        const auto before = changed(model, {}, pool), after = changed(model, {"forbid:6>2@0.1"}, pool);
        Matrix want = before->pattern(0, 1);
        want(6, 2) = 0;
        want.row(6) /= want.row(6).sum();
        CHECK((after->pattern(0, 1) - want).cwiseAbs().maxCoeff() < 1e-5f);
        CHECK(same(after->pattern(0, 0), before->pattern(0, 0)));
        CHECK(masked_pattern(*after, 0, 1)(6, 2) == -1);
    }
}

TEST_CASE("changes: hard is the arg max, uniform is even, a high temperature comes near it, 1 changes nothing") {
    ThreadPool pool(2);
    const auto model = reference_model("gpt2");
    const auto before = changed(model, {}, pool), hard = changed(model, {"temperature:0@1.2"}, pool), uniform = changed(model, {"ablate:1.2:uniform"}, pool);
    const auto hot = changed(model, {"temperature:100000@1.2"}, pool), same_again = changed(model, {"temperature:1@1.2"}, pool), ablated = changed(model, {"ablate:1.2:hard"}, pool);
    for (int q = 0; q < static_cast<int>(kIds.size()); ++q) {
        Index heaviest = 0;
        before->pattern(1, 2).row(q).maxCoeff(&heaviest);
        CHECK(hard->pattern(1, 2)(q, heaviest) == 1);
        CHECK(hard->pattern(1, 2).row(q).sum() == 1);
        for (int k = 0; k <= q; ++k) CHECK(uniform->pattern(1, 2)(q, k) == doctest::Approx(1.0 / (q + 1)));
    }
    CHECK((hot->pattern(1, 2) - uniform->pattern(1, 2)).cwiseAbs().maxCoeff() < 1e-3f);
    CHECK(same(hard->normalized(), ablated->normalized()));
    CHECK(same(before->normalized(), same_again->normalized()));
}

TEST_CASE("changes: all heads of a layer ablated equal its attention skipped, but for the bias; mean is the mean of z") {
    ThreadPool pool(2);
    for (const char* name : {"llama", "marian"}) {
        CAPTURE(name);
        const auto model = reference_model(name);
        const int site = static_cast<int>(model->config.stacks.size()) - 1 ? model->config.stacks[0].layers : 1;
        const std::string layer = site_path(model->config, site);
        std::vector<std::string> all;
        for (int h = 0; h < model->config.heads; ++h) all.push_back("ablate:" + layer + "." + std::to_string(h) + ":zero");
        const auto zero = changed(model, all, pool), skipped = changed(model, {"skip-attention:" + layer}, pool);
        const Linear& o = zero->weights(site).o;
        const Matrix out = zero->attn_out(site, pool);
        for (Index i = 0; i < out.rows(); ++i)
            for (Index j = 0; j < out.cols(); ++j) CHECK(out(i, j) == (o.bias ? o.bias[j] : 0.0f));
        if (!o.bias) CHECK((zero->normalized() - skipped->normalized()).cwiseAbs().maxCoeff() < 1e-6f);
        const auto before = changed(model, {}, pool), mean = changed(model, {"ablate:" + layer + ".1:mean"}, pool);
        const int n = before->query_count(site), d = model->config.d_head;
        const Eigen::RowVectorXf want = before->z(site, 0, n, pool).middleCols(d, d).colwise().mean();
        CHECK((mean->z(site, 0, n, pool).middleCols(d, d).rowwise() - want).cwiseAbs().maxCoeff() < 1e-5f);
    }
}

TEST_CASE("changes: a score edited, a pattern frozen, an MLP skipped") {
    ThreadPool pool(2);
    const auto model = reference_model("gpt2");
    const auto before = changed(model, {}, pool), edited = changed(model, {"score:4>1@0.3=12.5"}, pool);
    CHECK(edited->scores(0, 3)(4, 1) == 12.5f);
    CHECK(edited->pattern(0, 3)(4, 1) > before->pattern(0, 3)(4, 1));
    ForwardRequest request = request_of(kIds);
    Matrix pattern = Matrix::Zero(10, 10);
    pattern.col(0).setOnes();
    request.intervention.changes.push_back({ChangeKind::freeze, 1, 0, -1, -1, 0, std::make_shared<const Matrix>(pattern)});
    const auto frozen = *run_trace(model, request, pool);
    CHECK(same(frozen->pattern(1, 0), pattern));
    CHECK((frozen->z(1, 0, 10, pool).leftCols(model->config.d_head).rowwise() - frozen->v(1, 0).row(0)).cwiseAbs().maxCoeff() < 1e-6f);
    const auto skipped = changed(model, {"skip-mlp:1"}, pool);
    const Matrix gap = skipped->resid_post(0, 1) - skipped->stack(0).layers[1]->resid_pre - skipped->attn_out(1, pool);
    CHECK(gap.cwiseAbs().maxCoeff() < 1e-5f);
}

TEST_CASE("changes: layers before the first change are shared, and the rest equals a full pass bit for bit") {
    ThreadPool pool(2);
    for (const char* name : {"gpt2", "gemma2", "bert", "marian"}) {
        CAPTURE(name);
        const auto model = reference_model(name);
        const int site = model->config.stacks.size() > 1 ? model->config.stacks[0].layers + 1 : model->config.stacks[0].layers - 1;
        const std::string change = "ablate:" + site_path(model->config, site) + ".0:zero";
        const auto before = changed(model, {}, pool), full = changed(model, {change}, pool), quick = changed(model, {change}, pool, before.get());
        CHECK(same(full->normalized(), quick->normalized()));
        CHECK(quick->activations.stacks.back()->layers[0] == before->activations.stacks.back()->layers[0]);
        const auto back = changed(model, {}, pool, quick.get());
        CHECK(same(back->normalized(), before->normalized()));
    }
}

TEST_CASE("changes that name nothing are refused in one sentence") {
    const auto model = reference_model("gpt2");
    for (const char* text : {"", "ablate", "ablate:99.0", "ablate:0.99", "ablate:0.0:loud", "temperature:-1", "temperature:x", "temperature:1@9.9", "forbid:3", "forbid:-1>2", "score:1>2@0.0", "skip-mlp:77", "dance:1"}) {
        const auto change = parse_change(model->config, text);
        CHECK_MESSAGE(!change, text);
        if (!change) CHECK(change.error().message.size() > 20);
    }
}

TEST_CASE("sweep: each head's effect is what ablating it alone does") {
    ThreadPool pool(2);
    for (const char* name : {"gpt2", "marian"}) {
        CAPTURE(name);
        const auto model = reference_model(name);
        const auto trace = changed(model, {}, pool);
        const int position = trace->output().size() - 1;
        const auto effects = head_effects(*trace, position, 17, pool);
        REQUIRE(effects);
        REQUIRE(effects->size() == static_cast<size_t>(model->config.sites() * model->config.heads));
        const auto p = [&](const Trace& t) { return probabilities(unembed(*model, t.normalized().middleRows(position, 1), pool).row(0).transpose())[17]; };
        for (const int i : {0, 5, static_cast<int>(effects->size()) - 1}) {
            const std::string head = site_path(model->config, i / model->config.heads) + "." + std::to_string(i % model->config.heads);
            CHECK((*effects)[static_cast<size_t>(i)] == doctest::Approx(p(*changed(model, {"ablate:" + head + ":zero"}, pool)) - p(*trace)).epsilon(1e-3));
        }
    }
}

TEST_CASE("distance of heads: 0 to itself, 1 bit without anything in common, and the row mean of hand-made rows") {
    Eigen::RowVectorXf a(4), b(4);
    a << 1, 0, 0, 0;
    b << 0, 1, 0, 0;
    CHECK(divergence(a, a) == 0);
    CHECK(divergence(a, b) == doctest::Approx(1));
    b << 0.5f, 0.5f, 0, 0;  // m = (0.75, 0.25): ½ log2(4/3) + ½ (½ log2(2/3) + ½ log2 2)
    CHECK(divergence(a, b) == doctest::Approx(0.5 * std::log2(4.0 / 3) + 0.25 * std::log2(2.0 / 3) + 0.25));
    ThreadPool pool(2);
    const auto model = reference_model("gpt2");
    const auto before = changed(model, {}, pool), after = changed(model, {"forbid:6>2@1.0"}, pool);
    const auto same_run = head_distances(*before, *before, pool), other = head_distances(*before, *after, pool);
    REQUIRE((same_run && other));
    for (const float d : *same_run) CHECK(d == 0);
    const size_t changed_head = static_cast<size_t>(model->config.heads);
    for (size_t i = 0; i < changed_head; ++i) CHECK((*other)[i] == 0);
    CHECK((*other)[changed_head] > 0);
    CHECK(prediction_divergence(*before, *before, pool) == std::vector<float>(kIds.size(), 0.0f));
}

TEST_CASE("a pair of heads: patterns as they are, distances in every head's row, nothing without changes") {
    ThreadPool pool(2);
    const auto model = reference_model("gpt2");
    const auto plain = changed(model, {}, pool), ablated = changed(model, {"temperature:0@1.2"}, pool);
    const auto pair = find(*plain, HeadPairWanted{1, 2, 0, 3, false}, pool, nullptr);
    REQUIRE(pair);
    CHECK(same(pair->a, masked_pattern(*plain, 1, 2)));
    CHECK(same(pair->b, masked_pattern(*plain, 0, 3)));
    CHECK(pair->distances[static_cast<size_t>(model->config.heads + 2)] == doctest::Approx(0).epsilon(1e-6));
    double mean = 0;
    for (const float d : pair->by_query) mean += d / static_cast<double>(pair->by_query.size());
    CHECK(pair->distances[3] == doctest::Approx(mean));
    const auto none = find(*plain, HeadPairWanted{1, 2, 0, 0, true}, pool, nullptr), some = find(*ablated, HeadPairWanted{1, 2, 0, 0, true}, pool, nullptr);
    REQUIRE((none && some));
    for (const float d : none->distances) CHECK(d == 0);
    CHECK(same(some->b, masked_pattern(*plain, 1, 2)));
    CHECK(some->distances[static_cast<size_t>(model->config.heads + 2)] > 0);
}
