// What the mouse did, in its order: Dear ImGui 1.86 sees only where it is at a frame, and loses where it was
// pressed when it moved on before.
#pragma once

#include <array>
#include <deque>
#include <optional>

namespace headlight {

/// Where the pointer is, in the window's units, and which buttons are held.
struct PointerState {
    float x = 0, y = 0;
    std::array<bool, 5> down{};  // by GLFW's number of the button

    bool operator==(const PointerState&) const = default;
};

/// Moves and buttons since the last frame.
class PointerEvents {
public:
    void move(double x, double y);
    /// Buttons beyond the fifth are ignored.
    void press(int button, bool down);
    bool waiting() const { return !events_.empty(); }
    /// What the next frame sees; nothing where nothing happened. A frame takes moves, of which it sees the
    /// last, or one change of a button: what is pressed has been hovered, and a click is a frame held and one
    /// let go.
    std::optional<PointerState> next();
    /// Changes of buttons that came, and of these that frames have seen: a key is for what the clicks before
    /// it did.
    int changes() const { return changes_; }
    int changes_seen() const { return changes_seen_; }

private:
    std::deque<PointerState> events_;  // the state after each
    PointerState last_;                // after all of them
    PointerState seen_;                // by the last frame
    int changes_ = 0, changes_seen_ = 0;
};

}  // namespace headlight
