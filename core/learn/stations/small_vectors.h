// Makes words with three numbers each, to follow by hand, and labels and edited numbers for stations.
#pragma once

#include <string>
#include <vector>

#include "learn/station.h"

namespace headlight::learn {

/// Bounds the words that stations compare with each other; of longer texts they take the first ones.
inline constexpr int kMaxWords = 128;
inline constexpr const char* kArticleText = "Bark is very cute and he is a dog";

/// Splits a text into words at spaces, without the punctuation around them; if none: the article's.
std::vector<std::string> words_of(const std::string& text);

/// Returns the selected token's word, at the same position if several are equal; by default the last.
int chosen_word(const StationInput& input, const std::vector<std::string>& words);

/// Returns the first tokens of these words as keys of the selected block; none if it does not read them.
Cells cells_of_words(const StationInput& input, const std::vector<std::string>& words);

/// Returns whether the keys of the selected block are the tokens of the text.
bool reads_text_tokens(const StationInput& input);

/// [words, 3], integers from 0 to 2: chosen for the article's words (how much of an animal, of an adjective,
/// of grammar), hashed from the letters of others, so that equal words have equal vectors.
Matrix small_vectors(const std::vector<std::string>& words);

/// Lists the words without numbers of their own here, each once: theirs are made up.
std::vector<std::string> unknown_words(const std::vector<std::string>& words);

/// Returns "three numbers per word", and for how many words they are made up.
std::string small_origin(const std::vector<std::string>& words);

/// Holds vectors flattened to three numbers each, rounded to tenths so that they can be read.
struct Flattened {
    Matrix vectors;  // [words, 3], the longest of length 2
    float kept = 0;  // share of the variance that they keep
};
/// Projects vectors [words, d] on their first three principal components.
Flattened flatten(const Matrix& vectors);

/// Returns the user's edited numbers, row by row, in the shape of the station's own; the station's own if
/// nothing of that size was edited.
Matrix edited(const std::vector<float>& values, const Matrix& own);

/// Returns written_vector(); "length 3.21" for more than four numbers.
std::string vector_text(const Eigen::Ref<const Eigen::RowVectorXf>& v);

/// Shows one query's weights as bars, without masked ones, beside those of all queries, and the entropy.
BarRows::Row bar_row(const Matrix& scores, const Matrix& weights, int query);

/// Shows a vector per word, its entries counted from 1; `editable`: the state's field, or "".
Grid words_grid(const std::string& title, const std::vector<std::string>& words, const Matrix& values,
                const std::string& editable, int marked);

float mean_diagonal(const Matrix& weights);

void add_row(Table& table, const std::string& name, const std::vector<double>& numbers, int digits);

}  // namespace headlight::learn
