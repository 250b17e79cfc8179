// Activation patching: the fraction of the clean run's metric that each place restores.
#pragma once

#include "analysis/patching/patch_map.h"
#include "parts/controls.h"

namespace headlight {

struct View;

/// Lists the parts as options and commands spell them.
std::vector<std::string> patch_words();

struct PatchState {
    PatchPart part = PatchPart::resid_pre;
    bool measures = true;                        // in the background while the view is shown
    bool estimates = false;                      // show estimates instead of exact values
    std::optional<std::pair<int, int>> pointed;  // row and column
    void visit(FieldVisitor& v) {
        v.choose("patch_part", part,
                 {"patch put", "Patch: activation",
                  "activation of the clean run to patch into the corrupted run", patch_words()},
                 {"what",
                  "activation to patch from the run of --text-b, or from the unchanged run; head: that of "
                  "--head"});
        v.choose("patch_estimates", estimates,
                 {"patch values",
                  "Patch: values",
                  "measure each place in its own pass, or estimate all at once from gradients",
                  {"exact", "estimated"}});
        v.choose(nullptr, measures,
                 {"patch measure", "Patch: measure", "measure the patching map, or cancel", {"off", "on"}});
    }
};

/// Returns the map to measure; nullopt without two runs to patch between.
std::optional<PatchMapRequest> patch_request(const Session& session);

/// Returns the map measured so far, or why there is none.
PatchMapFound patch_found(const Scene& scene);
bool shows_estimates(const Scene& scene, const PatchMap& map);
float patch_shown(const Scene& scene, const PatchMap& map, int row, int column);
/// Names the metric, with the token that the clean run predicts.
std::string patch_metric(const Scene& scene, const PatchMap& map);
/// "layer 3"; "ball 4" or "head 2".
std::string patch_row_name(const Scene& scene, const PatchMap& map, int row);
std::string patch_column_name(const Scene& scene, const PatchMap& map, int row, int column);
/// Returns the intervention that a click on a cell applies.
Change patch_change(const Scene& scene, const PatchMap& map, int row, int column);

void draw_patch(Scene& scene, Rect area);
void draw_patch_toolbar(Scene& scene, Toolbar bar);
void draw_patched_texts(Scene& scene, Rect& rest);
/// Draws the button that shows two texts to patch between.
void draw_patch_example(Scene& scene, Rect line);
void draw_patch_progress(Scene& scene, Rect line, const PatchMap& map);
void draw_patch_inspector(Scene& scene, Rect area);

View patch_view();

}  // namespace headlight
