// Tests masks and changes: cases computed by hand, and properties.
#include <cmath>

#include "analysis/patching/effects.h"
#include "analysis/patching/patch.h"
#include "base/cast.h"
#include "changed.h"
#include "helpers.h"
#include "model/input.h"

using namespace headlight;

namespace {

std::string drawn(const Mask& mask, const MaskParams& own, const std::vector<int>& sentences) {
    const MaskPlan plan = MaskPlan::make(mask, own, sentences);
    std::string out;
    for (int q = 0; q < plan.keys; ++q) {
        for (int k = 0; k < plan.keys; ++k) out += plan.allowed(q, k) ? 'x' : '.';
        out += q + 1 < plan.keys ? " " : "";
    }
    return out;
}

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
    for (const char* text : {"window:2", "prefix:3", "global:1:2", "block", "none", "own"})
        CHECK(Mask::parse(text)->name() == text);
    for (const char* text : {"window", "window:x", "window:-1", "window:0", "global:1:0", "global:1",
                             "prefix:1:2", "file:/nowhere.json", ""})
        CHECK(!Mask::parse(text));
    CHECK(sentence_numbers(std::vector<std::string>{"A", "b", ".", "C", "!", "d"}, {}, 6) ==
          std::vector<int>{0, 0, 0, 1, 1, 2});
}

TEST_CASE("a plan's cells are painted one by one") {
    MaskPlan plan = MaskPlan::make({}, {true, 0}, std::vector<int>(4, 0));
    plan.set({3, 1}, false);
    CHECK((!plan.allowed(3, 1) && plan.allowed(3, 0) && plan.allowed(3, 2)));
    plan.set({0, 2}, true);
    CHECK((plan.allowed(0, 2) && !plan.allowed(0, 1)));
    for (int k = 0; k < 4; ++k) plan.set({2, k}, false);
    CHECK(plan.fully_masked(2));
    plan.set({3, 1}, true);
    for (int k = 0; k < 4; ++k) CHECK(plan.allowed(3, k));
}

TEST_CASE("changes: a masked link has weight 0 and the rest of its row is renormalized") {
    ThreadPool pool(2);
    for (const char* name : {"gpt2", "llama", "bert", "bloom"}) {
        CAPTURE(name);
        const auto model = reference_model(name);
        const auto before = changed(model, {}, pool), after = changed(model, {"mask:6>2@0.1"}, pool);
        Matrix want = before->pattern(0, 1);
        want(6, 2) = 0;
        want.row(6) /= want.row(6).sum();
        CHECK((after->pattern(0, 1) - want).cwiseAbs().maxCoeff() < 1e-5f);
        CHECK(same(after->pattern(0, 0), before->pattern(0, 0)));
        CHECK(masked_pattern(*after, 0, 1)(6, 2) == kMasked);
    }
}

TEST_CASE("changes: hard is the argmax, a high temperature approaches uniform, 1 changes nothing") {
    ThreadPool pool(2);
    const auto model = reference_model("gpt2");
    const auto before = changed(model, {}, pool), hard = changed(model, {"temperature:0@1.2"}, pool),
               uniform = changed(model, {"ablate:1.2:uniform"}, pool);
    const auto hot = changed(model, {"temperature:100000@1.2"}, pool),
               same_again = changed(model, {"temperature:1@1.2"}, pool),
               ablated = changed(model, {"ablate:1.2:hard"}, pool);
    for (int q = 0; q < isize(kIds); ++q) {
        Index heaviest = 0;
        before->pattern(1, 2).row(q).maxCoeff(&heaviest);
        CHECK(hard->pattern(1, 2)(q, heaviest) == 1);
        CHECK(hard->pattern(1, 2).row(q).sum() == 1);
        for (int k = 0; k <= q; ++k) CHECK(uniform->pattern(1, 2)(q, k) == doctest::Approx(1.0 / (q + 1)));
    }
    CHECK((hot->pattern(1, 2) - uniform->pattern(1, 2)).cwiseAbs().maxCoeff() < 1e-3f);
    CHECK(same(hard->normalized().all(), ablated->normalized().all()));
    CHECK(same(before->normalized().all(), same_again->normalized().all()));
}

