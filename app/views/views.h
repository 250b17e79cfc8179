// The table of views for the window's center.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "io/numbers.h"
#include "session/viewport.h"
#include "views/scene.h"

namespace headlight {

struct ViewPage;

/// A row of the table of views; each view's own files make it, as NAME_view().
struct View {
    enum class Shows { head, layer, model };
    /// In place of the ranking under the grid of heads, and of the inspector.
    struct Sides {
        void (*list)(Scene& scene, Rect area) = nullptr;
        void (*inspect)(Scene& scene, Rect area) = nullptr;
        bool tells_cell = false;  // that speaks of the shown cell's head output too
    };

    const char* key;          // as --view and files spell it
    const char* name;         // the tab's text; its path is tab/NAME
    const char* former = "";  // a name that --view goes on taking, in small letters
    char digit;               // the key that opens it; a letter needs Ctrl
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
    bool closes_inspector = false;
    bool second_head = false;  // shows another head too, outlined in the grid
    bool second_run = false;   // compares the run that is shown with another one
    /// The map of patching that it shows, measured in the background.
    std::optional<PatchWish> (*patch)(const Session& session) = nullptr;
    /// What of influence is measured in the background while it is shown.
    InfluenceAsked (*influence)(const Scene& scene) = nullptr;
    /// The corpus whose heads it shows, read in the background; `shown`: it is the view that is shown.
    std::optional<DossierWish> (*dossier)(const Session& session, bool shown) = nullptr;
    bool composes = false;       // shows compositions of all pairs of heads
    bool of_target = false;      // shows how a target reads its source: one is written where none is typed
    bool lists_choices = false;  // of the token that is being generated: the generation bar need not
    bool of_model = false;       // needs no sentence
    /// Whether a view of a head shows a whole layer just now.
    bool (*of_layer)(const Session& session) = nullptr;
    const char* to_head = nullptr;  // the command whose word "head" shows the chosen head
    /// The only head that a view of a layer draws, where it draws one.
    std::optional<AttentionHead> (*alone)(const Session& session, const ModelConfig& config) = nullptr;
    /// The heads that it shows as one in place of the chosen head, where the person asked for that.
    std::optional<HeadGroup> (*group)(const Session& session, const ModelConfig& config) = nullptr;
    /// A figure of its own, sized to its cells, where it has one of what it shows just now.
    std::optional<Result<Drawing>> (*figure)(const ViewPage& page, ThreadPool& pool) = nullptr;
    bool figure_of_answer = false;  // that shows what was answered, not the trace alone
    /// Shows a picture from a file where it shows one just now, whatever model is open; false where not.
    bool (*take_picture)(Session& session, const std::string& path) = nullptr;
    /// Shows a configuration from a file ("gpt-3": GPT-3's) where it is the view that does.
    Status (*take_config)(Session& session, const std::string& path) = nullptr;
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

std::span<const View> views();

/// Gives a picture to the view that is shown; false where it takes none.
bool give_picture(Session& session, const Model& model, const std::string& path);

/// Opens the view that shows configurations on one.
Status give_config(Session& session, const std::string& path);

/// Opens the view that shows heads over many texts on a file.
Status give_corpus(Session& session, const Model* model, const std::string& path);

/// How the states of all views are remembered.
std::span<const StateVisit> view_visits();

/// The view of a model: the chosen one where it is offered and says something, else the first that is.
size_t view_for(const Session& session, const Model& model);
const View& shown_view(const Session& session, const Model& model);
/// Whether a sheet lies over the view; the palette does not count, which closes before it acts.
bool behind_sheet(const CommandContext& context);

/// What a view scrolls, where its state calls it `seen`.
template <class State>
Viewport& seen_of(StateBag& states) {
    return states.of<State>().seen;
}

/// Chooses a head that was pressed, which the view then shows by itself; arrows move among heads.
void show_head(const Scene& scene, int block, int head);

/// Opens a view by its key.
void open_view(Session& session, const char* key);
/// The row of a command that opens a view too.
Command opens_view(const char* key, Command row);
/// A row by its key, tab text or former name, in upper or lower case; null where there is none.
const View* find_view(const std::string& name);
/// The key of that row; the name itself where there is none.
std::string key_of_view(const std::string& name);
/// Opens the view of that name, where there is one.
void open_named_view(Session& session, const std::string& name);
/// Leaves a view that fills the window for the one before it.
void close_view(Session& session);

}  // namespace headlight
