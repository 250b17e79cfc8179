// Tests the reverse pass: by hand, by finite differences under masks and changes, when cancelled, on any
// number of threads. tests/reference/gradients.py compares every gradient of every family with
// torch.autograd.
#include "model/backward/backward.h"

#include <cmath>
#include <set>

#include "analysis/patching/patch.h"
#include "changed.h"
#include "helpers.h"
#include "model/activation.h"
#include "model/backward/vector_jacobian.h"
#include "trace/trace_gradients.h"

using namespace headlight;

namespace {

Matrix column(std::initializer_list<float> values) {
    Matrix out(std::ssize(values), 1);
    std::copy(values.begin(), values.end(), out.data());
    return out;
}

/// Makes one head of width 1 over two tokens that attend to each other.
AttentionActivations two_tokens(const Matrix& q, const Matrix& k, const Matrix& v, float cap = 0) {
    AttentionRule rule;
    rule.mask = MaskPlan::full(2, 2);
    rule.scale = 0.5f;
    rule.cap = cap;
    return {std::make_shared<const AttentionRule>(std::move(rule)), q, k, v, {}};
}

/// Σ seeds · activations of a run.
double seeded(const Trace& trace, const std::vector<GradientSeed>& seeds) {
    double sum = 0;
    for (const GradientSeed& seed : seeds) {
        const StackActivations& stack = trace.stack(seed.stack);
        const int layers = isize(stack.layers);
        const bool streams = trace.config().has_streams() && seed.depth > 0 && seed.depth <= layers;
        const Rows at = streams                ? trace.resid_post(seed.stack, seed.depth - 1)
                        : seed.depth > layers  ? stack.normalized
                        : seed.depth == layers ? stack.resid_final
                                               : stack.layers[seed.depth]->resid_pre;
        const Matrix rows = at.middleRows(seed.row, seed.gradient.rows());
        sum += rows.cast<double>().cwiseProduct(seed.gradient.cast<double>()).sum();
    }
    return sum;
}

/// Compares the change of the seeds' sum along the gradient by the embeddings with the gradient's prediction.
void check_step(const Trace& trace, ThreadPool& pool, double far = 0.01) {
    const int last = isize(trace.config().stacks) - 1, layers = trace.config().stacks[last].depth();
    const int n = trace.output().size(), d = trace.config().d_model;
    const std::vector<GradientSeed> seeds{{last, layers + 1, n - 2, random_matrix(2, d, 1)},
                                          {last, 1, 1, random_matrix(1, d, 2)}};
    const auto gradients = backward(trace, seeds, pool);
    REQUIRE(gradients);
    double length = 0;
    for (const StackGradients& stack : gradients->stacks) length += stack.resid[0].squaredNorm();
    length = std::sqrt(length);
    REQUIRE(length > 0);
    const double step = far / std::max(1.0, length);
    double moved = 0;
    for (const double side : {1.0, -1.0}) {
        std::vector<Matrix> there = embeddings_of(trace);
        for (size_t s = 0; s < there.size(); ++s)
            there[s] += float(side * step / length) * gradients->stacks[s].resid[0];
        const auto run = run_embeddings(trace, there, pool);
        REQUIRE(run);
        moved += side * seeded(**run, seeds);
    }
    CHECK(moved / (2 * step) == doctest::Approx(length).epsilon(0.02));
}

}  // namespace

TEST_CASE("backward: attention of two tokens by hand") {
    ThreadPool pool(1);
    // S = 0, so P = ½. dP = dz v = (1, 3), mean 2, dS = ½ (dP − 2) = (−½, ½).
    const AttentionActivations a = two_tokens(column({0, 0}), column({1, 3}), column({1, 3}));
    AttentionGradients g{{}, column({1, 0}), {}, {}, {}};
    const GradientRows both = GradientRows::whole(2, 1);
    Matrix scores, weights;
    attention_vjp(pool, a, both, both, g, [&](const GradientTile& tile) {
        scores = tile.by_scores;
        weights = tile.by_weights;
    });
    CHECK((weights.row(0) - Eigen::RowVector2f(1, 3)).norm() < 1e-6);
    CHECK((scores.row(0) - Eigen::RowVector2f(-0.5f, 0.5f)).norm() < 1e-6);
    CHECK(scores.row(1).norm() == 0);
    CHECK((g.q - column({0.5f * (-0.5f * 1 + 0.5f * 3), 0})).norm() < 1e-6);
    CHECK(g.k.norm() == 0);  // q is 0
    CHECK((g.v - column({0.5f, 0.5f})).norm() < 1e-6);

    // A soft cap of 1 has the slope 1 − tanh² of the raw score; with q = 2 and k = (1, 1), ½ · 2 · 1 = 1.
    const AttentionActivations capped = two_tokens(column({2, 2}), column({1, 1}), column({1, 3}), 1);
    g.z = column({1, 0});
    attention_vjp(pool, capped, both, both, g, nullptr);
    const float slope = 1 - std::tanh(1.0f) * std::tanh(1.0f);
    CHECK((g.k - column({-0.5f * slope * 0.5f * 2, 0.5f * slope * 0.5f * 2})).norm() < 1e-6);
}

