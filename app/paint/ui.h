// The widgets of the window: drawn by us, hit-tested by Dear ImGui, each with a path for tests.
#pragma once

#include <imgui.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/quoted.h"
#include "gpu/heatmap.h"
#include "paint/input.h"
#include "paint/text.h"
#include "paint/text_field.h"
#include "paint/theme.h"
#include "session/session.h"

namespace headlight {

class CurvePicture;
struct Probe;
struct LevelCurve;  // paint/curve_picture.h

struct Rect {
    float x = 0, y = 0, w = 0, h = 0;
    float right() const { return x + w; }
    float bottom() const { return y + h; }
    float middle_x() const { return x + w / 2; }
    float middle_y() const { return y + h / 2; }
    ImVec2 min() const { return {x, y}; }
    ImVec2 max() const { return {x + w, y + h}; }
    ImVec2 middle() const { return {middle_x(), middle_y()}; }
    bool contains(ImVec2 p) const { return p.x >= x && p.x < x + w && p.y >= y && p.y < y + h; }
    /// Returns what lies in both; of no or negative size if nothing does.
    Rect common(Rect b) const {
        const float left = std::max(x, b.x), top = std::max(y, b.y);
        return {left, top, std::min(right(), b.right()) - left, std::min(bottom(), b.bottom()) - top};
    }
};

struct Hit {
    bool hovered = false, pressed = false, clicked = false;
    ImVec2 mouse;
};

inline constexpr Font kCaption{Face::sans, 13}, kBody{Face::sans, 15}, kTitle{Face::sans, 20};
inline constexpr Font kCaptionMono{Face::mono, 13}, kBodyMono{Face::mono, 15}, kTitleMono{Face::mono, 20};

/// Everything a view draws with, for one frame. All lengths are points; they become pixels only here.
class Ui {
public:
    Ui(TextPainter& text, HeatmapRenderer* heat);
    ~Ui();

    void begin(const Theme& theme, float scale);
    void use_list(ImDrawList* list);
    /// The CPU draws: fewer lines, and many curves as one picture.
    void draw_by_processor();
    /// Draws on a page instead: vector shapes and text; nothing responds, controls are invisible.
    void begin_page(const Theme& theme, Canvas& canvas);
    bool on_page() const { return page_ != nullptr; }
    /// On a page: a mouse to draw under, without ink, which learns what is said there; null: none.
    Probe* probe = nullptr;

    TextPainter& text;
    HeatmapRenderer* heat;  // null on a page
    const Theme* colors = nullptr;
    ImDrawList* list = nullptr;  // null on a page; views draw through the functions below
    ImVec2 mouse{-1, -1};
    size_t most_lines = 6000;      // lines that a picture draws at once; fewer if the CPU draws them
    float wheel = 0, wheel_x = 0;  // of this frame, until something takes it
    bool shift = false, ctrl = false;
    bool without_toolbars = false;  // a slide: what is drawn next has no controls
    float scale = 1;                // pixels a point
    float wake_after = 0;           // seconds until a frame is needed without any event; 0: none
    std::unordered_map<std::string, Rect> widgets;  // paths and places of this frame

    /// The width of the thinnest line that is drawn evenly.
    float line() const { return std::max(1.0f, std::floor(scale)) / scale; }
    /// The nearest length that ends between two pixels, and the largest one not above it.
    float snapped(float points) const { return std::round(points * scale) / scale; }
    float whole(float points) const { return std::floor(points * scale + kAlmost) / scale; }
    ImVec2 pixels(ImVec2 points) const { return {points.x * scale, points.y * scale}; }
    Rect pixels(Rect r) const { return {r.x * scale, r.y * scale, r.w * scale, r.h * scale}; }
    ImVec2 points(ImVec2 pixels) const { return {pixels.x / scale, pixels.y / scale}; }

    /// Covers the window: widgets below do not respond to the mouse in the next frame.
    void cover(Rect r) { new_covers_.push_back(r); }

    /// Makes a rectangle respond to the mouse.
    Hit hit(const std::string& path, Rect r);
    /// The same for a control: Tab focuses it, Enter or Space presses it.
    Hit control(const std::string& path, Rect r);
    /// Whether the mouse is over a rectangle, whatever in it responds.
    Hit over(Rect r) const;
    /// Steps (−1, +1) from arrow keys for the focused control, which takes them.
    int take_step(const std::string& path);
    /// Puts everything drawn so far behind a sheet: Tab skips it.
    void only_from_here() {
        stops_.clear();
        tip_.reset();
    }