TEST_CASE(
    "changes: all heads of a layer ablated equal its attention skipped, but for the bias; mean is the mean "
    "of z") {
    ThreadPool pool(2);
    for (const char* name : {"llama", "marian"}) {
        CAPTURE(name);
        const auto model = reference_model(name);
        const int block = isize(model->config.stacks) - 1 ? model->config.stacks[0].depth() : 1;
        const std::string layer = block_path(model->config, block);
        std::vector<std::string> all;
        for (int h = 0; h < model->config.max_heads(); ++h)
            all.push_back("ablate:" + layer + "." + std::to_string(h) + ":zero");
        const auto zero = changed(model, all, pool),
                   skipped = changed(model, {"skip-attention:" + layer}, pool);
        const Linear& o = zero->weights(block).o;
        const Matrix out = zero->attn_out(block, pool);
        for (Index i = 0; i < out.rows(); ++i)
            for (Index j = 0; j < out.cols(); ++j) CHECK(out(i, j) == (o.bias ? o.bias[j] : 0.0f));
        if (!o.bias)
            CHECK((zero->normalized().all() - skipped->normalized().all()).cwiseAbs().maxCoeff() < 1e-6f);
        const auto before = changed(model, {}, pool),
                   mean = changed(model, {"ablate:" + layer + ".1:mean"}, pool);
        const int n = before->query_count(block), d = model->config.d_head(1);
        const Eigen::RowVectorXf want = before->z(block, 0, n, pool).middleCols(d, d).colwise().mean();
        CHECK((mean->z(block, 0, n, pool).middleCols(d, d).rowwise() - want).cwiseAbs().maxCoeff() < 1e-5f);
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
    Change freeze;
    freeze.kind = ChangeKind::freeze;
    std::tie(freeze.block, freeze.head) = std::pair{1, 0};
    freeze.pattern = std::make_shared<const Matrix>(pattern);
    request.intervention.changes.push_back(freeze);
    const auto frozen = *run_trace(model, request, pool);
    CHECK(same(frozen->pattern(1, 0), pattern));
    CHECK((frozen->z(1, 0, 10, pool).leftCols(model->config.d_head(1)).rowwise() - frozen->v(1, 0).row(0))
              .cwiseAbs()
              .maxCoeff() < 1e-6f);
    const auto skipped = changed(model, {"skip-mlp:1"}, pool);
    const Matrix gap = skipped->resid_post(0, 1).all() - skipped->stack(0).layers[1]->resid_pre.all() -
                       skipped->attn_out(1, pool);
    CHECK(gap.cwiseAbs().maxCoeff() < 1e-5f);
}

TEST_CASE("changes: layers before the first change are shared, and the rest equals a full pass bit for bit") {
    ThreadPool pool(2);
    for (const char* name : {"gpt2", "gemma2", "bert", "marian"}) {
        CAPTURE(name);
        const auto model = reference_model(name);
        const int block = model->config.stacks.size() > 1 ? model->config.stacks[0].depth() + 1
                                                          : model->config.stacks[0].depth() - 1;
        const std::string change = "ablate:" + block_path(model->config, block) + ".0:zero";
        const auto before = changed(model, {}, pool), full = changed(model, {change}, pool),
                   quick = changed(model, {change}, pool, before.get());
        CHECK(same(full->normalized().all(), quick->normalized().all()));
        CHECK(quick->activations.stacks.back()->layers[0] == before->activations.stacks.back()->layers[0]);
        const auto back = changed(model, {}, pool, quick.get());
        CHECK(same(back->normalized().all(), before->normalized().all()));
    }
}

TEST_CASE("changes that name nothing are refused with one sentence") {
    const auto model = reference_model("gpt2");
    for (const char* text : {"",
                             "ablate",
                             "ablate:99.0",
                             "ablate:0.99",
                             "ablate:0.0:loud",
                             "temperature:-1",
                             "temperature:x",
                             "temperature:1@9.9",
                             "mask:3",
                             "mask:-1>2",
                             "score:1>2@0.0",
                             "skip-mlp:77",
                             "dance:1",
                             "positions",
                             "positions:on",
                             "positions:shuffle:",
                             "positions:shuffle:-1",
                             "positions:shuffle:x",
                             "positions:off@0",
                             "positions:off@0.1",
                             "positions:off@cross"}) {
        const auto change = parse_change(model->config, text);
        CHECK_MESSAGE(!change, text);
        if (!change) CHECK(change.error().message.size() > 20);
    }
}

TEST_CASE("sweep: each head's effect equals that of ablating it alone") {
    ThreadPool pool(2);
    for (const char* name : {"gpt2", "marian"}) {
        CAPTURE(name);
        const auto model = reference_model(name);
        const auto trace = changed(model, {}, pool);
        const int position = trace->output().size() - 1;
        const auto measured = head_effects(*trace, nullptr, {MetricKind::probability, 17}, pool);
        REQUIRE(measured);
        const PerHead<float>& effects = measured->change;
        CHECK(effects == measured->probability);
        REQUIRE(effects.size() == static_cast<size_t>(model->config.head_count()));
        const auto p = [&](const Trace& t) {
            return probabilities(
                unembed(*model, t.normalized().middleRows(position, 1), pool).row(0).transpose())[17];
        };
        for (const int i : {0, 5, isize(effects) - 1}) {
            const std::string head = head_path(model->config, model->config.head_at(i));
            CHECK(effects[i] ==
                  doctest::Approx(p(*changed(model, {"ablate:" + head + ":zero"}, pool)) - p(*trace))
                      .epsilon(1e-3));
        }
    }
}

TEST_CASE("keep: every other head of the layer is ablated") {
    ThreadPool pool(2);
    const auto model = reference_model("gpt2");
    std::vector<std::string> others;
    for (int h = 0; h < model->config.max_heads(); ++h)
        if (h != 1) others.push_back("ablate:1." + std::to_string(h) + ":zero");
    CHECK(same(changed(model, {"ablate:1.1:keep"}, pool)->normalized().all(),
               changed(model, others, pool)->normalized().all()));
}

TEST_CASE("a masked rectangle equals its cells masked one by one") {
    ThreadPool pool(2);
    const auto model = reference_model("gpt2");
    const auto block = changed(model, {"mask:5-6>1-2"}, pool),
               cells = changed(model, {"mask:5>1", "mask:5>2", "mask:6>1", "mask:6>2"}, pool);
    CHECK(same(block->normalized().all(), cells->normalized().all()));
    CHECK(same(changed(model, {"mask:8-99>0-99@0.0"}, pool)->normalized().all(),
               changed(model, {"mask:8-9>0-9@0.0"}, pool)->normalized().all()));
    for (const char* text : {"mask:6-5>1", "mask:5->1", "mask:5-6-7>1", "mask:5-6>", "score:5-6>1@0.0=2"})
        CHECK_MESSAGE(!parse_change(model->config, text), text);
}

TEST_CASE("padding: no query attends to padding, and a decoder's start token is not padding") {
    const std::vector<int> sentences{0, 0, kPadding, kPadding};
    CHECK(drawn(*Mask::parse("padding"), {true, 0}, sentences) == "x... xx.. xx.. xx..");
    CHECK(drawn(*Mask::parse("padding"), {false, 0}, sentences) == "xx.. xx.. xx.. xx..");
}

TEST_CASE(
    "patching: a head gets its pattern from another text, row by row; rows without a common token "
    "keep their own") {
    ThreadPool pool(2);
    const auto model = *Model::open(kTests.parent_path() / "models" / "stories");
    const auto trace_of = [&](const std::string& text) {
        TextInput typed;
        typed.text = text;
        return *run_trace(model, {encode_input(*model, typed)->sequences, {}}, pool);
    };
    const auto own = trace_of("Lily had a red ball."), source = trace_of("Lily had a blue ball."),
               other = trace_of("Tom");
    Intervention wanted;
    wanted.changes.push_back(*parse_change(model->config, "freeze:2.0=Lily had a blue ball."));
    REQUIRE(needs_patching(wanted));
    const auto whole = patched(wanted, *own, pool);
    REQUIRE(whole);
    CHECK((*whole->changes[0].pattern - source->pattern(2, 0)).cwiseAbs().maxCoeff() < 1e-6f);
    const auto run = *run_trace(model, {own->request.inputs, *whole}, pool);
    CHECK((run->pattern(2, 0) - source->pattern(2, 0)).cwiseAbs().maxCoeff() < 1e-6f);
    CHECK(same(run->pattern(2, 1), own->pattern(2, 1)));
    wanted.changes[0].from = "zebra";
    CHECK(same(*patched(wanted, *own, pool)->changes[0].pattern, own->pattern(2, 0)));
    wanted.changes[0].from = "";
    CHECK(!needs_patching(wanted));
}

TEST_CASE("stages: the probability after each change") {
    ThreadPool pool(2);
    const auto model = reference_model("gpt2");
    const auto own = changed(model, {}, pool), one = changed(model, {"mask:9>2"}, pool),
               two = changed(model, {"mask:9>2", "ablate:1.0:zero"}, pool);
    const auto stages = answer_stages(Runs{*two, own.get()}, StagesRequest{}, pool, nullptr);
    REQUIRE(stages);
    REQUIRE(stages->values.size() == 3);
    int i = 0;
    for (const auto& trace : {own, one, two})
        CHECK(stages->values[i++].probability ==
              doctest::Approx(probabilities_at(*trace, 9, pool)[stages->metric.a]).epsilon(1e-4));
}

TEST_CASE("without its first key a pattern's rows still sum to 1") {
    ThreadPool pool(2);
    const auto model = reference_model("gpt2");
    const auto trace = changed(model, {}, pool);
    const Matrix full = masked_pattern(*trace, 1, 0), rest = without_first_key(full, false);
    for (Index q = 0; q < rest.rows(); ++q) {
        CHECK(rest(q, 0) == kMasked);
        if (q > 0) CHECK(rest.row(q).cwiseMax(0.0f).sum() == doctest::Approx(1));
        for (Index k = 1; k <= q; ++k) CHECK(rest(q, k) == doctest::Approx(full(q, k) / (1 - full(q, 0))));
    }
}
