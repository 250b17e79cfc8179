// Next tokens: what the model would say after each layer, and which heads and MLPs make it say so.
#include "views/lens.h"

#include <algorithm>
#include <cmath>

namespace headlight {

namespace {

constexpr float kColumn = 76, kRow = 28, kNames = 88;

/// The position whose prediction is explained: the focused query where it belongs to the stack that predicts.
int lens_position(const Scene& s) {
    const auto cell = s.shown_cell();
    const bool of_output =
        s.model()->config.block(s.block()).stack + 1 == static_cast<int>(s.model()->config.stacks.size());
    return cell && of_output ? std::min(cell->first, output_size(s) - 1) : output_size(s) - 1;
}

struct Grid {
    Rect cells;  // what is seen of them
    float w, h;
    int first, columns, rows;
};

Grid arrange(Scene& s, Rect area, int rows) {
    Ui& ui = s.ui;
    Grid g{};
    g.w = ui.px(kColumn);
    g.h = ui.px(kRow);
    g.rows = rows;
    const float room = area.w - ui.px(kNames + 48);
    const int n = output_size(s);
    s.of<LensState>().columns = std::clamp(static_cast<int>(room / g.w), 1, n);
    if (const int position = lens_position(s);
        s.of<LensState>().followed != position && !s.session.selection.hovered.cell) {
        s.of<LensState>().followed = position;
        s.of<LensState>().first =
            std::clamp(s.of<LensState>().first, position - s.of<LensState>().columns + 1, position);
    }
    g.w = std::min(room / static_cast<float>(s.of<LensState>().columns), ui.px(120));
    const float high = std::min(area.h, g.h * static_cast<float>(rows));
    g.cells = {area.x + ui.px(kNames), area.y, g.w * static_cast<float>(s.of<LensState>().columns), high};
    if (ui.shift || ui.wheel_x != 0)
        s.of<LensState>().first -=
            static_cast<int>(std::lround(ui.shift ? ui.take_wheel(g.cells) : ui.wheel_x)) * 2;
    s.of<LensState>().first = std::clamp(s.of<LensState>().first, 0, n - s.of<LensState>().columns);
    s.of<LensState>().scroll = scrolled(ui, {g.cells.x, g.cells.y, g.cells.w + ui.px(10), g.cells.h},
                                        g.h * static_cast<float>(rows), s.of<LensState>().scroll);
    g.first = s.of<LensState>().first;
    g.columns = s.of<LensState>().columns;
    return g;
}

void draw_grid_labels(Scene& s, const Grid& g, int position) {
    Ui& ui = s.ui;
    const auto& labels = output_labels(s);
    for (int i = 0; i < g.columns; ++i) {
        const int at = g.first + i;
        const bool on = at == position;
        const Rect r{g.cells.x + g.w * static_cast<float>(i), g.cells.y - ui.px(44), g.w, ui.px(40)};
        if (on) ui.fill({r.x, r.y, r.w - ui.line(), r.h}, ui.colors->accent_fill);
        ui.text.draw_centred(r.middle_x(), r.y + ui.px(11), kCaptionMono,
                             on ? ui.colors->accent_text : ui.colors->t3, std::to_string(at));
        ui.text.draw_centred(r.middle_x(), r.y + ui.px(29), kCaptionMono,
                             on ? ui.colors->accent_text : ui.colors->t1,
                             ui.text.fitted(kCaptionMono, labels[static_cast<size_t>(at)], g.w - ui.px(6)));
    }
    ui.clip({g.cells.x - ui.px(kNames), g.cells.y, ui.px(kNames), g.cells.h});
    for (int r = 0; r < g.rows; ++r) {
        const std::string name = r == 0 ? "embeddings" : "layer " + std::to_string(r - 1);
        ui.text.draw_right(g.cells.x - ui.px(10),
                           g.cells.y + g.h * (static_cast<float>(r) + 0.5f) - s.of<LensState>().scroll,
                           kCaption, ui.colors->t3, name);
    }
    ui.unclip();
}

void draw_grid(Scene& s, const Grid& g, const Lens& lens, int position) {
    Ui& ui = s.ui;
    const Colormap& map = colormap(s.session.preferences.colormap, ui.colors->dark);
    ui.clip(g.cells);
    for (int r = 0; r < g.rows; ++r) {
        const auto& row = lens.top[static_cast<size_t>(r)];
        const float y = g.cells.y + g.h * static_cast<float>(r) - s.of<LensState>().scroll;
        if (y + g.h < g.cells.y || y > g.cells.bottom()) continue;
        for (int i = 0; i < g.columns; ++i) {
            const int at = g.first + i - lens.first;
            if (at < 0 || at >= static_cast<int>(row.size())) continue;
            const Prediction& p = row[static_cast<size_t>(at)];
            const Rect cell{g.cells.x + g.w * static_cast<float>(i), y, g.w - ui.line(), g.h - ui.line()};
            const ImU32 color = color_at(map, p.probability);
            ui.fill(cell, color);
            ui.text.draw_centred(
                cell.middle_x(), cell.middle_y(), kCaptionMono, ink_on(color),
                ui.text.fitted(kCaptionMono, prediction_label(*s.model(), p.id), g.w - ui.px(8)));
        }
    }
    if (position >= g.first && position < g.first + g.columns)
        ui.frame({g.cells.x + g.w * static_cast<float>(position - g.first) - ui.px(1),
                  g.cells.y - s.of<LensState>().scroll, g.w + ui.px(1), g.h * static_cast<float>(g.rows)},
                 s.session.selection.hovered.cell ? ui.colors->hover : ui.colors->accent, 2);
    ui.unclip();
}

void answer_grid(Scene& s, const Grid& g, const Lens& lens) {
    Ui& ui = s.ui;
    const Hit h = ui.hit("lens/grid", {g.cells.x, g.cells.y - ui.px(44), g.cells.w, g.cells.h + ui.px(44)});
    if (!h.hovered) return;
    const int at = g.first + static_cast<int>((h.mouse.x - g.cells.x) / g.w);
    if (at >= g.first + g.columns) return;
    const bool queries =
        s.model()->config.block(s.block()).stack + 1 == static_cast<int>(s.model()->config.stacks.size());
    if (queries && at < s.queries()) s.point_at(std::pair{at, s.heaviest_key(at)});
    if (queries && h.clicked) lock_token(s, at);
    const int row = static_cast<int>((h.mouse.y - g.cells.y + s.of<LensState>().scroll) / g.h),
              column = at - lens.first;
    if (h.mouse.y < g.cells.y || row >= g.rows || column < 0 ||
        column >= static_cast<int>(lens.top[0].size()))
        return;
    const Prediction& p = lens.top[static_cast<size_t>(row)][static_cast<size_t>(column)];
    ui.tooltip("lens/" + std::to_string(row) + "," + std::to_string(at), h,
               (row ? "After layer " + std::to_string(row - 1) : std::string("From the embeddings")) +
                   " at " + token_at(output_labels(s), at) + ": " + prediction_label(*s.model(), p.id) +
                   ", " + percent(p.probability));
}

/// Parts of one logit by where they stand in the picture: blocks down; heads, bias and MLP across.
struct Attributed {
    std::vector<int> blocks;
    Matrix values;  // [blocks, heads + 2]; NaN: nothing there
    int heads = 0;
    std::vector<std::pair<std::string, float> > ends;
};

Attributed lay_out(const Scene& s, const Attribution& a) {
    const ModelConfig& c = s.model()->config;
    Attributed out;
    for (const LogitPart& p : a.parts)
        if (p.kind == LogitPart::Kind::head && (out.blocks.empty() || out.blocks.back() != p.block))
            out.blocks.push_back(p.block);
    const auto row_of = [&](int block) {
        return std::find(out.blocks.begin(), out.blocks.end(), block) - out.blocks.begin();
    };
    out.heads = c.stacks.back().heads;
    out.values = Matrix::Constant(static_cast<Index>(out.blocks.size()), out.heads + 2,
                                  std::numeric_limits<float>::quiet_NaN());
    for (const LogitPart& p : a.parts) {
        switch (p.kind) {
            case LogitPart::Kind::head:
                out.values(row_of(p.block), p.head) = p.logit;
                break;
            case LogitPart::Kind::attention_bias:
                out.values(row_of(p.block), out.heads) = p.logit;
                break;
            case LogitPart::Kind::mlp:
                out.values(row_of(c.blocks_of(static_cast<int>(c.stacks.size()) - 1, p.block).back()),
                           out.heads + 1) = p.logit;
                break;
            case LogitPart::Kind::embedding:
                out.ends.emplace_back("embedding", p.logit);
                break;
            case LogitPart::Kind::norm_bias:
                out.ends.emplace_back("final norm’s bias", p.logit);
                break;
            case LogitPart::Kind::unembedding_bias:
                out.ends.emplace_back("unembedding’s bias", p.logit);
                break;
        }
    }
    return out;
}

void draw_part_cells(Scene& s, Rect area, const Attributed& parts) {
    Ui& ui = s.ui;
    const ModelConfig& c = s.model()->config;
    const auto columns = static_cast<int>(parts.values.cols());
    const float left = area.x + ui.px(kNames),
                w = std::min((area.w - ui.px(kNames + 48) - ui.px(16)) / static_cast<float>(columns),
                             ui.px(64)),
                h = std::clamp(
                    (area.h - ui.px(24)) / static_cast<float>(std::max<size_t>(1, parts.blocks.size())),
                    ui.px(3), ui.px(32));
    const auto named = static_cast<size_t>(label_step(h, ui.px(16)));
    float largest = 1e-12f;
    for (Index i = 0; i < parts.values.size(); ++i)
        if (const float v = std::abs(parts.values.data()[i]); v > largest) largest = v;
    const auto x_of = [&](int column) {
        return left + w * static_cast<float>(column) + (column >= parts.heads ? ui.px(8) : 0) +
               (column > parts.heads ? ui.px(8) : 0);
    };
    const bool biased = !parts.values.col(parts.heads).array().isNaN().all();
    for (int column = 0; column < columns; ++column) {
        if (column == parts.heads && !biased) continue;
        if (column < parts.heads && column % label_step(w, ui.px(20))) continue;
        if (column >= parts.heads && w < ui.px(32)) {  // two words above two narrow columns
            if (column == parts.heads)
                ui.text.draw_right(x_of(column) + w, area.y + ui.px(10), kCaption, ui.colors->t2, "bias");
            else
                ui.text.draw(x_of(column), area.y + ui.px(10), kCaption, ui.colors->t2, "MLP");
            continue;
        }
        ui.text.draw_centred(x_of(column) + w / 2, area.y + ui.px(10),
                             column < parts.heads ? kCaptionMono : kCaption, ui.colors->t2,
                             column < parts.heads    ? std::to_string(column)
                             : column == parts.heads ? "bias"
                                                     : "MLP");
    }
    for (size_t r = 0; r < parts.blocks.size(); ++r) {
        const float y = area.y + ui.px(24) + h * static_cast<float>(r);
        if (y + h > area.bottom()) break;
        if (r % named == 0)
            ui.text.draw_right(left - ui.px(10), y + h / 2, kCaption, ui.colors->t3,
                               "layer " + block_name(c, parts.blocks[r]));
        for (int column = 0; column < columns; ++column) {
            const float v = parts.values(static_cast<Index>(r), column);
            if (std::isnan(v)) continue;
            const Rect cell{x_of(column), y, w - ui.line(), h - ui.line()};
            const ImU32 color = signed_color(ui.colors->dark, v / largest);
            ui.fill(cell, color);
            if (w >= ui.px(44) && h >= ui.px(18))
                ui.text.draw_centred(cell.middle_x(), cell.middle_y(), kCaptionMono, ink_on(color),
                                     number(v, 2));
            const std::string path =
                "lens/part/" + std::to_string(parts.blocks[r]) + "." + std::to_string(column);
            const Hit hit = ui.hit(path, cell);
            const std::string name =
                column < parts.heads ? "Head " + head_name(c, parts.blocks[r], column)
                                     : (column == parts.heads ? "Output bias of layer " : "MLP of layer ") +
                                           block_name(c, parts.blocks[r]);
            ui.tooltip(path, hit, name + ": " + (v > 0 ? "+" : "") + number(v, 3));
            if (!hit.hovered) continue;
            ui.frame(cell, ui.colors->hover, 2);
            if (column < parts.heads) s.session.selection.hovered.head = std::pair{parts.blocks[r], column};
            if (hit.clicked && column < parts.heads) {
                s.select(parts.blocks[r], column);
            }
        }
    }
}

void draw_attribution(Scene& s, Rect area) {
    Ui& ui = s.ui;
    const auto* found = s.found<AttributionWanted>();
    if (!found || area.h < ui.px(120)) return;
    const Attribution& a = found->answer;
    const float pad = ui.px(24);
    ui.hairline(area.x, area.y, area.right(), area.y);
    const std::string title = "Direct logit attribution of “" + prediction_label(*s.model(), a.token) +
                              "” at " + token_at(output_labels(s), found->asked.position);
    ui.text.draw(area.x + pad, area.y + ui.px(24), kBody, ui.colors->t1,
                 ui.text.fitted(kBody, title, area.w - ui.px(220)));
    ui.text.draw_right(area.right() - pad, area.y + ui.px(24), kCaptionMono, ui.colors->t3,
                       "Σ " + number(a.logit, 2) + " = logit");
    if (a.parts.empty()) {
        ui.text.draw_wrapped(area.x + pad, area.y + ui.px(44), area.w - 2 * pad, kCaption, ui.colors->t3,
                             "This model normalizes after each block, or has another layer before its "
                             "predictions, so a logit is not a plain sum of what heads and MLPs add.");
        return;
    }
    const Attributed parts = lay_out(s, a);
    draw_part_cells(s, {area.x, area.y + ui.px(44), area.w, area.h - ui.px(44 + 32)}, parts);
    std::string ends = "Besides:";
    for (const auto& [name, value] : parts.ends)
        ends += "  " + name + " " + (value > 0 ? "+" : "") + number(value, 2);
    ui.text.draw(
        area.x + pad, area.bottom() - ui.px(18), kCaption, ui.colors->t3,
        ui.text.fitted(kCaption, ends + ".  Elhage et al. 2021; the final norm’s scale is held fixed.",
                       area.w - 2 * pad));
}

}  // namespace

std::vector<Question> ask_lens(const Scene& s) {
    constexpr int kListed = 16;
    const int position = lens_position(s), token = s.session.selection.hovered.token.value_or(-1);
    return {LensWanted{s.of<LensState>().first, s.of<LensState>().columns},
            AttributionWanted{position, token, kListed}};
}

void draw_lens(Scene& s, Rect area) {
    Ui& ui = s.ui;
    const auto* found = s.found<LensWanted>();
    if (!found || !s.answer->picture) return;
    const Lens& lens = found->answer;
    const int rows = static_cast<int>(lens.top.size()), position = lens_position(s);
    ui.text.draw(
        area.x + ui.px(24), area.y + ui.px(24), kCaption, ui.colors->t2,
        ui.text.fitted(kCaption,
                       "Logit lens: what the model would predict if it stopped after each layer. The "
                       "stronger the color, the more probable.",
                       area.w - ui.px(200)));
    const float top = area.y + ui.px(96), max = std::max(ui.px(kRow * 3), area.h * 0.56f - ui.px(96));
    const Grid g = arrange(
        s,
        {area.x + ui.px(24), top, area.w - ui.px(24), std::min(max, ui.px(kRow) * static_cast<float>(rows))},
        rows);
    answer_grid(s, g, lens);
    draw_grid_labels(s, g, position);
    draw_grid(s, g, lens, position);
    const int n = output_size(s);
    if (g.columns < n) {
        float x = area.right() - ui.px(24);
        const float y = area.y + ui.px(24);
        if (ui.link("lens/later", x, y, "later ›"))
            s.of<LensState>().first = std::min(n - g.columns, g.first + g.columns);
        x -= ui.px(60);
        if (ui.link("lens/earlier", x, y, "‹ earlier"))
            s.of<LensState>().first = std::max(0, g.first - g.columns);
    }
    const float below = g.cells.bottom() + ui.px(24);
    draw_attribution(s, {area.x, below, area.w, area.bottom() - below});
}

}  // namespace headlight
