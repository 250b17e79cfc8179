// The lowest line: what is open, which mask is in force, and what the person should know.
#include <algorithm>
#include <initializer_list>

#include "model/loading/parameters.h"
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
        return "The first " + std::to_string(kept) + " of " + std::to_string(sentence.tokens_in_all) +
               " tokens; the rest is being read.";
    return "Only the first " + std::to_string(kept) + " of " + std::to_string(sentence.tokens_in_all) +
           " tokens are read: " + sentence.model->name + " reads no more.";
}

namespace {

struct OfferLink {
    const char *path, *label, *command;
};

/// A line with what can be done about it; returns where it ends.
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

/// What a window left that did not end as it should, and a model that has come from the hub.
float draw_offers(Scene& s, float x, float y) {
    if (!s.session.document.left_workspace.empty())
        x = draw_offer(s, x, y, "Headlight did not close properly.",
                       {{"left/open", "Open its workspace", "open left workspace"},
                        {"left/dismiss", "Dismiss", "dismiss left workspace"}});
    const FetchState& fetch = s.session.of<FetchState>();
    if (!fetch.fetched.empty())
        x = draw_offer(s, x, y, fetch.name + " is here.",
                       {{"fetched/open", fetch.to_compare ? "Open as B" : "Open", "open fetched"},
                        {"fetched/dismiss", "Not now", "dismiss fetched"}});
    return x;
}

}  // namespace

void draw_status_bar(Scene& s, Rect area) {
    Ui& ui = s.ui;
    ui.hairline(area.x, area.y, area.right(), area.y);
    const float pad = 16, y = area.middle_y();
    float x = area.x + pad;
    if (const Model* m = s.model()) {
        const ModelConfig& c = m->config;
        const std::string layers = c.stacks.size() == 1 ? std::to_string(c.layers()) + " layers"
                                                        : std::to_string(c.stacks[0].layers) + " + " +
                                                              std::to_string(c.stacks[1].layers) + " layers";
        const std::string shared =
            c.kv_heads(0) < c.heads(0) ? " (" + std::to_string(c.kv_heads(0)) + " key/value)" : "";
        const std::string what =
            c.family_name + " · " + layers + " · " + per_stack(c, &StackConfig::heads) + " heads" + shared +
            " · d_model " + std::to_string(c.d_model) +
            (m->weights.stacks.empty() ? " · a trace, no weights"
                                       : " · " + short_count(parameter_count(c)) + " parameters");
        const Rect model{x - 6, area.y, ui.text.width(kCaption, what) + 12, area.h};
        const Hit h = ui.control("tab/Model", model);
        if (s.sentence() && h.clicked && !m->weights.stacks.empty()) s.send("view model");
        if (s.sentence()) ui.tooltip("tab/Model", h, "Opens the model as a diagram (0)");
        x += ui.text.draw(x, y, kCaption, h.hovered && s.sentence() ? ui.colors->t1 : ui.colors->t2, what) +
             32;
        float right = area.right() - pad;
        right -= ui.text.width(kCaption, "float32");
        ui.text.draw(right, y, kCaption, ui.colors->t2, "float32");
        const AttentionBlock block = c.block(std::clamp(s.session.selection.block, 0, c.blocks() - 1));
        const StackConfig& stack = c.stacks[block.stack];
        const int window = block.kind == AttentionKind::cross ? 0 : stack.window(block.layer);
        const Intervention& changed =
            s.sentence() ? s.sentence()->intervention : s.session.document.intervention;
        const std::string changes =
            changed.changes.empty() ? ""
                                    : ", " + std::to_string(changed.changes.size()) +
                                          (changed.changes.size() == 1 ? " intervention" : " interventions");
        const std::string mask =
            !changed.mask.is_own()
                ? "mask " + changed.mask.label() + changes
                : std::string(stack.causal && block.kind != AttentionKind::cross ? "mask causal"
                                                                                 : "mask none") +
                      (window ? ", window " + std::to_string(window) : "") + changes;
        ui.text.draw_right(right - 14, y, kCaption, ui.colors->t2, mask);
    }
    x = draw_offers(s, x, y);
    if (const std::string notice = shown_notice(s); !notice.empty()) {
        ui.name("notice", {x, area.y, 400, area.h});
        ui.text.draw(x, y, kCaption, ui.colors->accent_text,
                     ui.text.fitted(kCaption, notice, area.right() - x - 200));
    }
}

}  // namespace headlight
