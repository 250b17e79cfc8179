// The session without a display. Plain data: user actions change it, requests to the worker derive from it,
// views show it.
#pragma once

#include <map>
#include <optional>
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

/// Ranking of heads: by a statistic's row, the weight of the locked cell, the change of pattern under
/// interventions, or the effect of ablation on the metric.
constexpr int kRankByCell = -1, kRankByMoved = -2, kRankBySweep = -3;

/// Help for new users below the views: three hints, then things to try.
enum class Guide { none, hints, tries };

/// The sheet over the window; one at a time.
enum class Sheet {
    models,
    compared_models,
    settings,
    save,
    label,
    help,
    palette,
    metric,
    token,
    text_file,
    history
};

/// State of the generation: how tokens are chosen, and which step is shown.
struct GenerationState {
    SamplingParams decoding;
    int length = 24;          // maximum number of tokens to generate
    bool bar = false;         // the generation bar is open; a decoder generates then
    std::vector<int> forced;  // the first generated tokens, chosen by the user
    std::string forced_for;   // the text that they were chosen in
    int step = -1;            // how many generated tokens to read; −1: all
    bool playing = false;     // advances automatically

    /// Forces a token at a step; the model continues from there.
    void force(const Generation& generation, int at, int id);
    /// Releases forced tokens.
    void unforce();
};

/// Interventions on a model and its metric, as the command line spells them.
struct ModelChanges {
    std::string mask = "own";
    std::vector<std::string> changes;
    std::optional<std::string> metric;          // "": the default; none: not set
    std::vector<int> forced;                    // GenerationState::forced, in …
    std::string forced_for;                     // … this text
    std::shared_ptr<const ModelConfig> config;  // of the model, if it was ever open; else null

    bool operator==(const ModelChanges&) const = default;
};

/// The document: a model, texts, interventions, and a comparison.
struct Document {
    ModelChoice wanted{"stories", 0};  // the document's model; until it is open, or fails, it differs from …
    ModelChoice open;                  // … the one that answers; without a path: none yet
    uint64_t attempts = 0;             // number of attempts to open a model so far; each has its own number
    uint64_t noted_attempt = 0;        // an attempt without an undo step, or with one already
    uint64_t first_attempt = 0;        // the attempt that opens the workspace's own model
    std::string text, second;          // the second sentence or target
    std::string picture;               // path of the image that vision models read instead of a text
    bool chatting = false;             // the model reads the conversation; `text` writes a message of it
    std::string conversation;          // ChatDraft, as spelled
    std::map<std::string, ModelChanges> changes_of;  // by path; the open model's are …
    Intervention intervention;                       // … active here, and note_changes() spells them there
    History history;                                 // of texts, interventions, models
    std::shared_ptr<const Trial> trial;              // the last try; null: none
    std::optional<size_t> pending_trial;  // how many of its commands have run; the others wait for a model
    std::optional<int> pending_slide;     // slide to show when its model is open, or fails
    std::optional<OpenModel> reopened;    // what to choose in the model that undo opens again
    bool same_step = false;               // further changes join the last undo step
    Comparison comparison;
    GenerationState generation;
    ChosenMetric metric;                 // in every view
    bool sweeping = false;               // ablates each head in turn
    HeadLabels head_labels;              // saved in their own file
    std::vector<LabelEdit> label_edits;  // not written yet
    std::vector<std::string> slides;     // views saved as slides, as workspaces spell them
    std::string workspace;               // file opened or saved last
    std::string unknown_fields;          // unknown fields of that file, as JSON
    std::string left_workspace;          // recovered workspace of a crashed window, until opened or discarded
    /// The interventions on the document's model, as spelled.
    ModelChanges& changes() { return changes_of[wanted.path]; }
    /// Whether another model is being opened than the one that answers.
    bool awaits_model() const { return wanted != open; }
    std::string& named(TextName name);
    const std::string& named(TextName name) const { return const_cast<Document*>(this)->named(name); }
    /// Replaces a text as an undo step; the fields do not know yet.
    void put_text(TextName name, const std::string& text);

    /// Activates a new intervention; undo restores the old one. Changes of one mouse drag are one step.
    void intervene(Intervention next);
    /// The same for the metric, the comparison, and a head's label ("" removes it); `head` as labels name it.
    void explain(ChosenMetric next);
    void compare(Comparison next);
    /// Makes a model B; choosing the same one again reopens it.
    void compare_with_model(const std::string& path);
    void label(const std::string& model, const std::string& head, const std::string& text);
    /// Sets a label for undo and redo.
    void put_label(const std::string& model, const std::string& head, const std::string& text);
};

