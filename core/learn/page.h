// What a station of Learn shows: blocks in order, each drawn by one function on the screen and on a page,
// each exported as numbers. A station computes a page; nothing of it knows how it is drawn.
#pragma once

#include <numeric>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/matrix.h"
#include "io/image.h"

namespace headlight::learn {

/// A symbol and what it stands for, shown where it is pointed at.
struct Symbol {
    std::string sign, meaning;  // "q", "the query: what this token asks for"
};

/// The cells of the chosen head's pattern that columns stand for.
struct Cells {
    int query = 0;
    std::vector<int> keys;  // of each column; −1: none
};
/// Each column is the key of its place.
inline Cells cells_of(int query, int keys) {
    Cells out{query, std::vector<int>(keys)};
    std::iota(out.keys.begin(), out.keys.end(), 0);
    return out;
}

/// Scores or weights of one row per line: bars for each column, as in "Score functions side by side".
struct BarRows {
    struct Row {
        std::string title = "";          // "Scaled dot"
        std::string formula = "";        // "q · k / √d"
        std::string source = "";         // "Vaswani et al. 2017"
        std::vector<float> values = {};  // [columns], NaN where masked
        std::optional<Matrix> all = {};  // of all queries, as a thumbnail at the right
        std::string note = "";           // "entropy 1.99 bits"
        bool emphasized = false;
    };
    std::vector<std::string> columns = {};  // labels
    std::vector<Row> rows = {};
    Cells cells = {};  // no keys: the columns are no tokens
};

/// A matrix with labels as a heat map with its values where they fit.
struct Grid {
    std::string title = "", rows_are = "", columns_are = "";
    std::vector<std::string> rows = {}, columns = {};
    Matrix values = {};         // NaN: nothing
    bool diverging = false;     // colors around 0, else from 0 up
    std::string editable = "";  // the state's field that a click edits; empty: not
    std::optional<int> marked_row = {};
    float reach = 0;  // what has the strongest color; 0: the largest value
};

/// Curves over one axis.
struct Curves {
    struct Line {
        std::string name = "";
        std::vector<float> x = {}, y = {}, error = {};  // error: half a bar's height, or empty
        bool dashed = false;                            // a line to compare with: theory
        int color = -1;  // its place among a page's lines; -1: among its curves
    };
    std::string title = "", x_is = "", y_is = "";
    std::vector<Line> lines = {};
    bool log_x = false, log_y = false;
    std::optional<float> mark_x = {};  // a vertical line: "induction appears"
    std::string mark_name = "";
};

/// Points with names in a plane: the space of embeddings.
struct Plane {
    struct Point {
        std::string name = "";
        float x = 0, y = 0;
        bool emphasized = false;
    };
    std::string title = "";
    std::vector<Point> points = {};
};

/// A computation written out: each line as with a pencil, "q · k₁ = 1·2 + 0·1 = 2".
struct Steps {
    struct Line {
        std::string what = "", worked = "", result = "";
    };
    std::string title = "";
    std::vector<Line> lines = {};
};

/// Names and numbers: parameter counts, costs.
struct Table {
    std::string title = "";
    std::vector<std::string> columns = {};
    std::vector<std::vector<std::string>> rows = {};
    std::vector<std::vector<double>> values = {};  // the rows as numbers; NaN: words
};

/// A picture cut into patches, and what each of them weighs.
struct Pixels {
    std::string title = "";
    RgbImage image = {};              // at most kMaxPixels a side
    int rows = 0, columns = 0;        // patches; 0: the picture alone
    std::vector<float> weights = {};  // of the patches, row after row; empty: the picture is seen as it is
};
inline constexpr int kMaxPixels = 512;

/// A sentence or two, at most sixty words in all of a page's.
struct Words {
    std::string text;
};

using Block = std::variant<BarRows, Grid, Curves, Plane, Steps, Table, Pixels, Words>;

/// How far a control goes on what is open: as many heads as the layer has.
struct Limit {
    std::string control;  // its key
    int high = 0;
};

/// A control that plays no part in what is shown; moving it also chooses what makes it count.
struct Idle {
    std::string control, makes_count;  // "padding", "hides=padding"
};

struct Page {
    std::vector<Block> blocks;
    std::vector<Symbol> symbols;
    std::string note;           // beside the title: "q and k of head 1.2; W and v fixed at random"
    std::vector<Limit> limits;  // of controls that elsewhere may go further
    std::vector<Idle> idle;
};

}  // namespace headlight::learn
