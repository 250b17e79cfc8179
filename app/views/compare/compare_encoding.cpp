// Shows what the encoding of a model's weights costs: A and B are one model in two encodings, and each matrix
// and each head of the narrower one is restored in turn.
#include <algorithm>
#include <cmath>

#include "base/cast.h"
#include "base/memory.h"
#include "parts/metric.h"
#include "session/commands/command_rows.h"
#include "session/commands/commands.h"
#include "views/compare/compare.h"
#include "views/tables.h"
#include "views/views.h"

namespace headlight {

namespace {

constexpr const char* kNoModels =
    "An encoding is compared between two models: choose Models above, and the same model in another encoding "
    "as B.";

/// The model whose encoding is measured, and the one that restores it.
struct BothModels {
    const Model *coded, *exact;
};
BothModels models_of(const Scene& s, const EncodingsFound& found) {
    const Model *a = s.model(), *b = s.answer->other->model.get();
    return found.shown_is_coded ? BothModels{a, b} : BothModels{b, a};
}

/// "stories-q8 (4.5 MB) instead of stories (17 MB): KL 0 → 0.0021".
std::string encoding_headline(const Scene& s, const EncodingsFound& found) {
    const EncodingCosts& c = *found.costs;
    const auto [coded, exact] = models_of(s, found);
    const bool percents = shows_percents(c.metric.kind);
    const auto value = [&](const MetricValues& v) {
        return percents ? percent(double(v.probability)) : fine_number(double(v.value), 4);
    };
    return coded->name + " (" + short_bytes(c.coded_bytes) + ") instead of " + exact->name + " (" +
           short_bytes(c.exact_bytes) +
           "): " + (percents ? prediction_label(*exact, c.metric.a) : metric_label(*exact, c.metric)) + " " +
           value(c.exact) + " → " + value(c.coded);
}

/// Says what the bars are, or how far they are measured.
std::string encoding_state(const Scene& s, const EncodingCosts& c) {
    if (!c.whole())
        return "Restored so far: " + std::to_string(c.done) + " of " + std::to_string(c.steps) +
               " matrices and heads.";
    if (c.steps == 0) return "Both hold the same bytes: nothing costs anything.";
    return "Each bar: " + metric_label(*s.model(), c.metric) +
           " now, less its value with this one alone as in the wider encoding.";
}

/// "Q4_0" in the narrower encoding; what it replaces stands in the tooltip.
void draw_cost_row(Scene& s, Rect line, const MatrixCost& m, float largest, float named) {
    constexpr float kFormat = 72, kValue = 84, kBar = 10;
    Ui& ui = s.ui;
    const std::string path = "compare/matrix/" + m.name;
    const Hit h = ui.hit(path, line);
    if (h.hovered) ui.fill(inset(line, -gap::close, 0), ui.colors->bg3, size::corner);
    ui.tooltip(path, h, m.name + ": " + m.format + ", " + short_bytes(m.bytes) + ", for " + m.exact);
    write(ui, take_left(line, named, gap::medium), kBodyMono, ui.colors->t1, m.name);
    write(ui, take_left(line, kFormat, gap::small), kCaptionMono, ui.colors->t3, m.format);
    write(ui, take_right(line, kValue, gap::small), kBodyMono, ui.colors->t1,
          signed_number(double(m.cost), 4), Flush::right);
    ui.signed_bar(band(line, kBar), largest > 0 ? m.cost / largest : 0);
}

void draw_matrices(Scene& s, Rect area, const EncodingCosts& c) {
    constexpr float kRow = 24, kMaxNamed = 230;
    Ui& ui = s.ui;
    Rect title = take_top(area, size::line, gap::small);
    take_left(title, write(ui, title, kBody, ui.colors->t1, "Cost of each matrix"), gap::medium);
    caption(ui, title, std::to_string(c.matrices.size()) + " stored otherwise", Flush::right);
    std::vector<std::string> names;
    float largest = 0;
    for (const MatrixCost& m : c.matrices) {
        names.push_back(m.name);
        largest = std::max(largest, std::abs(m.cost));
    }
    const float named = widest_of(ui, kBodyMono, names, std::min(kMaxNamed, area.w / 2));
    float& offset = s.of<CompareState>().matrix_offset;
    offset = scrolled(ui, area, kRow * float(c.matrices.size()), ui.on_page() ? 0 : offset);
    ui.scroll_area(area);
    for (int i = 0; i < isize(c.matrices); ++i) {
        const Rect line{area.x, area.y + kRow * float(i) - offset, area.w - gap::medium, kRow};
        if (ui.on_page() ? line.bottom() <= area.bottom() : overlap(line, area))
            draw_cost_row(s, line, c.matrices[size_t(i)], largest, named);
    }
    ui.end_scroll_area();
}

/// Draws a grid of values of heads under a title.
void draw_heads_part(Scene& s, Rect area, const char* path, const std::string& title, const char* help,
                     const std::vector<float>& values, bool is_signed) {
    Ui& ui = s.ui;
    const Rect line = take_top(area, size::line, gap::small);
    write(ui, line, kBody, ui.colors->t1, title);
    const std::string named = std::string(path) + "help";
    ui.tooltip(named, ui.hit(named, line), help);
    if (const auto pressed = draw_head_values(s, area, s.model()->config, {values, is_signed, path}))
        s.select(pressed->first, pressed->second);
}

}  // namespace

EncodingsRequest encodings_request(const Scene& s) {
    const Metric& metric = s.session.document.metric.metric;
    return {metric == Metric{} ? Metric{MetricKind::divergence} : metric};
}

bool shows_encodings(const Scene& s) { return s.of<CompareState>().show == ComparedShow::encoding; }

std::string why_no_encodings(const Scene& s) {
    if (s.session.document.comparison.what != Compared::models) return kNoModels;
    if (!s.answer->other || !s.answer->other->model) return "";
    const EncodingsFound found = measured(s, encodings_request(s));
    return found.refusal.empty() && !found.costs ? "Measuring …" : found.refusal;
}

void draw_encodings(Scene& s, Rect area) {
    constexpr float kHeads = 0.44f, kApart = 28;
    Ui& ui = s.ui;
    Rect inside = inset(area, size::center_pad, gap::medium);
    const EncodingsFound found = measured(s, encodings_request(s));
    if (const std::string why = why_no_encodings(s); !why.empty()) {
        ui.text.draw_wrapped(inside.x, inside.y, inside.w, kBody, ui.colors->t2, why);
        ui.name("compare/encoding/why", inside);
        return;
    }
    const EncodingCosts& c = *found.costs;
    take_top(
        inside,
        ui.text.draw_wrapped(inside.x, inside.y, inside.w, kBody, ui.colors->t1, encoding_headline(s, found)),
        gap::tight);
    const Rect state = take_top(inside, size::line, gap::large);
    write(ui, state, kCaption, ui.colors->t3, encoding_state(s, c));
    ui.name("compare/encoding/state", state);
    Rect heads = take_right(inside, inside.w * kHeads, gap::section);
    draw_matrices(s, inside, c);
    const float half = (heads.h - kApart) / 2;
    draw_heads_part(
        s, take_top(heads, half, kApart), "compare/cost/", "Cost of each head",
        "The head’s rows of W_Q, W_K and W_V and its columns of W_O restored; keys and values that "
        "heads share are restored with each of them.",
        c.heads.values(), true);
    draw_heads_part(s, heads, "compare/head/", "Distance of each head, bits",
                    "How far the head’s pattern moved: the mean Jensen–Shannon divergence of its rows.",
                    c.patterns.values(), false);
}

std::vector<NumberTable> encoding_numbers(const Scene& s) {
    const EncodingsFound found = measured(s, encodings_request(s));
    if (!found.costs) return {};
    const EncodingCosts& c = *found.costs;
    std::vector<std::string> names, formats, heads;
    std::vector<float> costs, bytes;
    for (const MatrixCost& m : c.matrices) {
        names.push_back(m.name);
        formats.push_back(m.format + " for " + m.exact);
        costs.push_back(m.cost);
        bytes.push_back(float(m.bytes));
    }
    const ModelConfig& config = s.model()->config;
    for (int i = 0; i < config.head_count(); ++i) heads.push_back(head_path(config, config.head_at(i)));
    NumberTable matrices{"cost of encoding", "matrix",          "",
                         std::move(names),   {"cost", "bytes"}, matrix_of_columns({costs, bytes})};
    matrices.texts = std::move(formats);
    return {std::move(matrices),
            {"cost of encoding of heads",
             "head",
             "",
             std::move(heads),
             {"cost", "distance"},
             matrix_of_columns({c.heads.values(), c.patterns.values()})}};
}

std::vector<Command> compare_commands() {
    const auto open = [](CommandContext& c, const std::string& words) -> Status {
        const HistoryGroup one_step(c.session.document.history);
        c.session.of<CompareState>().show = ComparedShow::encoding;
        if (!words.empty()) {
            c.session.document.compare_with_model(words);
            return success();
        }
        Comparison next = c.session.document.comparison;
        next.what = Compared::models;
        if (next.model.empty()) c.session.sheet = Sheet::compared_models;
        c.session.document.compare(std::move(next));
        return success();
    };
    return {opens_view(
        "compare", also_called("quantization, GGUF, int4, fp8, bits, precision",
                               row({"compare encoding [PATH]", "Compare encodings of one model",
                                    "what the encoding of each matrix and head costs, beside the same model "
                                    "in another encoding"},
                                   open)))};
}

}  // namespace headlight
