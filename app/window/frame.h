// One frame of the window.
#pragma once

#include <filesystem>

#include "gpu/kept_frame.h"
#include "window/palette.h"
#include "window/screen.h"

namespace headlight {

class Frame {
public:
    Frame(WindowState& desk, Screen& screen, Palette& palette)
        : desk_(desk), screen_(screen), palette_(palette) {}

    /// Behind Screen::prepare.
    void prepare();
    void draw();
    /// Ends a frame that threw, so that the next one can begin.
    void give_up();
    /// Reads the shaders again where their folder was named and one of them changed.
    void reload_shaders();
    /// The next frame draws the whole window anew.
    void draw_all_anew() { kept_.forget(); }
    /// Shows what the last frame drew, where that is other than what the window shows.
    void present() {
        if (shows_other_ && kept_.show(desk_.window)) desk_.want_frames(1);
    }
    /// How much of the window the last frame drew anew, 0 … 1; the rest was as before.
    float drawn_anew() const { return kept_.drawn(); }
    /// How many of its pixels are not those of a frame that is drawn as a whole.
    size_t wrong_pixels() const;

private:
    void update_pictures();
    void update_atlas(const SentenceResult& sentence);
    void begin();
    void point();
    void draw_views(Rect window);
    void show();
    ImVec4 background() const;

    WindowState& desk_;
    Screen& screen_;
    Palette& palette_;
    std::string colors_key_;
    std::filesystem::file_time_type shader_time_{};
    KeptFrame kept_;
    bool shows_other_ = true;
    float kept_scale_ = 0;  // at which it was drawn: fonts are loaded for one
    bool drawing_ = false;  // between the begin and the end of Dear ImGui's frame
};

}  // namespace headlight
