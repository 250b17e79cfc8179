// What can be undone: edits of texts and of the intervention, in the order of time. Edits are kept, not copies of the text.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <variant>

#include "model/forward.h"

namespace headlight {

/// At byte `at`, `removed` gave way to `inserted`; anchor and caret as they stood before.
struct TextEdit {
    size_t at = 0;
    std::string removed, inserted;
    size_t anchor = 0, caret = 0;
    size_t length = 0;  // bytes of the text before
};

void apply(std::string& text, const TextEdit& edit);
void revert(std::string& text, const TextEdit& edit);

/// The one edit that makes `after` of `before`: what they share at both ends is left out, whole code points only.
TextEdit difference(const std::string& before, const std::string& after);

/// One step of undo: an edit of the field with this number, or an intervention that was replaced.
struct TextStep {
    int field = 0;
    TextEdit edit;
};
struct InterventionStep {
    Intervention before, after;
};
using Step = std::variant<TextStep, InterventionStep>;

/// Steps that were done and steps that were undone. Typing goes on in one step until a word ends or a pause comes.
class History {
public:
    /// Notes an edit made at `now`, in seconds. One that stands `alone` (pasting, cutting) is never joined with others.
    void note(TextStep step, double now, bool alone = false);
    /// Notes another intervention; with `same_step` it belongs to the last one.
    void note(InterventionStep step, bool same_step = false);

    /// The step to take back or to do again, which moves to the other side; none where there is none.
    std::optional<Step> undo();
    std::optional<Step> redo();

    /// A field was given another text by the program: its steps fit no more.
    void forget(int field);
    void forget_interventions();
    void clear() { *this = {}; }

    size_t bytes() const { return bytes_; }

private:
    void push(Step step);

    std::deque<Step> done_, undone_;
    size_t bytes_ = 0;        // of the edits in done_
    double noted_at_ = 0;     // when done_'s last step last grew
    bool open_ = false;       // whether it can grow
};

}  // namespace headlight
