// Tests that what a gate leaves of z recomputes from the numbers beside it: g, z and z · g, in Steps.
#include "analysis/attention/block_chain.h"
#include "analysis/attention/steps.h"
#include "helpers.h"
#include "model/linear.h"
#include "model/pass.h"

using namespace headlight;

namespace {

std::shared_ptr<const Trace> gated_trace(ThreadPool& pool) {
    return trace_of(reference_model("qwen3_5_text"), {5, 9, 20, 31, 44, 7}, pool);
}

}  // namespace

TEST_CASE("gate: z is the weighted values, ΔE is z · g through W_O, each key's part is weight · ‖v ∘ g‖") {
    ThreadPool pool(2);
    const auto trace = gated_trace(pool);
    const ModelConfig& c = trace->config();
    int gated = 0;
    for (int block = 0; block < c.blocks(); ++block)
        for (int head = 0; head < c.heads(block); ++head) {
            CAPTURE(block);
            const headlight::Steps s = *answer_steps(*trace, {block, head, 4}, pool, nullptr);
            REQUIRE(s.gate.size() == s.z.size());
            ++gated;
            const Rows v = trace->v(block, head);
            Vector z = Vector::Zero(s.z.size());
            for (int key = 0; key < isize(s.keys); ++key) {
                const KeyStep& step = s.keys[size_t(key)];
                const Vector value = v.row(key).transpose();
                z += step.weight * value;
                CHECK(step.gated ==
                      doctest::Approx(step.weight * value.cwiseProduct(s.gate).norm()).epsilon(1e-5));
            }
            CHECK((s.z - z).cwiseAbs().maxCoeff() < 1e-5f);
            CHECK((s.gated() - s.z.cwiseProduct(s.gate)).isZero(0));
            Linear o = trace->weights(block).o;
            o.bias = nullptr;
            Matrix alone = Matrix::Zero(1, c.heads(block) * s.z.size());
            alone.row(0).segment(head * s.z.size(), s.z.size()) = s.gated().transpose();
            CHECK((project(pool, alone, o).row(0).transpose() - s.delta).cwiseAbs().maxCoeff() < 1e-5f);
        }
    CHECK(gated == c.head_count());
    const auto plain = trace_of(reference_model("gpt2"), {5, 9, 20}, pool);
    CHECK(answer_steps(*plain, {0, 0, 2}, pool, nullptr)->gate.size() == 0);
}

TEST_CASE("gate: in the whole block, an entry of z · g is its factors, and W_O reads z · g") {
    ThreadPool pool(2);
    const auto trace = gated_trace(pool);
    const ModelConfig& c = trace->config();
    for (int block = 0; block < c.blocks(); ++block) {
        if (trace->is_mixing(block)) continue;
        BlockChainRequest asked{block, 1, 4, 2, ChainStep::gated, 3};
        const BlockChain chain = *answer_block_chain(*trace, asked, pool);
        REQUIRE(chain.entry.how == ChainEntry::How::product);
        CHECK(chain.entry.value == doctest::Approx(chain.entry.term * chain.entry.added));
        const Vector &heads = chain.find(ChainStep::heads)->values, &g = chain.find(ChainStep::gate)->values;
        CHECK((chain.find(ChainStep::gated)->values - heads.cwiseProduct(g)).isZero(0));
        asked.step = ChainStep::projected;
        const ChainEntry e = answer_block_chain(*trace, asked, pool)->entry;
        REQUIRE(e.from == ChainStep::gated);
        CHECK(e.row.dot(chain.find(ChainStep::gated)->values) + e.bias.value_or(0.0f) ==
              doctest::Approx(e.value).epsilon(1e-4));
        const auto stages = *answer_heads_chain(*trace, {block, 4, 2}, pool);
        const auto named = [&](const char* name) {
            return std::find_if(stages.begin(), stages.end(),
                                [&](const HeadsStage& stage) { return stage.name == name; });
        };
        REQUIRE(named("g") != stages.end());
        CHECK((named("z·g")->values - named("z")->values.cwiseProduct(named("g")->values)).isZero(0));
    }
}
