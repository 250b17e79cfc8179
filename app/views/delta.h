// The parts of the view of ΔE.
#pragma once

#include "io/numbers.h"
#include "views/parts.h"

namespace headlight {

/// What the map of ΔE shows, and what one of its cells is split by.
enum class DeltaShow { ratio, norm, cosine };
enum class DeltaSplitBy { head, key, key_of_head };

struct DeltaState {
    DeltaShow show = DeltaShow::ratio;
    bool per_layer = true;  // each layer's colours to its own largest
    DeltaSplitBy split = DeltaSplitBy::head;
    bool paths = false;  // arrows through all layers
    float scroll = 0;
    int followed = -1;
    void visit(FieldVisitor& v) {
        v.integer("delta_show", show, 0, 2);
        v.flag("delta_per_layer", per_layer);
        v.integer("delta_split", split, 0, 2);
        v.flag("delta_paths", paths);
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

}  // namespace headlight
