// The parts of the alignment of source and target.
#pragma once

#include "io/numbers.h"
#include "parts/generation.h"
#include "parts/matrix_view.h"

namespace headlight {

struct View;

/// Whose weights it shows, and whether each row's strongest link is marked, or stands alone (hard attention).
enum class AlignOf { head, mean, chosen };
enum class AlignMarks { soft, both, hard };

struct AlignState {
    AlignOf of = AlignOf::mean;
    AlignMarks marks = AlignMarks::both;
    bool words = false, by_reading = false, lines = false;  // by words; rows by what is read; as lines
    void visit(FieldVisitor& v) {
        v.choose("align_of", of,
                 {"alignment of",
                  "Alignment of",
                  "whose weights: the head's, the layer's mean, chosen heads'",
                  {"head", "mean", "chosen"}});
        v.choose("align_marks", marks,
                 {"alignment links",
                  "Alignment: links",
                  "weights, with each row's strongest link marked, or that one alone",
                  {"soft", "marked", "hard"}},
                 {.name = "hard",
                  .help = "all weight on the strongest link of each row",
                  .flag = true,
                  .figure_alone = true});
        v.choose("align_words", words,
                 {"alignment by", "Alignment by", "tokens, or whole words", {"tokens", "words"}});
        v.choose("align_read", by_reading,
                 {"alignment rows",
                  "Alignment: rows",
                  "the token that is being chosen, or the one that is being read",
                  {"chosen", "read"}});
        v.choose("align_lines", lines, {"alignment as", "Alignment as", "a map, or lines", {"map", "lines"}},
                 {.name = "as-lines",
                  .help = "lines between the two sentences",
                  .flag = true,
                  .figure_alone = true});
    }
};

void draw_alignment(Scene& scene, Rect area);
/// Lists the heads of the layer where the view shows chosen ones.
bool draw_alignment_list(Scene& scene, Rect area);
void draw_alignment_inspector(Scene& scene, Rect area);
std::vector<Question> ask_alignment(const Scene& scene);
std::vector<NumberTable> alignment_numbers(const Scene& scene);

/// The alignment that is shown, or null: it belongs to the cross-attention block that the state names.
const Found<WordAlignmentRequest>* shown_alignment(const Scene& scene);

/// Labels of what the model has written but the shown pass has not read.
std::vector<std::string> words_to_come(const Scene& scene, const Found<WordAlignmentRequest>& found);

/// Row and column of the focused cell: tokens, or the words that they belong to. −1 on a page where nothing
/// is locked.
std::pair<int, int> focused_words(const Scene& scene, const WordAlignment& alignment);

/// Points at, or locks, a row and a column.
void point_at_words(Scene& scene, const WordAlignment& alignment, int row, int column);
void lock_words(Scene& scene, const WordAlignment& alignment, int row, int column);

void draw_alignment_lines(Scene& scene, Rect area, const Found<WordAlignmentRequest>& found);

/// Points for the labels beside rows, and for the entropies on the other side.
inline constexpr float kAlignNames = 144, kEntropyRoom = 72;

/// The last rows of the grid, which are still to come; how undecided each other one is, or `highlighted`.
void draw_coming(Scene& scene, const Grid& grid, int coming);
void draw_entropy(Scene& scene, const MatrixLayout& layout, const WordAlignment& alignment, int highlighted);

View alignment_view();

}  // namespace headlight
