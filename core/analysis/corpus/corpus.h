// Accumulates statistics of every head over many texts: sums, and the strongest links, in memory that does
// not grow with the number of texts.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "analysis/attention/head_stats.h"
#include "analysis/corpus/exact_sum.h"
#include "analysis/corpus/expert_counts.h"
#include "model/heads.h"
#include "tokenizer/text.h"
#include "trace/trace.h"

namespace headlight {

/// Classifies a token by its spelling and place, in any language; the first that applies.
enum class TokenKind { first, piece, number, punctuation, capitalized, word };
struct TokenKindRow {
    TokenKind kind;
    const char* word;
    const char* help;
};
std::span<const TokenKindRow> token_kinds();
constexpr int kTokenKinds = 6;

std::vector<TokenKind> kinds_of_tokens(const Trace& trace, int stack);

/// Accumulates a number over texts for which it is defined. Sums are exact, so that parts of a corpus add up
/// to the same bits as the whole.
struct SpreadOverTexts {
    int count = 0;
    ExactSum sum, squares;
    void add(float value);     // NaN: undefined
    double mean() const;       // NaN if there is none
    double deviation() const;  // sample deviation; NaN below two
};

/// Holds a text and its line number, counted from 1.
struct CorpusText {
    int line = 0;
    std::string text;
    bool whole = true;  // false: its middle is left out, and positions are meaningless
};

/// Identifies one cell of a pattern.
struct CorpusLink {
    float weight = 0;
    int query = 0, key = 0;        // positions
    int query_id = 0, key_id = 0;  // ids of the tokens
    std::string query_token, key_token;
    std::shared_ptr<const CorpusText> text;
    Span query_place, key_place;  // code points of the text; empty for a token without its own text
};

struct HeadOverTexts {
    std::array<SpreadOverTexts, kStatistics> statistics;  // the head's value in each text
    /// Holds the heaviest cells, one per pair of tokens, the first of equal ones. Excludes a text's first
    /// key, the attention sink, except in cross-attention.
    std::vector<CorpusLink> strongest;
    /// Sums the weight from each kind of query to each kind of key, rounded once per text.
    std::array<std::array<ExactSum, kTokenKinds>, kTokenKinds> weights;
    std::array<int64_t, kTokenKinds> queries{};
    /// Returns the mean weight of a kind of query on all keys of a kind: each row sums to 1, or is NaN if
    /// there was no such query.
    Matrix links() const;
};

class Corpus {
public:
    Corpus(const ModelConfig& config, int strongest)
        : strongest_(strongest), heads_(config), experts_(config) {}
    /// Adds the run of a text, whole or not at all; `places`: the spans of the first stack's tokens in it, if
    /// known. Throws Failure if the pool was stopped.
    void add(const Trace& trace, std::shared_ptr<const CorpusText> text, ThreadPool& pool,
             std::span<const Span> places = {});

    const PerHead<HeadOverTexts>& heads() const { return heads_; }
    const ExpertCounts& experts() const { return experts_; }
    int texts() const { return texts_; }
    int64_t tokens() const { return tokens_; }

private:
    int strongest_;
    PerHead<HeadOverTexts> heads_;
    ExpertCounts experts_;
    int texts_ = 0;
    int64_t tokens_ = 0;
};

}  // namespace headlight
