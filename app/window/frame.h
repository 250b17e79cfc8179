// Draws one frame of the window.
#pragma once

#include <filesystem>

#include "gpu/kept_frame.h"
#include "window/palette.h"
#include "window/screen.h"

namespace headlight {

class Frame {
public:
    Frame(WindowState& state, Screen& screen, Palette& palette)
        : state_(state), screen_(screen), palette_(palette) {}

    /// Call after Screen::prepare.
    void prepare();
    void draw();
    /// Ends a frame that threw, so that the next one can begin.
    void give_up();
    /// Reloads the shaders if their folder was given and one of them changed.
    void reload_shaders();
    /// Makes the next frame redraw the whole window.
    void redraw_all() { kept_.forget(); }
    /// Presents the last frame if it differs from the window.
    void present() {
        if (shows_other_ && kept_.show(state_.window)) state_.want_frames(1);
    }
    /// The share of the window that the last frame redrew, 0 … 1.
    float redrawn() const { return kept_.drawn(); }
    /// The number of its pixels that differ from a full redraw.
    size_t wrong_pixels() const;

private:
    void update_pictures();
    void update_atlas(const SentenceResult& sentence);
    void begin();
    void point();
    void draw_views(Rect window);
    void show();
    ImVec4 background() const;

    WindowState& state_;
    Screen& screen_;
    Palette& palette_;
    std::string colors_key_;
    std::filesystem::file_time_type shader_time_{};
    KeptFrame kept_;
    bool shows_other_ = true;
    float kept_scale_ = 0;  // scale at which it was drawn; fonts are loaded for one
    bool drawing_ = false;  // between begin and end of Dear ImGui's frame
};

}  // namespace headlight
