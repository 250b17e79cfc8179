#include "session/history.h"

#include <algorithm>
#include <utility>

#include "base/utf8.h"
#include "session/trial.h"

namespace headlight {

namespace {

size_t bytes_of(const TextEdit& e) { return e.removed.size() + e.inserted.size(); }
size_t bytes_of(const InterventionEdit& e) {
    return (e.before.changes.size() + e.after.changes.size()) * sizeof(Change);
}
size_t bytes_of(const ComparisonEdit& e) {
    return sizeof e +
           (e.before.alignment.by_hand.size() + e.after.alignment.by_hand.size()) * 2 * sizeof(int);
}
size_t bytes_of(const MetricEdit& e) { return sizeof e + e.before.name.size() + e.after.name.size(); }
size_t bytes_of(const HeadLabelEdit& e) { return sizeof e + e.before.size() + e.after.size(); }
size_t bytes_of(const std::vector<std::string>& words) {
    size_t out = 0;
    for (const std::string& word : words) out += word.size();
    return out;
}
size_t bytes_of(const ViewEdit& e) { return sizeof e + bytes_of(e.before) + bytes_of(e.after); }
size_t bytes_of(const LookEdit& e) { return sizeof e + e.before.model.size() + e.after.model.size(); }
size_t bytes_of(const TrialEdit& e) { return sizeof e; }
size_t bytes_of(const Edit& edit) {
    return std::visit([](const auto& e) { return bytes_of(e); }, edit);
}
size_t bytes_of(const std::vector<Edit>& edits) {
    size_t out = 0;
    for (const Edit& edit : edits) out += bytes_of(edit);
    return out;
}

TextEdit backwards(const TextEdit& e) { return {e.text, e.at, e.inserted, e.removed}; }
InterventionEdit backwards(const InterventionEdit& e) { return {e.after, e.before}; }
ComparisonEdit backwards(const ComparisonEdit& e) { return {e.after, e.before}; }
MetricEdit backwards(const MetricEdit& e) { return {e.after, e.before}; }
HeadLabelEdit backwards(const HeadLabelEdit& e) { return {e.model, e.head, e.after, e.before}; }
ViewEdit backwards(const ViewEdit& e) { return {e.view, e.part, e.after, e.before}; }
LookEdit backwards(const LookEdit& e) { return {e.after, e.before}; }
TrialEdit backwards(const TrialEdit& e) { return {e.after, e.before}; }

bool changes_nothing(const TextEdit& e) { return e.removed == e.inserted; }
template <class E>
bool changes_nothing(const E& e) {
    return e.before == e.after;
}

bool ends_in_blank(const std::string& text) { return !text.empty() && text.back() == ' '; }
bool begins_with_blank(const std::string& text) {
    return !text.empty() && is_white_space(decode_utf8(text, 0).value);
}

}  // namespace

Edit reversed(const Edit& edit) {
    return std::visit([](const auto& e) { return Edit(backwards(e)); }, edit);
}

bool is_of_model(const Edit& edit) {
    return std::holds_alternative<InterventionEdit>(edit) || std::holds_alternative<ComparisonEdit>(edit) ||
           std::holds_alternative<MetricEdit>(edit);
}

/// The last edit of the newest step where that may grow, else null.
Edit* History::newest() { return open_ && !past_.empty() ? &past_.back().edits.back() : nullptr; }

/// Lets the newest step grow by an edit beside it; false where it begins a step of its own.
bool History::join(const TextEdit& edit, EditKind kind, double now) {
    if (grouping_ || !newest() || kind == EditKind::replaced) return false;
    Step& last = past_.back();
    auto* text = std::get_if<TextEdit>(newest());
    if (!text || text->text != edit.text || last.kind != kind || now - last.time > kPause) return false;
    if (kind == EditKind::typed) {
        const bool new_word = ends_in_blank(text->inserted) && !begins_with_blank(edit.inserted);
        if (!edit.removed.empty() || edit.at != text->at + text->inserted.size() || new_word) return false;
        text->inserted += edit.inserted;
    } else if (edit.at == text->at) {  // Delete
        text->removed += edit.removed;
    } else if (edit.at + edit.removed.size() == text->at) {  // Backspace
        text->removed.insert(0, edit.removed);
        text->at = edit.at;
    } else {
        return false;
    }
    last.time = now;
    bytes_ += bytes_of(edit);
    return true;
}

void History::keep_within_bounds() {
    while (past_.size() > kMaxSteps || (bytes_ > kMaxBytes && past_.size() > 1)) {
        bytes_ -= bytes_of(past_.front().edits);
        past_.pop_front();
    }
}

/// A step of its own, or a part of the group that is open. What was undone can no longer be redone.
void History::add(Edit edit, EditKind kind, double time) {
    future_.clear();
    bytes_ += bytes_of(edit);
    if (grouping_)
        past_.back().edits.push_back(std::move(edit));
    else
        past_.push_back({{std::move(edit)}, kind, time});
    open_ = true;
    keep_within_bounds();
}

void History::begin_group(bool goes_on) {
    if (!goes_on || past_.empty()) past_.emplace_back();
    grouping_ = true;
}

void History::end_group() {
    grouping_ = open_ = false;
    if (past_.back().edits.empty()) past_.pop_back();
}

void History::note(TextEdit edit, EditKind kind, double now) {
    if (changes_nothing(edit)) return;
    future_.clear();
    if (!join(edit, kind, now)) add(std::move(edit), kind, now);
}

/// The newest step where it is one of this kind that goes on.
template <class E>
E* History::growing(bool same_step) {
    return same_step && !grouping_ && newest() ? std::get_if<E>(newest()) : nullptr;
}

/// The newest step ends as this edit does; one that came back to where it began is none.
template <class E>
void History::grow(E& last, E edit) {
    future_.clear();
    bytes_ -= bytes_of(last);
    last.after = std::move(edit.after);
    bytes_ += bytes_of(last);
    if (!changes_nothing(last)) return;
    bytes_ -= bytes_of(last);
    past_.pop_back();
    open_ = false;
}

void History::note(InterventionEdit edit, bool same_step) {
    if (changes_nothing(edit)) return;
    auto* last = growing<InterventionEdit>(same_step);
    if (!last) return add(std::move(edit));
    grow(*last, std::move(edit));
}

void History::note(ViewEdit edit, bool same_step) {
    if (changes_nothing(edit)) return;
    auto* last = growing<ViewEdit>(same_step);
    if (!last || last->view != edit.view || last->part != edit.part) return add(std::move(edit));
    grow(*last, std::move(edit));
}

void History::note(Edit edit) {
    if (!std::visit([](const auto& e) { return changes_nothing(e); }, edit)) add(std::move(edit));
}

std::vector<Edit> History::undo() {
    if (past_.empty()) return {};
    open_ = false;
    Step step = std::move(past_.back());
    past_.pop_back();
    bytes_ -= bytes_of(step.edits);
    std::vector<Edit> out;
    for (auto edit = step.edits.rbegin(); edit != step.edits.rend(); ++edit) out.push_back(reversed(*edit));
    future_.push_back(std::move(step));
    return out;
}

std::vector<Edit> History::redo() {
    if (future_.empty()) return {};
    Step step = std::move(future_.back());
    future_.pop_back();
    std::vector<Edit> out = step.edits;
    bytes_ += bytes_of(out);
    past_.push_back(std::move(step));
    open_ = false;
    return out;
}

void History::forget_model() {
    open_ = false;
    bytes_ = 0;
    for (auto* steps : {&past_, &future_}) {
        for (Step& step : *steps) std::erase_if(step.edits, is_of_model);
        std::erase_if(*steps, [](const Step& step) { return step.edits.empty(); });
    }
    for (const Step& step : past_) bytes_ += bytes_of(step.edits);
}

}  // namespace headlight
