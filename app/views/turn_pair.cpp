#include "views/turn_pair.h"

#include "base/cast.h"

namespace headlight {

void ChosenTurns::visit(FieldVisitor& v) {
    v.integer("chat_asked", asked, -1, 1 << 20);
    v.integer("chat_attended", attended, -1, 1 << 20);
}

const Conversation* shown_chat(const Scene& s) {
    const SentenceResult* sentence = s.sentence();
    const bool fits = sentence && sentence->chat && !sentence->chat->turns.empty() &&
                      sentence->chat->tokens() == isize(sentence->labels[0]);
    return fits ? sentence->chat.get() : nullptr;
}

int asked_turn(const Scene& s) {
    const int count = isize(shown_chat(s)->turns), asked = s.of<ChosenTurns>().asked;
    return asked < 0 || asked >= count ? count - 1 : asked;
}

int attended_turn(const Scene& s) {
    const int turn = s.of<ChosenTurns>().attended;
    return turn < isize(shown_chat(s)->turns) ? turn : -1;
}

std::string turn_in_words(const Conversation& chat, int turn) {
    const bool answer = chat.answers && turn + 1 == isize(chat.turns);
    return answer ? "the answer" : chat.turns[size_t(turn)].role + " " + std::to_string(turn);
}

std::optional<TurnPair> chosen_turns(const Scene& s) {
    const Conversation* chat = shown_chat(s);
    if (!chat || attended_turn(s) < 0) return std::nullopt;
    const ChatTurn &q = chat->turns[size_t(asked_turn(s))], &k = chat->turns[size_t(attended_turn(s))];
    return TurnPair{{q.first, q.end}, {k.first, k.end}};
}

void offer_all_turns(Scene& s, Toolbar& bar) {
    if (!chosen_turns(s) || s.ui.on_page()) return;
    const Conversation& chat = *shown_chat(s);
    const std::string pair =
        turn_in_words(chat, asked_turn(s)) + " → " + turn_in_words(chat, attended_turn(s));
    if (bar.link("turns", pair + "  ×")) s.send("all turns");
}

}  // namespace headlight
