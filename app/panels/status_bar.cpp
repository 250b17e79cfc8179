// Draws the lowest line: the model, the active mask, and notices.
#include <algorithm>
#include <initializer_list>

#include "model/loading/parameters.h"
#include "paint/layout.h"
#include "panels/panels.h"
#include "session/fetching.h"
#include "views/views.h"

namespace headlight {

std::string shown_notice(const Scene& s) {
    if (!s.session.notice.empty()) return s.session.notice;
    if (s.answer && !s.answer->failure.empty()) return s.answer->failure;
    if (!s.sentence()) return "";
    const SentenceResult& sentence = *s.sentence();
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
};

/// Draws a message with its actions; returns where it ends.
float draw_offer(Scene& s, float x, float y, const std::string& line,
                 std::initializer_list<OfferLink> links) {
    Ui& ui = s.ui;
    x += ui.text.draw(x, y, kCaption, ui.colors->accent_text, line) + 12;
    for (const OfferLink& link : links) {
        const float right = x + ui.text.width(kCaption, link.label);
        if (ui.link(link.path, right, y, link.label)) s.send(link.command);
        x = right + 16;
    }
    return x + 16;
}

/// Offers a recovered workspace and a downloaded model.
float draw_offers(Scene& s, float x, float y) {
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

/// "GPT-2 · 4 layers · 8 heads · d_model 256 · 4.27 M parameters"
std::string model_text(const Model& m) {
    const ModelConfig& c = m.config;
    const std::string layers = c.stacks.size() == 1 ? std::to_string(c.layers()) + " layers"
                                                    : std::to_string(c.stacks[0].layers) + " + " +
                                                          std::to_string(c.stacks[1].layers) + " layers";
    const std::string shared =
        c.kv_heads(0) < c.heads(0) ? " (" + std::to_string(c.kv_heads(0)) + " key/value)" : "";
    return c.family_name + " · " + layers + " · " + per_stack(c, &StackConfig::heads) + " heads" + shared +
           " · d_model " + std::to_string(c.d_model) +
           (m.weights.stacks.empty() ? " · a trace, no weights"
                                     : " · " + short_count(parameter_count(c)) + " parameters");
}

/// "mask causal, window 128, 2 interventions"
std::string mask_text(const Scene& s, const ModelConfig& c) {
    const AttentionBlock block = c.block(std::clamp(s.session.selection.block, 0, c.blocks() - 1));
    const StackConfig& stack = c.stacks[block.stack];
    const int window = block.kind == AttentionKind::cross ? 0 : stack.window(block.layer);
    const Intervention& changed = s.sentence() ? s.sentence()->intervention : s.session.document.intervention;
    const size_t count = changed.changes.size();
    const std::string changes =
        count == 0 ? "" : ", " + std::to_string(count) + (count == 1 ? " intervention" : " interventions");
    if (!changed.mask.is_own()) return "mask " + changed.mask.label() + changes;
    const bool causal = stack.causal && block.kind != AttentionKind::cross;
    return std::string(causal ? "mask causal" : "mask none") +
           (window ? ", window " + std::to_string(window) : "") + changes;
}

/// Draws the model's line; its name opens the architecture.
void draw_open_model(Scene& s, Rect& line, const Model& m) {
    constexpr float kAround = 6;
    Ui& ui = s.ui;
    const std::string what = model_text(m);
    const float wide = std::min(ui.text.width(kCaption, what), std::max(0.0f, line.w));
    const Rect place = take_left(line, wide, gap::section);
    const Hit h = ui.control("tab/Model", inset(place, -kAround, 0));
    if (s.sentence() && h.clicked && !m.weights.stacks.empty()) s.send("view model");
    if (s.sentence()) ui.tooltip("tab/Model", h, "Shows the model’s architecture (0)");
    write(ui, place, kCaption, h.hovered && s.sentence() ? ui.colors->t1 : ui.colors->t2, what);
}

}  // namespace

/// A notice replaces the model's line when both do not fit.
void draw_status_bar(Scene& s, Rect area) {
    constexpr float kMinNotice = 240, kMinModel = 120;
    Ui& ui = s.ui;
    ui.hairline(area.x, area.y, area.right(), area.y);
    Rect line = inset(area, size::panel_pad, 0);
    const std::string notice = shown_notice(s);
    if (const Model* m = s.model()) {
        const std::string mask = mask_text(s, m->config);
        const float right = ui.text.width(kCaption, "float32") + ui.text.width(kCaption, mask) + 2 * 14;
        const bool has_notice = !notice.empty(),
                   both = line.w >= right + kMinModel + (has_notice ? kMinNotice : 0);
        if (both) {
            write(ui, take_right(line, ui.text.width(kCaption, "float32"), 14), kCaption, ui.colors->t2,
                  "float32", Flush::right);
            write(ui, take_right(line, ui.text.width(kCaption, mask), 14), kCaption, ui.colors->t2, mask,
                  Flush::right);
        }
        if (both || !has_notice) draw_open_model(s, line, *m);
    }
    const float end = draw_offers(s, line.x, area.middle_y());
    take_left(line, end - line.x);
    if (notice.empty()) return;
    ui.name("notice", {line.x, area.y, 400, area.h});
    write(ui, line, kCaption, ui.colors->accent_text, notice);
}

}  // namespace headlight
