#include "chat/conversation.h"

#include <algorithm>

#include "base/cast.h"
#include "base/utf8.h"
#include "chat/encode.h"
#include "chat/stretches.h"

namespace headlight {

namespace {

/// Gives the answer a number of its own: what the template writes so that it begins, and what is written.
void number_answer(RenderedChat& chat, const ChatJson& messages, const std::string& written) {
    const int answer = isize(messages);
    for (ChatStretch& s : chat.stretches)
        if (s.begin >= chat.prompt && s.message < 0) s.message = answer;
    if (written.empty()) return;
    const bool continues = chat.prompt >= chat.text.size() && !chat.stretches.empty() &&
                           chat.stretches.back().message >= 0 && !chat.stretches.back().is_template();
    const int message = continues ? chat.stretches.back().message : answer;
    chat.stretches.push_back(
        {chat.text.size(), chat.text.size() + written.size(), message, "content", false});
    chat.text += written;
}

std::string name_of(const ChatJson& messages, int message, bool thinking) {
    if (thinking) return "thinking";
    if (message < 0) return "template";
    if (message >= isize(messages)) return "assistant";
    return role_of_message(messages, message);
}

/// Collects turns from tokens in order.
class Turns {
public:
    explicit Turns(Conversation& out) : out_(out) {}

    void add(int message, bool thinking, bool content) {
        const bool begins = out_.turns.empty();
        if (begins || is_another(message, thinking, content)) {
            out_.turns.push_back({message, "", thinking, out_.tokens(), out_.tokens()});
            spoken_ = false;
        }
        ChatTurn& turn = out_.turns.back();
        if (turn.message < 0) turn.message = message;
        if (!spoken_ && content) turn.thinking = thinking;
        spoken_ |= content;
        out_.is_content.push_back(content);
        turn.end = out_.tokens();
    }

private:
    /// Tells whether a token begins a turn. The template's tokens of a message go with what follows until
    /// that is there, and then with it.
    bool is_another(int message, bool thinking, bool content) const {
        constexpr int kFewTokens = 2;  // <s> alone is no turn
        const ChatTurn& turn = out_.turns.back();
        if (message < 0) return false;
        if (turn.message < 0) return turn.end - turn.first > kFewTokens;
        if (turn.message != message) return true;
        return content && spoken_ && turn.thinking != thinking;
    }

    Conversation& out_;
    bool spoken_ = false;  // the last turn has content
};

/// Returns the bytes of tags such as <think>, which are no content.
std::vector<std::pair<size_t, size_t>> tags_of(const RenderedChat& chat) {
    std::vector<std::pair<size_t, size_t>> out;
    for (const ChatStretch& s : chat.stretches) {
        if (!s.thinking) continue;
        const auto [begin, end] = with_thinking_tags(chat.text, s.begin, s.end);
        if (begin < s.begin) out.emplace_back(begin, s.begin);
        if (end > s.end) out.emplace_back(s.end, end);
    }
    return out;
}

size_t byte_at(const std::vector<size_t>& starts, int code_point) {
    return starts[std::min(static_cast<size_t>(code_point), starts.size() - 1)];
}

}  // namespace

int Conversation::turn_of(int token) const {
    for (int i = 0; i < isize(turns); ++i)
        if (token >= turns[static_cast<size_t>(i)].first && token < turns[static_cast<size_t>(i)].end)
            return i;
    return -1;
}

std::vector<std::pair<int, int>> Conversation::contents(int turn) const {
    std::vector<std::pair<int, int>> out;
    const ChatTurn& of = turns[static_cast<size_t>(turn)];
    for (int i = of.first; i < of.end; ++i) {
        if (!is_content[static_cast<size_t>(i)]) continue;
        if (out.empty() || out.back().second != i) out.emplace_back(i, i);
        ++out.back().second;
    }
    return out;
}

Conversation conversation_of(const ChatJson& messages, RenderedChat chat, const std::vector<Span>& offsets,
                             const std::vector<std::string>& written) {
    Conversation out;
    out.messages = messages;
    const std::vector<size_t> starts = code_point_starts(chat.text);
    std::string answer;
    for (const std::string& bytes : written) answer += bytes;
    size_t at = chat.text.size();
    number_answer(chat, messages, answer);
    mark_thinking(chat);
    const std::vector<std::pair<size_t, size_t>> tags = tags_of(chat);
    Turns turns(out);
    const auto add = [&](size_t begin, size_t end) {
        const int found = stretch_of(chat.stretches, begin, end);
        const ChatStretch s = found < 0 ? ChatStretch{} : chat.stretches[static_cast<size_t>(found)];
        const bool is_tag = std::any_of(tags.begin(), tags.end(), [&](const auto& tag) {
            return begin >= tag.first && end <= tag.second && begin < end;
        });
        turns.add(s.message, s.thinking, s.message >= 0 && !s.is_template() && s.field != "role" && !is_tag);
    };
    for (const Span& span : offsets) add(byte_at(starts, span.begin), byte_at(starts, span.end));
    for (const std::string& bytes : written) {
        add(at, at + bytes.size());
        at += bytes.size();
    }
    for (ChatTurn& turn : out.turns) turn.role = name_of(messages, turn.message, turn.thinking);
    out.answers = !out.turns.empty() && out.turns.back().message >= isize(messages);
    return out;
}

}  // namespace headlight
