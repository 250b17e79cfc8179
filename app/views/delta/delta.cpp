// Shows ΔE: how far attention moves each token in each layer, and the parts of one ΔE.
#include "views/delta/delta.h"

#include <algorithm>
#include <cmath>

#include "base/cast.h"
#include "parts/matrix_view.h"
#include "parts/metric.h"
#include "views/views.h"

namespace headlight {

namespace {

/// The index of a block among the shown ones, or −1.
int index_in(const std::vector<int>& blocks, int block) {
    const auto at = std::find(blocks.begin(), blocks.end(), block);
    return at == blocks.end() ? -1 : narrow<int>(at - blocks.begin());
}

constexpr const char* kMoleExample =
    "American shrew mole. One mole of carbon dioxide. Take a biopsy of the mole.";

void draw_delta_toolbar(Scene& s, Toolbar bar) {
    constexpr float kRoomy = 812, kLeast = 66, kWhole = 200;
    DeltaState& state = s.of<DeltaState>();
    bar.labels = bar.rest().w > kRoomy;  // else the choices are clear without
    bar.choose("Show", "delta/show", {"‖ΔE‖ ÷ ‖E‖", "‖ΔE‖", "cosine E, E + ΔE"}, state.show);
    if (const int c =
            bar.choice("Scale", "delta/scale", {"scale per layer", "shared scale"}, state.per_layer ? 0 : 1);
        c >= 0)
        state.per_layer = c == 0;
    const std::string of_head =
        "by key, head " + head_name(s.model()->config, s.session.selection.block, s.session.selection.head);
    bar.choose("Split", "delta/split", {"by head", "by key", of_head}, state.split);
    bar.choose("Arrows", "delta/arrows", {"this layer", "all layers"}, state.paths);
    if (s.model()->config.can.read_image || bar.rest().w < kLeast) return;
    const Hit try_it =
        bar.press("delta/moles", bar.rest().w < kWhole ? "Example" : "Example: “mole” in three contexts");
    s.ui.tooltip("delta/moles", try_it,
                 std::string(kMoleExample) + " Follow the arrows: does attention move them apart?");
    if (try_it.clicked) s.send("text", kMoleExample);
}

const Matrix& shown_map(const Scene& s, const DeltaMaps& maps, Matrix& ratio) {
    if (s.of<DeltaState>().show == DeltaShow::norm) return maps.delta;
    if (s.of<DeltaState>().show == DeltaShow::cosine) return maps.cosine;
    ratio = maps.delta.cwiseQuotient(maps.before.cwiseMax(1e-12f));
    return ratio;
}

constexpr float kTokenNames = 104, kAbove = kNumberedNames, kDeltaFoot = 44, kThumbRoom = 10;

Grid arrange(Scene& s, Rect area, const Matrix& values) {
    constexpr float kWidest = 420, kLeastW = 4, kMaxW = 44, kLeastH = 22, kMaxH = 40;
    const auto rows = narrow<int>(values.rows()), columns = narrow<int>(values.cols());
    area.w = std::min(area.w * 0.46f, kWidest) - gap::small;
    take_top(area, kAbove);
    take_bottom(area, kDeltaFoot);
    take_left(area, size::center_pad + kTokenNames, gap::tight);
    Grid g{area, rows, columns};
    g.w = std::clamp(s.ui.whole(area.w / float(columns)), kLeastW, kMaxW);
    g.h = std::clamp(s.ui.whole(area.h / float(rows)), kLeastH, kMaxH);
    g.view = {area.x, area.y, g.w * float(columns), std::min(area.h, g.h * float(rows))};
    return g;
}

/// Scrolls by the wheel, and to a token focused elsewhere.
void follow(Scene& s, Grid& g, int token) {
    auto& state = s.of<DeltaState>();
    scrolled(s.ui, {g.view.x, g.view.y, g.view.w + kThumbRoom, g.view.h}, g.h * float(g.rows), state.seen);
    if (state.followed != token && !s.session.selection.hovered.cell) {
        state.followed = token;
        state.seen.y = scrolled_to(state.seen.y, g.h * float(token), g.h * float(token + 1), g.view.h);
    }
    g.y0 = state.seen.y;
}

/// Scales colors per layer, or shares one scale.
Matrix places_of_layers(const Scene& s, const Matrix& values) {
    const bool cosine = s.of<DeltaState>().show == DeltaShow::cosine;
    Matrix places(values.rows(), values.cols());
    for (Index c = 0; c < values.cols(); ++c) {
        const auto shared =
            s.of<DeltaState>().per_layer ? values.middleCols(c, 1) : values.leftCols(values.cols());
        const float high = shared.maxCoeff(), low = cosine ? shared.minCoeff() : 0;
        for (Index r = 0; r < values.rows(); ++r)
            places(r, c) = high > low ? std::max(0.0f, (values(r, c) - low) / (high - low)) : 1;
    }
    return places;
}

MatrixView delta_matrix(const Scene& s, const Found<DeltaMapsRequest>& found, const Matrix& values) {
    const ModelConfig& c = s.model()->config;
    const std::vector<int>& blocks = found.answer.blocks;
    const int token = delta_query(s), column = index_in(blocks, delta_block(s));
    MatrixView out{
        .cells = {places_of_layers(s, values), colormap(s.session.preferences.colormap, s.ui.colors->dark)},
        .rows = {names_of(s.sentence()->labels[found.asked.stack]), "token", index_name, kTokenNames},
        .columns = {[&c, &blocks](int i) {
                        const AttentionBlock block = c.block(blocks[i]);
                        return (block.kind == AttentionKind::cross    ? "×"
                                : block.kind == AttentionKind::beside ? "m"
                                                                      : "") +
                               std::to_string(block.layer);
                    },
                    "layer"},
        .number = [&values](
                      int row,
                      int column) { return number(values(row, column), values(row, column) < 10 ? 2 : 1); },
        .hovered = s.session.selection.hovered.cell.has_value()};
    out.columns.ink = [&s](int) { return s.ui.colors->t2; };
    out.columns.lit_ink = s.ui.colors->accent_text;  // like the token
    out.columns.lit_back = s.ui.colors->accent_fill;
    out.rows.lit = token;
    if (column >= 0) out.marked = {token, column};
    return out;
}

void answer_map(Scene& s, const Grid& g, const DeltaMaps& maps, const Matrix& values) {
    const float names = kTokenNames + gap::tight;
    const Hit h = s.ui.hit("delta/map", {g.view.x - names, g.view.y, g.view.w + names, g.view.h});
    if (!h.hovered || h.mouse.y >= g.y(g.rows)) return;
    const auto [row, column] = g.at(h.mouse);
    const bool on_map = h.mouse.x >= g.view.x;
    if (on_map) s.pointed.block = maps.blocks[column];
    if (row < s.queries()) s.point_at(std::pair{row, s.strongest_key(row)});
    if (on_map && row < s.queries())
        tooltip_without_inspector(s, "delta/map", h,
                                  token_at(s.query_labels(), row) + ", layer " +
                                      block_name(s.model()->config, maps.blocks[column]) + "  " +
                                      fine_number(values(row, column), 3));
    if (!h.clicked) return;
    if (on_map) s.select_block(*s.pointed.block);
    if (row < s.queries()) lock_token(s, row);
}

std::string scale_note(const Scene& s) {
    return std::string(s.of<DeltaState>().per_layer ? "Scale per layer." : "Shared scale.") +
           (s.of<DeltaState>().show == DeltaShow::cosine ? " 1 = direction unchanged." : "");
}

}  // namespace

int delta_query(const Scene& s) {
    const auto cell = s.shown_cell();
    return cell ? cell->first : 0;
}

int delta_block(const Scene& s) {
    return s.session.selection.hovered.block.value_or(s.session.selection.shown_head().first);
}

std::vector<Question> ask_delta(const Scene& s) {
    const int block = delta_block(s), stack = s.model()->config.block(block).stack;
    const auto [token, against] = explained_tokens(s);
    const ProjectionRequest projected{stack, s.of<DeltaState>().paths ? -1 : block};
    if (no_weights(*s.model())) return {DeltaMapsRequest{stack}, projected};  // W_O is elsewhere
    return {DeltaMapsRequest{stack},
            DeltaSplitRequest{block, delta_query(s),
                              s.of<DeltaState>().split == DeltaSplitBy::key_of_head
                                  ? s.session.selection.shown_head().second
                                  : -1,
                              token, against},
            projected};
}

float draw_delta_map(Scene& s, Rect area) {
    Ui& ui = s.ui;
    const auto* found = s.found<DeltaMapsRequest>();
    if (!found) return area.x;
    const DeltaMaps& maps = found->answer;
    Matrix ratio;
    const Matrix& values = shown_map(s, maps, ratio);
    Grid g = arrange(s, area, values);
    const int token = delta_query(s);
    follow(s, g, token);
    answer_map(s, g, maps, values);
    draw_matrix_view(s, {.grid = g, .names = kPlainNames}, delta_matrix(s, *found, values));
    caption(ui, {g.view.x - kTokenNames, g.view.bottom(), g.view.w + kTokenNames + gap::wide, 2 * size::line},
            scale_note(s));
    return g.view.right();
}

void draw_delta(Scene& s, Rect area) {
    constexpr float kBesideMap = 40, kPartsHigh = 296;
    Rect rest = area;
    if (s.ui.on_page())
        take_top(rest, size::view_header);
    else
        draw_delta_toolbar(s, view_toolbar(s.ui, rest));
    if (!s.answer->picture) return;
    Rect right = rest;
    take_left(right, draw_delta_map(s, rest) - rest.x, kBesideMap);
    take_top(right, 0, gap::tight);
    take_bottom(right, gap::medium);
    take_right(right, size::center_pad);
    const Rect parts = take_top(right, std::min(kPartsHigh, area.h * 0.42f), gap::medium);
    draw_delta_parts(s, nth_column(parts, 0, 2, gap::section));
    draw_tokens_moved(s, nth_column(parts, 1, 2, gap::section));
    draw_projection(s, right);
}

namespace {

/// Wraps a panel about heads, whose parts need W_O.
template <auto Draw>
bool unless_elsewhere(Scene& s, Rect area) {
    if (no_weights(*s.model())) return false;
    Draw(s, area);
    return true;
}

}  // namespace

View delta_view() {
    return {.key = "delta",
            .name = "Update (ΔE)",
            .answers = ViewGroup::explain,
            .synonyms = "residual stream, delta",
            .draw = draw_delta,
            .missing = cannot_run,
            .shows = View::Shows::layer,
            .ask = ask_delta,
            .beside = {unless_elsewhere<draw_delta_list>, unless_elsewhere<draw_delta_inspector>},
            .numbers = delta_numbers,
            .visit = visit_state<DeltaState>,
            .seen = seen_of<DeltaState>};
}

}  // namespace headlight
