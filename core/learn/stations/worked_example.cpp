// Computes the station "A worked example".
#include "learn/stations/worked_example.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <sstream>

#include "base/quoted.h"
#include "io/numbers.h"
#include "learn/page_parts.h"
#include "learn/stations/small_vectors.h"

namespace headlight::learn {

namespace {

constexpr int kWorkedWords = 3, kWorkedWidth = 2;
// Scores have more digits than their exponentials, so that each written line follows from the line before.
constexpr int kScoreDigits = 5, kDigits = 3;
constexpr double kUnits = 1000;  // kDigits decimals of one

Matrix three_rows(Index cols, std::initializer_list<float> values) {
    Matrix m(kWorkedWords, cols);
    std::copy(values.begin(), values.end(), m.data());
    return m;
}

/// Labels the rows by the first three words of the user's text; numbers if it has fewer.
std::vector<std::string> row_labels(const std::string& text) {
    std::istringstream in(text);
    std::vector<std::string> out;
    for (std::string word; isize(out) < kWorkedWords && in >> word;)
        out.push_back(std::to_string(isize(out) + 1) + " " + shortened(word, 12));
    while (isize(out) < kWorkedWords) out.push_back("word " + std::to_string(isize(out) + 1));
    return out;
}

Grid number_grid(const char* title, const char* field, const Matrix& values, std::vector<std::string> rows) {
    return {.title = title,
            .rows = std::move(rows),
            .columns = counted(values.cols(), 1),
            .values = values,
            .diverging = true,
            .editable = field};
}

/// Writes "(1·1 + 0·0 + 1·0, …)": a word times a matrix.
std::string products_through(const Vector& word, const Matrix& m) {
    std::string out;
    for (Index c = 0; c < m.cols(); ++c) out += (c ? ", " : "") + written_products(word, m.col(c));
    return "(" + out + ")";
}

Steps projection_steps(const WorkedInput& in, const WorkedAttention& a) {
    Steps out{.title = "1  Query, keys and values"};
    const std::string x = numbered("x", in.query + 1);
    out.lines.push_back(
        {"q = " + x + " · M_q", products_through(in.words.row(in.query), in.m_q), written_vector(a.q)});
    for (int i = 0; i < a.k.rows(); ++i)
        out.lines.push_back({numbered("k", i + 1) + " = " + numbered("x", i + 1) + " · M_k",
                             products_through(in.words.row(i), in.m_k), written_vector(a.k.row(i))});
    for (int i = 0; i < a.v.rows(); ++i)
        out.lines.push_back({numbered("v", i + 1) + " = " + numbered("x", i + 1) + " · M_v",
                             products_through(in.words.row(i), in.m_v), written_vector(a.v.row(i))});
    return out;
}

Steps score_steps(const WorkedInput& in, const WorkedAttention& a) {
    Steps out{.title = "2  Scores: the query meets each key"};
    for (int i = 0; i < a.dots.size(); ++i)
        out.lines.push_back(
            {numbered("q · k", i + 1), written_products(a.q, a.k.row(i)), written(a.dots[i])});
    for (int i = 0; i < a.dots.size(); ++i)
        out.lines.push_back(
            {numbered("s", i + 1) + " = " + numbered("q · k", i + 1) + (in.divide ? " ÷ √2" : ""),
             written(a.dots[i], kScoreDigits) + (in.divide ? " ÷ √2" : ""),
             written(a.scores[i], kScoreDigits)});
    return out;
}

Steps softmax_steps(const WorkedAttention& a) {
    Steps out{.title = "3  Softmax: scores become weights"};
    const bool shifted = a.shift != 0;
    std::string sum;
    double added = 0;  // sums the rounded numbers, as with a pencil
    for (int i = 0; i < a.scores.size(); ++i) {
        const std::string score =
            shifted ? factor(a.scores[i], kScoreDigits) + " − " + factor(a.shift, kScoreDigits)
                    : written(a.scores[i], kScoreDigits);
        out.lines.push_back({numbered("e^s", i + 1), "e^" + (shifted ? "(" + score + ")" : score),
                             decimals(a.powers[i], kDigits)});
        sum += (i ? " + " : "") + decimals(a.powers[i], kDigits);
        added += std::round(kUnits * a.powers[i]) / kUnits;
    }
    out.lines.push_back({"sum", sum, decimals(added, kDigits)});
    for (int i = 0; i < a.weights.size(); ++i)
        out.lines.push_back({numbered("a", i + 1),
                             decimals(a.powers[i], kDigits) + " ÷ " + decimals(added, kDigits),
                             decimals(a.weights[i], kDigits)});
    return out;
}

Steps output_steps(const WorkedAttention& a) {
    Steps out{.title = "4  Output: the values, mixed by the weights"};
    for (int c = 0; c < a.v.cols(); ++c) {
        std::string sum;
        for (int i = 0; i < a.v.rows(); ++i)
            sum += (i ? " + " : "") + decimals(a.weights[i], kDigits) + "·" + factor(a.v(i, c));
        out.lines.push_back({"y, number " + std::to_string(c + 1), sum, decimals(a.output[c], 2)});
    }
    return out;
}

/// Shows the values and their mixture as arrows.
Plane mixture_plane(const WorkedAttention& a) {
    Plane out{.title = "y lies among the values; each pulls with its weight",
              .points = {},
              .arrows = true,
              .x_is = "number 1",
              .y_is = "number 2"};
    for (int i = 0; i < a.v.rows(); ++i)
        out.points.push_back(
            {numbered("v", i + 1) + "  " + decimals(a.weights[i], 2), a.v(i, 0), a.v(i, 1), false});
    out.points.push_back({"y", a.output[0], a.output[1], true});
    return out;
}

Grid slopes_grid(const WorkedAttention& a) {
    std::vector<std::string> weights, scores;
    for (int i = 0; i < a.weights.size(); ++i) {
        weights.push_back(numbered("a", i + 1));
        scores.push_back(numbered("s", i + 1));
    }
    return {.title = "Slopes ∂a ÷ ∂s",
            .rows_are = "weight",
            .columns_are = "score",
            .rows = std::move(weights),
            .columns = std::move(scores),
            .values = softmax_slopes(a.weights),
            .diverging = true};
}

Words joined_words(const WorkedAttention& a) {
    const Matrix slopes = softmax_slopes(a.weights);
    return {"Every score reaches every weight, like a fully connected layer: raise s₁, and a₁ grows by " +
            decimals(double(slopes(0, 0)), 3) + " for each 1, which the others lose (" +
            decimals(double(slopes(1, 0)), 3) + " and " + decimals(double(slopes(2, 0)), 3) + ")."};
}

}  // namespace

void WorkedExampleState::visit(ControlVisitor& v) {
    static constexpr std::array<const char*, 3> kQueries{"1", "2", "3"};
    v.choice("query", "Asking word", query, kQueries);
    v.flag("divide", "Divide by √d_k", divide);
    v.numbers("words", words);
    v.numbers("m_q", m_q);
    v.numbers("m_k", m_k);
    v.numbers("m_v", m_v);
}

WorkedInput worked_input(const WorkedExampleState& state) {
    return {.words = edited(state.words, three_rows(kWorkedWords, {1, 0, 1, 0, 1, 1, 1, 1, 0})),
            .m_q = edited(state.m_q, three_rows(kWorkedWidth, {1, 0, 0, 1, 1, 1})),
            .m_k = edited(state.m_k, three_rows(kWorkedWidth, {1, -1, 0, 1, 1, 1})),
            .m_v = edited(state.m_v, three_rows(kWorkedWidth, {2, 0, 0, 1, 0, 3})),
            .query = std::clamp(state.query, 0, kWorkedWords - 1),
            .divide = state.divide};
}

Result<Page> worked_example_page(const StationInput& input, const WorkedExampleState& state, ThreadPool&) {
    const WorkedInput in = worked_input(state);
    const WorkedAttention a = work_out(in);
    Grid words = number_grid("Words x", "words", in.words, row_labels(input.text));
    words.marked_row = in.query;
    Page page;
    page.blocks = {std::move(words),
                   number_grid("M_q", "m_q", in.m_q, counted(3, 1)),
                   number_grid("M_k", "m_k", in.m_k, counted(3, 1)),
                   number_grid("M_v", "m_v", in.m_v, counted(3, 1)),
                   projection_steps(in, a),
                   score_steps(in, a),
                   softmax_steps(a),
                   output_steps(a),
                   mixture_plane(a),
                   slopes_grid(a),
                   joined_words(a)};
    page.main = isize(page.blocks) - 2;
    if (a.shift != 0)
        page.blocks.push_back(
            Words{"A score lies beyond ±20, so the largest is taken from all before e^; this "
                  "changes no weight."});
    if (!a.output.allFinite()) return Error{"The numbers are too large for attention; make them smaller."};
    return page;
}

}  // namespace headlight::learn
