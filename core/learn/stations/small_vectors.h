// Words with three numbers each, small enough to follow by hand, and what stations share of labels and
// numbers that a person edits.
#pragma once

#include <string>
#include <vector>

#include "learn/station.h"

namespace headlight::learn {

/// Stations compare every word with every other one; of longer texts they take the first ones.
inline constexpr int kMaxWords = 128;
inline constexpr const char* kArticleText = "Bark is very cute and he is a dog";

/// The words of a text, cut at blanks, without the punctuation around them; those of the article's sentence
/// where there are none.
std::vector<std::string> words_of(const std::string& text);

/// Which of these words the chosen token belongs to: of equal words the one that stands there; the last where
/// none is chosen.
int chosen_word(const StationInput& input, const std::vector<std::string>& words);

/// Which tokens these words begin with, as keys of the chosen block; no keys where it does not read them.
Cells cells_of_words(const StationInput& input, const std::vector<std::string>& words);

/// Whether the keys of the chosen block are the tokens of the text.
bool reads_text_tokens(const StationInput& input);

/// [words, 3], whole numbers from 0 to 2: chosen for the article's words (how much of an animal, how much of
/// a feeling, how much grammar), made of the letters for others, so that equal words have equal vectors.
Matrix small_vectors(const std::vector<std::string>& words);

/// "three numbers per word", and that they are made up where the words are not all the article's.
std::string small_origin(const std::vector<std::string>& words);

/// What a person edited, row after row, in the shape of the station's own numbers; these where nothing of
/// that size was edited.
Matrix edited(const std::vector<float>& values, const Matrix& own);

/// written_vector(); "length 3.21" of more than four numbers.
std::string vector_text(const Eigen::Ref<const Eigen::RowVectorXf>& v);

/// One query's weights as bars, masked ones left out, with all queries beside them and the entropy as a note.
BarRows::Row bar_row(const Matrix& scores, const Matrix& weights, int query);

/// A vector for each word, its numbers counted from 1; `editable`: the state's field, or "".
Grid words_grid(const std::string& title, const std::vector<std::string>& words, const Matrix& values,
                const std::string& editable, int marked);

/// The mean of a matrix's diagonal.
float mean_diagonal(const Matrix& weights);

/// The rows of a table that has one name and some numbers in each.
void add_row(Table& table, const std::string& name, const std::vector<double>& numbers, int digits);

}  // namespace headlight::learn
