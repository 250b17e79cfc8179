#include "window/exporter.h"

#include <GLFW/glfw3.h>

#include <chrono>

#include "base/check.h"
#include "session/save_path.h"
#include "session/workspace.h"
#include "views/numbers.h"
#include "views/views.h"
#include "window/beside.h"
#include "window/conversation.h"
#include "window/layout.h"

namespace headlight {

namespace fs = std::filesystem;

namespace {

template <class T>
bool is_ready(const std::future<T>& future) {
    return future.valid() && future.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
}

Result<Drawing> draw_alone(const ViewPage& page) {
    ThreadPool pool(1);
    return draw_figure(page, pool);
}

}  // namespace

/// The view as a page, with the style that the save menu shows.
ViewPage Exporter::page_to_save() const {
    const Session& session = desk_.session;
    const Preferences& p = session.preferences;
    ViewPage page{view_for(session, *desk_.answer->sentence->model),
                  session,
                  desk_.answer,
                  0,
                  0,
                  1,
                  session.of<SaveMenu>().style};
    FigureStyle& f = page.style;
    f.colormap = p.colormap;
    f.contrast = views()[page.view].shows == View::Shows::model ? Contrast::range : p.contrast;
    f.queries = p.queries;
    f.marks = p.marks;
    f.drop_sink = p.drop_sink;
    const auto [width, height] = session.of<LayoutState>().center;
    size_page(page, width, height);
    return page;
}

/// Makes the typed path a full one. A file that is there already is replaced only when the person asks for it
/// once more.
bool Exporter::settle_path() {
    SaveMenu& menu = desk_.session.of<SaveMenu>();
    fs::path path = full_path(menu.path, menu.folder);
    std::error_code problem;
    if (path.empty())
        path = proposed_path(desk_.session);
    else if (!path.has_filename() || fs::is_directory(path, problem))
        path = next_free(path / proposed_path(desk_.session).filename());
    if (menu.workspace && !is_workspace(path)) path += ".headlight.json";
    menu.path = path.string();
    if (!fs::is_regular_file(path, problem) || menu.may_replace == menu.path) return true;
    menu.may_replace = menu.path;
    menu.failed = true;
    menu.result = menu.path + " is there already. Save again to replace it; " +
                  next_free(path).filename().string() + " is free.";
    desk_.want_frames(2);
    return false;
}

void Exporter::save() {
    if (saving_.valid() || !settle_path()) return;
    if (desk_.session.of<SaveMenu>().workspace)
        save_workspace_file();
    else
        save_picture();
}

void Exporter::save_picture() {
    if (!desk_.shown()) return;
    SaveMenu& menu = desk_.session.of<SaveMenu>();
    saving_path_ = menu.path;
    menu.result = "saving…";
    saving_ = beside([page = page_to_save(), path = fs::path(saving_path_)]() -> Status {
        if (const auto written = write_view_document(path, page)) return *written;
        if (is_numbers_path(path)) return write_view_numbers(path, page);
        TRY(const Drawing drawing, draw_alone(page));
        return write_page(path, drawing);
    });
}

/// The workspace is small: it is written at once.
void Exporter::save_workspace_file() {
    note_state(desk_);
    const std::string path = desk_.session.of<SaveMenu>().path;
    const Status written = save_workspace(desk_.session, path);
    if (written) desk_.session.document.workspace = path;
    tell(written, path);
}

void Exporter::tell(const Status& written, const std::string& path) {
    SaveMenu& menu = desk_.session.of<SaveMenu>();
    if (written) menu.may_replace = path;
    menu.failed = !written;
    menu.result = written ? "Saved " + path : written.error().message;
    if (!desk_.session.shows(Sheet::save)) desk_.session.notice = menu.result;
    desk_.want_frames(2);
}

void Exporter::browse() {
    if (dialog_.open()) return;
    for_corpus_ = false;
    const SaveMenu& menu = desk_.session.of<SaveMenu>();
    const fs::path path = full_path(menu.path, menu.folder);
    dialog_.ask(menu.workspace ? "Save the workspace" : "Save the figure",
                path.empty() ? proposed_path(desk_.session) : path, [] { glfwPostEmptyEvent(); });
}

void Exporter::browse_corpus() {
    if (dialog_.open()) return;
    for_corpus_ = true;
    dialog_.ask(
        "Texts, one a line", documents_folder() / "", [] { glfwPostEmptyEvent(); }, DialogFor::opening);
}

void Exporter::take_corpus(const std::string& path) {
    const Model* model = desk_.sentence() ? desk_.sentence()->model.get() : nullptr;
    if (const Status given = give_corpus(desk_.session, model, path); !given)
        desk_.session.notice = given.error().message;
}

/// The dialog asked whether a file may be replaced.
void Exporter::take_dialog() {
    const auto chosen = dialog_.poll();
    if (!chosen) return;
    desk_.want_frames(2);
    if (for_corpus_) {
        if (!*chosen) desk_.session.notice = chosen->error().message;
        if (*chosen && !(**chosen).empty()) take_corpus(**chosen);
        return;
    }
    SaveMenu& menu = desk_.session.of<SaveMenu>();
    menu.failed = !*chosen;
    if (!*chosen) menu.result = chosen->error().message;
    if (!*chosen || (**chosen).empty() || !desk_.session.shows(Sheet::save)) return;
    menu.path = menu.may_replace = **chosen;
    save();
}

void Exporter::take_saved() {
    if (is_ready(saving_)) tell(saving_.get(), saving_path_);
}

void Exporter::take_preview() {
    if (!is_ready(previewing_)) return;
    const auto image = previewing_.get();
    desk_.session.of<SaveMenu>().preview_error = image ? "" : image.error().message;
    if (image) {
        desk_.pictures.preview = Texture::of_rgb(image->width, image->height, image->rgb.data());
        desk_.pictures.preview_w = image->width;
        desk_.pictures.preview_h = image->height;
    }
    desk_.want_frames(1);
}

/// Draws the figure small, beside the frames, whenever what it shows has changed.
void Exporter::update_preview() {
    take_preview();
    const SaveMenu& menu = desk_.session.of<SaveMenu>();
    if (!desk_.session.shows(Sheet::save)) {
        previewed_.reset();
        desk_.pictures.preview = {};
        return;
    }
    const auto box = menu.preview_box;
    if (menu.workspace || box.first < 16 || box.second < 16 || previewing_.valid() || !desk_.shown()) return;
    const ViewPage page = page_to_save();
    const auto now = std::tuple(page.style, page.answer, page.view, box);
    if (previewed_ == now) return;
    previewed_ = now;
    previewing_ = beside([page, box]() -> Result<RgbImage> {
        TRY(const Drawing drawing, draw_alone(page));
        return draw_image(drawing, box.first, box.second);
    });
}

void Exporter::update() {
    take_dialog();
    take_saved();
    update_preview();
}

void Exporter::copy_numbers() {
    const auto found = guarded([this]() -> Result<std::vector<NumberTable>> {
        if (!desk_.answer || !desk_.answer->picture) return std::vector<NumberTable>();
        return shown_numbers(desk_.scene());
    });
    std::string& notice = desk_.session.notice;
    if (!found || found->empty()) {
        notice = found ? "This view has no numbers to copy." : found.error().message;
        return;
    }
    const auto& tables = *found;
    glfwSetClipboardString(desk_.window, as_tsv(tables[0]).c_str());
    notice = "Copied “" + tables[0].name + "”: " + std::to_string(tables[0].values.rows()) + " × " +
             std::to_string(tables[0].values.cols()) + " numbers" +
             (tables.size() > 1 ? "; the view's other tables can be saved." : ".");
}

/// What is being written is waited for: its thread wakes the window.
void Exporter::close() {
    dialog_.close();
    saving_ = {};
    previewing_ = {};
}

}  // namespace headlight
