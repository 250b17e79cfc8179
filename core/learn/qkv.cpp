#include "learn/qkv.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "analysis/normalizers.h"
#include "analysis/score_functions.h"
#include "base/draws.h"
#include "base/quoted.h"
#include "learn/query_key.h"
#include "learn/small_vectors.h"
#include "model/heads.h"

namespace headlight::learn {

void QkvState::visit(ControlVisitor& v) {
    static constexpr std::array kSources{"head", "random", "identity", "by hand"};
    v.choose("query", "M_q", query, kSources);
    v.choose("key", "M_k", key, kSources);
    v.choose("value", "M_v", value, kSources);
    v.whole("heads", "Heads", heads, 1, 64);
    v.whole("seed", "Seed of random matrices", seed, 1, 999);
    v.flag("small", "Three numbers a word", small);
    v.numbers("vectors", vectors);
    v.numbers("m_q", m_q);
    v.numbers("m_k", m_k);
    v.numbers("m_v", m_v);
}

namespace {

constexpr std::array<const char*, 4> kSourceNames{"the head", "random", "identity", "by hand"};

/// What goes through the matrices: X of the queries and of the keys, and which columns of M a head has.
struct HeadInputs {
    QueryKey words;  // its q and k are those of the first head
    Matrix x_q, x_k;
    std::vector<int> heads;  // numbers of the heads that stand side by side
    int width = 0;           // d_head
    bool small = false;
};

/// q, k and v of one head.
struct HeadVectors {
    Matrix q, k, v;
};

/// M_q, M_k and M_v: a row of the table of what is compared.
struct Sources {
    MatrixSource query, key, value;
};

HeadInputs small_inputs(const StationInput& in, const QkvState& state) {
    HeadInputs out;
    out.words = small_query_key(in, state.vectors);
    out.x_q = out.x_k = out.words.q;
    const int heads = state.heads >= 3 ? 3 : 1;  // three numbers are cut into one part or three
    for (int h = 0; h < heads; ++h) out.heads.push_back(h);
    out.width = 3 / heads;
    out.small = true;
    return out;
}

HeadInputs model_inputs(const StationInput& in, const QkvState& state, ThreadPool& pool) {
    const Trace& trace = *in.trace;
    const ModelConfig& config = trace.config();
    const AttentionBlock block = config.block(in.block);
    const Norm& norm = trace.weights(in.block).norm;
    HeadInputs out;
    out.words = head_query_key(in);
    const Matrix resid = trace.resid_before(in.block, pool).topRows(out.words.q.rows());
    const bool enters_normed = norm && config.norm_place == NormPlace::before;
    out.x_q = enters_normed ? apply_norm(config, norm, resid, pool) : resid;
    out.x_k = out.words.one_text
                  ? out.x_q
                  : Matrix(trace.stack(block.key_stack()).normalized.topRows(out.words.k.rows()));
    for (int i = 0; i < std::min(state.heads, config.heads(in.block)); ++i)
        out.heads.push_back((in.head + i) % config.heads(in.block));
    out.width = config.d_head(in.block);
    return out;
}

/// Columns of M [d, d_head] for one head: its part of the whole matrix. `which`: 0 M_q, 1 M_k, 2 M_v.
Matrix matrix_of(MatrixSource source, const HeadInputs& x, int head, int which, const QkvState& state) {
    const Index d = x.x_q.cols(), first = Index(head) * x.width;
    if (source == MatrixSource::random) {
        Draws draws((state.seed * 3 + which) * 1000 + head);
        return normal_matrix(d, x.width, 1 / std::sqrt(double(d)), draws);
    }
    if (source != MatrixSource::by_hand || !x.small) return identity_columns(d, x.width, first);
    const std::array<const std::vector<float>*, 3> by_hand{&state.m_q, &state.m_k, &state.m_v};
    return edited(*by_hand[which], identity_columns(d, d)).middleCols(first, x.width);
}

HeadVectors vectors_of(const StationInput& in, const HeadInputs& x, int head, const Sources& s,
                       const QkvState& state) {
    const auto made = [&](MatrixSource source, const Matrix& from, int which, const auto& of_head) -> Matrix {
        if (source == MatrixSource::head && !x.small) return of_head().topRows(from.rows());
        return from * matrix_of(source, x, head, which, state);
    };
    return {made(s.query, x.x_q, 0, [&] { return in.trace->q(in.block, head); }),
            made(s.key, x.x_k, 1, [&] { return in.trace->k(in.block, head); }),
            made(s.value, x.x_k, 2, [&] { return in.trace->v(in.block, head); })};
}

HeadOutcome outcome_of(const HeadVectors& h, const HeadInputs& x) {
    return head_outcome(h.q, h.k, h.v, x.words.allowed);
}

std::string head_label(const StationInput& in, const HeadInputs& x, int head) {
    return "Head " + (x.small ? std::to_string(head + 1) : head_name(in.trace->config(), in.block, head));
}

std::string source_name(MatrixSource source, const HeadInputs& x) {
    if (x.small && source == MatrixSource::head) return "identity";
    if (!x.small && source == MatrixSource::by_hand) return "identity";
    return kSourceNames[static_cast<int>(source)];
}

std::string shape(Index rows, Index columns) {
    return "[" + std::to_string(rows) + " × " + std::to_string(columns) + "]";
}

/// Each product with its shapes.
Steps shapes(const HeadInputs& x, const Sources& s) {
    const Index n = x.x_q.rows(), keys = x.x_k.rows(), d = x.x_q.cols(), w = x.width;
    const Index heads = isize(x.heads);
    const auto product = [&](Index rows) { return shape(rows, d) + " · " + shape(d, w); };
    Steps out;
    out.title = "The steps and their shapes";
    out.lines = {{"q = X · M_q, " + source_name(s.query, x), product(n), shape(n, w)},
                 {"k = X · M_k, " + source_name(s.key, x), product(keys), shape(keys, w)},
                 {"v = X · M_v, " + source_name(s.value, x), product(keys), shape(keys, w)},
                 {"A = softmax(q kᵀ / √" + std::to_string(w) + ")", shape(n, w) + " · " + shape(w, keys),
                  shape(n, keys)},
                 {"z = A · v", shape(n, keys) + " · " + shape(keys, w), shape(n, w)},
                 {"heads side by side", std::to_string(heads) + " × " + shape(n, w), shape(n, heads * w)},
                 {"· W_O", shape(n, heads * w) + " · " + shape(heads * w, d), shape(n, d)}};
    return out;
}

/// The weights of each head that stands beside the chosen one.
BarRows heads_bars(const StationInput& in, const HeadInputs& x, const std::vector<HeadOutcome>& outcomes) {
    BarRows out{x.words.keys, {}};
    for (int i = 0; i < isize(outcomes); ++i) {
        BarRows::Row row = bar_row(outcomes[i].scores, outcomes[i].weights, x.words.query);
        row.title = head_label(in, x, x.heads[i]);
        row.formula = "softmax(q · k / √" + std::to_string(x.width) + ")";
        row.source = "Vaswani et al. 2017";
        row.emphasized = i == 0;
        out.rows.push_back(std::move(row));
    }
    return out;
}

std::vector<double> changes(const HeadOutcome& a, const HeadOutcome& chosen, const HeadInputs& x) {
    const bool square = x.words.one_text && x.x_q.rows() == x.x_k.rows();
    const double none = std::numeric_limits<double>::quiet_NaN();
    return {square ? double(mean_diagonal(a.weights)) : none,
            double(entropy_bits(a.weights.row(x.words.query).transpose())),
            double(moved_weight(a.weights, chosen.weights)),
            double((a.z - chosen.z).norm() / std::max(chosen.z.norm(), 1e-20f))};
}

/// What two of three identities leave of the chosen head.
Table identities(const StationInput& in, const HeadInputs& x, const QkvState& state,
                 const HeadOutcome& chosen) {
    constexpr auto kIdentity = MatrixSource::identity;
    const std::array<std::pair<const char*, Sources>, 5> rows{
        {{"as chosen", {state.query, state.key, state.value}},
         {"M_q alone", {state.query, kIdentity, kIdentity}},
         {"M_k alone", {kIdentity, state.key, kIdentity}},
         {"M_v alone", {kIdentity, kIdentity, state.value}},
         {"none: all identity", {kIdentity, kIdentity, kIdentity}}}};
    Table out;
    out.title = "When the other two matrices are the identity, " + head_label(in, x, x.heads.front());
    out.columns = {"kept",           "asymmetry of q·k",         "weight on itself",
                   "entropy (bits)", "weight on other keys now", "change of z"};
    for (const auto& [name, sources] : rows) {
        const HeadVectors h = vectors_of(in, x, x.heads.front(), sources, state);
        std::vector<double> numbers{x.words.one_text ? double(asymmetry(dot_scores(h.q, h.k)))
                                                     : std::numeric_limits<double>::quiet_NaN()};
        const std::vector<double> more = changes(outcome_of(h, x), chosen, x);
        numbers.insert(numbers.end(), more.begin(), more.end());
        add_row(out, name, numbers, 2);
    }
    return out;
}

Grid words_grid(const std::string& title, const std::vector<std::string>& words, const Matrix& values,
                const std::string& editable, int marked) {
    Grid out{title, "word", "number", words, {}, values, true, editable, marked};
    for (int c = 0; c < values.cols(); ++c) out.columns.push_back(std::to_string(c + 1));
    return out;
}

Grid matrix_grid(const std::string& name, const std::string& key, MatrixSource source, int which,
                 const HeadInputs& x, const QkvState& state) {
    Matrix whole(3, 3);
    for (const int head : x.heads)
        whole.middleCols(Index(head) * x.width, x.width) = matrix_of(source, x, head, which, state);
    const bool by_hand = source == MatrixSource::by_hand;
    return {name + ", " + source_name(source, x),
            "from",
            "to",
            {"1", "2", "3"},
            {"1", "2", "3"},
            std::move(whole),
            true,
            by_hand ? key : "",
            std::nullopt};
}

/// The numbers themselves: X and the matrices where they are small, q, k and v of the first head.
std::vector<Block> grids(const HeadInputs& x, const QkvState& state, const HeadVectors& first,
                         const HeadOutcome& outcome) {
    std::vector<Block> out;
    const QueryKey& w = x.words;
    if (x.small)
        out = {words_grid("X: three numbers a word", w.keys, x.x_k, "vectors", w.query),
               matrix_grid("M_q", "m_q", state.query, 0, x, state),
               matrix_grid("M_k", "m_k", state.key, 1, x, state),
               matrix_grid("M_v", "m_v", state.value, 2, x, state)};
    out.push_back(words_grid("q", w.queries, first.q, "", w.query));
    out.push_back(words_grid("k", w.keys, first.k, "", 0));
    out.push_back(words_grid("v", w.keys, first.v, "", 0));
    out.push_back(Grid{"Weights A", "query", "key", w.queries, w.keys, outcome.weights, false, "", w.query});
    out.push_back(words_grid("z = A · v", w.queries, outcome.z, "", w.query));
    return out;
}

/// Heads side by side through W_O, [queries, d_model]; W_O is the identity of small vectors.
Matrix through_output(const StationInput& in, const HeadInputs& x, const std::vector<HeadOutcome>& outcomes,
                      ThreadPool& pool) {
    const Index all = x.small ? 3 : Index(in.trace->config().heads(in.block)) * x.width;
    Matrix z = Matrix::Zero(x.x_q.rows(), all);
    for (int i = 0; i < isize(outcomes); ++i)
        z.middleCols(Index(x.heads[i]) * x.width, x.width) = outcomes[i].z;
    if (x.small) return z;
    AttentionWeights weights = in.trace->weights(in.block);
    weights.o.bias = nullptr;
    return project_out(weights, z, pool);
}

Words finding_of_heads(const HeadInputs& x, const HeadOutcome& first) {
    Index best = 0;
    first.weights.row(x.words.query).maxCoeff(&best);
    return {x.words.queries[x.words.query] + " asks with its q, every word answers with its k. " +
            x.words.keys[best] + " fits best and sends " +
            decimals(100 * double(first.weights(x.words.query, best)), 0) + " % of what arrives, its v."};
}

}  // namespace

Matrix identity_columns(Index d, Index columns, Index first) {
    Matrix out = Matrix::Zero(d, columns);
    for (Index c = 0; c < columns; ++c) out((first + c) % d, c) = 1;
    return out;
}

HeadOutcome head_outcome(ConstMatrixRef q, ConstMatrixRef k, ConstMatrixRef v,
                         const std::vector<std::vector<bool>>& allowed) {
    HeadOutcome out;
    out.scores = scaled_dot_scores(q, k);
    for (int i = 0; i < out.scores.rows(); ++i)
        for (int j = 0; j < out.scores.cols(); ++j)
            if (!allowed[i][j]) out.scores(i, j) = std::numeric_limits<float>::quiet_NaN();
    out.weights = normalize_rows(normalizers()[static_cast<int>(RowNormalizer::softmax)], out.scores);
    out.z = out.weights * v;
    return out;
}

float moved_weight(const Matrix& a, const Matrix& b) {
    return (a - b).cwiseAbs().sum() / 2 / float(a.rows());
}

Result<Page> qkv_page(const StationInput& in, const QkvState& state, ThreadPool& pool) {
    const HeadInputs x =
        state.small || !has_head(in) ? small_inputs(in, state) : model_inputs(in, state, pool);
    const Sources sources{state.query, state.key, state.value};
    std::vector<HeadOutcome> outcomes;
    for (const int head : x.heads) outcomes.push_back(outcome_of(vectors_of(in, x, head, sources, state), x));
    Page page;
    page.note = x.small ? "three numbers a word" : x.words.origin + ", " + in.trace->model->name;
    page.blocks = {finding_of_heads(x, outcomes.front()), shapes(x, sources), heads_bars(in, x, outcomes),
                   identities(in, x, state, outcomes.front())};
    for (Block& block : grids(x, state, vectors_of(in, x, x.heads.front(), sources, state), outcomes.front()))
        page.blocks.push_back(std::move(block));
    page.blocks.push_back(words_grid("Heads side by side, through W_O", x.words.queries,
                                     through_output(in, x, outcomes, pool), "", x.words.query));
    return page;
}

}  // namespace headlight::learn
