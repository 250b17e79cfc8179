// Two heads, two sentences, two models, or before and after the changes: what is chosen, and where it stands.
#include "views/compare.h"

#include <algorithm>
#include <cmath>

#include "base/cast.h"
#include "model/library.h"
#include "views/changes.h"
#include "views/panels.h"
#include "views/save_menu.h"
#include "views/views.h"

namespace headlight {

namespace {

constexpr const char* kWhat[] = {"two heads", "before and after", "two sentences", "two models"};
constexpr const char* kWords[] = {"heads", "changes", "sentences", "models"};  // of the command
constexpr const char* kShow[] = {"pattern", "ΔE", "next tokens"};

/// Head A with the pattern that it has in sentence B, or as it was.
void draw_patch(Scene& s, float& x, float y) {
    Ui& ui = s.ui;
    const bool possible =
        s.answer->other && s.answer->other->trace && s.answer->other->model == s.sentence()->model;
    if (s.session.document.comparison.what != Compared::sentences || !possible) return;
    Change patch;
    patch.kind = ChangeKind::freeze;
    std::tie(patch.block, patch.head) = std::pair{s.session.selection.block, s.session.selection.head};
    patch.from = s.fields.other.text();
    const auto& changes = s.session.document.intervention.changes;
    const bool on = std::find(changes.begin(), changes.end(), patch) != changes.end();
    const std::string label = on ? "Unpatch" : "Patch";
    const Rect r{x, y - 14, ui.text.width(kCaption, label) + 24, 28};
    const Hit h = ui.control("compare/patch", r);
    ui.fill(r, h.hovered ? ui.colors->bg3 : ui.colors->bg2, size::corner);
    ui.frame(r, on ? ui.colors->accent : ui.colors->l2, 1, size::corner);
    ui.text.draw_centered(r.middle_x(), y, kCaption, on ? ui.colors->accent_text : ui.colors->t1, label);
    ui.tooltip("compare/patch", h,
               "Gives head " + head_name(s.model()->config, patch.block, patch.head) +
                   " in A the pattern that it has in B, along the tokens that both have.");
    if (h.clicked) s.change(patch);
    x = r.right() + 18;
}

void draw_model_choice(Scene& s, float& x, float y) {
    Ui& ui = s.ui;
    const std::string name = s.session.document.comparison.model.empty()
                                 ? "choose…"
                                 : model_name(s.session.document.comparison.model);
    x += ui.text.draw(x, y, kCaption, ui.colors->t3, "Model B") + 8;
    const float w = std::min(ui.text.width(kCaption, name) + 28, 220.0f);
    const Rect r{x, y - 14, w, 28};
    const Hit h = ui.control("compare/model", r);
    ui.fill(r, h.hovered ? ui.colors->bg3 : ui.colors->bg2, size::corner);
    ui.frame(r, s.session.shows(Sheet::compared_models) ? ui.colors->accent : ui.colors->l2, 1, size::corner);
    ui.text.draw(r.x + 12, y, kCaption, ui.colors->t1, ui.text.fitted(kCaption, name, w - 20));
    if (h.clicked) s.send("compare model");
    x = r.right() + 18;
}

void draw_compare_toolbar(Scene& s, Rect area) {
    Ui& ui = s.ui;
    float x = area.x + 24;
    const float y = area.y + 24;
    if (const int c = ui.choice(x, y, "Compare", "compare/what", {std::begin(kWhat), std::end(kWhat)},
                                static_cast<int>(s.session.document.comparison.what));
        c >= 0)
        s.send("compare", kWords[c]);
    if (const int c = ui.choice(x, y, "Show", "compare/show", {std::begin(kShow), std::end(kShow)},
                                static_cast<int>(s.of<CompareState>().show));
        c >= 0)
        s.of<CompareState>().show = static_cast<ComparedShow>(c);
    if (s.session.document.comparison.what == Compared::models) draw_model_choice(s, x, y);
    const bool two_texts = s.session.document.comparison.what == Compared::sentences ||
                           s.session.document.comparison.what == Compared::models;
    if (two_texts)
        if (const int c = ui.choice(x, y, "Alignment", "compare/align", {"by token", "by position"},
                                    static_cast<int>(s.session.document.comparison.alignment.by));
            c >= 0)
            s.send("align by", c == 0 ? "token" : "position");
    draw_patch(s, x, y);
    if (two_texts && !s.session.document.comparison.alignment.by_hand.empty() &&
        ui.link("compare/untie", x + ui.text.width(kCaption, "Reset alignment"), y, "Reset alignment"))
        s.send("reset alignment");
    const Rect save{area.right() - (24 + 136), y - 16, 136, size::button};
    if (save.x > x + 70 && ui.button("save", save, "Save figure…")) s.send("save figure");
}

/// The second sentence under the toolbar; returns its height.
float draw_other_field(Scene& s, Rect area) {
    if (s.session.document.comparison.what != Compared::sentences) return 0;
    Ui& ui = s.ui;
    const Rect r{area.x + 48, area.y + 6, area.w - 72, 36};
    ui.text.draw(area.x + 24, r.middle_y(), kBody, ui.colors->t1, "B");
    draw_text_field(s, s.fields.other, "other", r, "The sentence to compare with");
    return 48;
}

/// Why there is nothing to see yet, or "".
std::string what_is_missing(const Scene& s) {
    const WorkAnswer& a = *s.answer;
    switch (s.session.document.comparison.what) {
        case Compared::heads:
            return "";
        case Compared::changes:
            return s.sentence()->unchanged ? ""
                                           : "No interventions yet. Press Intervene above, or paint on the "
                                             "heat map: before and after appear here side by side.";
        case Compared::models:
            if (!s.ui.on_page() && s.session.document.comparison.model.empty())
                return "Choose the model to compare with: Model B, above.";
            break;
        case Compared::sentences:
            if (!s.ui.on_page() && s.fields.other.text().empty()) return "Type the sentence to compare with.";
            break;
    }
    if (!a.other_error.empty()) return a.other_error;
    return a.other && a.other->trace ? "" : "Reading B…";
}

const PairedMap* shown_map(const Scene& s) {
    if (s.of<CompareState>().show == ComparedShow::delta)
        return s.found<DeltaPairWanted>() ? &s.found<DeltaPairWanted>()->answer.map : nullptr;
    return s.found<HeadPairWanted>() ? &s.found<HeadPairWanted>()->answer.map : nullptr;
}

/// Under the maps: differences, rows, and the grid of distances where heads can be compared one by one.
void draw_below(Scene& s, Rect area, const PairedMap& map) {
    Ui& ui = s.ui;
    const auto* found = s.found<HeadPairWanted>();
    const bool pattern = s.of<CompareState>().show == ComparedShow::pattern && found,
               grid = found && found->answer.each_to_itself;
    const int columns = 1 + pattern + grid;
    const float gap = 32, w = (area.w - 48 - gap * float(columns - 1)) / float(columns);
    Rect at{area.x + 24, area.y, columns == 1 ? std::min(w, 520.0f) : w, area.h};
    draw_largest(s, at, map);
    at.x += w + gap;
    if (pattern) {
        const auto cell = s.shown_cell();
        draw_by_token(s, at, columns > 2 ? "Query by query" : "How far apart, query by query",
                      "Jensen–Shannon bits", found->answer.by_query, map.row_labels,
                      cell ? index_of(map.rows, cell->first) : -1);
        at.x += w + gap;
    }
    if (!grid) return;
    ui.text.draw(at.x, at.y + 10, kBody, ui.colors->t1, "Distance of each head");
    ui.tooltip("compare/distance", ui.hit("compare/distance", {at.x, at.y, at.w, 20}),
               "Jensen–Shannon divergence of the head’s rows in A and in B, averaged over the queries that "
               "both have; 0 alike, 1 nothing in common.");
    if (const auto pressed = draw_head_values(s, {at.x, at.y + 24, at.w, at.h - 36}, s.model()->config,
                                              found->answer.distances, false, "compare/head/"))
        s.select(pressed->first, pressed->second);
}

}  // namespace

RunPair compared_runs(const Session& session) {
    constexpr Versus kVersus[] = {Versus::head, Versus::unchanged, Versus::other, Versus::other};
    return {row_of(kVersus, session.document.comparison.what),
            session.document.comparison.what == Compared::sentences ||
                    session.document.comparison.what == Compared::models
                ? session.document.comparison.alignment
                : Alignment{}};
}

std::string name_of_b(const Scene& s, const HeadPairWanted& w) {
    const std::string same = "Head " + head_name(s.model()->config, w.block, w.head);
    switch (s.session.document.comparison.what) {
        case Compared::heads:
            return "Head " + head_name(s.model()->config, w.block_b, w.head_b);
        case Compared::changes:
            return same + " before";
        case Compared::sentences:
            return same + " in sentence B";
        case Compared::models:
            break;
    }
    const auto& other = s.answer->other;
    if (!other || !other->model) return "";
    const ModelConfig& c = other->model->config;
    const int block_b = std::min(w.block_b, c.blocks() - 1);
    return "Head " + head_name(c, block_b, std::min(w.head_b, c.heads(block_b) - 1)) + " of " +
           other->model->name;
}

std::vector<Question> ask_compare(const Scene& s) {
    const RunPair runs = compared_runs(s.session);
    const auto& other = s.answer->other;
    const bool heads_apart = s.session.document.comparison.what == Compared::heads ||
                             (s.session.document.comparison.what == Compared::models && other &&
                              other->model && !same_heads(s.model()->config, other->model->config));
    const auto [block_b, head_b] = heads_apart
                                       ? s.session.document.comparison.head
                                       : std::pair{s.session.selection.block, s.session.selection.head};
    std::vector<Question> out{
        HeadPairWanted{runs, s.session.selection.block, s.session.selection.head, block_b, head_b}};
    if (s.of<CompareState>().show == ComparedShow::delta)
        out.push_back(DeltaPairWanted{runs, s.model()->config.block(s.session.selection.block).stack});
    if (s.of<CompareState>().show == ComparedShow::next)
        out.push_back(
            PredictionPairWanted{runs, s.session.selection.locked ? s.session.selection.locked->first : -1});
    return out;
}

void draw_compare(Scene& s, Rect area) {
    Ui& ui = s.ui;
    float top = area.y;
    if (!ui.on_page()) {
        draw_compare_toolbar(s, area);
        top += 48;
        top += draw_other_field(s, {area.x, top, area.w, 48});
    }
    const std::string missing = what_is_missing(s);
    if (!missing.empty()) {
        ui.text.draw_wrapped(area.x + 24, top + 24, area.w - 48, kBody,
                             s.answer->other_error.empty() ? ui.colors->t2 : ui.colors->warning, missing);
        return;
    }
    if (s.session.document.comparison.what == Compared::sentences)
        top += draw_ties(s, {area.x, top, area.w, 0});
    const Rect rest{area.x, top, area.w, area.bottom() - top};
    if (s.of<CompareState>().show == ComparedShow::next) {
        if (const auto* pair = s.found<PredictionPairWanted>()) draw_prediction_pair(s, rest, pair->answer);
        return;
    }
    const PairedMap* map = shown_map(s);
    const auto* pair = s.found<HeadPairWanted>();
    if (!map || !pair || pair->asked.runs != compared_runs(s.session)) return;
    if (map->a.size() == 0) {
        ui.text.draw_wrapped(area.x + 24, top + 24, area.w - 48, kBody, ui.colors->t2,
                             "The two models have different layers, so their ΔE cannot stand side by side; "
                             "choose another of Show.");
        return;
    }
    const bool delta = s.of<CompareState>().show == ComparedShow::delta;
    const std::string a = "Head " + head_name(s.model()->config, pair->asked.block, pair->asked.head);
    const std::string b = s.session.document.comparison.what == Compared::changes     ? "before"
                          : s.session.document.comparison.what == Compared::sentences ? "sentence B"
                          : s.session.document.comparison.what == Compared::models && s.answer->other
                              ? s.answer->other->model->name
                              : "the same";
    const std::array<std::string, 2> names = delta ? std::array<std::string, 2>{"‖ΔE‖ ÷ ‖E‖", b}
                                                   : std::array<std::string, 2>{a, name_of_b(s, pair->asked)};
    const bool low = rest.h < 460;  // the list at the left has the distances all the same
    const float below = draw_paired_maps(s, rest, *map, names, low ? rest.h : rest.h * 0.66f);
    if (low) return;
    ui.hairline(area.x, below, area.right(), below);
    draw_below(s, {area.x, below + 14, area.w, area.bottom() - below - 24}, *map);
}

View compare_view() {
    return {.key = "compare",
            .name = "Compare",
            .former = "difference",
            .digit = '7',
            .draw = draw_compare,
            .ask = ask_compare,
            .beside = {.list = draw_compare_list},
            .closes_inspector = true,
            .second_head = true,
            .second_run = true,
            .numbers = compare_numbers,
            .visit = visit_state<CompareState>};
}

}  // namespace headlight
