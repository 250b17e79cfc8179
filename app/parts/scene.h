// What a part of the window gets to draw itself.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "base/cast.h"
#include "gpu/thumbnails.h"
#include "paint/ui.h"
#include "session/commands/command.h"
#include "session/session.h"
#include "session/work/opener.h"
#include "session/work/work.h"

namespace headlight {

/// Textures made from the last answer; remade only when that part of it changed.
struct Pictures {
    Texture values, row_largest, photo;  // photo: what a vision model reads
    Thumbnails thumbnails;
    Texture preview;  // of the figure that would be saved
    int preview_w = 0, preview_h = 0;
    struct Sample {
        Texture texture;
        std::shared_ptr<const RgbImage> image;  // null: not shown yet
    };
    std::array<Sample, 2> samples;  // to start from, for vision models
    uint64_t of_picture = 0;        // serial numbers of what the textures were made from; 0: none
    uint64_t of_sentence = 0;
    float largest = 1;  // of all thumbnails
};

/// What a part of the window gets: the session and the answer it shows, the state of its own that it may
/// write, what it draws with. What else it wants changed it asks for by commands.
struct Scene {
    Ui& ui;
    const Session& session;
    StateBag& states;          // of the views: each writes its own
    Hovered& pointed;          // what is under the mouse in this frame; session.selection.hovered of the next
    const WorkAnswer* answer;  // null before the first one
    const Pictures& pictures;
    Fields& fields;
    std::shared_ptr<const Opening> opening;  // the model that is being opened, or null
    GLuint colors;                           // the chosen color map
    float dim = 0;  // 0 … 0.4: how far what is old fades while its successor is computed; draw_parts lays it
                    // over the panels
    std::vector<SentCommand>* sent = nullptr;  // carried out after the frame; null on a page

    /// Asks for a command of the table by its whole name. `joins`: what it does belongs to the last step
    /// of undo.
    void send(std::string name, std::string words = "", bool joins = false) const {
        if (sent) sent->push_back({std::move(name), std::move(words), joins});
    }
    /// Chooses a head; a block, and in it the nearest to the head that is chosen.
    void select(int block, int head) const;
    void select_block(int block) const;
    /// Puts a change in force, or takes it away where it is (put_change).
    void change(const Change& change, bool joins = false) const;
    /// Locks a cell (none: unlocks).
    void lock(std::optional<std::pair<int, int>> cell) const;
    /// The mouse chose something: arrows move there, not in a text.
    void leave_text() const { send("leave text"); }
    /// A cell is under the mouse: every view lights it in the next frame.
    void point_at(std::optional<std::pair<int, int>> cell) const { pointed.cell = cell; }
    /// The state of a view.
    template <class T>
    T& of() const {
        return states.of<T>();
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
    const Job<HeadSweep>* sweep() const {
        const auto* job = sentence() ? answer->job<HeadSweep>() : nullptr;
        const bool of_this = job && job->work().trace == sentence()->trace &&
                             job->work().metric == session.document.metric.metric;
        return of_this ? job : nullptr;
    }
    /// The attention block that is shown, and the tokens on its two sides.
    int block() const { return answer->shown().block; }
    /// Its head that is shown; session.selection.head is the one that is wanted.
    int head() const { return answer->shown().head; }
    const std::vector<std::string>& query_labels() const { return sentence()->query_labels(block()); }
    const std::vector<std::string>& key_labels() const { return sentence()->key_labels(block()); }
    int queries() const { return isize(query_labels()); }
    int keys() const { return isize(key_labels()); }
    /// The cell whose numbers are shown: focused, or the last query's heaviest key; none without tokens.
    std::optional<std::pair<int, int>> shown_cell() const;
    /// The heaviest key of a query in the head that is shown, and the other way round.
    int heaviest_key(int query) const;
    int heaviest_query(int key) const;
    float weight(int query, int key) const;
    bool holds(std::pair<int, int> cell) const { return cell.first < queries() && cell.second < keys(); }
};

/// The runs that are shown, of which a job may be.
JobInputs inputs_shown(const Scene& scene);

/// What ablating each head did, once the sweep has ended; null until then.
std::shared_ptr<const HeadEffects> sweep_effects(const Scene& scene);

}  // namespace headlight
