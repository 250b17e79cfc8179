// Draws the lowest line: the model, the active mask, and notices.
#include <algorithm>
#include <initializer_list>

#include "model/engine.h"
#include "model/loading/parameters.h"
#include "paint/layout.h"
#include "panels/panels.h"
#include "session/fetching.h"
#include "views/views.h"

namespace headlight {

std::string shown_notice(const Scene& s) {
    if (!s.session.notice.empty()) return s.session.notice;
    if (s.answer && !s.answer->failure.empty()) return s.answer->failure;
    if (std::string fetching = fetching_of(s.model()); !fetching.empty()) return fetching;
    if (!s.sentence()) return "";
    const SentenceResult& sentence = *s.sentence();
    if (sentence.is_writing()) return "Writing… " + counted_tokens(sentence.step) + " so far";
    const size_t kept = sentence.trace->request.inputs[0].ids.size();
    if (sentence.tokens_in_all <= kept) return "";
    if (!sentence.complete)
        return "Showing the first " + std::to_string(kept) + " of " + std::to_string(sentence.tokens_in_all) +
               " tokens; reading the rest…";
    return "Only the first " + std::to_string(kept) + " of " + std::to_string(sentence.tokens_in_all) +
           " tokens are read: " + sentence.model->name + " has no more positions.";
}

namespace {

struct OfferLink {
    const char *path, *label, *command;
    std::string words = "";
};

/// Draws a message with its actions; returns where it ends.
float draw_offer(Scene& s, float x, float y, const std::string& line,
                 std::initializer_list<OfferLink> links) {
    Ui& ui = s.ui;
    x += ui.text.draw(x, y, kCaption, ui.colors->accent_text, line) + 12;
    for (const OfferLink& link : links) {
        const float right = x + ui.text.width(kCaption, link.label);
        if (ui.link(link.path, right, y, link.label)) s.send(link.command, link.words);
        x = right + 16;
    }
    return x + 16;
}

/// Offers a recovered workspace, a downloaded model, and a process that is gone.
float draw_offers(Scene& s, float x, float y) {
    if (s.model() && s.model()->engine && !s.model()->engine->is_there())
        x = draw_offer(s, x, y, "",
                       {{"engine/again", "Connect again", "open", s.session.document.open.path}});
    if (!s.session.document.left_workspace.empty())
        x = draw_offer(s, x, y, "Headlight crashed.",
                       {{"left/open", "Recover its workspace", "open left workspace"},
                        {"left/dismiss", "Dismiss", "dismiss left workspace"}});
    const FetchState& fetch = s.session.of<FetchState>();
    if (!fetch.fetched.empty())
        x = draw_offer(s, x, y, fetch.name + " is downloaded.",
                       {{"fetched/open", fetch.to_compare ? "Open as B" : "Open", "open fetched"},
                        {"fetched/dismiss", "Not now", "dismiss fetched"}});
    return x;
}

/// "stories · 4 layers × 8 heads · 4.27 M parameters"
std::string model_text(const Model& m) {
    const ModelConfig& c = m.config;
    const std::string layers = c.stacks.size() == 1 ? std::to_string(c.layers())
                                                    : std::to_string(c.stacks[0].depth()) + " + " +
                                                          std::to_string(c.stacks[1].depth());
    return m.name + " · " + layers + " layers × " + per_stack(c, &AttentionSpec::heads) + " heads" +
           (m.engine                   ? " · " + m.engine->runs_on()
            : m.weights.stacks.empty() ? " · a trace, no weights"
                                       : " · " + short_count(parameter_count(c)) + " parameters");
}

/// Names what is not as the model has it: "mask window:4, 2 interventions".
std::string changed_text(const Scene& s) {
    const Intervention& changed = s.sentence() ? s.sentence()->intervention : s.session.document.intervention;
    const size_t count = changed.changes.size();
    const std::string mask = changed.mask.is_own() ? "" : "mask " + changed.mask.label(),
                      changes = count == 0 ? ""
                                           : std::to_string(count) +
                                                 (count == 1 ? " intervention" : " interventions");
    return mask + (mask.empty() || changes.empty() ? "" : ", ") + changes;
}

/// Says what keys do while the caret is in the sentence; else what is changed.
void draw_right(Scene& s, Rect& line) {
    const bool typing = s.fields.sentence.focused && !s.session.sheet;
    const std::string keys = "You are typing in the sentence. Press Esc first to use keys 1–5.",
                      changed = changed_text(s);
    const float room = line.w / 2;
    const std::string said = typing && changed.empty() ? keys : changed;
    const float wide = s.ui.text.width(kCaption, said);
    if (said.empty() || wide > room) return;
    write(s.ui, take_right(line, wide, gap::section), kCaption,
          changed.empty() ? s.ui.colors->t3 : s.ui.colors->t2, said, Flush::right);
}

}  // namespace

/// A notice replaces the model's line when both do not fit.
void draw_status_bar(Scene& s, Rect area) {
    constexpr float kMinRight = 440, kMinNotice = 240, kMinModel = 120;
    Ui& ui = s.ui;
    ui.hairline(area.x, area.y, area.right(), area.y);
    Rect line = inset(area, size::panel_pad, 0);
    const std::string notice = shown_notice(s);
    if (const Model* m = s.model()) {
        const float said = ui.text.width(kCaption, notice) + ui.text.width(kCaption, model_text(*m));
        if (notice.empty() || line.w - said > kMinRight) draw_right(s, line);
        if (notice.empty() || line.w >= kMinModel + kMinNotice) {
            const std::string what = model_text(*m);
            const float wide = std::min(ui.text.width(kCaption, what), std::max(0.0f, line.w));
            write(ui, take_left(line, wide, gap::section), kCaption, ui.colors->t2, what);
        }
    }
    const float end = draw_offers(s, line.x, area.middle_y());
    take_left(line, end - line.x);
    if (notice.empty()) return;
    ui.name("notice", {line.x, area.y, 400, area.h});
    write(ui, line, kCaption, ui.colors->accent_text, notice);
}

}  // namespace headlight
