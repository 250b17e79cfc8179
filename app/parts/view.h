// What a view is: a row of the table in views/views.h.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "io/numbers.h"
#include "parts/scene.h"
#include "session/viewport.h"

namespace headlight {

struct ViewPage;

/// A row of the table of views; each view's own files make it, as NAME_view().
struct View {
    enum class Shows { head, layer, model };
    /// In place of the ranking under the grid of heads, and of the inspector; false where it leaves the panel
    /// to them.
    struct Sides {
        bool (*list)(Scene& scene, Rect area) = nullptr;
        bool (*inspect)(Scene& scene, Rect area) = nullptr;
        bool tells_cell = false;  // that speaks of the shown cell's head output too
    };

    const char* key;   // as --view and files spell it
    const char* name;  // the tab's text; its path is tab/NAME
    char digit;        // the key that opens it; a letter needs Ctrl
    void (*draw)(Scene& scene, Rect area);
    /// Whether it is there for a model.
    bool (*offered)(const Model& model) = [](const Model&) { return true; };
    /// Why it says nothing of a model, or null.
    const char* (*missing)(const Model& model) = [](const Model&) {
        return static_cast<const char*>(nullptr);
    };
    Shows shows = Shows::head;
    std::vector<Question> (*ask)(const Scene& scene) = nullptr;
    Sides beside = {};
    float page_w = 944, page_h = 720;  // of its figure, where nobody asks for another size
    bool fills_window = false;         // closes both panels; not a tab
    float least_high = 120;            // a lower window says that it has no room for it
    bool closes_inspector = false;
    bool second_head = false;  // shows another head too, outlined in the grid
    bool second_run = false;   // compares the run that is shown with another one
    /// What it measures in the background; `shown`: it is the view that is shown.
    std::vector<JobRequest> (*jobs)(const Scene& scene, bool shown) = nullptr;
    /// Shows how a target reads its source: one is written where none is typed, and the view, not the
    /// generation bar, lists the choices of a token.
    bool of_target = false;
    bool of_model = false;  // needs no sentence
    /// Where a view of a head shows a whole layer just now: the command whose word "head" shows the head.
    const char* (*of_layer)(const Session& session) = nullptr;
    /// The only head that a view of a layer draws, where it draws one.
    std::optional<AttentionHead> (*alone)(const Session& session, const ModelConfig& config) = nullptr;
    /// The heads that it shows as one in place of the chosen head, where the person asked for that.
    std::optional<HeadGroup> (*group)(const Session& session, const ModelConfig& config) = nullptr;
    /// A figure of its own, sized to its cells, where it has one of what it shows just now.
    std::optional<Result<Drawing>> (*figure)(const ViewPage& page, ThreadPool& pool) = nullptr;
    bool figure_of_answer = false;  // that shows what was answered, not the trace alone
    /// Shows what a file of texts, or a dossier that was saved, says of the heads.
    void (*take_corpus)(Session& session, const std::string& path) = nullptr;
    /// Writes a document of its own, by the path's ending; none where it is no such path.
    std::optional<Status> (*write)(const Scene& scene, const std::filesystem::path& path) = nullptr;
    std::vector<NumberTable> (*numbers)(const Scene& scene) = nullptr;  // each has some, for a spreadsheet
    std::string (*silent)(const Scene& scene) = nullptr;                // why it has none just now, where not
    StateVisit visit = nullptr;                                         // of what is remembered of its state
    Viewport& (*seen)(StateBag& states) = nullptr;  // what it scrolls; null: it shows all of itself
    std::vector<Command> (*commands)() = nullptr;   // beside its own row and those of its choices
};

/// What several views ask of a model.
bool reads_text(const Model& model);
const char* no_weights(const Model& model);

/// A panel of a view that never leaves it to others.
template <auto Draw>
bool always(Scene& scene, Rect area) {
    Draw(scene, area);
    return true;
}

/// What a view scrolls, where its state calls it `seen`.
template <class State>
Viewport& seen_of(StateBag& states) {
    return states.of<State>().seen;
}

}  // namespace headlight
