// What a vision model reads: the picture with its patches, and beside it the attention of one of them laid
// over it.
#include "views/picture.h"

#include <algorithm>
#include <cmath>

#include "views/numbers.h"
#include "views/views.h"

namespace headlight {

namespace {

struct Patches {
    Rect place;
    int across = 0;
    float side() const { return place.w / float(across); }
    Rect patch(int token) const {  // token 0 is the class token
        const int i = token - 1, row = i / across;
        return {place.x + side() * float(i % across), place.y + side() * float(row), side(), side()};
    }
};

void draw_photo(Scene& s, Rect r) {
    const RgbImage& image = s.sentence()->trace->request.inputs[0].picture->image;
    s.ui.picture(r, s.pictures.photo.id(), image.width, image.height, image.rgb.data());
    s.ui.frame({r.x - s.ui.line(), r.y - s.ui.line(), r.w + 2 * s.ui.line(), r.h + 2 * s.ui.line()},
               s.ui.colors->l2);
}

void draw_grid_lines(Ui& ui, const Patches& p) {
    const ImU32 line = IM_COL32(255, 255, 255, p.side() >= 10 ? 70 : 34);
    for (int i = 1; i < p.across; ++i) {
        const float at = ui.whole(p.side() * float(i));
        ui.fill({p.place.x + at, p.place.y, ui.line(), p.place.h}, line);
        ui.fill({p.place.x, p.place.y + at, p.place.w, ui.line()}, line);
    }
}

/// Colors of the map over each patch: the heavier, the denser.
void draw_weights_over(Scene& s, const Patches& patches, int query) {
    const HeadPicture& p = *s.answer->picture;
    const Colormap& map = colormap(s.session.preferences.colormap, true);
    const float row_largest = p.largest_of_row(query);
    for (int key = 1; key < s.keys(); ++key) {
        const float place = scale_position(
            s.session.preferences.scale == Scale::linear ? Scale::row : s.session.preferences.scale,
            p.at(query, key), p.largest, row_largest);
        const Rgb c = color_of(map, place);
        s.ui.fill(patches.patch(key), IM_COL32(c.r, c.g, c.b, 96 + int(110 * (place > 0 ? place : 0))));
    }
}

/// The patch under the mouse, as a token; 0: none.
int pointed_token(const Patches& p, const Hit& h) {
    if (!h.hovered) return 0;
    const int column = std::clamp(int((h.mouse.x - p.place.x) / p.side()), 0, p.across - 1),
              row = std::clamp(int((h.mouse.y - p.place.y) / p.side()), 0, p.across - 1);
    return 1 + row * p.across + column;
}

void draw_classes(Scene& s, float x, float y, float w) {
    Ui& ui = s.ui;
    if (s.sentence()->predictions.empty()) return;
    ui.text.draw(x, y, kCaption, ui.colors->t3, "Attention of the class token");
    for (const NextToken& t : s.sentence()->predictions[0].tokens) {
        y += 26;
        ui.text.draw(x, y, kBody, ui.colors->t1, ui.text.fitted(kBody, t.label, w * 0.5f - 12));
        ui.bar({x + w * 0.5f, y - 4, w * 0.5f - 72, 8}, t.probability, ui.colors->accent);
        ui.text.draw_right(x + w, y, kBodyMono, ui.colors->t2, percent(t.probability));
    }
}

}  // namespace

void draw_picture(Scene& s, Rect area) {
    Ui& ui = s.ui;
    if (!s.answer->picture) return;
    const bool known = s.session.selection.locked && s.holds(*s.session.selection.locked);
    const int query = known ? s.session.selection.locked->first : 0,
              across = s.model()->config.vision.image / s.model()->config.vision.patch;
    const float gap = 24, top = area.y + 72;
    const float side = ui.whole(std::min((area.w - 3 * gap) / 2, area.h - (72 + 190)));
    const Patches left{{area.x + gap, top, side, side}, across},
        right{{area.x + 2 * gap + side, top, side, side}, across};
    const std::string from = query == 0 ? "the class token" : "patch " + s.query_labels()[query];
    ui.text.draw(left.place.x, area.y + 28, kBody, ui.colors->t1, "Image and patches");
    ui.text.draw(left.place.x, area.y + 52, kCaption, ui.colors->t3,
                 std::to_string(across) + " × " + std::to_string(across) +
                     " patches; click one to see what it attends to");
    ui.text.draw(right.place.x, area.y + 28, kBody, ui.colors->t1, from + " attends to");
    ui.text.draw(right.place.x, area.y + 52, kCaption, ui.colors->t3,
                 "weight 0 … " + decimals(s.answer->picture->largest_of_row(query), 3) + ", on itself " +
                     decimals(s.weight(query, query), 3) +
                     (query ? ", on the class token " + decimals(s.weight(query, 0), 3) : ""));
    draw_photo(s, left.place);
    draw_grid_lines(ui, left);
    draw_photo(s, right.place);
    draw_weights_over(s, right, query);
    const Hit on_left = ui.hit("patches", left.place), on_right = ui.hit("overlay", right.place);
    const int token = std::max(pointed_token(left, on_left), pointed_token(right, on_right));
    if (token > 0) s.point_at(std::pair{query, token});
    if (on_left.clicked && token > 0) s.lock(query == token ? std::pair{0, token} : std::pair{token, token});
    if (on_right.clicked && token > 0) s.lock(std::pair{query, token});
    if (on_left.clicked || on_right.clicked) s.leave_text();
    if (query > 0) ui.frame(left.patch(query), ui.colors->accent, 2);
    if (const auto cell = s.shown_cell(); cell && cell->second > 0)
        for (const Patches& p : {left, right}) ui.frame(p.patch(cell->second), ui.colors->hover, 2);
    draw_classes(s, left.place.x, left.place.bottom() + 28, side);
}

namespace {

bool is_vision(const Model& m) { return m.config.can.read_image; }

}  // namespace

View picture_view() {
    return {.key = "picture",
            .name = "Image",
            .digit = '8',
            .draw = draw_picture,
            .offered = is_vision,
            .numbers = pattern_numbers};
}

}  // namespace headlight
