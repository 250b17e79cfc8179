// Tests paths of attention under every kind of change: Graph, Influence, attribute and the map beside a text
// agree on a token's origins, and equal a plain product of matrices. New seeds each run.
#include "analysis/attribution/paths.h"

#include <array>
#include <functional>

#include "analysis/attribution/contribution.h"
#include "analysis/attribution/flow.h"
#include "analysis/attribution/influence.h"
#include "changed.h"
#include "random_user.h"

using namespace headlight;

namespace {

constexpr const char* kFamilies[] = {
    "gpt2",  "gpt_neox",   "llama",        "gemma2",     "phi",    "opt",  "bloom",      "qwen3",   "mistral",
    "bert",  "modernbert", "albert",       "bart",       "marian", "t5",   "distilbert", "roberta", "electra",
    "qwen2", "mixtral",    "qwen3_5_text", "nemotron_h", "jamba",  "lfm2", "falcon_h1"};
constexpr int kPathTokens = 9;

unsigned new_seed() {
    static const unsigned seed = std::random_device()();
    return seed;
}

/// Makes a change of each kind at a position of the text, in a layer of the last stack and one of its heads.
Change change_at(const Model& model, ChangeKind kind, int layer, int head, int position, unsigned seed) {
    const ModelConfig& c = model.config;
    Change out;
    out.kind = kind;
    const int stack = kind == ChangeKind::noise ? 0 : isize(c.stacks) - 1;
    out.block = c.blocks_of(stack, kind == ChangeKind::noise ? 0 : layer).front();
    switch (change_row(kind).target) {
        case ChangeTarget::head:
            out.head = head;
            break;
        case ChangeTarget::positions:
        case ChangeTarget::cells:
            if (kind == ChangeKind::positions) out.block = -1;
            break;
        default:
            break;
    }
    out.query = position;
    out.key = position / 2;
    if (kind == ChangeKind::temperature) out.value = 0.5f;
    if (kind == ChangeKind::score) out.value = 3;
    if (kind == ChangeKind::ablate_expert) out.value = float(seed % 4);
    if (kind == ChangeKind::positions) out.value = kNoPositions;
    if (kind == ChangeKind::freeze)
        out.pattern = std::make_shared<const Matrix>(Matrix::Identity(kPathTokens, kPathTokens));
    const bool rows = change_row(kind).target == ChangeTarget::rows || kind == ChangeKind::patch_head;
    if (rows)
        out.pattern = std::make_shared<const Matrix>(random_matrix(
            kPathTokens, kind == ChangeKind::patch_head ? c.d_value(out.block) : c.d_model, seed));
    return out;
}

/// Says what the change replaces, by its help text: derived from the change alone, not from the rules in
/// force.
struct Replaced {
    const ModelConfig& c;
    const Change& change;

