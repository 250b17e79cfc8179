// From what render is asked for to a drawing.
#include <algorithm>
#include <set>
#include <sstream>

#include "analysis/attribution/influence.h"
#include "analysis/corpus/dossier.h"
#include "analysis/prediction/generate.h"
#include "base/quoted.h"
#include "cli/render.h"
#include "io/json.h"
#include "parts/layer_heads.h"
#include "trace/trace_file.h"
#include "views/combined_heads.h"
#include "views/page.h"
#include "views/views.h"

namespace headlight {

namespace {

template <size_t N>
ptrdiff_t place_in(const char* const (&words)[N], const std::string& word) {
    return std::find(std::begin(words), std::end(words), word) - std::begin(words);
}

/// "16,10": the query and key that a view of one cell shows.
Result<std::optional<std::pair<int, int>>> parse_cell(const std::string& text, const Trace& trace,
                                                      int block) {
    if (text.empty()) return std::optional<std::pair<int, int>>();
    int query = 0, key = 0;
    const bool read = std::sscanf(text.c_str(), "%d,%d", &query, &key) == 2;
    if (!read || query < 0 || key < 0 || query >= trace.query_count(block) || key >= trace.key_count(block))
        return Error{"There is no cell " + in_quotes(text) + ": queries go to " +
                     std::to_string(trace.query_count(block) - 1) + " and keys to " +
                     std::to_string(trace.key_count(block) - 1) + "; correct --cell, as in --cell 3,1."};
    return std::optional(std::pair{query, key});
}

/// What the other run reads: another text, or what the first one read. A trace cannot be run again, but
/// another model can read its tokens.
Result<InputOptions> other_input(const RenderOptions& o, const Trace& trace) {
    InputOptions other = o.input;
    clear_changes(other);
    if (!o.text_b.empty()) read_instead(other, o.text_b, "--text-b");
    if (!o.model_b.empty()) other.model = o.model_b;
    if (o.input.trace.empty()) return other;
    if (o.model_b.empty())
        return Error{
            "A trace reads no other text; give --model-b, which reads it, or --model instead of "
            "--trace."};
    other.trace.clear();
    if (!o.text_b.empty()) return other;
    TRY(const auto sequences, recorded_sequences(trace));
    other.typed.ids = sequences[0].ids;
    if (sequences.size() > 1) other.typed.target_ids = sequences[1].ids;
    return other;
}

/// The runs that a view shows: with changes also the model's own, and for --view compare the one it is
/// compared with.
Result<ShownRuns> compared(const RenderOptions& o, const std::shared_ptr<const Trace>& trace, Session& s,
                           ThreadPool& pool) {
    ShownRuns runs{trace, nullptr, nullptr};
    if (trace->request.intervention != Intervention{}) {
        TRY(runs.own, run_trace(trace->model, {trace->request.inputs, {}}, pool));
        s.document.comparison.what = Compared::changes;
    }
    if (!o.text_b.empty() || !o.model_b.empty()) {
        TRY(const InputOptions other, other_input(o, *trace));
        if (o.model_b.empty() && trace->has_weights()) {  // patching needs both runs of one model
            TRY(ForwardRequest request, read_request(other, trace->model, pool));
            TRY(runs.other, run_trace(trace->model, std::move(request), pool));
        } else {
            TRY(runs.other, run_input(other, pool));
        }
        s.document.comparison.what = o.model_b.empty() ? Compared::sentences : Compared::models;
    }
    if (!o.with.empty()) {
        TRY(const AttentionHead named, parse_head(trace->config(), o.with, "--with"));
        s.document.comparison.head = {named.block, named.head};
        s.document.comparison.what = Compared::heads;
    }
    return runs;
}

/// Patches, and scores that begin at another text, need a second run; scores one of as many tokens.
Status check_second_run(const RenderOptions& o, const ShownRuns& runs) {
    if (o.view == "patch" && !runs.own && !runs.other)
        return Error{
            "--view patch shows what a clean run restores: give its text as --text-b, or a "
            "change, whose unchanged run is the clean one."};
    const bool needed =
        o.view == "influence" &&
        (o.method == "attribution-patching" || (o.method == "integrated-gradients" && o.baseline == "text"));
    if (!needed) return success();
    if (!runs.other)
        return Error{
            "Tokens are scored from another text here; give it as --text-b, or choose another --method or "
            "--baseline."};
    const int shown = runs.shown->request.inputs[0].size(), other = runs.other->request.inputs[0].size();
    if (shown == other) return success();
    return Error{"The text of --text-b has " + std::to_string(other) + " tokens and the other one " +
                 std::to_string(shown) + "; both need the same number of tokens."};
}

/// For a view of a target without one: the pass that has read the model's own translation.
Result<std::shared_ptr<const Trace>> with_target(const RenderOptions& o, const View& view,
                                                 std::shared_ptr<const Trace> trace, ThreadPool& pool) {
    const bool writes = view.of_target && trace->has_weights() && trace->config().can.write_target &&
                        trace->model->has_logits() && o.input.typed.target.empty() &&
                        o.input.typed.target_ids.empty();
    if (!writes) return trace;
    ForwardRequest request = trace->request;
    TRY(const Generation generation, generate(trace->model, request, {}, pool, nullptr, trace.get()));
    for (const int id : generation.ids()) append_token(*trace->model, request.inputs.back(), id);
    return run_trace(trace->model, std::move(request), pool, nullptr, generation.trace.get());
}

ptrdiff_t place_of_part(const std::string& word) {
    const auto parts = patch_parts();
    return std::find_if(parts.begin(), parts.end(),
                        [&](const PatchPartRow& row) { return word == row.word; }) -
           parts.begin();
}

ptrdiff_t place_of_method(const std::string& word) {
    const auto methods = influence_methods();
    return std::find_if(methods.begin(), methods.end(),
                        [&](const InfluenceMethodRow& row) { return word == row.word; }) -
           methods.begin();
}

/// What was chosen of a view's own, by the keys that workspaces know it by.
void choose_for_view(const RenderOptions& o, Session& s) {
    const Json chosen{{"compare_show", place_in(kComparedShows, o.show)},
                      {"steps_show", place_in(kStepsShows, o.steps)},
                      {"patch_part", place_of_part(o.put)},
                      {"model_block", place_in(kModelParts, o.part)},
                      {"align_words", o.figure.join_words},
                      {"align_of", o.mean ? 1 : 0},
                      {"align_marks", o.hard ? 2 : 1},
                      {"align_lines", o.as_lines},
                      {"heads_scale", 2},
                      {"graph_by", o.flow ? 2 : place_in(kOriginsWords, o.origins)},
                      {"graph_sink_apart", o.sink_apart},
                      {"corpus", o.corpus},
                      {"circuits_graph", o.graph},
                      {"circuits_strongest", o.strongest},
                      {"influence_of", place_in(kInfluenceOf, o.influence)},
                      {"influence_layer", o.after},
                      {"influence_probes", place_in(kInfluenceProbes, o.probes)},
                      {"influence_beside", place_in(kInfluenceBeside, o.beside)},
                      {"influence_by", place_of_method(o.method)},
                      {"influence_baseline", place_in(kInfluenceBaselines, o.baseline)},
                      {"influence_steps", o.points},
                      {"influence_part", place_in(kTextParts, o.parts)},
                      {"graph_share", float(o.share) / 100},
                      {"link_share", float(o.share) / 100}};
    FieldReader reader(chosen, "the options");
    for (const StateVisit visit : s.visits) visit(s.views, reader);
}

/// The layer whose heads are drawn of those that are named: the given one, else the one that all are of.
Result<int> layer_of_heads(const RenderOptions& o, const ModelConfig& c,
                           const std::set<AttentionHead>& named) {
    const bool given = o.given.count("layer") > 0;
    const int block = given ? o.figure.block : named.begin()->block;
    const auto elsewhere =
        std::count_if(named.begin(), named.end(), [&](AttentionHead head) { return head.block != block; });
    if (given && elsewhere == std::ssize(named))
        return Error{"No head of --heads is in layer " + block_path(c, block) +
                     "; correct --layer, or leave it out."};
    if (!given && elsewhere > 0)
        return Error{"--view " + o.view + " shows the heads of one layer; choose it with --layer."};
    return block;
}

/// The heads that a graph is made of, and those of a layer that are drawn as lines.
Status choose_heads_shown(const RenderOptions& o, const ModelConfig& c, Session& s) {
    const bool of_layer = find_view(o.view)->shows == View::Shows::layer;
    std::set<AttentionHead> shown;
    if (of_layer && o.given.count("head")) shown = {{o.figure.block, o.figure.head}};
    for (const std::string& word :
         o.shown_heads.empty() ? std::vector<std::string>() : comma_list(o.shown_heads)) {
        TRY(const AttentionHead head, parse_head(c, word, "--heads"));
        shown.insert(head);
    }
    if (shown.empty()) return success();
    int block = o.figure.block;
    if (of_layer && !o.shown_heads.empty()) {
        TRY(block, layer_of_heads(o, c, shown));
        const auto first =
            std::find_if(shown.begin(), shown.end(), [&](AttentionHead head) { return head.block == block; });
        s.selection.choose(block, first->head);
    }
    show_heads_alone(s, c, block, shown);
    return success();
}

/// The heads that are shown as one.
Status choose_combination(const RenderOptions& o, const ModelConfig& c, Session& s) {
    if (o.mean) return choose_combined(s, c, MapOf::mean, *o.mean);
    return o.max ? choose_combined(s, c, MapOf::max, *o.max) : success();
}

void choose_style(const FigureOptions& figure, Session& s) {
    s.selection.choose(figure.block, figure.head);
    s.preferences.colormap = figure.colormap;
    s.preferences.contrast = figure.contrast;
    s.preferences.queries = figure.queries;
    s.preferences.marks = figure.marks;
    s.preferences.drop_sink = figure.drop_sink;
}

/// Of a figure of its own, which the trace alone makes.
std::shared_ptr<const WorkAnswer> bare_answer(const std::shared_ptr<const Trace>& trace) {
    auto sentence = std::make_shared<SentenceResult>();
    sentence->model = trace->model;
    sentence->trace = trace;
    auto answer = std::make_shared<WorkAnswer>();
    answer->sentence = std::move(sentence);
    return answer;
}

/// A view as the window draws it, on a page.
Result<ViewPage> view_page(const RenderOptions& o, const std::shared_ptr<const Trace>& given,
                           ThreadPool& pool) {
    const View* view = find_view(o.view);
    TRY(const auto trace, with_target(o, *view, given, pool));
    if (!view->offered(*trace->model))
        return Error{"The view " + o.view + " does not go with " + trace->model->name + "; try --view head."};
    const bool dossier = view->take_corpus && is_dossier(o.corpus);
    if (const char* missing = view->missing(*trace->model); missing && !dossier)
        return Error{"The view " + o.view + " has nothing to show: " + missing};
    if (view->take_corpus && (o.corpus.empty() || o.corpus == "-"))
        return Error{"--view corpus draws a file: give --corpus FILE, texts (one per line) or a dossier."};
    ViewPage page;
    page.view = view - views().data();
    page.style = o.figure;
    size_page(page, view->page_w, view->page_h);
    Session& s = page.session;
    s.visits = view_visits();
    choose_style(o.figure, s);
    choose_for_view(o, s);
    TRY_STATUS(choose_heads_shown(o, trace->config(), s));
    if (!o.architecture.empty()) TRY_STATUS(give_config(s, o.architecture));
    TRY_STATUS(choose_combination(o, trace->config(), s));
    if (view->figure && !view->figure_of_answer && !is_numbers_path(o.output)) {
        page.answer = bare_answer(trace);
        return page;
    }
    if (view->of_target) s.selection.block = std::max(0, cross_block(trace->config(), s.selection.block));
    TRY(const ShownRuns runs, compared(o, trace, s, pool));
    TRY_STATUS(check_second_run(o, runs));
    if (!o.metric.empty()) {
        TRY(const Metric metric, parse_metric(*trace->model, o.metric, trace.get()));
        TRY([[maybe_unused]] const Metric known, resolved(metric, *trace, pool));
        s.document.metric = {metric_name(*trace->model, metric), metric};
    }
    TRY(s.selection.locked, parse_cell(o.lock, *trace, s.selection.block));
    const PictureRequest request{s.selection.block, s.selection.head, s.preferences.drop_sink,
                                 view->group ? view->group(s, trace->config()) : std::nullopt};
    TRY(RunAnswer answer, answer_for(runs, request, s.selection.locked, pool));
    TRY_STATUS(prepare_page(page, std::move(answer), pool));
    return page;
}

}  // namespace

Result<Drawing> drawing_of(const RenderOptions& o, const std::shared_ptr<const Trace>& trace,
                           ThreadPool& pool) {
    TRY(const ViewPage page, view_page(o, trace, pool));
    return draw_figure(page, pool);
}

Status render_one(const RenderOptions& o, const std::shared_ptr<const Trace>& trace,
                  const std::string& output, ThreadPool& pool) {
    if (is_numbers_path(output)) {
        TRY(ViewPage page, view_page(o, trace, pool));
        if (const auto written = write_view_document(output, page)) return *written;
        return write_view_numbers(output, std::move(page));
    }
    TRY(const Drawing drawing, drawing_of(o, trace, pool));
    return write_page(output, drawing);
}

Status choose_place(RenderOptions& o, const Trace& trace) {
    const ModelConfig& c = trace.config();
    TRY(o.figure.block, parse_block(c, o.layer));
    if (!c.has_head({o.figure.block, o.figure.head}))
        return Error{"There is no head " + std::to_string(o.figure.head) + " in layer " +
                     block_path(c, o.figure.block) + ": " + trace.model->name + " has heads 0 … " +
                     std::to_string(c.heads(o.figure.block) - 1) + " there; correct --head."};
    return success();
}

}  // namespace headlight
