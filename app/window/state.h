// What the person chose, and what the window shows of it. Plain data: views read it, edits go into it.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "figure/colormap.h"
#include "figure/figure.h"
#include "model/library.h"
#include "window/worker.h"

namespace headlight {

/// How heads are ranked: a statistic, or the weight of the focused cell.
constexpr int kRankByCell = -1;

/// A column of the table of steps, left to right; delta: the length under it.
enum class StepColumn { dot, scaled, capped, bias, mask, exp, weight, value, moved, delta };

/// What the map of ΔE shows, and what one of its cells is split by.
enum class DeltaShow { ratio, norm, cosine };
enum class DeltaSplitBy { head, key, key_of_head };

/// What stands for a weight in the heat map: a square of its colour, or a dot of its size.
enum class Marks { squares, dots };

/// What dragging over the heat map does to the cells.
enum class Brush { off, forbid, allow };

/// How all heads are laid out.
enum class HeadsLayout { by_layer, sorted, table, map };

struct ViewState {
    // remembered between starts
    std::string model_path = "stories";
    std::string text, second;        // the second sentence, or the target
    std::vector<std::string> recent_models, recent_texts;
    bool dark = true;
    float text_size = 1.0f;          // 1, 1.25, 1.5
    std::string colormap = "beam";
    Scale scale = Scale::linear;
    Axis queries = Axis::rows;
    Marks marks = Marks::squares;
    int rank = 0;                    // index of a statistic, or kRankByCell
    bool hints_seen = false;
    int window_width = 1600, window_height = 1000;
    int site = 0, head = 0;          // which attention block (ModelConfig::site), which head
    std::map<std::string, std::map<std::string, std::string>> head_labels;  // by hand: model → head ("3.5") → label

    // of this run
    std::optional<size_t> view;      // row of the table of views; none: the first that the model offers
    std::optional<size_t> view_before; // the one that a view which fills the window was opened from
    uint64_t model_attempt = 0, write_attempt = 0;
    uint64_t attempts = 0;           // model attempts so far: each new one has a number of its own
    bool choose_head = true;         // let the worker pick the most telling head once
    std::optional<std::pair<int, int>> hovered, locked;  // query, key
    bool hover_fresh = false;        // something in this frame said what is hovered
    float map_zoom = 1;              // of the heat map that fits
    float map_x = 0, map_y = 0;      // pixels of it that lie left of and above what is seen
    bool map_dragged = false;        // the button went down to move it, not to lock a cell
    std::pair<int, int> map_followed{-1, -1};
    std::optional<std::pair<int, int>> hovered_head;     // site, head
    Intervention intervention;       // masks and changes in force
    std::vector<Intervention> undone, done_before;  // to redo, to undo; newest last
    Brush brush = Brush::off;        // what dragging on the heat map does
    bool brush_all = true;           // … to all heads, or to the selected one
    std::pair<int, int> painted{-1, -1};  // the cell that was painted last in this drag
    float link_share = 0.7f;         // of each row's mass, in the view of lines
    std::set<int> hidden_heads;      // not drawn there
    float lines_scroll = 0;
    std::optional<int> hovered_key;  // a key pointed at there
    StepColumn step_column = StepColumn::dot;   // the number of the focused row that is explained
    int strip_dimension = -1;        // of the vectors under the table; −1: the one that counts most
    bool strips_open = false;        // whether they show numbers
    float steps_scroll = 0, strips_scroll = 0;
    std::pair<int, int> steps_followed{-1, -1};
    DeltaShow delta_show = DeltaShow::ratio;
    bool delta_per_layer = true;     // each layer's colours to its own largest
    DeltaSplitBy delta_split = DeltaSplitBy::head;
    bool delta_paths = false;        // arrows through all layers
    float delta_scroll = 0;
    int delta_followed = -1;
    std::optional<int> hovered_site; // a layer pointed at in a map of layers
    int lens_first = 0, lens_columns = 8;  // positions that the logit lens shows
    int lens_followed = -1;
    float lens_scroll = 0;
    std::optional<int> explained;    // a predicted token that is pointed at
    std::pair<int, int> compared{0, 1};  // head B: site, head
    bool compare_changes = false;    // B is the same head without the changes in force
    Carriers carriers;               // the graph's heads
    float graph_share = 0.7f;        // of each row's mass, in the graph
    bool graph_flow = false;         // flow in place of rollout
    float graph_scroll = 0, graph_list_scroll = 0;
    int graph_followed = -1;
    HeadsLayout heads_layout = HeadsLayout::by_layer;
    int heads_sort = 0;              // column of the table of heads: a statistic, or one on random tokens
    bool heads_turned = false;       // the other end of the order first
    int heads_scale = 0;             // 0: per head, 1: all heads, both by the square root; 2: all heads, linear
    float heads_zoom = 1;            // of the thumbnails that fit
    float heads_scroll = 0, heads_scroll_x = 0;
    float heads_kept = 1;            // share of the range of the sorting column that is kept
    std::string heads_label;         // only heads with this label; "": all
    int model_config = 0;            // whose architecture: 0: the open model's; 1: GPT-3's
    bool labelling = false;          // the selected head's label is being typed
    bool label_wanted = false;       // Enter was pressed there
    std::string label_typed;
    std::string notice;              // one sentence under the tokens
    int first_chip = 0, first_target_chip = 0;
    float rank_scroll = 0, grid_scroll = 0, grid_scroll_x = 0;
    std::pair<int, int> grid_followed{-1, -1};  // the head that was last scrolled into view
    bool inspector_over = false;     // narrow windows: whether the inspector is shown
    bool model_menu = false, settings_menu = false, help = false, save_menu = false;
    std::string path_typed;          // in the model menu
    std::vector<FoundModel> found;   // models on this computer, once they were looked for
    bool found_all = false;
    float model_scroll = 0;
    std::pair<float, float> centre;  // size of the view in points: the size of its page
    std::string save_path;
    std::string save_result;
    bool save_wanted = false;        // a picture shall be written to save_path
    bool save_failed = false;

    /// Puts a new intervention in force; the old one can be brought back.
    void intervene(Intervention next) {
        if (next == intervention) return;
        done_before.push_back(std::exchange(intervention, std::move(next)));
        undone.clear();
    }
    void undo_change() {
        if (done_before.empty()) return;
        undone.push_back(std::exchange(intervention, done_before.back()));
        done_before.pop_back();
    }
    void redo_change() {
        if (undone.empty()) return;
        done_before.push_back(std::exchange(intervention, undone.back()));
        undone.pop_back();
    }

    /// focused = hovered, else locked
    std::optional<std::pair<int, int>> focused() const { return hovered ? hovered : locked; }
};

/// Settings as JSON, in XDG_CONFIG_HOME/headlight/settings.json (or ~/.config/…).
std::filesystem::path settings_path();

/// What was remembered. A broken file is set aside as settings.json.broken and reported in `notice`; nothing is fatal.
ViewState load_settings(const std::filesystem::path& path);

Status save_settings(const ViewState& state, const std::filesystem::path& path);

/// Paths of the models that were opened lately, newest first; none where the settings cannot be read.
std::vector<std::string> recent_models(const std::filesystem::path& path);

/// From the text of a settings file. For tests and fuzzing.
Result<ViewState> parse_settings(std::string_view text, const std::string& name);

}  // namespace headlight
