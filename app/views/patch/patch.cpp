#include "views/patch/patch.h"

#include <algorithm>
#include <cmath>

#include "paint/matrix.h"
#include "parts/map_parts.h"
#include "parts/metric.h"
#include "parts/token_axis.h"
#include "views/views.h"

namespace headlight {

namespace {

constexpr float kPatchNames = 84, kPatchBar = 10, kPatchBarLong = 240, kPatchFoot = 76, kPatchNoteAt = 26;

bool clean_is_other(const Session& s) { return s.document.comparison.what == Compared::sentences; }

/// Why there is no map, and what helps; "" where there is one, or will be.
std::string missing_runs(const Scene& s) {
    const bool reads = s.ui.on_page() || !s.fields.other.text().empty();
    switch (s.session.document.comparison.what) {
        case Compared::sentences:
            if (!s.answer->other_error.empty()) return s.answer->other_error;
            return reads ? ""
                         : "Type the clean text: as many tokens as the text above, which differs from it in "
                           "the words "
                           "that change the answer.";
        case Compared::changes:
            if (s.sentence()->unchanged) return "";
            return "No interventions yet: put one in force, and this shows which places of the unchanged run "
                   "bring its answer back; or choose another clean run above.";
        default:
            return "Choose above what is clean: another text of as many tokens, or this text before the "
                   "interventions.";
    }
}

/// How the cells lie in the room, and what stands around them.
Grid patch_grid(Rect area, const PatchMap& m, float names) {
    constexpr float kWidest = 64, kHighest = 64;
    take_left(area, kPatchNames);
    take_top(area, names);
    take_bottom(area, kPatchFoot);
    const auto rows = narrow<int>(m.values.rows()), columns = narrow<int>(m.values.cols());
    return grid_at(area.min(), rows, columns, std::min(area.w / float(columns), kWidest),
                   std::min(area.h / float(rows), kHighest));
}

float patch_reach(const Matrix& shown) {
    float out = 1;
    for (Index i = 0; i < shown.size(); ++i)
        if (const float v = std::abs(shown.data()[i]); v > out) out = v;
    return out;
}

Matrix shown_patches(const Scene& s, const PatchMap& m) {
    Matrix out = m.values;
    for (int row = 0; row < isize(m.blocks); ++row)
        for (int column = 0; column < narrow<int>(out.cols()); ++column)
            out(row, column) = patch_shown(s, m, row, column);
    return out;
}

void name_places(Scene& s, const Grid& g, const PatchMap& m, float slant) {
    Ui& ui = s.ui;
    const auto pointed = s.of<PatchState>().pointed;
    TokenAxis rows{[&](int i) { return patch_row_name(s, m, i); }};
    rows.room = kPatchNames;
    rows.font = kCaption;
    rows.ink = [&](int) { return ui.colors->t3; };
    rows.lit = pointed ? pointed->first : -1;
    rows.draw_rows(ui, g);
    TokenAxis columns{[&](int i) { return patch_column_name(s, m, 0, i); }};
    columns.lean = slant > 0 ? Lean::slanted : Lean::level;
    columns.room = 120;
    columns.lit = pointed ? pointed->second : -1;
    columns.draw_columns(ui, g);
}

/// Cells whose patch is in force.
void frame_in_force(Scene& s, const Grid& g, const PatchMap& m) {
    const auto& changes = s.sentence()->intervention.changes;
    for (int row = 0; row < g.rows; ++row)
        for (int column = 0; column < g.columns; ++column)
            if (!changes.empty() && !std::isnan(patch_shown(s, m, row, column)) &&
                std::find(changes.begin(), changes.end(), patch_change(s, m, row, column)) != changes.end())
                s.ui.frame(inset(g.cell(row, column), -1, -1), s.ui.colors->accent, 2);
}

void answer_patch_map(Scene& s, const Grid& g, const PatchMap& m) {
    auto& pointed = s.of<PatchState>().pointed;
    const Hit hit = s.ui.hit("patch/map", g.view);
    if (!s.ui.on_page()) pointed.reset();
    if (!hit.hovered) return;
    const auto [row, column] = g.at(hit.mouse);
    const float value = patch_shown(s, m, row, column);
    if (std::isnan(value)) return;
    pointed = std::pair{row, column};
    s.ui.frame(inset(g.cell(row, column), -1, -1), s.ui.colors->hover, 2);
    const bool coarse = std::isnan(m.values(row, column)) || s.of<PatchState>().estimates;
    tell_at_pointer(s, "patch/cell", hit,
                    patch_row_name(s, m, row) + ", " + patch_column_name(s, m, row, column) + ": " +
                        (coarse ? "about " : "") + number(value, 3));
    if (hit.clicked) s.change(patch_change(s, m, row, column));
}

void draw_patch_foot(Scene& s, Rect foot, const PatchMap& m, float reach) {
    Ui& ui = s.ui;
    const Rect at{foot.x, foot.y + gap::medium, std::min(foot.w, kPatchBarLong), kPatchBar};
    std::optional<float> marked;
    if (const auto on = s.of<PatchState>().pointed)
        marked = 0.5f + 0.5f * patch_shown(s, m, on->first, on->second) / reach;
    ColorBar bar = range_bar(signed_colormap(ui.colors->dark), double(reach), true);
    bar.marked = marked;
    draw_color_bar(ui, bar, at);
    const Rect note{foot.x, at.bottom() + kPatchNoteAt, foot.w, size::row};
    const std::string what = "0: " + patch_metric(s, m) + " as without patching; 1: as in the clean run.";
    const std::string press = ui.on_page() ? "" : " Press a cell to put its patch in force.";
    caption(ui, note,
            first_that_fits(ui, kCaption,
                            {what + press, what, "0: as without patching; 1: as in the clean run."}, note.w));
}

void draw_patch_map(Scene& s, Rect area, const PatchMap& m) {
    Ui& ui = s.ui;
    std::vector<std::string> names;
    for (int i = 0; i < narrow<int>(m.values.cols()); ++i) names.push_back(patch_column_name(s, m, 0, i));
    const float widest = widest_of(ui, kCaptionMono, names, 120),
                slant = m.by_head() ? 0 : names_height(Lean::slanted, widest);
    const Grid g = patch_grid(area, m, std::max(24.0f, slant));
    const Matrix shown = shown_patches(s, m);
    const float reach = patch_reach(shown);
    draw_matrix(ui, g.whole(), {signed_places_of(shown, reach), signed_colormap(ui.colors->dark), true});
    answer_patch_map(s, g, m);
    frame_in_force(s, g, m);
    name_places(s, g, m, slant);
    draw_patch_foot(s, {g.view.x, g.view.bottom(), area.right() - g.view.x, kPatchFoot}, m, reach);
}

}  // namespace

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
    if (m.asked.part == PatchPart::head) return "head " + head_name(c, m.asked.head);
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
    constexpr float kProgressHigh = 34;
    Rect rest = area;
    if (!s.ui.on_page()) {
        draw_patch_toolbar(s, view_toolbar(s.ui, rest));
        draw_clean_field(s, rest);
    }
    rest = inset(rest, size::center_pad, gap::medium);
    std::string missing = missing_runs(s);
    const bool none = !missing.empty();
    const PatchMapFound found = missing.empty() ? patch_found(s) : PatchMapFound{};
    if (missing.empty()) missing = found.refusal;
    if (!missing.empty()) {
        take_top(rest, gap::wide);
        take_top(rest, s.ui.text.draw_wrapped(rest.x, rest.y, rest.w, kBody, s.ui.colors->t2, missing),
                 gap::medium);
        if (none && !s.ui.on_page()) draw_patch_example(s, take_top(rest, size::button));
        return;
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
    if (const char* missing = no_weights(m)) return missing;
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
            .digit = 'B',
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
