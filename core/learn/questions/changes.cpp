// Asks what a change of scores does to a row of weights: the division by √d, a mask.
#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <limits>

#include "base/cast.h"
#include "base/draws.h"
#include "base/quoted.h"
#include "learn/page_parts.h"
#include "learn/questions/ask.h"
#include "learn/questions/parts.h"

namespace headlight::learn {

namespace {

/// Returns the largest key but the query itself, if another is shown.
int largest_other(AskedRow row) {
    const int all = row.largest();
    if (row.query >= 0) row.shares[row.query] = std::numeric_limits<float>::quiet_NaN();
    const int other = row.largest();
    return other >= 0 ? other : all;
}

/// Capitalizes what begins a sentence.
std::string begun(std::string text) {
    text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
    return text;
}

constexpr double kSameShare = 0.005;  // smaller changes cannot be seen

/// Draws one of some cases by the words shown, so that no answer is always the right one.
int drawn_case(const std::vector<std::string>& words, int count) {
    uint32_t seed = 2166136261u;  // FNV-1a
    for (const std::string& word : words)
        for (const char c : word) seed = (seed ^ as_byte(c)) * 16777619u;
    return Draws(seed).below(count);
}

/// Compares a share before and after, as more, the same or less.
void add_change_cards(PageQuestion& q, double change, const std::array<const char*, 3>& reasons) {
    const int right = change > kSameShare ? 0 : change < -kSameShare ? 2 : 1;
    const char* const labels[] = {"more", "the same", "less"};
    for (int i = 0; i < 3; ++i)
        q.cards.push_back({.label = labels[i], .reason = reasons[i], .value = i == right ? 1.0 : 0.0});
    mark_largest(q);
}

/// Returns the key with the largest share among those that gain, or else lose, from a change; −1: none.
int changed_key(const AskedRow& before, const AskedRow& after, bool gains) {
    constexpr float kLeast = 0.01f;
    int best = -1;
    for (int key = 0; key < isize(before.keys); ++key) {
        if (!before.shows(key) || !after.shows(key) || before.shares[key] < kLeast) continue;
        const double change = double(after.shares[key]) - double(before.shares[key]);
        const bool counts = gains ? change > kSameShare : change < -kSameShare;
        if (counts && (best < 0 || before.shares[key] > before.shares[best])) best = key;
    }
    return best;
}

/// Asks for the sum of a row, which no change of its scores changes.
void ask_row_sum(PageQuestion& q, const std::string& before, const std::string& asker,
                 const std::array<const char*, 3>& reasons) {
    q.text = before + "The row of " + asker + " sums to 1. How much will it then sum to?";
    add_change_cards(q, 0, reasons);
    q.finding = "The row of " + asker + " still sums to 1: softmax makes shares of any scores.";
}

/// Holds a row without a mask and with it.
struct MaskedRow {
    AskedRow open, masked;
    std::string asker, number;  // "“cute”", "5 words"
    double kept = 0;            // what the words that stay had

