// Tests that what is shown does not depend on the number of threads: 1, 2 and 7 give the same bytes. New
// seeds each run.
#include <array>
#include <bit>

#include "analysis/attention/head_map.h"
#include "analysis/attention/head_tags.h"
#include "analysis/attribution/contribution.h"
#include "analysis/attribution/flow.h"
#include "analysis/attribution/influence_map.h"
#include "analysis/attribution/paths.h"
#include "changed.h"
#include "random_user.h"
#include "summaries.h"

using namespace headlight;

namespace {

/// Collects the bytes of results.
struct Bytes {
    std::string all;
    void add(const Matrix& m) {
        all.append(reinterpret_cast<const char*>(m.data()), size_t(m.size()) * sizeof(float));
    }
    void add(const std::vector<float>& values) {
        all.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
    }
    void add(const Graph& graph) {
        for (const Vector& stays : graph.residual_weight) add(Matrix(stays));
        for (const auto& layer : graph.links)
            for (const auto& query : layer)
                for (const Link& link : query)
                    all +=
                        std::to_string(link.key) + ":" + std::to_string(std::bit_cast<uint32_t>(link.weight));
    }
};

using Named = std::vector<std::pair<std::string, std::string>>;

/// Requests a sequence for each stack, several tiles long if the model reads that much.
ForwardRequest long_request(const ModelConfig& c, std::mt19937& random) {
    ForwardRequest out;
    const int n = std::min(c.context, 150) - 2;
    for (const StackConfig& stack : c.stacks) {
        std::vector<int> ids;
        for (int i = 0; i < n; ++i) ids.push_back(2 + int(random() % unsigned(stack.vocab - 2)));
        out.inputs.push_back(request_of(ids).inputs[0]);
    }
    return out;
}

void add_graphs(const Trace& trace, ThreadPool& pool, Named& out) {
    const int stack = isize(trace.config().stacks) - 1, token = trace.output().size() - 1;
    for (const Origins by : {Origins::rollout, Origins::contribution, Origins::relevance}) {
        const GraphRequest links{{stack, {}}, 0.7f, by, {{}, token}};
        const RolloutRequest origins{{stack, {}}, token, by, {}};
        Bytes bytes;
        bytes.add(*answer_graph(Runs{trace}, links, pool, nullptr));
        const Rollout rollout = *answer_rollout(Runs{trace}, origins, pool, nullptr);
        bytes.add(rollout.accumulated);
        bytes.add(rollout.scales);
        out.emplace_back("graph " + std::to_string(int(by)), bytes.all);
    }
    Bytes flow;
    flow.add(attention_flow(trace, {stack, {}}, token));
    out.emplace_back("flow", flow.all);
}

void add_influences(const Trace& trace, ThreadPool& pool, Named& out) {
    for (const InfluenceMethodRow& row : influence_methods()) {
        InfluenceRequest request{row.method, {}};
        request.metric.position = trace.output().size() - 1;
        request.steps = 2;
        if (request.needs_prompt()) continue;
        const auto found = influence({trace}, request, pool);
        if (!found) continue;
        Bytes bytes;
        for (const Vector& stack : found->tokens) bytes.add(Matrix(stack));
        out.emplace_back(row.word, bytes.all);
    }
    const int stack = isize(trace.config().stacks) - 1, layer = trace.config().stacks[stack].depth() - 1;
    Bytes rows;
    rows.add(*shares_through(trace, stack, layer, rollout_shares(trace, {}), pool));
    rows.add(*shares_through(trace, stack, layer, contribution_shares(trace, {}, pool), pool));
    rows.add(jacobian_rows(trace, {}, trace.output().size() - 2, 2, 8, pool)->norms);
    out.emplace_back("rows", rows.all);
}

void add_statistics(const Trace& trace, ThreadPool& pool, Named& out) {
    Bytes bytes;
    const auto random = answer_random_statistics(trace, RandomStatisticsRequest{}, pool, nullptr);
    REQUIRE(random);
    for (int i = 0; i < trace.config().head_count() && random->length > 0; ++i) {
        const auto& statistics = random->heads[size_t(i)];
        bytes.add(std::vector<float>(statistics.begin(), statistics.end()));
    }
    bytes.add(answer_head_map(trace, HeadMapRequest{}, pool, nullptr)->points);
    out.emplace_back("statistics", bytes.all);
}

Named everything(const std::shared_ptr<const Model>& model, const ForwardRequest& request, int threads) {
    ThreadPool pool(threads);
    const auto trace = *run_trace(model, request, pool);
    Named out;
    Bytes bytes;
    for (int block = 0; block < model->config.blocks(); ++block)
        for (int h = 0; h < model->config.heads(block); ++h) bytes.add(trace->pattern(block, h));
    bytes.add(trace->normalized().all());
    out.emplace_back("trace", bytes.all);
    add_graphs(*trace, pool, out);
    add_influences(*trace, pool, out);
    add_statistics(*trace, pool, out);
    return out;
}

}  // namespace

TEST_CASE("threads: 1, 2 and 7 give equal bytes for traces, graphs, influence and statistics") {
    const unsigned seed = std::random_device()();
    INFO("seed ", seed);
    std::mt19937 random(seed);
    for (const char* name : {"llama", "gemma2", "bart", "modernbert", "gpt2"}) {
        const auto model = reference_model(name);
        ForwardRequest request = long_request(model->config, random);
        RandomUser user(*model, random());
        request.intervention.changes = user.request().intervention.changes;
        CAPTURE(name);
        CAPTURE(described(request, model->config));
        const Named one = everything(model, request, 1);
        for (const int threads : {2, 7}) {
            const Named more = everything(model, request, threads);
            REQUIRE(more.size() == one.size());
            for (size_t i = 0; i < one.size(); ++i) {
                CAPTURE(threads);
                CAPTURE(one[i].first);
                CHECK(one[i].second == more[i].second);
            }
        }
    }
}
