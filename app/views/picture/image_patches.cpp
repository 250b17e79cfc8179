#include "views/picture/image_patches.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "paint/layout.h"
#include "parts/controls.h"
#include "parts/map_parts.h"
#include "views/combined_heads.h"
#include "views/tables.h"
#include "views/views.h"

namespace headlight {

namespace {

constexpr float kAbovePicture = 72, kUnder = 190, kClass = 26, kOverlayLeast = 96, kOverlayMore = 110;
constexpr float kLeastColumn = 200;  // of a title over a narrow image
constexpr const char* kNoImage =
    "This model reads an image beside the text: drop one onto the window, or press “Image…” beside it.";
constexpr const char* kNoGrid =
    "The server reads this image in several pieces, whose patches make no grid; the heat map shows them.";

/// Places the patches, which are tokens in a row, on the image.
struct Patches : Grid {
    PatchGrid tokens;
    bool has(int token) const { return tokens.has(token); }
    Rect patch(int token) const {
        return cell((token - tokens.first) / columns, (token - tokens.first) % columns);
    }
    int token_at(ImVec2 place) const {
        const auto [row, column] = at(place);
        return tokens.first + row * columns + column;
    }
};

const Picture* picture_of(const Scene& s) { return s.sentence()->trace->request.inputs[0].picture.get(); }

void draw_photo(Scene& s, Rect r) {
    const RgbImage& image = picture_of(s)->image;
    s.ui.picture(r, s.pictures.photo.id(), image.width, image.height, image.rgb.data());
    s.ui.frame(inset(r, -s.ui.line(), -s.ui.line()), s.ui.colors->l2);
}

void draw_grid_lines(Ui& ui, const Patches& p) {
    constexpr float kRoomy = 10;
    constexpr int kStrong = 70, kWeak = 34;
    const ImU32 line = IM_COL32(255, 255, 255, p.w >= kRoomy ? kStrong : kWeak);
    for (int i = 1; i < p.columns; ++i)
        ui.fill({p.view.x + ui.whole(p.w * float(i)), p.view.y, ui.line(), p.view.h}, line);
    for (int i = 1; i < p.rows; ++i)
        ui.fill({p.view.x, p.view.y + ui.whole(p.h * float(i)), p.view.w, ui.line()}, line);
}

/// Returns the largest weight of a query on a patch.
float largest_on_image(const Scene& s, const PatchGrid& tokens, int query) {
    float out = 1e-6f;  // a query before the image sees none of it
    for (int key = tokens.first; tokens.has(key); ++key)
        out = std::max(out, s.answer->picture->at(query, key));
    return out;
}

/// Overlays each patch with its color; a larger weight is more opaque. Beside a text, whose tokens may have
/// most of the row's weight, the largest patch has the strongest color.
void draw_weights_over(Scene& s, const Patches& patches, int query) {
    const HeadPicture& p = *s.answer->picture;
    const Colormap& map = colormap(s.session.preferences.colormap, true);
    Shades shades = row_shades(s, query);
    if (!s.model()->config.can.read_image) {
        shades.largest = largest_on_image(s, patches.tokens, query);
        shades.percentile = std::min(shades.percentile, shades.largest);
    }
    for (int key = patches.tokens.first; patches.has(key); ++key) {
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

void draw_title(Ui& ui, Rect picture, float top, const std::string& title,
                const std::vector<std::string>& what) {
    const float wide = std::max(picture.w, kLeastColumn);
    Rect line{picture.x, top + gap::large, wide, picture.y - top - gap::wide};
    write(ui, nth_row(line, 0, 2), kBody, ui.colors->t1, ui.text.fitted(kBody, title, wide));
    caption(ui, nth_row(line, 1, 2), first_that_fits(ui, kCaption, what, wide));
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

/// Returns how much of a query's weight lies on the image.
float share_of_image(const Scene& s, const PatchGrid& tokens, int query) {
    float out = 0;
    for (int key = tokens.first; tokens.has(key); ++key) out += std::max(0.0f, s.weight(query, key));
    return out;
}

/// "weight 0 … 0.213, on itself 0.021, on the class token 0.010", and shorter.
std::vector<std::string> about_weights(const Scene& s, const PatchGrid& tokens, int query) {
    if (!s.model()->config.can.read_image) {
        const std::string share = decimals(share_of_image(s, tokens, query), 3);
        return {share + " of its weight lies on the image, at most " +
                    decimals(largest_on_image(s, tokens, query), 3) + " on a patch",
                share + " of its weight lies on the image", share + " on the image", share};
    }
    const std::string range = "weight 0 … " + decimals(s.answer->picture->largest_of_row(query), 3),
                      itself = range + ", on itself " + decimals(s.weight(query, query), 3);
    const bool of_class = query > 0 && tokens.first > 0;
    return {itself + (of_class ? ", on the class token " + decimals(s.weight(query, 0), 3) : ""), itself,
            range};
}

/// Names the token whose attention is shown.
std::string name_of_query(const Scene& s, const PatchGrid& tokens, int query) {
    const std::string& label = s.query_labels()[query];
    if (tokens.has(query)) return "Patch " + label;
    if (!s.model()->config.can.read_image) return in_quotes(label);
    return query == 0 ? "The class token" : "Register " + label;
}

/// Places a token of the text in lines of chips.
struct WordPlace {
    int token = 0, line = 0;
    float x = 0, w = 0;
};

Chip word_chip(const Scene& s, int token, int query, const std::string& share) {
    Chip chip = token_chip(s.ui, s.query_labels()[token], token == query ? ChipRole::query : ChipRole::token);
    chip.detail = share;
    return chip;
}

std::vector<WordPlace> word_places(Scene& s, const PatchGrid& tokens, float room) {
    std::vector<WordPlace> out;
    WordPlace at;
    for (; at.token < s.queries(); ++at.token) {
        if (tokens.has(at.token)) continue;
        at.w = chip_width(s.ui, word_chip(s, at.token, -1, "0.00"));
        if (at.x > 0 && at.x + at.w > room) {
            ++at.line;
            at.x = 0;
        }
        out.push_back(at);
        at.x += at.w + gap::close;
    }
    return out;
}

/// Draws the tokens of the text, those around the query if not all fit; a click shows where on the image one
/// looks.
void draw_words(Scene& s, Rect area, const PatchGrid& tokens, int query) {
    constexpr float kStep = size::chip + gap::close;
    Ui& ui = s.ui;
    const std::vector<WordPlace> places = word_places(s, tokens, area.w);
    const auto chosen =
        std::find_if(places.begin(), places.end(), [&](const WordPlace& p) { return p.token >= query; });
    Column c(ui, area, area.y + kClass);
    c.heading("Tokens of the text, and how much of their weight lies on the image");
    const int fit = std::max(1, int((area.bottom() - c.y) / kStep)),
              first = chosen == places.end() ? 0 : std::max(0, chosen->line - fit + 1);
    for (const WordPlace& p : places) {
        if (p.line < first || p.line >= first + fit) continue;
        const Chip chip = word_chip(s, p.token, query, decimals(share_of_image(s, tokens, p.token), 2));
        const Rect r{area.x + p.x, c.y + float(p.line - first) * kStep, p.w, size::chip};
        if (press_chip(ui, "word/" + std::to_string(p.token), r, chip, p.token == query).clicked)
            s.lock(std::pair{p.token, std::min(p.token, s.keys() - 1)});
    }
}

/// Says why there is no image with patches.
std::string why_no_image(const Scene& s) {
    if (picture_of(s)) return kNoGrid;
    if (s.session.document.picture.empty()) return kNoImage;
    return s.answer->failure.empty() ? "The image is being read." : s.answer->failure;
}

void draw_why_empty(Scene& s, Rect area, const std::string& why) {
    const Rect inside = inset(area, size::center_pad, size::center_pad);
    s.ui.name("no image", inside);
    s.ui.text.draw_wrapped(inside.x, inside.y, inside.w, kBody, s.ui.colors->t2, why);
}

/// Places the image twice side by side, with room for what is said under it.
std::pair<Patches, Patches> both_at(Ui& ui, Rect room, const Picture& picture) {
    const PatchGrid& tokens = picture.grid;
    const Rect half = nth_column(room, 0, 2, size::center_pad);
    const auto image_w = float(picture.image.width), image_h = float(picture.image.height);
    const float most = std::max(room.h - kUnder, room.h / 2),
                scale = std::min(half.w / image_w, most / image_h), wide = ui.whole(scale * image_w),
                high = ui.whole(scale * image_h), w = wide / float(tokens.columns),
                h = high / float(tokens.rows);
    const auto at = [&](float x) {
        return Patches{grid_at({x, room.y}, tokens.rows, tokens.columns, w, h), tokens};
    };
    return {at(room.x), at(room.x + std::max(wide, kLeastColumn) + size::center_pad)};
}

void draw_titles(Scene& s, const Patches& left, const Patches& right, float top, int query) {
    const std::string patches = std::to_string(left.rows) + " × " + std::to_string(left.columns) + " patches";
    draw_title(s.ui, left.view, top, "Image and patches",
               s.ui.on_page() ? std::vector{patches}
                              : std::vector{patches + "; click one to see what it attends to",
                                            patches + "; click one for its attention",
                                            patches + "; click one", patches});
    draw_title(s.ui, right.view, top, name_of_query(s, right.tokens, query) + " attends to",
               about_weights(s, right.tokens, query));
}

void draw_both(Scene& s, Rect area, const Picture& picture, int query) {
    Ui& ui = s.ui;
    Rect room = inset(area, size::center_pad, 0);
    take_top(room, kAbovePicture);
    const auto [left, right] = both_at(ui, room, picture);
    draw_titles(s, left, right, area.y, query);
    draw_photo(s, left.view);
    draw_grid_lines(ui, left);
    draw_photo(s, right.view);
    draw_weights_over(s, right, query);
    answer_patches(s, left, right, query);
    if (left.has(query)) ui.frame(left.patch(query), ui.colors->accent, 2);
    if (const auto cell = s.shown_cell(); cell && left.has(cell->second))
        for (const Patches* p : {&left, &right}) ui.frame(p->patch(cell->second), ui.colors->hover, 2);
    const float top = left.view.bottom();
    if (s.model()->config.can.read_image)
        draw_classes(s, {room.x, top, left.view.w, kUnder});
    else
        draw_words(s, {room.x, top, room.w, area.bottom() - top}, picture.grid, query);
}

}  // namespace

void draw_picture(Scene& s, Rect area) {
    if (!s.answer->picture) return;
    const Picture* picture = picture_of(s);
    if (!picture || picture->grid.rows == 0) return draw_why_empty(s, area, why_no_image(s));
    const auto locked = s.session.selection.locked;
    const bool known = locked && s.holds(*locked);
    const int unasked = s.model()->config.can.read_image ? 0 : s.queries() - 1;
    draw_both(s, area, *picture, known ? locked->first : unasked);
}

namespace {

bool sees_images(const Model& m) { return m.config.can.read_image || m.config.can.add_image; }

}  // namespace

View picture_view() {
    return {.key = "picture",
            .name = "Image",
            .answers = ViewGroup::look,
            .synonyms = "patches, vision",
            .draw = draw_picture,
            .offered = sees_images,
            .group = combined_heads,
            .numbers = pattern_numbers};
}

}  // namespace headlight
