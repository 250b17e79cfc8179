#include "session/history.h"

#include <utility>

#include "base/check.h"
#include "base/utf8.h"
#include "session/commands/try_out.h"

namespace headlight {

namespace {

// Counts everything that a step keeps: texts, patterns of changes, tries.
size_t bytes_of(const Edit& edit);

size_t bytes_of(const std::vector<std::string>& words) {
    size_t out = words.size() * sizeof(std::string);
    for (const std::string& word : words) out += word.size();
    return out;
}
size_t bytes_of(const Intervention& i) {
    size_t out = i.mask.name().size() + size_t(i.mask.file_rows()) * size_t(i.mask.file_rows()) / 8;
    for (const Change& change : i.changes)
        out += sizeof change + change.from.size() +
               (change.pattern ? size_t(change.pattern->size()) * sizeof(float) : 0);
    return out;
}
size_t bytes_of(const Comparison& c) {
    return c.text.size() + c.model.size() + c.alignment.by_hand.size() * 2 * sizeof(int);
}
size_t bytes_of(const std::vector<Edit>& edits) {
    size_t out = 0;
    for (const Edit& edit : edits) out += bytes_of(edit);
    return out;
}
size_t bytes_of(const std::shared_ptr<const Trial>& trial) {
    return trial ? trial->commands.size() + trial->before.model.size() + bytes_of(trial->edits) : 0;
}
size_t bytes_of(const std::string& text) { return text.size(); }
size_t bytes_of(const ChosenMetric& metric) { return metric.name.size(); }
size_t bytes_of(const Look& look) { return look.model.size(); }
size_t bytes_of(const OpenModel& model) { return model.path.size(); }

struct Bytes {
    size_t operator()(const TextEdit& e) const { return e.removed.size() + e.inserted.size(); }
    size_t operator()(const auto& e) const { return bytes_of(e.before) + bytes_of(e.after); }
};
size_t bytes_of(const Edit& edit) { return sizeof edit + std::visit(Bytes(), edit); }

TextEdit backwards(const TextEdit& e) { return {e.text, e.at, e.inserted, e.removed, e.after, e.before}; }
template <class E>
E backwards(E e) {
    std::swap(e.before, e.after);
    return e;
}

bool changes_nothing(const TextEdit& e) { return e.removed == e.inserted; }
bool changes_nothing(const ModelEdit& e) { return e.before.path == e.after.path; }
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

TextEdit edit_of(TextName name, const std::string& text, size_t at, size_t count, std::string inserted) {
    const std::hash<std::string> hash;
    std::string after = text;
    after.replace(at, count, inserted);
    return {name, at, text.substr(at, count), std::move(inserted), hash(text), hash(after)};
}

std::optional<std::string> edited(const std::string& text, const TextEdit& edit) {
    if (std::hash<std::string>()(text) != edit.before || edit.at > text.size() ||
        text.compare(edit.at, edit.removed.size(), edit.removed) != 0)
        return std::nullopt;
    std::string out = text;
    out.replace(edit.at, edit.removed.size(), edit.inserted);
    return out;
}

/// The last edit of the newest step while that may grow, else null.
Edit* History::newest() { return open_ && !past_.empty() ? &past_.back().edits.back() : nullptr; }

/// Extends the newest step by an adjacent edit; false if the edit begins a step of its own.
bool History::join(const TextEdit& edit, EditKind kind, double now) {
    if (grouping() || !newest() || kind == EditKind::replaced) return false;
    Step& last = past_.back();
    auto* text = std::get_if<TextEdit>(newest());
    if (!text || text->text != edit.text || text->after != edit.before) return false;
    if (last.kind != kind || now - last.time > kPause) return false;
    const size_t was = bytes_of(*newest());
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
    last.name.clear();
    text->after = edit.after;
    bytes_ += bytes_of(*newest()) - was;
    return true;
}

void History::keep_within_bounds() {
    while (past_.size() > kMaxSteps || (bytes_ > kMaxBytes && past_.size() > 1)) {
        bytes_ -= bytes_of(past_.front().edits);
        past_.pop_front();
    }
}

/// Adds a step, or joins the open group. Clears redo.
void History::add(Edit edit, EditKind kind, double time) {
    future_.clear();
    bytes_ += bytes_of(edit);
    if (grouping()) {
        past_.back().edits.push_back(std::move(edit));
        past_.back().name.clear();
    } else {
        past_.push_back({{std::move(edit)}, kind, time});
    }
    open_ = true;
    keep_within_bounds();
}

void History::begin_group(bool goes_on) {
    if (++groups_ > 1) return;
    if (!goes_on || past_.empty()) past_.emplace_back();
}

void History::end_group() {
    HEADLIGHT_CHECK(grouping() && !past_.empty());
    if (--groups_ > 0) return;
    open_ = false;
    if (past_.back().edits.empty()) past_.pop_back();
}

void History::note(TextEdit edit, EditKind kind, double now) {
    if (changes_nothing(edit)) return;
    future_.clear();
    if (!join(edit, kind, now)) add(std::move(edit), kind, now);
}

/// The newest step if it is of this kind and may grow.
template <class E>
E* History::growing(bool same_step) {
    return same_step && !grouping() && newest() ? std::get_if<E>(newest()) : nullptr;
}

/// Extends the newest step to end as this edit does; drops a step that returned to its start.
template <class E>
void History::grow(E& last, E edit) {
    future_.clear();
    bytes_ -= bytes_of(*newest());
    last.after = std::move(edit.after);
    past_.back().name.clear();
    if (!changes_nothing(last)) {
        bytes_ += bytes_of(*newest());
        return keep_within_bounds();
    }
    past_.pop_back();
    open_ = false;
}

void History::note(InterventionEdit edit, bool same_step) {
    if (changes_nothing(edit)) return;
    auto* last = growing<InterventionEdit>(same_step);
    if (!last || last->model != edit.model) return add(std::move(edit));
    grow(*last, std::move(edit));
}

void History::note(ViewEdit edit, bool same_step) {
    if (changes_nothing(edit)) return;
    auto* last = growing<ViewEdit>(same_step);
    if (!last || last->view != edit.view || last->part != edit.part) return add(std::move(edit));
    grow(*last, std::move(edit));
}

void History::note(ModelEdit edit, bool same_step) {
    if (changes_nothing(edit)) return;
    auto* last = growing<ModelEdit>(same_step);
    if (!last || last->after.path != edit.before.path) return add(std::move(edit));
    grow(*last, std::move(edit));
}

void History::note(Edit edit) {
    if (!std::visit([](const auto& e) { return changes_nothing(e); }, edit)) add(std::move(edit));
}

void History::name_steps(const std::function<std::string(const std::vector<Edit>&)>& name_of) {
    for (std::deque<Step>* steps : {&past_, &future_})
        for (auto step = steps->rbegin(); step != steps->rend() && step->name.empty(); ++step)
            step->name = name_of(step->edits);
}

std::vector<std::string> History::names() const {
    std::vector<std::string> out;
    for (const Step& step : past_) out.push_back(step.name);
    for (auto step = future_.rbegin(); step != future_.rend(); ++step) out.push_back(step->name);
    return out;
}

std::vector<Edit> History::undo() {
    HEADLIGHT_CHECK(!grouping());
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
    HEADLIGHT_CHECK(!grouping());
    if (future_.empty()) return {};
    Step step = std::move(future_.back());
    future_.pop_back();
    std::vector<Edit> out = step.edits;
    bytes_ += bytes_of(out);
    past_.push_back(std::move(step));
    open_ = false;
    return out;
}

}  // namespace headlight
