#include "panels/image_choice.h"

#include <algorithm>
#include <filesystem>

#include "parts/controls.h"

namespace headlight {

void draw_image_choice(Scene& s, Rect& line) {
    constexpr float kWide = 144, kLow = 76, kRoomy = 420, kLeastSeen = 6;
    Ui& ui = s.ui;
    const std::string& path = s.session.document.picture;
    if (path.empty()) {
        const float width = ui.text.width(kBody, "Image…") + 2 * gap::medium;
        if (ui.button("image", take_right(line, width, gap::small), "Image…")) s.send("image");
        return;
    }
    const Rect r = take_right(line, line.w < kRoomy ? kLow : kWide, gap::small);
    ui.fill(r, ui.colors->bg2, size::corner);
    ui.frame(r, ui.colors->l2, 1, size::corner);
    Rect inside = inset(r, gap::small, gap::tight);
    const bool closes = press_cross(ui, "image/close", inside);
    ui.tooltip("image", ui.hit("image", inside), path);
    if (const auto& photo = s.pictures.of_photo) {
        const RgbImage& image = photo->image;
        const float scale = std::min(inside.h / float(image.height), inside.w / 2 / float(image.width));
        const float w = ui.whole(scale * float(image.width)), h = ui.whole(scale * float(image.height));
        if (std::min(w, h) >= kLeastSeen)
            ui.picture(band(take_left(inside, w, gap::small), h), s.pictures.photo.id(), image.width,
                       image.height, image.rgb.data());
    }
    write(ui, inside, kCaption, ui.colors->t2, std::filesystem::path(path).filename().string());
    if (closes) s.send("close image");
}

}  // namespace headlight
