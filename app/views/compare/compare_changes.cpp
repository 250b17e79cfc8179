// Shows a head before and after interventions: the prediction, the weight that changed most, and why a
// pattern did not change.
#include <algorithm>
#include <cmath>

#include "base/cast.h"
#include "parts/result.h"
#include "views/compare/compare.h"

namespace headlight {

namespace {

constexpr float kLeastChange = 5e-4f;  // of a weight: smaller ones read as 0.000

std::string keeps_pattern(const Change& ablation) {
    return std::string("An ablated head keeps its pattern; its output is ") +
           (ablation.kind == ChangeKind::mean ? "its mean." : "zero.");
}

/// "Without 0.0, ".
std::string cause(const Scene& s) {
    const Intervention& now = s.sentence()->intervention;
    const size_t count = now.changes.size() + (now.mask.is_own() ? 0 : 1);
    if (count != 1) return "With " + std::to_string(count) + " interventions, ";
    if (now.changes.empty()) return "With another mask, ";
    const Change& change = now.changes[0];
    if (ablation_of(now, {change.block, change.head}))
        return "Without " + head_name(s.model()->config, change.block, change.head) + ", ";
    return "With " + change_text(s, change) + ", ";
}

/// "Without 0.0, head 1.0 loses red 16 → ball 4: 0.862 falls to 0.021."
std::string what_changed(const Scene& s, const Found<HeadPairRequest>& pair) {
    const PairedMap& m = pair.answer.map;
    const std::string head = head_name(s.model()->config, pair.asked.block, pair.asked.head);
    const auto cell = changed_cell(s, m);
    const Change* ablation = ablation_of(s.sentence()->intervention, {pair.asked.block, pair.asked.head});
    if (!cell || std::abs(m.difference(cell->first, cell->second)) < kLeastChange)
        return "The pattern of head " + head + " did not change. " +
               (ablation ? keeps_pattern(*ablation) : "");
    const float before = std::max(0.0f, m.b(cell->first, cell->second)),
                after = std::max(0.0f, m.a(cell->first, cell->second));
    const bool loses = after < before;
    return cause(s) + "head " + head + (loses ? " loses " : " gains ") + token_at(m.row_labels, cell->first) +
           " → " + token_at(m.column_labels, cell->second) + ": " + number(before, 3) +
           (loses ? " falls to " : " rises to ") + number(after, 3) + ".";
}

/// Why an ablated head is not the one that is shown; or, of a head that did not move, which heads did.
std::string and_others(const Scene& s, const Found<HeadPairRequest>& pair) {
    constexpr size_t kNamed = 3;
    const ModelConfig& c = s.model()->config;
    const AttentionHead shown{pair.asked.block, pair.asked.head};
    const Moved* moved = moved_heads(s);
    const auto heads = moved ? moved->heads(c) : std::vector<AttentionHead>();
    if (!contains(heads, shown)) {
        std::string out;
        for (size_t i = 0; i < std::min(kNamed, heads.size()); ++i)
            out += (i ? ", " : "Moved most: ") + head_name(c, heads[i]) + " (" +
                   number(moved->distances[heads[i]], 3) + " bits)";
        return out.empty() ? moved ? "No head’s pattern changed." : "" : out + ".";
    }
    for (const Change& change : s.sentence()->intervention.changes)
        if (change.head >= 0 && ablation_of(s.sentence()->intervention, {change.block, change.head}))
            return "Head " + head_name(c, change.block, change.head) + " itself did not change. " +
                   keeps_pattern(change);
    return "";
}

/// Draws a key's weight before and after.
void draw_changed_key(Ui& ui, Rect column, float before, float after, float largest, bool on) {
    const float wide = std::min(column.w * 0.38f, 14.0f), apart = std::min(1.0f, column.w * 0.05f);
    const auto bar = [&](float x, float value, ImU32 color) {
        const float high = column.h * std::clamp(value / largest, 0.0f, 1.0f);
        ui.fill({x, column.bottom() - std::max(high, ui.line()), wide, std::max(high, ui.line())}, color);
    };
    if (on) ui.fill(column, ui.colors->bg2);
    bar(column.middle_x() - wide - apart, before, ui.colors->t3);
    bar(column.middle_x() + apart, after, ui.colors->accent);
}

}  // namespace

std::optional<std::pair<int, int>> changed_cell(const Scene& s, const PairedMap& m) {
    const Moved* moved = moved_heads(s);
    const bool of_output = s.model()->config.block(s.block()).stack == isize(s.model()->config.stacks) - 1;
    const int row = moved && of_output && moved->position >= 0 ? index_of(m.rows, moved->position) : -1;
    if (row >= 0 && row < narrow<int>(m.difference.rows())) {
        Index column = 0;
        if (m.difference.row(row).cwiseAbs().maxCoeff(&column) >= kLeastChange)
            return std::pair{row, narrow<int>(column)};
    }
    if (m.largest.empty()) return std::nullopt;
    return std::pair{m.largest[0].row, m.largest[0].column};
}

void open_on_moved(Scene& s) {
    CompareState& state = s.of<CompareState>();
    const Moved* moved = moved_heads(s);
    if (!state.opens || !moved || s.ui.on_page()) return;
    state.opens = false;
    if (const auto head = most_moved(*moved, s.model()->config, s.sentence()->intervention))
        s.select(head->block, head->head);
}

void draw_no_changes(Scene& s, Rect rest) {
    constexpr float kButton = 168;
    Rect inside = inset(rest, size::center_pad, gap::wide);
    write(s.ui, take_top(inside, size::line, gap::medium), kBody, s.ui.colors->t2, kNoChanges);
    if (s.ui.on_page()) return;
    Rect line = take_top(inside, size::button);
    const AttentionHead head = chosen_head(s);
    if (s.ui.button("compare/ablate", take_left(line, kButton, gap::small),
                    "Ablate head " + head_name(s.model()->config, head)))
        s.send("ablate", head_path(s.model()->config, head));
    if (s.ui.button("compare/mask", take_left(line, kButton), "Mask a cell")) {
        s.send("view head");
        s.send("intervene", "on");
        s.send("brush", "mask");
    }
}

float draw_what_changed(Scene& s, Rect area, bool result) {
    constexpr float kResult = 36;
    Rect inside = inset(area, size::center_pad, gap::small);
    if (result) draw_result_line(s, take_top(inside, kResult, gap::tight));
    const auto* pair = s.found<HeadPairRequest>();
    if (pair && s.of<CompareState>().show == ComparedShow::pattern && pair->answer.map.a.size() > 0) {
        const auto say = [&](ImU32 ink, const std::string& text) {
            if (!text.empty())
                take_top(inside, s.ui.text.draw_wrapped(inside.x, inside.y, inside.w, kBody, ink, text),
                         gap::tight);
        };
        say(s.ui.colors->t1, what_changed(s, *pair));
        say(s.ui.colors->t2, and_others(s, *pair));
        s.ui.name("compare/what changed", {inside.x, area.y, inside.w, inside.y - area.y});
    }
    return inside.y - area.y;
}

void draw_row_changed(Scene& s, Rect area, const PairedMap& m, int row) {
    constexpr float kSwatch = 14, kHigh = 7, kName = 18, kLeastNamed = 34;
    Ui& ui = s.ui;
    Rect head = take_top(area, size::line, gap::small);
    take_left(head,
              write(ui, head, kBody, ui.colors->t1, "Where " + token_at(m.row_labels, row) + " attends"),
              gap::wide);
    for (const auto& [text, color] :
         {std::pair{"before", ui.colors->t3}, std::pair{"after", ui.colors->accent}}) {
        ui.fill(band(take_left(head, kSwatch, gap::close), kHigh), color);
        take_left(head, write(ui, head, kCaption, ui.colors->t3, text), gap::large);
    }
    const auto after = m.a.row(row).cwiseMax(0.0f).eval(), before = m.b.row(row).cwiseMax(0.0f).eval();
    const float largest = std::max({after.maxCoeff(), before.maxCoeff(), 1e-6f});
    caption(ui, head, "weight, 0 to " + number(largest, 3), Flush::right);
    const int count = isize(m.columns), every = label_step(area.w / float(count), 22);
    const bool named = area.w / float(count) >= kLeastNamed;
    const Rect numbers = take_bottom(area, kName), names = named ? take_bottom(area, kName) : Rect{};
    for (int i = 0; i < count; ++i) {
        const Rect column = nth_column(area, i, count);
        const std::string path = "compare/key/" + std::to_string(i);
        const Hit h = ui.hit(path, column);
        ui.tooltip(path, h,
                   token_at(m.column_labels, i) + ": " + number(before[i], 3) + " → " + number(after[i], 3));
        draw_changed_key(ui, column, before[i], after[i], largest, h.hovered);
        if (named)
            write(ui, {column.x, names.y, column.w, names.h}, kCaptionMono, ui.colors->t2, m.column_labels[i],
                  Flush::center);
        if (i % every == 0)
            write(ui, {column.x, numbers.y, column.w, numbers.h}, kCaptionMono, ui.colors->t3,
                  std::to_string(i), Flush::center);
    }
}

}  // namespace headlight
