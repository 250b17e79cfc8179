#include "parts/token_pages.h"

#include <algorithm>
#include <cmath>

#include "base/cast.h"
#include "parts/controls.h"
#include "parts/metric.h"
#include "parts/token_axis.h"
#include "parts/token_place.h"

namespace headlight {

int output_size(const Scene& s) { return s.sentence()->trace->output().size(); }
const std::vector<std::string>& output_labels(const Scene& s) { return s.sentence()->labels.back(); }

TokenGrid arrange_tokens(Scene& s, Rect area, int rows, TokenPages& pages, const TokenCells& cells) {
    take_left(area, cells.names);
    pages.columns = std::clamp(int(area.w / cells.least_wide), 1, output_size(s));
    if (const int position = explained_position(s);
        pages.followed != position && !s.session.selection.hovered.cell) {
        pages.followed = position;
        pages.seen.x = std::clamp(pages.seen.x, float(position - pages.columns + 1), float(position));
    }
    TokenGrid g;
    g.rows = rows;
    g.columns = pages.columns;
    g.w = std::min(area.w / float(g.columns), cells.widest);
    g.h = std::clamp(area.h / float(rows), cells.least_high, cells.highest);
    const float whole = g.h * std::max(1.0f, std::floor(area.h / g.h + 0.01f));
    g.view = {area.x, area.y, g.w * float(g.columns), std::min(whole, g.h * float(rows))};
    scrolled_across(s.ui, g.view, float(output_size(s) - g.columns) + g.view.w, pages.seen);
    scrolled(s.ui, {g.view.x, g.view.y, g.view.w + gap::medium, g.view.h}, g.h * float(rows), pages.seen);
    pages.seen.wide = float(g.columns) + pages.seen.across;  // so that a page is the positions in sight
    g.first = pages.first();
    g.y0 = pages.seen.y;
    return g;
}

void draw_token_names(Scene& s, const TokenGrid& g, int explained) {
    const auto& labels = output_labels(s);
    TokenAxis above{
        [&](int i) { return s.ui.text.fitted(kCaptionMono, labels[g.position(i)], g.w - gap::close); }};
    above.number = [&](int i) { return std::to_string(g.position(i)); };
    above.lit = explained - g.first;
    above.draw_columns(s.ui, g);
}

void draw_token_pages(Scene& s, Rect line, const TokenGrid& g, const std::string& view) {
    if (g.columns >= output_size(s)) return;
    if (s.ui.link(view + "/later", line.right(), line.middle_y(), "later ›")) s.send("page right");
    const float earlier = line.right() - s.ui.text.width(kCaption, "later ›") - gap::large;
    if (s.ui.link(view + "/earlier", earlier, line.middle_y(), "‹ earlier")) s.send("page left");
}

int answer_position(Scene& s, const TokenGrid& g, const Hit& h) {
    const int at = g.position(g.column_at(h.mouse.x)), last = isize(s.model()->config.stacks) - 1;
    const bool queries = s.model()->config.block(s.block()).stack == last;
    if (queries && at < s.queries()) s.point_at(std::pair{at, s.strongest_key(at)});
    if (queries && h.clicked) lock_token(s, at);
    offer_token_menu(s, h.mouse.y < g.view.y, {last, at});
    if (h.clicked && s.session.document.metric.metric.position >= 0)
        s.send("metric position", std::to_string(at));
    return at;
}

}  // namespace headlight
