// Computes the station "Sequence to sequence without attention".
#include "learn/stations/seq2seq.h"

#include "analysis/prediction/generate.h"
#include "base/quoted.h"
#include "base/utf8.h"
#include "learn/bottleneck.h"
#include "learn/once_per_model.h"
#include "learn/page_parts.h"

namespace headlight::learn {

namespace {

/// Is one way to read the source, in the table's order; reading without a limit comes first.
struct ReadingWay {
    CrossLimit limit;
    std::string title, formula, source;
};

std::vector<ReadingWay> reading_ways(const Seq2seqState& state) {
    const std::string d = std::to_string(state.half_width), p = std::to_string(state.position);
    return {{{}, "All positions", "every key", "Bahdanau et al. 2015"},
            {{CrossReach::window, state.half_width, 0},
             "A window",
             "keys t − " + d + " … t + " + d,
             "Luong et al. 2015"},
            {{CrossReach::last, 0, 0}, "The last position", "the last key alone", "Sutskever et al. 2014"},
            {{CrossReach::one, 0, state.position}, "One position", "key " + p + " alone", ""}};
}

/// Holds the model's output and its probabilities of the reference translation, for one way.
struct ReadWay {
    ReadingWay way;
    std::vector<std::string> changes;
    std::string written;
    ReferenceTokens reference;
};

/// Returns the reference translation's tokens: typed, known, or the model's own when it reads everything.
Result<std::vector<int>> reference_ids(const StationInput& in, const Seq2seqState& state,
                                       const Generation& own) {
    const Model& model = *in.trace->model;
    if (!state.reference.empty()) return translation_ids(model, state.reference);
    for (const TranslationPair& pair : held_out_pairs())
        if (pair.source == in.text) return translation_ids(model, pair.target);
    std::vector<int> out;
    for (const GeneratedToken& token : own.tokens) out.push_back(token.id);
    return out;
}

Result<std::vector<ReadWay>> read_ways(const StationInput& in, const Seq2seqState& state, ThreadPool& pool) {
    const auto& model = in.trace->model;
    const Sequence& source = in.trace->request.inputs[0];
    const int max = std::min(model->config.context - 1, 2 * source.size() + 8);
    std::vector<ReadWay> out;
    std::vector<int> ids;
    std::shared_ptr<const Trace> past;
    for (ReadingWay& way : reading_ways(state)) {
        TRY(ForwardRequest request, limited_request(*model, source, way.limit));
        TRY(const Generation own, generate(model, request, {{}, max, {}}, pool, in.cancel, past.get()));
        if (out.empty()) {
            TRY(ids, reference_ids(in, state, own));
        }
        TRY(ReferenceTokens reference,
            read_reference(model, std::move(request), ids, pool, in.cancel, own.trace.get()));
        past = reference.trace;
        std::vector<std::string> changes = cross_changes(way.limit, source.size());
        out.push_back({std::move(way), std::move(changes), model->target_tokenizer()->decode(own.ids()),
                       std::move(reference)});
    }
    return out;
}

Table written_table(const std::vector<ReadWay>& ways) {
    Table out{.title = "What it writes",
              .columns = {"the decoder reads", "translation", "p of a reference token", "as a change"}};
    for (const ReadWay& w : ways) {
        std::string change = w.changes.empty() ? "none" : w.changes[0];
        if (w.changes.size() > 1) change += " …";
        add_cells(out, {words_cell(w.way.title),
                        words_cell(w.written.empty() ? "nothing" : shorten_middle(w.written, 44)),
                        number_cell(double(w.reference.mean_probability()), 3), words_cell(change)});
    }
    return out;
}

BarRows reference_bars(const std::vector<ReadWay>& ways) {
    BarRows out{.columns = ways[0].reference.labels};
    for (const ReadWay& w : ways)
        out.rows.push_back({.title = w.way.title,
                            .formula = w.way.formula,
                            .source = w.way.source,
                            .values = w.reference.probabilities,
                            .note = decimals(double(w.reference.mean_probability()), 3) + " per token",
                            .emphasized = out.rows.empty()});
    return out;
}

Result<Curves> held_out_curves(const StationInput& in, const Seq2seqState& state, ThreadPool& pool) {
    static OncePerModel<std::vector<CrossLimit>, std::vector<std::vector<LengthPoint>>> measured;
    std::vector<CrossLimit> limits;
    for (const ReadingWay& way : reading_ways(state)) limits.push_back(way.limit);
    const auto& model = in.trace->model;
    TRY(const auto curves,
        measured.of(model, limits, [&] { return reference_by_length(model, limits, pool, in.cancel); }));
    Curves out{.title = "The longer the sentence: 60 held-out ones, ten per point",
               .x_is = "words of the source",
               .y_is = "p of a reference token",
               .log_y = true};
    const auto ways = reading_ways(state);
    for (size_t i = 0; i < curves.size(); ++i) {
        Curves::Line line = line_of(ways[i].title, {}, {});
        for (const LengthPoint& point : curves[i]) {
            line.x.push_back(point.words);
            line.y.push_back(point.probability);
            line.error.push_back(point.error);
        }
        out.lines.push_back(std::move(line));
    }
    return out;
}

}  // namespace

void Seq2seqState::visit(ControlVisitor& v) {
    v.whole("window", "Window", half_width, 0, 64);
    v.whole("position", "One position", position, 0, 1023);
    v.text("right", "Reference translation", reference);
    v.flag("held-out", "60 held-out sentences", held_out);
}

Result<Page> seq2seq_page(const StationInput& input, const Seq2seqState& state, ThreadPool& pool) {
    if (!reads_and_writes(input)) return Error{kOpenTranslator};
    Page page;
    TRY(const auto ways, read_ways(input, state, pool));
    page.note = "cross-attention of all layers and heads, limited";
    const int last = input.trace->request.inputs[0].size() - 1;
    page.limits = {{"window", last}, {"position", last}};
    page.blocks = {written_table(ways), reference_bars(ways)};
    if (state.held_out) {
        TRY(Curves curves, held_out_curves(input, state, pool));
        page.blocks.push_back(std::move(curves));
    }
    page.blocks.push_back(Words{
        "This translator never learned to pack a sentence into one vector, so with one position it fails "
        "at any length. The networks before attention did learn it, and lost long sentences first."});
    return page;
}

}  // namespace headlight::learn
