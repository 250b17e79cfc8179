// Flows the tokens of each turn in lines.
#include <algorithm>

#include "base/cast.h"
#include "base/utf8.h"
#include "views/chat/chat.h"

namespace headlight {

namespace {

constexpr float kWordGap = 7, kWordLine = 28, kUnder = 18, kRowPadding = 14, kLeastRow = 62, kWordSides = 3,
                kLeastWritten = 34;

const Tokenizer* tokenizer_of(const Scene& s) {
    return s.model()->tokenizer ? s.model()->tokenizer->get() : nullptr;
}

bool keeps(const ChatFlow& f, const Scene& s, float width) {
    const ChatState& state = s.of<ChatState>();
    return f.of_sentence == s.sentence()->serial.value() && f.width == width && f.scale == s.ui.scale &&
           f.on_page == s.ui.on_page() && f.template_tokens == state.template_tokens &&
           f.thinking == state.thinking;
}

/// Sets words one after the other.
class Line {
public:
    Line(Scene& s, const Conversation& chat, float width) : s_(s), chat_(chat), width_(width) {}

    void add(int token, std::vector<ChatWord>& out) {
        const bool content = chat_.is_content[size_t(token)];
        const std::string& label = s_.sentence()->labels[0][size_t(token)];
        const Font font = content ? kBodyMono : kCaptionMono;
        float wide = s_.ui.text.width(font, label) + (content ? 2 * kWordSides : 0);
        if (is_written(s_, token)) wide = std::max(wide, kLeastWritten);
        const std::string bytes = bytes_of(token);
        if (x_ > 0 && (bytes.starts_with(" ") || content != last_)) x_ += kWordGap;
        last_ = content;
        if (x_ > 0 && x_ + wide > width_) end();
        out.push_back({token, {x_, y_, std::min(wide, width_), kWordLine - gap::tight}});
        tall_ |= is_written(s_, token);
        x_ += wide + (content ? 1 : 0);
        if (content && bytes.find('\n') != std::string::npos) end();
    }
    /// Returns the height of all lines.
    float finish() {
        if (x_ > 0) end();
        return y_;
    }

private:
    std::string bytes_of(int token) const {
        const Tokenizer* tokenizer = tokenizer_of(s_);
        return tokenizer ? tokenizer->bytes(s_.sentence()->trace->output().ids[size_t(token)]) : "";
    }
    void end() {
        x_ = 0;
        y_ += kWordLine + (tall_ ? kUnder : 0);
        tall_ = false;
    }

    Scene& s_;
    const Conversation& chat_;
    const float width_;
    float x_ = 0, y_ = 0;
    bool last_ = false;  // the last word is content
    bool tall_ = false;  // the line has probabilities below its words
};

/// Returns the beginning of what a turn says.
std::string first_line(const Scene& s, const Conversation& chat, int turn) {
    constexpr size_t kLongest = 80;
    const Tokenizer* tokenizer = tokenizer_of(s);
    std::string out;
    for (const auto& [first, end] : chat.contents(turn))
        for (int i = first; i < end && out.size() < kLongest && tokenizer; ++i)
            out += tokenizer->bytes(s.sentence()->trace->output().ids[size_t(i)]);
    const size_t from = std::min(out.find_first_not_of(" \n"), out.size());
    out = out.substr(from, out.find('\n', from) - from);
    return shorten_middle(valid_utf8(out), 60);
}

}  // namespace

bool is_written(const Scene& s, int token) {
    const SentenceResult& shown = *s.sentence();
    return shown.written && token >= shown.written->given;
}

float written_probability(const Scene& s, int token) {
    if (!is_written(s, token)) return 0;
    const WrittenText& written = *s.sentence()->written;
    const int i = token - written.given;
    const auto& tokens = written.generation.tokens;
    return i >= 0 && i < isize(tokens) ? tokens[size_t(i)].probability : 0;
}

const ChatFlow& chat_flow(Scene& s, float width) {
    ChatState& state = s.of<ChatState>();
    if (keeps(state.flow, s, width)) return state.flow;
    const Conversation& chat = *shown_chat(s);
    ChatFlow f{s.sentence()->serial.value(), width,          s.ui.scale, s.ui.on_page(),
               state.template_tokens,        state.thinking, {},         0};
    for (int turn = 0; turn < isize(chat.turns); ++turn) {
        const ChatTurn& of = chat.turns[size_t(turn)];
        ChatRow row{turn, f.height, 0, {}, ""};
        const bool folded = of.thinking && f.thinking == Thinking::folded;
        Line line(s, chat, width);
        for (int i = of.first; i < of.end; ++i) {
            const bool content = chat.is_content[size_t(i)];
            if (content ? !folded : f.template_tokens == TemplateTokens::dimmed) line.add(i, row.words);
        }
        if (folded) row.first_line = first_line(s, chat, turn);
        row.h = std::max(kLeastRow, line.finish() + (folded ? kWordLine : 0) + 2 * kRowPadding);
        for (ChatWord& word : row.words) word.at.y += row.y + kRowPadding;
        f.height += row.h;
        f.rows.push_back(std::move(row));
    }
    state.flow = std::move(f);
    return state.flow;
}

}  // namespace headlight
