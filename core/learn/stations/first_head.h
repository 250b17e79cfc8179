// Chooses the head and query that stations begin with, each by the station's own measure on the text. Of an
// encoder–decoder, heads of the encoder. None where no head tells anything.
#pragma once

#include "learn/station.h"

namespace headlight::learn {

/// Returns whether a token stands for a word, or the beginning of one: not punctuation, not a special token.
bool is_word(const std::string& label);

/// Returns the look that decides most, weight · log₂ of the keys, of a word at another one that is neither
/// the first token, which collects what no other gets, nor a neighbor. If there is none: at any other token,
/// then at itself.
std::optional<TellingCell> telling_look(const Trace& trace, std::optional<AttentionHead> chosen,
                                        ThreadPool& pool);

/// Returns the word whose weights, not spread evenly, change most if q · k is not divided by √d.
std::optional<TellingCell> telling_scale(const Trace& trace, std::optional<AttentionHead> chosen,
                                         ThreadPool& pool);

/// Returns a word inside the text that would give later ones much of its weight, and earlier ones some.
std::optional<TellingCell> telling_mask(const Trace& trace, std::optional<AttentionHead> chosen,
                                        ThreadPool& pool);

/// Returns the head with the most weight on the previous token, averaged over the queries, and its sharpest
/// word.
std::optional<TellingCell> telling_previous(const Trace& trace, std::optional<AttentionHead> chosen,
                                            ThreadPool& pool);

/// Returns the word that shares its weight most evenly between one other token and the rest: a draw from it
/// is neither certain nor arbitrary.
std::optional<TellingCell> telling_choice(const Trace& trace, std::optional<AttentionHead> chosen,
                                          ThreadPool& pool);

}  // namespace headlight::learn
