// Saves a view as an interactive page (figure/page/page.h), which any browser opens offline.
#pragma once

#include <filesystem>
#include <optional>

#include "base/result.h"
#include "figure/page/page.h"
#include "parts/scene.h"
#include "views/page.h"

namespace headlight {

/// Names the views of a page, as its scripts do.
enum class PageView { head, heads, lines, text, lens, compare };

/// Writes every head of the shown run, opened on a view, if the path ends in .html; else nullopt.
std::optional<Status> write_interactive_page(const Scene& scene, const std::filesystem::path& path,
                                             PageView view);

/// Adds the logit lens where it takes no more than the patterns.
Status add_short_lens(PageContents& page, ThreadPool& pool);

/// Draws a view as a figure of an interactive page, without its title.
Result<PageFigure> page_figure(ViewPage page);
/// Writes a page that opens on the view's figure, beside every head of its run. The view shows a run.
Status write_figure_page(const std::filesystem::path& path, ViewPage page);

/// Instantiates it for the table of views.
template <PageView view>
std::optional<Status> write_page_on(const Scene& scene, const std::filesystem::path& path) {
    return write_interactive_page(scene, path, view);
}

}  // namespace headlight
