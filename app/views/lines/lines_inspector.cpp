// Lists the keys that each head attends to from the focused query.
#include <algorithm>

#include "paint/layout.h"
#include "parts/controls.h"
#include "parts/layer_heads.h"
#include "views/lines/lines.h"

namespace headlight {

namespace {

void draw_head_line(Scene& s, Rect line, int head) {
    constexpr float kDot = 8, kEntropy = 80;
    Ui& ui = s.ui;
    ui.disc(take_left(line, kDot, gap::small).middle(), kDot / 2, head_ink(s, head));
    write(ui, line, kBodyMono, ui.colors->t1, head_name(s.model()->config, s.block(), head));
    const Rect entropy = take_right(line, kEntropy);
    caption(ui, entropy, number(s.sentence()->heads[{s.block(), head}].statistics[0], 2) + " bits",
            Flush::right);
    const std::string path = "lines/entropy/" + std::to_string(head);
    ui.tooltip(path, ui.hit(path, entropy), head_statistics()[0].definition);
}

/// Writes a key and its weight; below 0: the sink, which has no position.
void draw_key_line(Scene& s, Rect line, int head, const Link& link) {
    constexpr float kWord = 72, kWeight = 40;
    Ui& ui = s.ui;
    const float position = ui.text.width(kCaptionMono, std::to_string(std::max(100, s.keys() - 1)));
    const bool sink = link.key < 0;
    write(ui, take_left(line, position, gap::small), kCaptionMono, ui.colors->t3,
          sink ? "" : std::to_string(link.key), Flush::right);
    write(ui, take_left(line, kWord, gap::close), kCaptionMono, ui.colors->t2,
          sink ? "sink" : s.key_labels()[link.key]);
    write(ui, take_right(line, kWeight, gap::small), kCaptionMono, ui.colors->t2, number(link.weight, 2),
          Flush::right);
    ui.bar(band(line, size::bar), link.weight, head_ink(s, head));
}

}  // namespace

void draw_lines_inspector(Scene& s, Rect area) {
    constexpr size_t kKeysOfHead = 3;
    constexpr int kSink = -1;
    constexpr float kKeyLine = 22, kBetween = 30, kFirst = 74, kLeast = 80;
    Ui& ui = s.ui;
    const auto cell = s.shown_cell();
    const LayerLinks* links = cell ? shown_links(s) : nullptr;
    if (!links) return void(inspector_line(ui, area));
    draw_inspector_title(s, area, token_at(s.query_labels(), cell->first), "");
    Column c(ui, inset(area, size::inspector_pad, 0), area.y + kFirst);
    c.heading("What each head attends to");
    c.skip(gap::tight);
    for (const int h : drawn_heads(s)) {
        if (c.y + kLeast > area.bottom()) return;
        draw_head_line(s, c.line(size::line), h);
        const auto& row = links->of_head[h][cell->first];
        for (size_t i = 0; i < std::min(kKeysOfHead, row.size()); ++i) {
            c.skip(kKeyLine);
            draw_key_line(s, c.line(size::line), h, row[i]);
        }
        if (!links->sinks.empty()) {
            c.skip(kKeyLine);
            draw_key_line(s, c.line(size::line), h, {kSink, links->sinks[h][cell->first]});
        }
        c.skip(kBetween);
    }
}

}  // namespace headlight
