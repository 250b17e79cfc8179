// Draws turns × turns beside the conversation, and ranks heads by one cell of it.
#include <algorithm>
#include <numeric>

#include "base/cast.h"
#include "parts/matrix_view.h"
#include "parts/side_panel.h"
#include "session/conversation.h"
#include "views/chat/chat.h"
#include "views/views.h"

namespace headlight {

namespace {

constexpr float kTurnNames = 98, kLargestCell = 36;

/// Returns each token's turn, −1 for the template's; `asks`: a turn without content asks with all its tokens.
std::vector<int> turns_of_tokens(const Conversation& chat, bool asks) {
    std::vector<int> out(size_t(chat.tokens()), -1);
    for (int turn = 0; turn < isize(chat.turns); ++turn) {
        const ChatTurn& of = chat.turns[size_t(turn)];
        const bool silent = chat.contents(turn).empty();
        for (int i = of.first; i < of.end; ++i)
            if (chat.is_content[size_t(i)] || (asks && silent)) out[size_t(i)] = turn;
    }
    return out;
}

/// ".33", "1.0": a share in a small cell.
std::string short_share(float share) {
    if (std::isnan(share)) return "";
    if (share >= 0.995f) return decimals(double(share), 1);
    const std::string text = decimals(double(share), 2);
    return share < 0.005f ? "" : text.substr(1);
}

float largest_share(const TurnsFound& found) {
    float out = 1e-6f;
    for (const TurnWeights* of : {&found.shown, &found.own})
        for (Index i = 0; i < of->turns.size(); ++i)
            if (!std::isnan(of->turns.data()[i])) out = std::max(out, of->turns.data()[i]);
    return out;
}

/// Hatches what no token can see: later turns, and masked ones.
Matrix places_of_turns(const Scene& s, const Matrix& turns, float largest, bool changed) {
    Matrix out = places_of(turns, largest);
    const bool causal = s.model()->config.stacks[0].causal;
    for (int i = 0; i < out.rows(); ++i)
        for (int j = 0; j < out.cols(); ++j) {
            const bool masked = changed && i > j && masks_turn(s, j);
            if ((causal && j > i) || masked) out(i, j) = kMaskedCell;
        }
    return out;
}

std::string about_turns(const Scene& s, const Conversation& chat, const Matrix& turns, int i, int j) {
    if (std::isnan(turns(i, j)) || (s.model()->config.stacks[0].causal && j > i)) return "";
    return turn_in_words(chat, i) + " → " + turn_in_words(chat, j) + ": " +
           fine_number(double(turns(i, j)), 3) + " (" + measure_name(s) + ")";
}

MatrixView turns_view(const Scene& s, const Conversation& chat, const TurnWeights& weights, float largest,
                      bool changed) {
    const Colormap& colors = colormap(s.session.preferences.colormap, s.ui.colors->dark);
    const Matrix& turns = weights.turns;
    MatrixView out{.path = changed ? "chat/turns" : "chat/turns/before",
                   .cells = {places_of_turns(s, turns, largest, changed), colors, false},
                   .rows = {[&chat](int i) { return turn_name(chat, i); }},
                   .columns = {index_name},
                   .bar = range_bar(colors, double(largest)),
                   .max_w = kLargestCell,
                   .max_h = kLargestCell,
                   .ratio = 1,
                   .level = true,
                   .number = [&turns](int i, int j) { return short_share(turns(i, j)); },
                   .numbered = 27,
                   .tip = [&s, &chat, &turns](int i, int j) { return about_turns(s, chat, turns, i, j); }};
    out.rows.room = kTurnNames;
    if (attended_turn(s) >= 0) out.marked = std::pair{asked_turn(s), attended_turn(s)};
    return out;
}

/// Locks the pair of tokens with the largest weight between two turns in the shown head.
void lock_strongest(const Scene& s, const Conversation& chat, int asked, int attended) {
    std::pair<int, int> best{-1, -1};
    float most = -1;
    for (const auto& [first, end] : chat.contents(attended))
        for (int q = chat.turns[size_t(asked)].first; q < chat.turns[size_t(asked)].end; ++q)
            for (int k = first; k < end; ++k)
                if (const float w = s.weight(q, k); w > most) {
                    most = w;
                    best = {q, k};
                }
    if (best.first >= 0) s.lock(best);
}

/// Zooms the heat map to the tokens of two turns; without one attended to, to all.
void show_in_heat_map(const Scene& s, const Conversation& chat, int asked, int attended) {
    Viewport::Part part;
    const float n = float(chat.tokens());
    if (attended >= 0) {
        const ChatTurn &q = chat.turns[size_t(asked)], &k = chat.turns[size_t(attended)];
        part = {float(k.first) / n, float(q.first) / n, float(k.end) / n, float(q.end) / n};
        if (s.session.preferences.queries == Axis::columns) part = {part.y0, part.x0, part.y1, part.x1};
    }
    find_view("head")->seen(s.states).wanted = part;
}

void draw_turn_map(Scene& s, Rect area, const Conversation& chat, const TurnWeights& weights, float largest,
                   bool changed) {
    MatrixView view = turns_view(s, chat, weights, largest, changed);
    const MatrixLayout l = arrange_matrix(s.ui, area, view);
    const MatrixAnswer answer = answer_matrix(s, l, view);
    draw_matrix_view(s, l, view);
    if (!answer.pressed || !answer.hovered) return;
    ChosenTurns& chosen = s.of<ChosenTurns>();
    const auto [asked, attended] = *answer.hovered;
    const bool again = asked == asked_turn(s) && attended == attended_turn(s);
    chosen.asked = again ? -1 : asked;
    chosen.attended = again ? -1 : attended;
    if (!again) lock_strongest(s, chat, asked, attended);
    show_in_heat_map(s, chat, asked, again ? -1 : attended);
    s.leave_text();
}

/// "Attention of the answer: .09 to system 0, .08 to user 4. The rest, .59, is the template …".
std::string row_in_words(const Scene& s, const Conversation& chat, const TurnWeights& weights) {
    const int row = asked_turn(s);
    std::vector<int> order(size_t(weights.turns.cols()));
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](int a, int b) { return weights.turns(row, a) > weights.turns(row, b); });
    std::string out = "Attention of " + turn_in_words(chat, row) + ": ";
    int named = 0;
    double sum = 0;
    for (const int turn : order) {
        const float share = weights.turns(row, turn);
        if (std::isnan(share)) return "Nothing of this turn is read yet.";
        sum += double(share);
        if (share < 0.005f || named == 3) continue;
        out += (named++ ? ", " : "") + short_share(share) + " to " +
               (turn == row ? "itself" : turn_in_words(chat, turn));
    }
    if (named == 0) out += "none to what anyone says";
    if (s.of<ChatState>().measure == TurnMeasure::max) return out + ".";
    const float first = weights.tokens(row, 0);
    const bool is_template = !chat.is_content[0];
    out += ". The rest, " + decimals(std::max(0.0, 1 - sum), 2).substr(sum > 0 ? 1 : 0) +
           ", is the template" +
           (s.of<ChatState>().measure == TurnMeasure::contribution ? " and the tokens’ own stream" : "");
    return out + (is_template && first >= 0.005f ? " (" + short_share(first) + " its first token)." : ".");
}

}  // namespace

