// Draws direct logit attribution: a cell for each head and MLP.
#include <algorithm>
#include <cmath>

#include "base/cast.h"
#include "paint/matrix.h"
#include "parts/metric.h"
#include "parts/token_axis.h"
#include "views/lens/lens.h"

namespace headlight {

namespace {

constexpr float kBlockNames = 88, kWidestPart = 80, kHighestPart = 64, kLeastPart = 19, kHead = 46,
                kPartsFoot = 34, kRoomForChip = 520;

/// Arranges the parts of a logit: blocks down; heads, bias and MLP across.
struct Attributed {
    std::vector<int> blocks;
    Matrix values;                               // [blocks, heads + 2]; NaN: no such part
    std::vector<std::pair<Index, Index>> given;  // cells that the user replaced
    int heads = 0;
    std::vector<std::pair<std::string, float>> ends;
    bool is_given(Index row, Index column) const { return contains(given, std::pair{row, column}); }
};

/// Names a part without a cell; "" for one with a cell.
std::string end_name(const ModelConfig& c, const LogitPart& p) {
    switch (p.kind) {
        case LogitPart::Kind::given_attention:
            return "attention " + block_name(c, p.block) + " (replaced)";
        case LogitPart::Kind::given:
            return "replaced input";
        case LogitPart::Kind::embedding:
            return "embedding";
        case LogitPart::Kind::norm_bias:
            return "final norm’s bias";
        case LogitPart::Kind::unembedding_bias:
            return "unembedding’s bias";
        default:
            return "";
    }
}

Attributed lay_out(const Scene& s, const Attribution& a) {
    const ModelConfig& c = s.model()->config;
    Attributed out;
    const int stack = isize(c.stacks) - 1;
    for (int layer = 0; layer < c.stacks.back().depth(); ++layer)
        for (const int block : c.blocks_of(stack, layer)) out.blocks.push_back(block);
    out.heads = c.stacks.back().max_heads();
    out.values = Matrix::Constant(out.blocks.size(), out.heads + 2, std::numeric_limits<float>::quiet_NaN());
    const auto put = [&](int block, int column, const LogitPart& p, bool given) {
        const Index row = std::find(out.blocks.begin(), out.blocks.end(), block) - out.blocks.begin();
        out.values(row, column) = p.logit;
        if (given) out.given.emplace_back(row, column);
    };
    for (const LogitPart& p : a.parts) {
        switch (p.kind) {
            case LogitPart::Kind::head:
            case LogitPart::Kind::given_head:
                put(p.block, p.head, p, p.kind == LogitPart::Kind::given_head);
                break;
            case LogitPart::Kind::attention_bias:
                put(p.block, out.heads, p, false);
                break;
            case LogitPart::Kind::mlp:
            case LogitPart::Kind::given_mlp:
                put(c.blocks_of(stack, p.block).back(), out.heads + 1, p,
                    p.kind == LogitPart::Kind::given_mlp);
                break;
            default:
                out.ends.emplace_back(end_name(c, p), p.logit);
        }
    }
    return out;
}

bool has_bias(const Attributed& parts) { return !parts.values.col(parts.heads).array().isNaN().all(); }

/// Returns the grids of heads, bias (no width if there is none) and MLPs; scrolls if there are many blocks.
std::array<Grid, 3> arrange(Scene& s, Rect area, const Attributed& parts) {
    take_left(area, kBlockNames);
    take_top(area, kPlainNames);
    const auto blocks = isize(parts.blocks);
    const int others = has_bias(parts) ? 2 : 1;
    const float w = std::min((area.w - 2 * gap::small) / float(parts.heads + others), kWidestPart),
                h = std::clamp(area.h / float(std::max(1, blocks)), kLeastPart, kHighestPart);
    const float across = w * float(parts.heads + others) + float(others) * gap::small,
                bias = w * float(parts.heads) + gap::small;
    const float high = std::min(h * std::floor(area.h / h + 0.01f), h * float(blocks));
    float& hidden = s.of<LensState>().parts_hidden;
    hidden = scrolled(s.ui, {area.x, area.y, across + gap::medium, high}, h * float(blocks), hidden);
    const auto kind = [&](float x, int columns) {
        return Grid{{area.x + x, area.y, w * float(columns), high}, blocks, columns, w, h, 0, hidden};
    };
    Grid biases = kind(bias, 1);
    if (others == 1) biases.view.w = 0;
    return {kind(0, parts.heads), biases, kind(across - w, 1)};
}

void draw_part_names(Scene& s, const std::array<Grid, 3>& grids, const Attributed& parts) {
    Ui& ui = s.ui;
    const auto faint = [&](int) { return ui.colors->t2; };
    TokenAxis heads{index_name};
    heads.ink = faint;
    heads.draw_columns(ui, grids[0]);
    TokenAxis blocks{[&](int r) { return "layer " + block_name(s.model()->config, parts.blocks[r]); }};
    blocks.ink = [&](int) { return ui.colors->t3; };
    blocks.room = kBlockNames;
    blocks.font = kCaption;
    blocks.draw_rows(ui, grids[0]);
    // moves the words above two narrow columns apart
    const bool biased = has_bias(parts), narrow = biased && grids[1].w < 32;
    const auto above = [&](const Grid& g) {
        return Rect{g.view.x - gap::wide, g.view.y - kPlainNames, g.w + 2 * gap::wide, size::line};
    };
    const auto name = [&](Rect r, const char* word, Flush flush) {
        write(ui, narrow ? inset(r, gap::wide, 0) : r, kCaption, ui.colors->t2, word,
              narrow ? flush : Flush::center);
    };
    if (biased) name(above(grids[1]), "bias", Flush::right);
    name(above(grids[2]), "MLP", Flush::left);
}

/// Draws one kind of part, whose columns begin at `column`.
void draw_part_cells(Scene& s, const Grid& g, const Attributed& parts, int column, float largest) {
    Ui& ui = s.ui;
    const Matrix values = parts.values.block(0, column, g.rows, g.columns);
    ui.clip(g.view);
    draw_matrix(ui, g.whole(), {signed_places_of(values, largest), signed_colormap(ui.colors->dark), true});
    for (int r = 0; r < g.rows; ++r)
        for (int c = 0; c < g.columns; ++c) {
            if (std::isnan(values(r, c)) || !g.touches_row(r)) continue;
            if (g.w >= 44 && g.h >= 18)
                write(ui, g.cell(r, c), kCaptionMono,
                      ink_on(signed_color(ui.colors->dark, values(r, c) / largest)), number(values(r, c), 2),
                      Flush::center);
            ui.name("lens/part/" + std::to_string(parts.blocks[r]) + "." + std::to_string(column + c),
                    g.cell(r, c));
        }
    ui.unclip();
}

std::string name_of_part(const ModelConfig& c, const Attributed& parts, int block, int column) {
    if (column < parts.heads) return "Head " + head_name(c, block, column);
    return (column == parts.heads ? "Output bias of layer " : "MLP of layer ") + block_name(c, block);
}

/// Names the part under the mouse; selects a clicked head.
void answer_parts(Scene& s, const Grid& g, const Attributed& parts, int column) {
    const std::string path = "lens/parts/" + std::to_string(column);
    const Hit hit = s.ui.hit(path, g.view);
    if (!hit.hovered || g.rows == 0) return;
    const auto [row, at] = g.at(hit.mouse);
    const float v = parts.values(row, column + at);
    if (std::isnan(v)) return;
    const int block = parts.blocks[row];
    s.ui.tooltip(path, hit,
                 name_of_part(s.model()->config, parts, block, column + at) +
                     (parts.is_given(row, column + at) ? " (replaced): " : ": ") + signed_number(v, 3));
    s.ui.frame(g.cell(row, at), s.ui.colors->hover, 2);
    if (column + at >= parts.heads) return;
    s.pointed.head = std::pair{block, column + at};
    if (hit.clicked) s.select(block, column + at);
}

void draw_parts(Scene& s, Rect area, const Attributed& parts) {
    const auto grids = arrange(s, area, parts);
    draw_part_names(s, grids, parts);
    float largest = 1e-12f;
    for (Index i = 0; i < parts.values.size(); ++i)
        if (const float v = std::abs(parts.values.data()[i]); v > largest) largest = v;
    int column = 0;
    for (const Grid& g : grids) {
        if (g.view.w > 0) {
            draw_part_cells(s, g, parts, column, largest);
            answer_parts(s, g, parts, column);
        }
        column += g.columns;
    }
}

}  // namespace

std::optional<NumberTable> logit_shares(const Scene& s) {
    const auto* found = s.found<AttributionRequest>();
    if (!found || found->answer.parts.empty()) return {};
    const Attribution& a = found->answer;
    const Attributed parts = lay_out(s, a);
    const auto layers = parts.values.rows();
    std::vector<std::string> rows, columns = counted(parts.heads);
    for (const int block : parts.blocks) rows.push_back("layer " + block_name(s.model()->config, block));
    columns.insert(columns.end(), {"bias", "MLP", "alone"});
    Matrix values = Matrix::Constant(layers + isize(parts.ends) + 1, parts.heads + 3,
                                     std::numeric_limits<float>::quiet_NaN());
    values.topLeftCorner(layers, parts.heads + 2) = parts.values;
    for (int i = 0; i < isize(parts.ends); ++i) {
        rows.push_back(parts.ends[i].first);
        values(layers + i, parts.heads + 2) = parts.ends[i].second;
    }
    rows.push_back("logit");
    values(values.rows() - 1, parts.heads + 2) = a.logit;
    NumberTable out{"shares of the logit of " + explained_text(*s.model(), a.token, a.against) + " at " +
                        token_at(output_labels(s), found->asked.position),
                    "from",
                    "head",
                    std::move(rows),
                    std::move(columns),
                    std::move(values)};
    out.beside = true;
    return out;
}

void draw_attribution(Scene& s, Rect area) {
    Ui& ui = s.ui;
    const auto* found = s.found<AttributionRequest>();
    if (!found || area.h < 120) return;
    const Attribution& a = found->answer;
    ui.hairline(area.x, area.y, area.right(), area.y);
    Rect rest = inset(area, size::center_pad, 0), head = take_top(rest, kHead);
    const std::string sum =
        (a.parts.empty() ? "" : "Σ ") + number(a.logit, 2) + (a.against < 0 ? " = logit" : " = A − B");
    const float chip = metric_chip_width(s);
    if (!ui.on_page() && head.w > kRoomForChip)
        draw_metric_chip(s, "lens", take_right(head, chip, gap::wide));
    write(ui, take_right(head, ui.text.width(kCaptionMono, sum), gap::wide), kCaptionMono, ui.colors->t3,
          sum);
    write(ui, head, kBody, ui.colors->t1,
          "Direct logit attribution of “" + explained_text(*s.model(), a.token, a.against) + "” at " +
              token_at(output_labels(s), found->asked.position));
    if (a.parts.empty()) {
        caption_lines(
            ui, rest,
            no_weights(*s.model())
                ? "The outputs of heads and MLPs stay in the other process, so the logit is not split."
                : "This model normalizes after each block, carries several streams, or has another layer "
                  "before "
                  "its predictions, so a logit is not a plain sum of head and MLP outputs.");
        return;
    }
    const Attributed parts = lay_out(s, a);
    std::string ends = "Other:";
    for (const auto& [name, value] : parts.ends) ends += "  " + name + " " + signed_number(value, 2);
    caption(ui, take_bottom(rest, kPartsFoot),
            ends + ".  Elhage et al. 2021; the final norm’s scale is held fixed.");
    draw_parts(s, rest, parts);
}

}  // namespace headlight
