#include "session/adopt.h"

#include <algorithm>

#include "base/check.h"
#include "base/quoted.h"
#include "session/conversation.h"

namespace headlight {

namespace {

constexpr TextName kTexts[] = {TextName::sentence, TextName::second, TextName::other, TextName::picture,
                               TextName::conversation};

/// Resets a metric that does not fit the model to the default.
ChosenMetric metric_of(const std::string& name, const Model& model, std::string& notice) {
    if (name.empty()) return {};
    const auto metric = parse_metric(model, name);
    if (metric) return {metric_name(model, *metric), *metric};
    notice = metric.error().message + " The metric was reset to the default.";
    return {};
}

/// Restores forced tokens in the text that they were chosen for.
void put_forced(Document& d, const ModelChanges& kept, const ModelConfig& config) {
    GenerationState& g = d.generation;
    const int vocab = config.stacks.back().vocab;
    const bool fits = kept.forced_for == text_read(d) &&
                      std::all_of(kept.forced.begin(), kept.forced.end(), [&](int id) { return id < vocab; });
    g.forced = fits ? kept.forced : std::vector<int>();
    g.forced_for = text_read(d);
    g.playing = false;
}

/// Carries the metric over to a model that is opened for the first time, if it fits.
void put_changes(Session& session, const Model& model) {
    Document& d = session.document;
    ModelChanges& kept = d.changes_of[d.open.path];
    if (!kept.metric) kept.metric = d.metric.name;
    kept.config = std::make_shared<const ModelConfig>(model.config);
    d.intervention = intervention_of(kept, model.config, session.notice);
    d.metric = metric_of(*kept.metric, model, session.notice);
    put_forced(d, kept, model.config);
    d.sweeping = false;
}

/// Opens another model than the current one, without an undo step.
void put_document(Session& session, Session&& from) {
    HEADLIGHT_CHECK(!session.document.history.grouping());
    session = std::move(from);
    Document& d = session.document;
    const bool is_open = d.wanted.path == d.open.path;
    if (!is_open) d.noted_attempt = ++d.attempts;
    d.wanted.attempt = d.first_attempt = is_open ? d.open.attempt : d.attempts;
}

void put_slide(Session& session, Session&& from, const Model& model) {
    Document &d = session.document, &kept = from.document;
    const HistoryGroup one_step(d.history);
    d.chatting = kept.chatting;
    for (const TextName name : kTexts) d.put_text(name, kept.named(name));
    d.compare(kept.comparison);
    d.intervene(intervention_of(kept.changes(), model.config, session.notice));
    d.explain(metric_of(kept.changes().metric.value_or(""), model, session.notice));
    d.generation = kept.generation;
    put_forced(d, kept.changes(), model.config);
    session.views = std::move(from.views);
    session.preferences = from.preferences;
    Selection& s = session.selection;
    s.view_name = from.selection.view_name;
    s.choose(from.selection.block, from.selection.head);
    fit_head(s, model.config);
    s.locked = from.selection.locked;
}

}  // namespace

Intervention intervention_of(const ModelChanges& spelled, const ModelConfig& config, std::string& notice) {
    Intervention out;
    std::string refused;
    if (auto mask = Mask::parse(spelled.mask))
        out.mask = *std::move(mask);
    else
        refused = "mask " + spelled.mask;
    for (const std::string& text : spelled.changes) {
        if (auto change = parse_change(config, text))
            out.changes.push_back(*std::move(change));
        else
            refused = text;
    }
    if (!refused.empty())
        notice = "A saved intervention does not fit this model and was skipped: " + shortened(refused);
    return out;
}

Session without_document(Session session) {
    Document& d = session.document;
    Document blank;
    blank.wanted = d.wanted;
    blank.open = d.open;
    blank.attempts = d.attempts;
    blank.head_labels = std::move(d.head_labels);
    blank.label_edits = std::move(d.label_edits);
    blank.left_workspace = std::move(d.left_workspace);
    d = std::move(blank);
    session.selection.unlock();
    session.selection.lock_in_text.reset();
    session.selection.hovered = {};
    session.sheet.reset();
    session.notice.clear();
    session.presenting = session.arranging = session.blank = false;
    session.slide = -1;
    return session;
}

void adopt(Session& session, Session* from, Adopted what, const Model* open) {
    if (what == Adopted::slide) return put_slide(session, std::move(*from), *open);
    if (what == Adopted::document) put_document(session, std::move(*from));
    if (open) put_changes(session, *open);
}

void note_changes(Document& d) {
    const auto known = d.changes_of.find(d.open.path);
    if (known == d.changes_of.end() || !known->second.config) return;
    ModelChanges& spelled = known->second;
    spelled.mask = d.intervention.mask.name();
    spelled.changes.clear();
    for (const Change& change : d.intervention.changes)
        spelled.changes.push_back(change_name(*spelled.config, change));
    spelled.metric = d.metric.name;
    spelled.forced = d.generation.forced;
    spelled.forced_for = d.generation.forced_for;
}

}  // namespace headlight
