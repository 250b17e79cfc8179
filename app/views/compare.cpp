// Two heads, or one head with and without the changes in force: A, B and their signed difference under one crosshair.
#include <algorithm>
#include <cmath>

#include "views/parts.h"

namespace headlight {

namespace {

struct Panel {
    std::string letter, name;
    const Matrix* cells;   // as they are drawn
    float value = 0;       // of the shown cell
    bool is_signed = false;
    float largest = 1;
};

std::string own_name(const Scene& s, const HeadPairWanted& w) {
    return w.unchanged ? "Head " + head_name(s.model()->config, w.site, w.head) + " without changes" : "Head " + head_name(s.model()->config, w.site_b, w.head_b);
}

void draw_cells(Scene& s, const Panel& p, const Matrix& mask, Rect map, float cell) {
    Ui& ui = s.ui;
    const Colormap& colors = colormap(s.state.colormap, ui.colors->dark);
    const float gap = cell >= ui.px(12) ? ui.line() : 0;
    for (Index r = 0; r < (*p.cells).rows(); ++r)
        for (Index c = 0; c < (*p.cells).cols(); ++c) {
            const Rect at{map.x + cell * static_cast<float>(c), map.y + cell * static_cast<float>(r), cell - gap, cell - gap};
            const float v = (*p.cells)(r, c);
            if (mask(r, c) < 0) {
                if (cell >= ui.px(12)) ui.hatch(at, ui.colors->hatch);
                continue;
            }
            ui.fill(at, p.is_signed ? signed_color(ui.colors->dark, v / p.largest) : color_at(colors, v / p.largest));
        }
}

void draw_key_labels(Scene& s, Rect map, float cell, int step, int lit) {
    Ui& ui = s.ui;
    const auto& labels = s.key_labels();
    const int every = label_step(cell, ui.px(22));
    for (int i = 0; i < static_cast<int>(labels.size()); i += every * step) {
        const float x = map.x + cell * (static_cast<float>(i) / static_cast<float>(step) + 0.5f);
        ui.text.draw(x + ui.px(2), map.y - ui.px(10), kCaptionMono, i == lit ? ui.colors->t1 : ui.colors->t3, ui.text.fitted(kCaptionMono, labels[static_cast<size_t>(i)], ui.px(64)), -0.7854f);
    }
}

void draw_query_labels(Scene& s, Rect map, float cell, int step, int lit) {
    Ui& ui = s.ui;
    const auto& labels = s.query_labels();
    const int every = label_step(cell, ui.px(16));
    for (int i = 0; i < static_cast<int>(labels.size()); ++i) {
        if (i != lit && i % (every * step)) continue;
        const float y = map.y + cell * (static_cast<float>(i) / static_cast<float>(step) + 0.5f);
        if (i == lit) ui.fill({map.x - ui.px(88), y - ui.px(9), ui.px(84), ui.px(18)}, ui.colors->accent_fill);
        const ImU32 ink = i == lit ? ui.colors->accent_text : ui.colors->t1;
        ui.text.draw_right(map.x - ui.px(10), y, kCaptionMono, ink, ui.text.fitted(kCaptionMono, labels[static_cast<size_t>(i)], ui.px(52)));
        ui.text.draw_right(map.x - ui.px(66), y, kCaptionMono, i == lit ? ink : ui.colors->t3, std::to_string(i));
    }
}

void draw_cross(Scene& s, Rect map, float cell, int step, std::pair<int, int> at) {
    Ui& ui = s.ui;
    const float x = map.x + cell * static_cast<float>(at.second / step), y = map.y + cell * static_cast<float>(at.first / step), t = ui.line();
    const ImU32 rows = s.state.hovered ? ui.colors->hover : ui.colors->accent, columns = s.state.hovered ? ui.colors->hover : ui.colors->t2;
    ui.fill({map.x, y - t, map.w, t}, rows);
    ui.fill({map.x, y + cell - t, map.w, t}, rows);
    ui.fill({x - t, map.y, t, map.h}, columns);
    ui.fill({x + cell - t, map.y, t, map.h}, columns);
    if (cell >= ui.px(5)) ui.frame({x - t, y - t, cell + t, cell + t}, rows, 2);
}

void draw_bar(Scene& s, const Panel& p, Rect map, float value) {
    Ui& ui = s.ui;
    const Rect bar{map.x, map.bottom() + ui.px(16), map.w, ui.px(10)};
    ui.gradient(bar, p.is_signed ? signed_colormap(ui.colors->dark) : colormap(s.state.colormap, ui.colors->dark));
    ui.frame(bar, ui.colors->l2);
    const float place = p.is_signed ? 0.5f + 0.5f * value / p.largest : value / p.largest, x = bar.x + bar.w * std::clamp(place, 0.0f, 1.0f), y = bar.bottom() + ui.px(12);
    ui.polygon(std::array<ImVec2, 3>{{{x - ui.px(4), bar.y - ui.px(7)}, {x + ui.px(4), bar.y - ui.px(7)}, {x, bar.y - ui.px(1)}}}, ui.colors->accent);
    ui.text.draw(bar.x, y, kCaptionMono, ui.colors->t2, p.is_signed ? number(-p.largest, 2) : "0");
    ui.text.draw_right(bar.right(), y, kCaptionMono, ui.colors->t2, (p.is_signed ? "+" : "") + number(p.largest, 2));
}

void draw_largest(Scene& s, Rect area, const std::vector<HeadPair::Difference>& differences) {
    Ui& ui = s.ui;
    ui.text.draw(area.x, area.y + ui.px(10), kBody, ui.colors->t1, "Largest differences");
    const auto count = std::min(differences.size(), static_cast<size_t>(std::max(0.0f, (area.h - ui.px(30)) / ui.px(26))));
    const float largest = count ? std::max(std::abs(differences[0].value), 1e-9f) : 1;
    for (size_t i = 0; i < count; ++i) {
        const float y = area.y + ui.px(40) + ui.px(26) * static_cast<float>(i), v = differences[i].value;
        const int q = differences[i].query, k = differences[i].key;
        const Rect row{area.x - ui.px(6), y - ui.px(13), area.w + ui.px(12), ui.px(26)};
        const Hit h = ui.hit("compare/largest/" + std::to_string(i), row);
        if (h.hovered) ui.fill(row, ui.colors->bg3, size::corner);
        if (h.hovered) s.point_at(std::pair{q, k});
        if (h.clicked) s.state.locked = std::pair{q, k};
        ui.text.draw(area.x, y, kBodyMono, ui.colors->t1, ui.text.fitted(kBodyMono, token_at(s.query_labels(), q) + " → " + token_at(s.key_labels(), k), area.w * 0.48f));
        ui.signed_bar({area.x + area.w * 0.5f, y - ui.px(5), area.w * 0.5f - ui.px(72), ui.px(10)}, v / largest);
        ui.text.draw_right(area.right(), y, kBodyMono, ui.colors->t1, (v > 0 ? "+" : "") + number(v, 3));
    }
}

void draw_by_query(Scene& s, Rect area, const std::vector<float>& by_query, int lit) {
    Ui& ui = s.ui;
    ui.text.draw(area.x, area.y + ui.px(10), kBody, ui.colors->t1, "How far apart, query by query");
    ui.text.draw_right(area.right(), area.y + ui.px(10), kCaption, ui.colors->t3, "Jensen–Shannon, 0 to 1 bit");
    if (by_query.empty() || area.h < ui.px(120)) return;
    const Rect bars{area.x, area.y + ui.px(30), area.w, area.h - ui.px(80)};
    const float w = bars.w / static_cast<float>(by_query.size()), gap = w >= ui.px(6) ? ui.px(2) : 0;
    const int every = label_step(w, ui.px(by_query.size() > 100 ? 40 : 22));
    float sum = 0;
    for (size_t i = 0; i < by_query.size(); ++i) {
        const float x = bars.x + w * static_cast<float>(i), high = bars.h * std::clamp(by_query[i], 0.0f, 1.0f);
        const bool on = static_cast<int>(i) == lit;
        ui.fill({x, bars.y, w - gap, bars.h}, ui.colors->dark ? ui.colors->bg2 : ui.colors->bg3);
        ui.fill({x, bars.bottom() - high, w - gap, high}, on ? ui.colors->accent : ui.colors->t3);
        if (static_cast<int>(i) % every == 0) ui.text.draw_centred(x + w / 2, bars.bottom() + ui.px(12), kCaptionMono, on ? ui.colors->accent_text : ui.colors->t3, std::to_string(i));
        sum += by_query[i];
    }
    const auto most = static_cast<int>(std::max_element(by_query.begin(), by_query.end()) - by_query.begin());
    ui.text.draw(area.x, bars.bottom() + ui.px(34), kBodyMono, ui.colors->t2, "mean " + number(sum / static_cast<float>(by_query.size()), 3) + "   largest " + number(by_query[static_cast<size_t>(most)], 3) + " at " + token_at(s.query_labels(), most));
}

void draw_toolbar(Scene& s, Rect area) {
    Ui& ui = s.ui;
    float x = area.x + ui.px(24);
    const float y = area.y + ui.px(24);
    if (const int c = ui.choice(x, y, "Compare", "compare/what", {"two heads", "with and without changes"}, s.state.compare_changes ? 1 : 0); c >= 0) s.state.compare_changes = c == 1;
    if (s.state.compare_changes && s.state.intervention == Intervention{}) ui.text.draw(x, y, kCaption, ui.colors->t2, "Nothing is changed yet: mask a cell or ablate a head in the heat map.");
    if (!s.state.compare_changes) {
        std::vector<std::string> names;
        const ModelConfig& c = s.model()->config;
        for (int site = 0; site < c.sites(); ++site) names.push_back(site_name(c, site));
        if (const int site = ui.choice(x, y, "B: layer", "compare/layer", names, s.state.compared.first); site >= 0) s.state.compared.first = site;
        names.clear();
        for (int h = 0; h < c.heads; ++h) names.push_back(std::to_string(h));
        if (const int h = ui.choice(x, y, "head", "compare/head", names, s.state.compared.second); h >= 0) s.state.compared.second = h;
        ui.text.draw(x, y, kCaption, ui.colors->t3, ui.text.fitted(kCaption, "or Shift click a thumbnail", area.right() - x - ui.px(180)));
    }
    const Rect save{area.right() - ui.px(24 + 136), y - ui.px(16), ui.px(136), ui.px(size::button)};
    if (save.x > x && ui.button("save", save, "Save picture…")) s.state.save_menu = true;
}

}  // namespace

std::vector<Question> ask_compare(const Scene& s) {
    return {HeadPairWanted{s.state.site, s.state.head, s.state.compared.first, s.state.compared.second, s.state.compare_changes}};
}

void draw_compare(Scene& s, Rect area) {
    Ui& ui = s.ui;
    if (!ui.on_page()) draw_toolbar(s, area);
    const auto* found = s.found<HeadPairWanted>();
    if (!found || !s.answer->picture || found->asked.site != s.site() || found->answer.a.rows() != s.queries() || found->answer.a.cols() != s.keys()) return;
    const HeadPair& pair = found->answer;
    const auto cell = s.shown_cell();
    const auto weight = [&](const Matrix& m) { return cell ? std::max(0.0f, m(cell->first, cell->second)) : 0.0f; };
    const float shared = std::max({pair.small_a.maxCoeff(), pair.small_b.maxCoeff(), 1e-6f}), apart = std::max(pair.small_difference.cwiseAbs().maxCoeff(), 1e-6f);
    const Panel panels[] = {{"A", "Head " + head_name(s.model()->config, found->asked.site, found->asked.head), &pair.small_a, weight(pair.a), false, shared},
                            {"B", own_name(s, found->asked), &pair.small_b, weight(pair.b), false, shared},
                            {"A − B", "difference", &pair.small_difference, weight(pair.a) - weight(pair.b), true, apart}};
    const Matrix both = pair.small_a.cwiseMax(pair.small_b);
    const float left = area.x + ui.px(108), gap = ui.px(36), width = (area.right() - ui.px(24) - left - 2 * gap) / 3, top = area.y + ui.px(140), high = area.h * 0.62f - ui.px(140 + 40);
    const int step = pair.step;
    const float side = std::max(1.0f, std::floor(std::min({width / static_cast<float>(both.cols()), high / static_cast<float>(both.rows()), ui.px(48)})));
    for (int i = 0; i < 3; ++i) {
        const Panel& p = panels[i];
        const Rect map{left + (width + gap) * static_cast<float>(i), top, side * static_cast<float>(both.cols()), side * static_cast<float>(both.rows())};
        const float value = p.value;
        const float w = ui.text.draw(map.x, area.y + ui.px(62), kBody, p.letter == "A" ? ui.colors->accent_text : ui.colors->t1, p.letter);
        ui.text.draw(map.x + w + ui.px(12), area.y + ui.px(62), kBody, ui.colors->t2, ui.text.fitted(kBody, p.name, width - w - ui.px(90)));
        ui.text.draw_right(map.x + std::max(map.w, ui.px(190)), area.y + ui.px(62), kBodyMono, ui.colors->accent_text, (p.is_signed && value > 0 ? "+" : "") + number(value, 3));
        const Hit h = ui.hit("compare/map/" + std::to_string(i), map);
        if (h.hovered) {
            const auto q = std::min(static_cast<int>((h.mouse.y - map.y) / side) * step, s.queries() - 1), k = std::min(static_cast<int>((h.mouse.x - map.x) / side) * step, s.keys() - 1);
            s.point_at(std::pair{q, k});
            if (h.clicked) {
                s.state.locked = s.state.hovered;
                s.field.focused = s.second.focused = false;
            }
        }
        draw_cells(s, p, p.is_signed ? both : *p.cells, map, side);
        draw_key_labels(s, map, side, step, cell ? cell->second : -1);
        if (i == 0) draw_query_labels(s, map, side, step, cell ? cell->first : -1);
        if (cell) draw_cross(s, map, side, step, *cell);
        draw_bar(s, p, map, value);
    }
    if (step > 1) ui.text.draw_right(area.right() - ui.px(24), top + side * static_cast<float>(both.rows()) + ui.px(56), kCaption, ui.colors->t3, "each cell is the largest of " + std::to_string(step) + " × " + std::to_string(step));
    const float below = std::min(top + side * static_cast<float>(both.rows()) + ui.px(72), area.bottom() - ui.px(200));
    ui.hairline(area.x, below, area.right(), below);
    const float half = (area.w - ui.px(48 + 40)) / 2;
    draw_largest(s, {area.x + ui.px(24), below + ui.px(14), half, area.bottom() - below - ui.px(20)}, pair.largest);
    draw_by_query(s, {area.x + ui.px(24) + half + ui.px(40), below + ui.px(14), half, area.bottom() - below - ui.px(28)}, pair.by_query, cell ? cell->first : -1);
}

void draw_compare_list(Scene& s, Rect area) {
    Ui& ui = s.ui;
    const auto* found = s.found<HeadPairWanted>();
    if (!found) return;
    const ModelConfig& c = s.model()->config;
    const auto& values = found->answer.distances;
    const std::string title = found->asked.unchanged ? "Moved most by the changes" : "Nearest to " + head_name(c, found->asked.site, found->asked.head);
    ui.text.draw(area.x, area.y + ui.px(22), kCaption, ui.colors->t3, title);
    ui.text.draw_right(area.right(), area.y + ui.px(22), kCaption, ui.colors->t3, "distance");
    auto order = order_by(values, !found->asked.unchanged);
    const auto skip = [&](size_t i) { return std::isnan(values[i]) || (!found->asked.unchanged && static_cast<int>(i) == found->asked.site * c.heads + found->asked.head); };
    order.erase(std::remove_if(order.begin(), order.end(), skip), order.end());
    float names = ui.px(48);
    for (int site = 0; site < c.sites(); ++site) names = std::max(names, ui.text.width(kBodyMono, head_name(c, site, c.heads - 1)) + ui.px(12));
    const float row_h = ui.px(size::row);
    const Rect rows{area.x - ui.px(8), area.y + ui.px(42), area.w + ui.px(16), area.h - ui.px(54)};
    s.state.rank_scroll = scrolled(ui, rows, row_h * static_cast<float>(order.size()), s.state.rank_scroll);
    ui.clip(rows);
    for (size_t i = 0; i < order.size(); ++i) {
        const Rect r{rows.x, rows.y + row_h * static_cast<float>(i) - s.state.rank_scroll, rows.w, row_h};
        if (r.bottom() < rows.y || r.y > rows.bottom()) continue;
        const int site = static_cast<int>(order[i]) / c.heads, head = static_cast<int>(order[i]) % c.heads;
        const Hit h = ui.hit("compare/row/" + head_name(c, site, head), r);
        const bool on = !found->asked.unchanged && std::pair{site, head} == s.state.compared;
        if (on || h.hovered) ui.fill(r, ui.colors->bg3, size::corner);
        ui.text.draw(area.x, r.middle_y(), kBodyMono, ui.colors->t1, head_name(c, site, head));
        ui.bar({area.x + names, r.middle_y() - ui.px(4), area.w - names - ui.px(64), ui.px(8)}, values[order[i]], on ? ui.colors->t1 : ui.colors->t3);
        ui.text.draw_right(area.right(), r.middle_y(), kBodyMono, ui.colors->t2, number(values[order[i]], 3));
        if (h.hovered) s.state.hovered_head = std::pair{site, head};
        if (!h.clicked) continue;
        if (found->asked.unchanged) std::tie(s.state.site, s.state.head) = std::pair{site, head};
        else s.state.compared = {site, head};
    }
    ui.unclip();
}

}  // namespace headlight
