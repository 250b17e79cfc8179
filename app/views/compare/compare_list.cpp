// Lists the heads that differ most, or are most similar to the shown one.
#include <algorithm>
#include <cmath>

#include "base/cast.h"
#include "parts/result.h"
#include "views/compare/compare.h"

namespace headlight {

namespace {

/// Lists the heads that the interventions moved.
void draw_moved_list(Scene& s, Rect area) {
    const Moved* moved = moved_heads(s);
    if (!moved) return;
    const ModelConfig& c = s.model()->config;
    const auto& values = moved->distances.values();
    const RankedHeads heads{"compare/row/", order_by(values, false), values,
                            std::pair{s.session.selection.block, s.session.selection.head}, true};
    const std::string title = moved_title(s);
    const Rect rest = list_heading(s.ui, area, s.ui.text.fitted(kCaption, title, area.w));
    s.ui.tooltip("compare/moved", s.ui.hit("compare/moved", {area.x, area.y, area.w, rest.y - area.y}),
                 moved_help(s));
    if (const auto pressed = draw_ranked(s, rest, c, heads)) s.select(pressed->first, pressed->second);
}

}  // namespace

void draw_compare_list(Scene& s, Rect area) {
    if (s.session.document.comparison.what == Compared::changes) return draw_moved_list(s, area);
    if (s.session.document.comparison.what == Compared::base) return draw_adapted_list(s, area);
    const auto* found = s.found<HeadPairRequest>();
    if (!found || found->answer.distances.empty()) return;
    const bool itself = found->answer.each_to_itself,
               models = s.session.document.comparison.what == Compared::models && s.answer->other &&
                        s.answer->other->model;
    const ModelConfig& c = models && !itself ? s.answer->other->model->config : s.model()->config;
    const auto& values = found->answer.distances;
    if (isize(values) != c.head_count()) return;
    const std::string of_a = head_name(s.model()->config, found->asked.block, found->asked.head);
    const char* values_are = "JS, bits";
    const std::string title = itself   ? "Heads that differ most"
                              : models ? "Most similar to " + of_a + " in B"
                                       : "Most similar to " + of_a;
    RankedHeads heads{"compare/row/", order_by(values, !itself), values,
                      itself ? std::pair{s.session.selection.block, s.session.selection.head}
                             : std::pair{found->answer.b.block, found->answer.b.head},
                      itself};
    const auto skip = [&](int i) {
        return std::isnan(values[i]) || (s.session.document.comparison.what == Compared::heads &&
                                         int(i) == c.head_index({found->asked.block, found->asked.head}));
    };
    heads.order.erase(std::remove_if(heads.order.begin(), heads.order.end(), skip), heads.order.end());
    const auto pressed = draw_ranked(s, list_heading(s.ui, area, title, values_are), c, heads);
    if (!pressed) return;
    if (itself)
        s.select(pressed->first, pressed->second);
    else
        s.send("compare", head_path(c, pressed->first, pressed->second));
}

}  // namespace headlight
