// Computes the station "Sequence to sequence without attention".
#include "learn/stations/seq2seq.h"

#include "analysis/prediction/generate.h"
#include "base/quoted.h"
#include "base/utf8.h"
#include "learn/bottleneck.h"
#include "learn/once_per_model.h"
#include "learn/page_parts.h"
#include "learn/stations/recurrence.h"

namespace headlight::learn {

namespace {

/// Is one way to read the source, in the table's order; reading without a limit comes first.
struct ReadingWay {
    CrossLimit limit;
    std::string title, formula, source;
};

/// `source`: tokens, `width`: numbers of each one's vector.
std::vector<ReadingWay> reading_ways(const Seq2seqState& state, int source, int width) {
    const std::string d = std::to_string(state.half_width), p = std::to_string(state.position),
                      each = std::to_string(width) + " numbers";
    return {
        {{}, "All positions", std::to_string(source) + " vectors of " + each, "Bahdanau et al. 2015"},
        {{CrossReach::window, state.half_width, 0},
         "A window",
         "keys t − " + d + " … t + " + d,
         "Luong et al. 2015"},
        {{CrossReach::last, 0, 0}, "The last position", "z: 1 vector of " + each, "Sutskever et al. 2014"},
        {{CrossReach::one, 0, state.position}, "One position", "key " + p + " alone", ""}};
}

/// Holds the model's output and its probabilities of the reference translation, for one way.
struct ReadWay {
    ReadingWay way;
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
    const int max = std::min(model->config.context_of(model->config.decoder()) - 1, 2 * source.size() + 8);
    std::vector<ReadWay> out;
    std::vector<int> ids;
    std::shared_ptr<const Trace> past;
    for (ReadingWay& way : reading_ways(state, source.size(), model->config.d_model)) {
        TRY(ForwardRequest request, limited_request(*model, source, way.limit));
        TRY(const Generation own, generate(model, request, {{}, max, {}}, pool, in.cancel, past.get()));
        if (out.empty()) {
            TRY(ids, reference_ids(in, state, own));
        }
        TRY(ReferenceTokens reference,
            read_reference(model, std::move(request), ids, pool, in.cancel, own.trace.get()));
        past = reference.trace;
        out.push_back({std::move(way), model->target_tokenizer()->decode(own.ids()), std::move(reference)});
    }
    return out;
}

/// Writes each translation out whole, with the mean probability of a reference token.
Steps written_steps(const std::vector<ReadWay>& ways) {
    Steps out{.title = "What it writes, and p of a reference token"};
    for (const ReadWay& w : ways)
        out.lines.push_back({w.way.title, w.written.empty() ? "(nothing)" : w.written,
                             decimals(double(w.reference.mean_probability()), 3)});
    return out;
}

BarRows reference_bars(const std::vector<ReadWay>& ways) {
    BarRows out{.columns = ways[0].reference.labels, .rows = {}, .cells = {}, .no_largest = true};
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
    for (const ReadingWay& way : reading_ways(state, 1, 1)) limits.push_back(way.limit);
    const auto& model = in.trace->model;
    TRY(const auto curves,
        measured.of(model, limits, [&] { return reference_by_length(model, limits, pool, in.cancel); }));
    Curves out{.title = "The longer the sentence: 60 held-out ones, ten per point",
               .x_is = "words of the source",
               .y_is = "p of a reference token",
               .log_y = true};
    const auto ways = reading_ways(state, 1, 1);
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
    v.flag("long", "97 words", long_one);
}

Result<Page> seq2seq_page(const StationInput& input, const Seq2seqState& state, ThreadPool& pool) {
    if (!reads_and_writes(input)) return Error{kOpenTranslator};
    Page page;
    TRY(const auto ways, read_ways(input, state, pool));
    page.note = "cross-attention of all layers and heads, limited";
    const int last = input.trace->request.inputs[0].size() - 1;
    page.limits = {{"window", last}, {"position", last}};
    page.blocks = {written_steps(ways), reference_bars(ways)};
    if (state.held_out) {
        TRY(Curves curves, held_out_curves(input, state, pool));
        page.blocks.push_back(std::move(curves));
    }
    page.blocks.push_back(
        Words{"This translator never learned to pack a sentence into one vector; the recurrent networks "
              "below did."});
    TRY(auto recurrent, recurrence_blocks(input.text, state.long_one));
    page.main = isize(page.blocks) + 1;  // with the curves by length
    page.blocks.insert(page.blocks.end(), recurrent.begin(), recurrent.end());
    return page;
}

}  // namespace headlight::learn
