// Commands of comparison.
#include "analysis/comparison/compare.h"
#include "base/quoted.h"
#include "session/commands/commands.h"

namespace headlight {

namespace {

/// Applies a comparison that differs from the current one by `change`.
template <class Change>
Status compare(CommandContext& c, Change change) {
    Comparison next = c.session.document.comparison;
    change(next);
    c.session.document.compare(std::move(next));
    return success();
}

/// Returns the model that is compared with, if a head of A is no head of it: then one of its own is chosen.
const Model* model_of_other_heads(const CommandContext& c) {
    if (c.session.document.comparison.what != Compared::models || !c.answer || !c.answer->other)
        return nullptr;
    const Model* b = c.answer->other->model.get();
    return b && !same_heads(c.model()->config, b->config) ? b : nullptr;
}

/// Starts B's sentence as a copy of A's, for editing.
Status choose_compared(CommandContext& c, const std::string& words) {
    const HistoryGroup one_step(c.session.document.history);
    constexpr std::pair<const char*, Compared> kWhat[] = {{"heads", Compared::heads},
                                                          {"changes", Compared::changes},
                                                          {"sentences", Compared::sentences},
                                                          {"models", Compared::models},
                                                          {"base", Compared::base}};
    if (words == "base" && !(c.model() && c.model()->adapter)) return Error{kNoAdapter};
    if (words == "sentences") {
        if (c.host.text(TextName::other).empty())
            c.host.set_text(TextName::other, c.host.text(TextName::sentence));
        c.host.focus_text(TextName::other);
    }
    for (const auto& [name, what] : kWhat)
        if (words == name) return compare(c, [what = what](Comparison& next) { next.what = what; });
    if (words == "nearest")
        return compare(c, [](Comparison& next) {
            next.what = Compared::heads;
            next.head = Comparison().head;
        });
    const Model* b = model_of_other_heads(c);
    TRY(const AttentionHead head, parse_head(b ? b->config : c.model()->config, words, "it"));
    return compare(c, [&](Comparison& next) {
        if (!b) next.what = Compared::heads;
        next.head = {head.block, head.head};
    });
}

Status choose_model_b(CommandContext& c, const std::string& words) {
    c.session.sheet = words.empty() ? std::optional(Sheet::compared_models) : std::nullopt;
    if (words.empty()) return success();
    c.session.document.compare_with_model(words);
    return success();
}

Status set_text_b(CommandContext& c, const std::string& words) {
    const HistoryGroup one_step(c.session.document.history);
    c.host.set_text(TextName::other, words);
    return compare(c, [&](Comparison& next) {
        next.what = Compared::sentences;
        next.text = words;  // as the field shows it from the next frame on: a try must recognize it
    });
}

Status align_by(CommandContext& c, const std::string& words) {
    return compare(c, [&](Comparison& next) {
        next.alignment = {words == "position" ? AlignBy::position : AlignBy::token, {}};
    });
}

/// "3,4" pairs a token of A with one of B, "3,-1" unpairs it; earlier partners of either become unpaired.
Status tie(CommandContext& c, const std::string& words) {
    const auto tokens = pair_of(words);
    if (!tokens) return Error{"There are no tokens " + in_quotes(words) + " to pair; write A,B."};
    return compare(c, [&](Comparison& next) {
        auto& hand = next.alignment.by_hand;
        const int a = tokens->first, b = tokens->second;
        std::erase_if(hand,
                      [&](const auto& pair) { return pair.first == a || (b >= 0 && pair.second == b); });
        hand.push_back(*tokens);
    });
}

Status reset_alignment(CommandContext& c, const std::string&) {
    return compare(c, [](Comparison& next) { next.alignment.by_hand.clear(); });
}

const char* needs_ties(const CommandContext& c) {
    return c.session.document.comparison.alignment.by_hand.empty() ? "No tokens are paired by hand."
                                                                   : nullptr;
}

}  // namespace

std::vector<Command> comparison_commands() {
    return in_group(
        "Compare",
        {row({"compare heads|changes|sentences|models|base|nearest|LAYER.HEAD", "Compare",
              "what to compare the selected head with: compare sentences, compare 1.2; nearest: the most "
              "similar head; base: the model without its adapter"},
             choose_compared, needs_sentence),
         row({"compare model [PATH]", "Compare with a model", "the model to compare with"}, choose_model_b),
         row({"compare text TEXT", "Compare with a text", "the sentence to compare with"}, set_text_b,
             needs_sentence),
         row({"align by token|position", "Align sentences by", "how the tokens of two sentences are paired"},
             align_by),
         row({"tie A,B", "Pair two tokens", "pair a token of A with one of B"}, tie),
         row({"reset alignment", "Reset alignment", "remove pairs made by hand"}, reset_alignment,
             needs_ties)});
}

}  // namespace headlight
