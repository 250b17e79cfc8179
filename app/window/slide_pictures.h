// Pictures slides for their thumbnails while their view is on screen.
#pragma once

#include "window/frame.h"
#include "window/window_state.h"

namespace headlight {

class SlidePictures {
public:
    SlidePictures(WindowState& state, Frame& frame) : state_(state), frame_(frame) {}

    /// Draws a frame aside if a slide is shown that needs a thumbnail, and everything on it is computed.
    void update();

private:
    bool is_due() const;
    void take(const std::vector<unsigned char>& pixels, int width, int height);

    WindowState& state_;
    Frame& frame_;
};

/// Shrinks a part of rows of 4 bytes (blue, green, red; the lowest row first) to fit a size, in its middle.
RgbImage shrunk_part(const std::vector<unsigned char>& pixels, int width, int height, Rect part,
                     std::pair<int, int> size, ImU32 around);

}  // namespace headlight