TEST_CASE("backward: slopes of activations are those of the activations") {
    for (const ActivationRow& row : activations()) {
        Eigen::ArrayXf x = Eigen::ArrayXf::LinSpaced(160, -7.97f, 7.93f), slope = x;
        row.slope(slope);
        constexpr float kStep = 1e-2f;
        Eigen::ArrayXf above = x + kStep, below = x - kStep;
        row.apply(above);
        row.apply(below);
        const bool bends = row.activation == Activation::relu || row.activation == Activation::relu_squared;
        for (Index i = 0; i < x.size(); ++i)
            if (!bends || std::abs(x[i]) > kStep) {
                INFO(row.name, " at ", x[i]);
                CHECK(std::abs((above[i] - below[i]) / (2 * kStep) - slope[i]) <
                      5e-4f * std::max(1.0f, std::abs(slope[i])));
            }
        if (row.activation == Activation::relu_squared || row.activation == Activation::xielu)
            continue;  // their slopes grow without end
        Eigen::ArrayXf far(2), end(2);
        far << -1e30f, 1e30f;
        end << 0, 1;
        row.slope(far);
        CHECK((far - end).abs().maxCoeff() < 1e-6);
    }
}

TEST_CASE("backward: a transposed product reads every layout and format") {
    ThreadPool pool(2);
    const Matrix w = random_matrix(50, 133, 1), wt = w.transpose(), y = random_matrix(7, 133, 2);
    const Matrix want = y * wt;
    for (const WeightLayout layout : {WeightLayout::in_out, WeightLayout::out_in}) {
        const Matrix& stored = layout == WeightLayout::in_out ? w : wt;
        Matrix x(7, 50);
        apply_transposed(pool, y, Linear::of_floats(stored.data(), nullptr, 50, 133, layout), x);
        CHECK((x - want).norm() < 1e-5 * want.norm());
    }
    const auto model = Model::open(kTests / "reference/models/llama_gguf/llama-q4_0.gguf");
    REQUIRE(model);
    const Linear encoded = (*model)->weights.stacks[0].layers[0].mlp_in;
    Matrix decoded(encoded.out, encoded.in), x(3, encoded.in);
    for (Index i = 0; i < encoded.out; ++i) encoded.read(i, 0, encoded.in, decoded.row(i).data());
    const Matrix given = random_matrix(3, encoded.out, 3);
    apply_transposed(pool, given, encoded, x);
    CHECK((x - given * decoded).norm() < 1e-5 * x.norm());
}

TEST_CASE(
    "backward: a step along the gradient changes the seeds' sum as predicted, under masks and changes") {
    ThreadPool pool(2);
    const std::vector<std::vector<std::string>> of_one{{},
                                                       {"mask:6>2", "mask:4-7>1-3@0.1"},
                                                       {"mask:0>0", "unmask:2>7"},
                                                       {"score:4>1=3.5", "temperature:0.5"},
                                                       {"temperature:0@1.0", "temperature:2.5@0"},
                                                       {"ablate:0.1:zero", "ablate:1.0:mean"},
                                                       {"ablate:1.1:uniform", "ablate:0.0:hard"},
                                                       {"skip-attention:1", "positions:off"},
                                                       {"skip-mlp:0", "positions:shuffle:7"}};
    for (const char* name : {"gpt2", "llama", "gemma2", "gemma3n", "gemma4", "phi", "bert"})
        for (const auto& changes : of_one) {
            INFO(name, " ", changes.empty() ? "unchanged" : changes[0]);
            check_step(*changed(reference_model(name), changes, pool), pool);
        }
    const std::vector<std::vector<std::string>> of_two{
        {},
        {"mask:2>1@encoder", "mask:*>0@cross"},
        {"mask:*>*@cross.0", "score:2>1@cross=4"},
        {"ablate:cross.0.1:zero", "ablate:cross.1.0:mean", "ablate:encoder.0.0:mean"},
        {"skip-attention:cross.0", "skip-mlp:encoder.0", "positions:shuffle:3@decoder"},
        {"skip-attention:encoder.0", "skip-mlp:decoder.1"}};
    for (const char* name : {"marian", "bart", "t5"})
        for (const auto& changes : of_two) {
            INFO(name, " ", changes.empty() ? "unchanged" : changes[0]);
            check_step(*changed(reference_model(name), changes, pool), pool);
        }
}

