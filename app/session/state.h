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
#include "session/history.h"
#include "session/remembering.h"
#include "session/worker.h"

namespace headlight {

/// How heads are ranked: a statistic, the weight of the focused cell, how far the changes moved their
/// patterns, or what ablating them does to a predicted token.
constexpr int kRankByCell = -1, kRankByMoved = -2, kRankBySweep = -3;

/// A column of the table of steps, left to right; delta: the length under it.
enum class StepColumn { dot, scaled, capped, bias, mask, exp, weight, value, moved, delta };

/// What the map of ΔE shows, and what one of its cells is split by.
enum class DeltaShow { ratio, norm, cosine };
enum class DeltaSplitBy { head, key, key_of_head };

/// What dragging over the heat map does to the cells.
enum class Brush { off, forbid, allow, forbid_block, allow_block };

/// How all heads are laid out.
enum class HeadsLayout { by_layer, sorted, table, map, values };

/// What is compared: two heads, one head before and after the changes, the same head for two sentences or in
/// two models.
enum class Compared { heads, changes, sentences, models };

/// … and what is shown of both.
enum class ComparedShow { pattern, delta, next };

/// Whose weights an alignment shows, and whether each row's strongest link is marked, or stands alone (hard
/// attention).
enum class AlignOf { head, mean, chosen };
enum class AlignMarks { soft, both, hard };

/// How many positions a table of them shows.
inline constexpr int kPositionCounts[] = {16, 32, 64, 128};

/// What a picture that is saved in the window begins with: sharp enough for a screen of high resolution.
inline FigureStyle sharp_style() {
    FigureStyle style;
    style.dpi = 192;
    return style;
}

struct ViewState {
    // remembered between starts
    std::string model_path = "stories";
    std::string text, second;  // the second sentence, or the target
    std::vector<std::string> recent_models, recent_texts;
    bool dark = true;
    float text_size = 1.0f;  // 1, 1.25, 1.5
    std::string colormap = "beam";
    Scale scale = Scale::linear;
    Axis queries = Axis::rows;
    Marks marks = Marks::squares;
    int rank = 0;           // index of a statistic, or kRankByCell
    std::string view_name;  // key of the view to open
    std::string mask =
        "own";  // masks and changes in force, as the command line spells them; read by restore_changes()
    std::vector<std::string> changes;
    bool change_bar = false;  // the row of masks, brushes and ablations is open
    bool drop_sink = false;   // heat maps leave the first key out
    Compared compared_what = Compared::heads;
    ComparedShow compared_show = ComparedShow::pattern;
    std::pair<int, int> compared{0, 1};   // head B: block, head
    std::string other_text, other_model;  // of B
    Alignment alignment;                  // of two sentences
    SamplingParams decoding;              // how the model writes
    int written_length = 24;              // the most tokens that a decoder writes on
    bool writing_bar = false;             // the bar of writing is open; a decoder writes on then
    AlignOf align_of = AlignOf::head;
    AlignMarks align_marks = AlignMarks::both;
    bool align_words = false, align_read = false,
         align_lines = false;  // by words; rows by what is read; as lines
    bool model_maps = true,
         model_mean =
             false;  // the diagram of an encoder–decoder: its attention beside it, the mean of all heads
    int position_stack = 0, position_count = 64;
    bool hints_seen = false;
    int window_width = 1600, window_height = 1000;
    int block = 0, head = 0;  // which attention block (ModelConfig::block), which head
    HeadLabels head_labels;   // by hand; in a file of their own