    bool head(int block, int head, int query) const {
        if (block != change.block) return false;
        switch (change.kind) {
            case ChangeKind::zero:
            case ChangeKind::mean:
                return head == change.head;
            case ChangeKind::keep:
                return head != change.head;
            case ChangeKind::patch_head:
                return head == change.head && query == change.query;
            case ChangeKind::patch_attention:
                return query == change.query;
            default:
                return change.kind == ChangeKind::skip_attention;
        }
    }
    bool stream(int stack, int layer, int row) const {
        const AttentionBlock at = c.block(std::max(change.block, 0));
        return change.kind == ChangeKind::patch_resid && at.stack == stack && at.layer == layer &&
               row == change.query;
    }
};

/// [n, tokens of all stacks] of each stack, upward, layer by layer; of one stack alone if `alone`.
std::vector<Matrix> by_hand(const Trace& trace, const Change& change, bool alone) {
    const ModelConfig& c = trace.config();
    const Replaced replaced{c, change};
    std::vector<Matrix> made;
    for (int s = 0; s < isize(c.stacks); ++s) {
        const int n = trace.request.inputs[s].size();
        Matrix rows = Matrix::Zero(n, trace.token_count());
        rows.middleCols(trace.first_token(s), n).setIdentity();
        const Matrix own = rows;
        for (int l = 0; l < c.stacks[s].depth(); ++l) {
            for (int q = 0; q < n; ++q)
                if (replaced.stream(s, l, q)) rows.row(q) = own.row(q);
            for (const int block : c.blocks_of(s, l)) {
                const bool cross = c.block(block).kind == AttentionKind::cross;
                if ((cross && alone) || c.block(block).kind == AttentionKind::beside) continue;
                const Matrix keys = cross ? made[s - 1] : rows;
                Matrix sum = Matrix::Zero(n, trace.token_count());
                Vector heads = Vector::Zero(n);
                for (int h = 0; h < c.heads(block); ++h) {
                    Matrix weights = trace.pattern(block, h);
                    if (c.attention(block).recurrence) {  // sizes of the mixing matrix, as shares
                        weights = weights.cwiseAbs();
                        for (int q = 0; q < n; ++q) weights.row(q) /= std::max(weights.row(q).sum(), 1e-20f);
                    }
                    const Matrix moved = weights * keys;
                    for (int q = 0; q < n; ++q)
                        if (!replaced.head(block, h, q)) {
                            sum.row(q) += moved.row(q);
                            heads[q] += 1;
                        }
                }
                for (int q = 0; q < n; ++q)
                    if (heads[q] > 0) rows.row(q) = 0.5f * rows.row(q) + 0.5f * sum.row(q) / heads[q];
            }
        }
        made.push_back(rows);
    }
    return made;
}

struct Case {
    std::shared_ptr<const Trace> trace;
    Change change;
    int stack, token;  // traced from its top
};

float apart(const Matrix& a, const Matrix& b) { return (a - b).cwiseAbs().maxCoeff(); }

Rollout graph_of(const Case& of, Origins by, ThreadPool& pool) {
    const auto found =
        answer_rollout(Runs{*of.trace}, RolloutRequest{{of.stack, {}}, of.token, by, {}}, pool, nullptr);
    REQUIRE(found);
    REQUIRE(found->by == by);
    return *found;
}

/// Returns the largest difference between the views of one rollout and the product by hand.
float rollouts_apart(const Case& of, ThreadPool& pool) {
    const Trace& trace = *of.trace;
    const int n = trace.request.inputs[of.stack].size();
    const Matrix graph = graph_of(of, Origins::rollout, pool).accumulated.row(0),
                 hand = by_hand(trace, of.change, true)[of.stack].row(of.token);
    float worst = apart(graph, hand.middleCols(trace.first_token(of.stack), n));
    const Matrix whole = by_hand(trace, of.change, false)[of.stack];
    const int top = trace.config().stacks[of.stack].depth() - 1;
    worst =
        std::max(worst, apart(*shares_through(trace, of.stack, top, rollout_shares(trace, {}), pool), whole));
    const Vector flow = Eigen::Map<const Vector>(attention_flow(trace, {of.stack, {}}, of.token).data(), n);
    for (int i = 0; i < n; ++i)
        if (graph(0, i) == 0) worst = std::max(worst, flow[i]);  // no path, no flow
    if (of.stack + 1 < isize(trace.config().stacks)) return worst;
    const auto paths = *rollout_paths(trace, std::array{of.token}, pool);
    InfluenceRequest request{InfluenceMethod::rollout, {}};
    request.metric.position = of.token;
    const auto scores = influence({trace}, request, pool);
    REQUIRE(scores);
    for (int s = 0; s < isize(paths); ++s) {
        const Matrix want = whole.row(of.token).segment(trace.first_token(s), paths[s].size());
        worst =
            std::max({worst, apart(paths[s].transpose(), want), apart(scores->tokens[s].transpose(), want)});
    }
    return worst;
}

/// Compares contributions and relevance of Graph with Influence's, in models of one stack.
float others_apart(const Case& of, ThreadPool& pool) {
    const Trace& trace = *of.trace;
    const Matrix graph = graph_of(of, Origins::contribution, pool).accumulated.row(0);
    const auto paths = *contribution_paths(trace, std::array{of.token}, pool);
    float worst = apart(graph, paths[0].transpose());
    worst = std::max(worst, std::abs(graph.sum() - 1));
    if (!trace.model->has_logits()) return worst;
    const Matrix relevance = graph_of(of, Origins::relevance, pool).accumulated.row(0);
    InfluenceRequest request{InfluenceMethod::relevance, {}};
    request.metric.position = of.token;
    const auto scores = influence({trace}, request, pool);
    REQUIRE(scores);
    const Vector& tokens = scores->tokens[0];
    return std::max(worst, apart(relevance, tokens.transpose() / tokens.sum()));
}

ForwardRequest plain_request(const ModelConfig& c, std::mt19937& random) {
    ForwardRequest out;
    for (const StackConfig& stack : c.stacks) {
        std::vector<int> ids;
        for (int i = 0; i < kPathTokens; ++i) ids.push_back(2 + int(random() % unsigned(stack.vocab - 2)));
        out.inputs.push_back(request_of(ids).inputs[0]);
    }
    return out;
}

}  // namespace

