// Edits of a document, each as an undo step.
#include <utility>

#include "hub/adapted.h"
#include "hub/library.h"
#include "session/adopt.h"
#include "session/session.h"

namespace headlight {

std::string& Document::named(TextName name) {
    switch (name) {
        case TextName::second:
            return second;
        case TextName::other:
            return comparison.text;
        case TextName::picture:
            return picture;
        case TextName::conversation:
            return conversation;
        case TextName::sentence:
            break;
    }
    return text;
}

void Document::put_text(TextName name, const std::string& to) {
    std::string& now = named(name);
    history.note(edit_of(name, now, 0, now.size(), to), EditKind::replaced, 0);
    now = to;
}

void Document::intervene(Intervention next) {
    history.note({intervention, next, open.path}, same_step);
    intervention = std::move(next);
}

void Document::explain(ChosenMetric next) {
    history.note(Edit(MetricEdit{metric, next, open.path}));
    metric = std::move(next);
}

void Document::compare(Comparison next) {
    if (next.model != comparison.model) ++next.attempt;
    history.note(Edit(ComparisonEdit{comparison, next}));
    comparison = std::move(next);
}

void Document::compare_with_model(const std::string& path) {
    Comparison next = comparison;
    next.what = Compared::models;
    const std::string model = model_key(path);
    if (next.model == model) ++next.attempt;
    next.model = model;
    compare(std::move(next));
}

void Document::label(const std::string& model, const std::string& head, const std::string& text) {
    std::string& label = head_labels[model][head];
    history.note(Edit(HeadLabelEdit{model, head, label, text}));
    put_label(model, head, text);
}

void Document::put_label(const std::string& model, const std::string& head, const std::string& text) {
    if (text.empty())
        head_labels[model].erase(head);
    else
        head_labels[model][head] = text;
    label_edits.push_back({model, head, text});
}

void choose_model(Session& session, const std::string& path) {
    Document& d = session.document;
    d.wanted = {model_key(path), ++d.attempts};
    d.pending_slide.reset();
    d.reopened.reset();
    if (d.history.grouping())
        d.noted_attempt = d.attempts;  // part of a try
    else
        d.pending_trial.reset();  // for another model
    Selection& s = session.selection;
    s.hovered.cell.reset();
    if (s.locked) s.relock = std::exchange(s.locked, std::nullopt);
}

void choose_strength(Session& session, float strength) {
    Document& d = session.document;
    const std::string path = at_strength(d.wanted.path, strength);
    if (path == d.wanted.path) return;
    note_changes(d);
    const auto now = d.changes_of.find(d.open.path);
    if (now != d.changes_of.end() && only_strength_differs(now->first, path))
        d.changes_of[path] = ModelChanges(now->second);
    Selection& s = session.selection;
    const auto locked = s.locked ? s.locked : s.relock;
    choose_model(session, path);
    s.locked = locked;
    s.relock.reset();
    d.reopened = OpenModel{d.wanted.path, s.block, s.head, locked};
}

void stay_with_open(Session& session) {
    Document& d = session.document;
    Selection& s = session.selection;
    d.pending_trial.reset();
    d.pending_slide.reset();
    d.reopened.reset();
    if (const auto cell = std::exchange(s.relock, std::nullopt); !s.locked) s.locked = cell;
    if (d.open.path.empty()) return;
    if (d.open.attempt < d.first_attempt) d.workspace.clear();
    d.first_attempt = d.open.attempt;
    d.wanted = d.open;
}

void choose_again(Session& session, const OpenModel& model) {
    if (model.block < 0) return;
    session.selection.choose(model.block, model.head);
    session.selection.locked = model.locked;
}

}  // namespace headlight