    // of this run
    std::vector<LabelEdit> label_edits;  // not written yet
    std::string left_workspace;  // what a window left that did not end as it should; offered until it is
                                 // opened or not wanted
    bool left_unwanted = false;
    bool changes_wait = false;     // mask and changes are put in force when their model is open
    std::string workspace;         // the file that was opened or saved last
    std::string workspace_wanted;  // a file that shall be opened
    uint64_t other_attempt = 0;    // as model_attempt, of B's model
    bool choosing_other = false;   // the model menu is open for B
    std::optional<int> tied;       // a token of A that waits for its partner, in comparing sentences
    std::optional<std::pair<int, int>> compared_cell;  // row and column that are pointed at there
    bool sweeping = false;                             // each head is ablated in turn
    int sweep_token = -1;                    // whose probability is watched; −1: the predicted one
    bool same_step = false;                  // further changes belong to the last step of undo
    std::pair<int, int> scored{-1, -1};      // the cell whose score was changed last in this drag
    std::pair<int, int> block_from{-1, -1};  // a rectangle that is being drawn
    std::optional<size_t> view;         // row of the table of views; none: the first that the model offers
    std::optional<size_t> view_before;  // the one that a view which fills the window was opened from
    std::vector<int> forced;            // the first tokens of what the model writes, chosen by the person
    std::string forced_for;             // the text that they were chosen for
    int step = -1;                      // how many written tokens are read; −1: all
    bool playing = false;               // a step further every while
    double step_at = 0;                 // when the last of these was
    uint64_t model_attempt = 0;
    uint64_t attempts = 0;    // model attempts so far: each new one has a number of its own
    bool choose_head = true;  // let the worker pick the most telling head once
    std::optional<std::pair<int, int>> hovered, locked;  // query, key
    bool hover_fresh = false;                            // something in this frame said what is hovered
    float map_zoom = 1;                                  // of the heat map that fits
    float map_x = 0, map_y = 0;  // pixels of it that lie left of and above what is seen
    bool map_dragged = false;    // the button went down to move it, not to lock a cell
    std::pair<int, int> map_followed{-1, -1};
    std::optional<std::pair<int, int>> hovered_head;  // block, head
    Intervention intervention;                        // masks and changes in force
    History history;                                  // of texts and interventions
    Brush brush = Brush::off;                         // what dragging on the heat map does
    bool brush_all = true;                            // … to all heads, or to the selected one
    std::pair<int, int> painted{-1, -1};              // the cell that was painted last in this drag
    float link_share = 0.7f;                          // of each row's mass, in the view of lines
    std::set<int> hidden_heads;                       // not drawn there
    float lines_scroll = 0;
    std::optional<int> hovered_key;            // a key pointed at there
    StepColumn step_column = StepColumn::dot;  // the number of the focused row that is explained
    int strip_dimension = -1;  // of the vectors under the table; −1: the one that counts most
    bool strips_open = false;  // whether they show numbers
    float steps_scroll = 0, strips_scroll = 0;
    std::pair<int, int> steps_followed{-1, -1};
    DeltaShow delta_show = DeltaShow::ratio;
    bool delta_per_layer = true;  // each layer's colours to its own largest
    DeltaSplitBy delta_split = DeltaSplitBy::head;
    bool delta_paths = false;  // arrows through all layers
    float delta_scroll = 0;
    int delta_followed = -1;
    std::optional<int> hovered_block;      // a layer pointed at in a map of layers
    int lens_first = 0, lens_columns = 8;  // positions that the logit lens shows
    int lens_followed = -1;
    float lens_scroll = 0;
    std::optional<int> explained;  // a predicted token that is pointed at
    IncludedHeads included;        // the graph's heads
    float graph_share = 0.7f;      // of each row's mass, in the graph
    bool graph_flow = false;       // flow in place of rollout
    float graph_scroll = 0, graph_list_scroll = 0;
    int graph_followed = -1;
    HeadsLayout heads_layout = HeadsLayout::by_layer;
    int heads_sort = 0;         // column of the table of heads: a statistic, or one on random tokens
    bool heads_turned = false;  // the other end of the order first
    int heads_scale = 0;        // 0: per head, 1: all heads, both by the square root; 2: all heads, linear
    float heads_zoom = 1;       // of the thumbnails that fit
    float heads_scroll = 0, heads_scroll_x = 0;
    float heads_kept = 1;       // share of the range of the sorting column that is kept
    std::string heads_label;    // only heads with this label; "": all
    int model_config = 0;       // whose architecture: 0: the open model's; 1: GPT-3's
    bool labelling = false;     // the selected head's label is being typed
    bool label_wanted = false;  // Enter was pressed there
    std::string label_typed;
    std::string notice;  // one sentence under the tokens
    int first_chip = 0, first_target_chip = 0;
    float rank_scroll = 0, grid_scroll = 0, grid_scroll_x = 0;
    std::pair<int, int> grid_followed{-1, -1};  // the head that was last scrolled into view
    bool inspector_over = false;                // narrow windows: whether the inspector is shown
    bool model_menu = false, settings_menu = false, help = false, save_menu = false;
    std::string path_typed;         // in the model menu
    std::vector<FoundModel> found;  // models on this computer, once they were looked for
    bool found_all = false;
    float model_scroll = 0;
    std::pair<float, float> centre;  // size of the view in points: the size of its page
    std::string save_path;
    std::string save_result;
    std::string save_folder;  // where a relative save_path lies
    std::string may_replace;  // a file that the person agreed to replace, or that was written by this window
    bool has_dialog = false, dialog_wanted = false;  // the desktop's own dialog for files
    bool save_wanted = false;                        // a picture shall be written to save_path
    bool save_failed = false;
    bool save_workspace = false;            // the menu saves the workspace, not a picture
    FigureStyle figure = sharp_style();     // of the picture that is saved
    std::string figure_size;                // as typed: "85 mm", "1600x900 px"
    std::vector<FigurePreset> presets;      // known ones, read when the menu opens
    std::string preset_name, preset_typed;  // the one in force; what a new one shall be called
    std::string preview_error;              // why the figure cannot be drawn
    std::pair<int, int> preview_box{0, 0};  // pixels that the preview may take
    float save_scroll = 0;

