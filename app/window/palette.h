// Ctrl+K: finds any command by typing parts of its name.
#pragma once

#include <vector>

#include "session/commands/palette.h"
#include "window/window_state.h"

namespace headlight {

class Palette {
public:
    Palette(WindowState& desk, Host& host) : desk_(desk), host_(host) {}

    /// A key while it is open: types, chooses, carries out.
    void press(const KeyPress& press);
    /// Opens and closes with the session's sheet. The field that had the keyboard gets it back.
    void draw(Scene& scene, Rect window);
    /// What is offered just now, best first.
    const std::vector<Offer>& offers() const { return offers_; }

private:
    void open();
    void close();
    void find();
    void choose(int at);
    void carry_out_chosen();
    void draw_row(Scene& scene, Rect row, int at);
    void draw_rows(Scene& scene, Rect area);

    WindowState& desk_;
    Host& host_;
    bool open_ = false;
    TextField* typed_before_ = nullptr;
    TextField field_{TextName::sentence};
    std::vector<Offer> offers_;
    int chosen_ = 0;
    int first_ = 0;  // the uppermost row that is seen
    std::shared_ptr<const WorkAnswer> found_for_;
};

}  // namespace headlight
