// Flows the tokens of a text in lines.
#include <algorithm>
#include <utility>

#include "base/cast.h"
#include "parts/controls.h"
#include "views/text/running_text.h"

namespace headlight {

namespace {

constexpr float kBlank = 6;
constexpr int kFewTokens = 120;  // up to which the text is large

bool starts_with(const std::string& text, std::string_view mark) {
    return text.compare(0, mark.size(), mark) == 0;
}

/// A vocabulary marks the start of words ("Ġcat", "▁cat") or their continuation ("##cat").
enum class Blanks { marked, continued };

Blanks blanks_of(const std::vector<std::string>& tokens) {
    const bool marked = std::any_of(tokens.begin(), tokens.end(), [](const std::string& t) {
        return starts_with(t, "Ġ") || starts_with(t, "▁");
    });
    return marked ? Blanks::marked : Blanks::continued;
}

bool has_blank_before(Blanks blanks, const std::string& token) {
    if (blanks == Blanks::marked) return starts_with(token, "Ġ") || starts_with(token, "▁");
    const bool closes =
        token.size() == 1 && std::string_view(".,;:!?)]}'").find(token[0]) != std::string::npos;
    return !starts_with(token, "##") && !closes;
}

bool breaks_line(const std::string& token) {
    return starts_with(token, "Ċ") || starts_with(token, "\n") || token == "<0x0A>";
}

bool is_of(const TextFlow& f, const Scene& s, int stack, float width) {
    return f.of_sentence == s.sentence()->serial.value() && f.stack == stack && f.width == width &&
           f.scale == s.ui.scale && f.on_page == s.ui.on_page();
}

float line_height(Font font) { return font.points * 1.3f + 10; }

/// Places the tokens of a stack in lines of this width.
TextFlow flow_of(const Scene& s, int stack, float width) {
    const auto& tokens = s.sentence()->trace->request.inputs[stack].tokens;
    const auto& labels = s.sentence()->labels[stack];
    TextFlow f{s.sentence()->serial.value(),
               stack,
               width,
               s.ui.scale,
               s.ui.on_page(),
               isize(labels) > kFewTokens ? kBody : kTitle,
               {},
               0};
    const Blanks blanks = blanks_of(tokens);
    const float step = line_height(f.font);
    float x = 0, y = 0;
    for (int i = 0; i < isize(labels); ++i) {
        const float wide = std::min(s.ui.text.width(f.font, labels[i]) + 2 * kTokenSides, width);
        if (i > 0 && has_blank_before(blanks, tokens[i])) x += kBlank;
        if (x > 0 && x + wide > width) x = 0, y += step;
        f.places.push_back({x, y, wide, step - gap::tight});
        x += wide;
        if (breaks_line(tokens[i])) x = 0, y += step;
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
    l.keys = &kept_flow(s, 0, block.key_stack(), room.w - gap::medium);
    if (block.stack != block.key_stack()) {
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