/// The hovered objects: views set them while drawing and highlight them in the next frame.
struct Hovered {
    std::optional<std::pair<int, int>> cell, head;  // query, key; block, head
    std::optional<std::pair<int, int>> preview;     // a head to preview while the mouse rests on its row
    std::optional<int> block, key;                  // in a map of layers; in lines
    std::optional<int> token;                       // a predicted token
    bool operator==(const Hovered&) const = default;
};

/// The selection: view, head, cell.
struct Selection {
    int block = 0, head = 0;   // which attention block (ModelConfig::block), which head
    bool choose_head = true;   // let the worker select the most telling head once
    bool head_chosen = false;  // by the user: then stations of Learn do not start with another
    /// Selects a head for the user.
    void choose(int to_block, int to_head);
    void unlock();
    std::string view_name;              // key of the view to open
    std::optional<size_t> view;         // row of the table of views; none: the first that the model offers
    std::optional<size_t> view_before;  // the view from which a full-window view was opened
    std::optional<std::pair<int, int>> locked;  // query, key
    std::optional<std::pair<int, int>> relock;  // locked again when a model that is being opened is there
    std::optional<std::pair<int, int>> lock_in_text;  // cell to lock when the first field contains …
    std::string text_to_lock;                         // … this, once it did
    Hovered hovered;

    /// Locks a cell of a text that was just put into the first field.
    void lock_in(const std::string& text, std::optional<std::pair<int, int>> cell);

    /// The head to show: previewed, else selected.
    std::pair<int, int> shown_head() const { return hovered.preview.value_or(std::pair{block, head}); }
    /// focused = hovered, else locked
    std::optional<std::pair<int, int>> focused() const { return hovered.cell ? hovered.cell : locked; }
};

struct Preferences {
    std::vector<std::string> recent_models, recent_texts;
    bool dark = true;
    float text_size = 1.0f;  // 1, 1.25, 1.5
    std::string colormap = "beam";
    Contrast contrast = Contrast::automatic;
    Axis queries = Axis::rows;
    Marks marks = Marks::squares;
    int rank = kRankByCell;            // a row of head_statistics(), or kRankBy…
    bool drop_sink = false;            // hide the first token in heat maps
    bool change_bar = false;           // the intervention bar is open
    bool hints_seen = false;           // at a first start
    std::vector<std::string> learned;  // stations of Learn that were read, by key
    std::vector<std::string> guesses;  // answers there: "qkv right", "masks wrong", "scale shown"
    bool guess_first = true;           // its pictures stay covered until a question is answered
    bool motion = true;                // pictures blend into the next
    int window_width = 0,
        window_height = 0;           // 0: never set; while maximized, the size before
    int window_x = 0, window_y = 0;  // of its contents, across all screens
    bool window_placed = false;      // whether that position is set
    bool window_maximized = false;
};

struct Session {
    Document document;
    Selection selection;
    Preferences preferences;
    StateBag views;                      // states of single views
    std::span<const StateVisit> visits;  // how to save the states of views
    std::string notice;                  // one sentence under the tokens
    std::optional<Sheet> sheet;
    Guide guide = Guide::none;
    bool presenting = false;      // full screen
    bool arranging = false;       // the slides instead of the panels
    int slide = -1;               // last slide shown; −1: none yet
    int revealed = 0;             // steps of it, while presenting; kReveals: all
    bool blank = false;           // while presenting: a black screen
    bool pictures_slide = false;  // the slide shown needs a thumbnail

    /// Whether slides are shown instead of the panels.
    bool alone() const { return presenting || arranging; }
    bool shows(Sheet one) const { return sheet == one; }
    /// Opens a sheet, or closes it if open.
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

/// Moves a text to the front of a list of recent ones, without duplicates.
void note_recent(std::vector<std::string>& recent, const std::string& text);

/// Visits the preferences, independent of the document.
void visit_preferences(Session& session, FieldVisitor& visitor);

/// Visits the document and its views: the content of a workspace file.
void visit_workspace(Session& session, FieldVisitor& visitor);

/// Opens a model by path; the current one stays until then.
void choose_model(Session& session, const std::string& path);

/// Puts the adapter on the open model at another strength, where the text, the head, the cell and the
/// interventions stay; the model must have one.
void choose_strength(Session& session, float strength);

/// Cancels opening: the document returns to the model that answers. A workspace file whose own model was
/// never open is released, so that it is not saved with another one.
void stay_with_open(Session& session);

/// Chooses in a model what was chosen in it before.
void choose_again(Session& session, const OpenModel& model);

/// Moves the selected block and head to the nearest that the model has.
void fit_head(Selection& selection, const ModelConfig& config);

}  // namespace headlight
