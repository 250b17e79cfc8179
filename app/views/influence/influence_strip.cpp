// Draws the scores of tokens, words or sentences as a strip under the maps.
#include <algorithm>
#include <cctype>
#include <cmath>

#include "base/cast.h"
#include "figure/colormap.h"
#include "model/interventions/change.h"
#include "parts/metric.h"
#include "parts/text_entry.h"
#include "views/influence/influence.h"

namespace headlight {

namespace {

constexpr float kPartHigh = 26, kPartLine = 30, kPartPad = 5, kPartApart = 2, kStripToolbar = 36;

void draw_strip_toolbar(Scene& s, Toolbar& bar) {
    auto& state = s.of<InfluenceState>();
    std::vector<std::string> methods;
    for (const InfluenceMethodRow& row : influence_methods()) methods.emplace_back(row.name);
    if (bar.choose("Scores", "influence/method", methods, state.method) &&
        state.method == InfluenceMethod::attribution_patching)
        s.send("compare", "sentences");
    if (state.method == InfluenceMethod::integrated_gradients) {
        if (bar.choose("from", "influence/baseline", {"mean embedding", "zero", "another text"},
                       state.baseline) &&
            state.baseline == InfluenceBaseline::prompt)
            s.send("compare", "sentences");
        const auto now = std::find(kInfluenceSteps.begin(), kInfluenceSteps.end(), state.steps);
        if (const int i = bar.choice("steps", "influence/steps", {"10", "50", "300"},
                                     narrow<int>(now - kInfluenceSteps.begin()));
            i >= 0)
            state.steps = kInfluenceSteps[i];
    }
    bar.choose("by", "influence/parts", {"token", "word", "sentence", "paragraph"}, state.part);
    if (s.sentence()->written && written_tokens(s) > 0)
        bar.choose("for", "influence/over", {"metric", "generated text"}, state.written);
    if (s.model()->has_logits() && !(state.written && written_tokens(s) > 0))
        add_metric_chip(s, "influence", bar, "Metric", metric_text(s));
}

void draw_baseline_field(Scene& s, Rect& rest) {
    constexpr float kName = 84;
    const TokenScoresRequest request = token_scores_request(s);
    if (s.ui.on_page() || !request.how.needs_prompt()) return;
    const bool patches = request.how.method == InfluenceMethod::attribution_patching;
    Rect line = take_top(rest, size::view_header);
    line = inset(line, 0, gap::close);
    write(s.ui, take_left(line, kName, gap::small), kBody, s.ui.colors->t1,
          patches ? "Clean text" : "Baseline");
    draw_text_field(s, s.fields.other, "other", line, "A text with the same number of tokens");
}

/// Compares the sum of scores with what it should be.
std::string completeness(const Scene& s, const Influence& found) {
    const TokenScoresRequest request = token_scores_request(s);
    if (request.how.method == InfluenceMethod::integrated_gradients) {
        const float change = found.value - found.baseline_value;
        return "Completeness: the scores sum to " + number(found.sum, 3) + ", the metric changes by " +
               number(change, 3) + " from the baseline" +
               (std::isnan(found.gap()) ? "" : " (gap " + percent(found.gap()) + ")") + ".";
    }
    if (request.how.method == InfluenceMethod::attribution_patching)
        return "Shares of the change from " + number(found.value, 3) + " here to " +
               number(found.baseline_value, 3) + " in the clean text, summed over layers.";
    if (request.how.method == InfluenceMethod::contribution || request.how.method == InfluenceMethod::rollout)
        return "Shares that sum to " + number(found.sum, 2) + ".";
    return "Sum " + number(found.sum, 3) +
           (s.model()->has_logits() ? ", value " + number(found.value, 3) : "") + ".";
}

/// "log p −5.31, before the interventions −3.02: p × 0.101".
std::string change_of_p(const Scene& s, const Influence& found) {
    const TokenScoresRequest request = token_scores_request(s);
    if (request.how.written == 0) return "";
    if (!s.sentence()->unchanged) return "p = " + percent(std::exp(found.value)) + ". ";
    const float before = found.own_value;
    return "log p " + number(found.value, 2) + ", before the interventions " + number(before, 2) + ": p × " +
           fine_number(std::exp(found.value - before), 3) + ". ";
}

/// Masks this part for all later tokens.
Change mask_of(const Scene& s, const ScoredPart& part) {
    const bool cross = part.stack + 1 < isize(s.sentence()->labels);
    Change out;
    out.kind = ChangeKind::mask;
    out.blocks = cross ? Blocks::cross : Blocks::usual;
    out.query = cross ? 0 : part.tokens.end;
    out.queries = kToEnd;
    out.key = part.tokens.first;
    out.keys = part.tokens.size();
    return out;
}

/// Toggles the mask of a part. Forces the generated tokens, so that they stay the same under the mask.
void mask_part(Scene& s, const ScoredPart& part) {
    const WrittenText& written = *s.sentence()->written;
    const int last = s.sentence()->step - 1;
    if (last >= 0 && isize(s.session.document.generation.forced) <= last)
        s.send("force", std::to_string(last) + "," + std::to_string(written.generation.tokens[last].id));
    s.change(mask_of(s, part), true);
}

void answer_part(Scene& s, Rect r, int i, const ScoredPart& part) {
    const std::string path = "influence/part/" + std::to_string(i);
    const bool masks = token_scores_request(s).how.written > 0;
    const Hit hit = masks ? s.ui.control(path, r) : s.ui.hit(path, r);
    if (!hit.hovered) return;
    s.of<InfluenceState>().part_pointed = i;
    s.ui.frame(r, s.ui.colors->hover, 2, size::corner);
    tooltip_without_inspector(s, path, hit,
                    part.label + "  " + fine_number(part.score, 4) +
                        (masks ? "  (click to mask it for the generated text)" : ""));
    if (hit.clicked && masks) mask_part(s, part);
}

void draw_part(Scene& s, Rect r, const ScoredPart& part, float max, bool is_signed) {
    Ui& ui = s.ui;
    const Colormap& map = is_signed ? signed_colormap(ui.colors->dark)
                                    : colormap(s.session.preferences.colormap, ui.colors->dark);
    const float place = is_signed ? 0.5f + 0.5f * part.score / max : part.score / max;
    const ImU32 back = color_at(map, std::clamp(place, 0.0f, 1.0f));
    ui.fill(r, back, size::corner);
    write(ui, inset(r, kPartPad, 0), kBodyMono, ink_on(back), part.label, Flush::center);
    const auto& changes = s.sentence()->intervention.changes;
    if (!changes.empty() && std::find(changes.begin(), changes.end(), mask_of(s, part)) != changes.end())
        ui.frame(inset(r, -1, -1), ui.colors->accent, 2, size::corner);
}

void draw_parts_of_text(Scene& s, Rect area, const std::vector<ScoredPart>& parts, bool is_signed) {
    Ui& ui = s.ui;
    float max = 1e-12f;
    for (const ScoredPart& part : parts) max = std::max(max, std::abs(part.score));
    std::vector<Rect> places;
    float x = 0, y = 0;
    for (size_t i = 0; i < parts.size(); ++i) {
        const float wide = std::min(ui.text.width(kBodyMono, parts[i].label) + 2 * kPartPad, area.w);
        const bool new_text = i > 0 && parts[i].stack != parts[i - 1].stack;
        if (x > 0 && (new_text || x + wide > area.w)) x = 0, y += kPartLine;
        places.push_back({area.x + x, area.y + y, wide, kPartHigh});
        x += wide + kPartApart;
    }
    auto& state = s.of<InfluenceState>();
    state.strip_scroll = ui.on_page() ? 0 : scrolled(ui, area, y + kPartLine, state.strip_scroll);
    if (!ui.on_page()) state.part_pointed.reset();
    ui.clip(area);
    for (size_t i = 0; i < parts.size(); ++i) {
        Rect r = places[i];
        r.y -= state.strip_scroll;
        if (r.bottom() < area.y || r.y > area.bottom()) continue;
        draw_part(s, r, parts[i], max, is_signed);
        if (r.y >= area.y && r.bottom() <= area.bottom()) answer_part(s, r, narrow<int>(i), parts[i]);
    }
    ui.unclip();
}

}  // namespace

void draw_influence_strip(Scene& s, Rect area) {
    Ui& ui = s.ui;
    Rect rest = area;
    if (!ui.on_page()) {
        Toolbar bar(ui, take_top(rest, kStripToolbar), Toolbar::Lines::many);
        const float before = bar.bottom();
        draw_strip_toolbar(s, bar);
        take_top(rest, bar.bottom() - before);
    }
    draw_baseline_field(s, rest);
    const TokenScores scores = token_scores_found(s);
    if (!scores.refusal.empty()) {
        ui.text.draw_wrapped(rest.x, rest.y + gap::small, rest.w, kBody, ui.colors->t2, scores.refusal);
        return;
    }
    if (!scores.found) return;
    const InfluenceMethodRow& method = row_of(influence_methods(), token_scores_request(s).how.method);
    std::string name = method.name;
    name[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(name[0])));
    const std::string what = name + " for " + explained_name(s) + ". ", fall = change_of_p(s, *scores.found),
                      sum = completeness(s, *scores.found);
    write(ui, take_top(rest, size::row, gap::tight), kCaption, ui.colors->t2,
          first_that_fits(ui, kCaption, {what + fall + sum, fall + sum, fall.empty() ? sum : fall}, rest.w));
    draw_parts_of_text(s, rest, shown_parts(s, *scores.found), method.is_signed);
}

}  // namespace headlight
