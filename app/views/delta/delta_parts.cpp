// Splits one ΔE by head or key, and lists the logits it changes.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "base/cast.h"
#include "parts/metric.h"
#include "views/delta/delta.h"

namespace headlight {

void draw_part_heading(Ui& ui, Rect line, const std::vector<std::string>& titles, const std::string& right) {
    if (!right.empty()) ui.explain("number/" + right, line);
    line.h = size::line;
    write(ui, line, kCaptionMono, ui.colors->t3, right, Flush::right);
    take_right(line, ui.text.width(kCaptionMono, right), gap::medium);
    write(ui, line, kBody, ui.colors->t1, first_that_fits(ui, kBody, titles, line.w));
}

namespace {

constexpr float kMaxNames = 0.48f, kMaxOfLeast = 0.42f, kLeastRoom = 160;  // of a narrow column

struct Bar {
    std::string name;
    float value;
    bool this_one = false;
};

struct BarLook {
    float names;  // width of names
    bool is_signed;
};

void draw_bar(Ui& ui, Rect line, const Bar& bar, const BarLook& look, float largest, bool both_sides) {
    constexpr float kValue = 64, kHigh = 10, kZero = 5;
    write(ui, take_left(line, look.names - gap::small, gap::small), kBodyMono,
          bar.this_one ? ui.colors->accent_text : ui.colors->t2, bar.name);
    write(ui, take_right(line, kValue, gap::small), kBodyMono, ui.colors->t1,
          look.is_signed ? signed_number(bar.value, 2) : number(bar.value, 2), Flush::right);
    const Rect track = band(line, kHigh);
    if (both_sides) return ui.signed_bar(track, bar.value / largest);
    ui.fill({track.x, track.y, std::max(ui.line(), track.w * bar.value / largest), track.h}, ui.colors->plus);
    ui.fill({track.x, track.y - kZero, ui.line(), track.h + 2 * kZero}, ui.colors->l2);
}

/// Draws as many bars as fit.
void draw_bars(Scene& s, Rect area, const std::vector<Bar>& bars, BarLook look) {
    Ui& ui = s.ui;
    if (bars.empty()) return;
    std::vector<std::string> names;
    for (const Bar& b : bars) names.push_back(b.name);
    look.names = std::min({look.names, widest_of(ui, kBodyMono, names) + gap::small + 1,
                           area.w * (area.w < kLeastRoom ? kMaxOfLeast : kMaxNames)});
    const float pitch = std::clamp(area.h / float(bars.size()), 20.0f, 28.0f);
    const int room = int(area.h / pitch + 0.01f);  // the last line counts the rest
    const int shown = isize(bars) <= room ? isize(bars) : std::max(0, room - 1);
    float largest = 1e-12f;
    bool negative = false;
    for (const Bar& b : bars) {
        largest = std::max(largest, std::abs(b.value));
        negative = negative || b.value < -1e-4f;
    }
    for (const Bar& b : std::span(bars).first(shown))
        draw_bar(ui, take_top(area, pitch), b, look, largest, negative);
    if (shown < isize(bars))
        caption(ui, take_top(area, pitch), std::to_string(bars.size() - shown) + " more", Flush::right);
}

/// Omits the stack from names that do not fit; the heading has it.
std::vector<Bar> head_bars(const Scene& s, const Found<DeltaSplitRequest>& found, float room) {
    std::vector<Bar> bars;
    const auto& parts = found.answer.heads;
    const ModelConfig& c = s.model()->config;
    std::vector<std::string> names, shorter;
    for (int h = 0; h < c.heads(found.asked.block); ++h) {
        names.push_back(head_name(c, found.asked.block, h));
        shorter.push_back(std::to_string(c.block(found.asked.block).layer) + "." + std::to_string(h));
    }
    if (widest_of(s.ui, kBodyMono, names) > room) names = shorter;
    for (int h = 0; h < isize(parts); ++h) {
        const bool bias = h == s.model()->config.heads(found.asked.block);
        bars.push_back({!bias                ? names[h]
                        : found.answer.given ? "patched"
                                             : "bias",
                        parts[h].along, !bias && h == s.session.selection.head});
    }
    return bars;
}

/// Strongest keys first.
std::vector<Bar> key_bars(const Scene& s, const Found<DeltaSplitRequest>& found) {
    const auto& parts = found.answer.keys;
    std::vector<size_t> order(parts.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return parts[a].norm > parts[b].norm; });
    const auto& labels = s.sentence()->key_labels(found.asked.block);
    std::vector<Bar> bars;
    for (const size_t k : order) bars.push_back({token_at(labels, narrow<int>(k)), parts[k].norm});
    return bars;
}

constexpr float kChip = 96, kUnit = 44, kLeastChip = 110;  // of the metric's chip
constexpr float kNote = 24, kPartNames = 96, kKeyNames = 108, kPairNames = 140;

void draw_note(Ui& ui, Rect foot, const std::vector<std::string>& ways) {
    caption(ui, {foot.x, foot.y + gap::tight, foot.w, size::line},
            first_that_fits(ui, kCaption, ways, foot.w));
}

}  // namespace