    const std::string& focus() const { return focus_; }
    /// Moves the focus by one control; false (and no focus) beyond the last or the first.
    bool move_focus(int by);
    void drop_focus() { focus_.clear(); }
    void press_focused() { pressed_ = focus_; }
    void step_focused(int by) { step_ = by; }
    /// Draws an amber frame around the focused control. Draw last.
    void draw_focus();
    /// Names a rectangle for tests without making it respond.
    void name(const std::string& path, Rect r) { widgets[path] = r; }

    /// Whether any of a rectangle is visible; always on a page.
    bool in_sight(Rect r) const;
    void fill(Rect r, ImU32 color, float corner = 0);
    void frame(Rect r, ImU32 color, float thickness = 1, float corner = 0);
    void hairline(float x0, float y0, float x1, float y1);
    void stroke(ImVec2 from, ImVec2 to, ImU32 color, float width);
    void polyline(std::span<const ImVec2> along, ImU32 color, float width);
    /// "×", and "⌄" or "›", about a point, `arm` to each side.
    void cross(ImVec2 center, float arm, ImU32 color);
    void chevron(ImVec2 center, float arm, ImU32 color, bool down = true);
    /// A cubic curve with horizontal ends.
    void curve(ImVec2 from, ImVec2 to, ImU32 color, float width);
    /// Draws such curves from left to right of a rectangle, clipped to it, on the window color; once a frame.
    void curves(Rect r, std::span<const LevelCurve> all);
    void disc(ImVec2 center, float radius, ImU32 color);
    void ring(ImVec2 center, float radius, ImU32 color, float width);
    void polygon(std::span<const ImVec2> convex, ImU32 color);
    void hatch(Rect r, ImU32 color);
    /// A color map, starting at the bottom of a tall rectangle or at the left of a wide one.
    void gradient(Rect r, const Colormap& map);
    /// A picture of 8-bit red, green, blue: `texture` holds it on the screen, `pixels` on a page.
    void picture(Rect r, GLuint texture, int width, int height, const unsigned char* pixels);
    void clip(Rect r);
    void unclip();
    /// Clips drawing and mouse in between to this rectangle.
    void scroll_area(Rect r);
    void end_scroll_area();
    /// The wheel's turn since the last frame if the mouse is in the rectangle; the first caller takes it.
    float take_wheel(Rect r);

