#include "views/experts/experts.h"

#include <algorithm>
#include <cmath>

#include "base/cast.h"
#include "figure/colormap.h"
#include "model/engine.h"
#include "parts/metric.h"
#include "parts/token_axis.h"
#include "session/commands/commands.h"
#include "views/views.h"

namespace headlight {

namespace {

constexpr float kWeights = 6;
constexpr TokenCells kCells{.least_wide = 62, .widest = 110, .least_high = 34, .highest = 48, .names = 72};

int block_of(const Scene& s, int layer) {
    const ModelConfig& c = full_config(*s.model());
    return c.blocks_of(isize(c.stacks) - 1, layer).front();
}

Change off(const Scene& s, int layer, int expert) {
    Change change;
    change.kind = ChangeKind::ablate_expert;
    change.block = block_of(s, layer);
    change.value = float(expert);
    return change;
}

void draw_labels(Scene& s, const TokenGrid& g, const ExpertRoutes& e) {
    draw_token_names(s, g, explained_position(s));
    TokenAxis beside{[&](int i) { return "layer " + std::to_string(e.layers[i]); }};
    beside.lit = narrow<int>(std::find(e.layers.begin(), e.layers.end(), expert_layer(s)) - e.layers.begin());
    beside.ink = [&](int) { return s.ui.colors->t3; };
    beside.room = kCells.names;
    beside.font = kCaption;
    beside.draw_rows(s.ui, g);
}

/// Draws the numbers of a token's experts, as many as fit, and a bar of their weights.
void draw_cell(Scene& s, Rect cell, int layer, const std::vector<ExpertChoice>& chosen) {
    Ui& ui = s.ui;
    const Rect r = inset(cell, 2, 2);
    ui.fill(r, ui.colors->bg2, size::corner);
    Rect numbers = inset(r, gap::tight, 0), bar = take_bottom(numbers, kWeights + 2);
    numbers.y += 1;
    float sum = 0;
    for (const ExpertChoice& c : chosen) sum += std::abs(c.weight);
    bar.h = kWeights - 2;
    const float wide = bar.w;
    for (size_t i = 0; i < chosen.size(); ++i) {
        const bool gone = is_off(s, layer, chosen[i].expert);
        const Rect part = take_left(bar, sum > 0 ? wide * std::abs(chosen[i].weight) / sum : 0);
        if (gone)
            ui.hatch(part, ui.colors->accent);
        else
            ui.fill(part, expert_ink(s, chosen[i].expert));
        const std::string number = std::to_string(chosen[i].expert);
        const Font font = i == 0 ? kBodyMono : kCaptionMono;
        const float w = ui.text.width(font, number);
        if (w > numbers.w) continue;
        const ImU32 ink = gone ? ui.colors->accent_text : i == 0 ? ui.colors->t1 : ui.colors->t3;
        write(ui, numbers, font, ink, number);
        if (gone) strike(ui, numbers, w, ink);
        take_left(numbers, w, gap::close);
    }
}

void draw_lane(Scene& s, const TokenGrid& g, const ExpertRoutes& e) {
    Ui& ui = s.ui;
    const int position = explained_position(s), layer = expert_layer(s);
    ui.clip(g.view);
    for (int r = 0; r < g.rows; ++r)
        for (int i = 0; i < g.columns && g.touches_row(r); ++i) {
            const Rect cell = g.cell(r, i);
            draw_cell(s, cell, e.layers[r], e.chosen[r][g.position(i)]);
            if (g.position(i) == position && e.layers[r] == layer)
                ui.frame(inset(cell, 1, 1), ui.colors->accent, 2, size::corner);
        }
    ui.unclip();
}

std::string about_cell(const Scene& s, int layer, int position, const std::vector<ExpertChoice>& chosen) {
    std::string out = token_at(output_labels(s), position) + " in layer " + std::to_string(layer) + ": ";
    for (size_t i = 0; i < chosen.size(); ++i)
        out += (i ? ", " : "") + std::string("expert ") + std::to_string(chosen[i].expert) + " × " +
               number(chosen[i].weight, 3);
    return out;
}

void answer_lane(Scene& s, const TokenGrid& g, const ExpertRoutes& e) {
    Ui& ui = s.ui;
    const Hit h =
        ui.hit("experts/lane", {g.view.x, g.view.y - kNumberedNames, g.view.w, g.view.h + kNumberedNames});
    if (!h.hovered) return;
    const int row = g.row_at(h.mouse.y), position = answer_position(s, g, h);
    if (h.clicked) s.select_block(block_of(s, e.layers[row]));
    if (g.view.contains(h.mouse))
        ui.tooltip("experts/" + std::to_string(row) + "," + std::to_string(position), h,
                   about_cell(s, e.layers[row], position, e.chosen[row][position]));
}

const char* no_experts(const Model& m) {
    if (const char* missing = no_weights(m)) return missing;
    return layers_with_experts(full_config(m)).empty() ? "This model has no experts: each layer has one MLP."
                                                       : nullptr;
}

}  // namespace

const ExpertRoutes* shown_routes(const Scene& s) {
    const auto* found = s.found<ExpertRoutesRequest>();
    const bool of_this =
        found && !found->answer.layers.empty() && isize(found->answer.chosen.front()) == output_size(s);
    return of_this ? &found->answer : nullptr;
}

const Found<ExpertsRequest>* shown_experts(const Scene& s) {
    const auto* found = s.found<ExpertsRequest>();
    return found && !found->answer.router.empty() && found->asked.position < output_size(s) ? found : nullptr;
}

int expert_layer(const Scene& s) {
    const ModelConfig& c = full_config(*s.model());
    const int layer = c.block(std::min(s.session.selection.block, c.blocks() - 1)).layer;
    const std::vector<int> layers = layers_with_experts(c);
    const auto at = std::lower_bound(layers.begin(), layers.end(), layer);
    return layers.empty() ? 0 : at == layers.end() ? layers.back() : *at;
}

bool is_off(const Scene& s, int layer, int expert) {
    return contains(s.sentence()->trace->request.intervention.changes, off(s, layer, expert));
}

void switch_expert(const Scene& s, int layer, int expert) { s.change(off(s, layer, expert)); }

std::string expert_name(int layer, int expert) {
    return std::to_string(layer) + "." + std::to_string(expert);
}

ImU32 expert_ink(const Scene& s, int expert) {
    constexpr int kColors = 12;  // far apart for neighbors; experts beyond share them
    const Rgb c = head_color(expert * 5 % kColors, kColors, s.ui.colors->dark);
    return IM_COL32(c.r, c.g, c.b, 255);
}

void strike(Ui& ui, Rect at, float width, ImU32 ink) {
    ui.stroke({at.x - 2, at.middle_y()}, {at.x + width + 2, at.middle_y()}, ink, 1.5f);
}

std::vector<Question> ask_experts(const Scene& s) {
    return {ExpertRoutesRequest{},
            ExpertsRequest{explained_position(s), expert_layer(s), explained_tokens(s).first}};
}

void draw_experts(Scene& s, Rect area) {
    const ExpertRoutes* e = shown_routes(s);
    if (!e) return;
    constexpr float kRouter = 0.42f;  // of the height
    Rect rest = inset(area, size::center_pad, 0);
    Rect head = take_top(rest, size::view_header);
    const Rect router = take_bottom(rest, std::max(150.0f, area.h * kRouter), gap::large);
    take_top(rest, kNumberedNames, gap::tight);
    take_right(rest, size::center_pad);
    const TokenGrid g = arrange_tokens(s, rest, isize(e->layers), s.of<ExpertsState>(), kCells);
    answer_lane(s, g, *e);
    draw_labels(s, g, *e);
    draw_lane(s, g, *e);
    draw_token_pages(s, take_right(head, kTokenPagesRoom), g, "experts");
    write(s.ui, head, kCaption, s.ui.colors->t2,
          first_that_fits(
              s.ui, kCaption,
              {"The experts of each token, the largest weight first. Bar: how the weight is shared.",
               "The experts of each token. Bar: their weights.", "Experts of each token"},
              head.w));
    Rect below = router;
    below.y = std::min(router.y, g.view.bottom() + gap::wide);
    below.h = area.bottom() - below.y;
    draw_router(s, below, *e);
}

View experts_view() {
    return {.key = "experts",
            .name = "Experts",
            .answers = ViewGroup::explain,
            .synonyms = "mixture of experts, MoE, router, gating",
            .draw = draw_experts,
            .offered = reads_text,
            .missing = no_experts,
            .shows = View::Shows::model,
            .ask = ask_experts,
            .beside = {.inspect = always<draw_experts_inspector>},
            .least_high = 240,
            .numbers = expert_numbers,
            .seen = seen_of<ExpertsState>};
}

}  // namespace headlight
