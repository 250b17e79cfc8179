#include "views/chat/chat.h"

#include <algorithm>

#include "base/cast.h"
#include "parts/generation.h"
#include "parts/map_parts.h"
#include "session/conversation.h"
#include "views/views.h"

namespace headlight {

void ChatState::visit(FieldVisitor& v) {
    v.choose("chat_template", template_tokens,
             {"chat template",
              "Chat: the template’s tokens",
              "what the chat template writes",
              {"dimmed", "hidden"}},
             {.name = "chat-template", .figure_alone = true});
    v.choose(
        "chat_thinking", thinking,
        {"chat thinking", "Chat: thinking", "what the model thinks before it answers", {"folded", "shown"}},
        {.name = "chat-thinking", .figure_alone = true});
    v.choose("chat_measure", measure,
             {"chat measure",
              "Chat: attention between turns",
              "mean or largest weight of the heads, or the length of what they move",
              {"mean", "max", "contribution"}},
             {.name = "chat-measure"});
    v.choose("chat_heads", one_head,
             {"chat heads", "Chat: heads", "all heads, or the selected one", {"all", "selected"}});
}

namespace {

constexpr float kNumber = 36, kRole = 104, kMaskedEdge = 6, kPageSide = 340;

/// Where the words of a row begin, and their width.
float words_from() { return kNumber + kRole; }
float words_width(const Scene& s, Rect area) {
    constexpr float kActions = 150;
    return std::max(80.0f, area.w - words_from() - (s.ui.on_page() ? gap::large : kActions));
}

struct Shading {
    const Colormap& map;
    const Matrix* tokens;  // TurnWeights::tokens, or null
    int turn;
    float largest;

