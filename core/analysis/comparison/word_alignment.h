// Which words of the source each word of the target comes from: cross-attention read as an alignment.
#pragma once

#include <string>
#include <vector>

#include "analysis/attention/shown.h"

namespace headlight {

/// Rows are what the decoder's queries choose, or what they read; columns are the source.
struct WordAlignment {
    std::vector<std::string> rows, columns;          // labels of tokens, or of words
    std::vector<int> row_of_token, column_of_token;  // which row a query belongs to, which column a key
    Matrix weights;                                  // [rows, columns], each row sums to 1; −1: masked
    std::vector<int> strongest;  // of each row: the hard alignment; of equal columns the first
    std::vector<float> entropy;  // of each row, in bits; log2(columns) at most

    int first_token(bool row, int index) const;
};

struct WordAlignmentRequest {
    using Answer = WordAlignment;
    int block = 0;
    std::vector<int> heads;  // whose mean is taken; none: all of the block
    bool by_words = false;   // sub-words joined: the mean over a word's queries, the sum over its keys
    bool as_read =
        false;      // a row is named after the token that its query read, not after the one that it chose
    int last = -1;  // what the last query chose; −1: the most probable token
    void clamp_to(const Trace& trace);
    bool valid_for(const Shown& shown) const;
    bool operator==(const WordAlignmentRequest&) const = default;
};
Result<WordAlignment> answer_word_alignment(const Trace& trace, const WordAlignmentRequest& request,
                                            ThreadPool& pool, const CancelFlag* cancel = nullptr);

/// Pairs of rows whose strongest columns stand in the other order: 0 where the target keeps the source's
/// order.
int count_crossings(const std::vector<int>& strongest);

/// How much a query tells of where it looks: the entropy of the mean row less the mean entropy of the rows,
/// in bits (their mutual information where all queries are alike probable). High where rows are sharp and
/// differ, as in an alignment.
float alignment_bits(const Matrix& pattern);

/// The cross-attention block of a model that is nearest to a block, or −1 where it has none.
int cross_block(const ModelConfig& config, int block);

}  // namespace headlight
