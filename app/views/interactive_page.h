// Saves a view as an interactive page (figure/page/page.h), which any browser opens offline.
#pragma once

#include <filesystem>
#include <optional>

#include "base/result.h"
#include "parts/scene.h"

namespace headlight {

/// Names the views of a page, as its scripts do.
enum class PageView { head, heads, lines, text, lens, compare };

/// Writes every head of the shown run, opened on a view, if the path ends in .html; else nullopt.
std::optional<Status> write_interactive_page(const Scene& scene, const std::filesystem::path& path,
                                             PageView view);

/// Instantiates it for the table of views.
template <PageView view>
std::optional<Status> write_page_on(const Scene& scene, const std::filesystem::path& path) {
    return write_interactive_page(scene, path, view);
}

}  // namespace headlight
