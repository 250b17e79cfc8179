// Tests layers with two blocks side by side, and what Falcon-H1 multiplies.
#include "checkpoint.h"
#include "model/heads.h"
#include "trace/trace.h"

using namespace headlight;

namespace {

constexpr int kFalconTokens = 6;

std::shared_ptr<const Trace> falcon_pass(const std::shared_ptr<const Model>& model, ThreadPool& pool) {
    Sequence text;
    for (int i = 0; i < kFalconTokens; ++i) text.ids.push_back((37 * i + 5) % model->config.vocab);
    text.tokens.resize(kFalconTokens);
    const auto trace = run_trace(model, {{text}, {}}, pool);
    REQUIRE(trace);
    return *trace;
}

/// Doubles rows [first, first + count) of a tensor of float16.
void double_falcon_rows(Checkpoint& files, const std::string& name, int64_t first, int64_t count) {
    Checkpoint::Entry& t = files.tensors.at(name);
    REQUIRE(t.dtype == "F16");
    const int64_t row = std::ssize(t.bytes) / 2 / t.shape[0];
    for (int64_t i = first * row; i < (first + count) * row; ++i) {
        uint16_t bits = 0;
        std::memcpy(&bits, t.bytes.data() + 2 * i, 2);
        const bool normal = bits & 0x7c00;
        bits = static_cast<uint16_t>(normal ? bits + 0x400 : (bits & 0x8000) | (bits & 0x3ff) << 1);
        std::memcpy(t.bytes.data() + 2 * i, &bits, 2);
    }
}

/// Names rows of a matrix of every layer that a factor multiplies; count 0: all.
struct FalconFactor {
    const char* key;
    int at;  // in a list; −1: it is a number
    std::vector<const char*> matrices;
    int first = 0, count = 0;
};
// in_proj: 40 of the gate, 40 of values, 16 of keys, 16 of queries, 4 of steps.
const FalconFactor kFalconFactors[] = {
    {"attention_in_multiplier", -1, {"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"}},
    {"attention_out_multiplier", -1, {"self_attn.o_proj"}},
    {"key_multiplier", -1, {"self_attn.k_proj"}},
    {"ssm_in_multiplier", -1, {"mamba.in_proj"}},
    {"ssm_out_multiplier", -1, {"mamba.out_proj"}},
    {"ssm_multipliers", 0, {"mamba.in_proj"}, 0, 40},
    {"ssm_multipliers", 1, {"mamba.in_proj"}, 40, 40},
    {"ssm_multipliers", 2, {"mamba.in_proj"}, 80, 16},
    {"ssm_multipliers", 3, {"mamba.in_proj"}, 96, 16},
    {"ssm_multipliers", 4, {"mamba.in_proj"}, 112, 4},
    {"mlp_multipliers", 0, {"feed_forward.gate_proj"}},
    {"mlp_multipliers", 1, {"feed_forward.down_proj"}},
};

}  // namespace

TEST_CASE("falcon-h1: a factor is the same as the weights that it multiplies") {
    ThreadPool pool(2);
    for (const FalconFactor& m : kFalconFactors) {
        CAPTURE(m.key);
        CAPTURE(m.at);
        Checkpoint by_key = Checkpoint::of("falcon_h1"), by_weights = by_key;
        Json& value = m.at < 0 ? by_key.config[m.key] : by_key.config[m.key][size_t(m.at)];
        value = 2 * value.get<double>();
        for (int layer = 0; layer < 2; ++layer)
            for (const char* matrix : m.matrices) {
                const std::string name = "model.layers." + std::to_string(layer) + "." + matrix + ".weight";
                double_falcon_rows(by_weights, name, m.first,
                                   m.count ? m.count : by_weights.tensors.at(name).shape[0]);
            }
        const auto a = falcon_pass(*by_key.open(), pool), b = falcon_pass(*by_weights.open(), pool),
                   plain = falcon_pass(reference_model("falcon_h1"), pool);
        CHECK(a->normalized().all() == b->normalized().all());
        CHECK(a->normalized().all() != plain->normalized().all());
    }
}

TEST_CASE("falcon-h1: factors of embeddings and logits") {
    ThreadPool pool(2);
    Checkpoint files = Checkpoint::of("falcon_h1");
    const auto plain = falcon_pass(*files.open(), pool);
    files.config["lm_head_multiplier"] = 2 * files.config["lm_head_multiplier"].get<double>();
    const auto louder = falcon_pass(*files.open(), pool);
    const Matrix x = plain->normalized().all();
    CHECK(unembed(*louder->model, x, pool) == 2 * unembed(*plain->model, x, pool));
    files.config["embedding_multiplier"] = 2 * files.config["embedding_multiplier"].get<double>();
    const auto larger = falcon_pass(*files.open(), pool);
    CHECK(larger->stack(0).layers[0]->resid_pre.all() == 2 * plain->stack(0).layers[0]->resid_pre.all());
    files.config["ssm_multipliers"] = {1, 2, 3};
    const auto refused = files.open();
    REQUIRE(!refused);
    CHECK(refused.error().message.find("\"ssm_multipliers\" must list 5 finite numbers") !=
          std::string::npos);
}

TEST_CASE("falcon-h1: each layer has two blocks, whose outputs are added to what both read") {
    ThreadPool pool(2);
    const auto model = reference_model("falcon_h1");
    const ModelConfig& c = model->config;
    REQUIRE(c.blocks() == 4);
    CHECK(c.blocks_of(0, 1) == std::vector<int>{1, 3});
    CHECK(block_name(c, 1) == "1");
    CHECK(block_name(c, 3) == "mamba 1");
    CHECK(*parse_head(c, "mamba.1.3", "--head") == AttentionHead{3, 3});
    CHECK(c.d_value(3) == 10);
    const auto trace = falcon_pass(model, pool);
    CHECK((trace->has_scores(1) && !trace->has_scores(3) && trace->is_mixing(3)));
    for (int layer = 0; layer < 2; ++layer) {
        const Matrix pre = trace->stack(0).layers[size_t(layer)]->resid_pre.all(),
                     attention = trace->attn_out(layer, pool), mixer = trace->attn_out(2 + layer, pool),
                     mid = trace->resid_mid(0, layer, pool);
        CHECK((trace->resid_before(2 + layer, pool) - pre).isZero(0));
        CHECK((mid - pre - attention - mixer).cwiseAbs().maxCoeff() < 1e-5f);
        CHECK(
            (trace->resid_post(0, layer).all() - mid - trace->mlp_out(0, layer, pool)).cwiseAbs().maxCoeff() <
            1e-4f);
        CHECK((attention.norm() > 0.1f && mixer.norm() > 0.1f));
    }
}
