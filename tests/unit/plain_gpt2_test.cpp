// Tests the fast forward pass against GPT-2 in plain loops: weights in F32, F16 and BF16, of safetensors and
// of a GGUF file.
#include "plain_gpt2.h"

#include "helpers.h"
#include "model/input.h"

using namespace headlight;

namespace {

/// Bounds an error relative to the largest value of its table. A float holds 6e-8 of a value; the two passes
/// add up to 1024 products in other orders.
constexpr double kApart = 1e-5;

double apart_from_plain(const Matrix& fast, const plain::Table& slow) {
    REQUIRE(fast.rows() == isize(slow));
    double error = 0, largest = 0;
    for (int t = 0; t < isize(slow); ++t) {
        REQUIRE(fast.cols() == isize(slow[t]));
        for (int i = 0; i < isize(slow[t]); ++i) {
            error = std::max(error, std::abs(double{fast(t, i)} - double{slow[t][i]}));
            largest = std::max(largest, std::abs(double{slow[t][i]}));
        }
    }
    return error / largest;
}

void compare_to_plain(const std::shared_ptr<const Model>& model, const char* text) {
    ThreadPool pool(2);
    TextInput typed;
    typed.text = text;
    const auto input = encode_input(*model, typed);
    REQUIRE(input);
    const std::vector<int>& ids = input->sequences[0].ids;
    const ModelConfig& c = model->config;
    const auto slow = plain::run(model->weights, ids, c.heads(0), c.norm_eps);
    const auto fast = trace_of(model, ids, pool);
    REQUIRE(isize(slow.patterns) == c.head_count());
    double patterns = 0, stream = 0;
    for (int i = 0; i < c.head_count(); ++i) {
        const auto [block, head] = c.head_at(i);
        patterns = std::max(patterns, apart_from_plain(fast->pattern(block, head), slow.patterns[i]));
    }
    for (int l = 0; l <= c.layers(); ++l) {
        const Rows x = l ? fast->resid_post(0, l - 1) : fast->stack(0).layers[0]->resid_pre;
        stream = std::max(stream, apart_from_plain(x.all(), slow.stream[l]));
    }
    const double logits = apart_from_plain(unembed(*model, fast->normalized().all(), pool), slow.logits);
    MESSAGE(model->name << ", " << ids.size() << " tokens, largest errors: patterns " << patterns
                        << ", residual stream " << stream << ", logits " << logits);
    CHECK(patterns < kApart);
    CHECK(stream < kApart);
    CHECK(logits < kApart);
}

}  // namespace

TEST_CASE(
    "plain loops: patterns, residual stream and logits of the built-in story model equal GPT-2's equations") {
    const auto model = Model::open(kTests.parent_path() / "models/stories");
    REQUIRE(model);
    compare_to_plain(*model, "Lily had a red ball. Tom had a blue ball. Lily gave Tom the red");
}

TEST_CASE("plain loops: the tiny GPT-2 in every stored format equals GPT-2's equations") {
    const char* const text = "The old harbour was quiet at dawn. Fishermen mended their nets";
    for (const char* name : {"gpt2", "gpt2_f16", "gpt2_bf16", "gpt2_sharded"})
        compare_to_plain(reference_model(name), text);
    const auto gguf = Model::open(kTests / "reference/models/gpt2_gguf/gpt2-f32.gguf");
    REQUIRE(gguf);
    compare_to_plain(*gguf, text);
}