TEST_CASE("backward: replaced rows pass no gradient to what was computed there") {
    ThreadPool pool(2);
    const std::vector<std::vector<std::string>> patches{{"mask:6>2", "patch-resid:2-4@0", "patch-resid:7@1"},
                                                        {"mask:6>2", "patch-attention:3-5@0"},
                                                        {"mask:6>2", "patch-mlp:2-8@0", "patch-mlp:1@1"},
                                                        {"mask:6>2", "patch-head:*@0.1", "patch-head:4@1.0"},
                                                        {"noise:3-5=7", "patch-attention:4@1"}};
    for (const char* name : {"gpt2", "llama", "gemma2", "gemma3n", "gemma4", "phi", "bert"})
        for (const auto& wishes : patches) {
            INFO(name, " ", wishes.back());
            const auto own = *run_trace(reference_model(name), request_of(kIds), pool);
            if (own->config().has_streams() && wishes[0].starts_with("noise")) continue;  // refused
            Intervention wish;
            for (const std::string& text : wishes) wish.changes.push_back(*parse_change(own->config(), text));
            const auto whole = patched(wish, *own, pool);
            REQUIRE(whole);
            check_step(**run_trace(own->model, {own->request.inputs, *whole}, pool), pool);
        }
}

TEST_CASE("backward: an expert that is off passes no gradient") {
    ThreadPool pool(2);
    for (const auto& changes :
         std::vector<std::vector<std::string>>{{},
                                               {"ablate-expert:0.1"},
                                               {"ablate-expert:1.0"},
                                               {"ablate-expert:1.3"},
                                               {"ablate-expert:2.2"},
                                               {"ablate-expert:0.0", "ablate-expert:0.3"},
                                               {"ablate-expert:1.0", "ablate-expert:1.3"}}) {
        const std::string last = changes.empty() ? "unchanged" : changes.back();
        CAPTURE(last);
        check_step(*changed(reference_model("mixtral"), changes, pool), pool);
    }
}

TEST_CASE("backward: a frozen pattern passes no gradient to its scores") {
    ThreadPool pool(2);
    const auto model = reference_model("gpt2");
    const auto plain = changed(model, {}, pool);
    ForwardRequest request = plain->request;
    Change freeze;
    freeze.kind = ChangeKind::freeze;
    freeze.block = freeze.head = 0;
    freeze.pattern = std::make_shared<const Matrix>(plain->pattern(0, 1));
    request.intervention.changes.push_back(freeze);
    const auto frozen = *run_trace(model, request, pool);
    check_step(*frozen, pool);
    const GradientSeed seed{0, 2, 9, random_matrix(1, model->config.d_model, 4)};
    const auto g = *backward(*frozen, {&seed, 1}, pool);
    const int width = model->config.d_head(0);
    CHECK(g.stacks[0].layers[0].self.q.leftCols(width).norm() == 0);
    CHECK(g.stacks[0].layers[0].self.k.leftCols(width).norm() == 0);
    CHECK(g.stacks[0].layers[0].self.v.leftCols(width).norm() > 0);
}

