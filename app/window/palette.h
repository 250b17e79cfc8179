// Ctrl+K: finds any command by typing parts of its name.
#pragma once

#include <vector>

#include "session/commands/palette.h"
#include "window/window_state.h"

namespace headlight {

class Palette {
public:
    Palette(WindowState& state, Host& host) : state_(state), host_(host) {}

    /// Handles a key while the palette is open: types, chooses, runs.
    void press(const KeyPress& press);
    /// Opens and closes with the session's sheet and gives the keyboard back to the field that had it.
    void draw(Scene& scene, Rect window);
    /// The offered rows, best first.
    const std::vector<Offer>& offers() const { return offers_; }

private:
    void open();
    void close();
    void find();
    void choose(int at);
    void carry_out_chosen();
    void draw_row(Scene& scene, Rect row, int at);
    void draw_rows(Scene& scene, Rect area);

    WindowState& state_;
    Host& host_;
    bool open_ = false;
    TextField* typed_before_ = nullptr;
    TextField field_{TextName::sentence};
    std::vector<Offer> offers_;
    int chosen_ = 0;
    int first_ = 0;  // the topmost visible row
    std::shared_ptr<const WorkAnswer> found_for_;
};

}  // namespace headlight