    float at(int token) const { return tokens ? (*tokens)(turn, token) : std::nanf(""); }
};

/// Returns how tokens are shaded: by what the asked turn looks at, up to the largest content token.
Shading shading_of(const Scene& s, const Conversation& chat, const TurnWeights& weights) {
    Shading out{colormap(s.session.preferences.colormap, s.ui.colors->dark), nullptr, asked_turn(s), 0};
    if (weights.tokens.cols() != chat.tokens() || out.turn >= weights.tokens.rows()) return out;
    out.tokens = &weights.tokens;
    for (int i = 0; i < chat.tokens(); ++i)
        if (chat.is_content[size_t(i)] && !std::isnan(out.at(i)))
            out.largest = std::max(out.largest, out.at(i));
    return out;
}

std::string about_chat_token(const Scene& s, const Conversation& chat, const Shading& shades, int token) {
    const std::string name = token_at(s.sentence()->labels[0], token);
    const float p = written_probability(s, token);
    std::string out = name;
    if (shades.tokens && !std::isnan(shades.at(token)))
        out += ": " + fine_number(double(shades.at(token)), 3) + " of the attention of " +
               turn_in_words(chat, shades.turn) + " (" + measure_name(s) + ")";
    if (p > 0) out += ". The model wrote it with p = " + decimals(double(p), 3) + ".";
    return out;
}

void draw_chat_word(Scene& s, Rect at, int token, const Conversation& chat, const Shading& shades,
                    bool masked) {
    Ui& ui = s.ui;
    const std::string& label = s.sentence()->labels[0][size_t(token)];
    if (!chat.is_content[size_t(token)]) return void(write(ui, at, kCaptionMono, ui.colors->t3, label));
    const float value = shades.at(token);
    ImU32 ink = ui.colors->t1;
    if (masked) {
        ui.hatch(at, ui.colors->l2);
        ink = ui.colors->t2;
    } else if (!std::isnan(value) && shades.largest > 0 && token < chat.turns[size_t(shades.turn)].end) {
        const ImU32 back = color_at(shades.map, value / shades.largest);
        ui.fill(at, back, 2);
        ink = ink_on(back);
    }
    write(ui, at, kBodyMono, ink, label, Flush::center);
    if (const float p = written_probability(s, token); p > 0)
        write(ui, {at.x - gap::large, at.bottom(), at.w + 2 * gap::large, 16}, kCaptionMono,
              p < 0.1f ? ui.colors->accent_text : ui.colors->t3, decimals(double(p), 2), Flush::center);
}

/// Draws what can be done with a turn's message at the right of its row.
void draw_turn_actions(Scene& s, Rect row, const Conversation& chat, int turn, bool hovered) {
    Ui& ui = s.ui;
    const ChatTurn& of = chat.turns[size_t(turn)];
    const std::string path = "chat/" + std::to_string(turn);
    const float y = row.y + 26;
    const bool last = turn + 1 == isize(chat.turns);
    const bool sent = last && s.session.document.text.empty();
    const Rect button{row.right() - 112, row.y + 14, 96, size::row};
    if (sent && s.sentence()->is_writing()) {
        if (ui.button("chat/stop", button, "Stop")) s.send("stop answer");
        return;
    }
    if (sent && chat.answers && !s.sentence()->written && can_generate(s)) {
        if (ui.button("chat/generate", button, "Generate", Ui::Look::primary)) s.send("answer");
        return;
    }
    if (!hovered || of.message < 0) return;
    const bool masked = masks_turn(s, turn), own = of.message < draft_of(s.session.document).size();
    float right = row.right() - gap::large;
    if (!chat.contents(turn).empty() && !last) {
        if (ui.link(path + "/mask", right, y, masked ? "Unmask" : "Mask", masked))
            s.send("mask turn", std::to_string(turn));
        right -= ui.text.width(kCaption, masked ? "Unmask" : "Mask") + gap::medium;
    }
    if (!own || of.thinking) return;
    if (ui.link(path + "/remove", right, y, "Remove")) s.send("remove message", std::to_string(of.message));
    right -= ui.text.width(kCaption, "Remove") + gap::medium;
    if (ui.link(path + "/edit", right, y, "Edit")) s.send("edit message", std::to_string(of.message));
}

void draw_speaker(Scene& s, Rect row, const Conversation& chat, int turn, bool asked) {
    Ui& ui = s.ui;
    const ChatTurn& of = chat.turns[size_t(turn)];
    const Rect name{row.x + kNumber, row.y + 14, kRole - gap::small, size::line};
    write(ui, {row.x + gap::medium, name.y, kNumber - gap::medium, name.h}, kCaptionMono, ui.colors->t3,
          std::to_string(turn));
    write(ui, name, kBody, asked ? ui.colors->accent_text : ui.colors->t1, of.role);
    write(ui, {name.x, name.bottom(), name.w, size::line}, kCaption, ui.colors->t3,
          counted_tokens(of.end - of.first));
}

void draw_folded(Scene& s, Rect row, const ChatRow& of, float from) {
    Ui& ui = s.ui;
    constexpr float kHigh = 24;
    Rect box{row.x + from, row.bottom() - 14 - kHigh, std::min(row.w - from - gap::wide, 460.0f), kHigh};
    const Hit h = ui.control("chat/thinking/" + std::to_string(of.turn), box);
    if (ui.on_page()) return void(write(ui, box, kCaption, ui.colors->t2, "“" + of.first_line + "”"));
    ui.fill(box, h.hovered ? ui.colors->bg3 : ui.colors->bg2, size::corner);
    Rect inside = inset(box, gap::small, 0);
    ui.chevron(take_left(inside, gap::medium, gap::small).middle(), 4, ui.colors->t3, false);
    write(ui, take_right(inside, 64), kCaption, ui.colors->t3, "unfold", Flush::right);
    write(ui, inside, kCaption, ui.colors->t2, "“" + of.first_line + "”");
    if (h.clicked) s.send("chat thinking", "shown");
}

/// Chooses a turn by a click on its row; a token is locked.
void answer_row(Scene& s, Rect row, const ChatRow& of, ImVec2 corner, const Conversation& chat,
                const Shading& shades) {
    Ui& ui = s.ui;
    ChosenTurns& chosen = s.of<ChosenTurns>();
    const std::string path = "chat/" + std::to_string(of.turn);
    const Hit h = ui.control(path, row);
    if (!h.hovered && !h.clicked) return;
    for (const ChatWord& word : of.words) {
        Rect at = word.at;
        at.x += corner.x;
        at.y += corner.y;
        if (!h.hovered || !at.contains(h.mouse)) continue;
        ui.tooltip("chat/token/" + std::to_string(word.token), h,
                   about_chat_token(s, chat, shades, word.token));
        const int query = std::max(word.token, chat.turns[size_t(asked_turn(s))].end - 1);
        if (h.clicked) s.lock(std::pair{query, word.token});
        if (h.clicked) s.leave_text();
        return;
    }
    if (!h.clicked) return;
    chosen.asked = asked_turn(s) == of.turn ? -1 : of.turn;
    if (chosen.attended > asked_turn(s)) chosen.attended = -1;
    s.leave_text();
}

void draw_turn(Scene& s, Rect row, const ChatRow& of, const Conversation& chat, const Shading& shades) {
    Ui& ui = s.ui;
    const bool masked = masks_turn(s, of.turn), asked = asked_turn(s) == of.turn;
    const ImVec2 corner{row.x + words_from(), row.y - of.y};
    if (attended_turn(s) == of.turn) ui.fill(row, ui.colors->bg2);
    if (!ui.on_page()) draw_turn_actions(s, row, chat, of.turn, row.contains(ui.mouse));
    if (!of.first_line.empty()) draw_folded(s, row, of, words_from());
    if (!ui.on_page()) answer_row(s, row, of, corner, chat, shades);  // after what stands in the row
    ui.name("chat/row/" + std::to_string(of.turn), row);
    if (masked) ui.hatch({row.x, row.y, kMaskedEdge, row.h}, ui.colors->accent);
    draw_speaker(s, row, chat, of.turn, asked);
    for (const ChatWord& word : of.words) {
        Rect at = word.at;
        at.x += corner.x;
        at.y += corner.y;
        ui.name("chat/token/" + std::to_string(word.token), at);
        draw_chat_word(s, at, word.token, chat, shades, masked);
    }
    ui.hairline(row.x, row.bottom() - 1, row.right(), row.bottom() - 1);
}

bool thinks(const Conversation& chat) {
    return std::any_of(chat.turns.begin(), chat.turns.end(), [](const ChatTurn& t) { return t.thinking; });
}

void draw_chat_toolbar(Scene& s, Rect& rest, const Conversation& chat) {
    Toolbar bar = view_toolbar(s.ui, rest);
    ChatState& state = s.of<ChatState>();
    bar.choose("Template", "chat/template", {"dimmed", "hidden"}, state.template_tokens);
    if (thinks(chat)) bar.choose("Thinking", "chat/thinking", {"folded", "shown"}, state.thinking);
    if (bar.link("chat/system", "System prompt")) s.send("next role", "system");
    if (bar.link("chat/new", "New")) s.send("new chat");
    const Rect left = bar.rest();
    write(s.ui, left, kCaption, s.ui.colors->t3,
          first_that_fits(
              s.ui, kCaption,
              {"color: what " + turn_in_words(chat, asked_turn(s)) + " looks at", "color: attention", ""},
              left.w),
          Flush::right);
}

/// Says how to begin where there is no conversation.
void draw_beginning(Scene& s, Rect area) {
    Rect rest = inset(area, size::center_pad, gap::section);
    const bool chats = s.session.document.chatting;
    caption(s.ui, take_top(rest, size::row, gap::small),
            chats ? "Write a message above; Enter sends it, and the model answers."
                  : "A text stands above. A chat model reads a conversation: messages in its own template.");
    const Rect button{rest.x, rest.y, 200, size::button};
    if (!chats && s.ui.button("chat/begin", button, "Begin a conversation")) s.send("chat", "on");
}

}  // namespace

bool masks_turn(const Scene& s, int turn) {
    return is_turn_masked(s.sentence()->trace->request.intervention, *shown_chat(s), turn);
}

std::string turn_name(const Conversation& chat, int turn) {
    return std::to_string(turn) + " " + chat.turns[size_t(turn)].role;
}

void draw_chat(Scene& s, Rect area) {
    Ui& ui = s.ui;
    const Conversation* chat = shown_chat(s);
    if (!chat) return draw_beginning(s, area);
    Rect rest = area;
    if (ui.on_page()) {
        draw_turn_maps(s, inset(take_right(rest, kPageSide), gap::medium, gap::medium));
    } else {
        draw_chat_toolbar(s, rest, *chat);
    }
    ChatState& state = s.of<ChatState>();
    const ChatFlow& flow = chat_flow(s, words_width(s, rest));
    const float below = draw_own_answer(s, rest, false);
    state.seen.wide = rest.w;
    state.seen.high = rest.h;
    if (ui.on_page()) state.seen.y = 0;
    scrolled(ui, rest, flow.height + below, state.seen);
    const TurnsFound turns = shown_turns(s);
    const Shading shades = shading_of(s, *chat, turns.shown);
    ui.scroll_area(rest);
    ui.text.may_cut(TextPainter::MayCut::lines);
    for (const ChatRow& of : flow.rows) {
        const Rect row{rest.x, rest.y + of.y - state.seen.y, rest.w, of.h};
        if (ui.in_sight(row)) draw_turn(s, row, of, *chat, shades);
    }
    if (below > 0) draw_own_answer(s, {rest.x, rest.y + flow.height - state.seen.y, rest.w, below}, true);
    ui.text.may_cut(TextPainter::MayCut::nothing);
    ui.end_scroll_area();
}

namespace {

const char* no_chat(const Model& m) {
    if (const char* missing = cannot_run(m)) return missing;
    return has_chat_template(m) ? nullptr : kNoChatTemplate;
}

std::vector<Question> ask_chat(const Scene& s) {
    if (!s.ui.on_page() || !shown_chat(s)) return {};
    std::vector<Question> out{turns_request(s)};
    if (const auto own = own_answer_request(s)) out.emplace_back(*own);
    return out;
}

std::vector<JobRequest> measured_chat(const Scene& s, bool shown) {
    if (!shown || !shown_chat(s)) return {};
    std::vector<JobRequest> out{Measuring<TurnsRequest>::Request{turns_request(s)}};
    if (const auto own = own_answer_request(s)) out.emplace_back(Measuring<OwnAnswerRequest>::Request{*own});
    return out;
}

void begin_chat(CommandContext& c) {
    if (!c.session.document.chatting && c.model() && has_chat_template(*c.model()))
        c.session.document.chatting = true;
}

}  // namespace

View chat_view() {
    return {.key = "chat",
            .name = "Chat",
            .answers = ViewGroup::look,
            .synonyms = "conversation, turns, roles, messages, chat template, system prompt, thinking",
            .draw = draw_chat,
            .offered = reads_text,
            .stands = has_chat_template,
            .missing = no_chat,
            .shows = View::Shows::model,
            .ask = ask_chat,
            .beside = {.list = draw_chat_list, .inspect = always<draw_chat_side>},
            .page_w = 1240,
            .page_h = 720,
            .jobs = measured_chat,
            .title = [](const Scene&) { return std::string("Chat"); },
            .numbers = chat_numbers,
            .visit =
                [](StateBag& bag, FieldVisitor& v) {
                    visit_state<ChatState>(bag, v);
                    visit_state<ChosenTurns>(bag, v);
                },
            .seen = seen_of<ChatState>,
            .begin = begin_chat};
}

}  // namespace headlight
