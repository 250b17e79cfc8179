// What is open and wanted, without a display. Plain data: what a person does goes in, the worker is asked
// from it, views show it.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "analysis/prediction/generate.h"
#include "figure/colormap.h"
#include "figure/figure.h"
#include "session/history.h"
#include "session/model_choice.h"
#include "session/remembering.h"
#include "session/state_bag.h"

namespace headlight {

/// How heads are ranked: a statistic by its row, the weight of the focused cell, how far the changes moved
/// their patterns, or what ablating them does to a predicted token.
constexpr int kRankByCell = -1, kRankByMoved = -2, kRankBySweep = -3;

/// What stands under the views for who is new: three hints, then things to try.
enum class Guide { none, hints, tries };

/// What lies over the window; one at a time.
enum class Sheet { models, compared_models, settings, save, label, help, palette, metric, token, text_file };

/// How the model writes on, and how much of that is read.
struct GenerationState {
    SamplingParams decoding;
    int length = 24;          // the most tokens that a decoder writes on
    bool bar = false;         // the generation bar is open; a decoder generates then
    std::vector<int> forced;  // the first tokens of what the model writes, chosen by the person
    std::string forced_for;   // the text that they were chosen in
    int step = -1;            // how many written tokens are read; −1: all
    bool playing = false;     // a step further every while

    /// Puts a token in the place of the written one at a step and lets the model go on from there.
    void force(const Generation& generation, int at, int id);
    /// The model chooses for itself again.
    void unforce();
};

/// What a person changed in a model and explains in it, as the command line spells it.
struct ModelChanges {
    std::string mask = "own";
    std::vector<std::string> changes;
    std::optional<std::string> metric;          // "": the default; none: nothing said yet
    std::vector<int> forced;                    // GenerationState::forced, in …
    std::string forced_for;                     // … this text
    std::shared_ptr<const ModelConfig> config;  // of the model, where it was open once; else null

    bool operator==(const ModelChanges&) const = default;
};

/// What is worked on: a model, texts, what is changed in its attention, and what it is compared with.
struct Document {
    ModelChoice wanted{"stories",
                       0};       // the document's model; until it is open, or cannot be, another one than …
    ModelChoice open;            // … the one that answers; without a path: none does yet
    uint64_t attempts = 0;       // to open a model, so far: each new one has a number of its own
    uint64_t noted_attempt = 0;  // one that is no step of undo, or has its step already
    uint64_t first_attempt = 0;  // to open the workspace's own model
    std::string text, second;    // the second sentence, or the target
    std::string picture;         // the path of what vision models read in place of a text
    std::map<std::string, ModelChanges> changes_of;  // by path; the open model's are those …
    Intervention intervention;                       // … in force, which note_changes() spells there
    History history;                                 // of texts, interventions, models
    std::shared_ptr<const Trial> trial;              // what was tried out last; null: nothing
    std::optional<size_t> trial_waits;  // how many of its commands are done; the others wait for a model
    std::optional<int> slide_waits;     // which slide is shown when its model is there, or cannot be
    bool same_step = false;             // further changes belong to the last step of undo
    Comparison comparison;
    GenerationState generation;
    ChosenMetric metric;                 // what is explained, in every view
    bool sweeping = false;               // each head is ablated in turn
    HeadLabels head_labels;              // by hand; in a file of their own
    std::vector<LabelEdit> label_edits;  // not written yet
    std::vector<std::string> slides;     // views that were kept, as workspaces hold them
    std::string workspace;               // the file that was opened or saved last
    std::string unknown_fields;          // what it holds that this version does not know, as JSON
    std::string left_workspace;  // what a window left that did not end as it should; offered until it is
                                 // opened or not wanted
    /// What is changed in the document's model, as it is spelled.
    ModelChanges& changes() { return changes_of[wanted.path]; }
    /// Another model is being opened than the one that answers.
    bool awaits_model() const { return wanted != open; }
    std::string& named(TextName name);
    const std::string& named(TextName name) const { return const_cast<Document*>(this)->named(name); }
    /// Puts a text in the place of another one, as a step of undo; the fields do not know yet.
    void put_text(TextName name, const std::string& text);

