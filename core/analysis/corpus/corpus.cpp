// Accumulates statistics and links over a corpus.
#include "analysis/corpus/corpus.h"

#include <utf8proc.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "analysis/attention/head_summary.h"
#include "analysis/comparison/words.h"
#include "analysis/prediction/predict.h"
#include "base/cast.h"
#include "base/utf8.h"

namespace headlight {

namespace {

/// Classifies a label by its spelling, ignoring leading spaces.
TokenKind kind_of(const std::string& label) {
    size_t at = label.find_first_not_of(" \t\n");
    if (at == std::string::npos) return TokenKind::punctuation;
    const auto first = static_cast<utf8proc_int32_t>(decode_utf8(label, at).value);
    switch (utf8proc_category(first)) {
        case UTF8PROC_CATEGORY_LU:
        case UTF8PROC_CATEGORY_LT:
            return TokenKind::capitalized;
        case UTF8PROC_CATEGORY_LL:
        case UTF8PROC_CATEGORY_LM:
        case UTF8PROC_CATEGORY_LO:
            return TokenKind::word;
        case UTF8PROC_CATEGORY_ND:
        case UTF8PROC_CATEGORY_NL:
        case UTF8PROC_CATEGORY_NO:
            return TokenKind::number;
        default:
            return TokenKind::punctuation;
    }
}

/// Inserts a link among the strongest, one per pair of tokens.
void keep_link(std::vector<CorpusLink>& all, CorpusLink link, int max) {
    const auto same = std::find_if(all.begin(), all.end(), [&](const CorpusLink& l) {
        return l.query_id == link.query_id && l.key_id == link.key_id;
    });
    if (same != all.end() && same->weight >= link.weight) return;
    if (same != all.end()) all.erase(same);
    const auto place =
        std::find_if(all.begin(), all.end(), [&](const CorpusLink& l) { return l.weight < link.weight; });
    all.insert(place, std::move(link));
    if (isize(all) > max) all.pop_back();
}

/// Returns the weight that a link must exceed to be among the strongest.
float least_of(const std::vector<CorpusLink>& all, int max) {
    if (max == 0) return std::numeric_limits<float>::infinity();
    return isize(all) < max ? 0 : all.back().weight;
}

/// Holds what one text's rows of a head add to it.
struct TextOfHead {
    DoubleMatrix weights = DoubleMatrix::Zero(kTokenKinds, kTokenKinds);
    std::array<int64_t, kTokenKinds> queries{};
    std::vector<CorpusLink> strongest;

    void add_to(HeadOverTexts& head, int max) && {
        for (int q = 0; q < kTokenKinds; ++q) {
            head.queries[q] += queries[q];
            for (int k = 0; k < kTokenKinds; ++k) head.weights[q][k].add(weights(q, k));
        }
        for (CorpusLink& link : strongest)
            if (link.weight > least_of(head.strongest, max)) keep_link(head.strongest, std::move(link), max);
    }
};

/// Observes the rows of a head in one text, without changing the head.
class LinkObserver : public PatternObserver {
public:
    struct Side {
        const std::vector<int>& ids;
        const std::vector<std::string>& labels;
        const std::vector<TokenKind>& kinds;
        std::span<const Span> places;

        Span place(int token) const { return token < isize(places) ? places[token] : Span{}; }
    };
    LinkObserver(Side queries, Side keys, bool skips_first, std::shared_ptr<const CorpusText> text, int max,
                 const HeadOverTexts& head, TextOfHead& out)
        : queries_(queries),
          keys_(keys),
          skips_first_(skips_first),
          text_(std::move(text)),
          max_(max),
          min_(least_of(head.strongest, max)),
          out_(out) {}

    void begin(int, int) override {}
    void see(int, const PatternTile& tile) override {
        for (Index i = 0; i < tile.weights.rows(); ++i) {
            const int query = tile.first + narrow<int>(i);
            const int kind = static_cast<int>(queries_.kinds[query]);
            ++out_.queries[kind];
            for (Index j = 0; j < tile.weights.cols(); ++j) {
                const int key = tile.first_key + narrow<int>(j);
                const float weight = tile.weights(i, j);
                out_.weights(kind, static_cast<int>(keys_.kinds[key])) += double(weight);
                if (weight > std::max(min_, least_of(out_.strongest, max_)) && !(skips_first_ && key == 0))
                    keep_link(out_.strongest, link_of(query, key, weight), max_);
            }
        }
    }

private:
    CorpusLink link_of(int query, int key, float weight) const {
        return {weight,
                query,
                key,
                queries_.ids[query],
                keys_.ids[key],
                queries_.labels[query],
                keys_.labels[key],
                text_,
                queries_.place(query),
                keys_.place(key)};
    }

