// Draws token labels, color bar and caption of the large heat map.
#include <algorithm>
#include <cmath>

#include "base/utf8.h"
#include "parts/head_tags.h"
#include "parts/interventions.h"
#include "parts/map_parts.h"
#include "parts/token_axis.h"
#include "parts/token_place.h"
#include "views/heat_map/heat_map.h"
#include "views/page.h"

namespace headlight {

namespace {
constexpr float kColorBar = 13;

/// Opens the token menu by right click on a label.
void offer_menu_of_label(Scene& s, const MapLayout& l, bool down, bool queries) {
    const Rect beside{l.view.x - l.down.room, l.view.y, l.down.room, l.view.h},
        above{l.view.x, l.view.y - kNumberedNames, l.view.w, kNumberedNames};
    const Hit over = s.ui.over(down ? beside : above);
    const AttentionBlock block = s.model()->config.block(s.block());
    offer_token_menu(
        s, over.hovered,
        {queries ? block.stack : block.key_stack, down ? l.row_at(over.mouse.y) : l.column_at(over.mouse.x)});
}

}  // namespace

void draw_map_labels(Scene& s, const MapLayout& l, std::optional<std::pair<int, int>> cell) {
    const bool rows = s.session.preferences.queries == Axis::rows;
    MapLayout beyond = l;  // the sink, where the names of queries stand
    if (l.sink.w > 0) (rows ? beyond.view.x : beyond.view.y) = rows ? l.sink.x : l.sink.y;
    for (const bool down : {true, false}) {
        const bool queries = down == rows;
        const MapLayout& beside = queries ? beyond : l;
        TokenAxis axis = down ? l.down : l.across;
        if (cell) axis.lit = queries ? cell->first : cell->second;
        down ? axis.draw_rows(s.ui, beside) : axis.draw_columns(s.ui, beside);
        offer_menu_of_label(s, beside, down, queries);
    }
    name_axes(s.ui, beyond, l.down, l.across, 0);
}

void draw_color_scale(Scene& s, const MapLayout& l, std::optional<std::pair<int, int>> cell) {
    const Shades shades = shown_shades(s);
    ColorBar bar = weight_bar(shown_colormap(s), shades);
    if (cell)
        bar.marked =
            shades.place(s.weight(cell->first, cell->second), s.answer->picture->largest_of_row(cell->first));
    const float apart = l.column.w > 0 ? gap::wide : gap::section;
    draw_color_bar(s.ui, bar, {l.view.right() + apart, l.view.y, kColorBar, l.bar_height()});
}

namespace {

/// "Gated delta net: its mixing matrix times the values, made of 4 tokens each, is z."
std::string about_mixing(const Scene& s, const std::string& line) {
    using Kind = RecurrenceSpec::Kind;
    const RecurrenceSpec& r = *s.model()->config.attention(s.block()).recurrence;
    const std::string sums = " Its " + line + "s do not sum to 1.";
    if (!s.sentence()->trace->has_weights() || s.answer->picture->group) return "A mixing matrix." + sums;
    if (r.kind == Kind::convolution)
        return "Short convolution: head " + std::to_string(s.head()) + " reads the token " +
               std::to_string(s.head()) + " back; its matrix times the values is z.";
    const std::string name = r.kind == Kind::delta_rule  ? "Gated delta net"
                             : r.kind == Kind::selective ? "Selective state space"
                                                         : "State space",
                      made = r.kernel > 1 ? ", made of " + std::to_string(r.kernel) + " tokens each," : "";
    return name + ": its mixing matrix times the values" + made + " is z." + sums;
}

/// Returns whether rows sum to 1 with a sink, drawn or not.
bool sinks_beside(const Scene& s) {
    const HeadPicture& p = *s.answer->picture;
    const auto has = [&](int block) { return !s.sentence()->trace->rule(block).sinks.empty(); };
    if (p.sink_dropped) return false;
    if (!p.group) return has(p.block);
    return std::any_of(p.group->heads.begin(), p.group->heads.end(),
                       [&](AttentionHead h) { return has(h.block); });
}

/// States what rows sum to, and what is hatched or painted.
std::string about_weights(const Scene& s, const MapLayout& l) {
    const HeadPicture& p = *s.answer->picture;
    const bool masked = s.sentence()->trace->rule(s.block()).mask_of(s.head()).hides_any(),
               dropped = p.sink_dropped, largest = p.group && p.group->by == Combine::max;
    const std::string line = s.session.preferences.queries == Axis::rows ? "row" : "column",
                      step = std::to_string(s.answer->picture->step);
    const std::string sums = s.is_mixing()     ? about_mixing(s, line)
                             : largest         ? "Maximum over the heads; a " + line + " need not sum to 1."
                             : sinks_beside(s) ? "Each " + line + " sums to 1 with its sink."
                             : dropped
                                 ? "First token hidden; the rest of each " + line + " rescaled to sum to 1."
                                 : "Each " + line + " sums to 1.";
    return sums +
           (s.of<Painting>().brush != Brush::off ? " Drag to paint; Shift+drag inverts. Amber: painted."
            : !masked                            ? ""
            : l.w * s.ui.scale >= 12             ? " Hatched: masked."
                                                 : " Plain: masked.") +
           (p.group ? "" : fully_masked_note(*s.sentence()->trace, s.block(), s.head())) +
           (step == "1" ? ""
                        : " Too many tokens to show each weight: an entry is the maximum of " + step + " × " +
                              step + ".");
}

/// Counts the cells, and those in sight.
std::string about_cells(const Scene& s, const MapLayout& l) {
    const std::string count = std::to_string(l.rows) + " × " + std::to_string(l.columns),
                      covered = std::to_string(int_of(std::ceil(1 / double(l.w * s.ui.scale))));
    if (l.w * s.ui.scale < 1) return count + ", each pixel is the maximum of " + covered + " × " + covered;
    if (l.all_seen()) return count + ", every cell shown";
    return count + ", zoomed in to " + std::to_string(int_of(double(l.view.h / l.h) + 0.5)) + " × " +
           std::to_string(int_of(double(l.view.w / l.w) + 0.5)) + " cells";
}

/// Says under the map what the head does, if it shows one head; returns the height.
float draw_tag_line(Scene& s, Rect foot, float below) {
    if (s.answer->picture->group) return 0;
    const AttentionHead head{s.block(), s.head()};
    const std::string sentence = tag_sentence(s, head);
    if (sentence.empty()) return 0;
    foot.y += below;
    if (const auto tags = tags_of(s, head); !tags.empty() && below > 0)
        take_left(foot, draw_tags(s, {foot.x, foot.y - 4, foot.w / 2, foot.h}, {tags.data(), 1}));
    s.ui.name("map/tag", foot);
    write(s.ui, foot, kBody, s.ui.colors->t1, s.ui.text.fitted(kBody, sentence, foot.w));
    return foot.h;
}

}  // namespace

void draw_map_caption(Scene& s, const MapLayout& l, Rect area) {
    constexpr float kLine = 17, kAt = 20, kApart = 20, kLeastFoot = 36;
    Ui& ui = s.ui;
    if (l.column.w > 0 && area.h < kRoomForTag) return;  // the column says it
    const std::string weights = about_weights(s, l), cells = about_cells(s, l);
    const float words = ui.text.width(kCaption, weights + cells);
    const float right = l.column.w > 0 ? l.column.x : area.right();
    Rect line{l.view.x, 0,
              std::max(l.view.w, std::min(right - size::center_pad - l.view.x, words + 2 * kApart)), kLine};
    const float bottom = l.view.y + std::max(l.view.h, l.bar_height()), under = area.bottom() - bottom;
    const bool low = under < kLeastFoot;
    line.y = bottom + (low ? under / 2 : kAt) - kLine / 2;
    const Rect foot{l.view.x, line.y, right - l.view.x - gap::small, kLine};
    if (const float high = draw_tag_line(s, foot, area.h < kRoomForTag ? 0 : kTagLine);
        high > 0 && area.h < kRoomForTag)
        return;
    const bool one_line = words + kApart <= line.w;
    if (one_line) {
        caption(ui, line, weights);
        return caption(ui, line, cells, Flush::right);
    }
    if (low) return caption(ui, foot, weights);
    const float high = caption_lines(ui, foot, weights);
    caption(ui, {foot.x, foot.y + high, foot.w, kLine}, cells);
}

std::optional<Result<Drawing>> head_page_figure(const ViewPage& page, ThreadPool& pool) {
    return head_figure(page.answer->sentence->trace, figure_options(page), pool);
}

}  // namespace headlight
