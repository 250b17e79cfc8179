#include "views/picture/image_patches.h"

#include <algorithm>
#include <utility>

#include "paint/layout.h"
#include "parts/controls.h"
#include "parts/map_parts.h"
#include "views/combined_heads.h"
#include "views/tables.h"
#include "views/views.h"

namespace headlight {

namespace {

constexpr float kAbovePicture = 72, kUnder = 190, kClass = 26, kOverlayLeast = 96, kOverlayMore = 110;

/// Token 0 is the class token; registers may follow, then the patches from token `first` on.
struct Patches : Grid {
    int first = 1;
    Rect patch(int token) const { return cell((token - first) / columns, (token - first) % columns); }
    int token_at(ImVec2 place) const {
        const auto [row, column] = at(place);
        return first + row * columns + column;
    }
};

void draw_photo(Scene& s, Rect r) {
    const RgbImage& image = s.sentence()->trace->request.inputs[0].picture->image;
    s.ui.picture(r, s.pictures.photo.id(), image.width, image.height, image.rgb.data());
    s.ui.frame(inset(r, -s.ui.line(), -s.ui.line()), s.ui.colors->l2);
}

void draw_grid_lines(Ui& ui, const Patches& p) {
    constexpr float kRoomy = 10;
    constexpr int kStrong = 70, kWeak = 34;
    const ImU32 line = IM_COL32(255, 255, 255, p.w >= kRoomy ? kStrong : kWeak);
    for (int i = 1; i < p.columns; ++i) {
        ui.fill({p.view.x + ui.whole(p.w * float(i)), p.view.y, ui.line(), p.view.h}, line);
        ui.fill({p.view.x, p.view.y + ui.whole(p.h * float(i)), p.view.w, ui.line()}, line);
    }
}

/// Overlays each patch with its color; a larger weight is more opaque.
void draw_weights_over(Scene& s, const Patches& patches, int query) {
    const HeadPicture& p = *s.answer->picture;
    const Colormap& map = colormap(s.session.preferences.colormap, true);
    const Shades shades = row_shades(s, query);
    for (int key = patches.first; key < s.keys(); ++key) {
        const float place = shades.place(p.at(query, key), shades.largest);
        const Rgb c = color_of(map, place);
        const float alpha = kOverlayLeast + kOverlayMore * std::max(0.0f, place);
        s.ui.fill(patches.patch(key), IM_COL32(c.r, c.g, c.b, int(alpha)));
    }
}

void draw_classes(Scene& s, Rect area) {
    Ui& ui = s.ui;
    if (s.sentence()->predictions.empty()) return;
    Column c(ui, area, area.y + kClass);
    c.bars = area.w / 2;
    c.heading("Prediction from the class token", "p");
    bool likeliest = true;
    for (const NextToken& t : s.sentence()->predictions[0].tokens)
        c.bar({"", t.label, t.probability, percent(t.probability), std::exchange(likeliest, false)}, kClass);
}

void draw_title(Ui& ui, Rect picture, float top, const std::string& title, const std::string& what) {
    Rect line{picture.x, top + gap::large, picture.w, picture.y - top - gap::wide};
    write(ui, nth_row(line, 0, 2), kBody, ui.colors->t1, title);
    caption(ui, nth_row(line, 1, 2), what);
}

/// Highlights a hovered patch in both; a click shows what it attends to.
void answer_patches(Scene& s, const Patches& left, const Patches& right, int query) {
    const Hit on_left = s.ui.hit("patches", left.view), on_right = s.ui.hit("overlay", right.view);
    if (!on_left.hovered && !on_right.hovered) return;
    const int token = (on_left.hovered ? left : right).token_at(on_left.mouse);
    s.point_at(std::pair{query, token});
    cell_tooltip(s, "patches", on_left.hovered ? on_left : on_right, {query, token});
    if (on_left.clicked) s.lock(query == token ? std::pair{0, token} : std::pair{token, token});
    if (on_right.clicked) s.lock(std::pair{query, token});
    if (on_left.clicked || on_right.clicked) s.leave_text();
}

/// "weight 0 … 0.213, on itself 0.021, on the class token 0.010".
std::string about_weights(const Scene& s, int query) {
    return "weight 0 … " + decimals(s.answer->picture->largest_of_row(query), 3) + ", on itself " +
           decimals(s.weight(query, query), 3) +
           (query ? ", on the class token " + decimals(s.weight(query, 0), 3) : "");
}

}  // namespace

void draw_picture(Scene& s, Rect area) {
    Ui& ui = s.ui;
    if (!s.answer->picture) return;
    const bool known = s.session.selection.locked && s.holds(*s.session.selection.locked);
    const int query = known ? s.session.selection.locked->first : 0,
              across = s.model()->config.vision.image / s.model()->config.vision.patch,
              first = 1 + s.model()->config.vision.registers;
    Rect room = inset(area, size::center_pad, 0);
    take_top(room, kAbovePicture);
    const Rect half = nth_column(room, 0, 2, size::center_pad);
    const float side = ui.whole(std::min(half.w, room.h - kUnder)), cell = side / float(across);
    const Patches left{grid_at(room.min(), across, across, cell, cell), first},
        right{grid_at({room.x + side + size::center_pad, room.y}, across, across, cell, cell), first};
    const std::string count = std::to_string(across),
                      from = query == 0 ? "The class token"
                                        : (query < first ? "Register " : "Patch ") + s.query_labels()[query];
    const std::string patches = count + " × " + count + " patches";
    draw_title(ui, left.view, area.y, "Image and patches",
               first_that_fits(ui, kCaption,
                               {patches + "; click one to see what it attends to",
                                patches + "; click one for its attention", patches + "; click one"},
                               left.view.w));
    draw_title(ui, right.view, area.y, from + " attends to", about_weights(s, query));
    draw_photo(s, left.view);
    draw_grid_lines(ui, left);
    draw_photo(s, right.view);
    draw_weights_over(s, right, query);
    answer_patches(s, left, right, query);
    if (query >= first) ui.frame(left.patch(query), ui.colors->accent, 2);
    if (const auto cell = s.shown_cell(); cell && cell->second >= first)
        for (const Patches& p : {left, right}) ui.frame(p.patch(cell->second), ui.colors->hover, 2);
    draw_classes(s, {left.view.x, left.view.bottom(), side, kUnder});
}

namespace {

bool is_vision(const Model& m) { return m.config.can.read_image; }

}  // namespace

View picture_view() {
    return {.key = "picture",
            .name = "Image",
            .answers = ViewGroup::look,
            .synonyms = "patches, vision",
            .draw = draw_picture,
            .offered = is_vision,
            .group = combined_heads,
            .numbers = pattern_numbers};
}

}  // namespace headlight
