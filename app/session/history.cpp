#include "session/history.h"

#include <utility>

#include "base/utf8.h"

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
size_t bytes_of(const HeadLabelEdit& e) { return sizeof e + e.before.size() + e.after.size(); }
size_t bytes_of(const std::vector<std::string>& words) {
    size_t out = 0;
    for (const std::string& word : words) out += word.size();
    return out;
}
size_t bytes_of(const ViewEdit& e) { return sizeof e + bytes_of(e.before) + bytes_of(e.after); }
size_t bytes_of(const Edit& edit) {
    return std::visit([](const auto& e) { return bytes_of(e); }, edit);
}

TextEdit backwards(const TextEdit& e) { return {e.text, e.at, e.inserted, e.removed}; }
InterventionEdit backwards(const InterventionEdit& e) { return {e.after, e.before}; }
ComparisonEdit backwards(const ComparisonEdit& e) { return {e.after, e.before}; }
HeadLabelEdit backwards(const HeadLabelEdit& e) { return {e.model, e.head, e.after, e.before}; }
ViewEdit backwards(const ViewEdit& e) { return {e.put, e.part, e.after, e.before}; }

bool ends_in_blank(const std::string& text) { return !text.empty() && text.back() == ' '; }
bool begins_with_blank(const std::string& text) {
    return !text.empty() && is_white_space(decode_utf8(text, 0).value);
}

}  // namespace

Edit reversed(const Edit& edit) {
    return std::visit([](const auto& e) { return Edit(backwards(e)); }, edit);
}

/// Lets the newest step grow by an edit beside it; false where it begins a step of its own.
bool History::join(const TextEdit& edit, EditKind kind, double now) {
    if (!open_ || past_.empty() || kind == EditKind::replaced) return false;
    Step& last = past_.back();
    auto* text = std::get_if<TextEdit>(&last.edit);
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

void History::add(Step step) {
    bytes_ += bytes_of(step.edit);
    past_.push_back(std::move(step));
    open_ = true;
    while (past_.size() > kMaxSteps || (bytes_ > kMaxBytes && past_.size() > 1)) {
        bytes_ -= bytes_of(past_.front().edit);
        past_.pop_front();
    }
}

void History::note(TextEdit edit, EditKind kind, double now) {
    if (edit.removed == edit.inserted) return;
    future_.clear();
    if (!join(edit, kind, now)) add({std::move(edit), kind, now});
}

/// The newest step where it is one of this kind that goes on.
template <class E>
E* History::growing(bool same_step) {
    return same_step && open_ && !past_.empty() ? std::get_if<E>(&past_.back().edit) : nullptr;
}

/// The newest step ends as this edit does; one that came back to where it began is none.
template <class E>
void History::grow(E& last, E edit) {
    bytes_ -= bytes_of(last);
    last.after = std::move(edit.after);
    bytes_ += bytes_of(last);
    if (last.after != last.before) return;
    bytes_ -= bytes_of(last);
    past_.pop_back();
    open_ = false;
}

void History::note(InterventionEdit edit, bool same_step) {
    if (edit.before == edit.after) return;
    future_.clear();
    auto* last = growing<InterventionEdit>(same_step);
    if (!last) return add({std::move(edit), EditKind::replaced, 0});
    grow(*last, std::move(edit));
}

/// A step that nothing joins.
void History::begin(Edit edit) {
    future_.clear();
    add({std::move(edit), EditKind::replaced, 0});
}

void History::note(ComparisonEdit edit) {
    if (edit.before != edit.after) begin(std::move(edit));
}

void History::note(HeadLabelEdit edit) {
    if (edit.before != edit.after) begin(std::move(edit));
}

void History::note(ViewEdit edit, bool same_step) {
    if (edit.before == edit.after) return;
    future_.clear();
    auto* last = growing<ViewEdit>(same_step);
    if (!last || last->put != edit.put || last->part != edit.part)
        return add({std::move(edit), EditKind::replaced, 0});
    grow(*last, std::move(edit));
}

std::optional<Edit> History::undo() {
    if (past_.empty()) return std::nullopt;
    open_ = false;
    bytes_ -= bytes_of(past_.back().edit);
    future_.push_back(std::move(past_.back()));
    past_.pop_back();
    return reversed(future_.back().edit);
}

std::optional<Edit> History::redo() {
    if (future_.empty()) return std::nullopt;
    Step step = std::move(future_.back());
    future_.pop_back();
    Edit edit = step.edit;
    add(std::move(step));
    open_ = false;
    return edit;
}

void History::forget_model() {
    const auto of_model = [](const Step& s) {
        return std::holds_alternative<InterventionEdit>(s.edit) ||
               std::holds_alternative<ComparisonEdit>(s.edit);
    };
    for (auto* steps : {&past_, &future_}) std::erase_if(*steps, of_model);
    open_ = false;
    bytes_ = 0;
    for (const Step& step : past_) bytes_ += bytes_of(step.edit);
}

}  // namespace headlight
