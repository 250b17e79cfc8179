// Turns the options of render into a drawing.
#include <algorithm>
#include <set>

#include "analysis/attribution/influence.h"
#include "analysis/corpus/corpus_file.h"
#include "analysis/corpus/dossier.h"
#include "analysis/prediction/generate.h"
#include "base/quoted.h"
#include "cli/render.h"
#include "figure/file_formats.h"
#include "figure/panel.h"
#include "parts/layer_heads.h"
#include "trace/trace_file.h"
#include "views/align/align.h"
#include "views/all_heads/all_heads.h"
#include "views/combined_heads.h"
#include "views/page.h"
#include "views/view_options.h"
#include "views/views.h"

namespace headlight {

namespace {

/// Parses the query and key of a view of one cell: "16,10".
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

/// Returns the other run's input: another text, or the first one's; of a trace its tokens, for another model.
Result<InputOptions> other_input(const RenderOptions& o, const Trace& trace) {
    InputOptions other = o.input;
    clear_changes(other);
    if (!o.text_b.empty()) read_instead(other, o.text_b, "--text-b");
    if (!o.model_b.empty()) {
        other.model = o.model_b;
        other.adapter.clear();  // B has the one that it is spelled with
    }
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

/// Runs what a view shows besides the trace: the run without interventions, and that of --view compare.
Result<ShownRuns> compared(const RenderOptions& o, const std::shared_ptr<const Trace>& trace, Session& s,
                           ThreadPool& pool) {
    ShownRuns runs{trace, nullptr, nullptr};
    if (trace->request.intervention != Intervention{}) {
        TRY(runs.own, run_trace(trace->model, {trace->request.inputs, {}}, pool));
        s.document.comparison.what = Compared::changes;
    }
    if (!o.text_b.empty() || !o.model_b.empty()) {
        TRY(const InputOptions other, other_input(o, *trace));
        if (o.model_b.empty() && trace->can_run()) {  // patching needs both runs of one model
            TRY(runs.other, run_on(trace->model, other, pool));
        } else {
            TRY(runs.other, run_input(other, pool));
        }
        s.document.comparison.what = o.model_b.empty() ? Compared::sentences : Compared::models;
    }
    if (o.view == "compare" && !runs.own && !runs.other && o.with.empty() && trace->model->adapter) {
        TRY(const auto base, trace->model->at_strength(0));
        TRY(runs.other, run_trace(base, {trace->request.inputs, {}}, pool));
        s.document.comparison.what = Compared::base;
    }
    if (!o.with.empty()) {
        TRY(const AttentionHead named, parse_head(trace->config(), o.with, "--with"));
        s.document.comparison.head = {named.block, named.head};
        s.document.comparison.what = Compared::heads;
    }
    return runs;
}

/// Fails if the view needs a second run and has none, or one of another length.
Status check_second_run(const RenderOptions& o, const ShownRuns& runs) {
    if (o.view == "chat" && !o.input.conversation)
        return Error{"--view chat shows a conversation: give a file of its messages as --chat."};
    if (o.view == "patch" && !runs.own && !runs.other)
        return Error{
            "--view patch shows what a clean run restores: give its text as --text-b, or a "
            "change, whose unchanged run is the clean one."};
    if (o.view == "influence" && o.given.count("method"))
        for (const InfluenceMethodRow& row : influence_methods())
            if (o.word("method") == row.word) TRY_STATUS(check_method(*runs.shown, row.method));
    if (o.view != "influence" || !scores_from_text(o)) return success();
    if (!runs.other)
        return Error{
            "Tokens are scored from another text here; give it as --text-b, or choose another --method or "
            "--baseline."};
    const int shown = runs.shown->request.inputs[0].size(), other = runs.other->request.inputs[0].size();
    if (shown == other) return success();
    return Error{"The text of --text-b has " + std::to_string(other) + " tokens and the other one " +
                 std::to_string(shown) + "; both need the same number of tokens."};
}

/// Translates the text for a view that needs a target if none is given.
Result<std::shared_ptr<const Trace>> with_target(const RenderOptions& o, const View& view,
                                                 std::shared_ptr<const Trace> trace, ThreadPool& pool) {
    const bool writes = view.of_target && trace->can_run() && trace->config().can.write_target &&
                        trace->model->has_logits() && o.input.typed.target.empty() &&
                        o.input.typed.target_ids.empty();
    if (!writes) return trace;
    ForwardRequest request = trace->request;
    TRY(const Generation generation, generate(trace->model, request, {}, pool, nullptr, trace.get()));
    for (const int id : generation.ids()) append_token(*trace->model, request.inputs.back(), id);
    return run_trace(trace->model, std::move(request), pool, nullptr, generation.trace.get());
}

/// Sets the views' options, and the defaults of figures of the command line.
void choose_for_view(const RenderOptions& o, Session& s) {
    s.of<AlignState>().words = o.figure.join_words;
    s.of<AlignState>().of = o.given.count("head") || o.all_heads ? AlignOf::head : AlignOf::mean;
    s.of<AllHeadsState>().scale = AllHeadsState::kSharedLinear;
    take_view_options(s, o.chosen);
}

/// Returns the layer whose heads are drawn: the given one, else the one of all named heads.
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

/// Sets the heads of the graph and of the lines.
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

/// Sets the heads that are combined into one pattern.
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

/// Makes the answer of a figure that needs only the trace.
std::shared_ptr<const WorkAnswer> bare_answer(const std::shared_ptr<const Trace>& trace) {
    auto sentence = std::make_shared<SentenceResult>();
    sentence->model = trace->model;
    sentence->trace = trace;
    auto answer = std::make_shared<WorkAnswer>();
    answer->sentence = std::move(sentence);
    return answer;
}

/// Fails if the view shows nothing of the model.
Status check_view(const RenderOptions& o, const View& view, const Model& model) {
    if (!view.offered(model))
        return Error{"The view " + o.view + " does not go with " + model.name + "; try --view head."};
    const std::string corpus = o.word("corpus");
    const bool reads_file = std::string_view(view.key) == kCorpusView,
               dossier = reads_file && is_dossier(corpus);
    if (const char* missing = view.missing(model); missing && !dossier)
        return Error{"The view " + o.view + " has nothing to show: " + missing};
    if (reads_file && (corpus.empty() || corpus == "-"))
        return Error{"--view corpus draws a file: give --corpus FILE, texts (one per line) or a dossier."};
    if (dossier && o.word("corpus-show") == "experts") {
        TRY(const Dossier texts, open_dossier(corpus, model.config));
        if (texts.experts.empty())
            return Error{
                "--corpus-show experts goes with texts that a mixture of experts read; leave it out."};
    }
    if (std::string_view(view.key) == "prompts" && o.word("prompts").empty())
        return Error{"--view prompts draws a file: give --prompts FILE, a .json template or .jsonl lines."};
    return success();
}

/// Makes the page of a view with its options, before its questions are answered.
Result<ViewPage> chosen_page(const RenderOptions& o, const View& view, const ModelConfig& c) {
    ViewPage page;
    page.view = &view - views().data();
    page.style = o.figure;
    size_page(page, view.page_w, view.page_h);
    Session& s = page.session;
    s.visits = view_visits();
    choose_style(o.figure, s);
    choose_for_view(o, s);
    TRY_STATUS(choose_heads_shown(o, c, s));
    if (!o.architecture.empty()) TRY_STATUS(give_config(s, o.architecture));
    TRY_STATUS(choose_combination(o, c, s));
    const bool chosen = o.given.count("layer") || o.given.count("head") || o.all_heads;
    if (view.of_target) s.selection.block = cross_block(c, chosen ? s.selection.block : c.blocks() - 1);
    return page;
}

/// Opens before and after on the head that the interventions moved most, unless one was named.
Status choose_moved_head(const RenderOptions& o, const View& view, const ShownRuns& runs, Session& s,
                         ThreadPool& pool) {
    const bool opens = std::string_view(view.key) == "compare" && runs.own &&
                       s.document.comparison.what == Compared::changes && !o.all_heads &&
                       !o.given.count("layer") && !o.given.count("head");
    if (!opens) return success();
    TRY(const Moved moved, answer_moved({*runs.shown, runs.own.get()}, {}, pool, nullptr));
    const auto& shown = runs.shown->request;
    if (const auto head = most_moved(moved, runs.shown->config(), shown.intervention))
        s.selection.choose(head->block, head->head);
    return success();
}

/// Runs what the view shows and answers its questions.
Status answer_page(const RenderOptions& o, const View& view, const std::shared_ptr<const Trace>& trace,
                   ViewPage& page, ThreadPool& pool) {
    Session& s = page.session;
    TRY(const ShownRuns runs, compared(o, trace, s, pool));
    TRY_STATUS(check_second_run(o, runs));
    TRY_STATUS(choose_moved_head(o, view, runs, s, pool));
    if (!o.metric.empty()) {
        TRY(const Metric metric, parse_metric(*trace->model, o.metric, trace.get()));
        TRY([[maybe_unused]] const Metric known, resolved(metric, *trace, pool));
        s.document.metric = {metric_name(*trace->model, metric), metric};
    }
    TRY(s.selection.locked, parse_cell(o.cell, *trace, s.selection.block));
    const PictureRequest request{s.selection.block, s.selection.head, s.preferences.drop_sink,
                                 view.group ? view.group(s, trace->config()) : std::nullopt};
    TRY(RunAnswer answer, answer_for(runs, request, s.selection.locked, pool));
    if (const auto& chat = o.input.conversation) {
        auto sentence = std::make_shared<SentenceResult>(*answer.sentence);
        sentence->chat = conversation_in(*trace->model, *chat, trace->output());
        answer.sentence = std::move(sentence);
    }
    return prepare_page(page, std::move(answer), pool);
}

}  // namespace

Result<ViewPage> view_page(const RenderOptions& o, const std::shared_ptr<const Trace>& given,
                           ThreadPool& pool) {
    const View& view = *find_view(o.view);
    TRY(const auto trace, with_target(o, view, given, pool));
    TRY_STATUS(check_view(o, view, *trace->model));
    TRY(ViewPage page, chosen_page(o, view, trace->config()));
    if (view.figure && !view.figure_of_answer && is_picture_path(o.output))
        page.answer = bare_answer(trace);
    else
        TRY_STATUS(answer_page(o, view, trace, page, pool));
    return page;
}

Result<Drawing> drawing_of(const RenderOptions& o, const std::shared_ptr<const Trace>& trace,
                           ThreadPool& pool) {
    if (o.given.count("panel")) {
        TRY(const PanelRows rows, parse_panel(trace->config(), o.panel, o.columns));
        return in_font(o.figure.font, [&] { return panel_figure(trace, rows, o.figure, pool); });
    }
    TRY(const ViewPage page, view_page(o, trace, pool));
    return draw_figure(page, pool);
}

Status render_one(const RenderOptions& o, const std::shared_ptr<const Trace>& trace,
                  const std::string& output, ThreadPool& pool) {
    if (!is_picture_path(output)) {
        TRY(ViewPage page, view_page(o, trace, pool));
        if (const auto written = write_view_document(output, page)) return *written;
        if (!is_numbers_path(output))
            return Error{"The view " + o.view + " has no page of its own; end the name in " +
                         endings_of(FormatKind::picture) + "."};
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
