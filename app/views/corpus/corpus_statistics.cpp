// A head's statistics over many texts, each among those of all heads; and the kinds of tokens that it links.
#include <algorithm>
#include <cmath>

#include "paint/matrix.h"
#include "parts/map_parts.h"
#include "parts/token_axis.h"
#include "views/corpus/corpus.h"

namespace headlight {

namespace {

constexpr float kStatisticHead = 30, kStatisticNames = 132, kRankNumbers = 66;

/// The range of a statistic's means over all heads.
struct MeanRange {
    double low = 0, high = 0;
    float place(double value) const {
        return high > low ? std::clamp(float((value - low) / (high - low)), 0.0f, 1.0f) : 0.5f;
    }
};

MeanRange range_of_means(const Dossier& d, int statistic) {
    MeanRange out{1e30, -1e30};
    for (const HeadDossier& head : d.heads) {
        const double mean = head.statistics[statistic].mean;
        if (std::isnan(mean)) continue;
        out.low = std::min(out.low, mean);
        out.high = std::max(out.high, mean);
    }
    return out;
}

/// "3 of 32": how many heads have a more telling mean, and how many have one.
std::string rank_text(const Dossier& d, int statistic, double mean) {
    int known = 0, before = 0;
    for (const HeadDossier& head : d.heads) {
        const double other = head.statistics[statistic].mean;
        if (std::isnan(other)) continue;
        ++known;
        before += head_statistics()[statistic].ascending ? other < mean : other > mean;
    }
    return std::to_string(before + 1) + " of " + std::to_string(known);
}

/// The head whose mean is nearest to a place on the strip.
int head_near(const Dossier& d, int statistic, const MeanRange& range, float place) {
    int out = -1;
    float min = 1e9f;
    for (int i = 0; i < isize(d.heads); ++i) {
        const double mean = d.heads[i].statistics[statistic].mean;
        const float apart = std::abs(range.place(mean) - place);
        if (std::isnan(mean) || apart >= min) continue;
        min = apart;
        out = i;
    }
    return out;
}

/// A mark for each head; this one's mean, and one deviation to either side.
void draw_spread(Scene& s, Rect strip, const Dossier& d, int statistic, const MeanRange& range) {
    constexpr float kMark = 1.5f, kDot = 5, kDeviation = 4;
    Ui& ui = s.ui;
    const StatisticOverTexts& own = d.heads[chosen_head(s)].statistics[statistic];
    const auto x = [&](double value) { return strip.x + strip.w * range.place(value); };
    ui.fill(band(strip, ui.line()), ui.colors->l2);
    for (const HeadDossier& head : d.heads) {
        const double mean = head.statistics[statistic].mean;
        if (!std::isnan(mean))
            ui.fill({x(mean) - kMark / 2, strip.y, kMark, strip.h}, faded(ui.colors->t2, 0.45f));
    }
    if (std::isnan(own.mean)) return;
    if (!std::isnan(own.deviation)) {
        const float from = x(own.mean - own.deviation), to = x(own.mean + own.deviation);
        ui.fill({from, strip.middle_y() - kDeviation / 2, to - from, kDeviation},
                faded(ui.colors->accent, 0.55f), 2);
    }
    ui.disc({x(own.mean), strip.middle_y()}, kDot + 1.5f, ui.colors->bg1);
    ui.disc({x(own.mean), strip.middle_y()}, kDot, ui.colors->accent);
}

/// The head under the mouse is named; a press chooses it.
void answer_spread(Scene& s, Rect strip, const Dossier& d, int statistic, const MeanRange& range) {
    const std::string path = std::string("corpus/spread/") + head_statistics()[statistic].key;
    const Hit hit = s.ui.hit(path, inset(strip, 0, -gap::tight));
    if (!hit.hovered) return;
    const int near = head_near(d, statistic, range, (hit.mouse.x - strip.x) / strip.w);
    if (near < 0) return;
    const ModelConfig& c = s.model()->config;
    const AttentionHead h = c.head_at(near);
    const StatisticOverTexts& value = d.heads[near].statistics[statistic];
    const float x = strip.x + strip.w * range.place(value.mean);
    s.ui.fill({x - 1, strip.y - 2, 2, strip.h + 4}, s.ui.colors->hover);
    s.ui.tooltip(path + "/" + head_path(c, h), hit,
                 "Head " + head_name(c, h) + ": " + number(value.mean, 3) + " ± " +
                     number(value.deviation, 3) + ". Press to choose it.",
                 0);
    if (!hit.clicked) return;
    s.select(h.block, h.head);
    s.leave_text();
}

/// Where the parts of a statistic's line stand; narrow ones have no room for the rank.
struct StatisticLine {
    Rect name, strip, numbers, rank;
};

StatisticLine statistic_line(Rect line) {
    constexpr float kNarrow = 480, kMeanNumbers = 148, kFewer = 128;
    StatisticLine out;
    const bool narrow = line.w < kNarrow;
    out.name = take_left(line, kStatisticNames, gap::small);
    if (!narrow) out.rank = take_right(line, kRankNumbers);
    out.numbers = take_right(line, narrow ? kFewer : kMeanNumbers, gap::small);
    out.strip = inset(line, gap::small, 0);
    return out;
}

void draw_statistic_over_texts(Scene& s, Rect line, const Dossier& d, int statistic) {
    constexpr float kStripHigh = 14;
    Ui& ui = s.ui;
    const HeadStatistic& row = head_statistics()[statistic];
    const StatisticOverTexts& own = d.heads[chosen_head(s)].statistics[statistic];
    const StatisticLine at = statistic_line(line);
    write(ui, at.name, kBody, ui.colors->t2, row.label);
    ui.tooltip("number/" + std::string(row.label), ui.over(at.name), row.definition);
    const bool known = !std::isnan(own.mean);
    write(ui, at.rank, kCaption, ui.colors->t3, known ? rank_text(d, statistic, own.mean) : "", Flush::right);
    const int digits = *row.unit ? 2 : 3;
    write(ui, at.numbers, kCaptionMono, ui.colors->t1,
          known ? number(own.mean, digits) + " ± " + number(own.deviation, digits) : "—", Flush::right);
    const MeanRange range = range_of_means(d, statistic);
    const Rect strip = band(at.strip, kStripHigh);
    draw_spread(s, strip, d, statistic, range);
    answer_spread(s, strip, d, statistic, range);
}

std::vector<std::string> kind_names() {
    std::vector<std::string> out;
    for (const TokenKindRow& row : token_kinds()) out.emplace_back(row.word);
    return out;
}

void answer_kinds(Scene& s, const Grid& g, const Matrix& links) {
    const Hit hit = s.ui.hit("corpus/kinds", g.view);
    if (!hit.hovered) return;
    const auto [from, to] = g.at(hit.mouse);
    if (std::isnan(links(from, to))) return;
    s.ui.frame(inset(g.cell(from, to), -1, -1), s.ui.colors->hover, 2);
    const std::string text = std::string("From “") + token_kinds()[from].word + "” (" +
                             token_kinds()[from].help + ") to “" + token_kinds()[to].word + "” (" +
                             token_kinds()[to].help + "): " + percent(links(from, to)) + " of the weight.";
    s.ui.tooltip("corpus/kinds/" + std::to_string(from * kTokenKinds + to), hit, text, 0);
}

}  // namespace

float corpus_statistics_height(float room) {
    constexpr float kRow = 34, kLowRow = 26, kLow = 620;
    return kStatisticHead + (room < kLow ? kLowRow : kRow) * float(kStatistics);
}

void draw_corpus_statistics(Scene& s, Rect area, const Dossier& d) {
    Ui& ui = s.ui;
    const StatisticLine head = statistic_line(take_top(area, kStatisticHead));
    caption(ui, head.name, "Statistic");
    caption(ui, head.rank, "rank", Flush::right);
    caption(ui, head.numbers, "mean ± deviation", Flush::right);
    caption(ui, head.strip,
            first_that_fits(ui, kCaption, {"this head among all", "among all"}, head.strip.w));
    for (int i = 0; i < kStatistics; ++i) draw_statistic_over_texts(s, nth_row(area, i, kStatistics), d, i);
}

void draw_corpus_kinds(Scene& s, Rect area, const Dossier& d) {
    constexpr float kHeading = 26, kRowNames = 124, kCell = 58, kLeastCell = 14;
    Ui& ui = s.ui;
    const Matrix& links = d.heads[chosen_head(s)].links;
    caption(
        ui, take_top(area, kHeading),
        first_that_fits(ui, kCaption,
                        {"Which kinds of tokens it links: the mean share of each row’s weight",
                         "Kinds of tokens it links: share of each row’s weight", "Kinds of tokens it links"},
                        area.w));
    const std::vector<std::string> names = kind_names();
    const float slant = names_height(Lean::slanted, widest_of(ui, kCaptionMono, names));
    Rect room = area;
    take_left(room, kRowNames);
    take_top(room, slant);
    const float high = std::min(room.h / kTokenKinds, kCell * 0.7f),
                wide = std::min(room.w / (kTokenKinds + 1), kCell);
    if (high < kLeastCell) return;
    const Grid g = grid_at(room.min(), kTokenKinds, kTokenKinds, wide, high);
    const Colormap& map = colormap(s.session.preferences.colormap, ui.colors->dark);
    draw_matrix(ui, g.whole(), {places_of(links, 1), map});
    for (int from = 0; from < kTokenKinds; ++from)
        for (int to = 0; to < kTokenKinds; ++to)
            if (const float v = links(from, to); !std::isnan(v))
                write(ui, g.cell(from, to), kCaptionMono, ink_on(color_at(map, std::clamp(v, 0.0f, 1.0f))),
                      number(v, 2), Flush::center);
    const auto name = [&](int i) { return names[i]; };
    TokenAxis rows{name};
    rows.room = kRowNames - gap::small;
    rows.draw_rows(ui, g);
    TokenAxis columns{name};
    columns.lean = Lean::slanted;
    columns.draw_columns(ui, g);
    answer_kinds(s, g, links);
}

}  // namespace headlight
