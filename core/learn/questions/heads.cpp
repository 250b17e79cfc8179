// Asks where heads look: stations whose pages show rows of weights.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>

#include "analysis/prediction/predict.h"
#include "base/quoted.h"
#include "learn/page_parts.h"
#include "learn/questions/ask.h"
#include "learn/questions/parts.h"

namespace headlight::learn {

namespace {

const BarRows::Row* bar_titled(const BarRows& bars, const std::string& title) {
    for (const BarRows::Row& row : bars.rows)
        if (row.title == title) return &row;
    return nullptr;
}

float largest_value(const BarRows::Row& row) {
    float out = 0;
    for (const float w : row.values)
        if (w > out) out = w;
    return out;
}

/// Hides the query's own word, and later repeats of others with equal shares, which no one can tell apart.
void hide_repeats(AskedRow& row) {
    constexpr float kEqual = 1e-5f, kNothing = std::numeric_limits<float>::quiet_NaN();
    const AskedRow all = row;
    for (int key = 0; key < isize(row.keys); ++key) {
        bool hidden = row.keys[key] == row.keys[row.query];
        for (int before = 0; before < key; ++before)
            hidden = hidden || (row.keys[before] == row.keys[key] &&
                                std::abs(all.shares[before] - all.shares[key]) < kEqual);
        if (hidden) row.shares[key] = kNothing;
    }
}

/// The probabilities that two runs give what comes next.
struct NextWords {
    int at = 0;
    std::vector<Prediction> before, after;
};

std::string masked_cell(int query, int key) {
    return "mask:" + std::to_string(query) + ">" + std::to_string(key) + "@*";
}

/// Runs the text again without a cell, in all heads.
Result<NextWords> without_cell(const StationInput& in, int query, int key, ThreadPool& pool) {
    ForwardRequest request = in.trace->request;
    TRY(Change change, parse_change(in.trace->config(), masked_cell(query, key)));
    request.intervention.changes.push_back(std::move(change));
    TRY(const auto run, run_trace(in.trace->model, std::move(request), pool, in.cancel, in.trace));
    constexpr int kListed = 4;
    NextWords out{query, {}, {}};
    out.before = predictions(*in.trace, query, kListed, pool);
    out.after = predictions(*run, query, kListed, pool);
    return out;
}

bool predicts_at(const StationInput& in, int query) {
    if (!in.trace->model->has_logits() || isize(in.trace->config().stacks) > 1) return false;
    const std::vector<int> places = predicting_positions(*in.trace);
    return std::find(places.begin(), places.end(), query) != places.end();
}

/// "What will the model say if “red” cannot see that “ball”?"
Result<std::optional<PageQuestion>> ask_without(const StationInput& in, const AskedRow& row,
                                                ThreadPool& pool) {
    const int key = row.largest();
    if (key < 0 || row.query < 0 || key == row.query || !predicts_at(in, row.query))
        return std::optional<PageQuestion>();
    TRY(const NextWords next, without_cell(in, row.query, key, pool));
    const Model& model = *in.trace->model;
    PageQuestion q{.text = "What will the model say if " + said(row.keys[row.query]) + " cannot see " +
                           said_at(row.keys, key) + "?",
                   .will_see = "What it says with and without that one cell, masked in all heads."};
    const auto reason = [&](int id) -> std::string {
        for (int i = 0; i < isize(next.before); ++i)
            if (next.before[i].id == id)
                return i == 0 ? "as before" : "number " + std::to_string(i + 1) + " before";
        return "less likely before";
    };
    std::vector<Prediction> offered = next.after;
    offered.resize(std::min<size_t>(offered.size(), 3));
    if (std::none_of(offered.begin(), offered.end(), [&](auto& p) { return p.id == next.before[0].id; })) {
        const auto found = std::find_if(next.after.begin(), next.after.end(),
                                        [&](auto& p) { return p.id == next.before[0].id; });
        offered.push_back({next.before[0].id, found == next.after.end() ? 0 : found->probability});
    }
    std::sort(offered.begin(), offered.end(), [](auto& a, auto& b) { return a.id < b.id; });
    for (const Prediction& p : offered)
        q.cards.push_back({.label = prediction_label(model, p.id),
                           .reason = reason(p.id),
                           .value = double(p.probability),
                           .shown = share_text(double(p.probability))});
    mark_largest(q);
    const Prediction &was = next.before[0], &is = next.after[0];
    q.finding = "Without that cell it says " + said(prediction_label(model, is.id)) + ", " +
                share_text(double(is.probability)) + ".";
    q.why = "With it: " + said(prediction_label(model, was.id)) + ", " + share_text(double(was.probability)) +
            ". The cell is masked in all heads; the word may still reach the end through others.";
    return std::optional(std::move(q));
}

}  // namespace

Questions ask_no_weights(const StationInput&, const NoWeightsState&, const Page& page, ThreadPool&) {
    AskedRow row = marked_row(find_grid(page, "Weights A"));
    if (row.query < 0 || isize(row.keys) < 2) return std::vector<PageQuestion>();
    const std::string asker = said(row.keys[row.query]);
    double own = 0;
    for (int key = 0; key < isize(row.keys); ++key)
        if (row.keys[key] == row.keys[row.query]) own += double(row.shares[key]);
    hide_repeats(row);
    PageQuestion q =
        which_key(row, "No matrix is learned. Which other word will " + asker + " take most from?");
    const int best = row.largest();
    q.finding = asker + " gives itself and its repeats " + share_text(own) + " of the weight";
    q.finding += best < 0 ? "."
                          : ", and of the others most, " + share_text(double(row.shares[best])) + ", to " +
                                said(row.keys[best]) + ".";
    return std::vector<PageQuestion>{std::move(q)};
}

Questions ask_qkv(const StationInput& in, const QkvState& state, const Page& page, ThreadPool& pool) {
    const AskedRow row = marked_row(find_grid(page, "Weights A"));
    if (row.query < 0 || isize(row.keys) < 2) return std::vector<PageQuestion>();
    std::vector<PageQuestion> out{
        which_key(row, "Which word will " + said(row.keys[row.query]) + " look at most?")};
    const bool own = !state.small && state.query == MatrixSource::head && state.key == MatrixSource::head;
    if (!own || !in.trace || !in.trace->has_weights() || !one_text(in)) return out;
    TRY(auto second, ask_without(in, row, pool));
    if (second) out.push_back(std::move(*second));
    return out;
}

Questions ask_scores(const StationInput& in, const ScoreFunctionsState& state, const Page& page,
                     ThreadPool&) {
    const BarRows* bars = first_bars(page);
    if (!bars || isize(bars->rows) < 4) return std::vector<PageQuestion>();
    const int asking = row_of_bars(*bars, bars->rows[0], one_text(in)).query;
    const std::string asker = asking >= 0 ? said(bars->columns[asking]) : "the query";
    PageQuestion q{
        .text = "The same words, four formulas. Which will let " + asker + " look most at one word?",
        .will_see = "One row of bars for each formula. The taller its tallest bar, the sharper it is.",
        .columns = bars->columns,
        .asker = asking};
    for (const auto& [title, reason] : {std::pair{"Dot", "multiply number by number, add up"},
                                        std::pair{"Scaled dot", "that, divided by √d"},
                                        std::pair{"Cosine", "only the direction counts, not the size"},
                                        std::pair{"Additive", "a small network judges each pair"}})
        if (const BarRows::Row* row = bar_titled(*bars, title))
            q.cards.push_back({.label = row->title,
                               .reason = reason,
                               .value = std::round(1e3 * double(largest_value(*row))) / 1e3,
                               .shown = decimals(double(largest_value(*row)), 3)});
    if (state.normalizer != 0) q.cards.clear();  // a plain sum gives no shares, a hard one decides alone
    mark_largest(q);
    const BarRows::Row *dot = bar_titled(*bars, "Dot"), *scaled = bar_titled(*bars, "Scaled dot");
    if (!dot || !scaled) return std::vector<PageQuestion>();
    q.finding = "For " + asker + ", dot gives " + share_text(double(largest_value(*dot))) +
                " to one word; divided by √d, the same scores give it " +
                share_text(double(largest_value(*scaled))) + ".";
    q.why = "Same queries, same keys; only the formula changes. Location never reads the keys.";
    return std::vector<PageQuestion>{std::move(q)};
}

Questions ask_positions(const StationInput& in, const PositionsState&, const Page& page, ThreadPool&) {
    std::vector<AskedRow> rows;
    for (const char* way : {"as they are", "switched off"})
        for (const Block& block : page.blocks)
            if (const auto* grid = std::get_if<Grid>(&block);
                grid && grid->title.ends_with(std::string("positions ") + way))
                rows.push_back(marked_row(grid));
    if (isize(rows) < 2 || rows[0].query < 1 || rows[1].query < 1) return std::vector<PageQuestion>();
    const AskedRow &with = rows[0], &without = rows[1];
    const int q = with.query, key = with.largest() == q ? q - 1 : with.largest();
    if (!with.shows(key) || !without.shows(key)) return std::vector<PageQuestion>();
    const double before = double(with.shares[key]), after = double(without.shares[key]),
                 left = before > 0 ? after / before : 1;
    const std::string asker = said(with.keys[q]), other = said_at(with.keys, key);
    PageQuestion out{.text = "This head gives " + share_text(before) + " of " + asker + "’s weight to " +
                             other + ". How much stays if the model gets no positions?",
                     .will_see = "The head’s pattern with positions, without them, and with shuffled ones.",
                     .columns = with.keys,
                     .asker = q};
    const int right = left >= 2.0 / 3 ? 0 : left >= 1.0 / 3 ? 1 : 2;
    const char *const labels[] = {"most of it", "about half", "little of it"},
                      *const reasons[] = {"the words are still the same", "it reads words and places",
                                          "it reads places alone"};
    for (int i = 0; i < 3; ++i)
        out.cards.push_back({.label = labels[i], .reason = reasons[i], .value = i == right ? 1.0 : 0.0});
    if (before < 0.2) out.cards.clear();  // nothing to lose
    mark_largest(out);
    const int best = without.largest();
    out.finding = "Without positions, " + asker + " gives " + other + " " + share_text(after) +
                  " instead of " + share_text(before) + ".";
    out.why = "It then looks most at " + (best == q ? "itself" : said_at(without.keys, best)) + ", " +
              share_text(double(without.shares[best])) + ". Head " +
              head_name(in.trace->config(), in.block, in.head) + " looked at " + reason_of(with, key) + ".";
    return std::vector<PageQuestion>{std::move(out)};
}

Questions ask_hard_soft(const StationInput& in, const HardSoftState& state, const Page& page, ThreadPool&) {
    const BarRows* bars = first_bars(page);
    if (!bars) return std::vector<PageQuestion>();
    const BarRows::Row *soft = bar_titled(*bars, "Soft, global"),
                       *drawn = bar_titled(*bars, "Hard: at random");
    if (!soft || !drawn) return std::vector<PageQuestion>();
    const AskedRow row = row_of_bars(*bars, *soft, one_text(in));
    const int key = row.largest();
    if (key < 0) return std::vector<PageQuestion>();
    const auto seen =
        std::count_if(row.shares.begin(), row.shares.end(), [](float share) { return !std::isnan(share); });
    const double weight = double(row.shares[key]), share = double(drawn->values[key]),
                 even = 1.0 / double(seen);
    const std::string asker = row.query >= 0 ? said(row.keys[row.query]) : "The query",
                      other = said_at(row.keys, key);
    PageQuestion q{.text = "Soft attention gives most to " + other +
                           ". Hard attention draws one word each time: how "
                           "often will it be " +
                           other + "?",
                   .will_see = "The row of " + asker + ", and how often each word was drawn.",
                   .columns = row.keys,
                   .asker = row.query};
    const std::array<std::pair<const char*, double>, 3> guesses{
        {{"every time", 1.0}, {"as its weight says", weight}, {"like any other", even}}};
    const char* const reasons[] = {"it is the largest", "a draw follows the weights", "a draw is blind"};
    for (size_t i = 0; i < guesses.size(); ++i)
        q.cards.push_back({.label = guesses[i].first,
                           .reason = reasons[i],
                           .value = -std::abs(guesses[i].second - share),
                           .shown = share_text(guesses[i].second)});
    constexpr double kApart = 0.1;
    constexpr int kEnough = 64;
    if (state.draws < kEnough || 1 - weight < kApart || weight - even < kApart) q.cards.clear();
    mark_largest(q);
    q.finding = "Of " + std::to_string(state.draws) + (state.draws == 1 ? " draw, " : " draws, ") +
                share_text(share) + " took " + other + ", to which softmax gives " + share_text(weight) + ".";
    q.why = "On average hard attention mixes like soft attention, but each draw passes on one word alone.";
    return std::vector<PageQuestion>{std::move(q)};
}

Questions ask_implicit(const StationInput& in, const ImplicitState&, const Page& page, ThreadPool&) {
    const BarRows* bars = first_bars(page);
    if (!bars || isize(bars->rows) < 2) return std::vector<PageQuestion>();
    AskedRow row = row_of_bars(*bars, bars->rows[0], one_text(in));
    const AskedRow looks = row_of_bars(*bars, bars->rows[1], one_text(in));
    const int best = row.largest(), seen = looks.largest();
    if (best < 0 || seen < 0) return std::vector<PageQuestion>();
    row.also = {seen};
    row.also_reason = "what the head looks at most";
    const std::string asker = row.query >= 0 ? said(row.keys[row.query]) : "the query";
    const std::string one = in.trace->request.inputs[0].picture ? "patch" : "word";
    PageQuestion q =
        which_key(row, "A nudge of which " + one + " will move the output at " + asker + " most?");
    q.will_see = "One bar for each " + one + ": its share of all movement, beside what the head looks at.";
    q.finding = "A nudge of " + (best == row.query ? asker + " itself" : said_at(row.keys, best)) +
                " moves the output most: " + share_text(double(row.shares[best])) + " of all movement.";
    q.why = best == seen
                ? "The head looks there most too, with " + share_text(double(looks.shares[seen])) + "."
                : "The head looks most at " + said_at(looks.keys, seen) + ", " +
                      share_text(double(looks.shares[seen])) + ", whose nudge is " +
                      share_text(double(row.shares[seen])) + " of the movement.";
    return std::vector<PageQuestion>{std::move(q)};
}

}  // namespace headlight::learn
