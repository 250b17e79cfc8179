#include "learn/questions/parts.h"

#include <algorithm>
#include <cmath>

#include "base/quoted.h"
#include "base/utf8.h"

namespace headlight::learn {

namespace {

constexpr float kNearTie = 0.005f;  // closer shares look alike on the page
constexpr int kMaxCards = 4;

template <class B>
const B* block_titled(const Page& page, const std::string& title) {
    for (const Block& block : page.blocks)
        if (const B* found = std::get_if<B>(&block); found && found->title.starts_with(title)) return found;
    return nullptr;
}

/// Returns the nearest earlier place of the query's word, else the nearest later one; −1: none.
int same_word(const AskedRow& row) {
    if (row.query < 0) return -1;
    for (int key = row.query - 1; key >= 0; --key)
        if (row.keys[key] == row.keys[row.query]) return key;
    for (int key = row.query + 1; key < isize(row.keys); ++key)
        if (row.keys[key] == row.keys[row.query]) return key;
    return -1;
}

/// Returns what stands after the query's word elsewhere; −1: nothing.
int follower(const AskedRow& row) {
    const int same = same_word(row);
    return same < 0 || same + 1 == row.query || same + 1 >= isize(row.keys) ? -1 : same + 1;
}

/// Lists keys that a reader may think of, best first, then the others by their share.
std::vector<int> thinkable(const AskedRow& row) {
    std::vector<int> out = row.also;
    if (row.query >= 0)
        for (const int key : {same_word(row), follower(row), row.query - 1, 0, row.query, row.query + 1})
            out.push_back(key);
    else
        out.push_back(0);
    std::vector<int> rest;
    for (int key = 0; key < isize(row.keys); ++key)
        if (row.shows(key)) rest.push_back(key);
    std::stable_sort(rest.begin(), rest.end(), [&](int a, int b) { return row.shares[a] > row.shares[b]; });
    out.insert(out.end(), rest.begin(), rest.end());
    return out;
}

std::string words_apart(int count, const char* where) {
    return std::to_string(count) + (count == 1 ? " word " : " words ") + where;
}

}  // namespace

std::string said(const std::string& label) { return "“" + shorten_middle(label, 24) + "”"; }

std::string said_at(const std::vector<std::string>& words, int place) {
    static const char* const ordinals[] = {"first", "second", "third", "fourth", "fifth"};
    const std::string& word = words[place];
    const auto same = [&](auto end) { return std::count(words.begin(), end, word); };
    if (same(words.end()) < 2) return said(word);
    const auto before = same(words.begin() + place);
    return before < 5 ? std::string("the ") + ordinals[before] + " " + said(word)
                      : said(word) + " at place " + std::to_string(place);
}

std::string share_text(double share) {
    const double percent = 100 * share;
    if (percent > 0 && percent < 0.1) return "< 0.1 %";
    return decimals(percent, percent >= 9.95 || percent == 0 ? 0 : 1) + " %";
}

const Grid* find_grid(const Page& page, const std::string& title) { return block_titled<Grid>(page, title); }
const Table* find_table(const Page& page, const std::string& title) {
    return block_titled<Table>(page, title);
}
const BarRows* first_bars(const Page& page) {
    for (const Block& block : page.blocks)
        if (const auto* bars = std::get_if<BarRows>(&block)) return bars;
    return nullptr;
}

int AskedRow::largest() const {
    int best = -1;
    for (int key = 0; key < isize(keys); ++key)
        if (shows(key) && (best < 0 || shares[key] > shares[best])) best = key;
    return best;
}

bool one_text(const StationInput& in) {
    return in.trace && in.trace->config().block(in.block).kind != AttentionKind::cross;
}

AskedRow row_of_bars(const BarRows& bars, const BarRows::Row& row, bool one_text) {
    AskedRow out{bars.columns, row.values};
    const auto& keys = bars.cells.keys;
    for (int i = 0; one_text && i < std::min(isize(keys), isize(bars.columns)); ++i)
        if (keys[i] == bars.cells.query) out.query = i;
    return out;
}

AskedRow marked_row(const Grid* grid) {
    if (!grid || !grid->marked_row || *grid->marked_row >= grid->values.rows()) return {};
    const auto row = grid->values.row(*grid->marked_row);
    AskedRow out{grid->columns, {row.data(), row.data() + row.size()}};
    if (grid->rows == grid->columns) out.query = *grid->marked_row;
    return out;
}

std::string reason_of(const AskedRow& row, int key) {
    if (std::find(row.also.begin(), row.also.end(), key) != row.also.end() && !row.also_reason.empty())
        return row.also_reason;
    const int q = row.query;
    if (q < 0) return "word " + std::to_string(key + 1) + " of " + std::to_string(row.keys.size());
    if (key == q) return "the word itself";
    if (key > 0 && key - 1 != q && row.keys[key - 1] == row.keys[q])
        return key < q ? "what followed " + said(row.keys[q]) + " last time"
                       : "what follows " + said(row.keys[q]) + " later";
    if (row.keys[key] == row.keys[q]) return key < q ? "the same word, earlier" : "the same word, later";
    if (key == q - 1) return "the word just before";
    if (key == q + 1) return "the word just after";
    if (key == 0) return "the very first word";
    return key < q ? words_apart(q - key, "back") : words_apart(key - q, "ahead");
}

void add_key_cards(PageQuestion& question, const AskedRow& row) {
    const int right = row.largest();
    if (right < 0) return;
    std::vector<int> chosen{right};
    for (const int key : thinkable(row)) {
        if (isize(chosen) == kMaxCards) break;
        if (!row.shows(key) || std::find(chosen.begin(), chosen.end(), key) != chosen.end()) continue;
        if (row.shares[right] - row.shares[key] < kNearTie) return;  // two answers: nothing to ask
        chosen.push_back(key);
    }
    for (const float& share : row.shares)  // of any key, named or not
        if (&share != &row.shares[right] && row.shares[right] - share < kNearTie) return;
    if (isize(chosen) < 2) return;
    std::sort(chosen.begin(), chosen.end());
    for (const int key : chosen)
        question.cards.push_back({.label = shorten_middle(row.keys[key], 16),
                                  .place = std::to_string(key),
                                  .reason = reason_of(row, key),
                                  .value = double(row.shares[key]),
                                  .shown = decimals(double(row.shares[key]), 3)});
    mark_largest(question);
}

void mark_largest(PageQuestion& question) {
    auto& cards = question.cards;
    const auto best = std::max_element(
        cards.begin(), cards.end(), [](const GuessCard& a, const GuessCard& b) { return a.value < b.value; });
    question.right = best == cards.end() ? -1 : narrow<int>(best - cards.begin());
    const bool alone = best != cards.end() && std::count_if(cards.begin(), cards.end(), [&](const auto& one) {
                                                  return one.value == best->value;
                                              }) == 1;
    if (alone && cards.size() > 1) return;
    cards.clear();
    question.right = -1;
}

PageQuestion which_key(const AskedRow& row, const std::string& text) {
    PageQuestion out{.text = text, .columns = row.keys, .asker = row.query};
    const int best = row.largest();
    if (best < 0) return out;
    add_key_cards(out, row);
    out.will_see = "One bar for each of the " + std::to_string(row.keys.size()) +
                   " words. Together they make 1; the tallest is the answer.";
    const std::string asker = row.query >= 0 ? said(row.keys[row.query]) : "It";
    out.finding = asker + " gives " + share_text(double(row.shares[best])) + " to " +
                  (best == row.query ? "itself" : said_at(row.keys, best)) +
                  (row.query >= 0 && best != row.query ? ": " + reason_of(row, best) + "." : ".");
    for (const GuessCard& card : out.cards)
        if (card.place != std::to_string(best))
            out.why += (out.why.empty() ? "The other guesses: " : ", ") + said(card.label) + " (" +
                       card.reason + ") " + share_text(card.value);
    if (!out.why.empty()) out.why += ".";
    return out;
}

}  // namespace headlight::learn
