// Aligns the words of source and target by cross-attention.
#pragma once

#include <string>
#include <vector>

#include "analysis/attention/shown.h"

namespace headlight {

/// Rows: what the decoder's queries choose, or what they read; columns: the source.
struct WordAlignment {
    std::vector<std::string> rows, columns;          // labels of tokens, or of words
    std::vector<int> row_of_token, column_of_token;  // row of each query, column of each key
    Matrix weights;                                  // [rows, columns], each row sums to 1; −1: masked
    std::vector<int> strongest;  // of each row: the hard alignment; the first of equal columns
    std::vector<float> entropy;  // of each row, in bits; at most log2(columns)

    int first_token(bool row, int index) const;
};

struct WordAlignmentRequest {
    using Answer = WordAlignment;
    int block = 0;
    std::vector<int> heads;  // heads to average; empty: all of the block
    bool by_words = false;   // joins sub-words: averages a word's queries, sums its keys
    bool as_read = false;    // labels a row by the token that its query read, not by the one that it chose
    int last = -1;           // the last query's choice; −1: the most probable token
    void clamp_to(const Trace& trace);
    bool valid_for(const Shown& shown) const;
    bool operator==(const WordAlignmentRequest&) const = default;
};
Result<WordAlignment> answer_word_alignment(const Trace& trace, const WordAlignmentRequest& request,
                                            ThreadPool& pool, const CancelFlag* cancel = nullptr);

/// Counts pairs of rows whose strongest columns are in reverse order: 0 if the order is kept.
int count_crossings(const std::vector<int>& strongest);

/// Entropy of the mean row minus mean entropy of the rows, in bits: the mutual information of query and key,
/// for equiprobable queries. High if rows are sharp and differ, as in an alignment.
float alignment_bits(const Matrix& pattern);

/// Returns the cross-attention block nearest to a block, or −1 if the model has none.
int cross_block(const ModelConfig& config, int block);

}  // namespace headlight
