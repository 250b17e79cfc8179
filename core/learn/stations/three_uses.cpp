// Computes the station "Three uses in one translator".
#include "learn/stations/three_uses.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <variant>

#include "analysis/comparison/word_alignment.h"
#include "analysis/prediction/predict.h"
#include "base/quoted.h"
#include "base/utf8.h"
#include "learn/block_parts.h"
#include "learn/once_per_model.h"
#include "learn/page_parts.h"
#include "learn/questions/parts.h"
#include "learn/stations/first_head.h"
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

/// Holds how the written words look at the source: by the user's head, or the mean of the last layer.
struct CrossView {
    Matrix pattern;     // [written, source]
    std::string title;  // "mean of cross 2"
};

CrossView cross_view(const StationInput& in, const ThreeUsesState& state, const Trace& trace) {
    const ModelConfig& c = trace.config();
    const bool chosen =
        state.chosen && c.has_head({in.block, in.head}) && c.block(in.block).kind == AttentionKind::cross;
    if (chosen) return {trace.pattern(in.block, in.head), "head " + in_model(trace, {in.block, in.head})};
    const int last = cross_block(c, c.blocks() - 1);
    return {alignment_pattern(trace), "mean of " + block_name(c, last)};
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

void add_uses(const Translated& t, const StationInput& in, const ThreeUsesState& state,
              const CrossView& cross, Page& page) {
    const Trace& trace = *t.trace;
    const auto head = [&](AttentionKind kind) { return head_of(in, state, trace, kind); };
    const auto read = token_labels(trace, 1);
    std::vector<std::string> chose = t.written;
    chose.resize(read.size(), "?");
    page.blocks.push_back(
        use_grid(trace, head(AttentionKind::encoder), "Encoder reads itself", t.source, t.source));
    page.blocks.push_back(
        use_grid(trace, head(AttentionKind::decoder), "Decoder reads what it wrote", read, read));
    page.blocks.push_back(Grid{.title = "Decoder reads the encoder, " + cross.title,
                               .rows_are = "word that is being written",
                               .columns_are = "word of the source",
                               .rows = chose,
                               .columns = t.source,
                               .values = cross.pattern});
}

/// "der 0.97, die 0.02, das 0.01".
std::string choice_text(const WordChoice& c) {
    std::string out;
    for (int i = 0; i < isize(c.words); ++i)
        out += (i ? ", " : "") + c.words[i] + " " + decimals(double(c.probabilities[i]), 2);
    return out;
}

/// Pairs an article with what it becomes without its noun.
struct Article {
    WordChoice choice;
    std::optional<HiddenNoun> noun;

    float before() const { return choice.probabilities[choice.chosen]; }
    float after() const { return noun->probabilities[choice.chosen]; }
    bool changes(const Translated& t) const { return noun && noun->most_probable != t.ids[choice.row]; }
    std::string name(const Translated& t) const {
        return t.written[choice.row] + (noun ? " " + noun->written : "");
    }
};

Result<std::vector<Article>> articles_of(const Translated& t, const Matrix& cross, ThreadPool& pool,
                                         const CancelFlag* cancel) {
    std::vector<Article> out;
    for (WordChoice& choice : word_choices(t, kArticles, pool)) {
        TRY(auto noun, hide_noun(t, choice, cross, pool, cancel));
        out.push_back({std::move(choice), std::move(noun)});
    }
    return out;
}

BarRows::Row article_row(const Translated& t, const Matrix& pattern, const Article& article) {
    const auto row = pattern.row(article.choice.row);
    std::string hidden;
    if (article.noun)
        hidden = said(article.noun->source) + " hidden: " + decimals(double(article.after()), 2);
    return {.title = article.name(t),
            .formula = choice_text(article.choice),
            .source = hidden,
            .values = {row.data(), row.data() + row.size()},
            .note = "row of cross-attention",
            .emphasized = true};
}

/// Tabulates each article with its noun in sight and hidden.
Table noun_table(const Translated& t, const std::vector<Article>& articles) {
    Table out{.title = "Hide the noun", .columns = {"", "der", "die", "das", "it writes"}};
    const auto add = [&](const std::string& name, const std::vector<float>& p, int id) {
        std::vector<TableCell> cells{words_cell(name)};
        for (const float each : p) cells.push_back(number_cell(double(each)));
        cells.push_back(words_cell(prediction_label(*t.trace->model, id)));
        add_cells(out, cells);
    };
    for (const Article& a : articles) {
        add(a.name(t), a.choice.probabilities, t.ids[a.choice.row]);
        if (a.noun)
            add(a.name(t) + ", " + said(a.noun->source) + " hidden", a.noun->probabilities,
                a.noun->most_probable);
    }
    return out;
}

/// Says what hiding a noun does: where the article changes, else where it falls most.
std::optional<Words> noun_finding(const Translated& t, const std::vector<Article>& articles) {
    const Article* told = nullptr;
    for (const Article& a : articles) {
        if (!a.noun) continue;
        const bool better =
            !told || a.changes(t) > told->changes(t) ||
            (a.changes(t) == told->changes(t) && a.before() - a.after() > told->before() - told->after());
        if (better) told = &a;
    }
    if (!told) return std::nullopt;
    const std::string fall =
        " from " + decimals(double(told->before()), 2) + " to " + decimals(double(told->after()), 2);
    const std::string article = said(t.written[told->choice.row]);
    return Words{
        "Hide " + said(told->noun->source) + ", and " + article + " falls" + fall +
        (told->changes(t)
             ? ": it writes " + said(prediction_label(*t.trace->model, told->noun->most_probable)) + "."
             : " and stays: other words of this sentence still tell.")};
}

/// Shows each source token's largest weight from a written one, and names the least.
BarRows::Row least_row(const Translated& t, const Matrix& pattern) {
    const Vector max = most_looked_at(pattern);
    int min = -1;
    for (int i = 0; i + 1 < isize(t.source); ++i)
        if (is_word(t.source[i]) && (min < 0 || max[i] < max[min])) min = i;
    bool dropped = min >= 0;
    for (Index row = 0; row < pattern.rows() && dropped; ++row) {
        Index strongest = 0;
        pattern.row(row).maxCoeff(&strongest);
        dropped = strongest != min;
    }
    return {.title = "Looked at least",
            .formula = "largest weight of each column",
            .source = dropped ? said(t.source[min]) + " is no row's strongest" : "",
            .values = {max.begin(), max.end()},
            .note = min < 0 ? "" : "least: " + said(t.source[min]) + " " + decimals(double(max[min]), 2)};
}

BarRows choice_bars(const Translated& t, const Matrix& cross, const std::vector<Article>& articles) {
    BarRows out{.columns = t.source};
    for (const Article& article : articles) out.rows.push_back(article_row(t, cross, article));
    out.rows.push_back(least_row(t, cross));
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
    for (int block = 0; block < c.stacks[0].depth(); ++block)
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
        auto choices = word_choices(s.translated, kPronouns, pool);
        TRY_STATUS(find_grounds(s.translated, pool, in.cancel, choices));
        std::vector<TableCell> cells{words_cell(s.last), number_cell(double(s.looks_at(head, s.animal))),
                                     number_cell(double(s.looks_at(head, s.street)))};
        const double nothing = std::numeric_limits<double>::quiet_NaN();
        for (int i = 0; i < 3; ++i)
            cells.push_back(number_cell(choices.empty() ? nothing : double(choices[0].probabilities[i])));
        const bool known = !choices.empty() && choices[0].rests_on >= 0;
        cells.push_back(words_cell(known ? s.translated.source[choices[0].rests_on] : "—"));
        cells.push_back(words_cell(s.translated.text));
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
    const CrossView cross = cross_view(input, state, *t.trace);
    TRY(const auto articles, articles_of(t, cross.pattern, pool, input.cancel));
    if (auto finding = noun_finding(t, articles)) page.blocks.push_back(std::move(*finding));
    add_uses(t, input, state, cross, page);
    page.blocks.push_back(choice_bars(t, cross.pattern, articles));
    if (!articles.empty()) page.blocks.push_back(noun_table(t, articles));
    if (state.tired_or_wide) {
        TRY(auto pronouns, pronoun_table(input, pool));
        if (pronouns) page.blocks.push_back(std::move(*pronouns));
    }
    const AttentionHead head = t.trace->config().has_head({input.block, input.head})
                                   ? AttentionHead{input.block, input.head}
                                   : AttentionHead{};
    page.main = isize(page.blocks);
    page.blocks.push_back(block_parts_table(*t.trace, head, input.query, pool));
    return page;
}

}  // namespace headlight::learn
