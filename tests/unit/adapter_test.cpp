// Checks adapters (LoRA) against matrices that hold the sum, and that files which do not fit are refused.
#include "model/loading/adapter.h"

#include <doctest/doctest.h>

#include <cmath>

#include "analysis/circuits/adapter_changes.h"
#include "analysis/circuits/head_matrices.h"
#include "analysis/comparison/strengths.h"
#include "checkpoint.h"
#include "helpers.h"
#include "hub/adapted.h"
#include "hub/library.h"
#include "trace/trace.h"

using namespace headlight;

namespace {

constexpr const char* kAdaptedModule = "model.layers.0.self_attn.q_proj";

/// Writes an adapter of some matrices of the reference Llama, and edits its files before.
struct AdapterFolder {
    TemporaryFolder folder;
    Checkpoint files;

    /// Of no matrix yet of a reference model.
    explicit AdapterFolder(const char* name) {
        files.config = {{"peft_type", "LORA"},
                        {"r", 2},
                        {"lora_alpha", 3},
                        {"base_model_name_or_path", (kTests / "reference/models" / name).string()}};
    }
    AdapterFolder() : AdapterFolder("llama") {
        const auto base = Checkpoint::of("llama");
        for (const std::string module : {kAdaptedModule, "model.layers.1.mlp.down_proj"}) {
            const auto shape = base.tensors.at(module + ".weight").shape;
            add(module + ".lora_A", {2, shape[1]}, 0.4f);
            add(module + ".lora_B", {shape[0], 2}, 0.9f);
        }
    }
    void add(const std::string& name, const std::vector<int64_t>& shape, float phase,
             const char* ending = ".weight") {
        std::string bytes;
        for (int64_t i = 0; i < element_count(shape); ++i) {
            const float value = value_at(i, phase);
            bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
        }
        files.tensors["base_model.model." + name + ending] = {"F32", shape, bytes};
    }
    static float value_at(int64_t i, float phase) { return 0.2f * std::sin(phase + 1.7f * float(i)); }
    std::string write() const {
        files.write(folder.path);
        std::filesystem::rename(folder.path / "model.safetensors", folder.path / "adapter_model.safetensors");
        std::filesystem::rename(folder.path / "config.json", folder.path / "adapter_config.json");
        return folder.path.string();
    }
    std::string refusal() const {
        const auto model = open_model(write());
        return model ? "" : model.error().message;
    }
};

Matrix final_of(const std::shared_ptr<const Model>& model, ThreadPool& pool) {
    ForwardRequest request;
    request.inputs.resize(1);
    request.inputs[0].ids = {5, 9, 20, 31, 7, 5};
    const auto trace = run_trace(model, request, pool);
    REQUIRE(trace);
    return (*trace)->normalized().all();
}

}  // namespace

TEST_CASE("adapter: products, their transposes and weights read are those of the summed matrix") {
    ThreadPool pool(2);
    constexpr int64_t kIn = 7, kOut = 12, kRank = 3;
    Matrix w = Matrix::Random(kOut, kIn), a = Matrix::Random(kRank, kIn), b = Matrix::Random(kOut, kRank);
    const Matrix x = Matrix::Random(5, kIn), y = Matrix::Random(5, 4);
    const Vector bias = Vector::Random(kOut), factors = Vector::Random(kOut);
    for (const bool in_out : {false, true})
        for (const bool scaled : {false, true}) {
            const Matrix stored = in_out ? Matrix(w.transpose()) : w;
            Linear whole = Linear::of_floats(stored.data(), bias.data(), kIn, kOut,
                                             in_out ? WeightLayout::in_out : WeightLayout::out_in);
            const LowRank added{.base = whole.weight,
                                .stride = in_out ? int64_t{sizeof(float)} : whole.stride,
                                .in = kIn,
                                .out = kOut,
                                .rank = kRank,
                                .a = a.data(),
                                .b = b.data(),
                                .strength = 0.7f,
                                .factors = scaled ? factors.data() : nullptr};
            whole.adapter = &added;
            Matrix sum = w + 0.7f * b * a;
            if (scaled) sum = factors.asDiagonal() * sum;
            const Linear part = whole.columns(3, 4);
            Matrix product(5, 4), back(5, kIn);
            apply_linear(pool, x, part, product);
            const Matrix wanted =
                (x * sum.middleRows(3, 4).transpose()).rowwise() + bias.segment(3, 4).transpose();
            CHECK((product - wanted).cwiseAbs().maxCoeff() < 1e-5f);
            apply_transposed(pool, y, part, back);
            CHECK((back - y * sum.middleRows(3, 4)).cwiseAbs().maxCoeff() < 1e-5f);
            for (int64_t i = 0; i < (in_out ? kIn : 4); ++i) {
                Vector read(in_out ? 4 : kIn);
                part.read(i, 0, read.size(), read.data());
                const Vector own = in_out ? Vector(sum.middleRows(3, 4).col(i)) : Vector(sum.row(3 + i));
                CHECK((read - own).cwiseAbs().maxCoeff() < 1e-5f);
            }
        }
}

