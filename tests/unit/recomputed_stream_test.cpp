// Tests the residual stream under every kind of change: each layer's output, and the attention block around a
// query.
#include <cstring>

#include "analysis/attention/block_chain.h"
#include "analysis/attention/steps.h"
#include "io/safetensors.h"
#include "random_user.h"
#include "recomputed.h"
#include "trace/trace_file.h"
#include "trace/trace_gradients.h"

using namespace headlight;

namespace {

/// Returns a tensor of a trace as written.
Matrix written(const Trace& trace, const std::string& name, ThreadPool& pool) {
    TemporaryFolder folder;
    const auto path = folder.path / "t.safetensors";
    REQUIRE(write_trace(path, trace, {name}, pool));
    const auto file = open_safetensors(path);
    REQUIRE(file);
    const auto& tensor = file->tensors.at(name);
    Matrix out(tensor.shape[0], tensor.shape[1]);
    std::memcpy(out.data(), tensor.bytes.data(), tensor.bytes.size());
    return out;
}

}  // namespace

TEST_CASE("recomputed: a layer's output is not the rows patched into the next") {
    ThreadPool pool(2);
    const unsigned seed = fresh_seed();
    CAPTURE(seed);
    for (const char* family : kEveryFamily) {
        CAPTURE(family);
        ChangedRuns runs(reference_model(family), seed);
        const auto model = reference_model(family);
        const auto plain = *run_trace(model, runs.plain(), pool);
        for (const ChangeKind kind : {ChangeKind::patch_resid, ChangeKind::noise}) {
            const auto change = runs.of_kind(kind, runs.head());
            if (!change) continue;
            ForwardRequest request = runs.plain();
            request.intervention.changes = {*change};
            const auto trace = *run_trace(model, request, pool);
            const AttentionBlock at = model->config.block(change->block);
            const LayerActivations& layer = *trace->stack(at.stack).layers[at.layer];
            const Matrix before = plain->stack(at.stack).layers[at.layer]->resid_pre.all();
            CHECK(same(layer.entering().all(), before));
            const std::string stack = model->config.stacks[size_t(at.stack)].name + ".";
            CHECK(same(written(*trace, stack + std::to_string(at.layer) + ".hook_resid_pre", pool),
                       layer.resid_pre.all()));
            if (at.layer > 0) {
                const std::string below = stack + std::to_string(at.layer - 1) + ".hook_resid_post";
                const Matrix left = plain->resid_post(at.stack, at.layer - 1).all();
                CHECK(same(left, before) != model->config.has_streams());  // from which streams are predicted
                CHECK(same(trace->resid_post(at.stack, at.layer - 1).all(), left));
                CHECK(same(written(*trace, below, pool), left));
            }
            Matrix put = before;
            layer.changed.resid_pre.put(0, put);
            CHECK(same(layer.resid_pre.all(), put));
            CHECK(!same(layer.resid_pre.all(), before));
            // reused from an earlier pass, and by a later one
            CHECK(differing(*trace, **run_trace(model, request, pool, nullptr, plain.get())) == "");
            CHECK(differing(*plain, **run_trace(model, runs.plain(), pool, nullptr, trace.get())) == "");
        }
    }
}

TEST_CASE("recomputed: the block chain of a query ends in its residual stream") {
    ThreadPool pool(2);
    const unsigned seed = fresh_seed();
    for_changed_runs(seed, pool, [&](const Trace& trace, AttentionHead at, const auto& queries) {
        const int query = queries[0];
        if (trace.is_mixing(at.block)) return;
        for (const ChainStep step : {ChainStep::z, ChainStep::projected}) {
            const auto chain = answer_block_chain(
                trace, BlockChainRequest{at.block, at.head, query, 0, step, -1}, pool, nullptr);
            REQUIRE(chain);
            const Matrix before = trace.resid_before(at.block, pool), out = trace.attn_out(at.block, pool);
            const Vector sum = (before.row(query) + out.row(query)).transpose();
            CHECK((chain->find(ChainStep::sum)->values - sum).cwiseAbs().maxCoeff() < 1e-6f);
            const ChainStage* added = chain->find(ChainStep::added_norm);
            if (!added) added = chain->find(ChainStep::projected);
            if (added) CHECK((added->values - out.row(query).transpose()).cwiseAbs().maxCoeff() < 1e-5f);
            const headlight::Steps s =
                *answer_steps(trace, StepsRequest{at.block, at.head, query}, pool, nullptr);
            CHECK((chain->find(ChainStep::z)->values - s.z).cwiseAbs().maxCoeff() < 1e-6f);
            Vector weighed = Vector::Zero(s.z.size());
            for (int k = 0; k < isize(s.keys); ++k)
                weighed += s.keys[size_t(k)].weight * trace.v(at.block, at.head).row(k).transpose();
            if (s.z_by == ZBy::weights) CHECK((s.z - weighed).cwiseAbs().maxCoeff() < 1e-4f);
        }
    });
}

TEST_CASE("recomputed: the gradient by replacing rows is not that by the rows they replaced") {
    ThreadPool pool(2);
    for (const char* family : {"gpt2", "llama", "bert"}) {
        CAPTURE(family);
        const auto model = reference_model(family);
        ChangedRuns runs(model, 5);
        ForwardRequest request = runs.plain();
        Change change = *runs.of_kind(ChangeKind::patch_resid, {1, 0});
        const int n = request.inputs[0].size(), row = change.query;
        const Matrix seed = random_matrix(n, model->config.d_model, 3),
                     way = random_matrix(1, model->config.d_model, 4);
        const auto run = [&](float far) {
            Matrix values = *change.pattern;
            values.row(row) += far * way.row(0);
            request.intervention.changes = {change};
            request.intervention.changes[0].pattern = std::make_shared<const Matrix>(values);
            return *run_trace(model, request, pool);
        };
        const auto sum = [&](const Trace& trace) {
            return trace.stack(0).resid_final.all().cast<double>().cwiseProduct(seed.cast<double>()).sum();
        };
        const GradientSeed at{0, model->config.layers(), 0, seed};
        const auto gradients = *backward(*run(0), {&at, 1}, pool);
        const StackGradients& stack = gradients.stacks[0];
        const double slope = (sum(*run(0.01f)) - sum(*run(-0.01f))) / 0.02;
        CHECK(stack.layers[1].resid_pre.row(row).dot(way.row(0)) == doctest::Approx(slope).epsilon(0.01));
        CHECK(std::abs(slope) > 0.1);
        CHECK(stack.resid[1].row(row).isZero(0));
        const int other = row ? row - 1 : n - 1;
        CHECK(same(stack.layers[1].resid_pre.row(other), stack.resid[1].row(other)));
    }
}
