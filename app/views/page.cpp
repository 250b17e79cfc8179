#include "views/page.h"

#include "figure/canvas.h"

namespace headlight {

std::string view_title(const Scene& s, const View& view) {
    const ModelConfig& c = s.model()->config;
    switch (view.shows) {
        case View::Shows::head: return "Head " + head_name(c, s.state.site, s.state.head);
        case View::Shows::layer: return "Layer " + site_name(c, s.state.site);
        case View::Shows::model: break;
    }
    return "All layers";
}

Status write_view_page(const std::filesystem::path& path, ViewPage page) {
    constexpr float kTitle_h = 44;
    Theme colors = theme(false);
    colors.bg1 = IM_COL32_WHITE;
    page.state.dark = false;
    page.state.hovered.reset();
    const View& view = views()[page.view];
    return write_page(path, {page.width, page.height + kTitle_h, page.dpi}, [&](Canvas& canvas) {
        TextPainter text;
        Ui ui(text, nullptr);
        ui.begin_page(colors, canvas);
        const Pictures none;
        TextField field, second;
        Scene scene{ui, page.state, page.answer.get(), none, field, second, nullptr, 0, 0};
        ui.fill({0, 0, page.width, page.height + kTitle_h}, colors.bg1);
        ui.text.draw(24, 26, kTitle, colors.t1, view.fills_window ? std::string(view.name) : view_title(scene, view));
        ui.text.draw_right(page.width - 24, 26, kCaption, colors.t3, std::string(view.name) + " · " + scene.model()->name);
        if (scene.sentence()) view.draw(scene, {0, kTitle_h, page.width, page.height});
    });
}

}  // namespace headlight
