// Lists the steps from the sum of cells to the score, and the largest cells.
#include <algorithm>
#include <cmath>

#include "views/origins/origins.h"

namespace headlight {

namespace {

constexpr float kOriginStep = 26, kOriginPairNames = 0.62f, kOriginValue = 64;

void draw_score_steps(Column& c, const ScoreOrigins& o) {
    c.heading("Score");
    c.skip(4);
    c.pair("sum of cells", number(o.sum, 3), true);
    c.pair(o.disentangled ? "content · content: q·k" : "scaled q·k", number(o.scaled, 3));
    if (o.disentangled) {
        c.pair("content → position: q·Kr", signed_number(o.to_position, 3));
        c.pair("position → content: k·Qr", signed_number(o.from_position, 3));
    }
    if (o.cap > 0) c.pair("soft cap " + number(o.cap, 0), number(o.capped, 3));
    if (o.bias != 0 && !o.disentangled) c.pair("position bias", signed_number(o.bias, 3));
    if (o.cap > 0 || o.bias != 0 || o.given) c.pair(o.given ? "edited score" : "score", number(o.before, 3));
    if (o.score != o.before) c.pair("divided by the temperature", number(o.score, 3));
    c.skip(4);
    c.rule();
}

void draw_pair(Column& c, const std::string& name, float value, float largest, bool on) {
    Ui& ui = c.ui;
    Rect line = c.line();
    write(ui,
          take_left(line, std::min(c.at.w * kOriginPairNames, c.at.w - kOriginValue - gap::wide), gap::small),
          kCaptionMono, on ? ui.colors->accent_text : ui.colors->t1, name);
    write(ui, take_right(line, kOriginValue), kCaptionMono, on ? ui.colors->accent_text : ui.colors->t2,
          signed_number(value, 3), Flush::right);
    ui.signed_bar(band(line, size::bar), value / largest);
    c.skip(kOriginStep);
}

}  // namespace

void draw_origins_side(Scene& s, Rect area, const ScoreOrigins& shown) {
    Ui& ui = s.ui;
    constexpr float kFoot = 56;
    Column c(ui, area, area.y + gap::medium);
    draw_score_steps(c, shown);
    const auto pointed = s.of<OriginsState>().pointed;
    const int room = std::max(1, int((area.bottom() - kFoot - c.y) / kOriginStep));
    const std::vector<OriginPair> largest = largest_origins(shown, room);
    c.heading("Query part × key part", "score");
    const float max = largest.empty() ? 1 : std::max(std::abs(largest.front().value), 1e-6f);
    for (const OriginPair& pair : largest)
        draw_pair(c, origin_pair_name(s, shown, pair.query, pair.key), pair.value, max,
                  pointed == std::pair{pair.query, pair.key});
    if (ui.on_page()) return;
    const Rect foot{area.x, area.bottom() - size::button, area.w, size::button};
    if (ui.button("save", foot, "Save figure…")) s.send("save figure");
}

}  // namespace headlight
