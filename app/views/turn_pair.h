// The pair of turns that was chosen in a conversation, to which views restrict what they draw.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "chat/conversation.h"
#include "paint/toolbar.h"
#include "parts/scene.h"

namespace headlight {

struct ChosenTurns {
    int asked = -1, attended = -1;  // chosen turns; −1: the last; none
    void visit(FieldVisitor& visitor);
};

/// Return the turns of the shown text, or null; the turn whose attention is shown; the one attended to, or
/// −1.
const Conversation* shown_chat(const Scene& scene);
int asked_turn(const Scene& scene);
int attended_turn(const Scene& scene);
/// "the answer", "user 4": a turn in a sentence.
std::string turn_in_words(const Conversation& chat, int turn);

struct TurnPair {
    std::pair<int, int> queries, keys;  // tokens: first, end
    bool asks(int query) const { return query >= queries.first && query < queries.second; }
    bool answers(int key) const { return key >= keys.first && key < keys.second; }
};
std::optional<TurnPair> chosen_turns(const Scene& scene);
/// Names the pair in a view's toolbar; a click shows all turns again.
void offer_all_turns(Scene& scene, Toolbar& bar);

}  // namespace headlight