TEST_CASE("adapter: strength 0 is the base bit for bit, another strength shares everything else") {
    ThreadPool pool(2);
    const AdapterFolder folder;
    const std::string path = folder.write();
    const auto base = open_model((kTests / "reference/models/llama").string()),
               none = open_model(path + "=0"), whole = open_model(path);
    REQUIRE(base);
    REQUIRE(none);
    REQUIRE(whole);
    CHECK(final_of(*none, pool) == final_of(*base, pool));
    const Matrix adapted = final_of(*whole, pool);
    CHECK((adapted - final_of(*base, pool)).cwiseAbs().maxCoeff() > 1e-3f);
    CHECK((*whole)->name == "llama + " + folder.folder.path.filename().string());
    const auto again = open_model(path + "=1", nullptr, nullptr, *none);
    REQUIRE(again);
    CHECK((*again)->store == (*none)->store);
    CHECK(final_of(*again, pool) == adapted);
    CHECK((*again)->adapter->info().matrices == 2);
}

TEST_CASE("adapter: spellings of models with adapters") {
    const AdapterFolder folder;
    const std::string path = folder.write();
    const auto read = [](const std::string& text) { return read_adapted(text); };
    CHECK((**read(path + "=0.5")).strength == 0.5f);
    CHECK((**read("stories+" + path)).model == "stories");
    CHECK((**read("a+b+" + path + "=-1")).model == "a+b");
    CHECK(!*read("stories"));
    CHECK(!*read((kTests / "reference/models/llama").string()));
    CHECK(!read(path + "=much"));
    CHECK(!read(path + "=nan"));
    CHECK(!read(path + "=900"));
    CHECK(!read_adapter("nowhere"));
    CHECK((**read("stories+" + path + "=0.25")).spelled() == "stories+" + path + "=0.25");
    CHECK(at_strength("stories+" + path + "=0.25", -1) == "stories+" + path + "=-1");
    CHECK((!split_strength("stories") && !split_strength("a=") && split_strength("a=b=2")->first == "a=b"));
    CHECK((only_strength_differs("a+b=0", "a+b=1") && !only_strength_differs("a+b=0", "a+c=0")));
}

