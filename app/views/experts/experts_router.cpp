// Draws what a router says of one token, what its experts take of the text, and what they add to a logit.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/cast.h"
#include "model/engine.h"
#include "parts/controls.h"
#include "parts/metric.h"
#include "parts/side_panel.h"
#include "views/experts/experts.h"

namespace headlight {

namespace {

constexpr float kLine = 24, kSwatch = 10;

/// Counts what goes to each expert of a layer: tokens, and the sum of their weights.
struct Taken {
    std::vector<int> tokens;
    std::vector<float> weights;
};
Taken taken_of(const ExpertRoutes& e, int layer, int experts) {
    Taken out{std::vector<int>(size_t(experts)), std::vector<float>(size_t(experts))};
    const auto row = std::find(e.layers.begin(), e.layers.end(), layer) - e.layers.begin();
    for (const auto& chosen : e.chosen[size_t(row)])
        for (const ExpertChoice& c : chosen) {
            ++out.tokens[size_t(c.expert)];
            out.weights[size_t(c.expert)] += c.weight;
        }
    return out;
}

/// Draws the heading of a column of lines, and the names of its numbers.
void draw_heading(Ui& ui, Rect& area, const std::string& title, const std::string& right) {
    const Rect line = take_top(area, size::row, gap::tight);
    write(ui, line, kBody, ui.colors->t1, title);
    write(ui, line, kCaption, ui.colors->t3, right, Flush::right);
}

/// Draws "3 ■ ▬▬▬ 0.942"; a click on it switches the expert.
void draw_line(Scene& s, Rect line, const char* path, int layer, int expert, float share, float largest,
               const std::string& value, bool lit) {
    constexpr float kNumber = 36, kValues = 110;
    Ui& ui = s.ui;
    const Hit h = ui.control(path + expert_name(layer, expert), line);
    const bool gone = is_off(s, layer, expert);
    if (h.hovered) ui.fill(line, ui.colors->bg3, size::corner);
    if (h.clicked) switch_expert(s, layer, expert);
    Rect rest = inset(line, gap::tight, 0);
    const ImU32 ink = gone ? ui.colors->accent_text : lit ? ui.colors->t1 : ui.colors->t3;
    const Rect name = take_left(rest, kNumber);
    const float w = write(ui, name, kBodyMono, ink, std::to_string(expert));
    if (gone) strike(ui, name, w, ink);
    const Rect swatch = square_at({rest.x + kSwatch / 2, rest.middle_y()}, kSwatch);
    take_left(rest, kSwatch, gap::medium);
    ui.fill(swatch, expert_ink(s, expert), 2);
    write(ui, take_right(rest, kValues, gap::medium), kCaptionMono, ink, value, Flush::right);
    const Rect bar = band(rest, 8);
    if (gone)
        ui.hatch({bar.x, bar.y, bar.w * share / largest, bar.h}, ui.colors->accent);
    else
        ui.bar(bar, share / largest, lit ? ui.colors->accent : ui.colors->t3);
}

const char* routing_name(Routing routing) {
    return routing == Routing::sigmoid ? "σ of its score" : "softmax";
}

void draw_router_of(Scene& s, Rect area, const Found<ExpertsRequest>& found) {
    const Experts& e = found.answer;
    const int layer = found.asked.layer;
    const ExpertsSpec& spec = *full_config(*s.model()).stacks.back().layers[layer].mlp.experts;
    draw_heading(
        s.ui, area,
        "Router at " + token_at(output_labels(s), found.asked.position) + ", layer " + std::to_string(layer),
        std::string(routing_name(spec.routing)) + ", weight");
    std::vector<int> order(e.router.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return e.router[a] > e.router[b]; });
    const auto weight_of = [&](int expert) {
        const auto at = std::find_if(e.shares.begin(), e.shares.end(), [&](const ExpertShare& share) {
            return share.layer == layer && share.expert == expert;
        });
        return at == e.shares.end() ? std::nullopt : std::optional(at->weight);
    };
    std::stable_partition(order.begin(), order.end(), [&](int i) { return weight_of(i).has_value(); });
    const float largest = *std::max_element(e.router.begin(), e.router.end());
    for (const int expert : order) {
        if (area.h < kLine) break;
        const auto weight = weight_of(expert);
        draw_line(s, take_top(area, kLine), "experts/router/", layer, expert, e.router[size_t(expert)],
                  std::max(largest, 1e-9f),
                  number(e.router[size_t(expert)], 3) + (weight ? "  " + number(*weight, 3) : "       "),
                  weight.has_value());
    }
}

void draw_taken(Scene& s, Rect area, const ExpertRoutes& e, int layer) {
    const ExpertsSpec& spec = *full_config(*s.model()).stacks.back().layers[layer].mlp.experts;
    const Taken taken = taken_of(e, layer, spec.count);
    const int tokens = output_size(s);
    draw_heading(s.ui, area, "Tokens of this text in layer " + std::to_string(layer), "tokens, mean weight");
    std::vector<int> order(size_t(spec.count));
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](int a, int b) { return taken.tokens[size_t(a)] > taken.tokens[size_t(b)]; });
    area.h -= kLine;  // of what is said below
    for (const int expert : order) {
        if (area.h < kLine) break;
        const int count = taken.tokens[size_t(expert)];
        const std::string mean =
            count ? number(taken.weights[size_t(expert)] / float(count), 3) : std::string("—    ");
        draw_line(s, take_top(area, kLine), "experts/taken/", layer, expert, float(count), float(tokens),
                  std::to_string(count) + "  " + mean, count > 0);
    }
    caption(s.ui, {area.x, area.y + gap::tight, area.w, kLine},
            "If all were alike, each would take " + percent(double(spec.used) / spec.count) + " of " +
                std::to_string(tokens) + " tokens.");
}

}  // namespace