void draw_delta_parts(Scene& s, Rect area) {
    Ui& ui = s.ui;
    const auto* found = s.found<DeltaSplitRequest>();
    if (const char* missing = no_weights(*s.model()); !found && missing) caption_lines(ui, area, missing);
    if (!found) return;
    const std::string layer = "Layer " + block_name(s.model()->config, found->asked.block),
                      token = token_at(s.sentence()->query_labels(found->asked.block), found->asked.query);
    const bool by_head = s.of<DeltaState>().split == DeltaSplitBy::head;
    const Rect head = take_top(area, kPartHead), foot = take_bottom(area, kNote);
    if (by_head) {
        float sum = 0;
        for (const DeltaPart& p : found->answer.heads) sum += p.along;
        draw_part_heading(ui, head,
                          {layer + " at " + token + ", by head", layer + " at " + token, layer,
                           block_name(s.model()->config, found->asked.block)},
                          "Σ " + decimals(sum, 2));
        draw_bars(s, area, head_bars(s, *found, area.w * kMaxNames - gap::small), {kPartNames, true});
    } else {
        const std::string of =
            found->asked.head < 0
                ? layer
                : "Head " + head_name(s.model()->config, found->asked.block, found->asked.head);
        draw_part_heading(ui, head, {of + " at " + token + ", by key", of + " at " + token, of}, "");
        draw_bars(s, area, key_bars(s, *found), {kKeyNames, false});
    }
    draw_note(
        ui, foot,
        by_head
            ? std::vector<std::string>{"Length along the layer’s ΔE", "Along the layer’s ΔE", "Along ΔE"}
            : std::vector<std::string>{"‖weight · v · W_O‖ (Kobayashi et al. 2020)", "‖weight · v · W_O‖"});
}

void draw_tokens_moved(Scene& s, Rect area) {
    Ui& ui = s.ui;
    const auto* found = s.found<DeltaSplitRequest>();
    if (!found) return;
    Rect heading = take_top(area, kPartHead);
    const bool named = heading.w > kChip + kUnit + kLeastChip;
    const float from = named ? kChip : 0;
    if (s.model()->has_logits())
        draw_metric_chip(s, "delta", {heading.x + from, heading.y, heading.w - from - kUnit, size::line});
    draw_part_heading(ui, heading, {named ? "Logit change" : ""}, "logit");
    const DeltaSplit& split = found->answer;
    if (split.promoted.empty()) {
        caption_lines(ui, area,
                      s.model()->has_logits()
                          ? "No direct path to the logits: another norm, stream or stack lies in between."
                          : "This model has no head that predicts tokens.");
        return;
    }
    std::vector<Bar> bars{{explained_text(*s.model(), split.token, split.against), split.explained, true}};
    const auto add = [&](const TokenShift& shift) {
        const bool listed = split.against < 0 && shift.id == split.token;
        if (!listed) bars.push_back({listed_label(*s.model(), shift.id), shift.logit});
    };
    for (size_t i = 0; i < 4; ++i) add(split.promoted[i]);
    for (size_t i = 4; i-- > 0;) add(split.suppressed[i]);
    const Rect foot = take_bottom(area, kNote);
    draw_bars(s, area, bars, {split.against < 0 ? kPartNames : kPairNames, true});
    draw_note(ui, foot,
              {"Through the final norm, read as logits", "Final norm, then logits", "Final norm, logits"});
}

}  // namespace headlight