TurnsRequest turns_request(const Scene& s) {
    const Conversation& chat = *shown_chat(s);
    const ChatState& state = s.of<ChatState>();
    TurnsRequest out{turns_of_tokens(chat, true), turns_of_tokens(chat, false), isize(chat.turns),
                     state.measure, std::nullopt};
    if (state.one_head) out.head = AttentionHead{s.session.selection.block, s.session.selection.head};
    return out;
}

TurnsFound shown_turns(const Scene& s) {
    TurnsFound out = measured(s, turns_request(s));
    if (out.shown.turns.rows() != isize(shown_chat(s)->turns)) out = TurnsFound{{}, {}, out.refusal};
    return out;
}

std::string measure_name(const Scene& s) {
    const ModelConfig& c = s.model()->config;
    const ChatState& state = s.of<ChatState>();
    const std::string of = state.one_head
                               ? "head " + head_name(c, s.session.selection.block, s.session.selection.head)
                               : std::to_string(c.head_count()) + " heads";
    if (state.measure == TurnMeasure::contribution)
        return "share of what " + of + " move" + (state.one_head ? "s" : "");
    if (state.one_head) return of;
    return (state.measure == TurnMeasure::max ? "largest of " : "mean of ") + of;
}

void draw_turn_maps(Scene& s, Rect area) {
    Ui& ui = s.ui;
    const Conversation& chat = *shown_chat(s);
    const TurnsFound found = shown_turns(s);
    if (!found.shown.turns.size()) {
        caption_lines(ui, area, found.refusal.empty() ? "computing…" : found.refusal);
        return;
    }
    const float largest = largest_share(found);
    const bool both = found.own.turns.size() > 0;
    Rect rest = area;
    if (both) {
        Rect before = take_top(rest, (area.h - gap::medium) / 2, gap::medium);
        write(ui, take_top(before, size::line), kBody, ui.colors->t1, "before");
        draw_turn_map(s, before, chat, found.own, largest, false);
        write(ui, take_top(rest, size::line), kBody, ui.colors->accent_text, "now");
    }
    draw_turn_map(s, rest, chat, found.shown, largest, true);
}

