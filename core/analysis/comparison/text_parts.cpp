// Splits texts into words, sentences and paragraphs.
#include "analysis/comparison/text_parts.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "analysis/comparison/words.h"
#include "analysis/prediction/predict.h"
#include "base/cast.h"

namespace headlight {

namespace {

bool is_blank(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

bool ends_with_any(std::string_view text, std::span<const std::string_view> marks) {
    return std::any_of(marks.begin(), marks.end(), [&](std::string_view m) { return text.ends_with(m); });
}

std::string_view without_closing(std::string_view text) {
    while (!text.empty() && (is_blank(text.back()) || text.back() == '"' || text.back() == ')'))
        text.remove_suffix(1);
    return text;
}

/// Returns whether a sentence ends after a token's text; `next`: the following token's text, "" for none.
bool ends_sentence(std::string_view text, std::string_view next) {
    static constexpr std::array<std::string_view, 4> kMarks{".", "!", "?", "…"};
    static constexpr std::array<std::string_view, 3> kWideMarks{"。", "！", "？"};
    if (next.find('\n') != next.npos) return false;  // the line end splits, with what precedes it
    const std::string_view end = without_closing(text);
    if (ends_with_any(end, kWideMarks)) return true;
    const bool apart = next.empty() || is_blank(next.front()) || (!text.empty() && is_blank(text.back()));
    return apart && ends_with_any(end, kMarks);
}

bool ends_paragraph(std::string_view text, std::string_view next) {
    return text.find('\n') != text.npos && next.find('\n') == next.npos;
}

std::vector<TextSpan> spans_of(const std::vector<int>& part_of_token) {
    std::vector<TextSpan> out;
    for (int i = 0; i < isize(part_of_token); ++i) {
        if (i == 0 || part_of_token[i] != part_of_token[i - 1]) out.push_back({i, i});
        out.back().end = i + 1;
    }
    return out;
}

/// Returns the text of each token; for WordPiece, which drops spaces, with a space before each word.
std::vector<std::string> texts_of(const Trace& trace, int stack) {
    const Model& m = *trace.model;
    const Tokenizer& tokenizer = stack == 0 ? **m.tokenizer : *m.target_tokenizer();
    const Sequence& s = trace.request.inputs[stack];
    std::vector<std::string> out;
    const bool pieces = std::any_of(s.tokens.begin(), s.tokens.end(),
                                    [](const std::string& t) { return t.starts_with("##"); });
    for (const int id : s.ids) {
        out.push_back(tokenizer.bytes(id));
        if (pieces && !out.back().starts_with("##")) out.back().insert(0, " ");
    }
    return out;
}

}  // namespace

std::vector<TextSpan> text_parts(const Trace& trace, int stack, TextPart part) {
    const Sequence& sequence = trace.request.inputs[stack];
    std::vector<int> number(sequence.size());
    const bool reads_text = trace.model->tokenizer && !sequence.picture;
    if (part == TextPart::word && reads_text) return spans_of(word_numbers(sequence.tokens));
    const auto texts = reads_text ? texts_of(trace, stack) : std::vector<std::string>(number.size());
    for (int i = 1; i < isize(number); ++i) {
        const bool ends = part == TextPart::token || (!reads_text && part == TextPart::word) ||
                          (part == TextPart::sentence && ends_sentence(texts[i - 1], texts[i])) ||
                          ends_paragraph(texts[i - 1], texts[i]);
        number[i] = number[i - 1] + ends;
    }
    return spans_of(number);
}

namespace {

/// Joins the span's tokens to a label, with the spaces between them.
std::string label_of_span(const Sequence& sequence, std::span<const std::string> labels, TextSpan span) {
    std::string out;
    for (int i = span.first; i < span.end; ++i) {
        const std::string& token = sequence.tokens[i];
        const bool blank = token.starts_with("Ġ") || token.starts_with("▁") || token.starts_with(" ");
        out += (i > span.first && blank ? " " : "") + labels[i];
    }
    return out;
}

}  // namespace

std::vector<ScoredPart> scored_parts(const Trace& trace, std::span<const Vector> tokens, TextPart part,
                                     int left_out) {
    std::vector<ScoredPart> out;
    for (int stack = 0; stack < isize(tokens); ++stack) {
        const std::vector<std::string> labels = token_labels(trace, stack);
        const bool last = stack + 1 == isize(tokens);
        const int end = narrow<int>(tokens[stack].size()) - (last ? left_out : 0);
        for (TextSpan span : text_parts(trace, stack, part)) {
            span.end = std::min(span.end, end);
            if (span.size() <= 0) continue;
            out.push_back({span, stack, label_of_span(trace.request.inputs[stack], labels, span),
                           tokens[stack].segment(span.first, span.size()).sum()});
        }
    }
    return out;
}

}  // namespace headlight
