// Asks about the stations of a translator.
#include <algorithm>
#include <cmath>
#include <optional>

#include "base/quoted.h"
#include "learn/questions/ask.h"
#include "learn/questions/parts.h"

namespace headlight::learn {

namespace {

std::string lower_first(std::string text) {
    if (!text.empty()) text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
    return text;
}

/// exp(mean log p) of a row of probabilities.
double mean_probability(const BarRows::Row& row) {
    double sum = 0;
    for (const float p : row.values) sum += std::log(std::max(double(p), 1e-30));
    return row.values.empty() ? 0 : std::exp(sum / double(row.values.size()));
}

/// "Which article will be likeliest for “die Frau” with its noun hidden?" Asks where hiding moves most.
std::optional<PageQuestion> ask_hidden_noun(const Page& page) {
    const Table* table = find_table(page, "Hide the noun");
    if (!table) return std::nullopt;
    constexpr int kArticles = 3;  // the columns after the name
    const auto fall = [&](int r) {
        double most = 0;
        for (int c = 1; c <= kArticles; ++c)
            most = std::max(most, table->values[r][c] - table->values[r + 1][c]);
        return most;
    };
    int told = -1;
    for (int r = 0; r + 1 < isize(table->rows); ++r)
        if (table->rows[r + 1][0].ends_with(" hidden") && (told < 0 || fall(r) > fall(told))) told = r;
    if (told < 0) return std::nullopt;
    const std::string &name = table->rows[told][0], hidden = table->rows[told + 1][0].substr(name.size() + 2);
    PageQuestion q{.text = "Which article will be likeliest for " + said(name) + " with " + hidden + "?",
                   .will_see = "The chances of the three articles, with the noun in sight and hidden."};
    const auto& before = table->values[told];
    int was = 1;
    for (int c = 1; c <= kArticles; ++c)
        if (before[c] > before[was]) was = c;
    for (int c = 1; c <= kArticles; ++c)
        q.cards.push_back({.label = table->columns[c],
                           .reason = c == was ? "as with the noun in sight" : "another gender",
                           .value = table->values[told + 1][c],
                           .shown = table->rows[told + 1][c]});
    mark_largest(q);
    q.finding = "With " + hidden + ", " + table->columns[was] + " falls from " + table->rows[told][was] +
                " to " + table->rows[told + 1][was] + "; it writes " + said(table->rows[told + 1][4]) + ".";
    if (table->values[told + 1][was] >= before[was])
        q.finding =
            "With " + hidden + ", " + table->columns[was] + " stays: " + table->rows[told + 1][was] + ".";
    return q;
}

}  // namespace

Questions ask_three_uses(const StationInput&, const ThreeUsesState&, const Page& page, ThreadPool&) {
    const Grid* grid = find_grid(page, "Decoder reads the encoder");
    if (!grid) return std::vector<PageQuestion>();
    AskedRow row;
    std::string written;
    float most = 0;
    for (int r = 0; r < grid->values.rows(); ++r) {
        const auto values = grid->values.row(r);
        AskedRow one{grid->columns, {values.data(), values.data() + values.size()}};
        const int key = one.largest();
        const bool word = std::isalpha(static_cast<unsigned char>((grid->rows[r] + " ")[0])) != 0;
        if (key < 0 || !word || grid->rows[r] == grid->columns[key] || one.shares[key] <= most) continue;
        most = one.shares[key];
        written = grid->rows[r];
        row = std::move(one);
    }
    if (row.keys.empty()) return std::vector<PageQuestion>();
    PageQuestion q =
        which_key(row, "To write " + said(written) + ", which word of the source will the decoder read?");
    q.finding = "To write " + said(written) + ", it reads " + said_at(row.keys, row.largest()) + " with " +
                share_text(double(most)) + " of the weight.";
    std::vector<PageQuestion> out{std::move(q)};
    if (auto second = ask_hidden_noun(page)) out.push_back(std::move(*second));
    return out;
}

Questions ask_seq2seq(const StationInput&, const Seq2seqState&, const Page& page, ThreadPool&) {
    const BarRows* bars = first_bars(page);
    if (!bars || isize(bars->rows) < 3) return std::vector<PageQuestion>();
    PageQuestion q{.text = "If the decoder may not read all words, which limit will hurt least?",
                   .will_see = "What it writes under each limit, and how sure it is of each right word.",
                   .columns = bars->columns};
    q.finding = "If it reads every word, the right next one has " +
                share_text(mean_probability(bars->rows[0])) + " on average; with";
    for (int r = 1; r < isize(bars->rows); ++r) {
        const double p = mean_probability(bars->rows[r]);
        q.finding += (r == 1                      ? " "
                      : r + 1 < isize(bars->rows) ? ", "
                                                  : " and ") +
                     lower_first(bars->rows[r].title) + " " + share_text(p);
        if (isize(q.cards) < 4)
            q.cards.push_back({.label = bars->rows[r].title,
                               .reason = bars->rows[r].formula,
                               .value = p,
                               .shown = decimals(p, 3)});
    }
    q.finding += ".";
    q.why = "Right is what the known translation says next, or else the model’s own.";
    mark_largest(q);
    return std::vector<PageQuestion>{std::move(q)};
}

}  // namespace headlight::learn
