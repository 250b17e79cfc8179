// Draws the words in order of their scores, two methods side by side.
#include <algorithm>
#include <cmath>

#include "parts/metric.h"
#include "views/influence/influence.h"

namespace headlight {

namespace {

constexpr float kWordsRow = 26, kWordValue = 76, kWordWithout = 88, kMethodsApart = 32;
constexpr int kListedWords = 11;
constexpr const char* kUnitTitles[] = {"Token", "Word", "Sentence", "Paragraph"};

struct WordColumns {
    Rect name, first, second;  // second: no width without a second method
    bool without;              // a column for the value without the word
};

WordColumns word_columns(Rect line, const ScoredWords& words) {
    constexpr float kName = 128, kNameShare = 0.18f, kFirstShare = 0.5f;
    WordColumns out{};
    out.name = take_left(line, std::max(kName, line.w * kNameShare), gap::small);
    const bool two = words.second_method != nullptr;
    out.first =
        take_left(line, two ? (line.w - kMethodsApart) * kFirstShare : line.w, two ? kMethodsApart : 0);
    out.second = two ? line : Rect{line.x, line.y, 0, line.h};
    out.without = words.first_method->method == InfluenceMethod::leave_out;
    return out;
}

/// Draws the menu of the second method; on a page, its name.
void choose_second(Scene& s, Rect line, const ScoredWords& words) {
    Ui& ui = s.ui;
    auto& state = s.of<InfluenceState>();
    if (ui.on_page()) {
        write(ui, line, kBody, ui.colors->t1, method_title(*words.second_method));
        return;
    }
    std::vector<InfluenceMethod> methods;
    std::vector<std::string> names;
    int now = -1;
    for (const InfluenceMethodRow& row : influence_methods()) {
        if (!s.model()->has_logits() && row.of_metric && row.method != InfluenceMethod::leave_out) continue;
        if (row.method == words.first_method->method && row.method != InfluenceMethod::leave_out) continue;
        if (words.second_method ? row.method == words.second_method->method
                                : row.method == InfluenceMethod::leave_out)
            now = isize(methods);
        methods.push_back(row.method);
        names.push_back(row.method == InfluenceMethod::leave_out ? "none" : row.name);
    }
    float wide = 0;
    const int chosen = ui.drop_down("influence/method", line.x, line.middle_y(), names, now, wide, line.w);
    if (chosen < 0) return;
    state.second = methods[chosen];
    if (state.second == InfluenceMethod::attribution_patching) s.send("compare", "sentences");
}

void write_adds_up(Scene& s, Rect r, const TokenScores& scores, const InfluenceMethodRow& method,
                   float room) {
    Ui& ui = s.ui;
    std::string text = scores.refusal;
    if (scores.found) text = (scores.whole ? "" : "so far: ") + adds_up_text(*scores.found, method.method);
    const bool misses = scores.found && scores.whole && scores.found->misses();
    r.w = room;
    ui.text.draw_wrapped(r.x, r.y, r.w, kCaption, misses ? ui.colors->warning : ui.colors->t2, text);
}

float draw_list_heads(Scene& s, Rect area, const ScoredWords& words) {
    constexpr float kTitleHigh = 30, kUnitHigh = 22;
    Ui& ui = s.ui;
    const WordColumns at = word_columns({area.x, area.y, area.w, kTitleHigh}, words);
    write(ui, at.name, kCaption, ui.colors->t3, row_of(kUnitTitles, s.of<InfluenceState>().part));
    write(ui, at.first, kBody, ui.colors->t1, method_title(*words.first_method));
    float notes = size::line;
    const auto note = [&](Rect column, const TokenScores& scores, const InfluenceMethodRow& method) {
        if (!scores.found && scores.refusal.empty()) return;
        const std::string text =
            scores.found ? "so far: " + adds_up_text(*scores.found, method.method) : scores.refusal;
        notes = std::max(notes, ui.text.wrapped_height(column.w, kCaption, text));
        write_adds_up(s, {column.x, column.bottom(), column.w, 0}, scores, method, column.w);
    };
    if (words.first.found) note(at.first, words.first, *words.first_method);
    if (words.second_method) note(at.second, words.second, *words.second_method);
    if (words.second_method || !ui.on_page())
        choose_second(s, words.second_method ? at.second : Rect{area.right() - 180, area.y, 180, kTitleHigh},
                      words);
    WordColumns units = word_columns({area.x, area.y + kTitleHigh + notes, area.w, kUnitHigh}, words);
    const auto unit = [&](Rect column, const InfluenceMethodRow& method) {
        const std::string lead = method.is_signed ? "adds to " : "of ",
                          word = metric_row(shown_metric(s).kind).word;
        write(ui, column, kCaption, ui.colors->t3,
              method.of_metric
                  ? first_that_fits(ui, kCaption, {lead + explained_name(s), lead + word}, column.w)
                  : "share",
              Flush::right);
    };
    if (units.without && words.first.found)
        write(ui, take_left(units.first, kWordWithout, gap::small), kCaption, ui.colors->t3, "without it");
    unit(units.first, *words.first_method);
    if (words.second_method) unit(units.second, *words.second_method);
    return kTitleHigh + notes + kUnitHigh;
}

/// Draws a bar and a number, pale if the method misses its sum.
void draw_score(Scene& s, Rect r, float score, ScoreRange range, bool is_signed, bool pale) {
    constexpr float kPale = 0.35f;
    Ui& ui = s.ui;
    const Rect value = take_right(r, kWordValue, gap::small);
    const auto toned = [&](ImU32 ink) { return pale ? faded(ink, kPale) : ink; };
    const ImU32 ink = std::isnan(score) ? ui.colors->t3
                      : !is_signed      ? ui.colors->t1
                      : score < 0       ? ui.colors->minus
                                        : ui.colors->plus;
    const int digits = range.largest() < 10 ? 3 : 2;
    write(ui, value, kBodyMono, toned(ink),
          is_signed && !std::isnan(score) ? signed_number(double(score), digits)
                                          : fine_number(double(score), digits),
          Flush::right);
    if (std::isnan(score)) return;
    const Rect track = band(r, size::bar);
    const float all = std::max(range.low + range.high, 1e-12f),
                zero = ui.snapped(track.x + track.w * range.low / all),
                wide = std::max(ui.line(), ui.snapped(track.w * std::abs(score) / all));
    ui.fill({score < 0 ? zero - wide : zero, track.y, wide, track.h}, toned(is_signed ? ink : ui.colors->t3));
    ui.fill({zero, track.y - 3, ui.line(), track.h + 6}, ui.colors->l2);
}

void draw_list_row(Scene& s, Rect row, const ScoredWords& words, int i) {
    constexpr float kNumber = 30;
    Ui& ui = s.ui;
    const ScoredWord& word = words.all[i];
    const bool shown = is_lit_word(s, words, i);
    if (shown)
        ui.fill(inset(row, -gap::tight, 0),
                s.of<InfluenceState>().word == i ? ui.colors->bg3 : ui.colors->accent_fill, size::corner);
    const ImU32 ink = shown ? ui.colors->accent_text : ui.colors->t1;
    WordColumns at = word_columns(row, words);
    if (s.of<InfluenceState>().part == TextPart::token) {
        write(ui, take_left(at.name, kNumber, gap::small), kCaptionMono, ui.colors->t3,
              std::to_string(word.part.tokens.first), Flush::right);
    }
    take_left(at.name,
              write(ui, at.name, kBodyMono, ink,
                    word.part.label + (is_masked_word(s, word.part) ? "  masked" : "")),
              gap::small);
    write(ui, at.name, kCaption, ui.colors->t3,
          first_that_fits(ui, kCaption, {side_of_word(s, word), ""}, at.name.w));
    if (at.without) {
        const Rect value = take_left(at.first, kWordWithout, gap::small);
        if (word.left)
            write(ui, value, kBodyMono, shown ? ui.colors->accent_text : ui.colors->t2,
                  explained_value(s, word.left->without));
    }
    if (i == words.asks)
        write(ui, at.first, kCaption, ui.colors->t3, "predicts from here", Flush::right);
    else
        draw_score(s, at.first, word.first, words.first_range, words.first_method->is_signed, false);
    if (words.second_method)
        draw_score(s, at.second, word.second, words.second_range, words.second_method->is_signed,
                   words.pale());
}

/// Draws "6 more words, each within ±0.004", a link that unfolds them.
void draw_more(Scene& s, Rect line, const ScoredWords& words, int listed) {
    Ui& ui = s.ui;
    auto& state = s.of<InfluenceState>();
    const int rest = isize(words.order) - listed;
    const std::string unit = std::string(word_unit(s)) + (rest == 1 ? "" : "s");
    const float most = listed < isize(words.order) ? words.shown(words.order[listed]) : 0;
    const std::string within =
        std::isnan(most) ? ""
                         : (rest == 1 ? ", within ±" : ", each within ±") + fine_number(std::abs(most), 3);
    const std::string text = state.lists_all ? "Show fewer" : std::to_string(rest) + " more " + unit + within;
    if (ui.on_page())
        write(ui, line, kCaption, ui.colors->t3, text);
    else if (ui.link("influence/more", line.x + ui.text.width(kCaption, text), line.middle_y(), text))
        state.lists_all = !state.lists_all;
}

}  // namespace

float draw_word_list(Scene& s, Rect area, const ScoredWords& words) {
    Ui& ui = s.ui;
    ui.hairline(area.x, area.y, area.right(), area.y);
    float high = gap::small;
    high += draw_list_heads(s, {area.x, area.y + high, area.w, 0}, words);
    int listed = isize(words.order);
    const bool known = words.first.found || words.ranks_by_second();
    if (!known) return high;
    const bool folds = listed > kListedWords + 1 && !s.of<InfluenceState>().lists_all;
    if (folds) listed = kListedWords;
    if (ui.on_page()) {
        constexpr int kOverMaps = 4;
        const int fitting = int_of((area.h - high - kWordsRow - size::line) / kWordsRow);
        const bool maps = s.of<InfluenceState>().maps != InfluenceMaps::none;
        const int asking = words.asks >= 0 ? 1 : 0;
        listed = std::min(isize(words.order), maps ? kOverMaps : std::max(1, fitting - asking));
    }
    std::vector<int> rows(words.order.begin(), words.order.begin() + listed);
    if (words.asks >= 0) rows.push_back(words.asks);
    for (int i = 0; i < isize(rows); ++i) {
        const Rect row{area.x, area.y + high + kWordsRow * float(i), area.w, kWordsRow};
        if (!ui.in_sight(row)) continue;
        draw_list_row(s, row, words, rows[i]);
        answer_word(s, words, rows[i], row, "influence/word/" + std::to_string(rows[i]));
    }
    const float right = word_columns({area.x, area.y, area.w, kWordsRow}, words).second.x - kMethodsApart / 2;
    if (words.second_method)
        ui.fill({ui.snapped(right), area.y + gap::small, ui.line(),
                 high + kWordsRow * float(rows.size()) - gap::small},
                ui.colors->l1);
    high += kWordsRow * float(rows.size());
    if (listed < isize(words.order) || s.of<InfluenceState>().lists_all) {
        draw_more(s, {area.x, area.y + high, area.w, kWordsRow}, words,
                  ui.on_page() ? listed : std::min(listed, kListedWords));
        high += kWordsRow;
    }
    return high;
}

}  // namespace headlight
