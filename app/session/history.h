// The undo history in order of time: edits of texts, interventions, comparisons, head labels, choices in
// views and tries, each a difference, not a copy.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "analysis/prediction/metric.h"
#include "model/forward.h"
#include "session/comparison.h"

namespace headlight {

struct Session;
struct Trial;  // session/commands/try_out.h

/// The texts of the window. The sentence, or the image path of a vision model, is in the first field.
/// The conversation has no field: it is messages in JSON (session/conversation.h).
enum class TextName { sentence, second, other, picture, conversation };

/// Replaces bytes [at, at + removed.size()) of a text by `inserted`.
struct TextEdit {
    TextName text = TextName::sentence;
    size_t at = 0;
    std::string removed, inserted;
    size_t before = 0, after = 0;  // hashes of the whole text
    bool operator==(const TextEdit&) const = default;
};
/// The edit that replaces some bytes of a text by `inserted`.
TextEdit edit_of(TextName name, const std::string& text, size_t at, size_t count, std::string inserted);
/// The text after an edit; none if it is not the edited text.
std::optional<std::string> edited(const std::string& text, const TextEdit& edit);

/// `model`: path of the model whose layers and heads these are.
struct InterventionEdit {
    Intervention before, after;
    std::string model;
    bool operator==(const InterventionEdit&) const = default;
};

struct ComparisonEdit {
    Comparison before, after;
    bool operator==(const ComparisonEdit&) const = default;
};

/// The metric, and its spelling for the open model; "": the default.
struct ChosenMetric {
    std::string name;
    Metric metric;
    bool operator==(const ChosenMetric&) const = default;
};

/// `model`: path of the model whose tokens these are.
struct MetricEdit {
    ChosenMetric before, after;
    std::string model;
    bool operator==(const MetricEdit&) const = default;
};

/// A head's label; "": none.
struct HeadLabelEdit {
    std::string model, head, before, after;
    bool operator==(const HeadLabelEdit&) const = default;
};

/// Reads, sets and shows the choices in a view's parts, in the view's own words.
struct ViewWords {
    std::vector<std::string> (*read)(const Session& session, const std::string& part) = nullptr;
    void (*put)(Session& session, const std::string& part, const std::vector<std::string>& words) = nullptr;
    void (*show)(Session& session, const std::string& part) = nullptr;
};

/// A choice in a part of a view.
struct ViewEdit {
    const ViewWords* view = nullptr;
    std::string part;
    std::vector<std::string> before, after;
    bool operator==(const ViewEdit&) const = default;
};

/// The current view. Not a step of its own: a try carries it along.
struct Look {
    std::string model;  // path
    std::optional<size_t> view;
    int block = 0, head = 0;
    bool head_chosen = false, sweeping = false;
    std::optional<std::pair<int, int>> locked;
    int rank = 0;
    bool operator==(const Look&) const = default;
};

struct LookEdit {
    Look before, after;
    bool operator==(const LookEdit&) const = default;
};

/// An open model by its path, and what was chosen in it; block −1: unknown.
struct OpenModel {
    std::string path;
    int block = -1, head = -1;
    std::optional<std::pair<int, int>> locked = {};
    bool operator==(const OpenModel&) const = default;
};

/// Another model was opened.
struct ModelEdit {
    OpenModel before, after;
    bool operator==(const ModelEdit&) const = default;
};

/// The active try; null: none.
struct TrialEdit {
    std::shared_ptr<const Trial> before, after;
    bool operator==(const TrialEdit&) const = default;
};

using Edit = std::variant<TextEdit, InterventionEdit, ComparisonEdit, MetricEdit, HeadLabelEdit, ViewEdit,
                          LookEdit, ModelEdit, TrialEdit>;

Edit reversed(const Edit& edit);

/// Kind of a text edit. Typing joins the word before it, erasing joins the erasure beside it; a pause of
/// kPause seconds, or another edit, begins a new step. Pasting, cutting and choosing are steps.
enum class EditKind { typed, erased, replaced };

class History {
public:
    static constexpr double kPause = 1;              // seconds
    static constexpr size_t kMaxBytes = 16'000'000;  // memory of undo; the oldest steps go first
    static constexpr size_t kMaxSteps = 2000;

    /// Records an edit of a text at `now` (seconds of any steady clock) and clears redo.
    void note(TextEdit edit, EditKind kind, double now);
    /// Records a change of the intervention; `same_step` joins it to the last one (a drag in progress).
    void note(InterventionEdit edit, bool same_step = false);
    /// Joins the last step if that edited the same part of the same view.
    void note(ViewEdit edit, bool same_step = false);
    /// Joins the last step if that opened the model from which this one goes on.
    void note(ModelEdit edit, bool same_step);
    /// Records a step that never joins.
    void note(Edit edit);

    /// Groups edits into one step, or joins them to the newest one. Nested groups join the outer.
    void begin_group(bool goes_on = false);
    void end_group();
    bool grouping() const { return groups_ > 0; }
    /// The newest edit, or null.
    const Edit* last() const {
        return past_.empty() || past_.back().edits.empty() ? nullptr : &past_.back().edits.back();
    }
    /// The group's edits so far.
    const std::vector<Edit>& group() const { return past_.back().edits; }

    /// The inverse edits of the newest step, or the edits of the last undone one, in order. Not in a group.
    std::vector<Edit> undo();
    std::vector<Edit> redo();
    void clear_redo() { future_.clear(); }

    size_t steps() const { return past_.size(); }
    size_t undone() const { return future_.size(); }
    /// Names the open group's step.
    void name(std::string as) { past_.back().name = std::move(as); }
    /// Names the newest steps that have no name yet: tokens are called what they are now.
    void name_steps(const std::function<std::string(const std::vector<Edit>&)>& name_of);
    /// The names of all steps in order of time, those undone last.
    std::vector<std::string> names() const;
    size_t bytes() const { return bytes_; }

private:
    struct Step {
        std::vector<Edit> edits;  // one, or a group's
        EditKind kind = EditKind::replaced;
        double time = 0;
        std::string name = {};  // "": none yet, or outdated
    };
    bool join(const TextEdit& edit, EditKind kind, double now);
    template <class E>
    E* growing(bool same_step);
    template <class E>
    void grow(E& last, E edit);
    Edit* newest();
    void add(Edit edit, EditKind kind = EditKind::replaced, double time = 0);
    void keep_within_bounds();

    std::deque<Step> past_, future_;  // newest last
    bool open_ = false;               // the newest step may still grow
    int groups_ = 0;                  // … by any edit; how deep
    size_t bytes_ = 0;                // held by past_
};

/// Keeps a group open during its lifetime.
class HistoryGroup {
public:
    explicit HistoryGroup(History& history, bool goes_on = false) : history_(history) {
        history_.begin_group(goes_on);
    }
    ~HistoryGroup() { history_.end_group(); }
    HistoryGroup(const HistoryGroup&) = delete;
    HistoryGroup& operator=(const HistoryGroup&) = delete;

private:
    History& history_;
};

}  // namespace headlight
