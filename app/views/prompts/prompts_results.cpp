// Draws the means as bars with the interval of each as a whisker, the strongest first.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/quoted.h"
#include "paint/layout.h"
#include "parts/head_tags.h"
#include "views/prompts/prompts.h"

namespace headlight {

namespace {

constexpr float kValueRoom = 156;

/// One row: what the mean is of.
struct AveragedRow {
    std::string name;
    MeanInterval value;
    PromptCell cell;
    bool is_sure() const { return std::abs(value.mean) > value.half; }
};

std::vector<AveragedRow> averaged_rows(const Scene& s, const PromptAverages& of) {
    std::vector<AveragedRow> out;
    const bool words = of.asked.of == PromptMeasure::words;
    for (int i = 0; i < isize(of.cells); ++i) {
        const PromptCell& cell = of.cells[size_t(i)];
        const std::string name = words ? std::to_string(cell.position) + " " + of.token(i)
                                       : head_name(s.model()->config, cell.block, cell.head);
        out.push_back({name, of.of(0, i), cell});
    }
    if (!words)
        std::stable_sort(out.begin(), out.end(), [](const AveragedRow& x, const AveragedRow& y) {
            return std::abs(x.value.mean) > std::abs(y.value.mean);
        });
    return out;
}

/// The end of the axis: all intervals, unless one is far wider than any mean.
float axis_end(const std::vector<AveragedRow>& rows) {
    double mean = 1e-6, whole = 1e-6;
    for (const AveragedRow& row : rows) {
        if (std::isnan(row.value.mean)) continue;
        mean = std::max(mean, std::abs(row.value.mean));
        if (!std::isnan(row.value.half)) whole = std::max(whole, std::abs(row.value.mean) + row.value.half);
    }
    return float(std::min(std::max(mean, whole), 2 * mean));
}

std::string with_half(const MeanInterval& of, int digits) {
    return signed_number(of.mean, digits) + (std::isnan(of.half) ? "" : " ± " + number(of.half, digits));
}

void draw_whisker(Ui& ui, Rect bar, const MeanInterval& of, float end, ImU32 ink) {
    constexpr float kCap = 4;
    if (std::isnan(of.half)) return;
    const auto place = [&](double value) {
        return bar.middle_x() + bar.w / 2 * std::clamp(float(value) / end, -1.0f, 1.0f);
    };
    const float low = place(of.mean - of.half), high = place(of.mean + of.half), y = bar.middle_y();
    ui.stroke({low, y}, {high, y}, ink, 1.5f);
    for (const float x : {low, high}) ui.stroke({x, y - kCap}, {x, y + kCap}, ink, 1.5f);
}

void draw_averaged_row(Scene& s, Rect r, const AveragedRow& row, float names, float end) {
    Ui& ui = s.ui;
    const std::string path = "prompts/row/" + row.name;
    const Hit h = ui.hit(path, r);
    if (h.hovered) ui.fill(r, ui.colors->bg3, size::corner);
    Rect rest = inset(r, gap::small, 0);
    const ImU32 ink = row.is_sure() ? ui.colors->t1 : ui.colors->t3;
    write(ui, take_left(rest, names, gap::small), kBodyMono, ink, row.name);
    write(ui, take_right(rest, kValueRoom, gap::medium), kCaptionMono, ink,
          with_half(row.value, end < 1 ? 3 : 2), Flush::right);
    if (!std::isnan(row.value.mean)) {
        const Rect bar = band(rest, size::bar);
        ui.signed_bar(bar, float(row.value.mean) / end, row.is_sure());
        draw_whisker(ui, bar, row.value, end, ink);
    }
    if (row.cell.head >= 0 && h.hovered) s.pointed.head = std::pair{row.cell.block, row.cell.head};
    ui.tooltip(path, h,
               row.name + ": " + signed_number(row.value.mean, 3) + ", 95 % interval " +
                   signed_number(row.value.mean - row.value.half, 3) + " … " +
                   signed_number(row.value.mean + row.value.half, 3) + ", " +
                   std::to_string(row.value.count) + " prompts");
    if (!h.clicked || row.cell.head < 0) return;
    s.select(row.cell.block, row.cell.head);
    s.send("view head");
}

void draw_averaged_rows(Scene& s, Rect area, const std::vector<AveragedRow>& rows) {
    constexpr float kMaxNames = 150;
    Ui& ui = s.ui;
    std::vector<std::string> names;
    for (const AveragedRow& row : rows) names.push_back(row.name);
    const float room = widest_of(ui, kBodyMono, names, kMaxNames), end = axis_end(rows);
    Viewport& seen = s.of<PromptsState>().seen;
    if (!ui.on_page()) scrolled(ui, area, size::row * float(rows.size()), seen);
    const float from = ui.on_page() ? 0 : seen.y;
    ui.clip(area);
    for (int i = 0; i < isize(rows); ++i) {
        const Rect r{area.x, area.y + size::row * float(i) - from, area.w - gap::medium, size::row};
        if (r.bottom() > area.y && r.bottom() <= area.bottom() + size::row)
            draw_averaged_row(s, r, rows[size_t(i)], room, end);
    }
    ui.unclip();
}

/// "Change of ball − hat when a head is ablated".
std::string averaged_title(AveragedValue of, const std::string& spelled) {
    std::string metric = spelled.empty() ? "the metric" : shortened(spelled, 60);
    if (const size_t minus = metric.find(" - "); minus != std::string::npos) metric.replace(minus, 3, " − ");
    switch (of) {
        case AveragedValue::ablated:
            return "Change of " + metric + " when a head is ablated";
        case AveragedValue::direct:
            return "What each head adds straight to " + metric;
        case AveragedValue::left_out:
            return metric + " minus the same with a token left out";
        default:
            return "Share of " + metric + " that a head restores";
    }
}

std::string averaged_summary(const PromptAverages& of, double available) {
    std::string out = "Mean of " + std::to_string(of.measured.size());
    if (available > of.count) out += " of " + decimals(available, 0);
    out += " prompts ± 95 % interval (Student's t); pale: the interval includes 0. The metric itself: " +
           with_half(of.value(), 2) + ".";
    return out;
}

void draw_prompts_progress(Scene& s, Rect line, int done, int count) {
    constexpr float kWide = 320, kBar = 6;
    Ui& ui = s.ui;
    const std::string prompts = std::to_string(done) + " of " + std::to_string(count) + " prompts";
    if (!s.of<PromptsState>().measures) {
        ui.name("prompts/cancelled", line);
        return caption(ui, line, "Cancelled at " + prompts + ".");
    }
    line.w = std::min(line.w, kWide);
    const Rect words = take_top(line, size::row);
    write(ui, words, kCaption, ui.colors->t2, "Measured " + prompts);
    if (ui.link("prompts/cancel", words.right(), words.middle_y(), "Cancel")) s.send("prompts cancel");
    ui.bar(take_top(line, kBar), count ? float(done) / float(count) : 0.0f, ui.colors->accent);
}

void draw_prompts_start(Scene& s, Rect area) {
    constexpr float kDown = 0.12f, kLine = 30;
    Ui& ui = s.ui;
    take_top(area, area.h * kDown);
    write(ui, take_top(area, kLine, gap::small), kTitle, ui.colors->t1, "One sentence proves little");
    ui.text.draw_wrapped(
        area.x, area.y, area.w, kBody, ui.colors->t2,
        "Type a template with names in braces and words for each name. Every head or token "
        "is measured in each prompt; its mean and 95 % interval say whether the effect holds "
        "for all of them or for one sentence. The model runs without interventions.");
}

}  // namespace

void draw_prompts_results(Scene& s, Rect area) {
    constexpr float kTitleLine = 32, kSave = 136, kProgressHigh = 38;
    Ui& ui = s.ui;
    const PromptsState& state = s.of<PromptsState>();
    if (!state.sent && state.file.empty()) return draw_prompts_start(s, area);
    const PromptsFound found = prompts_found(s);
    Rect line = take_top(area, kTitleLine, gap::tight);
    const bool any = found.averages && !found.averages->measured.empty();
    if (any && ui.button("save", take_right(line, kSave, gap::medium), "Save figure…")) s.send("save figure");
    write(ui, line, kTitle, ui.colors->t1, averaged_title(state.of, found.metric));
    if (!found.refusal.empty()) {
        ui.text.draw_wrapped(area.x, area.y, area.w, kBody, ui.colors->warning, found.refusal);
        return;
    }
    const PromptAverages* averages = found.averages.get();
    if (!ui.on_page() && !(averages && averages->whole()))
        draw_prompts_progress(s, take_top(area, kProgressHigh, gap::small),
                              averages ? isize(averages->measured) + isize(averages->left) : 0,
                              averages ? averages->count : state.at_most);
    if (!any) return;
    take_top(area, caption_lines(ui, area, averaged_summary(*averages, found.available)), gap::small);
    if (const std::string left = left_out_text(*averages); !left.empty())
        take_top(area, ui.text.draw_wrapped(area.x, area.y, area.w, kCaption, ui.colors->warning, left),
                 gap::small);
    draw_averaged_rows(s, area, averaged_rows(s, *averages));
}

}  // namespace headlight
