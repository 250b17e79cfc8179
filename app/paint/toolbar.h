// Controls beside one another above a view.
#pragma once

#include "paint/layout.h"

namespace headlight {

/// A line of controls from the left; where it wraps, what does not fit stands in the next line.
class Toolbar {
public:
    enum class Lines { one, many };
    static constexpr float kApart = 18;
    Toolbar(Ui& ui, Rect line, Lines lines = Lines::one);

    Ui& ui;
    bool labels = true;    // of choices; else these speak for themselves
    float apart = kApart;  // from one control to the next

    /// The room of something so wide; the next stands `apart` from it.
    Rect take(float width, float apart);
    Rect take(float width) { return take(width, apart); }
    /// The same at the end of the line.
    Rect take_end(float width, float apart = kApart) { return take_right(line_, width, apart); }
    /// What comes next stands in a line of its own.
    void new_line();
    Rect rest() const { return {x_, line_.y, std::max(0.0f, line_.right() - x_), line_.h}; }
    float bottom() const { return line_.bottom(); }
    /// Where what was taken last stands.
    Rect last() const { return last_; }

    /// The item of a list that was chosen in this frame, or −1.
    int choice(const std::string& label, const std::string& path, const std::vector<std::string>& items,
               int current);
    /// The same for a value whose items stand in its order; whether it was chosen.
    template <class T>
    bool choose(const std::string& label, const std::string& path, const std::vector<std::string>& items,
                T& value) {
        const int chosen = choice(label, path, items, static_cast<int>(value));
        if (chosen >= 0) value = static_cast<T>(chosen);
        return chosen >= 0;
    }
    /// The one of some options side by side that was pressed, or −1.
    int segments(const std::string& label, const std::string& path, const Ui::Segments& options);
    float segments_width(const std::string& label, const std::vector<std::string>& options) const;
    void say(Font font, ImU32 ink, const std::string& text, float apart);
    void say(Font font, ImU32 ink, const std::string& text) { say(font, ink, text, apart); }
    float press_width(const std::string& label) const;
    Hit press(const std::string& path, const std::string& label, bool on = false);
    bool link(const std::string& path, const std::string& label);

private:
    Rect line_, last_;
    float x_;
    Lines lines_;
};

}  // namespace headlight
