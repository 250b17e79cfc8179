#include "session/commands/palette.h"

#include <algorithm>
#include <sstream>

#include "session/commands/word_parsers.h"

namespace headlight {

namespace {

std::vector<std::string> words_of(const std::string& text) {
    std::istringstream in(lower_case(text));
    std::vector<std::string> out;
    for (std::string word; in >> word;) out.push_back(word);
    return out;
}

bool letters_stand_in(const std::string& word, const std::string& text) {
    size_t at = 0;
    for (const char c : word) {
        at = text.find(c, at);
        if (at++ == std::string::npos) return false;
    }
    return true;
}

/// Match quality of one typed word: 0 starts a word, 1 is within one, 2 letters in order within one; none.
std::optional<int> fit(const std::string& typed, const std::vector<std::string>& words) {
    std::optional<int> best;
    const auto better = [&](int fits) { best = std::min(best.value_or(fits), fits); };
    for (const std::string& word : words) {
        const size_t at = word.find(typed);
        if (at != std::string::npos)
            better(at == 0 ? 0 : 1);
        else if (typed.size() > 1 && word[0] == typed[0] && letters_stand_in(typed, word))
            better(2);
    }
    return best;
}

/// The synonyms one by one: "a, b c" → "a", "b c".
std::vector<std::string> each_of(const std::string& synonyms) {
    std::vector<std::string> out;
    for (size_t at = 0; at < synonyms.size();) {
        const size_t end = std::min(synonyms.find(", ", at), synonyms.size());
        out.push_back(synonyms.substr(at, end - at));
        at = end + 2;
    }
    return out;
}

/// The first synonym that a typed word starts or occurs in, and how well; none: no match.
std::optional<std::pair<int, std::string>> fit_synonym(const std::string& typed,
                                                       const std::string& synonyms) {
    for (const std::string& one : each_of(synonyms))
        if (const auto fits = fit(typed, words_of(one)); fits && *fits < 2) return std::pair{*fits, one};
    return std::nullopt;
}

/// How well all typed words match; notes the synonym that did.
std::optional<int> fit_all(const std::vector<std::string>& typed, Offer& offer) {
    const auto words = words_of(offer.label + " " + offer.command->name);
    int sum = 0;
    for (const std::string& word : typed) {
        const auto one = fit(word, words);
        const auto other = one && *one < 2 ? std::nullopt : fit_synonym(word, offer.command->synonyms);
        if (!one && !other) return std::nullopt;
        sum += other ? other->first + 1 : *one;  // behind what is called that
        if (other && offer.also.empty()) offer.also = other->second;
    }
    return sum;
}

Offer offer_of(const Command& row, const CommandContext& context, const std::string& words, bool asks) {
    const std::string label = words.empty() ? row.title : row.title + ": " + words;
    return {&row, words, label, row.missing(context), asks, ""};
}

/// A row by itself and, for a non-empty query, with each of its words.
std::vector<Offer> offers_of(const Command& row, const CommandContext& context, bool each_word) {
    std::vector<Offer> out;
    const auto choices = row.choices();
    if (!row.needs_words() || choices.empty() || !each_word)
        out.push_back(offer_of(row, context, "", row.needs_words()));
    if (!each_word) return out;
    for (const std::string& word : choices) out.push_back(offer_of(row, context, word, false));
    return out;
}

/// Whether the words start one that the row lists.
bool are_unfinished(const Command& row, const std::string& words) {
    const auto choices = row.choices();
    return std::any_of(choices.begin(), choices.end(), [&](const std::string& choice) {
        return choice.size() > words.size() && choice.starts_with(words);
    });
}

}  // namespace

Offer offer_of(const Command& row, const CommandContext& context) {
    return offer_of(row, context, "", row.needs_words());
}

std::vector<Offer> palette_offers(std::span<const Command> table, const CommandContext& context,
                                  const std::string& typed) {
    const auto typed_words = words_of(typed);
    using Place = std::pair<int, std::ptrdiff_t>;  // match quality, then the position of its group
    std::vector<std::pair<Place, Offer>> found;
    if (const auto line = parse_command(table, typed);
        line && !line->words.empty() && !are_unfinished(*line->command, line->words))
        found.emplace_back(Place{-1, 0}, offer_of(*line->command, context, line->words, false));
    for (const Command& row : table)
        for (Offer& offer : offers_of(row, context, !typed_words.empty())) {
            const auto fits = fit_all(typed_words, offer);
            const bool twice = !found.empty() && found[0].first.first < 0 &&
                               found[0].second.command == &row && found[0].second.words == offer.words;
            if (!fits || twice || (offer.why_not && !*offer.why_not)) continue;
            const auto group = std::find(std::begin(kGroups), std::end(kGroups), row.group);
            found.emplace_back(Place{*fits + (offer.why_not ? 100 : 0), group - std::begin(kGroups)},
                               std::move(offer));
        }
    std::stable_sort(found.begin(), found.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<Offer> out;
    for (auto& [fits, offer] : found) out.push_back(std::move(offer));
    return out;
}

}  // namespace headlight
