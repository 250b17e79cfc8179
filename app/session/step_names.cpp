#include "session/step_names.h"

#include <algorithm>

#include "base/cast.h"
#include "base/quoted.h"
#include "hub/adapted.h"
#include "hub/library.h"
#include "model/interventions/change_place.h"
#include "session/commands/try_out.h"

namespace headlight {

namespace {

constexpr size_t kLongestQuote = 32, kMaxParts = 2;

std::string quoted_part(const std::string& text) { return "“" + shortened(text, kLongestQuote) + "”"; }

std::string capitalized(std::string text) {
    if (!text.empty()) text[0] = char(std::toupper(static_cast<unsigned char>(text[0])));
    return text;
}

/// The changes that the others lack.
std::vector<Change> changes_lacking(const std::vector<Change>& changes, const std::vector<Change>& others) {
    std::vector<Change> out;
    for (const Change& change : changes)
        if (std::find(others.begin(), others.end(), change) == others.end()) out.push_back(change);
    return out;
}

/// Names an edit; "" for what is no step of its own.
struct NamedEdit {
    const Session& session;
    const SentenceResult* shown;

    const ModelConfig* config_of(const std::string& model) const {
        const Document& d = session.document;
        if (shown && model == d.open.path) return &shown->model->config;
        const auto kept = d.changes_of.find(model);
        return kept == d.changes_of.end() ? nullptr : kept->second.config.get();
    }
    std::string place_of(const ModelConfig& config, const Change& c) const {
        if (c.head < 0) return where(config, c);
        return " in head " + head_name(config, c.block, c.head);
    }
    /// "Mask ball 4 for red 16 in head 1.2": what the query cannot look at.
    std::string cells(const ModelConfig& config, const Change& c, const ChangeTokens& tokens) const {
        return change_row(c.kind).name + (" " + span_label(tokens.keys, c.key, c.keys)) + " for " +
               span_label(tokens.queries, c.query, c.queries) + place_of(config, c);
    }
    std::string change(const ModelConfig& config, const Change& c, const std::string& model) const {
        static const std::vector<std::string> no_tokens;
        const int block = std::max(c.block, 0);
        const bool named = shown && model == session.document.open.path;
        const ChangeTokens tokens{named ? shown->query_labels(block) : no_tokens,
                                  named ? shown->key_labels(block) : no_tokens};
        if (c.paints()) return cells(config, c, tokens);
        if (!change_row(c.kind).ablates || c.kind == ChangeKind::keep) return change_label(config, c, tokens);
        const std::string head = "ablate " + head_name(config, c.block, c.head);
        return c.kind == ChangeKind::zero ? head : head + " (" + change_row(c.kind).name + ")";
    }
    std::string changes(const ModelConfig& config, const std::vector<Change>& all,
                        const std::string& model) const {
        if (all.size() == 1) return change(config, all[0], model);
        const bool painted = std::all_of(
            all.begin(), all.end(), [&](const Change& c) { return c.paints() && c.kind == all[0].kind; });
        const std::string count = std::to_string(all.size());
        if (!painted) return count + " interventions";
        return change_row(all[0].kind).name + (" " + count) + " cells" + place_of(config, all[0]);
    }

    std::string operator()(const TextEdit& e) const {
        if (e.text == TextName::conversation) return "Change the conversation";
        if (e.text == TextName::picture) return e.inserted.empty() ? "Close the image" : "Open an image";
        const std::string of = e.text == TextName::second  ? " in the second text"
                               : e.text == TextName::other ? " in the compared text"
                                                           : "";
        if (e.removed.empty()) return "Type " + quoted_part(e.inserted) + of;
        if (e.inserted.empty()) return "Erase " + quoted_part(e.removed) + of;
        return "Change " + quoted_part(e.removed) + " to " + quoted_part(e.inserted) + of;
    }
    std::string operator()(const InterventionEdit& e) const {
        const ModelConfig* config = config_of(e.model);
        const auto added = changes_lacking(e.after.changes, e.before.changes),
                   removed = changes_lacking(e.before.changes, e.after.changes);
        const bool other_mask = e.before.mask != e.after.mask;
        if (e.after == Intervention{} && removed.size() + size_t(other_mask) > 1)
            return "Remove all interventions";
        if (other_mask) return e.after.mask.is_own() ? "Remove the mask" : "Mask: " + e.after.mask.label();
        if (!config) return "Change " + model_name(e.model);
        if (!added.empty()) return capitalized(changes(*config, added, e.model));
        return "Remove: " + changes(*config, removed, e.model);
    }
    std::string operator()(const ComparisonEdit& e) const {
        static constexpr const char* kNames[] = {"heads", "before and after", "sentences", "models",
                                                 "base and adapted"};
        const Comparison &before = e.before, &after = e.after;
        if (before.model != after.model) return "Compare with " + model_name(after.model);
        if (before.what != after.what) return std::string("Compare ") + row_of(kNames, after.what);
        if (before.head != after.head)
            return after.head.first < 0 ? "Compare with the most similar head" : "Compare with another head";
        return before.alignment == after.alignment ? "Compare again" : "Align the tokens";
    }
    std::string operator()(const MetricEdit& e) const {
        if (e.after.name.empty()) return "Explain the most probable token";
        const bool open = shown && e.model == session.document.open.path && shown->model->tokenizer;
        return "Explain " + (open ? metric_label(*shown->model, e.after.metric) : e.after.name);
    }
    std::string operator()(const HeadLabelEdit& e) const {
        return e.after.empty() ? "Remove the label of head " + e.head
                               : "Label head " + e.head + " " + quoted_part(e.after);
    }
    std::string operator()(const ViewEdit& e) const { return "Choose in “" + e.part + "”"; }
    std::string operator()(const LookEdit&) const { return ""; }
    std::string operator()(const ModelEdit& e) const {
        if (only_strength_differs(e.before.path, e.after.path))
            return "Adapter at strength " + decimals(double(split_strength(e.after.path)->second), 2);
        return "Open " + model_name(e.after.path);
    }
    std::string operator()(const TrialEdit& e) const { return e.after ? "" : "Undo what was tried"; }
};

}  // namespace

std::string step_name(const Session& session, const SentenceResult* shown, const std::vector<Edit>& step) {
    const bool tried = std::any_of(step.begin(), step.end(), [](const Edit& edit) {
        const auto* trial = std::get_if<TrialEdit>(&edit);
        return trial && trial->after;
    });
    std::vector<std::string> parts;
    for (const Edit& edit : step) {
        const std::string name = std::visit(NamedEdit{session, shown}, edit);
        if (!name.empty() && std::find(parts.begin(), parts.end(), name) == parts.end())
            parts.push_back(name);
    }
    std::string out = tried ? "Try: " : "";
    for (size_t i = 0; i < std::min(parts.size(), kMaxParts); ++i) out += (i ? ", " : "") + parts[i];
    if (parts.empty()) return tried ? "Try another view" : "Another view";
    return parts.size() > kMaxParts ? out + ", …" : out;
}

void name_steps(Session& session, const SentenceResult* shown) {
    session.document.history.name_steps(
        [&](const std::vector<Edit>& step) { return step_name(session, shown, step); });
}

}  // namespace headlight
