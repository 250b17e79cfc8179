// Declares the parts of the alignment of source and target.
#pragma once

#include "io/numbers.h"
#include "parts/generation.h"
#include "parts/matrix_view.h"

namespace headlight {

struct View;

/// The heads whose weights are shown, and the links: soft, soft with each row's strongest marked, or hard.
enum class AlignOf { head, mean, chosen };
enum class AlignMarks { soft, both, hard };

struct AlignState {
    AlignOf of = AlignOf::mean;
    AlignMarks marks = AlignMarks::both;
    bool words = false, by_reading = false, lines = false;  // not tokens; rows by the token read; not a map
    void visit(FieldVisitor& v) {
        v.choose("align_of", of,
                 {"alignment of",
                  "Alignment of",
                  "weights of the head, of the layer's mean, or of chosen heads",
                  {"head", "mean", "chosen"}});
        v.choose("align_marks", marks,
                 {"alignment links",
                  "Alignment: links",
                  "weights, weights with each row's strongest link marked, or only that link",
                  {"soft", "marked", "hard"}},
                 {.name = "hard",
                  .help = "all weight on the strongest link of each row",
                  .flag = true,
                  .figure_alone = true});
        v.choose("align_words", words,
                 {"alignment by", "Alignment by", "tokens or whole words", {"tokens", "words"}});
        v.choose("align_read", by_reading,
                 {"alignment rows",
                  "Alignment: rows",
                  "one row per token being predicted, or being read",
                  {"chosen", "read"}});
        v.choose("align_lines", lines, {"alignment as", "Alignment as", "a map or lines", {"map", "lines"}},
                 {.name = "as-lines",
                  .help = "lines between the two sentences",
                  .flag = true,
                  .figure_alone = true});
    }
};

void draw_alignment(Scene& scene, Rect area);
/// Lists the heads of the layer if the view shows chosen ones.
bool draw_alignment_list(Scene& scene, Rect area);
void draw_alignment_inspector(Scene& scene, Rect area);
std::vector<Question> ask_alignment(const Scene& scene);
std::vector<NumberTable> alignment_numbers(const Scene& scene);

/// The shown alignment, or null.
const Found<WordAlignmentRequest>* shown_alignment(const Scene& scene);

/// Labels of what the model has generated but the shown pass has not read.
std::vector<std::string> pending_words(const Scene& scene, const Found<WordAlignmentRequest>& found);

/// Row and column of the focused token or word; −1 on a page without a locked cell.
std::pair<int, int> focused_words(const Scene& scene, const WordAlignment& alignment);

void point_at_words(Scene& scene, const WordAlignment& alignment, int row, int column);
void lock_words(Scene& scene, const WordAlignment& alignment, int row, int column);

void draw_alignment_lines(Scene& scene, Rect area, const Found<WordAlignmentRequest>& found);

/// Widths of the row labels, and of the entropies.
inline constexpr float kAlignNames = 144, kEntropyRoom = 72;

/// Draws the last rows of the grid, not yet generated; and the entropy of the other ones.
void draw_pending(Scene& scene, const Grid& grid, int pending);
void draw_entropy(Scene& scene, const MatrixLayout& layout, const WordAlignment& alignment, int highlighted);

View alignment_view();

}  // namespace headlight
