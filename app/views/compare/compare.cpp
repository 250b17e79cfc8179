// Compares two heads, sentences or models, or before and after interventions: toolbar and layout.
#include "views/compare/compare.h"

#include <algorithm>
#include <cmath>

#include "base/cast.h"
#include "parts/interventions.h"
#include "parts/metric.h"
#include "parts/model_names.h"
#include "parts/result.h"
#include "parts/text_entry.h"
#include "session/commands/commands.h"
#include "views/interactive_page.h"
#include "views/views.h"

namespace headlight {

namespace {

constexpr const char* kLayersApart =
    "The two models have different layers, so their ΔE cannot be compared; choose something else under Show.";
constexpr const char* kShow[] = {"pattern", "ΔE", "next tokens", "encoding"};

/// Adds the button that gives head A its pattern in sentence B.
void draw_patch(Scene& s, Toolbar& bar) {
    const bool possible =
        s.answer->other && s.answer->other->trace && s.answer->other->model == s.sentence()->model;
    if (s.session.document.comparison.what != Compared::sentences || !possible) return;
    Change patch;
    patch.kind = ChangeKind::freeze;
    std::tie(patch.block, patch.head) = std::pair{s.session.selection.block, s.session.selection.head};
    patch.from = s.fields.other.text();
    const auto& changes = s.session.document.intervention.changes;
    const bool on = std::find(changes.begin(), changes.end(), patch) != changes.end();
    const Hit h = bar.press("compare/patch", on ? "Unpatch" : "Patch", on);
    s.ui.tooltip("compare/patch", h,
                 "Give head " + head_name(s.model()->config, patch.block, patch.head) +
                     " in A its pattern in B, for the tokens that both have.");
    if (h.clicked) s.change(patch);
}

void draw_model_choice(Scene& s, Toolbar& bar) {
    constexpr float kMaxName = 192;
    const std::string& path = s.session.document.comparison.model;
    bar.say(kCaption, s.ui.colors->t3, "Model B", gap::small);
    const std::string name =
        s.ui.text.fitted(kCaption, path.empty() ? "choose…" : shown_model_name(s, path), kMaxName);
    if (bar.press("compare/model", name, s.session.shows(Sheet::compared_models)).clicked)
        s.send("compare model");
}

/// True if A and B may have different tokens.
bool compares_texts(const Scene& s) {
    return s.session.document.comparison.what == Compared::sentences ||
           s.session.document.comparison.what == Compared::models ||
           s.session.document.comparison.what == Compared::base;
}

/// True if A and B may have different tokens and a rule pairs them.
bool aligns_texts(const Scene& s) {
    return compares_texts(s) && s.session.document.comparison.what != Compared::base;
}

void draw_compare_toolbar(Scene& s, Toolbar bar, bool saves) {
    constexpr float kSave = 136, kLeastRest = 88;
    const Comparison& compared = s.session.document.comparison;
    bar.choose("Show", "compare/show", {std::begin(kShow), std::end(kShow)}, s.of<CompareState>().show);
    if (compared.what == Compared::models) draw_model_choice(s, bar);
    if (shows_encodings(s))
        add_metric_chip(s, "compare/metric", bar, "Metric",
                        metric_label(*s.model(), encodings_request(s).metric));
    if (aligns_texts(s))
        if (const int c = bar.choice("Alignment", "compare/align", {"by token", "by position"},
                                     static_cast<int>(compared.alignment.by));
            c >= 0)
            s.send("align by", c == 0 ? "token" : "position");
    if (compared.what == Compared::heads && compared.head != Comparison().head &&
        bar.link("compare/nearest", "Most similar"))
        s.send("compare", "nearest");
    draw_patch(s, bar);
    if (aligns_texts(s) && !compared.alignment.by_hand.empty() &&
        bar.link("compare/untie", "Reset alignment"))
        s.send("reset alignment");
    if (!saves || bar.rest().w < kSave + kLeastRest) return;
    if (s.ui.button("save", band(bar.take_end(kSave), size::button), "Save figure…")) s.send("save figure");
}

/// Draws the field of sentence B below the toolbar.
void draw_other_field(Scene& s, Rect& rest) {
    if (s.session.document.comparison.what != Compared::sentences) return;
    Rect line = inset(take_top(rest, size::view_header), size::center_pad, gap::close);
    write(s.ui, take_left(line, gap::large, gap::small), kBody, s.ui.colors->t1, "B");
    draw_text_field(s, s.fields.other, "other", line, "Sentence to compare with");
}

/// Shows a message instead of the maps.
void draw_message(Scene& s, Rect rest, ImU32 ink, const std::string& text) {
    const Rect inside = inset(rest, size::center_pad, gap::wide);
    s.ui.text.draw_wrapped(inside.x, inside.y, inside.w, kBody, ink, text);
}

bool chooses_model_b(const Scene& s) {
    const Comparison& compared = s.session.document.comparison;
    return compared.what == Compared::models && compared.model.empty() && !s.ui.on_page();
}

void draw_no_model_b(Scene& s, Rect rest) {
    constexpr float kButton = 160;
    rest = inset(rest, size::center_pad, gap::wide);
    const std::string what =
        "Reads this sentence with a second model too: its heads and its prediction are shown "
        "next to those of " +
        s.model()->name + ", token by token.";
    take_top(rest, s.ui.text.draw_wrapped(rest.x, rest.y, rest.w, kBody, s.ui.colors->t2, what), gap::medium);
    const Rect button = take_left(rest, kButton);
    if (s.ui.button("compare/choose", {button.x, button.y, button.w, size::button}, "Choose model B…",
                    Ui::Look::primary))
        s.send("compare model");
}

/// Why there is nothing to show yet, or "".
std::string why_nothing_shown(const Scene& s) {
    const WorkAnswer& a = *s.answer;
    switch (s.session.document.comparison.what) {
        case Compared::heads:
            return "";
        case Compared::changes:
            return s.sentence()->unchanged ? "" : kNoChanges;
        case Compared::models:
            if (chooses_model_b(s)) return "Choose a second model to compare with.";
            break;
        case Compared::base:
            if (!s.model()->adapter) return kNoAdapter;
            break;
        case Compared::sentences:
            if (!s.ui.on_page() && s.fields.other.text().empty()) return "Type a sentence to compare with.";
            break;
    }
    if (!a.other_error.empty()) return a.other_error;
    return a.other && a.other->trace ? "" : "Reading B…";
}

const PairedMap* shown_map(const Scene& s) {
    if (s.of<CompareState>().show == ComparedShow::delta)
        return s.found<DeltaPairRequest>() ? &s.found<DeltaPairRequest>()->answer.map : nullptr;
    return s.found<HeadPairRequest>() ? &s.found<HeadPairRequest>()->answer.map : nullptr;
}

/// Draws each head's distance from itself in the other run.
void draw_distances(Scene& s, Rect area, const std::vector<float>& distances) {
    Ui& ui = s.ui;
    const Rect title = take_top(area, size::line, gap::tight);
    write(ui, title, kBody, ui.colors->t1, "Distance of each head");
    ui.tooltip("compare/distance", ui.hit("compare/distance", title),
               "Jensen–Shannon divergence of the head’s rows in A and in B, averaged over the queries that "
               "both have. 0: identical, 1: disjoint.");
    if (const auto pressed =
            draw_head_values(s, area, s.model()->config, {distances, false, "compare/head/"}))
        s.select(pressed->first, pressed->second);
}

/// The width of the grid of distances: an equal share, or more if that fits three decimals, or two.
float width_of_distances(Scene& s, Rect inside, int columns) {
    constexpr float kMax = 0.45f;
    const float equal = nth_column(inside, 0, columns, gap::section).w;
    for (const int digits : {3, 2})
        if (const float wide = width_of_head_values(s.ui, s.model()->config, digits); wide <= kMax * inside.w)
            return std::max(equal, wide);
    return equal;
}

/// Draws differences, rows and, if heads correspond, the grid of distances below the maps.
void draw_below(Scene& s, Rect area, const PairedMap& map) {
    constexpr float kWidestAlone = 520;
    const auto* found = s.found<HeadPairRequest>();
    const bool pattern = s.of<CompareState>().show == ComparedShow::pattern && found,
               grid = found && found->answer.each_to_itself;
    const int count = 1 + pattern + grid;
    Rect inside = inset(area, size::center_pad, gap::medium);
    const Rect distances =
        grid ? take_right(inside, width_of_distances(s, inside, count), gap::section) : Rect();
    const auto column = [&](int i) { return nth_column(inside, i, 1 + pattern, gap::section); };
    Rect largest = column(0);
    if (count == 1) largest.w = std::min(largest.w, kWidestAlone);
    draw_largest(s, largest, map);
    if (pattern) {
        const auto cell = s.shown_cell();
        draw_by_token(s, column(1), "Distance by query", "Jensen–Shannon bits", found->answer.by_query,
                      map.row_labels, cell ? index_of(map.rows, cell->first) : -1);
    }
    if (grid) draw_distances(s, distances, found->answer.distances);
}

/// Titles of the maps of A and B.
std::array<std::string, 2> names_of_maps(const Scene& s, const Found<HeadPairRequest>& pair) {
    const Compared what = s.session.document.comparison.what;
    if (s.of<CompareState>().show == ComparedShow::pattern)
        return {"Head " + head_name(s.model()->config, pair.asked.block, pair.asked.head),
                name_of_b(s, pair)};
    const std::string ratio = "‖ΔE‖ ÷ ‖E‖";
    return {ratio, what == Compared::changes                     ? ratio
                   : what == Compared::base                      ? ratio
                   : what == Compared::sentences                 ? "sentence B"
                   : what == Compared::models && s.answer->other ? s.answer->other->model->name
                                                                 : "the same"};
}

/// Whether the curve over strengths stands below the maps: in the window as the frame has decided.
bool strengths_fit(const Scene& s, Rect rest) {
    constexpr float kLeast = 540;
    const bool alone = s.ui.on_page() || s.ui.without_toolbars;
    return shows_strengths(s) && (alone ? rest.h >= kLeast : s.of<CompareState>().strength_below);
}

/// Draws both maps and their difference, and below them what differs, if it fits.
void draw_pair(Scene& s, Rect rest) {
    constexpr float kBelow = 216;      // a title and six lines
    constexpr float kStrengths = 292;  // a curve, its slider and a line
    constexpr float kLow = 560;        // the list on the left shows the distances anyway
    const PairedMap* map = shown_map(s);
    const auto* pair = s.found<HeadPairRequest>();
    if (!map || !pair || pair->asked.runs != compared_runs(s.session)) return;
    if (map->a.size() == 0) return draw_message(s, rest, s.ui.colors->t2, kLayersApart);
    const bool pattern = s.of<CompareState>().show == ComparedShow::pattern,
               apart = pattern && pair->answer.alone;
    if (apart) {
        take_top(rest, 0, gap::medium);
        take_top(rest,
                 s.ui.text.draw_wrapped(rest.x + size::center_pad, rest.y, rest.w - 2 * size::center_pad,
                                        kBody, s.ui.colors->t2, pair->answer.apart),
                 gap::small);
        s.ui.name("compare/apart", {rest.x, rest.y, rest.w, 1});
    }
    const bool strengths = strengths_fit(s, rest), low = (rest.h < kLow && !strengths) || apart;
    const MapPair maps{map, apart ? &*pair->answer.alone : nullptr, names_of_maps(s, *pair)};
    const float high = low         ? rest.h
                       : strengths ? rest.h - kStrengths
                                   : std::max(rest.h * 0.66f, rest.h - kBelow);
    const float below = draw_paired_maps(s, rest, maps, high);
    if (low) return;
    s.ui.hairline(rest.x, below, rest.right(), below);
    const Rect room{rest.x, below, rest.w, rest.bottom() - below};
    if (strengths) return draw_strengths(s, room);
    const auto lit = lit_cell(s, *map, pattern);
    if (pattern && s.session.document.comparison.what == Compared::changes)
        return draw_row_changed(s, inset(room, size::center_pad, gap::medium), *map,
                                lit ? lit->first : isize(map->rows) - 1);
    draw_below(s, room, *map);
}

}  // namespace

RunPair compared_runs(const Session& session) {
    constexpr Versus kVersus[] = {Versus::head, Versus::unchanged, Versus::other, Versus::other,
                                  Versus::other};
    return {row_of(kVersus, session.document.comparison.what),
            session.document.comparison.what == Compared::sentences ||
                    session.document.comparison.what == Compared::models
                ? session.document.comparison.alignment
                : Alignment{}};
}

std::array<std::string, 2> names_of_sides(const Scene& s) {
    if (s.session.document.comparison.what == Compared::base) return {"adapted", "base"};
    return {"A", "B"};
}

std::string name_of_b(const Scene& s, const Found<HeadPairRequest>& pair) {
    const std::string same = "Head " + head_name(s.model()->config, pair.asked.block, pair.asked.head);
    const auto& other = s.answer->other;
    switch (s.session.document.comparison.what) {
        case Compared::heads:
            return "Head " + head_name(s.model()->config, pair.answer.b);
        case Compared::changes:
        case Compared::base:
            return same;
        case Compared::sentences:
            return same + " in sentence B";
        case Compared::models:
            break;
    }
    if (!other || !other->model) return "";
    return "Head " + head_name(other->model->config, pair.answer.b) + " of " + other->model->name;
}

std::vector<Question> ask_compare(const Scene& s) {
    const RunPair runs = compared_runs(s.session);
    const auto& other = s.answer->other;
    const bool heads_apart = s.session.document.comparison.what == Compared::heads ||
                             (s.session.document.comparison.what == Compared::models && other &&
                              other->model && !same_heads(s.model()->config, other->model->config));
    const auto [block, head] = s.session.selection.shown_head();
    const auto [block_b, head_b] =
        heads_apart ? s.session.document.comparison.head : s.session.selection.shown_head();
    std::vector<Question> out{HeadPairRequest{runs, block, head, block_b, head_b}};
    if (s.ui.on_page() && runs.versus == Versus::unchanged) {  // the window asks for them in every view
        const Metric& metric = s.session.document.metric.metric;
        out.push_back(MetricRequest{metric});
        out.push_back(MovedRequest{shown_metric(s).position});
    }
    if (s.ui.on_page() && shows_strengths(s)) out.push_back(strengths_request(s));
    if (s.of<CompareState>().show == ComparedShow::delta)
        out.push_back(DeltaPairRequest{runs, s.model()->config.block(block).stack});
    if (s.ui.on_page() && shows_encodings(s) && runs.versus == Versus::other)
        out.push_back(encodings_request(s));
    if (s.of<CompareState>().show == ComparedShow::next || runs.versus == Versus::other) {
        const auto& locked = s.session.selection.locked;
        const bool at_locked = s.of<CompareState>().show == ComparedShow::next && locked;
        out.push_back(PredictionPairRequest{runs, at_locked ? locked->first : -1});
    }
    return out;
}

void draw_compare(Scene& s, Rect area) {
    constexpr float kResult = 300, kLeastBeside = 800;
    Rect rest = area;
    const bool beside = has_result(s) && !s.ui.on_page() && area.w >= kResult + kLeastBeside;
    if (beside) {
        const Rect panel = take_right(rest, kResult);
        s.ui.hairline(panel.x, panel.y, panel.x, panel.bottom());
        draw_result_inspector(s, panel, false);
    }
    if (!s.ui.on_page()) {
        draw_compare_toolbar(s, view_toolbar(s.ui, rest), !beside);  // the panel has Save
        draw_other_field(s, rest);
    }
    const bool changes = s.session.document.comparison.what == Compared::changes;
    if (!changes || !s.sentence()->unchanged) s.of<CompareState>().opens = true;
    if (changes && !s.sentence()->unchanged) return draw_no_changes(s, rest);
    const std::string missing = why_nothing_shown(s);
    if (chooses_model_b(s)) return draw_no_model_b(s, rest);
    if (!missing.empty())
        return draw_message(s, rest, s.answer->other_error.empty() ? s.ui.colors->t2 : s.ui.colors->warning,
                            missing);
    if (s.session.document.comparison.what == Compared::sentences)
        take_top(rest, draw_token_pairing(s, rest));
    if (compares_texts(s)) take_top(rest, draw_what_differs(s, rest));
    if (changes) {
        open_on_moved(s);
        take_top(rest, draw_what_changed(s, rest, !beside), gap::small);
    }
    if (shows_encodings(s)) return draw_encodings(s, rest);
    if (s.of<CompareState>().show != ComparedShow::next) return draw_pair(s, rest);
    if (const auto* pair = s.found<PredictionPairRequest>()) draw_prediction_pair(s, rest, pair->answer);
}

namespace {

std::string nothing_compared(const Scene& s) {
    const std::string missing = why_nothing_shown(s);
    if (missing.empty() && shows_encodings(s)) return why_no_encodings(s);
    return missing.empty() && s.of<CompareState>().show == ComparedShow::delta ? kLayersApart : missing;
}

/// Measures what an adapter changes while its base stands beside it.
std::vector<JobRequest> compare_in_background(const Scene& s, bool shown) {
    if (!shown || !s.sentence() || !s.sentence()->trace->has_weights()) return {};
    const Compared what = s.session.document.comparison.what;
    if (what == Compared::models && shows_encodings(s) && s.answer->other && s.answer->other->trace)
        return {Measuring<EncodingsRequest>::Request{encodings_request(s)}};
    if (what != Compared::base || !s.model()->adapter) return {};
    std::vector<JobRequest> out{Measuring<AdapterChangesRequest>::Request{}};
    if (shows_strengths(s)) out.emplace_back(Measuring<StrengthsRequest>::Request{strengths_request(s)});
    return out;
}

ShownHeads compared_heads(const Scene& s) {
    const auto [block, head] = s.session.selection.shown_head();
    const auto* pair = s.found<HeadPairRequest>();
    const bool two = s.session.document.comparison.what == Compared::heads && pair &&
                     pair->asked.runs.versus == Versus::head;
    return {{block, head}, false, two ? std::optional(pair->answer.b) : std::nullopt};
}

}  // namespace

View compare_view() {
    return {.key = "compare",
            .name = "Compare",
            .synonyms = "diff, base and adapted, LoRA, quantization, encodings",
            .draw = draw_compare,
            .ask = ask_compare,
            .beside = {.list = always<draw_compare_list>},
            .panels = View::Panels::no_inspector,
            .paints = true,
            .second_run = true,
            .has_strength = has_strength_below,
            .jobs = compare_in_background,
            .heads = compared_heads,
            .page = "compare",
            .numbers = compare_numbers,
            .silent = nothing_compared,
            .visit = visit_state<CompareState>,
            .seen = seen_of<CompareState>,
            .commands = compare_commands,
            .begin = [](CommandContext& c) { c.session.of<CompareState>().opens = true; }};
}

}  // namespace headlight
