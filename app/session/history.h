// One history of what a person did, in the order of time: edits of texts, interventions, comparisons, labels
// of heads, what is chosen in a view and what was tried out, each a difference, not a copy.
#pragma once

#include <deque>
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

/// The texts that are typed into the window. The sentence and the path of the picture that a vision model
/// reads in its place share the first field.
enum class TextName { sentence, second, other, picture };

/// Bytes [at, at + removed.size()) of a text became `inserted`.
struct TextEdit {
    TextName text = TextName::sentence;
    size_t at = 0;
    std::string removed, inserted;
    size_t before = 0, after = 0;  // hashes of the whole text
    bool operator==(const TextEdit&) const = default;
};
/// The edit that puts `inserted` in the place of some bytes of a text.
TextEdit edit_of(TextName name, const std::string& text, size_t at, size_t count, std::string inserted);
/// The text after an edit; none where it is not the text that was edited.
std::optional<std::string> edited(const std::string& text, const TextEdit& edit);

/// `model`: the path of the one whose layers and heads these are.
struct InterventionEdit {
    Intervention before, after;
    std::string model;
    bool operator==(const InterventionEdit&) const = default;
};

struct ComparisonEdit {
    Comparison before, after;
    bool operator==(const ComparisonEdit&) const = default;
};

/// What is explained, and how it is spelled for the model that is open; "": the default.
struct ChosenMetric {
    std::string name;
    Metric metric;
    bool operator==(const ChosenMetric&) const = default;
};

/// `model`: the path of the one whose tokens these are.
struct MetricEdit {
    ChosenMetric before, after;
    std::string model;
    bool operator==(const MetricEdit&) const = default;
};

/// A head's label by hand; "": none.
struct HeadLabelEdit {
    std::string model, head, before, after;
    bool operator==(const HeadLabelEdit&) const = default;
};

/// How what is chosen in the parts of a view is read, put and brought to sight, in the view's own words.
struct ViewWords {
    std::vector<std::string> (*read)(const Session& session, const std::string& part) = nullptr;
    void (*put)(Session& session, const std::string& part, const std::vector<std::string>& words) = nullptr;
    void (*show)(Session& session, const std::string& part) = nullptr;
};

/// What was chosen in a part of a view.
struct ViewEdit {
    const ViewWords* view = nullptr;
    std::string part;
    std::vector<std::string> before, after;
    bool operator==(const ViewEdit&) const = default;
};

/// What is looked at. A change of it is no step of its own: a try brings it along.
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

/// Another model was opened; paths.
struct ModelEdit {
    std::string before, after;
    bool operator==(const ModelEdit&) const = default;
};

/// What is in force of the tries; null: none.
struct TrialEdit {
    std::shared_ptr<const Trial> before, after;
    bool operator==(const TrialEdit&) const = default;
};

using Edit = std::variant<TextEdit, InterventionEdit, ComparisonEdit, MetricEdit, HeadLabelEdit, ViewEdit,
                          LookEdit, ModelEdit, TrialEdit>;

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
    /// Where it belongs to the step before it, that step was of the same part of the same view.
    void note(ViewEdit edit, bool same_step = false);
    /// A step that nothing joins.
    void note(Edit edit);

    /// What is noted between these is one step, or goes on with the newest one. A group within a group is a
    /// part of it. Prefer HistoryGroup.
    void begin_group(bool goes_on = false);
    void end_group();
    bool grouping() const { return groups_ > 0; }
    /// The newest edit, or null.
    const Edit* last() const {
        return past_.empty() || past_.back().edits.empty() ? nullptr : &past_.back().edits.back();
    }
    /// The group's edits so far.
    const std::vector<Edit>& group() const { return past_.back().edits; }

    /// What takes the newest step back, or does the last one that was taken back again, in order; nothing
    /// where there is none. Never within a group.
    std::vector<Edit> undo();
    std::vector<Edit> redo();
    /// What was taken back can no longer be done again.
    void forget_undone() { future_.clear(); }

    size_t steps() const { return past_.size(); }
    size_t bytes() const { return bytes_; }

private:
    struct Step {
        std::vector<Edit> edits;  // one, or a group's
        EditKind kind = EditKind::replaced;
        double time = 0;
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
    size_t bytes_ = 0;                // of what past_ holds
};

/// A group as long as it lives.
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