TEST_CASE("paths: every view of a rollout agrees under every kind of change, in every family") {
    ThreadPool pool(2);
    const unsigned seed = new_seed();
    INFO("seed ", seed);
    std::mt19937 random(seed);
    float worst = 0, worst_other = 0;
    for (const char* name : kFamilies) {
        const auto model = reference_model(name);
        const ModelConfig& c = model->config;
        const ForwardRequest request = plain_request(c, random);
        for (const ChangeRow& row : change_rows()) {
            if (row.kind == ChangeKind::positions && c.positions == PositionScheme::none) continue;
            if (row.kind == ChangeKind::ablate_expert && !c.layer_of(0).mlp.experts) continue;
            const int layer = int(random() % unsigned(c.stacks.back().depth())),
                      count =
                          std::min(c.heads(c.blocks() - 1), c.stacks.back().layers[layer].attention.heads),
                      head = int(random() % unsigned(count));
            const LayerSpec& at = c.stacks.back().layers[layer];
            const bool softmax = row.kind == ChangeKind::score || row.kind == ChangeKind::temperature ||
                                 row.kind == ChangeKind::uniform || row.kind == ChangeKind::hard,
                       mlp = row.kind == ChangeKind::skip_mlp || row.kind == ChangeKind::patch_mlp;
            if ((softmax && at.attention.recurrence) || (mlp && at.mlp.none())) continue;
            for (const int position : {0, 1 + int(random() % (kPathTokens - 2)), kPathTokens - 1}) {
                CAPTURE(name);
                CAPTURE(row.name);
                CAPTURE(layer);
                CAPTURE(head);
                CAPTURE(position);
                ForwardRequest changed = request;
                const Change change = change_at(*model, row.kind, layer, head, position, seed);
                changed.intervention.changes.push_back(change);
                const auto trace = run_trace(model, changed, pool);
                REQUIRE_MESSAGE(trace, (trace ? std::string() : trace.error().message));
                for (int stack = 0; stack < isize(c.stacks); ++stack) {
                    const Case of{*trace, change, stack,
                                  std::min(kPathTokens - 1, position + int(random() % 3))};
                    const float rollouts = rollouts_apart(of, pool);
                    CHECK(rollouts < 1e-5f);
                    worst = std::max(worst, rollouts);
                    const bool contributes = missing_contributions(**trace).empty();
                    if (c.stacks.size() > 1 || position == 0 || !contributes) continue;
                    const float others = others_apart(of, pool);
                    CHECK(others < 1e-4f);
                    worst_other = std::max(worst_other, others);
                }
            }
        }
    }
    MESSAGE("seed ", seed, ": rollouts at most ", worst, " apart, contributions and relevance ", worst_other);
}

