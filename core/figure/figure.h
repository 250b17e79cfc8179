// Draws figures for papers: the window's views with vector text on a white page.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "analysis/attention/head_stats.h"
#include "base/quoted.h"
#include "figure/canvas.h"
#include "figure/colormap.h"
#include "figure/style.h"
#include "trace/head_group.h"

namespace headlight {

/// Holds what a figure of many heads shows for each, by ModelConfig::head_index; all of it may be empty.
struct ManyHeads {
    std::vector<float> fades{};                // 0 … 1 towards the page
    std::vector<std::string> notes{};          // after its name
    std::string notes_are{};                   // meaning of the notes, for the caption
    std::vector<std::optional<Rgb>> plates{};  // colors around the thumbnails
    bool own_range = false;                    // scales each head's colors to its own largest weight
    bool square_root = false;                  // colors by the square root of the weight
};

struct FigureOptions : FigureStyle {
    int block = 0, head = 0;                        // attention block (ModelConfig::block) and head
    std::optional<HeadGroup> group = std::nullopt;  // replaces the head by several combined
    double most_cell = 0;                           // of one head: maximum size of a cell; 0: none
    ManyHeads many{};
};

struct FigureKind {
    const char* name;
    const char* help;
    Result<Drawing> (*make)(std::shared_ptr<const Trace> trace, const FigureOptions& options,
                            ThreadPool& pool);
};

/// Returns the table of figures: the only place to add one.
std::span<const FigureKind> figure_kinds();
const FigureKind* find_figure(std::string_view name);

// Draw figures, one file each.
Result<Drawing> head_figure(std::shared_ptr<const Trace> trace, const FigureOptions& options,
                            ThreadPool& pool);
Result<Drawing> heads_figure(std::shared_ptr<const Trace> trace, const FigureOptions& options,
                             ThreadPool& pool);

/// Returns " Row 3 is fully masked: …" for captions, "" if no row of the head is (MaskPlan).
std::string fully_masked_note(const Trace& trace, int block, int head);

struct PageColors {
    Rgb text{0x14, 0x17, 0x1B}, secondary{0x41, 0x4A, 0x54}, caption{0x5F, 0x68, 0x73},
        line{0xAB, 0xB3, 0xBD}, hatch{0xC6, 0xCC, 0xD3}, page{255, 255, 255};
};

/// Draws the page, unless it is transparent, and the title, if any; `automatic` replaces "auto".
void begin_figure(Canvas& canvas, const Page& page, const FigureOptions& options,
                  const std::string& automatic);
/// Returns the factor of lengths in points: 1 at the usual font size.
inline double style_zoom(const FigureStyle& style) { return style.font_pt / 8.25; }

/// Returns the colors of weights on a page: the chosen ones, or those of signed values.
const Colormap& page_colormap(const FigureOptions& options, const Shades& shades);

/// Draws weights[queries, keys] with square cells, as one picture if finer than the page. kMasked: masked.
void draw_weights(Canvas& canvas, const Matrix& weights, double x, double y, double cell,
                  const FigureOptions& options, const Shades& shades);

/// Return every how many labels to draw so that they are `apart`: 1, 2, 5, 10, 20, …; kOneLabel if there is
/// no room for a second one, as with cells of no extent.
inline constexpr int kOneLabel = 1'000'000'000;
int label_step(double cell, double apart);

}  // namespace headlight
