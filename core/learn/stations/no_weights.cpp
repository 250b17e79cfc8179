// Computes the station "Attention without weights".
#include "learn/stations/no_weights.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <variant>

#include "analysis/comparison/words.h"
#include "analysis/prediction/predict.h"
#include "base/draws.h"
#include "base/quoted.h"
#include "learn/nearest_tokens.h"
#include "learn/normalizers.h"
#include "learn/once_per_model.h"
#include "learn/page_parts.h"
#include "learn/questions/parts.h"
#include "learn/score_function_table.h"
#include "learn/stations/embedding_space.h"
#include "learn/stations/first_head.h"
#include "learn/stations/small_vectors.h"
#include "learn/word_senses.h"
#include "model/heads.h"

namespace headlight::learn {

void NoWeightsState::visit(ControlVisitor& v) {
    static constexpr std::array kVectors{"embeddings", "contextual", "by hand"};
    static constexpr std::array kScores{"V·Vᵀ", "÷√d", "cosine"};
    static constexpr std::array kNormalizers{"softmax", "sum"};
    v.choose("vectors", "Vectors", vectors, kVectors);
    v.choose("scores", "Scores", scores, kScores);
    v.choice("normalizer", "Normalizer", normalizer, kNormalizers);
    v.whole("layer", "After layer", layer, 1, 200);
    v.whole("shuffle", "Shuffle", shuffle, 0, 99);
    v.flag("whole_words", "Whole words", whole_words);
    v.numbers("by_hand", by_hand);
    v.text("near", "Neighbors of", near);
}

namespace {

struct WordVectors {
    std::vector<std::string> words;
    Matrix vectors;  // [words, d]
    int query = 0;
    Cells cells;         // their tokens in the sentence
    std::string origin;  // "after layer 2"
    bool by_hand = false;
    std::vector<std::string> made_up = {};  // words whose vectors say nothing about them
};

Matrix scores_of(const Matrix& v, NoWeightsState::Scores scores) {
    switch (scores) {
        case NoWeightsState::Scores::plain:
            return dot_scores(v, v);
        case NoWeightsState::Scores::scaled:
            return scaled_dot_scores(v, v);
        case NoWeightsState::Scores::cosine:
            return cosines(v, v);
    }
    return {};
}

WordVectors typed_by_hand(const StationInput& in, const NoWeightsState& state) {
    WordVectors out;
    out.words = words_of(in.text);
    out.vectors = edited(state.by_hand, small_vectors(out.words));
    out.query = chosen_word(in, out.words);
    out.cells = cells_of_words(in, out.words);
    out.origin = small_origin(out.words);
    out.by_hand = true;
    out.made_up = state.by_hand.empty() ? unknown_words(out.words) : std::vector<std::string>();
    return out;
}

/// [tokens, d] of the first stack, and their origin.
Matrix token_vectors(const Trace& trace, const NoWeightsState& state, std::string& origin) {
    const StackActivations& stack = trace.stack(0);
    const Linear& table = trace.model->weights.stacks.front().token_embedding;
    if (state.vectors == NoWeightsState::Vectors::embeddings && table) {
        origin = "embeddings of " + trace.model->name;
        return table_rows(table, trace.request.inputs.front().ids) * trace.config().embed_scale;
    }
    const int layer = std::min(state.layer, isize(stack.layers));
    origin = trace.model->name + " after layer " + std::to_string(layer) + " of " +
             std::to_string(isize(stack.layers));
    return trace.resid_post(0, layer - 1).all();
}

/// Averages the vectors of each word's tokens.
Matrix means(const Matrix& vectors, const std::vector<int>& words, int count) {
    Matrix out = Matrix::Zero(count, vectors.cols());
    std::vector<int> tokens(count);
    for (int i = 0; i < isize(words); ++i) {
        out.row(words[i]) += vectors.row(i);
        ++tokens[words[i]];
    }
    for (int w = 0; w < count; ++w) out.row(w) /= float(tokens[w]);
    return out;
}

/// Returns the first token of each word.
std::vector<int> first_tokens(const std::vector<int>& words, int count) {
    std::vector<int> out(count);
    for (int i = isize(words) - 1; i >= 0; --i) out[words[i]] = i;
    return out;
}

WordVectors of_model(const StationInput& in, const NoWeightsState& state) {
    const Sequence& sequence = in.trace->request.inputs.front();
    WordVectors out;
    out.words = token_labels(*in.trace, 0);
    out.vectors = token_vectors(*in.trace, state, out.origin);
    out.query = in.query_of(isize(out.words));
    if (reads_text_tokens(in))
        out.cells = cells_of(in.query_of(in.trace->query_count(in.block)), isize(out.words));
    if (state.whole_words && !sequence.picture) {
        const std::vector<int> numbers = word_numbers(sequence.tokens);
        out.words = join_labels(out.words, numbers);
        out.vectors = means(out.vectors, numbers, isize(out.words));
        out.query = numbers[out.query];
        if (!out.cells.keys.empty()) out.cells.keys = first_tokens(numbers, isize(out.words));
    }
    const int kept = std::min(kMaxWords, isize(out.words));
    out.words.resize(kept);
    out.vectors = out.vectors.topRows(kept).eval();
    out.cells.keys.resize(out.cells.keys.empty() ? 0 : kept);
    out.query = std::min(out.query, kept - 1);
    return out;
}

/// Flattens the model's own vectors to three numbers per word, for words that have none here.
WordVectors flattened(const StationInput& in, NoWeightsState state) {
    state.vectors = NoWeightsState::Vectors::embeddings;
    WordVectors out = of_model(in, state);
    const Flattened three = flatten(out.vectors);
    out.vectors = edited(state.by_hand, three.vectors);
    out.origin = "three numbers per word, which keep " + decimals(100 * double(three.kept), 0) +
                 " % of the spread of " + out.origin;
    out.by_hand = true;
    return out;
}

WordVectors word_vectors(const StationInput& in, const NoWeightsState& state) {
    const bool has_vectors = in.trace && in.trace->has_weights();
    if (has_vectors && state.vectors != NoWeightsState::Vectors::by_hand) return of_model(in, state);
    const bool known = unknown_words(words_of(in.text)).empty();
    return known || !has_vectors || in.trace->request.inputs.front().picture ? typed_by_hand(in, state)
                                                                             : flattened(in, state);
}

void reorder(WordVectors& words, const std::vector<int>& order) {
    const WordVectors before = words;
    for (int i = 0; i < isize(order); ++i) {
        words.words[i] = before.words[order[i]];
        words.vectors.row(i) = before.vectors.row(order[i]);
        if (!words.cells.keys.empty()) words.cells.keys[i] = before.cells.keys[order[i]];
        if (order[i] == before.query) words.query = i;
    }
}

/// Returns the positions of the words in the selected order, or in the first random one.
std::vector<int> order_of(const NoWeightsState& state, int count) {
    Draws draws(state.shuffle ? state.shuffle : 1);
    return shuffled(count, draws);
}

Grid grid(const std::string& title, const WordVectors& w, const Matrix& values, bool diverging) {
    Grid out{title, "word", "word", w.words, w.words, values, diverging, "", w.query};
    return out;
}

/// Shows the scores of the selected word, then its weights.
BarRows bars(const WordVectors& w, const PlainAttention& a, const NoWeightsState& state) {
    static constexpr std::array kFormulas{"S = V · Vᵀ", "S = V · Vᵀ / √d", "S = cosine(V, V)"};
    const NormalizerKind& kind = normalizers()[state.normalizer];
    BarRows::Row scores{.title = "Scores of " + w.words[w.query],
                        .formula = kFormulas[static_cast<int>(state.scores)],
                        .source = "no weights are learned",
                        .all = a.scores};
    scores.values.assign(a.scores.row(w.query).begin(), a.scores.row(w.query).end());
    BarRows::Row row = bar_row(a.scores, a.weights, w.query);
    row.title = w.words[w.query] + " looks at";
    row.formula = "A = " + std::string(kind.formula);
    row.emphasized = true;
    return {w.words, {std::move(scores), std::move(row)}, w.cells};
}

/// Holds the other word from which Y of the selected one takes most; of equal ones, toward which it moves
/// most.
struct Move {
    int word = -1;
    float before = 0, after = 0;  // cosine of V, and of Y, with V of that word
    bool alone = false;           // no other word gives as much
};
Move strongest_move(const WordVectors& w, const PlainAttention& a) {
    constexpr float kAlike = 0.005f;
    const Eigen::RowVectorXf before = cosines(w.vectors.row(w.query), w.vectors).row(0),
                             after = cosines(a.mixed.row(w.query), w.vectors).row(0);
    Move out;
    for (int i = 0; i < isize(w.words); ++i) {
        if (w.words[i] == w.words[w.query]) continue;
        const float heavier = out.word < 0 ? 1 : a.weights(w.query, i) - a.weights(w.query, out.word);
        const bool again = out.word >= 0 && w.words[i] == w.words[out.word];
        if (std::abs(heavier) < kAlike && !again) out.alone = false;
        if (heavier < -kAlike || again) continue;
        if (heavier >= kAlike) out.alone = true;
        const bool nearer = after[i] - before[i] > out.after - out.before;
        if (heavier >= kAlike || nearer) out = {i, before[i], after[i], out.alone};
    }
    return out;
}

/// Writes out W₁ V₁ + W₂ V₂ + … = Y of the selected word: the largest terms, then the rest.
Steps mixture(const WordVectors& w, const PlainAttention& a) {
    constexpr int kTerms = 4;
    Steps out;
    out.title = "Y of " + w.words[w.query] + ": every V times its weight, added up";
    Eigen::RowVectorXf rest = a.mixed.row(w.query);
    const Vector weights = a.weights.row(w.query).transpose();
    for (const int i : ranked_ids(weights.cwiseAbs(), std::min(kTerms, isize(w.words)))) {
        const Eigen::RowVectorXf term = weights[i] * w.vectors.row(i);
        rest -= term;
        out.lines.push_back({w.words[i],
                             decimals(double(weights[i]), 2) + " · " + vector_text(w.vectors.row(i)),
                             vector_text(term)});
    }
    if (isize(w.words) > kTerms) out.lines.push_back({"all others", "", vector_text(rest)});
    out.lines.push_back({"Y", "the sum", vector_text(a.mixed.row(w.query))});
    return out;
}

/// Returns the asymmetry of the open head's q·k on this sentence; NaN in cross-attention.
double head_asymmetry(const StationInput& in) {
    const bool has = in.trace && in.trace->has_scores(in.block) &&
                     in.trace->query_count(in.block) == in.trace->key_count(in.block);
    if (!has) return std::numeric_limits<double>::quiet_NaN();
    const Index n = std::min<Index>(kMaxWords, in.trace->query_count(in.block));
    return double(asymmetry(
        dot_scores(in.trace->q(in.block, in.head).topRows(n), in.trace->k(in.block, in.head).topRows(n))));
}

/// Returns the weight of a word on itself and its repeats, averaged over the words.
float own_weight(const WordVectors& w, const Matrix& weights) {
    float sum = 0;
    for (int i = 0; i < isize(w.words); ++i)
        for (int j = 0; j < isize(w.words); ++j)
            if (w.words[i] == w.words[j]) sum += weights(i, j);
    return sum / float(isize(w.words));
}

Table numbers(const StationInput& in, const WordVectors& w, const PlainAttention& a,
              const NoWeightsState& state) {
    Table out;
    out.title = "In numbers";
    out.columns = {"", "value"};
    add_row(out, "weight of a word on itself and its repeats, mean", {double(own_weight(w, a.weights))}, 2);
    add_row(out, "largest change of any Y when the words are shuffled",
            {double(change_by_shuffling(w.vectors, order_of(state, isize(w.words)), state.scores,
                                        state.normalizer))},
            4);
    if (const Move move = strongest_move(w, a); move.word >= 0) {
        const std::string pair = "cosine of " + said(w.words[w.query]) + " with " + said(w.words[move.word]);
        add_row(out, pair + " before, of V", {double(move.before)}, 2);
        add_row(out, pair + " after, of Y", {double(move.after)}, 2);
    }
    add_row(out, "asymmetry of V·Vᵀ (0: symmetric, 1: opposite)", {double(asymmetry(a.scores))}, 2);
    if (const double of_head = head_asymmetry(in); !std::isnan(of_head))
        add_row(out, "asymmetry of q·k, head " + head_name(in.trace->config(), in.block, in.head), {of_head},
                2);
    return out;
}

/// Tabulates the words that attention raises behind “mole” in three senses; none if the model cannot tell.
Result<std::optional<Table>> mole_table(const StationInput& in, ThreadPool& pool) {
    static OncePerModel<std::monostate, std::optional<std::vector<WordSense>>> measured;
    static const std::vector<std::string> sentences{
        "The mole dug a tunnel. Lily thought about the mole. It came from the",
        "The mole was on her arm. Lily thought about the mole. It came from the",
        "The mole is how we count atoms. Lily thought about the mole. It came from the"};
    const auto& model = in.trace->model;
    TRY(const auto senses,
        measured.of(model, {}, [&] { return word_senses(model, sentences, pool, in.cancel); }));
    if (!senses) return std::optional<Table>();
    Table out{
        .title = "The last “the” begins as one vector; what attention adds to it raises these words most",
        .columns = {"", "words"}};
    for (const WordSense& sense : *senses) {
        std::string words;
        for (const std::string& word : sense.raised) words += (words.empty() ? "" : ", ") + word;
        add_cells(out, {words_cell(sense.sentence), words_cell(words)});
    }
    return std::optional(std::move(out));
}

Words finding(const WordVectors& w, const PlainAttention& a) {
    const float own = own_weight(w, a.weights), spread = a.weights.maxCoeff() - a.weights.minCoeff();
    if (a.weights.minCoeff() < 0)
        return {
            "Some scores are below 0, and so are their weights: a plain sum is no safe normalizer. Softmax "
            "gives every word a share."};
    if (isize(w.words) == 1) return {"One word alone can look only at itself: type another."};
    const std::string share = "A word gives itself " + decimals(100 * double(own), 0) + " % of its weight";
    if (own > 0.9f)
        return {share +
                ": A is nearly the identity and Y nearly V. A vector is most like itself; it takes "
                "matrices, as in the next station, to look elsewhere."};
    if (spread < 0.2f) return {share + ": all weights are nearly even, Y nearly the mean of all words."};
    if (!w.made_up.empty())
        return {
            share + ". But " + std::to_string(w.made_up.size()) + " words, " + said(w.made_up.front()) +
            " among them, have made-up numbers here: what they look at means nothing. Change the numbers, "
            "or open a model to get its own."};
    const Move move = strongest_move(w, a);
    constexpr float kSeen = 0.005f;
    const std::string moved = move.word < 0 || move.after < move.before + kSeen
                                  ? " stays about where it was."
                                  : " moves toward " + said(w.words[move.word]) + ".";
    return {share + " and takes the rest from words with similar vectors: " + said(w.words[w.query]) + moved};
}

}  // namespace

PlainAttention attend_plainly(const Matrix& vectors, NoWeightsState::Scores scores, int normalizer) {
    PlainAttention out;
    out.scores = scores_of(vectors, scores);
    out.weights = normalize_rows(normalizers()[normalizer], out.scores);
    out.mixed = out.weights * vectors;
    return out;
}

float change_by_shuffling(const Matrix& vectors, const std::vector<int>& order, NoWeightsState::Scores scores,
                          int normalizer) {
    const Matrix before = attend_plainly(vectors, scores, normalizer).mixed;
    const Matrix after = attend_plainly(vectors(order, Eigen::all), scores, normalizer).mixed;
    return (after - before(order, Eigen::all)).cwiseAbs().maxCoeff();
}

std::optional<TellingCell> telling_move(const Trace& trace, std::optional<AttentionHead> chosen,
                                        ThreadPool& pool) {
    std::optional<TellingCell> out = telling_look(trace, chosen, pool);
    const Sequence& read = trace.request.inputs.front();
    if (!out || !trace.model->tokenizer || !trace.has_weights() || read.picture) return out;
    StationInput in;
    in.trace = &trace;
    in.text = (*trace.model->tokenizer)->decode(read.ids);
    WordVectors w = word_vectors(in, {});
    const PlainAttention a = attend_plainly(w.vectors, NoWeightsState().scores, NoWeightsState().normalizer);
    float most = 0;
    for (w.query = 0; w.query < isize(w.cells.keys); ++w.query) {
        const Move move = strongest_move(w, a);
        if (w.cells.keys[w.query] < 0 || !is_word(w.words[w.query]) || !move.alone) continue;
        if (move.after - move.before <= most || !is_word(w.words[move.word])) continue;
        most = move.after - move.before;
        out->query = w.cells.keys[w.query];
    }
    return out;
}

Result<Page> no_weights_page(const StationInput& in, const NoWeightsState& state, ThreadPool& pool) {
    WordVectors w = word_vectors(in, state);
    if (state.shuffle) reorder(w, order_of(state, isize(w.words)));
    const PlainAttention a = attend_plainly(w.vectors, state.scores, state.normalizer);
    Page page;
    page.note = w.origin + (state.shuffle ? ", shuffled" : "");
    if (in.trace) page.limits = {{"layer", isize(in.trace->stack(0).layers)}};
    if (state.vectors != NoWeightsState::Vectors::contextual) page.idle = {{"layer", "vectors=contextual"}};
    page.blocks = {finding(w, a), bars(w, a, state)};
    if (w.by_hand)  // edited vectors are in the order of typing
        page.blocks.push_back(words_grid("V", w.words, w.vectors, state.shuffle ? "" : "by_hand", w.query));
    page.blocks.push_back(grid("Weights A", w, a.weights, state.normalizer == 1));
    page.blocks.push_back(mixture(w, a));
    page.main = isize(page.blocks);
    page.blocks.push_back(numbers(in, w, a, state));
    if (in.trace && state.vectors == NoWeightsState::Vectors::contextual) {
        TRY(auto moles, mole_table(in, pool));
        if (moles) page.blocks.push_back(*std::move(moles));
    }
    if (in.model)
        for (Block& block : embedding_space(*in.model, state.near, pool))
            page.blocks.push_back(std::move(block));
    return page;
}

}  // namespace headlight::learn
