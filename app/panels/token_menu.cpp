// The token menu: each entry runs a command of the table.
#include "panels/token_menu.h"

#include <algorithm>
#include <cmath>

#include "base/quoted.h"
#include "panels/token_chips.h"
#include "parts/sheet_frame.h"
#include "session/commands/commands.h"

namespace headlight {

namespace {

const Sequence& sequence_of(const SentenceResult& s, int stack) { return s.trace->request.inputs[stack]; }

/// "4", or "source 4" if another stack reads the target.
std::string token_words(const Scene& s, TokenPlace t) {
    const bool source = t.stack + 1 < isize(s.sentence()->labels);
    return (source ? "source " : "") + std::to_string(t.position);
}

/// Spells a token's position as parse_change does: as a key of every head that reads it.
std::vector<std::string> mask_words(const Scene& s, TokenPlace t) {
    const std::string cells = "*>" + std::to_string(t.position);
    if (s.sentence()->labels.size() == 1) return {cells};
    if (t.stack > 0) return {cells + "@decoder"};
    return {cells + "@encoder", cells + "@cross"};
}

bool is_masked(const Scene& s, TokenPlace t) {
    const auto& changes = s.session.document.intervention.changes;
    const auto change = parse_change(s.model()->config, "mask:" + mask_words(s, t)[0]);
    return change && std::find(changes.begin(), changes.end(), *change) != changes.end();
}

std::vector<int> occurrences(const SentenceResult& s, TokenPlace t) {
    const auto& ids = sequence_of(s, t.stack).ids;
    std::vector<int> out;
    for (int i = 0; i < isize(ids); ++i)
        if (ids[i] == ids[t.position]) out.push_back(i);
    return out;
}

/// An entry: its label, why it is unavailable (null: available), its command.
struct TokenEntry {
    const char* key;
    const char* help;
    std::string (*label)(const Scene& scene, TokenPlace token);
    const char* (*missing)(const Scene& scene, TokenPlace token);
    SentCommand (*command)(const Scene& scene, TokenPlace token);
};

const char* cannot_mask(const Scene& s, TokenPlace) {
    return s.sentence()->trace->can_run() ? nullptr : "A trace holds no weights: open its model for that.";
}

SentCommand mask_everywhere(const Scene& s, TokenPlace t) {
    const auto words = mask_words(s, t);
    if (words.size() == 1) return {"mask", words[0]};
    std::string all;
    for (const std::string& one : words) all += (all.empty() ? "mask " : "; mask ") + one;
    return {"do", all};
}

const char* is_no_query(const Scene& s, TokenPlace t) {
    return s.model()->config.block(s.block()).stack == t.stack && s.answer->picture
               ? nullptr
               : "The selected head has its queries in the other text.";
}

SentCommand lock_as_query(const Scene& s, TokenPlace t) {
    return {"lock", std::to_string(t.position) + "," + std::to_string(s.strongest_key(t.position))};
}

const char* has_no_score(const Scene& s, TokenPlace t) {
    if (const char* missing = no_weights(*s.model())) return missing;
    return is_no_query(s, t);
}

const char* is_not_predicted(const Scene& s, TokenPlace t) {
    const Capabilities& can = s.model()->config.can;
    if (!s.model()->has_logits() || !s.sentence()->trace->can_run()) return "This model predicts no tokens.";
    if (can.read_image || t.stack + 1 < isize(s.sentence()->labels))
        return "The model only reads this text and predicts none of its tokens.";
    return t.position == 0 && !can.fill_masks ? "No token comes before it." : nullptr;
}

constexpr TokenEntry kEntries[] = {
    {"mask", "Masks this token as a key in every head.",
     [](const Scene& s, TokenPlace t) -> std::string {
         return is_masked(s, t) ? "Unmask for all heads" : "Mask for all heads";
     },
     cannot_mask, mask_everywhere},
    {"query", "Locks this query: every view shows what it attends to.",
     [](const Scene&, TokenPlace) -> std::string { return "Use as query"; }, is_no_query, lock_as_query},
    {"origins", "Breaks down the score of its strongest key, part by part.",
     [](const Scene&, TokenPlace) -> std::string { return "Break down its score"; }, has_no_score,
     [](const Scene& s, TokenPlace t) -> SentCommand {
         return {"origins", lock_as_query(s, t).words};
     }},
    {"explain", "Makes its log p the metric and opens Prediction.",
     [](const Scene&, TokenPlace) -> std::string { return "Explain its prediction"; }, is_not_predicted,
     [](const Scene&, TokenPlace t) -> SentCommand {
         return {"explain", std::to_string(t.position)};
     }},
    {"copy", "Copies its text to the clipboard.",
     [](const Scene&, TokenPlace) -> std::string { return "Copy"; }, nullptr,
     [](const Scene& s, TokenPlace t) -> SentCommand {
         return {"copy token", token_words(s, t)};
     }},
    {"count", "Highlights every occurrence of this token.",
     [](const Scene& s, TokenPlace t) -> std::string {
         return "Count: " + std::to_string(occurrences(*s.sentence(), t).size()) + " in the text";
     },
     nullptr,
     [](const Scene& s, TokenPlace t) -> SentCommand {
         return {"count", token_words(s, t)};
     }},
};

constexpr float kMenuEdge = 6, kTokenTitle = 28;

/// Width of the longest line.
float token_menu_width(const Scene& s, TokenPlace t) {
    constexpr float kLeast = 180;
    std::vector<std::string> lines;
    for (const TokenEntry& entry : kEntries) lines.push_back(entry.label(s, t));
    return std::max(kLeast, std::ceil(widest_of(s.ui, kBody, lines)) + 2 * (kMenuEdge + gap::small));
}

Rect token_menu_place(const Scene& s, Rect window, TokenPlace t) {
    const TokenMenu& menu = s.session.of<TokenMenu>();
    const float high = 2 * kMenuEdge + kTokenTitle + size::row * float(std::size(kEntries)),
                wide = token_menu_width(s, t);
    ImVec2 at = menu.at;
    const auto chip = s.ui.widgets.find((t.stack ? "target/" : "chip/") + std::to_string(t.position));
    const bool has_chip = chip != s.ui.widgets.end();
    if (has_chip && (at.x < 0 || chip->second.contains(at)))  // below the chips, which stay in sight
        at = {chip->second.x, chip->second.bottom() + gap::tight};
    else if (at.x < 0)
        at = {window.middle_x(), window.h / 4};
    return {std::max(0.0f, std::min(at.x, window.right() - wide - gap::tight)),
            std::max(0.0f, std::min(at.y, window.bottom() - high - gap::tight)), wide, high};
}

/// Draws an entry; true if clicked.
bool draw_entry(Scene& s, Rect r, const TokenEntry& entry, TokenPlace t, int& step) {
    Ui& ui = s.ui;
    const char* missing = entry.missing ? entry.missing(s, t) : nullptr;
    const std::string path = std::string("token/") + entry.key;
    const Hit h = missing ? ui.hit(path, r) : ui.control(path, r);
    if (const int by = ui.take_step(path)) step = by;
    if (h.hovered && !missing) ui.fill(r, ui.colors->bg3, size::corner);
    write(ui, inset(r, gap::small, 0), kBody, missing ? ui.colors->t3 : ui.colors->t1, entry.label(s, t));
    ui.tooltip(path, h, missing ? missing : entry.help);
    return h.clicked && !missing;
}

}  // namespace

void draw_token_menu(Scene& s, Rect window) {
    Ui& ui = s.ui;
    const TokenPlace t = s.of<TokenMenu>().of;
    const auto& labels = s.sentence()->labels;
    if (t.stack >= isize(labels) || t.position >= isize(labels[t.stack])) return s.send("close", "token");
    const Rect place = token_menu_place(s, window, t);
    SheetFrame sheet(s, "token menu", place);
    Rect rest = inset(place, kMenuEdge, kMenuEdge);
    write(ui, inset(take_top(rest, kTokenTitle), gap::small, 0), kCaptionMono, ui.colors->t3,
          token_at(labels[t.stack], t.position));
    int step = 0;
    for (const TokenEntry& entry : kEntries)
        if (draw_entry(s, take_top(rest, size::row), entry, t, step)) {
            s.send("close", "token");
            SentCommand command = entry.command(s, t);
            s.send(std::move(command.name), std::move(command.words));
        }
    const bool by_key = s.of<TokenMenu>().at.x < 0 && ImGui::IsWindowAppearing();
    if (by_key || step != 0) ui.move_focus(by_key ? 1 : step);
}

namespace {

/// Parses "4" or "source 4".
Result<TokenPlace> token_named(const CommandContext& c, const std::string& words) {
    constexpr std::string_view kSource = "source ";
    const bool source = words.starts_with(kSource);
    const auto position = whole_of(source ? words.substr(kSource.size()) : words);
    const TokenPlace out{source ? 0 : isize(c.sentence()->labels) - 1, position.value_or(-1)};
    const auto& labels = c.sentence()->labels[out.stack];
    if (out.position >= 0 && out.position < isize(labels)) return out;
    return Error{"There is no token " + in_quotes(words) + "; the text has positions 0 … " +
                 std::to_string(labels.size() - 1) + "."};
}

/// The token under the mouse for "here"; without words the shown query.
Status open_token_menu(CommandContext& c, const std::string& words) {
    Session& s = c.session;
    if (words != "here") {
        const auto cell = shown_cell(s, c.answer);
        TokenPlace token;
        if (!words.empty()) {
            TRY(token, token_named(c, words));
        } else if (cell) {
            token = {c.model()->config.block(c.answer->shown().block).stack, cell->first};
        }
        s.of<TokenMenu>() = {token, {-1, -1}};
    }
    s.sheet = Sheet::token;
    return success();
}

Status copy_token(CommandContext& c, const std::string& words) {
    TRY(const TokenPlace token, token_named(c, words));
    c.host.copy_text(c.sentence()->labels[token.stack][token.position]);
    return success();
}

/// Highlights each occurrence of the token; a second call removes the highlight.
Status count_token(CommandContext& c, const std::string& words) {
    TRY(const TokenPlace token, token_named(c, words));
    ChipsState& chips = c.session.of<ChipsState>();
    const auto found = occurrences(*c.sentence(), token);
    if (chips.counted_stack == token.stack && chips.counted == found) {
        chips.counted.clear();
        c.session.notice.clear();
        return success();
    }
    chips.counted_stack = token.stack;
    chips.counted = found;
    std::string places;
    for (size_t i = 0; i < found.size(); ++i)
        places += (i == 0 ? "" : i + 1 == found.size() ? " and " : ", ") + std::to_string(found[i]);
    c.session.notice = in_quotes(c.sentence()->labels[token.stack][token.position]) + " occurs " +
                       (found.size() == 1 ? "once" : std::to_string(found.size()) + " times") + ", at " +
                       shortened(places) + ".";
    return success();
}

}  // namespace

std::vector<Command> token_commands() {
    return {
        row({"token menu [here|POSITION]", "Token menu", "mask, explain, copy or count a token",
             "Menu, Shift+F10"},
            open_token_menu, needs_sentence),
        row({"copy token POSITION", "Copy a token", "copy the text of a token"}, copy_token, needs_sentence),
        row({"count POSITION", "Count a token", "highlight every occurrence of a token"}, count_token,
            needs_sentence)};
}

}  // namespace headlight
