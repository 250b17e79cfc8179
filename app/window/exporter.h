// Saving pictures, numbers and workspaces, with a preview and the desktop's dialog, beside the frames.
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
    explicit Exporter(WindowState& desk) : desk_(desk) {}
    ~Exporter() { close(); }

    /// Writes what the save sheet shows to its path, or says there why not.
    void save();
    /// Asks for the path with the desktop's dialog.
    void browse();
    /// Asks for a file of texts to read the heads over.
    void browse_corpus();
    /// The first table of what is shown, for a spreadsheet.
    void copy_numbers();
    /// In each turn of the loop: what has ended, and what is to be previewed.
    void update();

    /// Whether something is being written or drawn.
    bool busy() const { return saving_.valid() || previewing_.valid() || copying_.valid(); }
    void close();

private:
    FigureStyle style_to_save(size_t view) const;
    ViewPage page_to_save();
    bool settle_path();
    void save_picture();
    void save_workspace_file();
    void take_corpus(const std::string& path);
    void take_dialog();
    void take_saved();
    void tell(const Status& written, const std::string& path);
    void take_preview();
    void take_numbers();
    void update_preview();

    WindowState& desk_;
    FileDialog dialog_;
    bool for_corpus_ = false;  // what it was opened for last
    std::future<Status> saving_;
    std::string saving_path_;
    std::future<Result<RgbImage>> previewing_;
    std::future<Result<std::vector<NumberTable>>> copying_;
    std::optional<std::tuple<FigureStyle, std::shared_ptr<const WorkAnswer>, size_t, std::pair<int, int>>>
        previewed_;
};

}  // namespace headlight