    /// Puts a new intervention in force; the old one can be brought back. While the mouse is held, what it
    /// does is one step.
    void intervene(Intervention next) {
        history.note({intervention, next}, same_step);
        intervention = std::move(next);
    }

    /// Puts a token in the place of the written one at a step and lets the model go on from there.
    void force(const Generation& writing, int step, int id) {
        forced.clear();
        for (int i = 0; i < step; ++i) forced.push_back(writing.tokens[static_cast<size_t>(i)].id);
        forced.push_back(id);
        this->step = -1;
        playing = false;
    }
    /// The model chooses for itself again.
    void unforce() {
        forced.clear();
        step = -1;
    }

    /// focused = hovered, else locked
    std::optional<std::pair<int, int>> focused() const { return hovered ? hovered : locked; }
};

/// Moves the chosen block and head to the nearest that the model has.
inline void fit_head(ViewState& state, const ModelConfig& config) {
    state.block = std::clamp(state.block, 0, config.blocks() - 1);
    state.head = std::clamp(state.head, 0, config.heads(state.block) - 1);
}

/// Writes the mask and changes in force as text, to be remembered.
void note_changes(ViewState& state, const ModelConfig& config);

/// Puts what was remembered of them in force; what the model has no place for is left out and reported in
/// `notice`.
void restore_changes(ViewState& state, const ModelConfig& config);

/// Settings as JSON, in XDG_CONFIG_HOME/headlight/settings.json (or ~/.config/…).
std::filesystem::path settings_path();

/// Where windows keep what a crash would lose, beside the settings.
std::filesystem::path recovery_folder();

/// What was remembered, and a notice where there is something to say; nothing is fatal. A file that a person
/// names is not `own`: it is never moved or written. Without `whole`, what was looked at is left out.
ViewState load_settings(const std::filesystem::path& path, bool own = true, bool whole = true);

/// The fields of a settings file, and which of them describe what is looked at.
Result<Json> settings_fields(const ViewState& state);
const std::set<std::string>& workspace_fields();

/// Paths of the models that were opened lately, newest first; none where the settings cannot be read.
std::vector<std::string> recent_models(const std::filesystem::path& path);

/// From the fields of a settings file; what is of another kind, or unknown, is passed over.
ViewState read_settings(const Json& root, const std::string& name);

}  // namespace headlight