TEST_CASE("adapter: changes of heads are those of plain matrices") {
    ThreadPool pool(2);
    const AdapterFolder folder;
    const auto adapted = open_model(folder.write() + "=-0.5");
    REQUIRE(adapted);
    const auto base = open_model((kTests / "reference/models/llama").string());
    REQUIRE(base);
    const auto found = adapter_changes(**adapted, pool);
    REQUIRE(found);
    const auto change = [](const Matrix& now, const Matrix& was) { return (now - was).norm() / was.norm(); };
    const ModelConfig& c = (*base)->config;
    for (int i = 0; i < c.head_count(); ++i) {
        const AttentionHead head = c.head_at(i);
        CAPTURE(i);
        const HeadMatrices now = head_matrices(**adapted, head), was = head_matrices(**base, head);
        CHECK(found->qk[head] ==
              doctest::Approx(change(now.q * now.k.transpose(), was.q * was.k.transpose())).epsilon(1e-4));
        CHECK(found->ov[head] == doctest::Approx(change(now.v * now.o, was.v * was.o)).epsilon(1e-4));
        CHECK((found->qk[head] > 0.01f) == (head.block == 0));  // its W_Q alone is changed
        CHECK(found->ov[head] == 0);
    }
    CHECK(adapter_changes(**base, pool)->qk.empty());
    const Matrix a = Matrix::Random(40, 3), b = Matrix::Random(30, 3), a0 = a + 1e-4f * Matrix::Random(40, 3),
                 b0 = b + 1e-4f * Matrix::Random(30, 3);
    const Eigen::MatrixXd dense = a.cast<double>() * b.cast<double>().transpose(),
                          before = a0.cast<double>() * b0.cast<double>().transpose();
    CHECK(relative_change(a, b, a0, b0) ==
          doctest::Approx((dense - before).norm() / before.norm()).epsilon(1e-9));
}

TEST_CASE("adapter: files that do not fit are refused in one sentence") {
    const auto refused = [](const auto& edit) {
        AdapterFolder folder;
        edit(folder);
        return folder.refusal();
    };
    const auto key = [&](const char* name, const Json& value) {
        return refused([&](AdapterFolder& f) { f.files.config[name] = value; });
    };
    CHECK(key("peft_type", "IA3").find("\"IA3\" are not computed") != std::string::npos);
    CHECK(key("r", 1'000'000).find("whole number up to") != std::string::npos);
    CHECK(key("r", 3).find("has the rank 2 where") != std::string::npos);
    CHECK(key("r", -1).find("positive") != std::string::npos);
    CHECK(key("lora_alpha", "much").find("positive number") != std::string::npos);
    CHECK(key("rank_pattern", {{"q_.*", 2}}).find("which is not read") != std::string::npos);
    CHECK(key("use_dora", true).find("lacks one of its matrices") != std::string::npos);
    CHECK(key("lora_bias", true).find("not computed") != std::string::npos);
    CHECK(key("base_model_name_or_path", "no/such").find("not on this computer") != std::string::npos);
    CHECK(key("base_model_name_or_path", (kTests / "reference/models/bert").string()).find("is no matrix") !=
          std::string::npos);
    CHECK(refused([](AdapterFolder& f) {
              f.add(std::string(kAdaptedModule) + ".lora_A", {2, 5}, 0);
          }).find("has the shape [2, 5] where") != std::string::npos);
    CHECK(refused([](AdapterFolder& f) {
              f.files.tensors.erase(std::string("base_model.model.") + kAdaptedModule + ".lora_B.weight");
          }).find("lacks one of its matrices") != std::string::npos);
    CHECK(refused([](AdapterFolder& f) {
              f.add("model.nowhere", {2, 5}, 0);
          }).find("model.nowhere") != std::string::npos);
}

namespace {

ForwardRequest request_of_strengths() {
    ForwardRequest out;
    out.inputs.resize(1);
    out.inputs[0].ids = {5, 9, 20, 31, 7, 5};
    return out;
}

}  // namespace

