// Makes questions from the numbers of a page: cards by rule, the right one by the numbers.
#pragma once

#include <string>
#include <vector>

#include "learn/station.h"

namespace headlight::learn {

/// "“ball”", shortened.
std::string said(const std::string& label);
/// “ball”, or the first “ball”, where a word stands several times.
std::string said_at(const std::vector<std::string>& words, int place);
/// "73 %", "1.5 %", "< 0.1 %".
std::string share_text(double share);

/// Finds a block of a page by its title, or the first; null if there is none.
const Grid* find_grid(const Page& page, const std::string& title);
const Table* find_table(const Page& page, const std::string& title);
const BarRows* first_bars(const Page& page);

/// A row of shares to ask about: whose it is, and what it is spread over.
struct AskedRow {
    std::vector<std::string> keys;
    std::vector<float> shares;   // NaN: hidden
    int query = -1;              // its own place among the keys; −1: it is none of them
    std::vector<int> also = {};  // keys that another measure names
    std::string also_reason = "";

    int largest() const;  // the first of equal ones; −1: all are hidden
    bool shows(int key) const { return key >= 0 && key < isize(keys) && shares[key] == shares[key]; }
};
/// Returns the row of a grid of weights that the page marks; without keys if it marks none.
AskedRow marked_row(const Grid* grid);

/// Returns whether queries and keys of the selected head are of one text.
bool one_text(const StationInput& in);
/// Returns a row of bars, with its query if that is one of the columns.
AskedRow row_of_bars(const BarRows& bars, const BarRows::Row& row, bool one_text);

/// Says what a key is to the query: "what followed “red” last time", "the word just before", "3 words back".
std::string reason_of(const AskedRow& row, int key);

/// Makes up to four cards of keys in the order of the text, and marks the largest; none if another key that a
/// rule names is as large, or if there is no other key. Distractors by rule: the same word, what followed it,
/// the word just before, the first one, the query itself, then the next largest.
void add_key_cards(PageQuestion& question, const AskedRow& row);

/// Marks the card whose value is largest; drops all cards unless it is the only one.
void mark_largest(PageQuestion& question);

/// Asks which key gets most of a row: text, cards, finding.
PageQuestion which_key(const AskedRow& row, const std::string& text);

}  // namespace headlight::learn
