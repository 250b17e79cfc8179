// One frame of the window.
#pragma once

#include <filesystem>

#include "window/palette.h"
#include "window/screen.h"

namespace headlight {

class Frame {
public:
    Frame(Desk& desk, Screen& screen, Palette& palette) : desk_(desk), screen_(screen), palette_(palette) {}

    void draw();
    /// A frame that throws is given up, and the notice says why; an error where frame after frame does.
    Status draw_safely();
    /// Reads the shaders again where their folder was named and one of them changed.
    void reload_shaders();

private:
    void update_pictures();
    void update_atlas(const SentenceResult& sentence);
    void begin();
    void point();
    void draw_views(Rect window);
    void show(ImVec2 size);

    Desk& desk_;
    Screen& screen_;
    Palette& palette_;
    std::string colors_key_;
    std::filesystem::file_time_type shader_time_{};
    int failed_ = 0;  // frames, one after another
};

}  // namespace headlight
