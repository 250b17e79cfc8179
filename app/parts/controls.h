// Draws controls that views share.
#pragma once

#include <array>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "analysis/attention/head_tags.h"
#include "paint/chip.h"
#include "paint/toolbar.h"
#include "parts/scene.h"
#include "session/viewport.h"

namespace headlight {

/// "−66.5", "+0.3", "0.0": a change of a probability in percentage points, and its color.
std::string points_text(float change);
ImU32 change_ink(const Ui& ui, float change);

/// Looks up 0 … 1 in a color map.
ImU32 color_at(const Colormap& map, float place);
/// Looks up −1 … 1 in the diverging map.
ImU32 signed_color(bool dark, float place);
/// Near-black or white, whichever contrasts more.
ImU32 ink_on(ImU32 back);
ImU32 faded(ImU32 color, float alpha);
/// The style of head thumbnails with this side in points; the caller adds their slots.
GridDraw thumbnail_grid(const Scene& scene, float side);
/// The room before a thumbnail's keys for the weights of its head's sink, in points: at the left, or above
/// where queries are columns; nothing if no head of the model has a sink.
struct SinkRoom {
    float bar = 0, apart = 0;
    bool above = false;

    float all() const { return bar + apart; }
    /// Returns the rectangle of the keys, of this side, in a slot that begins with the room.
    Rect keys(float x, float y, float side) const {
        return {above ? x : x + all(), above ? y + all() : y, side, side};
    }
};
SinkRoom sink_room(const Scene& scene, float side);
/// Draws the sinks of a grid of thumbnails, whose slots are the keys.
void add_sinks(const Scene& scene, const SinkRoom& room, GridDraw& grid);
/// Labels a grid of heads: head numbers above, names of layers from `first` on the left, `room` wide.
void draw_head_names(Scene& scene, const Grid& grid, float room,
                     const std::function<std::string(int)>& layer_name, int first = 0);
/// "1.2: layer 1, head 2", "enc 0.3: encoder layer 0, head 3": explains a head's name.
std::string head_legend(const ModelConfig& config, AttentionHead head);
/// The selected head, for views that work without an answer.
AttentionHead chosen_head(const Scene& scene);
/// Adds drop-downs for layer and head; `view`: the prefix of their paths.
void choose_head(Scene& scene, Toolbar& bar, const std::string& view);
ImU32 head_ink(const Scene& scene, int head, float alpha = 1);

inline constexpr float kTurn = 60;  // points scrolled per step of the wheel

/// Scrolls content of this height by the wheel, draws the thumb, and returns the new offset.
float scrolled(Ui& ui, Rect area, float content, float offset, float turn = kTurn);
/// The same for a view's viewport, which commands scroll too.
void scrolled(Ui& ui, Rect area, float content, Viewport& seen);
void scrolled_across(Ui& ui, Rect area, float content, Viewport& seen);
/// Zooms about the mouse by the wheel.
void enlarged(Ui& ui, Rect area, Viewport& seen);
/// The nearest offset that shows [top, bottom) of the content.
float scrolled_to(float offset, float top, float bottom, float height);

/// Shares of each row's weight to choose from, and their spelling in commands: "50" …
inline constexpr std::array<float, 4> kShareValues{0.5f, 0.7f, 0.9f, 0.99f};
inline constexpr std::span<const float> kShares = kShareValues;
std::vector<std::string> share_words();
inline constexpr FieldOption kShareOption{
    .name = "share", .help = "share of each row to draw, in percent", .figure_alone = true};

/// Adds "Show [top 70 % of each row v]".
void choose_share(Toolbar& bar, const char* label, const char* path, float& share);

/// The smallest weight to draw so that at most `max` lines are drawn; 0 if all fit.
float cutoff_weight(std::vector<float>& weights, size_t max);

/// The toolbar of a view, taken off the top of `rest`.
Toolbar view_toolbar(Ui& ui, Rect& rest);
/// … of a view that fills the window: after a back button with its title.
Toolbar title_toolbar(Scene& scene, Rect& rest, const std::string& path, const std::string& title);

/// Draws the way to means over prompts; `of`: a word of "prompts of". Nothing where the bar has no room.
void press_over_prompts(const Scene& scene, Rect r, const char* of);
void press_over_prompts(const Scene& scene, Toolbar& bar, const char* of);

/// "red 16": a token and its position.
std::string token_at(const std::vector<std::string>& labels, int position);

/// Draws a cross that closes a bar, at the end of a line, and takes its room; returns whether it was clicked.
bool press_cross(Ui& ui, const std::string& path, Rect& line);

/// Of the button that opens a closed inspector, and what it takes of the header's right end.
inline constexpr float kHandleWide = 22, kHandleRoom = kHandleWide + gap::tight;

struct InspectorState {
    bool open = true;
    bool handle = false;  // closed: the header has a button that opens it
};

/// Shows in a tooltip what a closed inspector would show.
void tooltip_without_inspector(const Scene& scene, const std::string& path, const Hit& hit,
                               const std::string& text);
/// … for a cell of the shown head: its tokens and weight.
void cell_tooltip(const Scene& scene, const std::string& path, const Hit& hit, std::pair<int, int> cell);

/// Draws small token chips, as many as fit.
void draw_token_row(Ui& ui, Rect line, const std::vector<std::string>& tokens, ImU32 ink);

/// Why a query is shown: "hover", "locked", "last token" …
const char* reason_shown(const Scene& scene, int query);

/// Shifts a line so that small text sits on the title's baseline.
Rect beside_title(Rect line);
/// The title line of an inspector, above a rule; write_reason right-aligns the reason and returns its width.
Rect inspector_line(Ui& ui, Rect area);
float write_reason(Scene& scene, Rect line, int query);
/// "red16 → ball4": the title of an inspector for one cell.
void draw_cell_title(Scene& scene, Rect area, std::pair<int, int> cell);
/// Draws title, reason and rule of an inspector.
void draw_inspector_title(Scene& scene, Rect area, const std::string& query, const std::string& rest);

/// Draws the heading of a list in the left panel, and the name of its values; returns the space below.
Rect list_heading(Ui& ui, Rect area, const std::string& title, const std::string& right = "");

/// A scrolling list of heads, one row each: name, bar, number.
struct RankedHeads {
    const char* path;                           // of the rows' widgets, before the head's name
    std::vector<int> order;                     // ModelConfig::head_index
    std::vector<float> values;                  // NaN: no bar
    std::optional<std::pair<int, int>> chosen;  // the highlighted row
    bool amber = true;  // … as the selected head, else as the one it is compared with
    bool is_signed = false;
    bool previews = false;                                          // views preview the hovered head
    std::function<std::string(int)> detail = nullptr;               // tooltip
    std::function<std::optional<HeadTag>(int)> tag = nullptr;       // shown between name and bar
    std::function<std::vector<std::string>(int)> beside = nullptr;  // columns after the value, fainter
    float beside_width = 0;                                         // of each
};
/// Returns the head whose row was clicked.
std::optional<std::pair<int, int>> draw_ranked(Scene& scene, Rect area, const ModelConfig& config,
                                               const RankedHeads& heads);

struct HeadValues {
    const std::vector<float>& values;  // ModelConfig::head_index; NaN: unknown
    bool is_signed;
    const char* path;                                  // of the cells' widgets, before the head's name
    std::function<std::string(int)> detail = nullptr;  // tooltip; default: the value
};
/// The width at which cells fit a share with this many decimals.
float width_of_head_values(Ui& ui, const ModelConfig& config, int digits);
/// Returns the head that was clicked.
std::optional<std::pair<int, int>> draw_head_values(Scene& scene, Rect area, const ModelConfig& config,
                                                    const HeadValues& heads);

/// Places labels of points where they cover no earlier label.
class LabelPlacer {
public:
    explicit LabelPlacer(Rect frame) : frame_(frame) {}
    /// Keeps labels off a line.
    void avoid(ImVec2 from, ImVec2 to) { lines_.emplace_back(from, to); }
    /// Draws a label beyond the arrow's head if it fits; `always`: even over others.
    void draw(Ui& ui, ImVec2 from, ImVec2 at, const std::string& label, ImU32 ink, bool always);

private:
    bool is_free(const Rect& r) const;

    Rect frame_;
    std::vector<Rect> taken_;
    std::vector<std::pair<ImVec2, ImVec2>> lines_;
};

/// Locks the cell of a query and its strongest key.
void lock_token(Scene& scene, int query);

}  // namespace headlight
