// Draws a head's statistics over many texts among those of all heads, and the kinds of tokens it links.
#include <algorithm>
#include <cmath>

#include "parts/matrix_view.h"
#include "views/corpus/corpus.h"

namespace headlight {

namespace {

constexpr float kStatisticHead = 30, kStatisticNames = 132, kRankNumbers = 66;

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

/// "3 of 32": the rank of the head's mean.
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

/// The head whose mean is nearest to a position on the strip.
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

/// Draws a mark for each head, and this head's mean ± deviation.
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

/// Names the hovered head; click selects it.
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
                     number(value.deviation, 3) + ". Click to select it.",
                 0);
    if (!hit.clicked) return;
    s.select(h.block, h.head);
    s.leave_text();
}

/// Parts of a statistic's line; a narrow one has no rank.
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

/// The mean share of each row's weight, from query kind to key kind.
MatrixView kinds_matrix(const Scene& s, const Matrix& links, const std::vector<std::string>& names) {
    constexpr float kCell = 58, kRowNames = 120;
    const auto kind = [](int i) {
        return std::string("“") + token_kinds()[i].word + "” (" + token_kinds()[i].help + ")";
    };
    return {.path = "corpus/kinds",
            .cells = {places_of(links, 1), colormap(s.session.preferences.colormap, s.ui.colors->dark)},
            .rows = {.name = names_of(names), .title = "from", .room = kRowNames},
            .columns = {.name = names_of(names), .title = "to", .room = kRowNames},
            .max_w = kCell,
            .max_h = kCell * 0.7f,
            .number = [&links](int from, int to) { return number(links(from, to), 2); },
            .tip =
                [&links, kind](int from, int to) {
                    if (std::isnan(links(from, to))) return std::string();
                    return "From " + kind(from) + " to " + kind(to) + ": " + percent(links(from, to)) +
                           " of the weight.";
                }};
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
    constexpr float kHeading = 26, kLeastCell = 14;
    caption(s.ui, take_top(area, kHeading),
            first_that_fits(
                s.ui, kCaption,
                {"Kinds of tokens it links: mean share of each row’s weight", "Kinds of tokens it links"},
                area.w));
    const std::vector<std::string> names = kind_names();
    MatrixView view = kinds_matrix(s, d.heads[chosen_head(s)].links, names);
    const MatrixLayout l = arrange_matrix(s.ui, area, view);
    if (l.grid.h < kLeastCell) return;
    answer_matrix(s, l, view);
    draw_matrix_view(s, l, view);
}

}  // namespace headlight
