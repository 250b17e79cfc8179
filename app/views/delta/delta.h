// The parts of the view of ΔE.
#pragma once

#include "io/numbers.h"
#include "parts/controls.h"

namespace headlight {

struct View;

/// What the map of ΔE shows, and what one of its cells is split by.
enum class DeltaShow { ratio, norm, cosine };
enum class DeltaSplitBy { head, key, key_of_head };

struct DeltaState {
    DeltaShow show = DeltaShow::ratio;
    bool per_layer = true;  // each layer's colors to its own largest
    DeltaSplitBy split = DeltaSplitBy::head;
    bool paths = false;  // arrows through all layers
    Viewport seen;
    int followed = -1;
    void visit(FieldVisitor& v) {
        v.choose("delta_show", show,
                 {"delta show",
                  "ΔE: show",
                  "‖ΔE‖ ÷ ‖E‖, ‖ΔE‖, or how far the direction stays",
                  {"ratio", "norm", "cosine"}});
        v.choose("delta_per_layer", per_layer,
                 {"delta scale",
                  "ΔE: color scale",
                  "one for all layers, or each layer's own",
                  {"shared", "layer"}});
        v.choose("delta_split", split,
                 {"delta split",
                  "ΔE: split by",
                  "what ΔE is taken apart into: heads, keys, or keys of the head",
                  {"heads", "keys", "keys of head"}});
        v.choose("delta_paths", paths,
                 {"delta paths",
                  "ΔE: paths through all layers",
                  "arrows through all layers, or of one",
                  {"off", "on"}});
    }
};

void draw_delta(Scene& scene, Rect area);
void draw_delta_list(Scene& scene, Rect area);
void draw_delta_inspector(Scene& scene, Rect area);
std::vector<Question> ask_delta(const Scene& scene);
std::vector<NumberTable> delta_numbers(const Scene& scene);

/// The token whose ΔE is taken apart: the focused query. The layer: the one pointed at, else the chosen one.
int delta_query(const Scene& scene);
int delta_block(const Scene& scene);

/// Tokens down, attention blocks across; returns where it ends on the right.
float draw_delta_map(Scene& scene, Rect area);
void draw_delta_parts(Scene& scene, Rect area);
void draw_tokens_moved(Scene& scene, Rect area);
/// Arrows from before to after in the plane of greatest variance.
void draw_projection(Scene& scene, Rect area);

inline constexpr float kPartHead = 26;  // the heading of each part
/// `titles`: from the longest, for as much room as there is.
void draw_part_heading(Ui& ui, Rect line, const std::vector<std::string>& titles, const std::string& right);

View delta_view();

}  // namespace headlight