    enum class Look { normal, primary, off };
    bool button(const std::string& path, Rect r, const std::string& label, Look look = Look::normal);
    /// A clickable text ("Settings").
    bool link(const std::string& path, float right, float middle, const std::string& label, bool on = false);
    /// A closed drop-down list; returns the item chosen this frame, or −1. Sizes itself to the widest item,
    /// up to `max`; returns its width in `width`.
    int drop_down(const std::string& path, float x, float middle, const std::vector<std::string>& items,
                  int current, float& width, float max = 1e9f);
    /// A panel below the widget that was clicked to open it; `draw` fills it.
    void pop_up(const std::string& path, Rect under, bool pressed, ImVec2 size,
                const std::function<void(Rect inside)>& draw);
    /// Whether a list or panel is open, and its keys.
    bool in_list() const { return !open_list_.empty(); }
    const std::string& open_list() const { return open_list_; }
    enum class ListKey { up, down, take, close, other };
    void press_in_list(ListKey key);
    /// "Scale [linear v]" in a row: draws it at x, advances x, returns the item chosen this frame, or −1.
    int choice(float& x, float middle, const char* label, const std::string& path,
               const std::vector<std::string>& items, int current);
    float choice_width(const char* label, const std::vector<std::string>& items);
    /// A bar to either side of a zero line at its middle, value −1 … 1.
    void signed_bar(Rect r, float value, bool strong = true);
    /// Options side by side at a height, one of them on, each with its explanation; returns the clicked one,
    /// or −1. Arrow keys move among them.
    struct Segments {
        std::vector<std::string> labels;
        std::vector<std::string> helps = {};
        int current = -1;
    };
    int segments(const std::string& path, float x, float middle, const Segments& options);
    float segments_width(const std::vector<std::string>& labels);
    void toggle(const std::string& path, Rect r, const char* label, bool& on);
    /// Dear ImGui's own field, in our colors, for paths and labels. The first one has the keyboard unless
    /// something else takes it.
    void text_input(const char* path, Rect r, const char* hint, std::string& value, bool first = true);
    /// A value that is edited in place. A click turns it into a field: Enter, Tab or a click elsewhere accept
    /// the text, Esc cancels. The caller draws the value.
    struct Entry {
        Hit hit;
        bool open = false;                 // being edited
        std::optional<std::string> typed;  // once
    };
    Entry entry(const std::string& path, Rect r, const std::string& value);
    /// Whether one is open, and its keys.
    bool typing() const;
    bool changes_field() const;  // further keys belong to what the next frame opens
    void type(Input& input, const std::function<std::string()>& clipboard,
              const std::function<void(const std::string&)>& copy);
    /// A knob on a line, `place` 0 … 1; returns where it is dragged to. Fainter unless `counts`.
    std::optional<float> slider(const std::string& path, Rect r, float place, bool counts = true);
    /// A horizontal bar, value 0 … 1.
    void bar(Rect r, float value, ImU32 color);
    /// Shows a text while the mouse rests on something; the last one in a frame wins.
    void tooltip(const std::string& path, const Hit& hit, const std::string& text,
                 float after = kTooltipDelay);
    static constexpr float kTooltipDelay = 0.4f;  // seconds
    /// Whether the mouse has rested on a widget for so many seconds; requests a frame at that time.
    bool rests(const std::string& path, const Hit& hit, float seconds);
    /// The same with the sentence of its path (explanation_of). "number/NAME": a number or column.
    void explain(const std::string& path, Rect r);
    /// Draws the tooltip over everything. Draw last.
    void draw_tooltip();
    /// For tests: paths that respond to the mouse or name a number, and lack a sentence.
    bool notes_unexplained = false;
    std::vector<std::string> unexplained() const;

private:
    static constexpr float kAlmost = 1e-3f;  // of a pixel: rounding error of a division by the scale
    struct Typing;
    bool covered(ImVec2 point) const;
    Hit probed(Rect r) const;
    void close_list();
    int draw_list(const std::string& path, const std::vector<std::string>& items, int current, float wide);
    void open_typing(const std::string& path, const std::string& value);
    void forget_typing();
    std::vector<std::string> stops_, last_stops_;  // controls in drawing order
    std::string focus_, pressed_;
    std::string open_list_, list_;  // open in this frame; whose row is marked
    int list_at_ = -1, list_step_ = 0;
    bool list_take_ = false, list_close_ = false;
    int step_ = 0;
    std::unique_ptr<Typing> typing_;
    int opens_next_ = 0;        // frames until the focused entry opens
    std::optional<Rect> seen_;  // visible part of a scrolled area
    Canvas* page_ = nullptr;
    std::unique_ptr<CurvePicture> curve_picture_;  // if the CPU draws
    std::vector<Rect> covers_, new_covers_;
    std::string resting_;  // widget under the mouse, for views that follow it
    double resting_since_ = 0;
    bool rested_ = false;  // requested in this frame
    struct Tip {
        std::string path, text;
        ImVec2 mouse;
        float after;  // seconds
    };
    void draw_tip(const Tip& tip);
    std::optional<Tip> tip_;  // this frame's text
    std::string pointed_;     // widget under the mouse, for the tooltip's delay
    double pointed_since_ = 0;
    std::string pressed_tip_;  // widget clicked last, while the mouse stays on it
    std::set<std::string> answering_, explained_;
    bool drawing_list_ = false;  // of an open drop-down
};

/// "0.613", with U+2212 for minus; "—" if undefined.
std::string number(double value, int digits);

/// The same, but small numbers differ from 0: "0.613", "2.3e−5", "0" (fine_decimals).
std::string fine_number(double value, int digits);
/// The same with short large numbers: "41.39", "2.84e10" from a million on.
std::string compact_number(double value, int digits);
/// "+0.613", "−0.020", "+2.3e−5", "0": a difference, a contribution.
std::string signed_number(double value, int digits);

}  // namespace headlight
