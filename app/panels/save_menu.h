// Saving: the picture with its style and a live preview, the numbers, or the workspace.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "figure/style.h"
#include "parts/scene.h"

namespace headlight {

/// What a picture that is saved in the window begins with: sharp enough for a screen of high resolution.
inline FigureStyle sharp_style() {
    FigureStyle style;
    style.dpi = 192;
    style.methods = true;
    return style;
}

struct SaveMenu {
    std::string path, result;
    std::string folder;       // where a relative path lies
    std::string may_replace;  // a file that the person agreed to replace, or that was written by this window
    std::string may_replace_preset;  // the same of a preset
    bool has_dialog = false;         // the desktop's own dialog for files
    bool failed = false;
    bool workspace = false;                 // it saves the workspace, not a picture
    FigureStyle style = sharp_style();      // of the picture that is saved
    std::string size;                       // as typed: "85 mm", "1600x900 px"
    std::vector<FigurePreset> presets;      // known ones, read when the menu opens
    std::string preset, preset_typed;       // the one in force; what a new one shall be called
    std::string preview_error;              // why the figure cannot be drawn
    std::pair<int, int> preview_box{0, 0};  // pixels that the preview may take
    float scroll = 0;
    void visit(FieldVisitor& v);
};

void draw_save_menu(Scene& scene, Rect window);
/// The style of the picture; scrolls in low windows.
void draw_save_form(Scene& scene, Rect area);
/// Whether that is a figure of one head, with tokens along its sides.
bool saves_one_head(const Scene& scene);

/// Opens the menu that saves the workspace, or a picture, and proposes a full path that is free.
void open_save_menu(Session& session, bool workspace);
std::filesystem::path proposed_path(const Session& session);

}  // namespace headlight
