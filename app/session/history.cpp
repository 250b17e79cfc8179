#include "session/history.h"

#include <algorithm>

#include "base/utf8.h"

namespace headlight {

namespace {

constexpr double kPause = 2;  // seconds
constexpr size_t kMostSteps = 5'000, kMostBytes = 32 << 20;

size_t size_of(const Step& step) {
    const auto* text = std::get_if<TextStep>(&step);
    return text ? text->edit.removed.size() + text->edit.inserted.size() : 0;
}

bool begins_with_space(const std::string& s) { return !s.empty() && is_white_space(decode_utf8(s, 0).value); }

bool ends_with_space(const std::string& s) {
    size_t last = s.size();
    while (last > 0 && (static_cast<unsigned char>(s[--last]) & 0xC0) == 0x80) {}
    return !s.empty() && is_white_space(decode_utf8(s, last).value);
}

bool is_within_code_point(const std::string& s, size_t at) { return at < s.size() && (static_cast<unsigned char>(s[at]) & 0xC0) == 0x80; }

/// Whether `next` goes on where `last` ended: typing within a word and the blanks behind it, or erasing in one direction.
bool goes_on(const TextEdit& last, const TextEdit& next) {
    if (last.removed.empty() && next.removed.empty()) return next.at == last.at + last.inserted.size() && (begins_with_space(next.inserted) || !ends_with_space(last.inserted));
    if (!last.inserted.empty() || !next.inserted.empty()) return false;
    return next.at + next.removed.size() == last.at || next.at == last.at;
}

void grow(TextEdit& last, const TextEdit& next) {
    if (next.removed.empty()) last.inserted += next.inserted;
    else if (next.at < last.at) last.removed.insert(0, next.removed);
    else last.removed += next.removed;
    last.at = std::min(last.at, next.at);
}

}  // namespace

void apply(std::string& text, const TextEdit& edit) { text.replace(std::min(edit.at, text.size()), edit.removed.size(), edit.inserted); }

void revert(std::string& text, const TextEdit& edit) { text.replace(std::min(edit.at, text.size()), edit.inserted.size(), edit.removed); }

TextEdit difference(const std::string& before, const std::string& after) {
    const size_t most = std::min(before.size(), after.size());
    size_t head = 0, tail = 0;
    while (head < most && before[head] == after[head]) ++head;
    while (head > 0 && (is_within_code_point(before, head) || is_within_code_point(after, head))) --head;
    while (tail < most - head && before[before.size() - 1 - tail] == after[after.size() - 1 - tail]) ++tail;
    while (tail > 0 && (is_within_code_point(before, before.size() - tail) || is_within_code_point(after, after.size() - tail))) --tail;
    return {head, before.substr(head, before.size() - tail - head), after.substr(head, after.size() - tail - head)};
}

void History::push(Step step) {
    undone_.clear();
    bytes_ += size_of(step);
    done_.push_back(std::move(step));
    while (done_.size() > 1 && (done_.size() > kMostSteps || bytes_ > kMostBytes)) {
        bytes_ -= size_of(done_.front());
        done_.pop_front();
    }
}

void History::note(TextStep step, double now, bool alone) {
    if (step.edit.removed == step.edit.inserted) return;
    TextStep* last = done_.empty() ? nullptr : std::get_if<TextStep>(&done_.back());
    const bool joins = open_ && !alone && last && last->field == step.field && now - noted_at_ < kPause && goes_on(last->edit, step.edit);
    noted_at_ = now;
    open_ = !alone;
    if (!joins) return push(std::move(step));
    undone_.clear();
    bytes_ += size_of(step);
    grow(last->edit, step.edit);
}

void History::note(InterventionStep step, bool same_step) {
    open_ = false;
    InterventionStep* last = done_.empty() ? nullptr : std::get_if<InterventionStep>(&done_.back());
    if (!same_step || !last) return push(std::move(step));
    undone_.clear();
    last->after = std::move(step.after);
}

std::optional<Step> History::undo() {
    if (done_.empty()) return std::nullopt;
    Step step = std::move(done_.back());
    done_.pop_back();
    bytes_ -= size_of(step);
    undone_.push_back(step);
    open_ = false;
    return step;
}

std::optional<Step> History::redo() {
    if (undone_.empty()) return std::nullopt;
    Step step = std::move(undone_.back());
    undone_.pop_back();
    bytes_ += size_of(step);
    done_.push_back(step);
    open_ = false;
    return step;
}

void History::forget(int field) {
    const auto is_of = [field](const Step& step) {
        const auto* text = std::get_if<TextStep>(&step);
        return text && text->field == field;
    };
    std::erase_if(done_, is_of);
    std::erase_if(undone_, is_of);
    bytes_ = 0;
    for (const Step& step : done_) bytes_ += size_of(step);
    open_ = false;
}

void History::forget_interventions() {
    const auto is_one = [](const Step& step) { return std::holds_alternative<InterventionStep>(step); };
    std::erase_if(done_, is_one);
    std::erase_if(undone_, is_one);
    open_ = false;
}

}  // namespace headlight
