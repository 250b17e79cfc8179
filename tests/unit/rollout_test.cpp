// Tests rollout and flow without changes, against products by hand.
#include "analysis/attribution/flow.h"
#include "analysis/attribution/paths.h"
#include "base/cast.h"
#include "changed.h"
#include "model/interventions/patch_change.h"
#include "trace/trace_file.h"

using namespace headlight;

namespace {

float difference(const Matrix& a, const Matrix& b) { return (a - b).cwiseAbs().maxCoeff(); }

/// Traces every token of the first stack.
Matrix rollout(const Trace& trace, const IncludedHeads& included, ThreadPool& pool) {
    const int n = trace.request.inputs[0].size(), last = trace.config().stacks[0].depth() - 1;
    return shares_through(trace, 0, last, rollout_shares(trace, included), pool)->leftCols(n);
}

}  // namespace

TEST_CASE("rollout: rows sum to 1, one token's row equals the matrix's, without heads it is the identity") {
    ThreadPool pool(2);
    for (const char* name : {"gpt2", "bert", "marian"}) {
        const auto trace = any_trace(name, pool);
        const Matrix all = rollout(*trace, {}, pool);
        CHECK((all.rowwise().sum().array() - 1).abs().maxCoeff() < 1e-5f);
        const auto one =
            answer_rollout(Runs{*trace}, RolloutRequest{{}, 6, Origins::rollout, {}}, pool, nullptr);
        REQUIRE(one);
        CHECK(difference(one->accumulated.row(0), all.row(6)) < 1e-6f);
        CHECK((one->accumulated.rowwise().sum().array() - 1).abs().maxCoeff() < 1e-5f);
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

TEST_CASE("flow: at most what enters the token, all of it with one layer") {
    ThreadPool pool(1);
    const auto trace = any_trace("gpt2", pool);
    IncludedHeads first;  // only layer 0 carries: the flow is that layer's own weight
    for (const int block : self_blocks(trace->config(), 0))
        for (int h = 0; block > 0 && h < trace->config().heads(block); ++h) first.left_out.insert({block, h});
    const auto flow = attention_flow(*trace, first, 5);
    const RowShares shares = rollout_shares(*trace, first)(0)(0, 10);
    for (int k = 0; k < 10; ++k)
        CHECK(flow[k] ==
              doctest::Approx(shares.keys(5, k) + (k == 5 ? shares.residual_weight[5] : 0)).epsilon(1e-3));
    for (const float f : attention_flow(*trace, {}, 5)) CHECK((f >= 0 && f <= 1.0001f));
}

TEST_CASE("rollout: a trace from a file knows which heads, blocks and rows were replaced") {
    ThreadPool pool(2);
    const TemporaryFolder folder;
    for (const char* name : {"gpt2", "marian"})
        for (const std::string text :
             {"skip-attention:1", "ablate:1.2", "ablate:0.1:mean", "ablate:1.0:keep", "patch-head:3@1.1",
              "patch-attention:2-4@1", "patch-resid:5@1", "mask:3>1@1", "temperature:0.5", "positions:off"}) {
            CAPTURE(name);
            CAPTURE(text);
            const auto model = reference_model(name);
            const bool pair = model->config.stacks.size() > 1;
            std::string spelled = text;
            if (pair && text[0] != 't' && text[0] != 'm' && text.find(":off") == std::string::npos)
                spelled.insert(text.find(text[0] == 'p' ? '@' : ':') + 1, "encoder.");
            if (pair && text.starts_with("mask")) spelled = "mask:3>1@encoder.1";
            auto change = parse_change(model->config, spelled);
            REQUIRE_MESSAGE(change, spelled);
            const int width = change->kind == ChangeKind::patch_head ? model->config.d_value(change->block)
                                                                     : model->config.d_model;
            if (is_patch(change->kind))
                change->pattern = std::make_shared<const Matrix>(random_matrix(10, width, 4));
            ForwardRequest request = request_of(kIds);
            if (pair) request.inputs.push_back(request_of({0, 4, 7, 9}).inputs[0]);
            request.intervention.changes.push_back(*change);
            const auto ran = *run_trace(model, request, pool);
            const auto path = folder.path / "trace.safetensors";
            REQUIRE(write_trace(path, *ran, {}, pool));
            const auto opened = open_trace(path);
            REQUIRE(opened);
            CHECK(difference(rollout(*ran, {}, pool), rollout(**opened, {}, pool)) < 1e-6f);
            const RolloutRequest asked{{}, 6, Origins::rollout, {}};
            CHECK(difference(answer_rollout(Runs{*ran}, asked, pool, nullptr)->accumulated,
                             answer_rollout(Runs{**opened}, asked, pool, nullptr)->accumulated) < 1e-6f);
        }
}

TEST_CASE("rollout: a trace whose changes cannot be read is refused, not read without them") {
    ThreadPool pool(1);
    const TemporaryFolder folder;
    const auto path = folder.path / "trace.safetensors";
    REQUIRE(write_trace(path, *changed(reference_model("gpt2"), {"skip-attention:1"}, pool), {}, pool));
    std::string bytes = read_bytes(path);
    const size_t at = bytes.find("skip-attention:1");
    REQUIRE(at != std::string::npos);
    bytes[at + 15] = '9';
    write_bytes(path, bytes);
    const auto opened = open_trace(path);
    REQUIRE(!opened);
    CHECK(opened.error().message.find("skip-attention:9") != std::string::npos);
}
