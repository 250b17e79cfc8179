// What several views draw alike.
#pragma once

#include <array>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "paint/chip.h"
#include "paint/toolbar.h"
#include "parts/scene.h"
#include "session/viewport.h"

namespace headlight {

/// "−66.5", "+0.3", "0.0": a change of a probability in points, and its color.
std::string points_text(float change);
ImU32 change_ink(const Ui& ui, float change);

/// A place 0 … 1 on a color map, by color_index.
ImU32 color_at(const Colormap& map, float place);
/// The place −1 … 1 of a signed value on the diverging map.
ImU32 signed_color(bool dark, float place);
/// Black-ish or white, whichever contrasts more with a color.
ImU32 ink_on(ImU32 back);
ImU32 faded(ImU32 color, float alpha);
/// How thumbnails of heads, so many points a side, are drawn wherever they stand; the places are to be filled
/// in.
GridDraw thumbnail_grid(const Scene& scene, float side);
/// The numbers of heads over a grid of them, and left of it, in so much room, the names of its layers, of
/// which `first` stands in its first row.
void draw_head_names(Scene& scene, const Grid& grid, float room,
                     const std::function<std::string(int)>& layer_name, int first = 0);
/// "1.2: layer 1, head 2", "encoder 0.3: encoder layer 0, head 3": what the two numbers of a head's name are.
std::string head_legend(const ModelConfig& config, AttentionHead head);
/// The head that is chosen in a view that needs no sentence, so that no answer may be there.
AttentionHead chosen_head(const Scene& scene);
/// A choice of its layer and one of its head; paths begin with "VIEW/".
void choose_head(Scene& scene, Toolbar& bar, const std::string& view);
/// A head's own color.
ImU32 head_ink(const Scene& scene, int head, float alpha = 1);

inline constexpr float kTurn = 60;  // what a turn of the wheel scrolls

/// Scrolls something `content` points high in `area` by the wheel, draws the thumb, and returns the new
/// offset.
float scrolled(Ui& ui, Rect area, float content, float offset, float turn = kTurn);
/// The same of what a view shows, which commands scroll too; across, too, where the content is wider.
void scrolled(Ui& ui, Rect area, float content, Viewport& seen);
void scrolled_across(Ui& ui, Rect area, float content, Viewport& seen);
/// The wheel enlarges about the mouse.
void enlarged(Ui& ui, Rect area, Viewport& seen);
/// The nearest offset at which [top, bottom) of the content is seen.
float scrolled_to(float offset, float top, float bottom, float height);

/// How much of each row's weight may be drawn, and as commands spell it: "50" …
inline constexpr std::array<float, 4> kShareValues{0.5f, 0.7f, 0.9f, 0.99f};
inline constexpr std::span<const float> kShares = kShareValues;
std::vector<std::string> share_words();
inline constexpr FieldOption kShareOption{
    .name = "share", .help = "share of each row to draw, in percent", .figure_alone = true};

/// "Show [top 70 % of each row v]": how much of each row's weight is drawn.
void choose_share(Toolbar& bar, const char* label, const char* path, float& share);

/// The weight under which lines are left out so that no more than `max` are drawn; 0 where all are.
float faintest_of(std::vector<float>& weights, size_t max);

/// The controls of a view: takes their line off the top of it.
Toolbar view_toolbar(Ui& ui, Rect& rest);
/// … of a view that fills the window: behind a chevron and its title, which leave it.
Toolbar title_toolbar(Scene& scene, Rect& rest, const std::string& path, const std::string& title);

/// "red 16": a token and its position.
std::string token_at(const std::vector<std::string>& labels, int position);

/// Whether the inspector is seen in this frame.
struct InspectorState {
    bool open = true;
    bool handle = false;  // it is shut; what opens it stands at the right end of the header
};

/// Where the inspector is shut, what it would say of a cell stands at the pointer.
void tell_at_pointer(const Scene& scene, const std::string& path, const Hit& hit, const std::string& text);
/// … of a cell of the head that is shown: its tokens and its weight.
void tell_cell(const Scene& scene, const std::string& path, const Hit& hit, std::pair<int, int> cell);

/// Small chips with tokens, as many as fit.
void draw_token_row(Ui& ui, Rect line, const std::vector<std::string>& tokens, ImU32 ink);

/// Why a query is the one that is shown: "hover", "locked", "last token" …
const char* why_shown(const Scene& scene, int query);

/// Where smaller text stands beside a title, on the same baseline.
Rect beside_title(Rect line);
/// The line of an inspector's title, over a rule; and at its right why the query is shown, whose width is
/// returned.
Rect inspector_line(Ui& ui, Rect area);
float write_why(Scene& scene, Rect line, int query);
/// "red16 → ball4": the title of an inspector that speaks of one cell.
void draw_cell_title(Scene& scene, Rect area, std::pair<int, int> cell);
/// Title, state and rule of an inspector.
void draw_inspector_title(Scene& scene, Rect area, const std::string& query, const std::string& rest);

/// Over a list of the left panel: what it is, and what its values are; returns the room under it.
Rect list_heading(Ui& ui, Rect area, const std::string& title, const std::string& right = "");

/// Heads in an order, a row each: name, bar, number; scrolled by the wheel.
struct RankedHeads {
    const char* path;                           // of the rows' widgets, before the head's name
    std::vector<int> order;                     // ModelConfig::head_index
    std::vector<float> values;                  // NaN: no bar
    std::optional<std::pair<int, int>> chosen;  // the row that is marked
    bool amber = true;                          // … as the selected head, or as the one it is compared with
    bool is_signed = false;
    bool previews = false;                             // views show the head on whose row the mouse rests
    std::function<std::string(int)> detail = nullptr;  // said of a head when its row is pointed at
};
/// Returns the head whose row was pressed.
std::optional<std::pair<int, int>> draw_ranked(Scene& scene, Rect area, const ModelConfig& config,
                                               const RankedHeads& heads);

/// A layer × head grid, each cell in the color of its value.
struct HeadValues {
    const std::vector<float>& values;  // ModelConfig::head_index; NaN: unknown
    bool is_signed;
    const char* path;                                  // of the cells' widgets, before the head's name
    std::function<std::string(int)> detail = nullptr;  // said of a head beside its value
};
/// How wide it is where its cells have room for a share with so many decimals.
float width_of_head_values(Ui& ui, const ModelConfig& config, int digits);
/// Returns the head that was pressed.
std::optional<std::pair<int, int>> draw_head_values(Scene& scene, Rect area, const ModelConfig& config,
                                                    const HeadValues& heads);

/// Labels of points that fit without covering an earlier one.
class LabelPlacer {
public:
    explicit LabelPlacer(Rect frame) : frame_(frame) {}
    /// A line that no label is to lie on.
    void avoid(ImVec2 from, ImVec2 to) { lines_.emplace_back(from, to); }
    /// Beyond the arrow's head where there is room; `always`: even over others.
    void draw(Ui& ui, ImVec2 from, ImVec2 at, const std::string& label, ImU32 ink, bool always);

private:
    bool is_free(const Rect& r) const;

    Rect frame_;
    std::vector<Rect> taken_;
    std::vector<std::pair<ImVec2, ImVec2>> lines_;
};

/// Locks a token: the cell of its heaviest key.
void lock_token(Scene& scene, int query);

}  // namespace headlight