TEST_CASE("adapter: the curve over strengths holds what a pass at each strength predicts") {
    ThreadPool pool(2);
    const AdapterFolder folder;
    const std::string path = folder.write();
    const auto model = open_model(path + "=0.35");
    REQUIRE(model);
    const auto shown = run_trace(*model, request_of_strengths(), pool);
    REQUIRE(shown);
    int seen = 0;
    const auto curve = strength_curve(**shown, {MetricKind::divergence}, pool, nullptr,
                                      [&](const StrengthCurve& now) { CHECK(now.done == ++seen); });
    REQUIRE(curve);
    CHECK(seen == StrengthCurve::kCount);
    CHECK(curve->values[10] == 0);  // the base from itself
    CHECK(!curve->tokens.empty());
    for (const float strength : {-1.0f, 0.0f, 0.3f, 1.0f, 2.0f}) {
        CAPTURE(strength);
        const auto at = open_model(path + "=" + strength_text(strength));
        REQUIRE(at);
        const auto run = run_trace(*at, request_of_strengths(), pool);
        REQUIRE(run);
        const auto point = size_t(StrengthCurve::point_at(strength));
        CHECK(StrengthCurve::strength(int(point)) == strength);
        const Vector p = probabilities_at(**run, curve->metric.position, pool);
        CHECK(curve->first[point] == ranked_ids(p, 1)[0]);
        for (const StrengthToken& token : curve->tokens) CHECK(token.probabilities[point] == p[token.id]);
    }
    CHECK(curve->values[30] > curve->values[20]);
}

TEST_CASE("adapter: the curve is of a text and an adapter, whatever the strength that is shown") {
    ThreadPool pool(2);
    const AdapterFolder folder;
    const std::string path = folder.write();
    const auto whole = open_model(path);
    REQUIRE(whole);
    const auto half = open_model(path + "=0.5", nullptr, nullptr, *whole);
    REQUIRE(half);
    ForwardRequest other = request_of_strengths();
    other.inputs[0].ids.back() = 9;
    const auto a = *run_trace(*whole, request_of_strengths(), pool),
               b = *run_trace(*half, request_of_strengths(), pool), c = *run_trace(*half, other, pool);
    CHECK(StrengthsRequest::same_for(*a, *b));
    CHECK(!StrengthsRequest::same_for(*b, *c));
    CHECK(AdapterChangesRequest::same_for(*b, *c));
    CHECK(!AdapterChangesRequest::same_for(*a, *b));
    const auto base = reference_model("llama");
    const auto refused = strength_curve(**run_trace(base, request_of_strengths(), pool), {}, pool);
    REQUIRE(!refused);
    CHECK(refused.error().message.find("has no adapter") != std::string::npos);
}

TEST_CASE("adapter: a curve says from where on another token comes") {
    StrengthCurve curve;
    curve.done = StrengthCurve::kCount;
    curve.first.assign(StrengthCurve::kCount, 5);
    const auto model = reference_model("llama");
    const std::string five = prediction_label(*model, 5), nine = prediction_label(*model, 9);
    CHECK(strength_summary(curve, *model) ==
          "The model predicts " + five + " at every strength from 0 to 2.");
    for (size_t i = 16; i < 24; ++i) curve.first[i] = 9;
    CHECK(strength_summary(curve, *model) == "The base predicts " + five +
                                                 ". From 0.6 on the model predicts " + nine +
                                                 ", from 1.4 on " + five + " again.");
    curve.done = 3;
    CHECK(strength_summary(curve, *model).empty());
}

namespace {

/// [rows, columns] of what a matrix or a table holds.
Matrix stored_rows(const Linear& w) {
    Matrix out(w.out, w.in);
    for (int64_t i = 0; i < w.out; ++i) w.read(i, 0, w.in, out.row(i).data());
    return out;
}

/// [rows, columns] of what AdapterFolder::add writes.
Matrix written(int64_t rows, int64_t columns, float phase) {
    Matrix out(rows, columns);
    for (int64_t i = 0; i < out.size(); ++i) out.data()[i] = AdapterFolder::value_at(i, phase);
    return out;
}

constexpr float kShareOfRank = 1.5f;  // α / rank

}  // namespace

