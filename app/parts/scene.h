// Gives a part of the window what it needs to draw itself.
#pragma once

#include <array>
#include <map>
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

/// Textures of the last answer; rebuilt only if their part of it changed.
struct Pictures {
    Texture values, row_largest, photo;       // photo: the image that the model reads
    std::shared_ptr<const Picture> of_photo;  // which one
    Thumbnails thumbnails;
    Texture preview;  // of the figure that would be saved
    int preview_w = 0, preview_h = 0;
    struct Sample {
        Texture texture;
        std::shared_ptr<const RgbImage> image;  // null: not shown yet
    };
    std::array<Sample, 3> samples;           // to start from, for vision models
    std::map<std::string, Texture> slides;   // thumbnails, by SlideCard::picture
    Contrast of_contrast = Contrast::range;  // of the values of a mixing matrix, which are places of colors
    uint64_t of_picture = 0;                 // serial numbers of the textures' sources; 0: none
    uint64_t of_sentence = 0;
    float largest = 1;  // of all thumbnails
};

/// The session and the answer to show, the views' state, and the means to draw. All else changes by commands.
struct Scene {
    Ui& ui;
    const Session& session;
    StateBag& states;          // each view writes only its own
    Hovered& pointed;          // hovered in this frame; becomes session.selection.hovered
    const WorkAnswer* answer;  // null before the first one
    const Pictures& pictures;
    Fields& fields;
    std::shared_ptr<const Opening> opening;  // the model being opened, or null
    GLuint colors;                           // the color map's texture
    float dim = 0;  // 0 … 0.4: dims outdated content while its successor is computed; applied by draw_parts
    std::vector<SentCommand>* sent = nullptr;  // run after the frame; null on a page

    /// Sends a command by its full name. `joins`: part of the last undo step.
    void send(std::string name, std::string words = "", bool joins = false) const {
        if (sent) sent->push_back({std::move(name), std::move(words), joins});
    }
    /// Selects a head; or a block, and in it the head nearest to the selected one.
    void select(int block, int head) const;
    void select_block(int block) const;
    /// Toggles a change (put_change).
    void change(const Change& change, bool joins = false) const;
    /// Locks a cell; none: unlocks.
    void lock(std::optional<std::pair<int, int>> cell) const;
    /// Moves keyboard focus from the text to the view, after a click.
    void leave_text() const { send("leave text"); }
    /// Marks a cell as hovered: every view highlights it in the next frame.
    void point_at(std::optional<std::pair<int, int>> cell) const { pointed.cell = cell; }
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
    /// The last answer to a question of this type if it matches what is shown, or null.
    template <class Q>
    const Found<Q>* found() const {
        return answer ? answer->found<Q>() : nullptr;
    }
    /// The sweep over the heads of the shown run, or null.
    const Job<HeadSweep>* sweep() const {
        const auto* job = sentence() ? answer->job<HeadSweep>() : nullptr;
        const bool of_this = job && job->work().trace == sentence()->trace &&
                             job->work().metric == session.document.metric.metric;
        return of_this ? job : nullptr;
    }
    /// The shown attention block; session.selection has the requested one.
    int block() const { return answer->shown().block; }
    int head() const { return answer->shown().head; }
    const std::vector<std::string>& query_labels() const { return sentence()->query_labels(block()); }
    const std::vector<std::string>& key_labels() const { return sentence()->key_labels(block()); }
    int queries() const { return isize(query_labels()); }
    int keys() const { return isize(key_labels()); }
    /// The cell whose numbers are shown: focused, or the last query and its strongest key.
    std::optional<std::pair<int, int>> shown_cell() const;
    int strongest_key(int query) const;
    int strongest_query(int key) const;
    /// Returns what the picture shows of a cell: 0 where masked; as text, `masked` there.
    float weight(int query, int key) const;
    std::string weight_text(int query, int key, const char* masked = "masked") const;
    /// Returns an entry of the shown pattern, with its sign if it is of a mixing matrix.
    std::string pattern_number(float weight, int digits) const;
    bool is_mixing() const { return answer->picture && answer->picture->is_mixing; }
    bool holds(std::pair<int, int> cell) const { return cell.first < queries() && cell.second < keys(); }
};

/// The shown runs, as inputs of a job.
JobInputs inputs_shown(const Scene& scene);

/// The answer to a measured question: the worker's, or what its job knows so far.
template <class Asked>
typename Asked::Answer measured(const Scene& s, const Asked& request) {
    if (const auto* known = s.found<Asked>(); known && known->asked == request) return known->answer;
    const auto* job = s.answer->job<Measuring<Asked>>();
    const typename Measuring<Asked>::Request wanted{request};
    const auto work = Measuring<Asked>::of(&wanted, inputs_shown(s));
    return job && work && job->is_of(*work) ? job->found() : typename Asked::Answer{};
}

/// The effects of ablating each head so far, NaN where not measured; null before the first.
std::shared_ptr<const HeadEffects> sweep_effects(const Scene& scene);

}  // namespace headlight
