// The parts of the view of all heads.
#pragma once

#include "io/numbers.h"
#include "parts/controls.h"
#include "session/commands/command.h"

namespace headlight {

struct View;
struct ViewPage;

/// How all heads are laid out.
enum class HeadsLayout { by_layer, sorted, table, map, values };

/// The columns of the table of heads, as the command that sorts by them spells them.
std::vector<std::string> sort_words();

struct AllHeadsState {
    HeadsLayout layout = HeadsLayout::by_layer;
    int sort = 0;         // column of the table of heads: a statistic, or one on random tokens
    bool turned = false;  // the other end of the order first
    static constexpr int kSharedLinear = 2;
    int scale = 0;  // 0: per head, 1: all heads, both by the square root; 2: all heads, linear
    Viewport seen{.min = 0.25f, .max = 12};  // zoom: of the thumbnails that fit; drawing says its range
    float kept = 1;                          // share of the range of the sorting column that is kept
    std::string label;                       // only heads with this label; "": all
    void visit(FieldVisitor& v) {
        v.choose("heads_layout", layout,
                 {"heads layout",
                  "All heads: layout",
                  "how all heads are laid out",
                  {"layers", "sorted", "table", "map", "values"}});
        v.integer("heads_sort", sort, 0, std::ssize(sort_words()) - 1);
        v.choose(nullptr, turned,
                 {"heads order",
                  "All heads: order",
                  "the telling end of the statistic first, or the other end",
                  {"telling", "reversed"}});
        v.choose("heads_scale", scale,
                 {"heads scale",
                  "All heads: color scale",
                  "each head's own, one of all heads by the square root, or linear",
                  {"own", "shared", "linear"}});
        v.number("heads_kept", kept, 0, 1);
        v.number("heads_zoom", seen.zoom, 0.01f, 100);
    }
};

void draw_all_heads(Scene& scene, Rect area);
std::vector<Question> ask_all_heads(const Scene& scene);
std::vector<NumberTable> heads_numbers(const Scene& scene);
std::optional<Result<Drawing>> heads_page_figure(const ViewPage& page, ThreadPool& pool);

/// A column of the table of heads: a statistic of this text, or of random tokens that repeat.
struct HeadColumn {
    std::string label, definition, unit;
    bool ascending = false;     // small values come first
    std::vector<float> values;  // by ModelConfig::head_index, NaN where not defined; empty until it is known
    bool by_sweep = false;      // measured by ablating each head in turn; signed
};

/// Rows that sort and filter.
std::vector<Command> all_heads_commands();

/// Columns of the table: the statistics, then those measured on random tokens.
std::vector<HeadColumn> head_columns(const Scene& scene);

/// What the person asked to see: heads in order, and which of them are kept.
struct HeadChoice {
    std::vector<HeadColumn> columns;  // of the table
    size_t sorted_by = 0;             // one of them
    std::vector<float> values;        // of that column; NaN where it is not known yet
    std::vector<int> order;
    std::vector<bool> kept;   // by ModelConfig::head_index
    float low = 0, high = 1;  // the range of the column
    float threshold = 1;      // values up to (or from) here are kept
    int count = 0;

    const HeadColumn& column() const { return columns[sorted_by]; }
};

HeadChoice choose_heads(const Scene& scene);

/// The label that a person gave a head, or "".
std::string head_label(const Scene& scene, int block, int head);

/// The range of the sorting column that is kept, with how the values spread; dragging moves it.
void draw_heads_filter(Scene& scene, Toolbar& bar, const HeadChoice& choice);

void draw_head_grid(Scene& scene, Rect area, const HeadChoice& choice);
void draw_head_table(Scene& scene, Rect area, const HeadChoice& choice);
void draw_head_map(Scene& scene, Rect area, const HeadChoice& choice);

/// The numbers of a head beside its picture, never over it.
void draw_head_card(Scene& scene, Rect area, Rect beside, int block, int head);

/// Shows one head, large.
void open_head(Scene& scene, int block, int head);

View all_heads_view();

}  // namespace headlight
