// Which heads and MLPs make a prediction: a cell each.
#include <algorithm>
#include <cmath>

#include "base/cast.h"
#include "views/lens.h"

namespace headlight {

namespace {

constexpr float kBlockNames = 88;  // points for the names of the blocks

/// Parts of one logit by where they stand in the picture: blocks down; heads, bias and MLP across.
struct Attributed {
    std::vector<int> blocks;
    Matrix values;  // [blocks, heads + 2]; NaN: nothing there
    int heads = 0;
    std::vector<std::pair<std::string, float>> ends;
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
    out.values = Matrix::Constant(out.blocks.size(), out.heads + 2, std::numeric_limits<float>::quiet_NaN());
    for (const LogitPart& p : a.parts) {
        switch (p.kind) {
            case LogitPart::Kind::head:
                out.values(row_of(p.block), p.head) = p.logit;
                break;
            case LogitPart::Kind::attention_bias:
                out.values(row_of(p.block), out.heads) = p.logit;
                break;
            case LogitPart::Kind::mlp:
                out.values(row_of(c.blocks_of(isize(c.stacks) - 1, p.block).back()), out.heads + 1) = p.logit;
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
    const auto columns = narrow<int>(parts.values.cols());
    const float left = area.x + kBlockNames,
                w = std::min((area.w - (kBlockNames + 48) - 16) / float(columns), 64.0f),
                h = std::clamp((area.h - 24) / float(std::max<size_t>(1, parts.blocks.size())), 3.0f, 32.0f);
    const size_t named = label_step(h, 16);
    float largest = 1e-12f;
    for (Index i = 0; i < parts.values.size(); ++i)
        if (const float v = std::abs(parts.values.data()[i]); v > largest) largest = v;
    const auto x_of = [&](int column) {
        return left + w * float(column) + (column >= parts.heads ? 8 : 0) + (column > parts.heads ? 8 : 0);
    };
    const bool biased = !parts.values.col(parts.heads).array().isNaN().all();
    for (int column = 0; column < columns; ++column) {
        if (column == parts.heads && !biased) continue;
        if (column < parts.heads && column % label_step(w, 20)) continue;
        if (column >= parts.heads && w < 32) {  // two words above two narrow columns
            if (column == parts.heads)
                ui.text.draw_right(x_of(column) + w, area.y + 10, kCaption, ui.colors->t2, "bias");
            else
                ui.text.draw(x_of(column), area.y + 10, kCaption, ui.colors->t2, "MLP");
            continue;
        }
        ui.text.draw_centered(x_of(column) + w / 2, area.y + 10,
                              column < parts.heads ? kCaptionMono : kCaption, ui.colors->t2,
                              column < parts.heads    ? std::to_string(column)
                              : column == parts.heads ? "bias"
                                                      : "MLP");
    }
    for (int r = 0; r < isize(parts.blocks); ++r) {
        const float y = area.y + 24 + h * float(r);
        if (y + h > area.bottom()) break;
        if (r % named == 0)
            ui.text.draw_right(left - 10, y + h / 2, kCaption, ui.colors->t3,
                               "layer " + block_name(c, parts.blocks[r]));
        for (int column = 0; column < columns; ++column) {
            const float v = parts.values(r, column);
            if (std::isnan(v)) continue;
            const Rect cell{x_of(column), y, w - ui.line(), h - ui.line()};
            const ImU32 color = signed_color(ui.colors->dark, v / largest);
            ui.fill(cell, color);
            if (w >= 44 && h >= 18)
                ui.text.draw_centered(cell.middle_x(), cell.middle_y(), kCaptionMono, ink_on(color),
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
            if (column < parts.heads) s.pointed.head = std::pair{parts.blocks[r], column};
            if (hit.clicked && column < parts.heads) {
                s.select(parts.blocks[r], column);
            }
        }
    }
}

}  // namespace

void draw_attribution(Scene& s, Rect area) {
    Ui& ui = s.ui;
    const auto* found = s.found<AttributionWanted>();
    if (!found || area.h < 120) return;
    const Attribution& a = found->answer;
    const float pad = 24;
    ui.hairline(area.x, area.y, area.right(), area.y);
    const std::string title = "Direct logit attribution of “" + prediction_label(*s.model(), a.token) +
                              "” at " + token_at(output_labels(s), found->asked.position);
    ui.text.draw(area.x + pad, area.y + 24, kBody, ui.colors->t1, ui.text.fitted(kBody, title, area.w - 220));
    ui.text.draw_right(area.right() - pad, area.y + 24, kCaptionMono, ui.colors->t3,
                       "Σ " + number(a.logit, 2) + " = logit");
    if (a.parts.empty()) {
        ui.text.draw_wrapped(area.x + pad, area.y + 44, area.w - 2 * pad, kCaption, ui.colors->t3,
                             "This model normalizes after each block, or has another layer before its "
                             "predictions, so a logit is not a plain sum of what heads and MLPs add.");
        return;
    }
    const Attributed parts = lay_out(s, a);
    draw_part_cells(s, {area.x, area.y + 44, area.w, area.h - (44 + 32)}, parts);
    std::string ends = "Besides:";
    for (const auto& [name, value] : parts.ends)
        ends += "  " + name + " " + (value > 0 ? "+" : "") + number(value, 2);
    ui.text.draw(
        area.x + pad, area.bottom() - 18, kCaption, ui.colors->t3,
        ui.text.fitted(kCaption, ends + ".  Elhage et al. 2021; the final norm’s scale is held fixed.",
                       area.w - 2 * pad));
}

}  // namespace headlight
