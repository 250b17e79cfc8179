// One history of what a person did, in the order of time: edits of texts, interventions, comparisons, labels
// of heads and what is chosen in a view, each a difference, not a copy.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "model/forward.h"
#include "session/comparison.h"

namespace headlight {

struct Session;

/// Bytes [at, at + removed.size()) of a text became `inserted`.
struct TextEdit {
    int text = 0;  // which of the texts
    size_t at = 0;
    std::string removed, inserted;
    bool operator==(const TextEdit&) const = default;
};

struct InterventionEdit {
    Intervention before, after;
    bool operator==(const InterventionEdit&) const = default;
};

struct ComparisonEdit {
    Comparison before, after;
    bool operator==(const ComparisonEdit&) const = default;
};

/// A head's label by hand; "": none.
struct HeadLabelEdit {
    std::string model, head, before, after;
    bool operator==(const HeadLabelEdit&) const = default;
};

/// What was chosen in a part of a view, in the view's own words, which `put` makes so.
struct ViewEdit {
    void (*put)(Session& session, const std::string& part, const std::vector<std::string>& words) = nullptr;
    std::string part;
    std::vector<std::string> before, after;
    bool operator==(const ViewEdit&) const = default;
};

using Edit = std::variant<TextEdit, InterventionEdit, ComparisonEdit, HeadLabelEdit, ViewEdit>;

/// The edit that takes another one back.
Edit reversed(const Edit& edit);

/// How a text was edited. What is typed joins the word before it, what is erased joins what was erased beside
/// it; a pause of kPause seconds, or anything else in between, begins a new step. What is replaced (pasted,
/// cut, chosen) is a step of its own.
enum class EditKind { typed, erased, replaced };

class History {
public:
    static constexpr double kPause = 1;              // seconds
    static constexpr size_t kMaxBytes = 16'000'000;  // of what can be undone; the oldest steps go first
    static constexpr size_t kMaxSteps = 2000;

    /// Notes what was done to a text at `now` (seconds of any steady clock). What was undone can no longer be
    /// redone.
    void note(TextEdit edit, EditKind kind, double now);
    /// Notes a change of the intervention; `same_step` where it belongs to the one before it (a drag that
    /// goes on).
    void note(InterventionEdit edit, bool same_step = false);
    void note(ComparisonEdit edit);
    void note(HeadLabelEdit edit);
    /// Where it belongs to the step before it, that step was of the same part of the same view.
    void note(ViewEdit edit, bool same_step = false);

    /// What takes the newest step back, or does the last one that was taken back again; nothing where there
    /// is none.
    std::optional<Edit> undo();
    std::optional<Edit> redo();

    /// Forgets interventions and comparisons: another model is open, which they need not fit.
    void forget_model();
    void clear() { *this = {}; }
    size_t steps() const { return past_.size(); }

private:
    struct Step {
        Edit edit;
        EditKind kind;
        double time;
    };
    bool join(const TextEdit& edit, EditKind kind, double now);
    template <class E>
    E* growing(bool same_step);
    template <class E>
    void grow(E& last, E edit);
    void add(Step step);
    void begin(Edit edit);

    std::deque<Step> past_, future_;  // newest last
    bool open_ = false;               // the newest step may still grow
    size_t bytes_ = 0;                // of what past_ holds
};

}  // namespace headlight
