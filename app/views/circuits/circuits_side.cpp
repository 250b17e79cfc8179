// Draws the selected head's scores and pairs beside the map of compositions.
#include <algorithm>
#include <cmath>

#include "model/engine.h"
#include "views/circuits/circuits.h"

namespace headlight {

namespace {

constexpr float kListStep = 24, kPairValue = 60, kComposedValue = 52;
constexpr int kStrongest = 6;

/// Says why a score is missing, or "".
std::string missing_scores(const ModelConfig& config, const HeadCircuits& found, int block) {
    if (!std::isnan(found.copying) && !std::isnan(found.previous) && !std::isnan(found.duplicate)) return "";
    if (config.block(block).kind == AttentionKind::cross)
        return "—: a cross head has its queries and its keys in different texts.";
    if (!found.qk.refusal.empty()) return "—: " + found.qk.refusal;
    return found.ov.refusal.empty() ? "" : "—: " + found.ov.refusal;
}

void draw_scores(Column& c, const ModelConfig& config, const HeadCircuits& found, int block) {
    c.pair("copying score", number(found.copying, 2));
    c.pair("previous-token score", number(found.previous, 3));
    c.pair("duplicate-token score", number(found.duplicate, 2));
    if (const std::string missing = missing_scores(config, found, block); !missing.empty()) c.note(missing);
}

/// The strongest pairs of the map's kind, or of the graph's kinds.
std::vector<ComposedPair> listed_pairs(const CircuitsState& state, const Composition& of) {
    std::array<bool, kCompositionKinds> kinds{};
    kinds[static_cast<int>(state.kind)] = true;
    return strongest_ranked(of, kStrongest, state.graph ? state.kinds : kinds);
}

/// "2.1 ← 0.3"; in the graph "2.1 ← 0.3 K".
std::string pair_label(const ModelConfig& c, const ComposedPair& pair, bool with_kind) {
    const std::string kind =
        with_kind ? std::string(" ") + kCompositionNames[static_cast<int>(pair.kind)] : "";
    return head_name(c, c.head_at(pair.reader)) + " ← " + head_name(c, c.head_at(pair.writer)) + kind;
}

/// Lists the strongest pairs of heads; click selects the reader.
void draw_strongest(Scene& s, Column& c, const Composition& of) {
    Ui& ui = s.ui;
    const ModelConfig& config = full_config(*s.model());
    const CircuitsState& state = s.of<CircuitsState>();
    const auto pairs = listed_pairs(state, of);
    const std::string kind = kCompositionNames[static_cast<int>(state.kind)];
    c.heading("reads ← writes", (state.graph ? "" : kind + " ") + "composition");
    std::vector<std::string> labels;
    for (const ComposedPair& pair : pairs) labels.push_back(pair_label(config, pair, state.graph));
    c.values = kComposedValue;
    c.bars = between(widest_of(ui, kBodyMono, labels) + gap::small, c.at.w * 0.45f, c.at.w - kComposedValue);
    const float largest = pairs.empty() ? 1 : pairs.front().value;
    for (int i = 0; i < isize(pairs); ++i) {
        const Rect line = inset(c.line(kListStep), -gap::tight, 0);
        const Hit hit = ui.control("circuits/pair/" + std::to_string(i), line);
        if (hit.hovered) ui.fill(line, ui.colors->bg3, size::corner);
        const bool on = state.pointed == std::pair{pairs[i].reader, pairs[i].writer};
        c.bar({"", labels[i], pairs[i].value / largest, number(pairs[i].value, 3), on}, kListStep);
        const AttentionHead reader = config.head_at(pairs[i].reader);
        if (hit.clicked) s.select(reader.block, reader.head);
    }
}

/// Lists pairs of tokens, as many as fit.
void draw_token_pairs(Scene& s, Rect area, const std::string& title, const std::string& value,
                      const CircuitPairs& found) {
    Ui& ui = s.ui;
    Column c(ui, area, area.y + gap::medium);
    c.heading(title, value);
    if (!found.refusal.empty()) return c.note(found.refusal);
    for (const CircuitPair& pair : found.pairs) {
        if (c.y + kListStep / 2 > area.bottom()) break;
        Rect line = c.line(kListStep);
        write(ui, take_right(line, kPairValue), kCaptionMono, ui.colors->t2, number(pair.value, 2),
              Flush::right);
        const float half = (line.w - gap::wide) / 2;
        write(ui, take_left(line, half), kCaptionMono, ui.colors->t1,
              listed_label(*s.model(), pair.from, found.from_stack));
        write(ui, take_left(line, gap::wide), kCaption, ui.colors->t3, "→", Flush::center);
        write(ui, line, kCaptionMono, ui.colors->t1, listed_label(*s.model(), pair.to, found.to_stack));
        c.skip(kListStep);
    }
}

/// Says which tokens the lists of pairs leave out.
std::string reserved_note(int reserved) {
    return "Left out: " + std::to_string(reserved) +
           (reserved == 1 ? " reserved token, which no text has." : " reserved tokens, which no text has.");
}

}  // namespace

void draw_circuits_side(Scene& s, Rect area) {
    constexpr float kScores = 132, kHeadings = 66;
    const auto* found = s.found<CircuitsRequest>();
    const auto composed = composition_found(s);
    if (!found) return;
    const HeadCircuits& circuits = found->answer;
    const std::string head =
        "Head " + head_name(full_config(*s.model()), found->asked.block, found->asked.head);
    const float high = std::max(kScores, kHeadings + kListStep * kStrongest);
    const Rect top = take_top(area, high, gap::small);
    Column scores(s.ui, nth_column(top, 0, 2, gap::wide), top.y + gap::medium);
    scores.heading(head + ", from weights alone");
    scores.skip(4);
    draw_scores(scores, full_config(*s.model()), circuits, found->asked.block);
    if (composed && composed->refusal.empty()) {
        Column strongest(s.ui, nth_column(top, 1, 2, gap::wide), top.y + gap::medium);
        draw_strongest(s, strongest, *composed);
    }
    if (circuits.reserved > 0)
        caption(s.ui, take_bottom(area, size::line, gap::small), reserved_note(circuits.reserved));
    const Rect left = nth_column(area, 0, 2, gap::wide), right = nth_column(area, 1, 2, gap::wide);
    draw_token_pairs(s, left, "QK: token attends to", "score", circuits.qk);
    draw_token_pairs(s, right, "OV: attended token promotes", "logit", circuits.ov);
}

}  // namespace headlight
