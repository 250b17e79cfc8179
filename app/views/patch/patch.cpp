#include "views/patch/patch.h"

#include <algorithm>
#include <cmath>

#include "parts/matrix_view.h"
#include "parts/metric.h"
#include "views/views.h"

namespace headlight {

namespace {

constexpr float kPatchNames = 84;

bool clean_is_other(const Session& s) { return s.document.comparison.what == Compared::sentences; }

/// Explains why there is no map; "" if there is one or it is being measured.
std::string missing_runs(const Scene& s) {
    const bool reads = s.ui.on_page() || !s.fields.other.text().empty();
    switch (s.session.document.comparison.what) {
        case Compared::sentences:
            if (!s.answer->other_error.empty()) return s.answer->other_error;
            return reads ? ""
                         : "Type the clean text: the text above with different words that change the answer, "
                           "and the same number of tokens.";
        case Compared::changes:
            if (s.sentence()->unchanged) return "";
            return "No interventions yet: add one to see which activations of the unchanged run restore its "
                   "answer, or choose another clean run above.";
        default:
            return "Pick a clean run: another text with the same number of tokens, or this text "
                   "before interventions.";
    }
}

Matrix shown_patches(const Scene& s, const PatchMap& m) {
    Matrix out = m.values;
    for (int row = 0; row < isize(m.blocks); ++row)
        for (int column = 0; column < narrow<int>(out.cols()); ++column)
            out(row, column) = patch_shown(s, m, row, column);
    return out;
}

/// Frames the cells whose patch is active.
void frame_active_patches(Scene& s, const Grid& g, const PatchMap& m) {
    const auto& changes = s.sentence()->intervention.changes;
    if (!patch_part(m.asked.part).spelled) return;
    for (int row = 0; row < g.rows; ++row)
        for (int column = 0; column < g.columns; ++column)
            if (!changes.empty() && !std::isnan(patch_shown(s, m, row, column)) &&
                std::find(changes.begin(), changes.end(), patch_change(s, m, row, column)) != changes.end())
                s.ui.frame(inset(g.cell(row, column), -1, -1), s.ui.colors->accent, 2);
}

std::string patch_tip(const Scene& s, const PatchMap& m, int row, int column) {
    const float value = patch_shown(s, m, row, column);
    if (std::isnan(value)) return "";
    const bool coarse = std::isnan(m.values(row, column)) || shows_estimates(s, m);
    return patch_row_name(s, m, row) + ", " + patch_column_name(s, m, row, column) + ": " +
           (coarse ? "about " : "") + number(value, 3);
}

MatrixView patch_matrix(const Scene& s, const PatchMap& m) {
    const Colormap& colors = signed_colormap(s.ui.colors->dark);
    const Matrix shown = shown_patches(s, m);
    const float reach = std::max(1.0f, largest_size(shown));
    const std::string what = "0: " + patch_metric(s, m) + " as without patching; 1: as in the clean run.";
    const bool applies = !s.ui.on_page() && patch_part(m.asked.part).spelled;
    const std::string click = applies ? " Click a cell to apply its patch." : "";
    MatrixView out{.path = "patch/map",
                   .cells = {signed_places_of(shown, reach), colors, true},
                   .rows = {[&](int i) { return patch_row_name(s, m, i); }},
                   .columns = {[&](int i) { return patch_column_name(s, m, 0, i); }},
                   .bar = range_bar(colors, double(reach), true),
                   .note = {what + click, what, "0: as without patching; 1: as in the clean run."},
                   .tip = [&](int row, int column) { return patch_tip(s, m, row, column); },
                   .inspected = true};
    out.rows.room = kPatchNames;
    out.rows.font = kCaption;
    out.rows.ink = [&](int) { return s.ui.colors->t3; };
    return out;
}

void draw_patch_map(Scene& s, Rect area, const PatchMap& m) {
    MatrixView view = patch_matrix(s, m);
    const MatrixLayout l = arrange_matrix(s.ui, area, view);
    const MatrixAnswer answer = answer_matrix(s, l, view);
    if (!s.ui.on_page()) s.of<PatchState>().pointed = answer.hovered;
    if (answer.pressed && patch_part(m.asked.part).spelled)
        s.change(patch_change(s, m, answer.hovered->first, answer.hovered->second));
    draw_matrix_view(s, l, view);
    frame_active_patches(s, l.grid, m);
}

}  // namespace

std::vector<std::string> patch_words() {
    std::vector<std::string> out;
    for (const PatchPartRow& row : patch_parts()) out.emplace_back(row.word);
    return out;
}

std::optional<PatchMapRequest> patch_request(const Session& session) {
    const Compared what = session.document.comparison.what;
    const PatchState& state = session.of<PatchState>();
    if (what != Compared::sentences && what != Compared::changes) return std::nullopt;
    PatchMapRequest out;
    out.from_other = clean_is_other(session);
    out.patch.part = state.part;
    if (state.part == PatchPart::head) out.patch.head = {session.selection.block, session.selection.head};
    out.patch.metric = session.document.metric.metric;
    return out;
}

std::string patch_metric(const Scene& s, const PatchMap& m) {
    return m.cells > 0 && m.asked.metric.a >= 0 && s.session.document.metric.metric.position < 0
               ? metric_label(*s.model(), m.asked.metric)
               : metric_text(s);
}

PatchMapFound patch_found(const Scene& s) {
    const auto map = patch_request(s.session);
    if (!map || !s.sentence()) return {};
    if (const auto* found = s.found<PatchMapRequest>(); found && found->asked == *map) return found->answer;
    const PatchSweep::Request request{*map};
    const auto sweep = PatchSweep::of(&request, inputs_shown(s));
    const auto* job = s.answer->job<PatchSweep>();
    return job && sweep && job->is_of(*sweep) ? job->found() : PatchMapFound{};
}

bool shows_estimates(const Scene& s, const PatchMap& m) {
    return s.of<PatchState>().estimates && m.estimates.size();
}

float patch_shown(const Scene& s, const PatchMap& m, int row, int column) {
    return shows_estimates(s, m) ? m.estimates(row, column) : m.shown(row, column);
}

std::string patch_row_name(const Scene& s, const PatchMap& m, int row) {
    const ModelConfig& c = s.model()->config;
    if (!m.heads.empty()) return "head " + patch_row_label(m, c, row);
    return c.stacks.size() > 1 ? block_name(c, m.blocks[row]) : "layer " + std::to_string(m.blocks[row]);
}

std::string patch_column_name(const Scene& s, const PatchMap& m, int row, int column) {
    if (m.by_head()) return "head " + std::to_string(column);
    const auto& labels = s.sentence()->query_labels(m.blocks[row]);
    return column < isize(labels) ? token_at(labels, column) : std::to_string(column);
}

Change patch_change(const Scene& s, const PatchMap& m, int row, int column) {
    Change out = patch_of(m, row, column);
    if (clean_is_other(s.session) && s.answer->other) out.from = s.answer->other->text;
    return out;
}

void draw_patch(Scene& s, Rect area) {
    constexpr float kProgressHigh = 34, kExample = 160;
    Rect rest = area;
    if (!s.ui.on_page()) draw_patch_toolbar(s, view_toolbar(s.ui, rest));
    draw_patched_texts(s, rest);
    rest = inset(rest, size::center_pad, gap::medium);
    std::string missing = missing_runs(s);
    const PatchMapFound found = missing.empty() ? patch_found(s) : PatchMapFound{};
    if (missing.empty()) missing = found.refusal;
    if (!missing.empty()) {
        take_top(rest, gap::wide);
        take_top(rest, s.ui.text.draw_wrapped(rest.x, rest.y, rest.w, kBody, s.ui.colors->t2, missing),
                 gap::medium);
        Rect button = take_top(rest, size::button);
        const bool beside_field = s.session.document.comparison.what == Compared::sentences;
        if (!s.ui.on_page() && !beside_field) draw_patch_example(s, take_left(button, kExample));
        return;
    }
    if (!found.map.warning.empty()) {
        s.ui.name("patch/warning", {rest.x, rest.y, rest.w, size::row});
        take_top(
            rest,
            s.ui.text.draw_wrapped(rest.x, rest.y, rest.w, kBody, s.ui.colors->warning, found.map.warning),
            gap::small);
    }
    if (!s.ui.on_page() && !found.map.whole())
        draw_patch_progress(s, take_top(rest, kProgressHigh, gap::small), found.map);
    if (found.map.cells > 0) draw_patch_map(s, rest, found.map);
}

namespace {

std::vector<Question> ask_patch(const Scene& s) {
    const auto request = s.ui.on_page() ? patch_request(s.session) : std::nullopt;
    return request ? std::vector<Question>{*request} : std::vector<Question>{};
}

std::vector<NumberTable> patch_map_numbers(const Scene& s) {
    const PatchMapFound found = patch_found(s);
    return found.map.cells > 0 ? patch_numbers(found.map, *s.sentence()->trace) : std::vector<NumberTable>{};
}

std::string no_patches(const Scene& s) {
    const std::string missing = missing_runs(s);
    return missing.empty() ? patch_found(s).refusal : missing;
}

const char* cannot_patch(const Model& m) {
    if (const char* missing = cannot_run(m)) return missing;
    return m.has_logits() ? nullptr : "This model has no head that predicts tokens.";
}

std::vector<JobRequest> patch_jobs(const Scene& s, bool shown) {
    const auto request = patch_request(s.session);
    if (!shown || !s.sentence() || !request) return {};
    return {PatchSweep::Request{*request, s.of<PatchState>().measures}};
}

}  // namespace

View patch_view() {
    return {.key = "patch",
            .name = "Patch",
            .answers = ViewGroup::change,
            .synonyms = "activation patching, causal tracing, interchange",
            .letter = 'B',
            .draw = draw_patch,
            .offered = reads_text,
            .missing = cannot_patch,
            .shows = View::Shows::model,
            .ask = ask_patch,
            .beside = {.inspect = always<draw_patch_inspector>},
            .second_run = true,
            .jobs = patch_jobs,
            .numbers = patch_map_numbers,
            .silent = no_patches,
            .visit = visit_state<PatchState>};
}

}  // namespace headlight
