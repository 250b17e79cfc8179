// Makes three-number vectors of words.
#include "learn/stations/small_vectors.h"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <limits>
#include <sstream>

#include "analysis/comparison/words.h"
#include "analysis/prediction/predict.h"
#include "base/quoted.h"
#include "base/utf8.h"
#include "io/numbers.h"
#include "learn/normalizers.h"
#include "learn/page_parts.h"

namespace headlight::learn {

namespace {

struct KnownWord {
    const char* word;
    std::array<int, 3> vector;  // animal, adjective, grammar
};
constexpr KnownWord kKnown[] = {{"bark", {2, 1, 0}},   {"dog", {2, 0, 0}},  {"he", {1, 0, 0}},
                                {"cute", {0, 2, 0}},   {"very", {0, 1, 0}}, {"is", {0, 0, 1}},
                                {"and", {0, 0, 1}},    {"a", {0, 0, 1}},    {"creature", {2, 0, 0}},
                                {"fluffy", {0, 2, 0}}, {"blue", {0, 2, 0}}};

std::array<int, 3> small_vector(const std::string& word) {
    for (const KnownWord& known : kKnown)
        if (word == known.word) return known.vector;
    uint32_t hash = 2166136261u;  // FNV-1a
    for (const char c : word) hash = (hash ^ as_byte(c)) * 16777619u;
    hash ^= hash >> 15;
    const std::array<int, 3> v{narrow<int>(hash % 3), narrow<int>(hash / 3 % 3), narrow<int>(hash / 9 % 3)};
    return v == std::array<int, 3>{} ? std::array<int, 3>{1, 0, 1} : v;
}

/// Returns the index in `others` of `words[at]`, at the same position if several are equal; −1: none.
int same_word(const std::vector<std::string>& words, int at, const std::vector<std::string>& others) {
    auto left = std::count(words.begin(), words.begin() + at + 1, words[at]);
    for (int i = 0; i < isize(others); ++i)
        if (others[i] == words[at] && --left == 0) return i;
    return -1;
}

bool is_sign(char c) { return as_byte(c) < 128 && std::ispunct(as_byte(c)); }

}  // namespace

std::vector<std::string> words_of(const std::string& text) {
    std::vector<std::string> out;
    std::istringstream in(text);
    for (std::string word; in >> word;) {
        while (!word.empty() && is_sign(word.back())) word.pop_back();
        while (!word.empty() && is_sign(word.front())) word.erase(0, 1);
        if (!word.empty() && isize(out) < kMaxWords) out.push_back(word);
    }
    return out.empty() ? words_of(kArticleText) : out;
}

int chosen_word(const StationInput& in, const std::vector<std::string>& words) {
    const int last = isize(words) - 1;
    if (!in.trace || in.query < 0 || in.query >= in.trace->request.inputs.front().size()) return last;
    const std::vector<int> numbers = word_numbers(in.trace->request.inputs.front().tokens);
    const int at = same_word(join_labels(token_labels(*in.trace, 0), numbers), numbers[in.query], words);
    return at < 0 ? last : at;
}

bool reads_text_tokens(const StationInput& in) {
    return in.trace && !in.trace->request.inputs.front().picture &&
           in.trace->config().has_head({in.block, in.head}) &&
           in.trace->config().block(in.block).key_stack == 0;
}

Cells cells_of_words(const StationInput& in, const std::vector<std::string>& words) {
    if (!reads_text_tokens(in)) return {};
    const std::vector<int> numbers = word_numbers(in.trace->request.inputs.front().tokens);
    const std::vector<std::string> joined = join_labels(token_labels(*in.trace, 0), numbers);
    Cells out{in.query_of(in.trace->query_count(in.block)), {}};
    for (int i = 0; i < isize(words); ++i) {
        const int word = same_word(words, i, joined);
        const auto first = std::find(numbers.begin(), numbers.end(), word);
        out.keys.push_back(word < 0 ? -1 : narrow<int>(first - numbers.begin()));
    }
    return out;
}

Matrix small_vectors(const std::vector<std::string>& words) {
    Matrix out(isize(words), 3);
    for (int i = 0; i < isize(words); ++i) {
        const std::array<int, 3> v = small_vector(lower_case(words[i]));
        for (int c = 0; c < 3; ++c) out(i, c) = float(v[c]);
    }
    return out;
}

std::vector<std::string> unknown_words(const std::vector<std::string>& words) {
    std::vector<std::string> out;
    for (const std::string& word : words) {
        const bool known = std::any_of(std::begin(kKnown), std::end(kKnown),
                                       [&](const KnownWord& k) { return k.word == lower_case(word); });
        if (!known && std::find(out.begin(), out.end(), word) == out.end()) out.push_back(word);
    }
    return out;
}

std::string small_origin(const std::vector<std::string>& words) {
    const int made_up = isize(unknown_words(words));
    return made_up == 0 ? "three numbers per word"
                        : "three numbers per word, made up for " + std::to_string(made_up) + " of them";
}

Flattened flatten(const Matrix& vectors) {
    constexpr float kLongest = 2;
    const Matrix centered = vectors.rowwise() - vectors.colwise().mean();
    const Eigen::SelfAdjointEigenSolver<DoubleMatrix> solver(
        (centered * centered.transpose()).cast<double>());
    const Index n = vectors.rows();
    Flattened out{Matrix::Zero(n, 3), 0};
    const double all = std::max(solver.eigenvalues().cwiseMax(0).sum(), 1e-30);
    for (Index c = 0; c < std::min<Index>(3, n); ++c) {  // eigenvalues ascend
        const double value = std::max(0.0, solver.eigenvalues()[n - 1 - c]);
        Eigen::VectorXd axis = solver.eigenvectors().col(n - 1 - c) * std::sqrt(value);
        Index farthest = 0;
        axis.cwiseAbs().maxCoeff(&farthest);
        if (axis[farthest] < 0) axis = -axis;
        out.vectors.col(c) = axis.cast<float>();
        out.kept += float(value / all);
    }
    const float longest = out.vectors.rowwise().norm().maxCoeff();
    if (longest > 0) out.vectors *= kLongest / longest;
    out.vectors = (out.vectors.array() * 10).round() / 10;
    return out;
}

Matrix edited(const std::vector<float>& values, const Matrix& own) {
    if (std::ssize(values) != own.size()) return own;
    return Eigen::Map<const Matrix>(values.data(), own.rows(), own.cols());
}

std::string vector_text(const Eigen::Ref<const Eigen::RowVectorXf>& v) {
    return v.size() > 4 ? "length " + decimals(double(v.norm()), 2) : written_vector(v.transpose());
}

Grid words_grid(const std::string& title, const std::vector<std::string>& words, const Matrix& values,
                const std::string& editable, int marked) {
    return {title, "word", "number", words, counted(values.cols(), 1), values, true, editable, marked};
}

BarRows::Row bar_row(const Matrix& scores, const Matrix& weights, int query) {
    BarRows::Row row;
    const Vector of_query = weights.row(query).transpose();
    Matrix shown = weights;
    for (Index i = 0; i < shown.size(); ++i)
        if (std::isnan(scores.data()[i])) shown.data()[i] = std::numeric_limits<float>::quiet_NaN();
    row.values.assign(shown.row(query).begin(), shown.row(query).end());
    row.all = std::move(shown);
    const float bits = entropy_bits(of_query);
    row.note = std::isnan(bits) ? "no entropy: some weights are negative"
                                : "entropy " + decimals(double(bits), 2) + " bits";
    return row;
}

float mean_diagonal(const Matrix& weights) { return weights.rows() ? weights.diagonal().mean() : 0.0f; }

void add_row(Table& table, const std::string& name, const std::vector<double>& numbers, int digits) {
    std::vector<TableCell> cells{words_cell(name)};
    for (const double number : numbers)
        cells.push_back({std::isnan(number) ? "—" : decimals(number, digits), number});
    add_cells(table, cells);
}

}  // namespace headlight::learn
