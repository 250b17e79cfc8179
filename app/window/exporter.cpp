#include "window/exporter.h"

#include <GLFW/glfw3.h>

#include <chrono>

#include "base/check.h"
#include "figure/file_formats.h"
#include "session/save_path.h"
#include "session/workspace.h"
#include "views/tables.h"
#include "views/views.h"
#include "window/background_task.h"
#include "window/layout.h"
#include "window/worker_link.h"

namespace headlight {

namespace fs = std::filesystem;

namespace {

constexpr const char* kNothingToCopy = "This view has no numbers to copy.";

template <class T>
bool is_ready(const std::future<T>& future) {
    return future.valid() && future.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
}

Result<Drawing> draw_alone(const ViewPage& page) {
    ThreadPool pool(1);
    return draw_figure(page, pool);
}

}  // namespace

/// The style that the save menu shows, and what of it the whole window shows.
FigureStyle Exporter::style_to_save(size_t view) const {
    const Preferences& p = desk_.session.preferences;
    FigureStyle f = desk_.session.of<SaveMenu>().style;
    f.colormap = p.colormap;
    f.contrast = views()[view].shows == View::Shows::model ? Contrast::range : p.contrast;
    f.queries = p.queries;
    f.marks = p.marks;
    f.drop_sink = p.drop_sink;
    return f;
}

/// The view as a page. Its session is without the history, of which no page shows anything and which may be
/// large.
ViewPage Exporter::page_to_save() {
    Session& session = desk_.session;
    ViewPage page;
    page.view = view_for(session, *desk_.answer->sentence->model);
    page.style = style_to_save(page.view);
    page.answer = desk_.answer;
    {
        History history = std::exchange(session.document.history, {});
        const auto copied = guarded([&] {
            page.session = session;
            return success();
        });
        session.document.history = std::move(history);
        if (!copied) throw Failure(copied.error());
    }
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
    saving_ = in_background([page = page_to_save(), path = fs::path(saving_path_)]() -> Status {
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
    const size_t view = view_for(desk_.session, *desk_.answer->sentence->model);
    const auto now = std::tuple(style_to_save(view), desk_.answer, view, box);
    if (previewed_ == now) return;
    previewed_ = now;
    previewing_ = in_background([page = page_to_save(), box]() -> Result<RgbImage> {
        TRY(const Drawing drawing, draw_alone(page));
        return draw_image(drawing, box.first, box.second);
    });
}

void Exporter::update() {
    take_dialog();
    take_saved();
    take_numbers();
    update_preview();
}

/// Makes the numbers beside the frames: of a whole layer they are a computation.
void Exporter::copy_numbers() {
    if (copying_.valid()) return;
    if (!desk_.shown() || !desk_.answer->picture) {
        desk_.session.notice = kNothingToCopy;
        return;
    }
    copying_ = in_background(
        [page = page_to_save()]() -> Result<std::vector<NumberTable>> { return view_numbers(page); });
}

void Exporter::take_numbers() {
    if (!is_ready(copying_)) return;
    const auto found = copying_.get();
    std::string& notice = desk_.session.notice;
    desk_.want_frames(1);
    if (!found || found->empty()) {
        notice = found ? kNothingToCopy : found.error().message;
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
    copying_ = {};
}

}  // namespace headlight
