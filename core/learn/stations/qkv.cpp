// Computes the station "Query, key, value".
#include "learn/stations/qkv.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>

#include "base/quoted.h"
#include "io/numbers.h"
#include "learn/heads_of_words.h"
#include "learn/normalizers.h"
#include "learn/questions/parts.h"
#include "learn/score_function_table.h"
#include "learn/stations/qkv_heads.h"
#include "learn/stations/small_vectors.h"
#include "model/heads.h"

namespace headlight::learn {

void QkvState::visit(ControlVisitor& v) {
    static constexpr std::array kSources{"head", "random", "identity", "by hand"};
    v.choose("query", "M_q", query, kSources);
    v.choose("key", "M_k", key, kSources);
    v.choose("value", "M_v", value, kSources);
    v.whole("heads", "Heads", heads, 1, 64);
    v.whole("seed", "Seed of random matrices", seed, 1, 999);
    v.flag("small", "Three numbers per word", small);
    v.numbers("vectors", vectors);
    v.numbers("m_q", m_q);
    v.numbers("m_k", m_k);
    v.numbers("m_v", m_v);
}

namespace {

std::string head_label(const StationInput& in, const HeadInputs& x, int head) {
    return "Head " + (x.small ? std::to_string(head + 1) : head_name(in.trace->config(), in.block, head));
}

std::string shape(Index rows, Index columns) {
    return "[" + std::to_string(rows) + " × " + std::to_string(columns) + "]";
}

/// Writes out each product with its shapes.
Steps shapes(const HeadInputs& x, const MatrixSources& s) {
    const Index n = x.x_q.rows(), keys = x.x_k.rows(), d = x.x_q.cols(), w = x.width, v = x.value_width;
    const Index heads = isize(x.heads);
    const auto product = [&](Index rows, Index width) { return shape(rows, d) + " · " + shape(d, width); };
    Steps out;
    out.title = "The steps and their shapes";
    out.lines = {{"q = X · M_q, " + source_name(s.query, x), product(n, w), shape(n, w)},
                 {"k = X · M_k, " + source_name(s.key, x), product(keys, w), shape(keys, w)},
                 {"v = X · M_v, " + source_name(s.value, x), product(keys, v), shape(keys, v)},
                 {"A = softmax(q kᵀ / √" + std::to_string(w) + ")", shape(n, w) + " · " + shape(w, keys),
                  shape(n, keys)},
                 {"z = A · v", shape(n, keys) + " · " + shape(keys, v), shape(n, v)},
                 {"heads side by side", std::to_string(heads) + " × " + shape(n, v), shape(n, heads * v)},
                 {"· W_O", shape(n, heads * v) + " · " + shape(heads * v, d), shape(n, d)}};
    return out;
}

/// Shows the weights of each head beside the selected one.
BarRows heads_bars(const StationInput& in, const HeadInputs& x, const std::vector<HeadOutcome>& outcomes) {
    BarRows out{x.words.keys, {}, x.words.cells};
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

/// Shows the heads of the selected token that look at different words, and their mean, which hides that.
std::optional<BarRows> heads_apart(const StationInput& in) {
    constexpr int kHeads = 4;
    const ModelConfig& c = in.trace->config();
    const int stack = c.block(in.block).stack;
    if (in.trace->request.inputs[stack].picture) return std::nullopt;
    const int query = in.query_of(in.trace->request.inputs[stack].size());
    const auto found = heads_of_words(*in.trace, stack, query, kHeads);
    if (!found) return std::nullopt;
    BarRows out{found->words, {}, {query, found->first_tokens}};
    const auto note = [](const Vector& row) { return "entropy " + decimals(entropy_bits(row), 2) + " bits"; };
    std::string all;
    for (int i = 0; i < isize(found->heads); ++i) {
        const HeadOfWord& head = found->heads[i];
        const Vector row = found->rows.row(i).transpose();
        const std::string name = head_name(c, head.head);
        out.rows.push_back({.title = "Head " + name,
                            .formula = "weight on " + said(found->words[head.word]),
                            .source = decimals(double(head.weight), 2) + ", the most of all heads",
                            .values = {row.begin(), row.end()},
                            .note = note(row)});
        all += (i ? " + " : "") + name;
    }
    float most = 0;
    for (const HeadOfWord& head : found->heads) most = std::max(most, found->mean[head.word]);
    out.rows.push_back({.title = "Their mean",
                        .formula = "(" + all + ") ÷ " + std::to_string(found->heads.size()),
                        .source = "at most " + decimals(double(most), 2) + " on any of these words",
                        .values = {found->mean.begin(), found->mean.end()},
                        .note = note(found->mean),
                        .emphasized = true});
    return out;
}

/// Says why q, k and v are three, by the head's own numbers.
Words why_three(const HeadVectors& h) {
    return {"Why three? One matrix for q and k would make scores symmetric; here their asymmetry is " +
            decimals(double(asymmetry(dot_scores(h.q, h.k))), 2) +
            ". With a v of its own, a word is found by one thing and passes on another."};
}

/// Shows the selected head with two of three matrices replaced by identities.
Table identities(const StationInput& in, const HeadInputs& x, const QkvState& state,
                 const HeadOutcome& chosen) {
    constexpr auto kIdentity = MatrixSource::identity;
    const std::array<std::pair<const char*, MatrixSources>, 5> rows{
        {{"as chosen", {state.query, state.key, state.value}},
         {"M_q alone", {state.query, kIdentity, kIdentity}},
         {"M_k alone", {kIdentity, state.key, kIdentity}},
         {"M_v alone", {kIdentity, kIdentity, state.value}},
         {"none of them", {kIdentity, kIdentity, kIdentity}}}};
    Table out;
    out.title = (x.width < x.x_q.cols() ? "When the other two only cut out " + kept_numbers(x) + ", "
                                        : std::string("When the other two matrices are the identity, ")) +
                head_label(in, x, x.heads.front());
    out.columns = {"kept",           "asymmetry of q·k",         "weight on itself",
                   "entropy (bits)", "weight on other keys now", "change of z"};
    for (const auto& [name, sources] : rows) {
        const int head = x.heads.front();
        const HeadVectors h = head_vectors(in, x, head, sources, state);
        std::vector<double> numbers{x.words.one_text ? double(asymmetry(dot_scores(h.q, h.k)))
                                                     : std::numeric_limits<double>::quiet_NaN()};
        const std::vector<double> more = changes(outcome_of(in, x, head, sources, state), chosen, x);
        numbers.insert(numbers.end(), more.begin(), more.end());
        add_row(out, name, numbers, 2);
    }
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
            counted(3, 1),
            counted(3, 1),
            std::move(whole),
            true,
            by_hand ? key : "",
            std::nullopt};
}

/// Returns the key with the most weight for the selected query.
int best_key(const QueryKey& words, const HeadOutcome& outcome) {
    Index best = 0;
    outcome.weights.row(words.query).maxCoeff(&best);
    return narrow<int>(best);
}

/// Returns the weights, NaN for masked keys.
Matrix allowed_weights(const HeadOutcome& outcome) {
    return outcome.scores.array().isNaN().select(outcome.scores, outcome.weights);
}

/// Shows the query beside the keys with the highest scores.
Grid why_there(const HeadInputs& x, const HeadVectors& first, const HeadOutcome& outcome) {
    constexpr int kKeys = 3;
    const QueryKey& w = x.words;
    const auto scores = outcome.scores.row(w.query);
    std::vector<int> keys;
    for (int i = 0; i < isize(w.keys); ++i)
        if (!std::isnan(scores[i])) keys.push_back(i);
    std::stable_sort(keys.begin(), keys.end(), [&](int a, int b) { return scores[a] > scores[b]; });
    keys.resize(std::min(kKeys, isize(keys)));
    Grid out{
        .title = "Why there: the query of " + said(w.queries[w.query]) +
                 " and the keys with the highest scores. Like colors raise a score, unlike ones lower it",
        .columns_are = "number",
        .rows = {"q of " + w.queries[w.query]},
        .columns = counted(x.width, 1),
        .values = Matrix(1 + isize(keys), x.width),
        .diverging = true,
        .marked_row = 0};
    out.values.row(0) = first.q.row(w.query);
    for (int i = 0; i < isize(keys); ++i) {
        out.values.row(1 + i) = first.k.row(keys[i]);
        out.rows.push_back("k of " + w.keys[keys[i]] + ", score " + decimals(double(scores[keys[i]]), 2));
    }
    return out;
}

/// Shows the numbers themselves: X and the matrices if they are small, q, k and v of the first head.
std::vector<Block> grids(const HeadInputs& x, const QkvState& state, const HeadVectors& first,
                         const HeadOutcome& outcome) {
    std::vector<Block> out;
    const QueryKey& w = x.words;
    const int best = best_key(w, outcome);
    if (x.small)
        out = {words_grid("X: three numbers per word", w.keys, x.x_k, "vectors", w.query),
               matrix_grid("M_q", "m_q", state.query, 0, x, state),
               matrix_grid("M_k", "m_k", state.key, 1, x, state),
               matrix_grid("M_v", "m_v", state.value, 2, x, state)};
    out.push_back(words_grid("q", w.queries, first.q, "", w.query));
    out.push_back(words_grid("k", w.keys, first.k, "", best));
    out.push_back(words_grid("v", w.keys, first.v, "", best));
    out.push_back(
        Grid{"Weights A", "query", "key", w.queries, w.keys, allowed_weights(outcome), false, "", w.query});
    out.push_back(words_grid("z = A · v", w.queries, outcome.z, "", w.query));
    return out;
}

/// Shows the heads' output after W_O: small vectors, else their lengths at the selected query.
Block what_is_added(const StationInput& in, const HeadInputs& x, const std::vector<HeadOutcome>& outcomes,
                    ThreadPool& pool) {
    const Matrix together = project_heads(in, x, x.heads, outcomes, pool);
    const int query = x.words.query;
    if (x.small)
        return words_grid("Heads side by side, W_O the identity", x.words.queries, together, "", query);
    Table out;
    out.title = "What reaches " + x.words.queries[query] + " through W_O";
    out.columns = {"", "length of z", "length of z · W_O"};
    for (int i = 0; i < isize(outcomes); ++i)
        add_row(out, head_label(in, x, x.heads[i]),
                {double(outcomes[i].z.row(query).norm()),
                 double(project_heads(in, x, {x.heads[i]}, {outcomes[i]}, pool).row(query).norm())},
                2);
    double squares = 0;
    for (const HeadOutcome& outcome : outcomes) squares += double(outcome.z.row(query).squaredNorm());
    add_row(out, "side by side", {std::sqrt(squares), double(together.row(query).norm())}, 2);
    return out;
}

}  // namespace

Result<Page> qkv_page(const StationInput& in, const QkvState& state, ThreadPool& pool) {
    const HeadInputs x =
        state.small || !has_head(in) ? small_inputs(in, state) : model_inputs(in, state, pool);
    const MatrixSources sources{state.query, state.key, state.value};
    std::vector<HeadOutcome> outcomes;
    for (const int head : x.heads) outcomes.push_back(outcome_of(in, x, head, sources, state));
    Page page;
    page.note = x.small ? x.words.origin : x.words.origin + ", " + in.trace->model->name;
    page.limits = {{"heads", x.small ? 3 : in.trace->config().heads(in.block)}};
    const HeadVectors first = head_vectors(in, x, x.heads.front(), sources, state);
    page.blocks = {heads_bars(in, x, outcomes), why_there(x, first, outcomes.front())};
    if (x.words.one_text) page.blocks.push_back(why_three(first));
    if (!x.small)
        if (auto apart = heads_apart(in)) page.blocks.push_back(std::move(*apart));
    page.main = isize(page.blocks);
    page.blocks.push_back(shapes(x, sources));
    page.blocks.push_back(identities(in, x, state, outcomes.front()));
    for (Block& block : grids(x, state, first, outcomes.front())) page.blocks.push_back(std::move(block));
    page.blocks.push_back(what_is_added(in, x, outcomes, pool));
    return page;
}

}  // namespace headlight::learn
