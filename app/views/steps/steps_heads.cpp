// Draws the chain from q to ΔE in every head of a block, side by side.
#include <algorithm>

#include "paint/matrix.h"
#include "parts/controls.h"
#include "views/steps/steps_chain.h"

namespace headlight {

namespace {

constexpr float kHeadNumbers = 24, kRowName = 96, kRowScale = 84, kLeastRowHigh = 46, kMaxRowHigh = 110;
constexpr Index kTexels = 8;  // per head's column; the last is a gap

/// Repeats each column and adds a gap, so that one draw shows all heads apart.
Matrix spread(const Matrix& places) {
    Matrix out = Matrix::Constant(places.rows(), places.cols() * kTexels, kNoCell);
    for (Index h = 0; h < places.cols(); ++h)
        out.middleCols(h * kTexels, kTexels - 1).colwise() = places.col(h);
    return out;
}

const char* help_of_stage(const std::string& name) {
    if (name == "q") return "The query vector in each head.";
    if (name == "k") return "The key vector in each head; heads may share it.";
    if (name == "weights") return "The query's row of each head's pattern, first key at the top.";
    if (name == "v") return "The value vector in each head; heads may share it.";
    if (name == "z") return "z = Σ weight · v over all keys.";
    if (name == "g") return "The gate: what multiplies z before W_O.";
    if (name == "z·g") return "z times the gate, entry by entry.";
    return "ΔE: z through the head's slice of W_O, added to the residual stream.";
}

void draw_heads_stage(Scene& s, Rect line, const HeadsStage& stage, int row) {
    Ui& ui = s.ui;
    Rect name = take_left(line, kRowName, gap::small);
    const Rect scale = take_right(line, kRowScale, gap::small);
    write(ui, name, kCaptionMono, ui.colors->t1, stage.name);
    const auto heads = narrow<int>(stage.values.cols());
    caption(ui, scale,
            (stage.is_weights ? "0 … " : "± ") + (stage.is_weights ? "1" : number(stage.largest, 2)),
            Flush::right);
    const Matrix places =
        stage.is_weights ? places_of(stage.values, 1) : signed_places_of(stage.values, stage.largest);
    draw_matrix(ui, line,
                {spread(places),
                 stage.is_weights ? colormap(s.session.preferences.colormap, ui.colors->dark)
                                  : signed_colormap(ui.colors->dark),
                 !stage.is_weights});
    const std::string path = "steps/heads/" + std::to_string(row);
    const Hit hit = ui.control(path, line);
    const auto rows = narrow<int>(stage.values.rows());
    const Grid g{line, rows, heads, line.w / float(heads), line.h / float(rows)};
    if (hit.hovered) {
        const auto [entry, head] = g.at(hit.mouse);
        const std::string at = stage.is_weights && stage.step == 1
                                   ? token_at(s.key_labels(), entry)
                                   : "entry " + std::to_string(entry * stage.step);
        ui.tooltip(path, hit,
                   "Head " + std::to_string(head) + ", " + at + ": " + number(stage.values(entry, head), 3) +
                       ". " + help_of_stage(stage.name));
        if (hit.clicked) s.select(s.block(), head);
    }
}

}  // namespace

void draw_heads_chain(Scene& s, Rect area) {
    const auto* found = s.found<HeadsChainRequest>();
    if (!found) return;
    Ui& ui = s.ui;
    const auto& stages = found->answer;
    const auto heads = narrow<int>(stages[0].values.cols());
    Rect rest = inset(area, size::center_pad, 0);
    Rect numbers = take_top(rest, kHeadNumbers);
    take_left(numbers, kRowName, gap::small);
    take_right(numbers, kRowScale, gap::small);
    for (int h = 0; h < heads; ++h)
        write(ui, nth_column(numbers, h, heads), kCaptionMono,
              h == s.head() ? ui.colors->accent_text : ui.colors->t3, std::to_string(h), Flush::center);
    take_bottom(rest, size::line, gap::medium);
    const float high =
        std::clamp((rest.h - gap::small * 5) / float(stages.size()), kLeastRowHigh, kMaxRowHigh);
    const float top = rest.y;
    for (int i = 0; i < isize(stages); ++i)
        draw_heads_stage(s, take_top(rest, high, gap::small), stages[i], i);
    const Rect column = nth_column(numbers, s.head(), heads);
    ui.frame({column.x - 1, top - 2, column.w, rest.y - gap::small - top + 4}, ui.colors->accent, 2);
    const auto& w = found->asked;
    caption(ui, take_top(rest, size::line),
            "q, weights, z and ΔE of " + token_at(s.query_labels(), w.query) + "; k and v of " +
                token_at(s.key_labels(), w.key) + ". ΔE: each cell is the largest in magnitude of " +
                std::to_string(stages.back().step) + " dimensions.");
}

std::vector<NumberTable> heads_chain_numbers(const Found<HeadsChainRequest>& found) {
    std::vector<NumberTable> out;
    for (const HeadsStage& stage : found.answer) {
        std::vector<std::string> rows;
        for (Index r = 0; r < stage.values.rows(); ++r) rows.push_back(std::to_string(r * stage.step));
        out.push_back({stage.name, stage.is_weights ? "key" : "dimension", "head", rows,
                       counted(stage.values.cols()), stage.values});
    }
    return out;
}

}  // namespace headlight
