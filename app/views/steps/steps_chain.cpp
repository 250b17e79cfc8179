#include "views/steps/steps_chain.h"

#include <algorithm>

#include "model/engine.h"
#include "parts/controls.h"
#include "parts/score_pairs.h"

namespace headlight {

namespace {

constexpr float kLeastStage = 30, kMaxStage = 44, kLeastStrip = 20, kStageName = 96, kStageMeasure = 88,
                kSideTitle = 26, kMeetingHigh = 34, kPanelShare = 0.4f, kPanelHigh = 260;

bool is_of_query(ChainStep step) { return step <= ChainStep::q_rotated; }
bool is_of_key(ChainStep step) { return step > ChainStep::q_rotated && step <= ChainStep::v; }

std::string help_of(const ChainStage& stage, int dimension, float value) {
    return stage.name + ", entry " + std::to_string(dimension) + ": " + number(value, 3) + ". " +
           stage.formula + ". Click to see how it is computed.";
}

/// Draws a stage's name, vector and norm; a click chooses the entry under the mouse.
void draw_stage(Scene& s, const Found<BlockChainRequest>& found, const ChainStage& stage, Rect line) {
    Ui& ui = s.ui;
    auto& state = s.of<StepsState>();
    const ChainEntry& entry = found.answer.entry;
    const bool chosen = entry.step == stage.step,
               source = entry.from == stage.step && entry.how != ChainEntry::How::given && !chosen;
    if (chosen || source)
        ui.fill(inset(line, -gap::small, 1), chosen ? ui.colors->accent_fill : ui.colors->bg2, size::corner);
    const ImU32 ink = chosen ? ui.colors->accent_text : is_of_key(stage.step) ? ui.colors->t1 : ui.colors->t2;
    write(ui, take_left(line, kStageName, gap::small), kCaptionMono, ink, stage.name);
    write(ui, take_right(line, kStageMeasure, gap::small), kCaptionMono, ui.colors->t3,
          "‖·‖ " + number(stage.values.norm(), 2), Flush::right);
    const Rect cells = band(line, line.h - (kLeastStage - kLeastStrip));
    draw_cells_of(ui, cells, stage.values);
    const auto n = isize(stage.values);
    const Grid g{cells, 1, n, cells.w / float(n), cells.h};
    if (stage.step >= ChainStep::heads && stage.step <= ChainStep::gated) {  // frames the chosen head's part
        const auto width = float(full_config(*s.model()).d_value(found.asked.block)) * g.w;
        ui.frame({cells.x + width * float(found.asked.head), cells.y - 2, width, cells.h + 4}, ui.colors->t2);
    }
    if (chosen)
        ui.frame({g.x(entry.dimension) - 1, cells.y - 2, std::max(g.w, 3.0f) + 1, cells.h + 4},
                 ui.colors->accent, 2);
    const std::string path = "steps/stage/" + std::to_string(static_cast<int>(stage.step));
    const Hit hit = ui.control(path, cells);
    if (!hit.hovered && !hit.clicked) return;
    const int at = hit.hovered ? g.column_at(hit.mouse.x) : -1;
    if (at >= 0) ui.tooltip(path, hit, help_of(stage, at, stage.values[at]));
    if (!hit.clicked) return;
    state.stage = stage.step;
    state.entry = at;
    s.leave_text();
}

/// Draws the stages of one side below its title; returns their height.
float draw_side(Scene& s, const Found<BlockChainRequest>& found, Rect place, const std::string& title,
                const std::string& formula, float stage_high, bool (*belongs)(ChainStep)) {
    Rect rest = place;
    Rect line = take_top(rest, kSideTitle);
    take_left(line, write(s.ui, line, kCaptionMono, s.ui.colors->accent_text, title), gap::medium);
    caption(s.ui, line, formula);
    for (const ChainStage& stage : found.answer.stages)
        if (belongs(stage.step)) draw_stage(s, found, stage, take_top(rest, stage_high));
    return rest.y - place.y;
}

/// Draws the line where query and key become a weight of v.
void draw_weight_line(Scene& s, Rect line, const Found<BlockChainRequest>& found) {
    Ui& ui = s.ui;
    ui.hairline(line.x, line.middle_y(), line.right(), line.middle_y());
    const BlockChain& chain = found.answer;
    const std::string way = chain.weights_by == WeightsBy::given      ? "frozen pattern"
                            : chain.weights_by == WeightsBy::heaviest ? "q·k → largest score only"
                            : chain.temperature != 1 ? "q·k " + divided_by(chain.temperature) + " → softmax"
                                                     : "q·k → softmax";
    const std::string text = way + ": weight " + number(chain.weight, 3) + " × v";
    const float wide = ui.text.width(kCaption, text) + 2 * gap::medium;
    const Rect box = square_at(line.middle(), wide);
    const Rect label = band({box.x, line.y, wide, line.h}, size::line);
    ui.fill(label, ui.colors->bg1);
    write(ui, label, kCaption, ui.colors->t2, text, Flush::center);
}

/// Returns the height at which all stages fill the room.
float stage_height(const BlockChain& chain, float room) {
    int query = 0, key = 0, after = 0;
    for (const ChainStage& stage : chain.stages)
        ++(is_of_query(stage.step) ? query : is_of_key(stage.step) ? key : after);
    const float free = room - 2 * kSideTitle - kMeetingHigh - gap::medium;
    return std::clamp(free / float(std::max(query, key) + after), kLeastStage, kMaxStage);
}

/// Draws all stages; returns their height.
float draw_chain_stages(Scene& s, const Found<BlockChainRequest>& found, Rect place) {
    const BlockChainRequest& w = found.asked;
    const auto& queries = s.query_labels();
    const auto& keys = s.key_labels();
    Rect rest = place;
    const float high = stage_height(found.answer, place.h);
    const float query = draw_side(s, found, nth_column(rest, 0, 2, gap::section), token_at(queries, w.query),
                                  "query", high, is_of_query),
                key = draw_side(s, found, nth_column(rest, 1, 2, gap::section), token_at(keys, w.key),
                                "key and value", high, is_of_key),
                before = std::max(query, key);
    take_top(rest, before);
    draw_weight_line(s, take_top(rest, kMeetingHigh), found);
    const float after = draw_side(s, found, rest, token_at(queries, w.query), "weighted values to output",
                                  high, [](ChainStep step) { return step >= ChainStep::z; });
    return before + kMeetingHigh + after;
}

std::string row_name(const ChainEntry& e) { return "row " + std::to_string(e.dimension); }

}  // namespace

namespace {

/// Describes how an entry was made, if neither by a matrix nor by the user.
std::string made_by(const ChainEntry& e, const ChainStage& from) {
    switch (e.how) {
        case ChainEntry::How::norm:
            return std::string("(x − mean) ÷ deviation · γ") + (e.bias ? " + β" : "");
        case ChainEntry::How::rotated:
            return "rotated with its partner by an angle set by the position";
        case ChainEntry::How::weighted:
            return "the sum of weight · v over all keys";
        case ChainEntry::How::joined:
            return "z of head " + std::to_string(e.dimension / isize(from.values));
        case ChainEntry::How::sum:
            return "the block’s input plus its output";
        case ChainEntry::How::product:
            return "z times g";
        case ChainEntry::How::given:
        case ChainEntry::How::matrix:
            break;
    }
    return "";
}

}  // namespace

StripPanel chain_panel(const Found<BlockChainRequest>& found) {
    const ChainEntry& e = found.answer.entry;
    const ChainStage& stage = *found.answer.find(e.step);
    const std::string entry =
        stage.name + " at " + std::to_string(e.dimension) + " is " + number(e.value, 3) + ": ";
    StripPanel out;
    out.whole = strip_of(stage.name, stage.values, "‖·‖");
    if (e.how == ChainEntry::How::given) {
        out.heading = entry + stage.formula;
        out.strips = {*out.whole};
        return out;
    }
    const ChainStage& from = *found.answer.find(e.from);
    if (e.how == ChainEntry::How::matrix) {
        out.heading = entry + row_name(e) + " of " + e.matrix + " times " + from.name +
                      (e.bias ? ", plus its bias" : "");
        out.strips = {strip_of(row_name(e), e.row, "‖·‖"), strip_of(from.name, from.values, "‖·‖"),
                      product_strip("w × x", e.row.cwiseProduct(from.values), "Σ")};
        out.matrix = &e.picture;
        out.row = e.dimension;
        return out;
    }
    out.heading = entry + made_by(e, from);
    out.strips = {strip_of(from.name, from.values, "‖·‖"), *out.whole};
    if (e.how == ChainEntry::How::product) {
        out.strips.insert(out.strips.begin() + 1,
                          strip_of("g", found.answer.find(ChainStep::gate)->values, "‖·‖"));
        out.strips.back().product = true;
    }
    if (e.how == ChainEntry::How::sum)
        out.strips.insert(out.strips.begin() + 1, strip_of("attn_out", stage.values - from.values, "‖·‖"));
    return out;
}

void draw_chain(Scene& s, Rect area) {
    const auto* found = s.found<BlockChainRequest>();
    if (!found) return;
    const StripPanel panel = chain_panel(*found);
    Rect rest = area;
    const Rect foot = take_bottom(rest, std::min(kPanelHigh, area.h * kPanelShare));
    float& hidden = s.of<StepsState>().chain_hidden;
    s.ui.scroll_area(rest);
    const Rect inside = inset(rest, size::center_pad, 0);
    const float high = draw_chain_stages(s, *found, {inside.x, inside.y - hidden, inside.w, inside.h});
    s.ui.end_scroll_area();
    hidden = scrolled(s.ui, rest, high + gap::small, hidden);
    draw_vector_strips(s, foot, panel);
}

void draw_chain_arithmetic(Scene& s, SidePanel& c, const Found<BlockChainRequest>& found) {
    const ChainEntry& e = found.answer.entry;
    const ChainStage& stage = *found.answer.find(e.step);
    const std::string at = std::to_string(e.dimension);
    if (!c.fold("Arithmetic", stage.name + " at " + at)) return;
    if (e.how == ChainEntry::How::matrix) {
        const float sum = e.row.dot(found.answer.find(e.from)->values);
        c.pair(e.matrix + " " + row_name(e) + " · x", number(sum, 3));
        if (e.bias) c.pair("+ bias", number(*e.bias, 3));
    } else if (e.how == ChainEntry::How::norm) {
        const float x = found.answer.find(e.from)->values[e.dimension];
        c.pair("x", number(x, 3));
        if (full_config(*s.model()).norm == NormKind::layer_norm) c.pair("− mean", number(e.mean, 3));
        c.pair("÷ deviation", number(e.deviation, 3));
        c.pair("× γ", number(e.weight, 3));
        if (e.bias) c.pair("+ β", number(*e.bias, 3));
    } else if (e.how == ChainEntry::How::sum) {
        c.pair("E", number(e.term, 3));
        c.pair("+ attn_out", number(e.added, 3));
    } else if (e.how == ChainEntry::How::product) {
        c.pair("z", number(e.term, 3));
        c.pair("× g", number(e.added, 3));
    }
    c.pair(e.how == ChainEntry::How::given ? stage.formula : "=", number(e.value, 3), Column::Pair::emphasis);
}

std::vector<NumberTable> chain_numbers(const Found<BlockChainRequest>& found) {
    std::vector<NumberTable> out;
    for (const ChainStage& stage : found.answer.stages)
        out.push_back({stage.name + " (" + stage.formula + ")" +
                           (is_of_key(stage.step) ? " of key " + std::to_string(found.asked.key)
                                                  : " of query " + std::to_string(found.asked.query)),
                       "dimension",
                       "vector",
                       counted(stage.values.size()),
                       {stage.name},
                       Matrix(stage.values)});
    const ChainEntry& e = found.answer.entry;
    if (e.how != ChainEntry::How::matrix) return out;
    const Vector& x = found.answer.find(e.from)->values;
    Matrix made(x.size(), 3);
    made << e.row, x, e.row.cwiseProduct(x);
    out.push_back({e.matrix + " " + row_name(e),
                   "dimension",
                   "vector",
                   counted(x.size()),
                   {"weight", "x", "product"},
                   std::move(made)});
    return out;
}

}  // namespace headlight
