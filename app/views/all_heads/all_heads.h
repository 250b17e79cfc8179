// Declares the parts of the view of all heads.
#pragma once

#include "io/numbers.h"
#include "parts/controls.h"
#include "session/commands/command.h"

namespace headlight {

struct View;
struct ViewPage;

enum class HeadsLayout { by_layer, sorted, table, map, values };

/// The words of `heads sort`, in the order of the columns.
std::vector<std::string> sort_words();

struct AllHeadsState {
    HeadsLayout layout = HeadsLayout::by_layer;
    int sort = 0;         // column of the table
    bool turned = false;  // reverses the order
    static constexpr int kSharedLinear = 2;
    int scale = 0;  // 0: per head, 1: all heads, both square root; 2: all heads, linear
    Viewport seen{.min = 0.25f, .max = 12};  // zoom: relative to the size that fits; drawing sets its range
    float kept = 1;                          // filter: share of the sorting column's range
    std::string label;                       // filter; "": all
    void visit(FieldVisitor& v) {
        v.choose("heads_layout", layout,
                 {"heads layout",
                  "All heads: layout",
                  "layout of all heads",
                  {"layers", "sorted", "table", "map", "values"}});
        v.integer("heads_sort", sort, 0, std::ssize(sort_words()) - 1);
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
        v.number("heads_kept", kept, 0, 1);
        v.number("heads_zoom", seen.zoom, 0.01f, 100);
    }
};

void draw_all_heads(Scene& scene, Rect area);
std::vector<Question> ask_all_heads(const Scene& scene);
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

/// The statistics, those measured on random tokens, and the effect of ablation.
std::vector<HeadColumn> head_columns(const Scene& scene);

/// Heads in order, and which of them pass the filter.
struct HeadChoice {
    std::vector<HeadColumn> columns;  // of the table
    size_t sorted_by = 0;             // column
    std::vector<float> values;        // of that column; NaN: not known yet
    std::vector<int> order;
    std::vector<bool> kept;   // by ModelConfig::head_index
    float low = 0, high = 1;  // range of the column
    float threshold = 1;      // largest (smallest) value kept if the column ascends (descends)
    int count = 0;

    const HeadColumn& column() const { return columns[sorted_by]; }
};

HeadChoice choose_heads(const Scene& scene);

/// The user's label of a head, or "".
std::string head_label(const Scene& scene, int block, int head);

/// Draws the histogram of the sorting column with a draggable threshold.
void draw_heads_filter(Scene& scene, Toolbar& bar, const HeadChoice& choice);

void draw_head_grid(Scene& scene, Rect area, const HeadChoice& choice);
void draw_head_table(Scene& scene, Rect area, const HeadChoice& choice);
void draw_head_map(Scene& scene, Rect area, const HeadChoice& choice);

/// Draws the numbers of a head beside its thumbnail.
void draw_head_card(Scene& scene, Rect area, Rect beside, int block, int head);

/// Opens a head in the heat map.
void open_head(Scene& scene, int block, int head);

View all_heads_view();

}  // namespace headlight
