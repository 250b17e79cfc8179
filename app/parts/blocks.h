// The blocks of Learn, each drawn by one function on the screen and on a page.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "learn/page.h"
#include "paint/ui.h"

namespace headlight::learn {

/// A number that was typed into a cell of an editable Grid: the state's field, and which of its numbers.
struct TypedCell {
    std::string field;
    int row = 0, column = 0;
    std::string text;
};

/// What blocks are drawn with, and what a person did to one of them in this frame.
struct BlockPen {
    Ui& ui;
    const Colormap& weights;                                    // from 0 up
    std::string path = "learn/block";                           // of their widgets, before the block's number
    std::vector<Symbol> symbols = {};                           // explained where they are pointed at
    std::optional<std::pair<int, int>> focused = std::nullopt;  // a cell of the chosen head: query, key
    float plot_high = 220;                                      // of a plot, without its names
    bool says_edit = false;                                     // that numbers can be changed, already said
    std::optional<TypedCell> typed = std::nullopt;
    std::optional<std::pair<int, int>> pointed = std::nullopt, pressed = std::nullopt;  // such cells
};

/// Draws blocks from (x, y) down, those that are narrow side by side; returns where they end.
float draw_blocks(BlockPen& pen, const std::vector<Block>& blocks, float x, float y, float width);

/// Draws one block whose top left is `at`; returns its height.
float draw_bar_rows(BlockPen& pen, ImVec2 at, float width, const BarRows& bars);
float draw_grid(BlockPen& pen, ImVec2 at, float width, const Grid& grid);
float draw_plot(BlockPen& pen, ImVec2 at, float width, const Curves& curves);
float draw_plane(BlockPen& pen, ImVec2 at, float width, const Plane& plane);
float draw_written_steps(BlockPen& pen, ImVec2 at, float width, const Steps& steps);
float draw_number_table(BlockPen& pen, ImVec2 at, float width, const Table& table);
float draw_pixels(BlockPen& pen, ImVec2 at, float width, const Pixels& pixels);
float draw_words(BlockPen& pen, ImVec2 at, float width, const Words& words);

/// The title over a block; returns its height, 0 where there is none.
float draw_block_title(BlockPen& pen, ImVec2 at, float width, const std::string& title);
/// Says what the signs in a text that stands there mean, where it is pointed at.
void explain(BlockPen& pen, Rect place, const std::string& text);
/// A number for a cell or a bar: three digits or so.
std::string short_number(double value);
/// Labels over columns, level where they have room, leaning where not; `bottom` is where the columns begin.
/// How high they stand is measured by the same rule.
float column_labels_height(Ui& ui, const std::vector<std::string>& labels, float step);
void draw_column_labels(Ui& ui, float left, float bottom, float step, const std::vector<std::string>& labels);

}  // namespace headlight::learn
