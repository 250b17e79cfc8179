// Draws a thread: its steps as nodes on a line, and the picture of one of them; on the screen and on a page.
#pragma once

#include <optional>
#include <utility>

#include "learn/thread.h"
#include "paint/layout.h"

namespace headlight::learn {

/// Settings for drawing a thread, and what the user chose in this frame.
struct ThreadPen {
    Ui& ui;
    int shown = 1;                      // Thread::node
    std::string door = {};              // title of the station that explains it
    float blend = 1;                    // of the picture, 0 … 1
    std::string path = "learn/follow";  // of the widgets
    int go = 0;                         // to this node
    bool opens_door = false, sample = false, onward = false;
    std::optional<std::pair<int, int>> pointed = std::nullopt, pressed = std::nullopt;  // cells
};

inline constexpr float kNodesWide = 404, kNodesBrief = 176;

/// True if a number is one of the story's stops.
inline bool in_story(const Thread& thread, int number) { return number > isize(thread.steps); }

/// Lists the steps, or the stops if one of them is shown; without strips if there is no room.
void draw_nodes(ThreadPen& pen, Rect area, const Thread& thread);
/// Draws sentence, picture and arithmetic of the shown one from the top of the area; returns the bottom,
/// which may be below that of the area.
float draw_stage(ThreadPen& pen, Rect area, const Thread& thread);

/// Draw the parts of a picture; return their bottom.
float draw_strips_of(ThreadPen& pen, Rect area, const std::vector<Thread::Strip>& strips,
                     const std::string& heading);
float draw_bands(ThreadPen& pen, Rect area, const Thread& thread, const Thread::Node& node);
float draw_upright(ThreadPen& pen, Rect area, const Thread::Node& node);
float draw_bar_list(ThreadPen& pen, Rect area, const Thread::Node& node);

/// Returns the value of the strongest color: the largest of any strip, unless a few entries stand out.
float reach_of(const std::vector<Thread::Strip>& strips);
void draw_cells(Ui& ui, Rect r, const Matrix& values, float reach);

}  // namespace headlight::learn
