// The parts of the window, one file each, and the table of views for its centre.
#pragma once

#include <span>
#include <string>

#include "window/ui.h"
#include "window/worker.h"

namespace headlight {

/// Textures made from the last answer; remade only when that part of it changed.
struct Pictures {
    Texture values, row_largest, atlas;
    const HeadPicture* of_picture = nullptr;
    const SentenceResult* of_sentence = nullptr;
    int t = 0;            // entries along a thumbnail
    float largest = 1;    // of all thumbnails
};

/// What a part of the window gets: the state it may edit, the answer it shows, what it draws with.
struct Scene {
    Ui& ui;
    ViewState& state;
    const WorkAnswer* answer;   // null before the first one
    const Pictures& pictures;
    TextField& field;
    GLuint colors;              // the chosen colour map
    float dim = 0;              // 0 … 0.4: how far old pictures fade while a new one is computed

    const SentenceResult* sentence() const { return answer && answer->sentence && answer->sentence->trace ? answer->sentence.get() : nullptr; }
    const Model* model() const { return answer && answer->sentence ? answer->sentence->model.get() : nullptr; }
    /// The cell whose numbers are shown: focused, or the last query's heaviest key; none without tokens.
    std::optional<std::pair<int, int>> shown_cell() const;
    /// The heaviest key of a query in the head that is shown.
    int heaviest_key(int query) const;
    float weight(int query, int key) const;
};

/// A row of the table of views.
struct View {
    const char* name;  // the tab's text and its path, tab/NAME
    void (*draw)(Scene& scene, Rect area);
};

std::span<const View> views();

void draw_heat_map(Scene& scene, Rect area);

void draw_sentence_bar(Scene& scene, Rect area);
void draw_head_list(Scene& scene, Rect area);
void draw_inspector(Scene& scene, Rect area);
void draw_status_bar(Scene& scene, Rect area);
void draw_start_sentences(Scene& scene, Rect area);
void draw_menus(Scene& scene, Rect window);
void draw_hints(Scene& scene, Rect window);

/// Opens a model by path, remembering it.
void choose_model(ViewState& state, const std::string& path);

/// "2.0"
std::string head_name(int layer, int head);

}  // namespace headlight
