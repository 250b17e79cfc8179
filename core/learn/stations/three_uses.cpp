// Computes the station "Three uses in one translator".
#include "learn/stations/three_uses.h"

#include <algorithm>
#include <limits>
#include <variant>

#include "base/quoted.h"
#include "base/utf8.h"
#include "learn/block_parts.h"
#include "learn/once_per_model.h"
#include "learn/page_parts.h"
#include "learn/translation_choices.h"

namespace headlight::learn {

namespace {

const std::vector<std::string> kArticles{"der", "die", "das"}, kPronouns{"er", "sie", "es"};

std::string in_model(const Trace& trace, AttentionHead head) { return head_name(trace.config(), head); }

AttentionHead head_of(const StationInput& in, const ThreeUsesState& state, const Trace& trace,
                      AttentionKind kind) {
    const bool chosen = state.chosen && trace.config().has_head({in.block, in.head}) &&
                        trace.config().block(in.block).kind == kind;
    return chosen ? AttentionHead{in.block, in.head} : sharpest_head(trace, kind);
}

/// Shows the pattern of one use; masked cells are empty.
Grid use_grid(const Trace& trace, AttentionHead head, const std::string& title,
              const std::vector<std::string>& rows, const std::vector<std::string>& columns) {
    const Matrix weights = masked_pattern(trace, head.block, head.head);
    const float nothing = std::numeric_limits<float>::quiet_NaN();
    return {
        .title = title + ", head " + in_model(trace, head),
        .rows_are = "query",
        .columns_are = "key",
        .rows = rows,
        .columns = columns,
        .values =
            (weights.array() < 0).select(Matrix::Constant(weights.rows(), weights.cols(), nothing), weights)};
}

void add_uses(const Translated& t, const StationInput& in, const ThreeUsesState& state, AttentionHead cross,
              Page& page) {
    const Trace& trace = *t.trace;
    const auto head = [&](AttentionKind kind) { return head_of(in, state, trace, kind); };
    const auto read = token_labels(trace, 1);
    std::vector<std::string> chose = t.written;
    chose.resize(read.size(), "?");
    page.blocks.push_back(
        use_grid(trace, head(AttentionKind::encoder), "Encoder reads itself", t.source, t.source));
    page.blocks.push_back(
        use_grid(trace, head(AttentionKind::decoder), "Decoder reads what it wrote", read, read));
    page.blocks.push_back(use_grid(trace, cross, "Decoder reads the encoder", chose, t.source));
}

/// "der 0.97, die 0.02, das 0.01".
std::string choice_text(const WordChoice& c) {
    std::string out;
    for (int i = 0; i < isize(c.words); ++i)
        out += (i ? ", " : "") + c.words[i] + " " + decimals(double(c.probabilities[i]), 2);
    return out;
}

BarRows::Row article_row(const Translated& t, const Matrix& pattern, const WordChoice& c) {
    std::string title = t.written[c.row];
    if (c.row + 1 < isize(t.written)) title += " " + t.written[c.row + 1];
    const auto row = pattern.row(c.row);
    std::string ground;
    if (c.rests_on >= 0) ground = "without “" + t.source[c.rests_on] + "”: " + decimals(double(c.without), 2);
    return {.title = title,
            .formula = choice_text(c),
            .source = ground,
            .values = {row.data(), row.data() + row.size()},
            .note = "row of cross-attention",
            .emphasized = true};
}

bool is_word(const std::string& label) {
    return std::any_of(label.begin(), label.end(),
                       [](unsigned char c) { return std::isalpha(c) || c >= 0x80; });
}

/// Shows each source token's largest weight from a written one; marks the smallest as dropped.
BarRows::Row dropped_row(const Translated& t, const Matrix& pattern) {
    const Vector max = most_looked_at(pattern);
    int min = -1;
    for (int i = 0; i + 1 < isize(t.source); ++i)
        if (is_word(t.source[i]) && (min < 0 || max[i] < max[min])) min = i;
    return {.title = "The word that is dropped",
            .formula = "largest weight of each column",
            .source = "what no written word looks at",
            .values = {max.begin(), max.end()},
            .note = min < 0 ? "" : "least: “" + t.source[min] + "” " + decimals(double(max[min]), 2)};
}

Result<BarRows> choice_bars(const Translated& t, AttentionHead cross, ThreadPool& pool,
                            const CancelFlag* cancel) {
    const Matrix pattern = t.trace->pattern(cross.block, cross.head);
    TRY(const auto articles, word_choices(t, kArticles, pool, cancel));
    BarRows out{.columns = t.source};
    for (const WordChoice& choice : articles) out.rows.push_back(article_row(t, pattern, choice));
    out.rows.push_back(dropped_row(t, pattern));
    return out;
}

/// Holds what "it" attends to in one of two sentences that differ in their last word.
struct ItSentence {
    const char *last, *noun;
    Translated translated;
    std::vector<int> it, animal, street;