TEST_CASE("adapter: what is trained for an embedding changes what is read, not what predicts") {
    AdapterFolder folder("gpt2");  // tied
    folder.add("transformer.wte.lora_embedding_A", {2, 420}, 0.3f, "");
    folder.add("transformer.wte.lora_embedding_B", {48, 2}, 0.8f, "");
    const auto adapted = open_model(folder.write() + "=0.5");
    REQUIRE(adapted);
    const auto base = reference_model("gpt2");
    const Matrix change = 0.5f * kShareOfRank * (written(48, 2, 0.8f) * written(2, 420, 0.3f)).transpose();
    const Linear& table = (*adapted)->weights.stacks[0].token_embedding;
    CHECK((stored_rows(table) - stored_rows(base->weights.stacks[0].token_embedding) - change)
              .cwiseAbs()
              .maxCoeff() < 1e-6f);
    CHECK(stored_rows((*adapted)->weights.unembedding) == stored_rows(base->weights.unembedding));
    CHECK((*adapted)->config.tied_unembedding);
    const auto none = (*adapted)->at_strength(0);
    REQUIRE(none);
    CHECK(stored_rows((*none)->weights.stacks[0].token_embedding) ==
          stored_rows(base->weights.stacks[0].token_embedding));
}

TEST_CASE("adapter: what is trained for a tied unembedding changes what predicts alone") {
    AdapterFolder folder("gpt2");
    folder.add("lm_head.lora_A", {2, 48}, 0.3f);
    folder.add("lm_head.lora_B", {420, 2}, 0.8f);
    const auto adapted = open_model(folder.write());
    REQUIRE(adapted);
    const auto base = reference_model("gpt2");
    const Matrix change = kShareOfRank * written(420, 2, 0.8f) * written(2, 48, 0.3f);
    CHECK((stored_rows((*adapted)->weights.unembedding) - stored_rows(base->weights.unembedding) - change)
              .cwiseAbs()
              .maxCoeff() < 1e-6f);
    CHECK(stored_rows((*adapted)->weights.stacks[0].token_embedding) ==
          stored_rows(base->weights.stacks[0].token_embedding));
}

TEST_CASE("adapter: parameters of all experts hold the rows of one after those of another") {
    constexpr int kExperts = 4, kWidth = 24, kModel = 48;
    AdapterFolder folder("mixtral");
    const std::string module = "model.layers.1.mlp.experts";
    folder.add(module + ".base_layer.lora_A", {2 * kExperts, kModel}, 0.1f);
    folder.add(module + ".base_layer.lora_B", {2 * kWidth, 2 * kExperts}, 0.2f);
    folder.add(module + ".lora_A", {2 * kExperts, kWidth}, 0.3f);
    folder.add(module + ".lora_B", {kModel, 2 * kExperts}, 0.4f);
    const auto adapted = open_model(folder.write());
    REQUIRE(adapted);
    const auto base = reference_model("mixtral");
    const auto change = [&](int expert, int64_t in, int64_t out, float a, float b) {
        const Matrix all_b = written(out, 2 * kExperts, b);
        Matrix own(out, 2);
        for (int r = 0; r < 2; ++r) own.col(r) = all_b.col(r * kExperts + expert);
        return Matrix(kShareOfRank * own * written(2 * kExperts, in, a).middleRows(2 * expert, 2));
    };
    for (int e = 0; e < kExperts; ++e) {
        CAPTURE(e);
        const ExpertWeights &now = (*adapted)->weights.stacks[0].layers[1].experts[size_t(e)],
                            &was = base->weights.stacks[0].layers[1].experts[size_t(e)];
        const Matrix reads = change(e, kModel, 2 * kWidth, 0.1f, 0.2f);
        const auto apart = [](const Linear& x, const Linear& y) {
            return Matrix(stored_rows(x) - stored_rows(y));
        };
        CHECK((apart(now.gate, was.gate) - reads.topRows(kWidth)).cwiseAbs().maxCoeff() < 1e-6f);
        CHECK((apart(now.in, was.in) - reads.bottomRows(kWidth)).cwiseAbs().maxCoeff() < 1e-6f);
        CHECK((apart(now.out, was.out) - change(e, kWidth, kModel, 0.3f, 0.4f)).cwiseAbs().maxCoeff() <
              1e-6f);
    }
    CHECK(!(*adapted)->weights.stacks[0].layers[0].experts[0].gate.adapter);
    folder.files.config["r"] = 3;
    CHECK(folder.refusal().find("has 8 rows where 4 experts of rank 3") != std::string::npos);
}
