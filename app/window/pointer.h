// Records mouse events in order: Dear ImGui 1.86 sees only the position at a frame and loses where a button
// was pressed if the mouse moved on.
#pragma once

#include <array>
#include <deque>
#include <optional>

namespace headlight {

/// Position of the pointer in window units, and which buttons are held.
struct PointerState {
    float x = 0, y = 0;
    std::array<bool, 5> down{};  // by GLFW's button number

    bool operator==(const PointerState&) const = default;
};

/// Moves and button changes since the last frame.
class PointerEvents {
public:
    void move(double x, double y);
    /// Ignores buttons beyond the fifth.
    void press(int button, bool down);
    bool waiting() const { return !events_.empty(); }
    /// Returns what the next frame sees, or nothing. A frame takes all moves up to the last, or one button
    /// change: so a pressed widget has been hovered, and a click is one frame held and one released.
    std::optional<PointerState> next();
    /// Counts the button changes received, and those that frames have seen: a key follows the clicks before
    /// it.
    int changes() const { return changes_; }
    int changes_seen() const { return changes_seen_; }

private:
    std::deque<PointerState> events_;  // the state after each
    PointerState last_;                // after all of them
    PointerState seen_;                // in the last frame
    int changes_ = 0, changes_seen_ = 0;
};

}  // namespace headlight