TEST_CASE("backward: later tokens get no gradient, and a seed stays at its row") {
    ThreadPool pool(2);
    const auto trace = changed(reference_model("llama"), {}, pool);
    const int d = trace->config().d_model;
    const GradientSeed seed{0, 1, 4, random_matrix(1, d, 5)};
    const auto g = *backward(*trace, {&seed, 1}, pool);
    CHECK(g.stacks[0].resid[2].norm() == 0);
    CHECK(g.stacks[0].layers[1].self.v.norm() == 0);
    CHECK(same(g.stacks[0].resid[1].middleRows(4, 1), seed.gradient));
    CHECK(g.stacks[0].resid[1].topRows(4).norm() == 0);
    CHECK(g.stacks[0].resid[0].topRows(5).rowwise().norm().minCoeff() > 0);
    CHECK(g.stacks[0].resid[0].bottomRows(5).norm() == 0);
}

TEST_CASE("backward: the same bits on any number of threads") {
    ThreadPool one(1), three(3);
    std::vector<int> ids;
    for (int i = 0; i < 120; ++i) ids.push_back(3 + 7 * i % 90);
    const auto trace = trace_of(reference_model("llama"), ids, one);
    const GradientSeed seed{0, 2, 110, random_matrix(3, trace->config().d_model, 6)};
    const auto a = *backward(*trace, {&seed, 1}, one), b = *backward(*trace, {&seed, 1}, three);
    for (size_t depth = 0; depth < a.stacks[0].resid.size(); ++depth)
        CHECK(same(a.stacks[0].resid[depth], b.stacks[0].resid[depth]));
}

TEST_CASE("backward: gradients propagated together equal those of each alone") {
    ThreadPool pool(2);
    for (const char* name : {"qwen3", "gemma2", "gemma3n", "gemma4", "phi", "bert", "bart"}) {
        const auto trace = changed(reference_model(name),
                                   {name == std::string("bart") ? "skip-mlp:decoder.0" : "skip-mlp:0"}, pool);
        const int last = isize(trace->config().stacks) - 1, d = trace->config().d_model;
        std::vector<GradientSeed> seeds;
        for (int i = 0; i < 3; ++i)
            seeds.push_back({last, 2 - i % 2, i, random_matrix(1, d, unsigned(i)), i});
        const auto all = *backward(*trace, seeds, pool);
        for (GradientSeed& seed : seeds) {
            const int output = std::exchange(seed.output, 0);
            const auto alone = *backward(*trace, {&seed, 1}, pool);
            INFO(name, " ", output);
            for (size_t s = 0; s < alone.stacks.size(); ++s) {
                const Matrix &mine = alone.stacks[s].resid[0], &of_all = all.stacks[s].resid[0];
                CHECK((of_all.middleRows(output * mine.rows(), mine.rows()) - mine).norm() <=
                      1e-5 * mine.norm());
                const Matrix &k = alone.stacks[s].layers[0].self.k, &ks = all.stacks[s].layers[0].self.k;
                CHECK((ks.middleRows(output * k.rows(), k.rows()) - k).norm() <= 1e-5 * k.norm() + 1e-9);
            }
        }
    }
}

namespace {

/// Cancels at the first tile of a block.
struct Canceller : GradientObserver {
    CancelFlag flag = false;
    std::set<int> begun;
    void begin(int block) override {
        begun.insert(block);
        flag = true;
    }
    void see(int, const GradientTile&) override {}
};

}  // namespace

TEST_CASE("backward: a cancelled pass returns an error") {
    ThreadPool pool(2);
    const auto trace = changed(reference_model("gpt2"), {}, pool);
    const GradientSeed seed{0, 2, 9, random_matrix(1, trace->config().d_model, 7)};
    Canceller canceller;
    const auto g = backward(*trace, {&seed, 1}, pool, &canceller.flag, &canceller);
    REQUIRE(!g);
    CHECK((g.error().cancelled && canceller.begun == std::set<int>{2}));
    canceller.flag = false;
    CHECK(backward(*trace, {&seed, 1}, pool, &canceller.flag));  // nothing of the cancelled pass remains
}

TEST_CASE("backward: a run from a text's own embeddings is the same run") {
    ThreadPool pool(2);
    for (const char* name : {"gpt2", "opt", "electra", "bart", "gemma3n", "gemma4"}) {
        const auto trace = changed(reference_model(name), {}, pool);
        const auto again = *run_embeddings(*trace, embeddings_of(*trace), pool);
        CHECK(same(again->normalized().all(), trace->normalized().all()));
        const auto mean = mean_embeddings_of(*trace, pool);
        REQUIRE(mean.size() == trace->activations.stacks.size());
        CHECK((mean[0].rows() == trace->request.inputs[0].size() && all_finite(mean[0])));
    }
}
