// The view of activation patching: how much of the clean run's answer each place brings back.
#pragma once

#include "analysis/patching/patch_map.h"
#include "parts/controls.h"

namespace headlight {

struct View;

struct PatchState {
    PatchPart part = PatchPart::resid_pre;
    bool measures = true;                        // in the background while the view is shown
    bool estimates = false;                      // are shown in place of what is measured
    std::optional<std::pair<int, int>> pointed;  // row and column
    void visit(FieldVisitor& v) {
        v.choose(
            "patch_part", part,
            {"patch put",
             "Patch: what is put back",
             "what of the clean run is put into the other one",
             {"resid_pre", "attn_out", "mlp_out", "heads", "head"}},
            {"what",
             "what to patch from the run of --text-b, or from the unchanged run; head: of the chosen one"});
        v.choose("patch_estimates", estimates,
                 {"patch values",
                  "Patch: values",
                  "each place measured by a pass of its own, or all estimated at once from gradients",
                  {"exact", "estimated"}});
        v.choose(
            nullptr, measures,
            {"patch measure", "Patch: measure", "measure the map of patching, or cancel it", {"off", "on"}});
    }
};

/// What the session asks to be measured; nothing without two runs to patch between.
std::optional<PatchMapRequest> patch_request(const Session& session);

/// The map of what is asked for as far as it is known, or why there is none; empty before it has begun.
PatchMapFound patch_found(const Scene& scene);
/// Whether every cell shows its estimate, as was chosen.
bool shows_estimates(const Scene& scene, const PatchMap& map);
/// What is shown at a cell: its value, or its estimate.
float patch_shown(const Scene& scene, const PatchMap& map, int row, int column);
/// What is brought back, with the token that the clean run decides on.
std::string patch_metric(const Scene& scene, const PatchMap& map);
/// The name of a row ("layer 3") and of a column ("ball 4", "head 2"); and of a cell.
std::string patch_row_name(const Scene& scene, const PatchMap& map, int row);
std::string patch_column_name(const Scene& scene, const PatchMap& map, int row, int column);
/// The change that a cell puts in force.
Change patch_change(const Scene& scene, const PatchMap& map, int row, int column);

void draw_patch(Scene& scene, Rect area);
/// Over the map: which run is clean, what is put back, the metric; the clean text, which takes its room; how
/// far the measuring is, with a way to end it and to go on: what was measured stays. Where there is no map,
/// two texts that show one.
void draw_patch_toolbar(Scene& scene, Toolbar bar);
void draw_clean_field(Scene& scene, Rect& rest);
void draw_patch_example(Scene& scene, Rect line);
void draw_patch_progress(Scene& scene, Rect line, const PatchMap& map);
void draw_patch_inspector(Scene& scene, Rect area);

View patch_view();

}  // namespace headlight
