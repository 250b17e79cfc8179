// Builds what the stations' pages share: numbers written out, tables, curves.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "learn/station.h"

namespace headlight::learn {

/// Returns "2", "−1", "0.58": integers bare, others with `digits` decimals.
std::string written(double value, int digits = 2);
/// Returns the form within a product: "(−1)".
std::string factor(double value, int digits = 2);
/// "(2, −1)".
std::string written_vector(const Vector& v, int digits = 2);
/// "1·2 + 0·1".
std::string written_products(const Vector& a, const Vector& b);
/// Returns "q₁₂" for "q" and 12.
std::string numbered(const std::string& sign, int number);

/// Is a cell of a table: words, or a number as written.
struct TableCell {
    std::string text;
    double value;
};
TableCell words_cell(std::string text);
/// Returns "—" for NaN.
TableCell number_cell(double value, int digits = 2);
TableCell count_cell(int64_t value);
void add_cells(Table& table, const std::vector<TableCell>& cells);

Curves::Line line_of(std::string name, std::vector<float> x, std::vector<float> y, bool dashed = false);
template <class F>
Curves::Line line_through(std::string name, std::span<const float> x, bool dashed, const F& f) {
    Curves::Line line{.name = std::move(name), .x = {x.begin(), x.end()}, .dashed = dashed};
    for (const float at : x) line.y.push_back(float(f(at)));
    return line;
}

/// Bounds the text for which a page holds maps of all queries and keys.
inline constexpr int kMaxMapped = 256;

/// Returns whether the sentence has scores of the selected head, which the model must have.
bool has_head_scores(const StationInput& input);

/// Returns whether an encoder reads the sentence and a decoder writes, with weights; and the message if not.
bool reads_and_writes(const StationInput& input);
inline constexpr const char* kOpenTranslator =
    "This station needs an encoder and a decoder; open the built-in translator, and type a sentence.";

/// Returns the labels of the keys of the selected head's block.
std::vector<std::string> key_labels(const StationInput& input);

/// [keys]: scores of the selected head and one query, before the mask.
std::vector<float> head_scores(const StationInput& input, int query);

}  // namespace headlight::learn
