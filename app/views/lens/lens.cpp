#include "views/lens/lens.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "base/cast.h"
#include "paint/matrix.h"
#include "parts/metric.h"
#include "parts/token_axis.h"
#include "parts/token_place.h"
#include "session/commands/commands.h"
#include "views/interactive_page.h"
#include "views/lens/lens.h"
#include "views/views.h"

namespace headlight {

namespace {

constexpr float kRow = 28, kHighestRow = 44;
constexpr TokenCells kCells{
    .least_wide = 64, .widest = 120, .least_high = 22, .highest = kHighestRow, .names = 88};

/// Scrolls a deep model to its last layers, where the answer forms.
void open_at_end(LensState& state, int rows) {
    if (std::exchange(state.layers, rows) != rows) state.seen.y = state.parts_hidden = 1e9f;
}

void draw_grid_labels(Scene& s, const TokenGrid& g, int position) {
    draw_token_names(s, g, position);
    TokenAxis beside{
        [](int i) { return i == 0 ? std::string("embeddings") : "layer " + std::to_string(i - 1); }};
    beside.ink = [&](int) { return s.ui.colors->t3; };
    beside.room = kCells.names;
    beside.font = kCaption;
    beside.draw_rows(s.ui, g);
}

/// Returns the prediction of a cell; null until it is known.
const Prediction* prediction_at(const TokenGrid& g, const Lens& lens, int row, int column) {
    const int at = g.position(column) - lens.first;
    return at >= 0 && at < isize(lens.top[row]) ? &lens.top[row][at] : nullptr;
}

void draw_grid(Scene& s, const TokenGrid& g, const Lens& lens, int position) {
    Ui& ui = s.ui;
    const Colormap& map = colormap(s.session.preferences.colormap, ui.colors->dark);
    Matrix places(g.rows, g.columns);
    for (int r = 0; r < g.rows; ++r)
        for (int i = 0; i < g.columns; ++i) {
            const Prediction* p = prediction_at(g, lens, r, i);
            places(r, i) = p ? p->probability : kNoCell;
        }
    ui.clip(g.view);
    draw_matrix(ui, g.whole(), {places, map});
    for (int r = 0; r < g.rows; ++r)
        for (int i = 0; i < g.columns && g.touches_row(r); ++i)
            if (const Prediction* p = prediction_at(g, lens, r, i))
                write(ui, inset(g.cell(r, i), gap::tight, 0), kCaptionMono,
                      ink_on(color_at(map, p->probability)), listed_label(*s.model(), p->id), Flush::center);
    if (const int column = position - g.first; column >= 0 && column < g.columns) {
        const Rect r{g.x(column), g.y(0), g.w, g.h * float(g.rows)};
        ui.frame({r.x - 1, r.y, r.w + 1, r.h},
                 s.session.selection.hovered.cell ? ui.colors->hover : ui.colors->accent, 2);
    }
    ui.unclip();
}

void answer_grid(Scene& s, const TokenGrid& g, const Lens& lens) {
    Ui& ui = s.ui;
    const Hit h =
        ui.hit("lens/grid", {g.view.x, g.view.y - kNumberedNames, g.view.w, g.view.h + kNumberedNames});
    if (!h.hovered) return;
    const auto [row, column] = g.at(h.mouse);
    const int at = answer_position(s, g, h);
    const Prediction* p = g.view.contains(h.mouse) ? prediction_at(g, lens, row, column) : nullptr;
    if (!p) return;
    ui.tooltip("lens/" + std::to_string(row) + "," + std::to_string(at), h,
               (row ? "After layer " + std::to_string(row - 1) : std::string("From the embeddings")) +
                   " at " + token_at(output_labels(s), at) + ": " + listed_label(*s.model(), p->id) + ", " +
                   percent(p->probability));
}

/// Describes the grid as fully as fits, after the layers in sight if some are not.
std::string lens_caption(const Scene& s, const TokenGrid& g, float room) {
    std::string seen;
    if (g.view.h < g.whole().h - 1) {
        const auto name = [](int row) {
            return row == 0 ? std::string("embeddings") : std::to_string(row - 1);
        };
        seen = "Shown: " + std::string(g.row_at(g.view.y + 1) ? "layers " : "") +
               name(g.row_at(g.view.y + g.h / 2)) + " … " + name(g.row_at(g.view.bottom() - g.h / 2)) +
               " of " + std::to_string(g.rows - 1) + "; scroll for others.  ";
    }
    const std::string what = "Logit lens: what the model would predict if it stopped after each layer.";
    return first_that_fits(s.ui, kCaption,
                           {seen + what + " Stronger color: more probable.", seen + what,
                            seen + "Logit lens: the prediction after each layer.", seen + "Logit lens"},
                           room);
}

/// The grid's share of the height: most of it where no map of parts follows.
float share_of_grid(const Scene& s) {
    const auto* found = s.found<AttributionRequest>();
    return found && found->answer.parts.empty() ? 0.8f : s.ui.on_page() ? 0.56f : 0.46f;
}

}  // namespace

std::vector<Question> ask_lens(const Scene& s) {
    constexpr int kListed = 16;
    AttributionRequest explained{explained_position(s), -1, kListed};
    if (const auto pointed = s.session.selection.hovered.token)
        explained.token = *pointed;
    else
        std::tie(explained.token, explained.against) = explained_tokens(s);
    return {LensRequest{s.of<LensState>().first(), s.of<LensState>().columns}, explained};
}

void draw_lens(Scene& s, Rect area) {
    const auto* found = s.found<LensRequest>();
    if (!found || !s.answer->picture) return;
    const Lens& lens = found->answer;
    const int rows = isize(lens.top), position = explained_position(s);
    Rect rest = inset(area, size::center_pad, 0);
    Rect head = take_top(rest, size::view_header);
    take_top(rest, kNumberedNames, gap::tight);
    take_right(rest, size::center_pad);
    rest.h =
        std::min(std::max(kRow * 3, area.y + area.h * share_of_grid(s) - rest.y), kHighestRow * float(rows));
    open_at_end(s.of<LensState>(), rows);
    const TokenGrid g = arrange_tokens(s, rest, rows, s.of<LensState>(), kCells);
    answer_grid(s, g, lens);
    draw_grid_labels(s, g, position);
    draw_grid(s, g, lens, position);
    draw_token_pages(s, take_right(head, kTokenPagesRoom), g, "lens");
    write(s.ui, head, kCaption, s.ui.colors->t2, lens_caption(s, g, head.w));
    const float below = g.view.bottom() + gap::wide;
    draw_attribution(s, {area.x, below, area.w, area.bottom() - below});
}

namespace {

const char* no_logits(const Model& m) {
    if (const char* missing = cannot_run(m)) return missing;
    return m.has_logits() ? nullptr : "This model has no head that predicts tokens.";
}

}  // namespace

std::vector<Command> lens_commands() { return {opens_view("lens", explain_row())}; }

View lens_view() {
    return {.key = "lens",
            .name = "Prediction",
            .answers = ViewGroup::explain,
            .synonyms = "logit lens, by layer, next token, direct logit attribution",
            .draw = draw_lens,
            .missing = no_logits,
            .shows = View::Shows::model,
            .ask = ask_lens,
            .beside = {.inspect = always<draw_lens_inspector>},
            .page = "lens",
            .numbers = lens_numbers,
            .seen = seen_of<LensState>,
            .commands = lens_commands};
}

}  // namespace headlight
