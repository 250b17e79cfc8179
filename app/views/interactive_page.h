// Saves a view as an interactive page (figure/page/page.h), which any browser opens offline.
#pragma once

#include <filesystem>

#include "base/result.h"
#include "figure/page/page.h"
#include "parts/scene.h"
#include "views/page.h"

namespace headlight {

/// Adds the logit lens where it takes no more than the patterns.
Status add_short_lens(PageContents& page, ThreadPool& pool);

/// Draws a view as a figure of an interactive page, without its title.
Result<PageFigure> page_figure(ViewPage page);
/// Writes a page with every head of the view's run, which opens on View::page or else on the view's figure.
/// The view shows a run.
Status write_interactive_page(const std::filesystem::path& path, ViewPage page);

}  // namespace headlight
