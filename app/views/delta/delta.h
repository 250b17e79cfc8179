// Declares the parts of the view of ΔE.
#pragma once

#include "io/numbers.h"
#include "parts/controls.h"

namespace headlight {

struct View;

enum class DeltaShow { ratio, norm, cosine };
enum class DeltaSplitBy { head, key, key_of_head };

struct DeltaState {
    DeltaShow show = DeltaShow::ratio;
    bool per_layer = true;  // colors normalized per layer
    DeltaSplitBy split = DeltaSplitBy::head;
    bool paths = false;  // arrows through all layers
    Viewport seen;
    int followed = -1;
    void visit(FieldVisitor& v) {
        v.choose("delta_show", show,
                 {"delta show",
                  "ΔE: show",
                  "‖ΔE‖ ÷ ‖E‖, ‖ΔE‖, or the cosine of E and E + ΔE",
                  {"ratio", "norm", "cosine"}});
        v.choose(
            "delta_per_layer", per_layer,
            {"delta scale", "ΔE: color scale", "shared by all layers, or per layer", {"shared", "layer"}});
        v.choose("delta_split", split,
                 {"delta split",
                  "ΔE: split by",
                  "split ΔE by head, by key, or by key of the head",
                  {"heads", "keys", "keys of head"}});
        v.choose("delta_paths", paths,
                 {"delta paths",
                  "ΔE: paths through all layers",
                  "arrows through all layers, or through one",
                  {"off", "on"}});
    }
};

void draw_delta(Scene& scene, Rect area);
void draw_delta_list(Scene& scene, Rect area);
void draw_delta_inspector(Scene& scene, Rect area);
std::vector<Question> ask_delta(const Scene& scene);
std::vector<NumberTable> delta_numbers(const Scene& scene);

/// The token and the block whose ΔE is split: the focused query; the hovered block, else the selected one.
int delta_query(const Scene& scene);
int delta_block(const Scene& scene);

/// Draws tokens down, attention blocks across; returns the right edge.
float draw_delta_map(Scene& scene, Rect area);
void draw_delta_parts(Scene& scene, Rect area);
void draw_tokens_moved(Scene& scene, Rect area);
/// Draws arrows from before to after in the plane of greatest variance.
void draw_projection(Scene& scene, Rect area);

inline constexpr float kPartHead = 26;  // the heading of each part
/// Draws the first title that fits.
void draw_part_heading(Ui& ui, Rect line, const std::vector<std::string>& titles, const std::string& right);

View delta_view();

}  // namespace headlight
