// Joins sub-words.
#include "analysis/comparison/words.h"

#include <algorithm>
#include <cctype>

namespace headlight {

namespace {

bool begins_with(std::string_view text, std::string_view mark) { return text.substr(0, mark.size()) == mark; }

bool marks_blank(std::string_view token) {
    return begins_with(token, "Ġ") || begins_with(token, "▁") || begins_with(token, " ") ||
           begins_with(token, "Ċ");
}

/// Matches "[CLS]", "<s>": tokens that a tokenizer adds.
bool is_special(std::string_view token) {
    return token.size() > 2 &&
           ((token.front() == '[' && token.back() == ']') || (token.front() == '<' && token.back() == '>'));
}

/// Matches text of only ASCII punctuation: letters of other scripts have high bytes.
bool is_punctuation(std::string_view token) {
    for (const std::string_view mark : {"Ġ", "▁", "##"})
        if (begins_with(token, mark)) token.remove_prefix(mark.size());
    return !token.empty() && std::all_of(token.begin(), token.end(),
                                         [](unsigned char c) { return c < 128 && std::ispunct(c); });
}

}  // namespace

std::vector<int> word_numbers(std::span<const std::string> tokens) {
    const bool blanks =
        std::any_of(tokens.begin(), tokens.end(), [](const std::string& t) { return marks_blank(t); });
    const bool continuations =
        std::any_of(tokens.begin(), tokens.end(), [](const std::string& t) { return begins_with(t, "##"); });
    std::vector<int> out;
    for (size_t i = 0; i < tokens.size(); ++i) {
        const bool alone = is_special(tokens[i]) || is_punctuation(tokens[i]),
                   after_alone = i > 0 && (is_special(tokens[i - 1]) || is_punctuation(tokens[i - 1]));
        const bool continues =
            continuations ? begins_with(tokens[i], "##") : blanks && !marks_blank(tokens[i]);
        out.push_back(i == 0 ? 0 : out.back() + (alone || after_alone || !continues));
    }
    return out;
}

namespace {
/// "天 1/3" → "天", its other parts → "".
std::string_view without_part(std::string_view label) {
    const size_t blank = label.rfind(' ');
    if (blank == std::string_view::npos || label.size() != blank + 4 || label[blank + 2] != '/') return label;
    return label[blank + 1] == '1' ? label.substr(0, blank) : "";
}
}  // namespace

std::vector<std::string> join_labels(std::span<const std::string> labels, std::span<const int> words) {
    std::vector<std::string> out;
    for (size_t i = 0; i < labels.size(); ++i) {
        if (i == 0 || words[i] != words[i - 1]) out.emplace_back();
        std::string_view piece = without_part(labels[i]);
        if (!out.back().empty() && begins_with(piece, "##")) piece.remove_prefix(2);
        if (piece == "␣" && labels.size() > i + 1 && words[i + 1] == words[i])
            piece = "";  // a space that is its own token
        out.back() += piece;
    }
    return out;
}

Matrix join_pattern(const Matrix& w, std::span<const int> query_words, std::span<const int> key_words) {
    Matrix sums = Matrix::Zero(query_words.back() + 1, key_words.back() + 1), seen = sums;
    Vector pieces = Vector::Zero(sums.rows());
    for (Index q = 0; q < w.rows(); ++q) {
        const int row = query_words[q];
        pieces[row] += 1;
        for (Index k = 0; k < w.cols(); ++k) {
            if (is_masked(w(q, k))) continue;
            sums(row, key_words[k]) += w(q, k);
            seen(row, key_words[k]) = 1;
        }
    }
    for (Index r = 0; r < sums.rows(); ++r) sums.row(r) /= pieces[r];
    return (seen.array() > 0).select(sums, Matrix::Constant(sums.rows(), sums.cols(), kMasked));
}

}  // namespace headlight
