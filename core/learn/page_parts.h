// What the stations' pages have in common: numbers as a pencil writes them, tables, curves.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "learn/station.h"

namespace headlight::learn {

/// "2", "−1", "0.58": whole numbers bare, others with so many decimals.
std::string written(double value, int digits = 2);
/// The same within a product: "(−1)".
std::string factor(double value, int digits = 2);
/// "(2, −1)".
std::string written_vector(const Vector& v, int digits = 2);
/// "1·2 + 0·1".
std::string written_products(const Vector& a, const Vector& b);
/// "q₁₂" of "q" and 12.
std::string numbered(const std::string& sign, int number);

/// A cell of a table: words alone, or a number as it is written.
struct TableCell {
    std::string text;
    double value;
};
TableCell words_cell(std::string text);
/// "—" for NaN.
TableCell number_cell(double value, int digits = 2);
TableCell count_cell(int64_t value);
void add_cells(Table& table, const std::vector<TableCell>& cells);

/// A line through points.
Curves::Line line_of(std::string name, std::vector<float> x, std::vector<float> y, bool dashed = false);
/// f at each x.
template <class F>
Curves::Line line_through(std::string name, std::span<const float> x, bool dashed, const F& f) {
    Curves::Line line{.name = std::move(name), .x = {x.begin(), x.end()}, .dashed = dashed};
    for (const float at : x) line.y.push_back(float(f(at)));
    return line;
}

/// The largest text for which a page holds maps of all queries and keys.
inline constexpr int kMaxMapped = 256;

/// Whether the input's sentence has scores of the chosen head: what a station that shows them needs. The head
/// must be one of the model's.
bool has_head_scores(const StationInput& input);

/// Whether the input's sentence is read by an encoder and written by a decoder, whose weights are known; and
/// what to say where it is not.
bool reads_and_writes(const StationInput& input);
inline constexpr const char* kOpenTranslator =
    "This station needs an encoder and a decoder; open the built-in translator, and type a sentence.";

/// The labels of the keys of the chosen head's block.
std::vector<std::string> key_labels(const StationInput& input);

/// Scores of the chosen head and one query as softmax takes them, before the mask: [keys].
std::vector<float> head_scores(const StationInput& input, int query);

}  // namespace headlight::learn
