
// What keys and menus do.

#include <GLFW/glfw3.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "session/save_path.h"
#include "session/workspace.h"
#include "views/all_heads.h"
#include "views/changes.h"
#include "views/chips.h"
#include "views/menus.h"
#include "views/numbers.h"
#include "views/page.h"
#include "views/save_menu.h"
#include "views/views.h"
#include "views/writing.h"
#include "window/application.h"
#include "window/beside.h"
#include "window/layout.h"

namespace headlight {

namespace fs = std::filesystem;

void Application::move_head(int layers, int heads) {
    if (!answer_ || !answer_->sentence) return;
    const ModelConfig& c = answer_->sentence->model->config;
    const bool aligned =
        views()[view_for(session_, *answer_->sentence->model)].lists_choices;  // stays within cross-attention
    session_.selection.block =
        std::clamp(session_.selection.block + layers, aligned ? cross_block(c, 0) : 0, c.blocks() - 1);
    session_.selection.head += heads;
    fit_head(session_.selection, c);
    session_.selection.choose_head = false;
}

/// Whether the arrows step through what the model writes.
bool Application::aligns() const {
    return answer_ && answer_->sentence && answer_->sentence->written &&
           views()[view_for(session_, *answer_->sentence->model)].lists_choices;
}

/// The locked cell (or the one that is shown) by rows and columns of the picture.
void Application::move_cell(int down, int across) {
    const Scene scene = make_scene();
    auto cell = scene.shown_cell();
    if (!cell) return;
    if (session_.preferences.queries == Axis::columns) std::swap(down, across);
    session_.selection.locked = std::pair{std::clamp(cell->first + down, 0, scene.queries() - 1),
                                          std::clamp(cell->second + across, 0, scene.keys() - 1)};
}

/// What the mouse chooses from lists, by key.
void Application::handle_choices() {
    if (input_.take(GLFW_KEY_R, true))
        session_.preferences.rank = session_.preferences.rank + 1 < static_cast<int>(kStatistics)
                                        ? session_.preferences.rank + 1
                                        : kRankByCell;
    if (input_.take(GLFW_KEY_L, true))
        session_.preferences.scale =
            static_cast<Scale>((static_cast<int>(session_.preferences.scale) + 1) % 3);
    if (input_.take(GLFW_KEY_T, true))
        session_.preferences.queries =
            session_.preferences.queries == Axis::rows ? Axis::columns : Axis::rows;
    if (input_.take(GLFW_KEY_I, true))
        session_.of<LayoutState>().inspector_over = !session_.of<LayoutState>().inspector_over;
    if (input_.take(GLFW_KEY_D, true)) session_.preferences.dark = !session_.preferences.dark;
    const bool typing = fields_.typed() || types_path();
    for (const View& v : views())
        if (answer_ && answer_->sentence && v.offered(*answer_->sentence->model) &&
            (input_.take(v.digit, true) || (!typing && v.digit <= '9' && input_.take(v.digit))))
            open_view(session_, v.key);
    if (input_.take(GLFW_KEY_K, true)) {
        const auto names = colormap_names();
        const auto now = std::find(names.begin(), names.end(), session_.preferences.colormap);
        session_.preferences.colormap = names[static_cast<size_t>(now - names.begin() + 1) % names.size()];
    }
}

/// The first table of what is shown, for a spreadsheet.
void Application::copy_numbers() {
    const auto found = guarded([this]() -> Result<std::vector<NumberTable> > {
        if (!answer_ || !answer_->picture) return std::vector<NumberTable>();
        return shown_numbers(make_scene());
    });
    if (!found || found->empty()) {
        session_.notice = found ? "This view has no numbers to copy." : found.error().message;
        return;
    }
    const auto& tables = *found;
    glfwSetClipboardString(window_, as_tsv(tables[0]).c_str());
    session_.notice = "Copied “" + tables[0].name + "”: " + std::to_string(tables[0].values.rows()) + " × " +
                      std::to_string(tables[0].values.cols()) + " numbers" +
                      (tables.size() > 1 ? "; the view's other tables can be saved." : ".");
}

/// The view as a page, with the style that the save menu shows.
ViewPage Application::page_to_save() const {
    ViewPage page{view_for(session_, *answer_->sentence->model),
                  session_,
                  answer_,
                  0,
                  0,
                  1,
                  session_.of<SaveMenu>().style};
    FigureStyle& f = page.style;
    f.colormap = session_.preferences.colormap;
    f.scale = session_.preferences.scale;
    f.queries = session_.preferences.queries;
    f.marks = session_.preferences.marks;
    f.drop_sink = session_.preferences.drop_sink;
    size_page(page, session_.of<LayoutState>().centre.first, session_.of<LayoutState>().centre.second);
    return page;
}

namespace {

/// Views with a figure of their own are drawn by it, the others as they stand in the window.
Result<Drawing> draw_page(const ViewPage& page) {
    const View& view = views()[page.view];
    if (!view.own_figure) return draw_view_page(page);
    ThreadPool pool(1);
    FigureOptions options;
    static_cast<FigureStyle&>(options) = page.style;
    options.block = page.session.selection.block;
    options.head = page.session.selection.head;
    return find_figure(view.key)->make(page.answer->sentence->trace, options, pool);
}

}  // namespace

void Application::save_picture() {
    if (!answer_ || !answer_->sentence || !answer_->sentence->trace || saving_.valid()) return;
    saving_path_ = session_.of<SaveMenu>().path;
    session_.of<SaveMenu>().result = "saving…";
    saving_ = beside([page = page_to_save(), path = fs::path(saving_path_)]() -> Status {
        if (is_numbers_path(path)) return write_view_numbers(path, page);
        TRY(const Drawing drawing, draw_page(page));
        return write_page(path, drawing);
    });
}

/// Draws the figure small, beside the frames, whenever what it shows has changed.
void Application::update_preview() {
    if (previewing_.valid() && previewing_.wait_for(std::chrono::seconds(0)) == std::future_status::ready) {
        const auto image = previewing_.get();
        session_.of<SaveMenu>().preview_error = image ? "" : image.error().message;
        if (image) {
            pictures_.preview = Texture::of_rgb(image->width, image->height, image->rgb.data());
            pictures_.preview_w = image->width;
            pictures_.preview_h = image->height;
        }
        frames_wanted_ = std::max(frames_wanted_, 1);
    }
    if (!session_.save_menu) {
        previewed_.reset();
        pictures_.preview = {};
        return;
    }
    if (session_.of<SaveMenu>().workspace || session_.of<SaveMenu>().preview_box.first < 16 ||
        session_.of<SaveMenu>().preview_box.second < 16 || previewing_.valid() || !answer_ ||
        !answer_->sentence || !answer_->sentence->trace)
        return;
    const ViewPage page = page_to_save();
    const auto now = std::tuple(page.style, page.answer, page.view, session_.of<SaveMenu>().preview_box);
    if (previewed_ == now) return;
    previewed_ = now;
    previewing_ = beside([page, box = session_.of<SaveMenu>().preview_box]() -> Result<RgbImage> {
        TRY(const Drawing drawing, draw_page(page));
        return draw_image(drawing, box.first, box.second);
    });
}

/// The workspace is small: it is written at once.
void Application::save_workspace_file() {
    note_state();
    const std::string path = session_.of<SaveMenu>().path;
    const Status written = save_workspace(session_, path);
    session_.of<SaveMenu>().failed = !written;
    session_.of<SaveMenu>().result = written ? "Saved " + path : written.error().message;
    if (written) session_.document.workspace = session_.of<SaveMenu>().may_replace = path;
    frames_wanted_ = 2;
}

/// Makes the typed path a full one. A file that is there already is replaced only when the person asks for it

/// once more.
bool Application::settle_save_path() {
    fs::path path = full_path(session_.of<SaveMenu>().path, session_.of<SaveMenu>().folder);
    std::error_code problem;
    if (path.empty())
        path = proposed_path(session_);
    else if (!path.has_filename() || fs::is_directory(path, problem))
        path = next_free(path / proposed_path(session_).filename());
    if (session_.of<SaveMenu>().workspace && !is_workspace(path)) path += ".headlight.json";
    session_.of<SaveMenu>().path = path.string();
    std::error_code ignored;
    const bool asks = fs::is_regular_file(path, ignored) &&
                      session_.of<SaveMenu>().may_replace != session_.of<SaveMenu>().path;
    if (!asks) return true;
    session_.of<SaveMenu>().may_replace = session_.of<SaveMenu>().path;
    session_.of<SaveMenu>().failed = true;
    session_.of<SaveMenu>().result = session_.of<SaveMenu>().path +
                                     " is there already. Save again to replace it; " +
                                     next_free(path).filename().string() + " is free.";
    frames_wanted_ = 2;
    return false;
}

/// The desktop's dialog asks for the path, and whether a file may be replaced.
void Application::ask_for_path() {
    if (std::exchange(session_.of<SaveMenu>().dialog_wanted, false)) {
        const fs::path path = full_path(session_.of<SaveMenu>().path, session_.of<SaveMenu>().folder);
        dialog_.ask(session_.of<SaveMenu>().workspace ? "Save the workspace" : "Save the figure",
                    path.empty() ? proposed_path(session_) : path, [] { glfwPostEmptyEvent(); });
    }
    const auto chosen = dialog_.poll();
    if (!chosen) return;
    frames_wanted_ = std::max(frames_wanted_, 2);
    session_.of<SaveMenu>().failed = !*chosen;
    if (!*chosen) session_.of<SaveMenu>().result = chosen->error().message;
    if (!*chosen || (**chosen).empty() || !session_.save_menu) return;
    session_.of<SaveMenu>().path = session_.of<SaveMenu>().may_replace = **chosen;
    session_.of<SaveMenu>().wanted = true;
}

void Application::finish_saving() {
    ask_for_path();
    if (!saving_.valid() && std::exchange(session_.of<SaveMenu>().wanted, false) && settle_save_path()) {
        if (session_.of<SaveMenu>().workspace)
            save_workspace_file();
        else
            save_picture();
    }
    if (!saving_.valid() || saving_.wait_for(std::chrono::seconds(0)) != std::future_status::ready) return;
    const Status written = saving_.get();
    if (written) session_.of<SaveMenu>().may_replace = saving_path_;
    session_.of<SaveMenu>().failed = !written;
    session_.of<SaveMenu>().result = written ? "Saved " + saving_path_ : written.error().message;
    frames_wanted_ = 2;
}

/// Tab goes through the texts, then through the controls and back.
void Application::move_focus(int by) {
    const bool sheet = session_.labelling || session_.model_menu || session_.settings_menu ||
                       session_.save_menu || session_.help;
    if (sheet) {
        if (!ui_->move_focus(by)) ui_->move_focus(by);
        return;
    }
    const auto fields = shown_fields();
    const auto last = std::find(fields.begin(), fields.end(), fields_.typed());
    if (last != fields.end()) {
        const auto next = (last - fields.begin()) + by;
        if (next >= 0 && next < static_cast<std::ptrdiff_t>(fields.size()))
            return fields_.focus(*fields[static_cast<size_t>(next)]);
    }
    fields_.leave();
    if (!ui_->move_focus(by)) fields_.focus(*(by < 0 ? fields.back() : fields.front()));
}

/// The text fields that are there, in the order of Tab.
std::vector<TextField*> Application::shown_fields() {
    std::vector<TextField*> out{&fields_.sentence};
    if (!answer_ || !answer_->sentence) return out;
    if (reads_two_texts(answer_->sentence->model->config)) out.push_back(&fields_.second);
    if (ui_->widgets.count("other")) out.push_back(&fields_.other);
    return out;
}

/// Enter and Space press the control that has the focus, arrows choose in it.
void Application::handle_focus() {
    if (input_.take(GLFW_KEY_TAB)) move_focus(1);
    if (input_.take(GLFW_KEY_TAB, false, true)) move_focus(-1);
    if (ui_->focus().empty() || fields_.typed()) return;
    if (input_.take(GLFW_KEY_ENTER) || input_.take(GLFW_KEY_KP_ENTER) || input_.take(GLFW_KEY_SPACE))
        ui_->press_focused();
    if (input_.take(GLFW_KEY_UP)) ui_->step_focused(-1);
    if (input_.take(GLFW_KEY_DOWN)) ui_->step_focused(1);
    frames_wanted_ = std::max(frames_wanted_, 2);
}

/// A workspace is opened, a picture goes to the vision model that is open; everything else is a model.
void Application::open_dropped(const std::string& path) {
    const std::string end = fs::path(path).extension().string();
    const bool picture =
        end == ".png" || end == ".jpg" || end == ".jpeg" || end == ".PNG" || end == ".JPG" || end == ".JPEG";
    if (!picture) return choose_model(session_, path);
    if (answer_ && answer_->sentence && answer_->sentence->model->config.kind == ModelKind::vision)
        fields_.sentence.replace(path, session_.document.history);
    else
        session_.notice = "An image needs a vision model: open a ViT first, then drop the image again.";
}

/// Whether a path or a label is being typed, into a field of Dear ImGui's.
bool Application::types_path() const {
    return ImGui::GetIO().WantTextInput || session_.model_menu || session_.save_menu || session_.labelling;
}

/// One key after another, in the order in which they were pressed; what a key does, it does not type as well.
void Application::handle_keys() {
    const bool pressed = !input_.keys.empty();
    for (KeyPress& press : std::exchange(input_.keys, {})) {
        input_.keys.clear();
        input_.keys.push_back(std::move(press));
        const bool hinting = !session_.preferences.hints_seen;
        session_.preferences.hints_seen = true;
        handle_key(hinting);
    }
    const bool path_field = session_.model_menu || session_.save_menu ||
                            session_.labelling;  // after the keys: one of them may have opened it
    if (path_field && pressed) frames_wanted_ = std::max(frames_wanted_, 4);
    if (path_field && !ImGui::GetIO().WantTextInput && fields_waited_++ < 6)
        frames_wanted_ =
            std::max(frames_wanted_, 1);  // Dear ImGui's field takes the keyboard after some frames
    if (!path_field) fields_waited_ = 0;
    for (const auto& path : input_.dropped) open_dropped(path);
    if (typed_text() != last_text_) {
        session_.notice.clear();
        session_.selection.locked.reset();
        session_.of<ChipsState>().first = session_.of<ChipsState>().first_target = 0;
        last_text_ = typed_text();
    }
    if (fields_.take_shortened())
        session_.notice = "A text holds at most 400,000 bytes; the rest of what was pasted is left out.";
    input_.clear();
}

void Application::handle_key(bool hinting) {
    if (input_.take(GLFW_KEY_F1)) session_.help = !session_.help;
    if (input_.take(GLFW_KEY_Q, true)) glfwSetWindowShouldClose(window_, GLFW_TRUE);
    if (input_.take(GLFW_KEY_O, true)) session_.model_menu = !session_.model_menu;
    for (const bool workspace : {false, true})
        if (input_.take(GLFW_KEY_S, true, workspace)) open_save_menu(session_, workspace);
    if (input_.take(GLFW_KEY_ESCAPE)) handle_escape(hinting);
    handle_choices();
    handle_focus();
    if (session_.model_menu || session_.save_menu || session_.labelling)
        entered_ = input_.take(GLFW_KEY_ENTER) || input_.take(GLFW_KEY_KP_ENTER) || entered_;
    if (input_.take(GLFW_KEY_UP) || input_.take(GLFW_KEY_PAGE_UP)) move_head(-1, 0);
    if (input_.take(GLFW_KEY_DOWN) || input_.take(GLFW_KEY_PAGE_DOWN)) move_head(1, 0);
    if (types_path()) return;
    if (!fields_.typed()) handle_outside_text();
    if (!ui_->focus().empty() && input_.types()) ui_->drop_focus();  // typing goes to the sentence
    handle_text();
}

void Application::handle_escape(bool hinting) {
    if (session_.labelling)
        session_.labelling = false;
    else if (session_.model_menu || session_.settings_menu || session_.save_menu || session_.help)
        session_.choosing_other = session_.model_menu = session_.settings_menu = session_.save_menu =
            session_.help = false;
    else if (hinting) {
    }  // closing the hints was all
    else if (session_.selection.view && views()[*session_.selection.view].fills_window)
        close_view(session_);
    else if (!ui_->focus().empty())
        ui_->drop_focus();
    else if (session_.selection.locked)
        session_.selection.locked.reset();
    else
        fields_.leave();
}

/// What arrows and F2 do while no text has the keyboard.
void Application::handle_outside_text() {
    if (aligns()) {
        Scene scene = make_scene();
        if (input_.take(GLFW_KEY_LEFT)) take_writing_step(scene, -1);
        if (input_.take(GLFW_KEY_RIGHT)) take_writing_step(scene, 1);
    }
    if (input_.take(GLFW_KEY_LEFT)) move_head(0, -1);
    if (input_.take(GLFW_KEY_RIGHT)) move_head(0, 1);
    constexpr struct {
        int key, down, across;
    } moves[] = {{GLFW_KEY_UP, -1, 0}, {GLFW_KEY_DOWN, 1, 0}, {GLFW_KEY_LEFT, 0, -1}, {GLFW_KEY_RIGHT, 0, 1}};
    for (const auto& m : moves)
        if (input_.take(m.key, false, true)) move_cell(m.down, m.across);
    if (input_.take(GLFW_KEY_F2) && answer_ && answer_->sentence) {
        session_.labelling = true;
        session_.of<LabelMenu>().typed =
            head_label(make_scene(), session_.selection.block, session_.selection.head);
        open_view(session_, "heads");
    }
}

/// Typing and editing; what no text takes of copying and undoing is the view's.
void Application::handle_text() {
    const auto clipboard = [this] {
        const char* text = glfwGetClipboardString(window_);
        return std::string(text ? text : "");
    };
    TextField& typed = fields_.typed() ? *fields_.typed() : fields_.sentence;
    typed.handle(input_, session_.document.history, clipboard,
                 [this](const std::string& text) { glfwSetClipboardString(window_, text.c_str()); });
    if (input_.take(GLFW_KEY_C, true)) copy_numbers();
    if (input_.take(GLFW_KEY_Z, true)) undo(session_, fields_);
    if (input_.take(GLFW_KEY_Y, true) || input_.take(GLFW_KEY_Z, true, true)) redo(session_, fields_);
}

/// Dear ImGui 1.86 misses a key that goes down and up between two frames, so Enter in a path field is ours.
void Application::handle_enter() {
    if (!entered_) return;
    entered_ = false;
    frames_wanted_ = std::max(frames_wanted_, 2);
    if (session_.labelling)
        session_.of<LabelMenu>().wanted = true;
    else if (session_.save_menu)
        session_.of<SaveMenu>().wanted = true;
    else if (session_.model_menu && !session_.of<ModelMenu>().path.empty())
        choose_model(session_, session_.of<ModelMenu>().path);
}

}  // namespace headlight
