// Saves figures, numbers and workspaces in the background, with a preview and the desktop's dialog.
#pragma once

#include <future>
#include <memory>
#include <optional>
#include <string>
#include <tuple>

#include "panels/save_menu.h"
#include "session/file_dialog.h"
#include "views/page.h"
#include "window/window_state.h"

namespace headlight {

class Exporter {
public:
    explicit Exporter(WindowState& state) : state_(state) {}
    ~Exporter() { close(); }

    /// Writes what the save sheet shows to its path, or puts the error there.
    void save();
    /// Asks for the path with the desktop's dialog.
    void browse();
    /// Asks for a file of texts, for corpus statistics.
    void browse_corpus();
    /// Asks for an image that the model reads.
    void browse_image();
    /// Copies the first table of the view, for a spreadsheet.
    void copy_numbers();
    /// Takes finished work and starts the preview, once per turn of the loop.
    void update();

    /// Whether something is being written or drawn.
    bool busy() const { return saving_.valid() || previewing_.valid() || copying_.valid(); }
    void close();

    /// Lays out the view as a page.
    ViewPage page_to_save();

private:
    FigureStyle style_to_save(size_t view) const;
    bool settle_path();
    void save_picture();
    void save_workspace_file();
    void browse_to_open(const char* title, void (Exporter::*take)(const std::string& path));
    void take_corpus(const std::string& path);
    void take_image(const std::string& path);
    void take_dialog();
    void take_saved();
    void report(const Status& written, const std::string& path);
    void take_preview();
    void take_numbers();
    void update_preview();

    WindowState& state_;
    FileDialog dialog_;
    void (Exporter::*opens_)(const std::string& path) = nullptr;  // takes its file; null: it saves
    std::future<Status> saving_;
    std::string saving_path_;
    std::future<Result<RgbImage>> previewing_;
    std::future<Result<std::vector<NumberTable>>> copying_;
    std::optional<std::tuple<FigureStyle, std::shared_ptr<const WorkAnswer>, size_t, std::pair<int, int>>>
        previewed_;
};

}  // namespace headlight
