// The save sheet: a figure with its style and a live preview, the numbers, or the workspace.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "figure/style.h"
#include "parts/scene.h"

namespace headlight {

/// The default style of a saved figure: sharp on high-resolution screens.
inline FigureStyle sharp_style() {
    FigureStyle style;
    style.dpi = 192;
    style.methods = true;
    return style;
}

struct SaveMenu {
    std::string path, result;
    std::string folder;              // of relative paths
    std::string may_replace;         // a file that you agreed to replace, or that this window wrote
    std::string may_replace_preset;  // the same for a preset
    bool has_dialog = false;         // the desktop has a file dialog
    bool failed = false;
    bool workspace = false;                 // saves the workspace, not a figure
    FigureStyle style = sharp_style();      // of the saved figure
    std::string size;                       // as typed: "85 mm", "1600x900 px"
    std::vector<FigurePreset> presets;      // read when the menu opens
    std::string preset, preset_typed;       // the active one; the name for a new one
    std::string preview_error;              // why the figure cannot be drawn
    std::pair<int, int> preview_box{0, 0};  // maximum size of the preview in pixels
    float scroll = 0;
    void visit(FieldVisitor& v);
};

void draw_save_menu(Scene& scene, Rect window);
/// Draws the style of the figure; scrolls in low windows.
void draw_save_form(Scene& scene, Rect area);
/// Whether the figure shows one head with tokens along its sides.
bool saves_one_head(const Scene& scene);

/// Opens the menu for the workspace or a figure and proposes an absolute path that does not exist.
void open_save_menu(Session& session, const Model* model, bool workspace);
std::filesystem::path proposed_path(const Session& session, const Model* model);

}  // namespace headlight
