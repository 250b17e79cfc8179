// Describes what a station of Learn shows: blocks in order, each drawn by one function on screen and on a
// page, each exported as numbers. A station computes a page and does not know how it is drawn.
#pragma once

#include <numeric>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/matrix.h"
#include "io/image.h"
#include "learn/thread.h"

namespace headlight::learn {

struct Symbol {
    std::string sign, meaning;  // "q", "the query: what this token asks for"
};

/// Maps columns to cells of the selected head's pattern.
struct Cells {
    int query = 0;
    std::vector<int> keys;  // key of each column; −1: none
};
/// Maps each column to the key of the same index.
inline Cells cells_of(int query, int keys) {
    Cells out{query, std::vector<int>(keys)};
    std::iota(out.keys.begin(), out.keys.end(), 0);
    return out;
}

/// Shows scores or weights of one row per line: bars for each column, as in "Score functions side by side".
struct BarRows {
    struct Row {
        std::string title = "";          // "Scaled dot"
        std::string formula = "";        // "q · k / √d"
        std::string source = "";         // "Vaswani et al. 2017"
        std::vector<float> values = {};  // [columns], NaN where masked
        std::optional<Matrix> all = {};  // of all queries, as a thumbnail on the right
        std::string note = "";           // "entropy 1.99 bits"
        bool emphasized = false;
    };
    std::vector<std::string> columns = {};  // labels
    std::vector<Row> rows = {};
    Cells cells = {};         // keys empty: the columns are not tokens
    bool no_largest = false;  // the largest bar says nothing: none is lit
};

/// Shows a matrix with labels as a heat map, with its values where they fit.
struct Grid {
    std::string title = "", rows_are = "", columns_are = "";
    std::vector<std::string> rows = {}, columns = {};
    Matrix values = {};         // NaN: empty
    bool diverging = false;     // colors around 0, else from 0 up
    std::string editable = "";  // state field that clicks edit; empty: none
    std::optional<int> marked_row = {};
    float reach = 0;  // value of the strongest color; 0: the largest
};

struct Curves {
    struct Line {
        std::string name = "";
        std::vector<float> x = {}, y = {}, error = {};  // error: half the length of an error bar, or empty
        bool dashed = false;                            // a reference line: theory
        int color = -1;  // index of its color among a page's lines; −1: among these
    };
    std::string title = "", x_is = "", y_is = "";
    std::vector<Line> lines = {};
    bool log_x = false, log_y = false;
    std::optional<float> mark_x = {};  // vertical line: "induction appears"
    std::string mark_name = "";
};

/// Shows named points in a plane: the embedding space, or vectors.
struct Plane {
    struct Point {
        std::string name = "";
        float x = 0, y = 0;
        bool emphasized = false;
    };
    std::string title = "";
    std::vector<Point> points = {};
    bool arrows = false;               // from the origin to each point: vectors
    std::string x_is = "", y_is = "";  // what the axes are; empty: directions of their own
};

/// Writes out a computation, line by line, as with a pencil: "q · k₁ = 1·2 + 0·1 = 2".
struct Steps {
    struct Line {
        std::string what = "", worked = "", result = "";
    };
    std::string title = "";
    std::vector<Line> lines = {};
};

/// Shows names and numbers: parameter counts, costs.
struct Table {
    std::string title = "";
    std::vector<std::string> columns = {};
    std::vector<std::vector<std::string>> rows = {};
    std::vector<std::vector<double>> values = {};  // the rows as numbers; NaN: words
};

/// Shows a picture cut into patches, and the weight of each.
struct Pixels {
    std::string title = "";
    RgbImage image = {};              // at most kMaxPixels a side
    int rows = 0, columns = 0;        // patches; 0: the picture alone
    std::vector<float> weights = {};  // of the patches, row by row; empty: shows the plain picture
};
inline constexpr int kMaxPixels = 512;

/// Shows a sentence or two; at most sixty words on a page.
struct Words {
    std::string text;
};

using Block = std::variant<BarRows, Grid, Curves, Plane, Steps, Table, Pixels, Words, Thread>;

/// Limits a control to the open model: as many heads as the layer has.
struct Limit {
    std::string control;  // its key
    int high = 0;
};

/// Marks a control without effect on what is shown; moving it also sets what gives it effect.
struct Idle {
    std::string control, makes_count;  // "padding", "hides=padding"; "": nothing does here
};

/// A guess to choose from.
struct GuessCard {
    std::string label;       // "ball"
    std::string place = "";  // where it stands, "4"
    std::string reason;      // why one may think so: "what followed “red” last time"
    double value = 0;        // its number, which decides; as written:
    std::string shown = "";  // "0.752"; "": has none
};

/// Asks what the page will show, and says what it shows in one sentence made of its numbers. Without cards
/// there is nothing good to ask, and the finding stands alone.
struct PageQuestion {
    std::string text = "";      // "Which word will “red” look at most?"
    std::string will_see = "";  // "One bar for each of the 17 words."
    std::vector<GuessCard> cards = {};
    int right = -1;  // index of the right card
    std::string finding, why = "";
    std::vector<std::string> columns = {};  // of the covered picture; empty: a plain one
    int asker = -1;                         // column of the word that asks; −1: none

    bool asks() const { return !cards.empty(); }
};

struct Page {
    std::vector<Block> blocks;
    int main = 0;  // how many blocks make the point; the others are folded on screen. 0: all
    std::vector<PageQuestion> questions;  // the first covers the page; the others may be asked below it
    std::vector<Symbol> symbols;
    std::string note;           // after the title: "q and k of head 1.2; W and v fixed at random"
    std::vector<Limit> limits;  // of controls with a larger range elsewhere
    std::vector<Idle> idle;
};

}  // namespace headlight::learn
