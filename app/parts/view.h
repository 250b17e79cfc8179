// Defines a view: a row of the table in views/views.h.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "io/numbers.h"
#include "parts/scene.h"
#include "session/viewport.h"

namespace headlight {

struct CommandContext;
struct ViewPage;

/// The head or layer that a view of one shows; `second` is a head that it is compared with.
struct ShownHeads {
    AttentionHead head;
    bool whole_layer = false;
    std::optional<AttentionHead> second;
};

/// The five questions, in the order of their keys, and which of them a view answers.
enum class ViewGroup { look, explain, change, compare, model, nothing };

/// A row of the table of views, made by NAME_view().
struct View {
    enum class Shows { head, layer, model };
    enum class Panels { both, no_inspector, none };
    /// Replace the ranking below the grid of heads, and the inspector; false keeps the default.
    struct Sides {
        bool (*list)(Scene& scene, Rect area) = nullptr;
        bool (*inspect)(Scene& scene, Rect area) = nullptr;
        bool tells_cell = false;  // also shows the head output of the shown cell
    };

    const char* key;   // as spelled by --view and in files
    const char* name;  // the pill's text; its path is tab/NAME
    ViewGroup answers = ViewGroup::nothing;
    const char* synonyms = "";  // other names, which the palette finds and shows
    char letter = 0;            // opens it with Ctrl; 0: none
    void (*draw)(Scene& scene, Rect area);
    /// Draws its controls at the right end of the header; returns their width.
    float (*tools)(Scene& scene, Rect row) = nullptr;
    /// True if a model has this view.
    bool (*offered)(const Model& model) = [](const Model&) { return true; };
    /// True if a model that has this view also has a pill for it; null: always.
    bool (*stands)(const Model& model) = nullptr;
    /// Why it is empty for a model, or null.
    const char* (*missing)(const Model& model) = [](const Model&) {
        return static_cast<const char*>(nullptr);
    };
    Shows shows = Shows::head;
    std::vector<Question> (*ask)(const Scene& scene) = nullptr;
    Sides beside = {};
    float page_w = 944, page_h = 720;  // default size of its figure
    Panels panels = Panels::both;      // open beside it
    float least_high = 120;            // a lower window shows a message instead
    bool paints = false;               // a brush paints its cells: the bar of interventions stands above
    bool second_run = false;           // compares the shown run with another one
    /// Whether it has a slider of the adapter's strength itself, in a center of this height; then no bar of
    /// the adapter stands above it.
    bool (*has_strength)(Scene& scene, float height) = nullptr;
    /// Its background jobs; `shown`: it is the current view.
    std::vector<JobRequest> (*jobs)(const Scene& scene, bool shown) = nullptr;
    /// Shows attention to a source: the target is generated if none is typed, and the view, not the
    /// generation bar, lists the alternatives of a token.
    bool of_target = false;
    bool of_model = false;  // needs no sentence
    /// Returns the heads shown instead of what `shows` says. A view of a head that can show its layer has a
    /// command "KEY of" whose word "head" returns to the head.
    ShownHeads (*heads)(const Scene& scene) = nullptr;
    /// The heads that it aggregates instead of showing the selected head; none: it shows the head.
    std::optional<HeadGroup> (*group)(const Session& session, const ModelConfig& config) = nullptr;
    std::string (*title)(const Scene& scene) = nullptr;  // instead of the names of the heads
    /// Its own figure, sized to its cells; none: the page is drawn.
    std::optional<Result<Drawing>> (*figure)(const ViewPage& page, ThreadPool& pool) = nullptr;
    bool figure_of_answer = false;  // of the answer, not only of the trace
    const char* page = nullptr;     // the view that an interactive page opens on; none: on its figure
    /// Writes its own file format; none if the path has another extension.
    std::optional<Status> (*write)(const Scene& scene, const std::filesystem::path& path) = nullptr;
    std::vector<NumberTable> (*numbers)(const Scene& scene) = nullptr;  // for export as CSV; required
    std::string (*silent)(const Scene& scene) = nullptr;                // why it has none, or ""
    StateVisit visit = nullptr;                                         // visits its saved state
    Viewport& (*seen)(StateBag& states) = nullptr;               // its viewport; null: it does not scroll
    std::vector<Command> (*commands)() = nullptr;                // besides those of its fields
    void (*begin)(CommandContext& context) = nullptr;            // chooses what it opens on, of an open model
    bool (*of_another_model)(const Session& session) = nullptr;  // what it shows is not the open model's

    bool fills_window() const { return panels == Panels::none; }
};

/// Predicates for `offered` and `missing`.
bool reads_text(const Model& model);
const char* cannot_run(const Model& model);
const char* no_weights(const Model& model);

/// Wraps a panel that always replaces the default.
template <auto Draw>
bool always(Scene& scene, Rect area) {
    Draw(scene, area);
    return true;
}

/// The viewport of a state whose field is `seen`.
template <class State>
Viewport& seen_of(StateBag& states) {
    return states.of<State>().seen;
}

}  // namespace headlight
