// Every head over many texts: sums, and the strongest links of all, in memory that does not grow with the
// number of texts.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "analysis/attention/head_stats.h"
#include "analysis/corpus/exact_sum.h"
#include "model/heads.h"
#include "tokenizer/text.h"
#include "trace/trace.h"

namespace headlight {

/// What a token is by its spelling and place, in any language; the first that applies.
enum class TokenKind { first, piece, number, punctuation, capitalized, word };
struct TokenKindRow {
    TokenKind kind;
    const char* word;
    const char* help;
};
std::span<const TokenKindRow> token_kinds();
constexpr int kTokenKinds = 6;

/// Of each token of one text of a trace.
std::vector<TokenKind> kinds_of_tokens(const Trace& trace, int stack);

/// A number over texts for which it is defined. The sums are exact, so that parts of a corpus add up to the
/// same bits as the whole.
struct SpreadOverTexts {
    int count = 0;
    ExactSum sum, squares;
    void add(float value);     // NaN: not defined
    double mean() const;       // NaN where there is none
    double deviation() const;  // of a sample; NaN below two
};

/// A text and the line it was read from, counted from 1.
struct CorpusText {
    int line = 0;
    std::string text;
    bool whole = true;  // else its middle is left out, and positions mean nothing in it
};

/// One cell of a pattern.
struct CorpusLink {
    float weight = 0;
    int query = 0, key = 0;        // positions
    int query_id = 0, key_id = 0;  // ids of their tokens
    std::string query_token, key_token;
    std::shared_ptr<const CorpusText> text;
    Span query_place, key_place;  // code points of the text; empty where the token is none of its own
};

struct HeadOverTexts {
    std::array<SpreadOverTexts, kStatistics> statistics;  // the head's value in each text
    /// The heaviest cells, one for each pair of tokens; of equal ones that which was met first. Without the
    /// first key of a text, on which heads rest, but of cross-attention.
    std::vector<CorpusLink> strongest;
    /// What the texts have from one kind of query to one of key, each text rounded once.
    std::array<std::array<ExactSum, kTokenKinds>, kTokenKinds> weights;
    std::array<int64_t, kTokenKinds> queries{};
    /// The mean weight that a query of a kind gives to all keys of a kind: each row sums to 1, or is NaN
    /// where there was no such query.
    Matrix links() const;
};

class Corpus {
public:
    Corpus(const ModelConfig& config, int strongest) : strongest_(strongest), heads_(config) {}
    /// Takes in the run of a text, whole or not at all; `places`: where the tokens of the first stack stand
    /// in it, if that is known. Throws Failure where the pool was stopped.
    void add(const Trace& trace, std::shared_ptr<const CorpusText> text, ThreadPool& pool,
             std::span<const Span> places = {});

    const PerHead<HeadOverTexts>& heads() const { return heads_; }
    int texts() const { return texts_; }
    int64_t tokens() const { return tokens_; }

private:
    int strongest_;
    PerHead<HeadOverTexts> heads_;
    int texts_ = 0;
    int64_t tokens_ = 0;
};

}  // namespace headlight
