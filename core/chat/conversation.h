// Says who wrote each token that a model reads of a conversation: its turns.
#pragma once

#include <string>
#include <vector>

#include "chat/chat_template.h"
#include "tokenizer/tokenizer.h"

namespace headlight {

/// Is what one speaker says in a row: tokens [first, end).
struct ChatTurn {
    int message = -1;  // −1: what the template writes before all messages
    std::string role;  // "system", "user", "thinking", "assistant", "tool", …
    bool thinking = false;
    int first = 0, end = 0;
    bool operator==(const ChatTurn&) const = default;
};

/// Holds the turns of a text that a model reads; they hold all of its tokens.
struct Conversation {
    ChatJson messages;             // without the answer
    std::vector<ChatTurn> turns;   // in order
    std::vector<char> is_content;  // of each token: a message's, not the template's
    bool answers = false;          // the last turns are an answer: message number messages.size()

    int tokens() const { return static_cast<int>(is_content.size()); }
    /// Returns the turn of a token, or −1.
    int turn_of(int token) const;
    /// Returns half-open ranges of the tokens that are a turn's content.
    std::vector<std::pair<int, int>> contents(int turn) const;
};

/// Divides a rendered chat into turns. `offsets`: code points of its tokens; `written`: the bytes of each
/// token that a model has written after them.
Conversation conversation_of(const ChatJson& messages, RenderedChat chat, const std::vector<Span>& offsets,
                             const std::vector<std::string>& written = {});

}  // namespace headlight
