// The parts of the window, one file each, and the table of views for its centre.
#pragma once

#include <span>
#include <string>

#include "io/numbers.h"
#include "paint/ui.h"
#include "session/worker.h"

namespace headlight {

/// Textures made from the last answer; remade only when that part of it changed.
struct Pictures {
    Texture values, row_largest, atlas, photo;  // photo: what a vision model reads
    Texture preview;                            // of the figure that would be saved
    int preview_w = 0, preview_h = 0;
    uint64_t of_picture = 0;  // serial numbers of what the textures were made from; 0: none
    uint64_t of_sentence = 0;
    int t = 0;          // entries along a thumbnail
    float largest = 1;  // of all thumbnails
};

/// What a part of the window gets: the state it may edit, the answer it shows, what it draws with.
struct Scene {
    Ui& ui;
    ViewState& state;
    const WorkAnswer* answer;  // null before the first one
    const Pictures& pictures;
    Fields& fields;
    std::shared_ptr<const Opening> opening;  // the model that is being opened, or null
    GLuint colors;                           // the chosen colour map
    float dim = 0;  // 0 … 0.4: how far what is old fades while its successor is computed; draw_parts lays it
                    // over the panels

    /// A cell is under the mouse: every view lights it in the next frame.
    void point_at(std::optional<std::pair<int, int>> cell) {
        state.hovered = cell;
        state.hover_fresh = true;
    }
    const SentenceResult* sentence() const {
        return answer && answer->sentence && answer->sentence->trace ? answer->sentence.get() : nullptr;
    }
    const Model* model() const {
        return answer && answer->sentence ? answer->sentence->model.get() : nullptr;
    }
    /// The last answer to a kind of question of the view where it fits what is shown, or null.
    template <class Q>
    const Found<Q>* found() const {
        return answer ? answer->found<Q>() : nullptr;
    }
    /// The sweep over the heads of the run that is shown, or null.
    const Sweep* sweep() const {
        return sentence() && answer->sweep && answer->sweep->is_of(sentence()->trace.get(), state.sweep_token)
                   ? answer->sweep.get()
                   : nullptr;
    }
    /// The attention block that is shown, and the tokens on its two sides.
    int site() const { return answer->shown().site; }
    /// Its head that is shown; state.head is the one that is wanted.
    int head() const { return answer->shown().head; }
    const std::vector<std::string>& query_labels() const { return sentence()->query_labels(site()); }
    const std::vector<std::string>& key_labels() const { return sentence()->key_labels(site()); }
    int queries() const { return static_cast<int>(query_labels().size()); }
    int keys() const { return static_cast<int>(key_labels().size()); }
    /// The cell whose numbers are shown: focused, or the last query's heaviest key; none without tokens.
    std::optional<std::pair<int, int>> shown_cell() const;
    /// The heaviest key of a query in the head that is shown, and the other way round.
    int heaviest_key(int query) const;
    int heaviest_query(int key) const;
    float weight(int query, int key) const;
    bool holds(std::pair<int, int> cell) const { return cell.first < queries() && cell.second < keys(); }
};

/// What a person should know just now: what was said last, else how much of a long text is read.
std::string shown_notice(const Scene& scene);

/// Heads in the order of a statistic, a weight or an effect, under the grid.
void draw_head_ranking(Scene& scene, Rect area);

/// A row of the table of views.
struct View {
    const char* key;          // as --view and files spell it
    const char* name;         // the tab's text; its path is tab/NAME
    const char* former = "";  // a name that --view goes on taking, in small letters
    char digit;               // the key that opens it; a letter needs Ctrl
    void (*draw)(Scene& scene, Rect area);
    bool (*offered)(const Model& model) = [](const Model&) {
        return true;
    };  // whether it is there for a model
    const char* (*missing)(const Model& model) = [](const Model&) -> const
        char* { return nullptr; };  // why it says nothing of one, or null
    enum class Shows { head, layer, model } shows = Shows::head;
    std::vector<Question> (*ask)(const Scene& scene) = nullptr;
    void (*list)(Scene& scene, Rect area) = draw_head_ranking;  // under the grid of heads
    void (*inspect)(Scene& scene, Rect area) = nullptr;         // in place of the inspector
    bool fills_window = false;                                  // closes both panels; not a tab
    bool closes_inspector = false;
    bool second_head = false;    // shows another head too, outlined in the grid
    bool lists_choices = false;  // of the token that is being written: the bar of writing need not
    bool (*of_layer)(const ViewState& state) =
        nullptr;              // whether a view of a head shows a whole layer just now
    bool own_figure = false;  // is saved by the figure of its name, sized to its cells
    std::vector<NumberTable> (*numbers)(const Scene& scene) = nullptr;  // what it shows, for a spreadsheet
};

std::span<const View> views();

void draw_heat_map(Scene& scene, Rect area);
void draw_picture(Scene& scene, Rect area);
void draw_lines(Scene& scene, Rect area);
void draw_lines_list(Scene& scene, Rect area);
void draw_lines_inspector(Scene& scene, Rect area);
std::vector<Question> ask_lines(const Scene& scene);
void draw_steps(Scene& scene, Rect area);
void draw_steps_inspector(Scene& scene, Rect area);
std::vector<Question> ask_steps(const Scene& scene);
void draw_delta(Scene& scene, Rect area);
void draw_delta_list(Scene& scene, Rect area);
void draw_delta_inspector(Scene& scene, Rect area);
std::vector<Question> ask_delta(const Scene& scene);
void draw_lens(Scene& scene, Rect area);
void draw_lens_inspector(Scene& scene, Rect area);
std::vector<Question> ask_lens(const Scene& scene);
void draw_graph(Scene& scene, Rect area);
void draw_graph_list(Scene& scene, Rect area);
void draw_graph_inspector(Scene& scene, Rect area);
std::vector<Question> ask_graph(const Scene& scene);
void draw_compare(Scene& scene, Rect area);
void draw_compare_list(Scene& scene, Rect area);
std::vector<Question> ask_compare(const Scene& scene);
void draw_alignment(Scene& scene, Rect area);
void draw_alignment_list(Scene& scene, Rect area);
void draw_alignment_inspector(Scene& scene, Rect area);
std::vector<Question> ask_alignment(const Scene& scene);
void draw_all_heads(Scene& scene, Rect area);
std::vector<Question> ask_all_heads(const Scene& scene);
void draw_architecture(Scene& scene, Rect area);
std::vector<Question> ask_architecture(const Scene& scene);
void draw_positions(Scene& scene, Rect area);
std::vector<Question> ask_positions(const Scene& scene);

/// A field for a text in any script, answering to the mouse.
void draw_text_field(Scene& scene, TextField& field, const char* path, Rect r, const char* placeholder);
void draw_sentence_bar(Scene& scene, Rect area);
void draw_head_list(Scene& scene, Rect area);
/// The row of everything that can be changed, where it is open; returns how much room it takes.
float draw_change_bar(Scene& scene, Rect area);
/// Chips of the masks and changes in force, in every view; returns how much room they take.
float draw_changes(Scene& scene, Rect area);
void draw_inspector(Scene& scene, Rect area);
void draw_status_bar(Scene& scene, Rect area);
void draw_start_sentences(Scene& scene, Rect area);
void draw_menus(Scene& scene, Rect window);
void draw_save_menu(Scene& scene, Rect window);
void draw_hints(Scene& scene, Rect window);

/// Opens a model by path, remembering it: the one that is shown, or, while that is what is chosen, the one it
/// is compared with. A workspace's path leads to the workspace.
void choose_model(ViewState& state, const std::string& path);
/// Goes back to the one that is open.
void choose_model(ViewState& state, const std::string& path, uint64_t attempt);

/// Opens the menu that saves the workspace, or a picture, and proposes a full path that is free.
void open_save_menu(ViewState& state, bool workspace);
std::filesystem::path proposed_path(const ViewState& state);

/// The view of a model: the chosen one where it is offered and says something, else the first that is.
size_t view_for(const ViewState& state, const Model& model);

/// Opens a view by its key.
void open_view(ViewState& state, const char* key);
/// A row by its key, tab text or former name, in small or large letters; null where there is none.
const View* find_view(const std::string& name);
/// The key of that row; the name itself where there is none.
std::string key_of_view(const std::string& name);
/// Opens the view of that name, where there is one.
void open_named_view(ViewState& state, const std::string& name);
/// Leaves a view that fills the window for the one before it.
void close_view(ViewState& state);

}  // namespace headlight
