// Rollout and flow without changes, against products by hand.
#include "analysis/flow.h"
#include "analysis/paths.h"
#include "base/cast.h"
#include "changed.h"

using namespace headlight;

namespace {

std::shared_ptr<const Trace> any_trace(const std::string& name, ThreadPool& pool) {
    const auto model = reference_model(name);
    ForwardRequest request;
    for (size_t i = 0; i < model->config.stacks.size(); ++i) {
        Sequence s{kIds, {}, {}, nullptr};
        if (i) s.ids.resize(7);
        s.tokens.resize(s.ids.size());
        request.inputs.push_back(std::move(s));
    }
    return *run_trace(model, std::move(request), pool);
}

float difference(const Matrix& a, const Matrix& b) { return (a - b).cwiseAbs().maxCoeff(); }

/// Of every token of the first stack.
Matrix rollout(const Trace& trace, const IncludedHeads& included, ThreadPool& pool) {
    const int n = trace.request.inputs[0].size(), last = trace.config().stacks[0].layers - 1;
    return shares_through(trace, 0, last, rollout_shares(trace, included), pool)->leftCols(n);
}

}  // namespace

TEST_CASE("rollout: rows sum to 1, one token's row equals the whole's, without heads it is the identity") {
    ThreadPool pool(2);
    for (const char* name : {"gpt2", "bert", "marian"}) {
        const auto trace = any_trace(name, pool);
        const Matrix all = rollout(*trace, {}, pool);
        CHECK((all.rowwise().sum().array() - 1).abs().maxCoeff() < 1e-5f);
        const auto one = answer(Runs{*trace}, RolloutWanted{{}, 6, Origins::rollout, {}}, pool, nullptr);
        REQUIRE(one);
        CHECK(difference(one->reached.row(0), all.row(6)) < 1e-6f);
        CHECK((one->reached.rowwise().sum().array() - 1).abs().maxCoeff() < 1e-5f);
        IncludedHeads none;
        for (const int block : self_blocks(trace->config(), 0))
            for (int h = 0; h < trace->config().heads(block); ++h) none.left_out.insert({block, h});
        CHECK(difference(rollout(*trace, none, pool), Matrix::Identity(all.rows(), all.rows())) == 0);
    }
}

TEST_CASE("rollout by hand: half of each layer's mean pattern and half identity") {
    ThreadPool pool(1);
    const auto trace = any_trace("gpt2", pool);
    const Index n = Index(kIds.size());
    Matrix want = Matrix::Identity(n, n);
    for (const int block : self_blocks(trace->config(), 0)) {
        Matrix mean = Matrix::Zero(n, n);
        for (int h = 0; h < trace->config().heads(block); ++h)
            mean += trace->pattern(block, h) / float(trace->config().heads(block));
        want = (0.5f * mean + 0.5f * Matrix::Identity(n, n)) * want;
    }
    CHECK(difference(rollout(*trace, {}, pool), want) < 1e-6f);
}

TEST_CASE("flow: never more than what enters the token, all of it where a layer stands alone") {
    ThreadPool pool(1);
    const auto trace = any_trace("gpt2", pool);
    IncludedHeads first;  // only layer 0 carries: the flow is that layer's own weight
    for (const int block : self_blocks(trace->config(), 0))
        for (int h = 0; block > 0 && h < trace->config().heads(block); ++h) first.left_out.insert({block, h});
    const auto flow = attention_flow(*trace, first, 5);
    const RowShares shares = rollout_shares(*trace, first)(0)(0, 10);
    for (int k = 0; k < 10; ++k)
        CHECK(flow[k] == doctest::Approx(shares.keys(5, k) + (k == 5 ? shares.stays[5] : 0)).epsilon(1e-3));
    for (const float f : attention_flow(*trace, {}, 5)) CHECK((f >= 0 && f <= 1.0001f));
}
