// Draws the blocks of Learn, on the screen and on a page.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "learn/page.h"
#include "paint/ui.h"

namespace headlight::learn {

/// A number typed into a cell of an editable Grid.
struct TypedCell {
    std::string field;  // of the station's state
    int row = 0, column = 0;
    std::string text;
};

/// Settings for drawing blocks, and the user's input in this frame.
struct BlockPen {
    Ui& ui;
    const Colormap& weights;                                    // from 0 up
    std::string path = "learn/block";                           // of their widgets, before the block's index
    std::vector<Symbol> symbols = {};                           // explained on hover
    std::optional<std::pair<int, int>> focused = std::nullopt;  // cell of the selected head: query, key
    float plot_high = 220;                                      // of a plot, without its labels
    bool hinted_edit = false;                                   // the hint on editing was shown
    std::optional<TypedCell> typed = std::nullopt;
    std::optional<std::pair<int, int>> pointed = std::nullopt, pressed = std::nullopt;  // cells
};

/// Draws blocks from (x, y) down, narrow ones side by side; returns the bottom. `first_index`: of
/// the widgets of the first.
float draw_blocks(BlockPen& pen, std::span<const Block> blocks, float x, float y, float width,
                  int first_index = 0);

/// Draws one block with its top left at `at`; returns its height.
float draw_bar_rows(BlockPen& pen, ImVec2 at, float width, const BarRows& bars);
float draw_grid(BlockPen& pen, ImVec2 at, float width, const Grid& grid);
float draw_plot(BlockPen& pen, ImVec2 at, float width, const Curves& curves);
float draw_plane(BlockPen& pen, ImVec2 at, float width, const Plane& plane);
float draw_written_steps(BlockPen& pen, ImVec2 at, float width, const Steps& steps);
float draw_number_table(BlockPen& pen, ImVec2 at, float width, const Table& table);
float draw_pixels(BlockPen& pen, ImVec2 at, float width, const Pixels& pixels);
float draw_words(BlockPen& pen, ImVec2 at, float width, const Words& words);
float draw_thread(BlockPen& pen, ImVec2 at, float width, const Thread& thread);  // the shown step

/// Draws what a page found behind a bar; returns its height, 0 without a finding.
float draw_finding(Ui& ui, ImVec2 at, float width, const PageQuestion& question);

/// Lists symbols with their meanings, one per line; returns the height.
float draw_symbols(Ui& ui, ImVec2 at, float width, const std::vector<Symbol>& symbols);

/// Draws a block's title; returns its height, 0 without a title.
float draw_block_title(BlockPen& pen, ImVec2 at, float width, const std::string& title);
/// Explains the symbols of a text drawn at `place`, on hover.
void explain(BlockPen& pen, Rect place, const std::string& text);
/// About three digits.
std::string short_number(double value);
/// Draws labels above columns, horizontal if they fit, else slanted; `bottom`: the top of the columns.
float column_labels_height(Ui& ui, const std::vector<std::string>& labels, float step);
void draw_column_labels(Ui& ui, float left, float bottom, float step, const std::vector<std::string>& labels);

}  // namespace headlight::learn
