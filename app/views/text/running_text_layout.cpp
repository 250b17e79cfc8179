// Flows the tokens of a text in lines.
#include <algorithm>
#include <utility>

#include "base/cast.h"
#include "parts/controls.h"
#include "views/text/running_text.h"

namespace headlight {

namespace {

constexpr float kBlank = 8;
constexpr int kFewTokens = 120;  // up to which the text is large

bool is_of(const TextFlow& f, const Scene& s, int stack, float width) {
    return f.of_sentence == s.sentence()->serial.value() && f.stack == stack && f.width == width &&
           f.scale == s.ui.scale && f.on_page == s.ui.on_page();
}

float line_height(Font font) { return font.points * 1.3f + 10; }

/// Ends a run of words that are read from right to left; spaces and digits between two of them belong to it.
size_t end_of_leftward(const std::vector<TextWord>& words, size_t begin) {
    size_t end = begin;
    for (size_t i = begin; i < words.size() && (words[i].leftward || !words[i].directed); ++i)
        if (words[i].leftward) end = i + 1;
    return end;
}

/// Mirrors words of a line that are read from right to left, each run of them by itself.
void turn_leftward(std::vector<TextWord>& words, size_t first, const std::vector<float>& widths) {
    for (size_t begin = first; begin < words.size(); ++begin) {
        if (!words[begin].leftward) continue;
        const size_t end = end_of_leftward(words, begin);
        const float left = words[begin].x, right = words[end - 1].x + widths[end - 1];
        for (; begin < end; ++begin) words[begin].x = left + right - words[begin].x - widths[begin];
    }
}

/// Breaks the words into lines of a width; returns the width of each.
std::vector<float> break_lines(Ui& ui, TextFlow& f, float step) {
    std::vector<float> widths;
    float x = 0, y = 0;
    size_t line = 0;
    const auto next_line = [&](size_t from) {
        turn_leftward(f.words, line, widths);
        line = from;
        x = 0;
        y += step;
    };
    std::vector<TextWord> words = std::exchange(f.words, {});
    for (TextWord& word : words) {
        const float wide = std::min(ui.text.width(f.font, word.text), f.width - 2 * kTokenSides);
        if (x > 0 && word.blank) x += kBlank;
        if (x > 0 && x + wide + 2 * kTokenSides > f.width) next_line(f.words.size());
        word.x = x + kTokenSides;
        word.y = y;
        x += wide;
        f.words.push_back(std::move(word));
        widths.push_back(wide);
        if (f.words.back().ends_line) next_line(f.words.size());
    }
    turn_leftward(f.words, line, widths);
    return widths;
}

/// Splits a word that no line holds into its tokens.
void split_wide_words(Ui& ui, TextFlow& f, const std::vector<std::string>& labels) {
    std::vector<TextWord> out;
    for (TextWord& word : f.words) {
        if (word.count == 1 || ui.text.width(f.font, word.text) + 2 * kTokenSides <= f.width) {
            out.push_back(std::move(word));
            continue;
        }
        for (int i = 0; i < word.count; ++i) {
            const std::string& label = labels[word.first + i];
            out.push_back({word.first + i, 1, label, {label.size()}, word.blank && i == 0});
        }
        out.back().ends_line = word.ends_line;
    }
    f.words = std::move(out);
}

/// Places the tokens of a stack in lines of this width: each has its part of its word.
TextFlow flow_of(const Scene& s, int stack, float width) {
    const auto& labels = s.sentence()->labels[stack];
    TextFlow f{s.sentence()->serial.value(),
               stack,
               width,
               s.ui.scale,
               s.ui.on_page(),
               isize(labels) > kFewTokens ? kBody : kTitle,
               words_of_tokens(s, stack),
               {},
               0};
    const float step = line_height(f.font);
    split_wide_words(s.ui, f, labels);
    const std::vector<float> widths = break_lines(s.ui, f, step);
    for (size_t i = 0; i < f.words.size(); ++i) {
        const TextWord& word = f.words[i];
        const auto parts = s.ui.text.parts(f.font, word.text, word.ends);
        for (const auto& [left, right] : parts) {
            const float end = std::max(0.0f, widths[i]),  // no width: less room than a word's pads
                from = std::clamp(left, 0.0f, end), to = std::clamp(right, from, end);
            f.places.push_back({word.x + from, word.y, to - from, step - gap::tight});
        }
    }
    f.height = f.places.empty() ? 0 : f.places.back().bottom() + gap::tight;
    return f;
}

const TextFlow& kept_flow(Scene& s, size_t which, int stack, float width) {
    TextFlow& f = s.of<RunningTextState>().flows[which];
    if (!is_of(f, s, stack, width)) f = flow_of(s, stack, width);
    return f;
}

}  // namespace

TextLayout arrange_text(Scene& s, Rect room) {
    const AttentionBlock block = s.model()->config.block(s.block());
    TextLayout l;
    l.view = room;
    l.keys = &kept_flow(s, 0, block.key_stack, room.w - gap::medium);
    if (block.stack != block.key_stack) {
        l.queries = &kept_flow(s, 1, block.stack, room.w - gap::medium);
        l.keys_from = l.queries->height + 2 * gap::section;
    }
    return l;
}

void follow_query(Scene& s, TextLayout& l, int query) {
    auto& state = s.of<RunningTextState>();
    const std::pair now{l.of_queries().stack, query};
    if (std::exchange(state.followed, now) == now) return;
    const Rect r = l.of_queries().places[query];
    const float top = r.y + (l.queries ? 0 : l.keys_from);
    state.seen.y = scrolled_to(state.seen.y, top - gap::large, top + r.h + gap::large, l.view.h);
}

std::pair<int, int> tokens_in_sight(const TextLayout& l, const TextFlow& flow) {
    const float above = l.offset - (&flow == l.keys ? l.keys_from : 0), below = above + l.view.h;
    const auto first = std::partition_point(flow.places.begin(), flow.places.end(),
                                            [&](Rect r) { return r.bottom() <= above; });
    const auto last = std::partition_point(first, flow.places.end(), [&](Rect r) { return r.y < below; });
    return {narrow<int>(first - flow.places.begin()), narrow<int>(last - flow.places.begin())};
}

}  // namespace headlight
