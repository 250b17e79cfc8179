// Ctrl+K: finds any command by typing parts of its name, or of another name for it.
#pragma once

#include <optional>
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
    /// The offered rows: best first; before anything is typed, by the question that they answer.
    const std::vector<Offer>& offers() const { return offers_; }

private:
    /// Before anything is typed: a heading and its offers, in the left or the right column.
    struct Section {
        std::string number, title, question;
        int from = 0, count = 0;
        bool right = false;
    };

    void open();
    void close();
    void find();
    void list_all();
    void choose(int at);
    void change_column();
    void carry_out_chosen();
    void answer_row(Scene& scene, Rect row, int at);
    void draw_row(Scene& scene, Rect row, int at);
    void draw_rows(Scene& scene, Rect area);
    void draw_listed(Scene& scene, Rect row, int at);
    void draw_sections(Scene& scene, Rect area, float line);
    float lines_of(bool right) const;
    bool lists_all() const { return !sections_.empty(); }

    WindowState& state_;
    Host& host_;
    bool open_ = false;
    TextField* typed_before_ = nullptr;
    TextField field_{TextName::sentence};
    std::vector<Offer> offers_;
    std::vector<Section> sections_;  // none once something is typed
    int chosen_ = 0;
    int first_ = 0;               // the topmost visible row
    int rows_ = 9;                // that are visible
    std::optional<int> pressed_;  // by the mouse in this frame
    std::shared_ptr<const WorkAnswer> found_for_;
};

}  // namespace headlight
