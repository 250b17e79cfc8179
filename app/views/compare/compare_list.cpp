// Lists the heads that differ most, or are most similar to the shown one.
#include <algorithm>
#include <cmath>

#include "base/cast.h"
#include "views/compare/compare.h"

namespace headlight {

void draw_compare_list(Scene& s, Rect area) {
    const auto* found = s.found<HeadPairRequest>();
    if (!found || found->answer.distances.empty()) return;
    const bool itself = found->answer.each_to_itself,
               models = s.session.document.comparison.what == Compared::models && s.answer->other &&
                        s.answer->other->model;
    const ModelConfig& c = models && !itself ? s.answer->other->model->config : s.model()->config;
    const auto& values = found->answer.distances;
    if (isize(values) != c.head_count()) return;
    const std::string of_a = head_name(s.model()->config, found->asked.block, found->asked.head);
    const char* values_are = "distance";
    const float room = area.w - s.ui.text.width(kCaption, values_are) - gap::medium;
    const std::string title =
        s.session.document.comparison.what == Compared::changes
            ? first_that_fits(s.ui, kCaption, {"Change in pattern (JS)", "Change in pattern"}, room)
        : itself ? "Heads that differ most"
        : models ? "Most similar to " + of_a + " in B"
                 : "Most similar to " + of_a;
    RankedHeads heads{"compare/row/", order_by(values, !itself), values,
                      itself ? std::pair{s.session.selection.block, s.session.selection.head}
                             : s.session.document.comparison.head,
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
        s.send("compare", head_path(s.model()->config, pressed->first, pressed->second));
}

}  // namespace headlight