    double before(int key) const { return double(open.shares[key]); }
    int hidden() const {
        int best = -1;
        for (int key = 0; key < isize(open.keys); ++key)
            if (!masked.shows(key) && (best < 0 || open.shares[key] > open.shares[best])) best = key;
        return best;
    }
    std::string question() const { return "A mask hides " + number + " from " + asker + ". "; }
};

void ask_visible(const MaskedRow& row, int key, PageQuestion& q) {
    const double after = double(row.masked.shares[key]);
    const std::string which = said_at(row.open.keys, key);
    q.text = row.question() + "How much will " + which + " then get?";
    add_change_cards(q, after - row.before(key),
                     {"what the hidden words had is shared out", "only the hidden words change",
                      "a row with fewer words weighs less"});
    q.finding = begun(row.asker) + " gave " + which + " " + share_text(row.before(key)) + "; with " +
                row.number + " hidden, " + share_text(after) + ": the row still sums to 1.";
}

void ask_hidden(const MaskedRow& row, int key, PageQuestion& q) {
    const std::string which = said_at(row.open.keys, key);
    q.text = row.question() + which + " is one of them. How much will it then get?";
    add_change_cards(q, -row.before(key),
                     {"the rest shares again", "a mask only marks it", "a score of −∞ gets no weight"});
    q.finding = begun(row.asker) + " gave " + which + " " + share_text(row.before(key)) +
                "; hidden, it gets nothing, and the row still sums to 1.";
}

void ask_scaled(const AskedRow& divided, const AskedRow& plain, int key, const std::string& asker,
                const std::string& root, PageQuestion& q) {
    const std::string which = said_at(divided.keys, key);
    const double before = double(divided.shares[key]), after = double(plain.shares[key]);
    q.text = begun(asker) + " gives " + share_text(before) + " to " + which + ". How much will " + which +
             " get if no score is divided by " + root + "?";
    add_change_cards(
        q, after - before,
        {"its score stands out more", "the order of the scores stays", "a larger score takes it"});
    q.finding = "Undivided, " + asker + " gives " + share_text(after) + " instead of " + share_text(before) +
                " to " + which + ".";
}

}  // namespace

Questions ask_scale(const StationInput& in, const ScaleState&, const Page& page, ThreadPool&) {
    const BarRows* bars = first_bars(page);
    if (!bars || isize(bars->rows) < 2) return std::vector<PageQuestion>();
    const AskedRow divided = row_of_bars(*bars, bars->rows[0], one_text(in)),
                   plain = row_of_bars(*bars, bars->rows[1], one_text(in));
    if (divided.largest() < 0) return std::vector<PageQuestion>();
    const int gains = changed_key(divided, plain, true), loses = changed_key(divided, plain, false);
    const std::string asker = divided.query >= 0 ? said(divided.keys[divided.query]) : "the query",
                      root = "√" + std::to_string(in.trace->config().d_head(in.block));
    PageQuestion q{
        .will_see = "The row twice: from the scores as the model divides them, and from q · k alone.",
        .columns = divided.keys,
        .asker = divided.query};
    const int drawn = drawn_case(divided.keys, 3), key = drawn == 0 ? gains : drawn == 1 ? loses : -1;
    if (key >= 0)
        ask_scaled(divided, plain, key, asker, root, q);
    else
        ask_row_sum(q, "Without the division by " + root + " scores lie further apart. ", asker,
                    {"larger scores make larger weights", "softmax makes shares of any scores",
                     "small weights vanish"});
    q.why =
        "Its row: " + bars->rows[1].note + " instead of " + bars->rows[0].note +
        ". Entropy says how evenly a row is spread; at 0 bits one word has all, and a small change of the "
        "scores changes nothing.";
    return std::vector<PageQuestion>{std::move(q)};
}

Questions ask_masks(const StationInput& in, const MasksState&, const Page& page, ThreadPool&) {
    const BarRows* bars = first_bars(page);
    if (!has_head_scores(in) || !bars || isize(bars->rows) < 3) return std::vector<PageQuestion>();
    MaskedRow row{row_of_bars(*bars, bars->rows[0], one_text(in)),
                  row_of_bars(*bars, bars->rows[1], one_text(in)), "the query", ""};
    const auto hidden = std::count_if(row.masked.shares.begin(), row.masked.shares.end(),
                                      [](float share) { return std::isnan(share); });
    const int key = largest_other(row.masked);
    if (row.open.query >= 0) row.asker = said(row.open.keys[row.open.query]);
    if (hidden == 0 || key < 0) {
        const std::string says =
            hidden == 0 ? "The mask hides nothing from " + row.asker + ": its row does not change."
                        : "The mask hides every word from " + row.asker + ".";
        return std::vector<PageQuestion>{PageQuestion{.finding = says}};
    }
    for (int k = 0; k < isize(row.open.keys); ++k)
        if (row.masked.shows(k)) row.kept += row.before(k);
    row.number = std::to_string(hidden) + (hidden == 1 ? " word" : " words");
    PageQuestion q{.will_see = "The row of " + row.asker + " without a mask, and with it in three ways.",
                   .columns = row.open.keys,
                   .asker = row.open.query};
    switch (drawn_case(row.open.keys, row.before(row.hidden()) > kSameShare ? 3 : 2)) {
        case 0:
            ask_visible(row, key, q);
            break;
        case 1:
            ask_row_sum(q, row.question(), row.asker,
                        {"fewer words share more", "softmax makes shares of any scores",
                         "hidden words take their weight with them"});
            break;
        default:
            ask_hidden(row, row.hidden(), q);
    }
    q.why = "Setting the hidden weights to 0 after the softmax would leave a row that sums to " +
            decimals(row.kept, 2) + ".";
    return std::vector<PageQuestion>{std::move(q)};
}

}  // namespace headlight::learn