TEST_CASE("paths: a graph's links and residuals carry the accumulated shares, under every change") {
    ThreadPool pool(2);
    const unsigned seed = new_seed();
    INFO("seed ", seed);
    std::mt19937 random(seed);
    const auto model = reference_model("gpt2");
    for (const ChangeRow& row : change_rows()) {
        if (row.kind == ChangeKind::ablate_expert) continue;  // GPT-2 has none
        CAPTURE(row.name);
        ForwardRequest request = plain_request(model->config, random);
        request.intervention.changes.push_back(
            change_at(*model, row.kind, 1, int(random() % 3), kPathTokens - 2, seed));
        const auto trace = run_trace(model, request, pool);
        REQUIRE_MESSAGE(trace, (trace ? std::string() : trace.error().message));
        for (const Origins by : {Origins::rollout, Origins::contribution}) {
            const Graph graph = *answer_graph(Runs{**trace}, GraphRequest{{}, 1.0f, by, {}}, pool, nullptr);
            const Rollout o =
                *answer_rollout(Runs{**trace}, RolloutRequest{{}, kPathTokens - 1, by, {}}, pool, nullptr);
            for (int l = 0; l + 1 < o.accumulated.rows(); ++l) {
                Vector below = o.replaced.row(l + 1).transpose();
                for (int q = 0; q < kPathTokens; ++q) {
                    const float above = o.scales[l] * (o.accumulated(l + 1, q) - o.replaced(l + 1, q));
                    below[q] += above * graph.residual_weight[l][q];
                    for (const Link& link : graph.links[l][q]) below[link.key] += above * link.weight;
                }
                CHECK((below - o.accumulated.row(l).transpose()).cwiseAbs().maxCoeff() < 1e-5f);
            }
        }
    }
}

TEST_CASE("paths: a skipped layer passes everything on in Graph, as in Influence") {
    ThreadPool pool(1);
    const auto trace = changed(reference_model("gpt2"), {"skip-attention:1"}, pool);
    const int token = trace->output().size() - 1;
    const Rollout o =
        *answer_rollout(Runs{*trace}, RolloutRequest{{}, token, Origins::rollout, {}}, pool, nullptr);
    CHECK(apart(o.accumulated.row(1), o.accumulated.row(2)) == 0);
    CHECK(apart(o.accumulated.row(0), (*rollout_paths(*trace, std::array{token}, pool))[0].transpose()) <
          1e-6f);
    const auto bare =
        changed(reference_model("gpt2"), {"skip-attention:0", "skip-attention:1", "skip-attention:2"}, pool);
    const auto flow = attention_flow(*bare, {}, token);
    for (int i = 0; i < token; ++i) CHECK(flow[i] == 0);
    CHECK(flow[token] == doctest::Approx(1));
}

TEST_CASE("paths: a row replaced by the user comes from no token below") {
    ThreadPool pool(1);
    const auto model = reference_model("llama");
    std::mt19937 random(new_seed());
    ForwardRequest request = plain_request(model->config, random);
    const Change change = change_at(*model, ChangeKind::patch_resid, 2, 0, kPathTokens - 1, 3);
    request.intervention.changes.push_back(change);
    const auto trace = *run_trace(model, request, pool);
    REQUIRE(model->config.stacks[0].depth() == 3);
    const Rollout o = *answer_rollout(Runs{*trace}, RolloutRequest{{}, kPathTokens - 1, Origins::rollout, {}},
                                      pool, nullptr);
    // Half of the last token's last layer and its own weight are the patch, which stays there.
    CHECK(o.replaced(2, kPathTokens - 1) == o.accumulated(2, kPathTokens - 1));
    CHECK(o.replaced(0, kPathTokens - 1) == o.accumulated(2, kPathTokens - 1));
    CHECK(o.accumulated.row(0).sum() == doctest::Approx(1));
}
