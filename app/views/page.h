// Views as figures: the drawing of the window on a white page.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>

#include "figure/figure.h"
#include "views/views.h"

namespace headlight {

/// What a page shows: a view as the person left it, of an answer that has what the view asked for.
struct ViewPage {
    size_t view = 0;  // row of the table of views
    Session session;
    std::shared_ptr<const WorkAnswer> answer;
    float width = 0, height = 0;  // of the view, in points
    float zoom = 1;               // CSS pixels a point
    FigureStyle style;  // size of a PNG's pixels and of the text, title, caption, background; what else it

    // says is in the state
};

/// Gives a page the size that its style asks for, else this one. A page that is narrower than the view's
/// parts need is drawn smaller, so that nothing lies over anything.
void size_page(ViewPage& page, float width, float height);

/// The light colors on white.
const Theme& page_theme();

/// The drawing of a page in the light colors, with a title and without controls.
Drawing draw_view_page(ViewPage page);

/// What Ctrl+S and render write of a page: the view's own figure where it has one, else its page.
Result<Drawing> draw_figure(const ViewPage& page, ThreadPool& pool);

/// The style of a page and the head that it shows, for figures of their own.
FigureOptions figure_options(const ViewPage& page);

/// Gives `use` a scene of the page that draws nowhere.
void with_scene(ViewPage& page, const std::function<void(Scene&)>& use);

/// The document that the view itself writes under such a name; none where it writes none.
std::optional<Status> write_view_document(const std::filesystem::path& path, ViewPage page);
/// What it shows, as tables of numbers.
std::vector<NumberTable> view_numbers(ViewPage page);
/// The same as a file, by the path's ending (io/numbers.h).
Status write_view_numbers(const std::filesystem::path& path, ViewPage page);

/// Answers what a page's view asks, for pages that no window has prepared. It is drawn once to nowhere,
/// because a view may ask for as much as its page has room for.
Status prepare_page(ViewPage& page, RunAnswer answer, ThreadPool& pool);

/// "Head 2.0", "Layer 1", "All layers": what a view speaks of.
std::string view_title(const Scene& scene, const View& view);

}  // namespace headlight
