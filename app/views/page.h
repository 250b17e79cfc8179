// Views as figures: the drawing of the window on a white page.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>

#include "figure/figure.h"
#include "views/views.h"

namespace headlight {

/// Holds a view's state and answers, to be drawn as a figure.
struct ViewPage {
    size_t view = 0;  // row of the table of views
    Session session;
    std::shared_ptr<const WorkAnswer> answer;
    float width = 0, height = 0;  // of the view, in points
    float zoom = 1;               // CSS pixels per point
    bool dark = false;            // in the dark colors, as a page shows it on a dark ground
    FigureStyle style;            // colormap, marks and the like come from the session instead
};

/// Sets the size from the page's style, else from these; lowers the zoom of a page below the view's minimum.
void size_page(ViewPage& page, float width, float height);

const Theme& page_theme();

/// Calls `use` with a Ui of a page that is drawn nowhere.
void with_page_ui(const std::function<void(Ui&)>& use);

/// Draws a page in the light colors by `draw`, which has a scene of it.
Drawing draw_page_by(ViewPage page, std::function<void(Scene&, const ViewPage&, Canvas&)> draw);
/// Draws the view in a part of a page: its own figure, fitted, if it has one.
void draw_view_in(Scene& scene, const ViewPage& page, Canvas& canvas, Rect area);

/// Draws a page with a title and without controls.
Drawing draw_view_page(ViewPage page);

/// Returns the figure that Ctrl+S and render write: the view's own figure if it has one, else its page.
Result<Drawing> draw_figure(const ViewPage& page, ThreadPool& pool);

/// Combines a page's style with the head that it shows.
FigureOptions figure_options(const ViewPage& page);

/// Calls `use` with a scene of the page that draws nowhere.
void with_scene(ViewPage& page, const std::function<void(Scene&)>& use);

/// Writes the view's own document if the path's ending names one; else nullopt.
std::optional<Status> write_view_document(const std::filesystem::path& path, ViewPage page);
std::vector<NumberTable> view_numbers(ViewPage page);
/// Writes them in the format of the path's ending (io/numbers.h).
Status write_view_numbers(const std::filesystem::path& path, ViewPage page);

/// Answers the questions of a page's view; draws it once to nowhere, because they may depend on its size.
Status prepare_page(ViewPage& page, RunAnswer answer, ThreadPool& pool);

/// "Head 2.0", "Layer 1", "All layers".
std::string view_title(const Scene& scene, const View& view);

}  // namespace headlight