void draw_chat_side(Scene& s, Rect area) {
    Ui& ui = s.ui;
    const Conversation* chat = shown_chat(s);
    Rect rest = panel_column(area);
    Rect title = take_top(rest, size::view_header);
    write(ui, title, kTitle, ui.colors->t1, "Turns × turns");
    if (!chat) return;
    write(ui, beside_title(title), kCaption, ui.colors->t3, measure_name(s), Flush::right);
    ChatState& state = s.of<ChatState>();
    Toolbar bar(ui, take_top(rest, size::row, gap::medium));
    bar.labels = false;
    bar.choose("Measure", "chat/measure", {"mean", "max", "contribution"}, state.measure);
    if (const int of =
            bar.choice("Heads", "chat/heads", {"all heads", "selected head"}, state.one_head ? 1 : 0);
        of >= 0)
        state.one_head = of == 1;
    Rect foot = take_bottom(rest, size::button, gap::medium);
    const int turn = attended_turn(s) >= 0 ? attended_turn(s) : asked_turn(s);
    const bool can = turn + 1 < isize(chat->turns) && !chat->contents(turn).empty();
    const bool masked = masks_turn(s, turn);
    const Ui::Look look = can ? Ui::Look::normal : Ui::Look::off;
    if (ui.button("chat/mask", nth_column(foot, 0, 2, gap::small), masked ? "Unmask turn" : "Mask turn",
                  look) &&
        can)
        s.send("mask turn", std::to_string(turn));
    if (ui.button("chat/only", nth_column(foot, 1, 2, gap::small), "Only this turn", look) && can)
        s.send("only turn", std::to_string(turn));
    const TurnsFound found = shown_turns(s);
    if (found.shown.turns.size()) {
        constexpr float kWords = 76;
        caption_lines(ui, take_bottom(rest, kWords, gap::small), row_in_words(s, *chat, found.shown));
    }
    draw_turn_maps(s, rest);
}

bool draw_chat_list(Scene& s, Rect area) {
    const Conversation* chat = shown_chat(s);
    if (!chat || attended_turn(s) < 0) return false;
    const TurnsFound found = shown_turns(s);
    const int cell = asked_turn(s) * isize(chat->turns) + attended_turn(s);
    if (cell >= found.shown.heads.cols()) return false;
    const Rect rest = list_heading(
        s.ui, area, turn_name(*chat, asked_turn(s)) + " → " + turn_name(*chat, attended_turn(s)), "weight");
    RankedHeads heads{"chat/ranked/", {}, {}, std::pair{s.session.selection.block, s.session.selection.head}};
    for (Index i = 0; i < found.shown.heads.rows(); ++i) heads.values.push_back(found.shown.heads(i, cell));
    heads.order = order_by(heads.values, false);
    if (const auto pressed = draw_ranked(s, rest, s.model()->config, heads))
        s.select(pressed->first, pressed->second);
    return true;
}

std::vector<NumberTable> chat_numbers(const Scene& s) {
    const Conversation* chat = shown_chat(s);
    if (!chat) return {};
    const TurnsFound found = shown_turns(s);
    std::vector<std::string> turns, tokens;
    for (int i = 0; i < isize(chat->turns); ++i) turns.push_back(turn_name(*chat, i));
    for (int i = 0; i < chat->tokens(); ++i) tokens.push_back(token_at(s.sentence()->labels[0], i));
    std::vector<NumberTable> out;
    for (const auto& [name, of] :
         {std::pair{std::string("now"), &found.shown}, {std::string("before"), &found.own}}) {
        if (!of->turns.size()) continue;
        out.push_back({"turns " + name, "turn", "turn attended to", turns, turns, of->turns});
        out.push_back({"tokens " + name, "turn", "token", turns, tokens, of->tokens});
    }
    return out;
}

}  // namespace headlight
