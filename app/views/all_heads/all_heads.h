// Declares the parts of the view of all heads.
#pragma once

#include <limits>

#include "io/numbers.h"
#include "parts/controls.h"
#include "session/commands/command.h"

namespace headlight {

struct View;
struct ViewPage;

enum class HeadsLayout { by_layer, sorted, table, map, values };

/// Which heads are kept: those whose weights are softmax, or a mixing matrix.
enum class HeadKind { all, softmax, mixing };

/// The words of `heads sort`, in the order of the columns.
std::vector<std::string> sort_words();

struct AllHeadsState {
    HeadsLayout layout = HeadsLayout::by_layer;
    int sort = 0;         // column of the table
    int color = 0;        // of the plates: 0: none, the patterns alone; else a column from 1
    bool turned = false;  // reverses the order
    static constexpr int kSharedLinear = 2;
    int scale = 0;  // 0: per head, 1: all heads, both square root; 2: all heads, linear
    Viewport seen{.min = 0.25f, .max = 12};  // zoom: relative to the size that fits; drawing sets its range
    float kept = 1;                          // filter: share of the sorting column's range
    std::string label, tag;                  // filters; "": all
    HeadKind kind = HeadKind::all;           // filter, of models that have both
    void visit(FieldVisitor& v) {
        v.choose("heads_layout", layout,
                 {"heads layout",
                  "All heads: layout",
                  "layout of all heads",
                  {"layers", "sorted", "table", "map", "values"}});
        v.integer("heads_sort", sort, 0, std::ssize(sort_words()) - 1);
        v.integer("heads_color", color, 0, std::ssize(sort_words()));
        v.text("heads_tag", tag);
        v.choose(nullptr, turned,
                 {"heads order",
                  "All heads: order",
                  "heads with the most telling values first, or last",
                  {"telling", "reversed"}});
        v.choose("heads_scale", scale,
                 {"heads scale",
                  "All heads: color scale",
                  "per head, or shared by all heads with a square-root or linear scale",
                  {"own", "shared", "linear"}});
        v.choose("heads_kind", kind,
                 {"heads kind",
                  "All heads: kind",
                  "heads of softmax attention, of mixing matrices, or both",
                  {"all", "softmax", "mixing"}});
        v.number("heads_kept", kept, 0, 1);
        v.number("heads_zoom", seen.zoom, 0.01f, 100);
    }
};

void draw_all_heads(Scene& scene, Rect area);
std::vector<Question> ask_all_heads(const Scene& scene);
std::vector<JobRequest> all_heads_jobs(const Scene& scene, bool shown);
std::vector<NumberTable> heads_numbers(const Scene& scene);
std::optional<Result<Drawing>> heads_page_figure(const ViewPage& page, ThreadPool& pool);

/// A column of the table: a statistic on this text, or on repeated random tokens.
struct HeadColumn {
    std::string label, definition, unit;
    bool ascending = false;     // small values first
    std::vector<float> values;  // by ModelConfig::head_index, NaN: undefined; empty until known
    bool by_sweep = false;      // from ablating each head in turn; signed
};

std::vector<Command> all_heads_commands();

/// Whether some layers attend by softmax, and others mix tokens otherwise.
bool is_hybrid(const Scene& scene);

/// The statistics, those measured on random tokens, and the effect of ablation.
std::vector<HeadColumn> head_columns(const Scene& scene);

/// Heads in order, and which of them pass the filter.
struct HeadChoice {
    std::vector<HeadColumn> columns;  // of the table
    size_t sorted_by = 0;             // column
    std::vector<float> values;        // of that column; NaN: not known yet
    std::vector<int> order;
    std::vector<bool> kept;               // by ModelConfig::head_index
    std::vector<const HeadTagRow*> tags;  // the first of each; null: none
    std::optional<size_t> painted_by;     // column of the plates' colors
    float largest = 1;                    // magnitude in it
    float low = 0, high = 1;              // range of the column
    float threshold = 1;                  // largest (smallest) value kept if the column ascends (descends)
    int count = 0;

    const HeadColumn& column() const { return columns[sorted_by]; }
    const HeadColumn* painted() const { return painted_by ? &columns[*painted_by] : nullptr; }
    /// NaN: not known.
    float value_on_plate(int head) const {
        return painted()->values.empty() ? std::numeric_limits<float>::quiet_NaN()
                                         : painted()->values[size_t(head)];
    }
    bool by_sweep() const { return column().by_sweep || (painted() && painted()->by_sweep); }
};

HeadChoice choose_heads(const Scene& scene);

/// The user's label of a head, or "".
std::string head_label(const Scene& scene, int block, int head);

/// Draws the histogram of the sorting column with a draggable threshold.
void draw_heads_filter(Scene& scene, Toolbar& bar, const HeadChoice& choice);

/// The tags' chips, and what the plates' colors say.
void draw_tag_row(Scene& scene, Rect& rest, const HeadChoice& choice);

/// A plate around a thumbnail: its edge, and the band under it for a value.
inline constexpr float kPlateEdge = 3, kPlateBand = 17;
/// `name`: where no row and column name the head, else "".
void draw_plate(Scene& scene, Rect plate, const HeadChoice& choice, int head, const std::string& name);
/// "−0.88", "0.75 bits", "69 %".
std::string plate_value(const Scene& scene, const HeadColumn& column, float value);
ImU32 plate_back(const Scene& scene, const HeadChoice& choice, int head);
/// None: no value yet.
std::optional<Rgb> plate_color(const Scene& scene, const HeadChoice& choice, int head);

void draw_head_grid(Scene& scene, Rect area, const HeadChoice& choice);
void draw_head_table(Scene& scene, Rect area, const HeadChoice& choice);
void draw_head_map(Scene& scene, Rect area, const HeadChoice& choice);

/// Draws the numbers of a head beside its thumbnail, without covering it.
void draw_head_card(Scene& scene, Rect area, Rect beside, int head);

/// Opens a head in the heat map.
void open_head(Scene& scene, int block, int head);

View all_heads_view();

}  // namespace headlight
