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
#include "window/texts.h"
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

/// The style in the save menu, plus display settings of the window.
FigureStyle Exporter::style_to_save(size_t view) const {
    const Preferences& p = state_.session.preferences;
    FigureStyle f = state_.session.of<SaveMenu>().style;
    f.colormap = p.colormap;
    f.contrast = views()[view].shows == View::Shows::model ? Contrast::range : p.contrast;
    f.queries = p.queries;
    f.marks = p.marks;
    f.drop_sink = p.drop_sink;
    return f;
}

/// Lays out the view as a page. Its session has no history, which pages never show and which may be large.
ViewPage Exporter::page_to_save() {
    Session& session = state_.session;
    ViewPage page;
    page.view = view_for(session, *state_.answer->sentence->model);
    page.style = style_to_save(page.view);
    page.answer = state_.answer;
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

/// Makes the typed path absolute. Replaces an existing file only when saving is requested twice.
bool Exporter::settle_path() {
    SaveMenu& menu = state_.session.of<SaveMenu>();
    fs::path path = full_path(menu.path, menu.folder);
    std::error_code problem;
    if (path.empty())
        path = proposed_path(state_.session, state_.scene().model());
    else if (!path.has_filename() || fs::is_directory(path, problem))
        path = next_free(path / proposed_path(state_.session, state_.scene().model()).filename());
    if (menu.workspace && !is_workspace(path)) path += ".headlight.json";
    menu.path = path.string();
    if (!fs::is_regular_file(path, problem) || menu.may_replace == menu.path) return true;
    menu.may_replace = menu.path;
    menu.failed = true;
    menu.result = menu.path + " already exists. Save again to replace it; " +
                  next_free(path).filename().string() + " is free.";
    state_.want_frames(2);
    return false;
}

void Exporter::save() {
    if (saving_.valid() || !settle_path()) return;
    if (state_.session.of<SaveMenu>().workspace)
        save_workspace_file();
    else
        save_picture();
}

void Exporter::save_picture() {
    if (!state_.shown()) return;
    SaveMenu& menu = state_.session.of<SaveMenu>();
    saving_path_ = menu.path;
    menu.result = "saving…";
    saving_ = in_background([page = page_to_save(), path = fs::path(saving_path_)]() -> Status {
        if (const auto written = write_view_document(path, page)) return *written;
        if (is_numbers_path(path)) return write_view_numbers(path, page);
        TRY(const Drawing drawing, draw_alone(page));
        return write_page(path, drawing);
    });
}

/// Writes the workspace synchronously: it is small.
void Exporter::save_workspace_file() {
    note_state(state_);
    const std::string path = state_.session.of<SaveMenu>().path;
    const Status written = save_workspace(state_.session, path);
    if (written) state_.session.document.workspace = path;
    report(written, path);
}

void Exporter::report(const Status& written, const std::string& path) {
    SaveMenu& menu = state_.session.of<SaveMenu>();
    if (written) menu.may_replace = path;
    menu.failed = !written;
    menu.result = written ? "Saved " + path : written.error().message;
    if (!state_.session.shows(Sheet::save)) state_.session.notice = menu.result;
    state_.want_frames(2);
}

void Exporter::browse() {
    if (dialog_.open()) return;
    opens_ = nullptr;
    const SaveMenu& menu = state_.session.of<SaveMenu>();
    const fs::path path = full_path(menu.path, menu.folder);
    dialog_.ask(menu.workspace ? "Save the workspace" : "Save the figure",
                path.empty() ? proposed_path(state_.session, state_.scene().model()) : path,
                [] { glfwPostEmptyEvent(); });
}

void Exporter::browse_to_open(const char* title, void (Exporter::*take)(const std::string& path)) {
    if (dialog_.open()) return;
    opens_ = take;
    dialog_.ask(
        title, documents_folder() / "", [] { glfwPostEmptyEvent(); }, DialogFor::opening);
}

void Exporter::browse_corpus() { browse_to_open("Texts, one per line", &Exporter::take_corpus); }
void Exporter::browse_image() { browse_to_open("An image (PNG or JPEG)", &Exporter::take_image); }

void Exporter::take_image(const std::string& path) {
    set_text(state_.session.document, state_.fields, TextName::picture, path);
}

void Exporter::take_corpus(const std::string& path) {
    const Model* model = state_.sentence() ? state_.sentence()->model.get() : nullptr;
    if (const Status given = give_corpus(state_.session, model, path); !given)
        state_.session.notice = given.error().message;
}

/// Takes the dialog's path; the dialog already asked before replacing a file.
void Exporter::take_dialog() {
    const auto chosen = dialog_.poll();
    if (!chosen) return;
    state_.want_frames(2);
    if (opens_) {
        if (!*chosen) state_.session.notice = chosen->error().message;
        if (*chosen && !(**chosen).empty()) (this->*opens_)(**chosen);
        return;
    }
    SaveMenu& menu = state_.session.of<SaveMenu>();
    menu.failed = !*chosen;
    if (!*chosen) menu.result = chosen->error().message;
    if (!*chosen || (**chosen).empty() || !state_.session.shows(Sheet::save)) return;
    menu.path = menu.may_replace = **chosen;
    save();
}

void Exporter::take_saved() {
    if (is_ready(saving_)) report(saving_.get(), saving_path_);
}

void Exporter::take_preview() {
    if (!is_ready(previewing_)) return;
    const auto image = previewing_.get();
    state_.session.of<SaveMenu>().preview_error = image ? "" : image.error().message;
    if (image) {
        state_.pictures.preview = Texture::of_rgb(image->width, image->height, image->rgb.data());
        state_.pictures.preview_w = image->width;
        state_.pictures.preview_h = image->height;
    }
    state_.want_frames(1);
}

/// Draws the preview in the background whenever the figure changes.
void Exporter::update_preview() {
    take_preview();
    const SaveMenu& menu = state_.session.of<SaveMenu>();
    if (!state_.session.shows(Sheet::save)) {
        previewed_.reset();
        state_.pictures.preview = {};
        return;
    }
    const auto box = menu.preview_box;
    if (menu.workspace || box.first < 16 || box.second < 16 || previewing_.valid() || !state_.shown()) return;
    const size_t view = view_for(state_.session, *state_.answer->sentence->model);
    const auto now = std::tuple(style_to_save(view), state_.answer, view, box);
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

/// Computes the numbers in the background: those of a whole layer take time.
void Exporter::copy_numbers() {
    if (copying_.valid()) return;
    if (!state_.shown() || !state_.answer->picture) {
        state_.session.notice = kNothingToCopy;
        return;
    }
    copying_ = in_background(
        [page = page_to_save()]() -> Result<std::vector<NumberTable>> { return view_numbers(page); });
}

void Exporter::take_numbers() {
    if (!is_ready(copying_)) return;
    const auto found = copying_.get();
    std::string& notice = state_.session.notice;
    state_.want_frames(1);
    if (!found || found->empty()) {
        notice = found ? kNothingToCopy : found.error().message;
        return;
    }
    const auto& tables = *found;
    glfwSetClipboardString(state_.window, as_tsv(tables[0]).c_str());
    notice = "Copied “" + tables[0].name + "”: " + std::to_string(tables[0].values.rows()) + " × " +
             std::to_string(tables[0].values.cols()) + " numbers" +
             (tables.size() > 1 ? "; save the view to get its other tables." : ".");
}

/// Waits for a write in progress: its thread wakes the window.
void Exporter::close() {
    dialog_.close();
    saving_ = {};
    previewing_ = {};
    copying_ = {};
}

}  // namespace headlight