void draw_router(Scene& s, Rect area, const ExpertRoutes& routes) {
    if (area.h < 3 * kLine) return;
    s.ui.hairline(area.x, area.y - gap::small, area.right(), area.y - gap::small);
    if (const auto* found = shown_experts(s)) draw_router_of(s, nth_column(area, 0, 2, gap::section), *found);
    draw_taken(s, nth_column(area, 1, 2, gap::section), routes, expert_layer(s));
}

void draw_experts_inspector(Scene& s, Rect area) {
    const auto* found = shown_experts(s);
    if (!found) return;
    const Experts* e = &found->answer;
    Ui& ui = s.ui;
    draw_inspector_title(s, area, token_at(output_labels(s), found->asked.position), "by its experts");
    SidePanel panel(s, area);
    if (e->token < 0) {
        panel.note("This model predicts by no direct path, so no logit can be split among experts.");
        return panel.finish();
    }
    panel.heading("Share of the logit of “" + listed_label(*s.model(), e->token) + "”", "logit");
    float largest = 1e-6f;
    for (const ExpertShare& share : e->shares) largest = std::max(largest, std::abs(share.logit));
    for (const ExpertShare& share : e->shares) {
        const Rect line{panel.at.x - gap::small, panel.y - size::row / 2, panel.at.w + 2 * gap::small,
                        size::row};
        const std::string name = expert_name(share.layer, share.expert);
        const Hit h = ui.control("experts/share/" + name, line);
        if (h.hovered) ui.fill(line, ui.colors->bg3, size::corner);
        if (h.clicked) switch_expert(s, share.layer, share.expert);
        panel.bar({"", name, share.logit / largest, share.off ? "off" : signed_number(share.logit, 2),
                   share.off, true},
                  size::row);
    }
    panel.skip(gap::tight);
    panel.pair("attention, token, rest", signed_number(e->others, 2));
    panel.pair("logit", signed_number(e->logit, 2), true);
    panel.skip(gap::small);
    panel.note("Click an expert to switch it off: what it adds is left out, and nothing takes its place.");
    panel.finish();
}

std::vector<NumberTable> expert_numbers(const Scene& s) {
    const ExpertRoutes* e = shown_routes(s);
    const auto* found = shown_experts(s);
    if (!e || !found) return {};
    const auto& tokens = output_labels(s);
    std::vector<NumberTable> out;
    for (size_t l = 0; l < e->layers.size(); ++l) {
        const int count = full_config(*s.model()).stacks.back().layers[e->layers[l]].mlp.experts->count;
        Matrix weights = Matrix::Zero(isize(tokens), count);
        for (int i = 0; i < isize(tokens); ++i)
            for (const ExpertChoice& c : e->chosen[l][size_t(i)]) weights(i, c.expert) = c.weight;
        out.push_back({"weights of layer " + std::to_string(e->layers[l]), "token", "expert", tokens,
                       counted(count), std::move(weights)});
    }
    std::vector<std::string> names;
    Matrix shares(isize(found->answer.shares), 2);
    for (int i = 0; i < isize(found->answer.shares); ++i) {
        names.push_back(expert_name(found->answer.shares[i].layer, found->answer.shares[i].expert));
        shares.row(i) << found->answer.shares[i].weight, found->answer.shares[i].logit;
    }
    if (found->answer.token >= 0)
        out.push_back({"share of the logit",
                       "expert",
                       "value",
                       names,
                       {"weight", "logit"},
                       std::move(shares),
                       {},
                       {},
                       true});
    return out;
}

}  // namespace headlight