    float looks_at(AttentionHead head, const std::vector<int>& tokens) const {
        const Matrix row = translated.trace->pattern_rows(head.block, head.head, it.back(), 1);
        float sum = 0;
        for (const int token : tokens) sum += row(0, token);
        return sum;
    }
    bool complete() const { return !it.empty() && !animal.empty() && !street.empty(); }
    float right_noun(AttentionHead head) const {
        return looks_at(head, noun == std::string("animal") ? animal : street);
    }
};

Result<std::vector<ItSentence>> it_sentences(const StationInput& in, ThreadPool& pool) {
    std::vector<ItSentence> out{{"tired", "animal", {}, {}, {}, {}}, {"wide", "street", {}, {}, {}, {}}};
    for (ItSentence& s : out) {
        const std::string text =
            "The animal didn't cross the street because it was too " + std::string(s.last) + ".";
        TRY(s.translated, translate(in.trace->model, text, pool, in.cancel));
        s.it = tokens_of_word(*s.translated.trace, 0, "it");
        s.animal = tokens_of_word(*s.translated.trace, 0, "animal");
        s.street = tokens_of_word(*s.translated.trace, 0, "street");
    }
    return out;
}

/// Returns the encoder's head that attends to the right noun in both.
AttentionHead pronoun_head(const std::vector<ItSentence>& sentences) {
    const ModelConfig& c = sentences[0].translated.trace->config();
    AttentionHead best;
    float max = -1;
    for (int block = 0; block < c.stacks[0].layers; ++block)
        for (int head = 0; head < c.heads(block); ++head) {
            const AttentionHead h{block, head};
            const float min = std::min(sentences[0].right_noun(h), sentences[1].right_noun(h));
            if (min > max) best = h;
            max = std::max(max, min);
        }
    return best;
}

Result<std::optional<Table>> measured_pronouns(const StationInput& in, ThreadPool& pool) {
    TRY(const auto sentences, it_sentences(in, pool));
    if (!sentences[0].complete() || !sentences[1].complete()) return std::optional<Table>();
    const AttentionHead head = pronoun_head(sentences);
    Table out{.title = "“The animal didn't cross the street because it was too …”, head " +
                       in_model(*in.trace, head),
              .columns = {"", "it → animal", "it → street", "er", "sie", "es", "rests on", "translation"}};
    for (const ItSentence& s : sentences) {
        TRY(const auto choices, word_choices(s.translated, kPronouns, pool, in.cancel));
        std::vector<TableCell> cells{words_cell(s.last), number_cell(double(s.looks_at(head, s.animal))),
                                     number_cell(double(s.looks_at(head, s.street)))};
        const double nothing = std::numeric_limits<double>::quiet_NaN();
        for (int i = 0; i < 3; ++i)
            cells.push_back(number_cell(choices.empty() ? nothing : double(choices[0].probabilities[i])));
        const bool known = !choices.empty() && choices[0].rests_on >= 0;
        cells.push_back(words_cell(known ? s.translated.source[choices[0].rests_on] : "—"));
        cells.push_back(words_cell(shorten_middle(s.translated.text, 58)));
        add_cells(out, cells);
    }
    return std::optional(std::move(out));
}

/// Tabulates the same two sentences whatever was typed; none if the model splits their words.
Result<std::optional<Table>> pronoun_table(const StationInput& in, ThreadPool& pool) {
    static OncePerModel<std::monostate, std::optional<Table>> measured;
    return measured.of(in.trace->model, {}, [&] { return measured_pronouns(in, pool); });
}

/// "0.12 −0.40 0.03 …".
std::string first_numbers(const Vector& values) {
    std::string out;
    for (Index i = 0; i < std::min<Index>(4, values.size()); ++i)
        out += (i ? "  " : "") + decimals(double(values[i]), 2);
    return out + (values.size() > 4 ? "  …" : "");
}

}  // namespace

Table block_parts_table(const Trace& trace, AttentionHead head, int query, ThreadPool& pool) {
    const int count = trace.query_count(head.block),
              row = query >= 0 && query < count ? query : std::min(1, count - 1);
    const auto labels = token_labels(trace, trace.config().block(head.block).stack);
    Table out{.title = "A block, part by part: “" + labels[row] + "” in head " + in_model(trace, head),
              .columns = {"", "shape", "its first numbers", "mean", "deviation"}};
    for (const BlockPart& part : block_parts(trace, head, row, pool))
        add_cells(out, {words_cell(part.name), words_cell(shape_name(part.shape)),
                        words_cell(first_numbers(part.values)), number_cell(double(part.mean()), 3),
                        number_cell(double(part.deviation()), 3)});
    return out;
}

void ThreeUsesState::visit(ControlVisitor& v) {
    v.flag("chosen", "Show the chosen head", chosen);
    v.flag("tired-or-wide", "Too tired, too wide", tired_or_wide);
}

Result<Page> three_uses_page(const StationInput& input, const ThreeUsesState& state, ThreadPool& pool) {
    if (!reads_and_writes(input)) return Error{kOpenTranslator};
    Page page;
    TRY(const Translated t,
        translate(input.trace->model, input.trace->request.inputs[0], pool, input.cancel));
    page.note = shorten_middle(t.text, 90);
    const AttentionHead cross = head_of(input, state, *t.trace, AttentionKind::cross);
    add_uses(t, input, state, cross, page);
    TRY(BarRows choices, choice_bars(t, cross, pool, input.cancel));
    page.blocks.push_back(std::move(choices));
    if (state.tired_or_wide) {
        TRY(auto pronouns, pronoun_table(input, pool));
        if (pronouns) page.blocks.push_back(std::move(*pronouns));
    }
    const AttentionHead head = t.trace->config().has_head({input.block, input.head})
                                   ? AttentionHead{input.block, input.head}
                                   : AttentionHead{};
    page.blocks.push_back(block_parts_table(*t.trace, head, input.query, pool));
    return page;
}

}  // namespace headlight::learn
