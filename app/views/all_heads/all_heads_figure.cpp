// Draws the figure of all heads, with the order, colors and filter of the window.
#include "base/cast.h"
#include "views/all_heads/all_heads.h"
#include "views/page.h"

namespace headlight {

namespace {

/// Adds values, labels and order; a page from the command line has no summaries of its heads.
void add_summaries(FigureOptions& o, const Scene& s, bool sorted) {
    const ModelConfig& c = s.model()->config;
    const HeadChoice choice = choose_heads(s);
    for (int i = 0; i < isize(choice.kept); ++i) {
        const AttentionHead head = c.head_at(i);
        const std::string label = head_label(s, head.block, head.head);
        o.many.fades.push_back(choice.kept[i] ? 0 : 0.55f);
        if (!choice.painted()) {
            o.many.notes.push_back(label.empty() ? number(choice.values[i], 2) : label);
            continue;
        }
        o.many.plates.push_back(plate_color(s, choice, i));
        o.many.notes.push_back(plate_value(s, *choice.painted(), choice.value_on_plate(i)));
    }
    o.many.notes_are =
        choice.painted() ? choice.painted()->label + ", also the frames" : choice.column().label;
    if (!sorted || !o.heads.empty()) return;
    for (const int i : choice.order) {
        const AttentionHead head = c.head_at(i);
        o.heads += (o.heads.empty() ? "" : ",") + head_path(c, head.block, head.head);
    }
}

}  // namespace

std::optional<Result<Drawing>> heads_page_figure(const ViewPage& page, ThreadPool& pool) {
    const AllHeadsState& state = page.session.of<AllHeadsState>();
    if (state.layout != HeadsLayout::by_layer && state.layout != HeadsLayout::sorted) return std::nullopt;
    FigureOptions o = figure_options(page);
    o.many.own_range = state.scale == 0;
    o.many.square_root = state.scale != 2;
    ViewPage copy = page;
    with_scene(copy, [&](const Scene& s) {
        if (!s.sentence()->heads.empty()) add_summaries(o, s, state.layout == HeadsLayout::sorted);
    });
    return heads_figure(page.answer->sentence->trace, o, pool);
}

}  // namespace headlight