    /// Puts a new intervention in force; the old one can be brought back. While the mouse is held, what it
    /// does is one step.
    void intervene(Intervention next);
    /// The same for what is explained, for what is compared, and for a head's label ("" takes it away);
    /// `head` as labels name it.
    void explain(ChosenMetric next);
    void compare(Comparison next);
    /// B is a model; one that is chosen again is opened again.
    void compare_with_model(const std::string& path);
    void label(const std::string& model, const std::string& head, const std::string& text);
    /// What undo and redo do with a label.
    void put_label(const std::string& model, const std::string& head, const std::string& text);
};

/// What the mouse is over: views say so while they are drawn, and light it in the next frame.
struct Hovered {
    std::optional<std::pair<int, int>> cell, head;  // query, key; block, head
    std::optional<std::pair<int, int>> preview;     // a head that views show while the mouse rests on its row
    std::optional<int> block, key;                  // in a map of layers; in lines
    std::optional<int> token;                       // a predicted one
    bool operator==(const Hovered&) const = default;
};

/// What of it is looked at.
struct Selection {
    int block = 0, head = 0;   // which attention block (ModelConfig::block), which head
    bool choose_head = true;   // let the worker pick the most telling head once
    bool head_chosen = false;  // by the person: stations of Learn then begin with no other
    /// What a person does.
    void choose(int to_block, int to_head);
    void unlock();
    std::string view_name;              // key of the view to open
    std::optional<size_t> view;         // row of the table of views; none: the first that the model offers
    std::optional<size_t> view_before;  // the one that a view which fills the window was opened from
    std::optional<std::pair<int, int>> locked;        // query, key
    std::optional<std::pair<int, int>> let_go;        // … until a model that is being opened is there
    std::optional<std::pair<int, int>> lock_in_text;  // what is locked where the first field holds …
    std::string text_to_lock;                         // … this, once that was noticed
    Hovered hovered;

    /// Locks a cell of a text that was just put into the first field.
    void lock_in(const std::string& text, std::optional<std::pair<int, int>> cell);

    /// The head that views are to show: previewed, else chosen.
    std::pair<int, int> shown_head() const { return hovered.preview.value_or(std::pair{block, head}); }
    /// focused = hovered, else locked
    std::optional<std::pair<int, int>> focused() const { return hovered.cell ? hovered.cell : locked; }
};

/// How a person likes it shown.
struct Preferences {
    std::vector<std::string> recent_models, recent_texts;
    bool dark = true;
    float text_size = 1.0f;  // 1, 1.25, 1.5
    std::string colormap = "beam";
    Contrast contrast = Contrast::automatic;
    Axis queries = Axis::rows;
    Marks marks = Marks::squares;
    int rank = 0;             // a row of head_statistics(), or kRankBy…
    bool drop_sink = false;   // heat maps leave the first key out
    bool change_bar = false;  // the row of masks, brushes and ablations is open
    bool hints_seen = false;  // at a first start
    int window_width = 0,
        window_height = 0;           // 0: as it was never yet; while it is maximized, as it was before
    int window_x = 0, window_y = 0;  // of its contents, on all screens together
    bool window_placed = false;      // it stood there
    bool window_maximized = false;
};

struct Session {
    Document document;
    Selection selection;
    Preferences preferences;
    StateBag views;                      // what belongs to one view alone
    std::span<const StateVisit> visits;  // how the states of views are remembered
    std::string notice;                  // one sentence under the tokens
    std::optional<Sheet> sheet;
    Guide guide = Guide::none;
    bool presenting = false;  // the view alone, large
    int slide = -1;           // the one that was shown last; −1: none yet

    bool shows(Sheet one) const { return sheet == one; }
    /// Opens a sheet, or closes it where it is open.
    void toggle(Sheet one) { sheet = shows(one) ? std::nullopt : std::optional(one); }

    template <class T>
    T& of() {
        return views.of<T>();
    }
    template <class T>
    const T& of() const {
        return views.of<T>();
    }
};

/// Puts a text first in a list of the latest ones, where it stands once.
void note_recent(std::vector<std::string>& recent, const std::string& text);

/// Visits what belongs to the person, whatever is looked at.
void visit_preferences(Session& session, FieldVisitor& visitor);

/// Visits what is looked at, and how: what a workspace file holds.
void visit_workspace(Session& session, FieldVisitor& visitor);

/// Opens a model by path; what is open stays until it is there.
void choose_model(Session& session, const std::string& path);

/// Gives up what is being opened: the document is again one of the model that answers. A workspace file whose
/// own model was never open is let go, so that it is not saved as that of another one.
void stay_with_open(Session& session);

/// Moves the chosen block and head to the nearest that the model has.
void fit_head(Selection& selection, const ModelConfig& config);

}  // namespace headlight