    Side queries_, keys_;
    bool skips_first_;
    std::shared_ptr<const CorpusText> text_;
    int max_;
    float min_;  // of the texts before
    TextOfHead& out_;
};

}  // namespace

std::span<const TokenKindRow> token_kinds() {
    static constexpr std::array<TokenKindRow, kTokenKinds> kTable{{
        {TokenKind::first, "first", "the first token of a text"},
        {TokenKind::piece, "piece", "a piece of a word after its first"},
        {TokenKind::number, "number", "begins with a digit"},
        {TokenKind::punctuation, "punctuation", "begins with no letter or digit; special tokens too"},
        {TokenKind::capitalized, "capitalized", "begins with a capital letter"},
        {TokenKind::word, "word", "begins with another letter"},
    }};
    return kTable;
}

std::vector<TokenKind> kinds_of_tokens(const Trace& trace, int stack) {
    const Sequence& sequence = trace.request.inputs[stack];
    const std::vector<std::string> labels = token_labels(trace, stack);
    const std::vector<int> words = word_numbers(sequence.tokens);
    std::vector<TokenKind> out;
    for (int i = 0; i < isize(labels); ++i) {
        const bool piece = i > 0 && i < isize(words) && words[i] == words[i - 1];
        out.push_back(i == 0 ? TokenKind::first : piece ? TokenKind::piece : kind_of(labels[i]));
    }
    return out;
}

void SpreadOverTexts::add(float value) {
    if (std::isnan(value)) return;
    ++count;
    sum.add(double(value));
    squares.add(double(value) * double(value));  // exact: 48 bits at most
}

double SpreadOverTexts::mean() const {
    return count ? sum.value() / count : std::numeric_limits<double>::quiet_NaN();
}

double SpreadOverTexts::deviation() const {
    if (count < 2) return std::numeric_limits<double>::quiet_NaN();
    const double all = sum.value();
    return std::sqrt(std::max(0.0, (squares.value() - all * all / count) / (count - 1)));
}

Matrix HeadOverTexts::links() const {
    Matrix out(kTokenKinds, kTokenKinds);
    for (int q = 0; q < kTokenKinds; ++q) {
        const double count = queries[q] ? double(queries[q]) : std::numeric_limits<double>::quiet_NaN();
        for (int k = 0; k < kTokenKinds; ++k) out(q, k) = float(weights[q][k].value() / count);
    }
    return out;
}

void Corpus::add(const Trace& trace, std::shared_ptr<const CorpusText> text, ThreadPool& pool,
                 std::span<const Span> places) {
    const ModelConfig& c = trace.config();
    const auto summaries = summarize_heads(trace, 1, pool);
    if (!summaries) throw Failure{summaries.error()};
    std::vector<std::vector<std::string>> labels;
    std::vector<std::vector<TokenKind>> kinds;
    for (int stack = 0; stack < isize(c.stacks); ++stack) {
        labels.push_back(token_labels(trace, stack));
        kinds.push_back(kinds_of_tokens(trace, stack));
    }
    PerHead<TextOfHead> found(c);
    for_heads(c, pool, [&](AttentionHead h) {
        const AttentionBlock at = c.block(h.block);
        const auto side = [&](int stack) -> LinkObserver::Side {
            return {trace.request.inputs[stack].ids, labels[stack], kinds[stack],
                    stack == 0 ? places : std::span<const Span>()};
        };
        LinkObserver links(side(at.stack), side(at.key_stack), at.kind != AttentionKind::cross, text,
                           strongest_, heads_[h], found[h]);
        show_pattern(trace, h, 0, trace.query_count(h.block), pool, links);
    });
    ExpertRoutes routes;
    if (!experts_.layers.empty()) {
        auto chosen = answer_expert_routes(trace, {}, pool, nullptr);
        if (!chosen) throw Failure{chosen.error()};
        routes = *std::move(chosen);
    }
    pool.stop_point();
    // Nothing may fail from here on: a text is added whole.
    for (size_t i = 0; i < heads_.size(); ++i) {
        for (int s = 0; s < kStatistics; ++s) heads_[i].statistics[s].add((*summaries)[i].statistics[s]);
        std::move(found[i]).add_to(heads_[i], strongest_);
    }
    experts_.add(trace, routes);
    for (const auto& stack : labels) tokens_ += isize(stack);
    ++texts_;
}

}  // namespace headlight
