// Controls side by side above a view.
#pragma once

#include "paint/layout.h"

namespace headlight {

/// A line of controls from the left; wraps to the next line.
class Toolbar {
public:
    enum class Lines { one, many };
    static constexpr float kApart = 18;
    Toolbar(Ui& ui, Rect line, Lines lines = Lines::one);

    Ui& ui;
    bool labels = true;    // of choices; else these need none
    float apart = kApart;  // from one control to the next

    /// Takes room of this width, and a gap `apart` after it.
    Rect take(float width, float apart);
    Rect take(float width) { return take(width, apart); }
    /// The same at the end of the line.
    Rect take_end(float width, float apart = kApart) { return take_right(line_, width, apart); }
    void new_line();
    Rect rest() const { return {x_, line_.y, std::max(0.0f, line_.right() - x_), line_.h}; }
    float bottom() const { return line_.bottom(); }
    /// Where the last taken room is.
    Rect last() const { return last_; }

    /// The list item chosen in this frame, or −1.
    int choice(const std::string& label, const std::string& path, const std::vector<std::string>& items,
               int current);
    /// The same for a value that indexes its items; whether one was chosen.
    template <class T>
    bool choose(const std::string& label, const std::string& path, const std::vector<std::string>& items,
                T& value) {
        const int chosen = choice(label, path, items, static_cast<int>(value));
        if (chosen >= 0) value = static_cast<T>(chosen);
        return chosen >= 0;
    }
    /// The clicked option of several side by side, or −1.
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
