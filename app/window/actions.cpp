// What keys and menus do.
#include <GLFW/glfw3.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "session/save_path.h"
#include "session/workspace.h"
#include "views/all_heads.h"
#include "views/changes.h"
#include "views/numbers.h"
#include "views/page.h"
#include "views/writing.h"
#include "window/application.h"
#include "window/beside.h"

namespace headlight {

namespace fs = std::filesystem;

void Application::move_head(int layers, int heads) {
    if (!answer_ || !answer_->sentence) return;
    const ModelConfig& c = answer_->sentence->model->config;
    const bool aligned =
        views()[view_for(state_, *answer_->sentence->model)].lists_choices;  // stays within cross-attention
    state_.site = std::clamp(state_.site + layers, aligned ? cross_site(c, 0) : 0, c.sites() - 1);
    state_.head += heads;
    fit_head(state_, c);
    state_.choose_head = false;
}

/// Whether the arrows step through what the model writes.
bool Application::aligns() const {
    return answer_ && answer_->sentence && answer_->sentence->written &&
           views()[view_for(state_, *answer_->sentence->model)].lists_choices;
}

/// The locked cell (or the one that is shown) by rows and columns of the picture.
void Application::move_cell(int down, int across) {
    const Scene scene = make_scene();
    auto cell = scene.shown_cell();
    if (!cell) return;
    if (state_.queries == Axis::columns) std::swap(down, across);
    state_.locked = std::pair{std::clamp(cell->first + down, 0, scene.queries() - 1),
                              std::clamp(cell->second + across, 0, scene.keys() - 1)};
}

/// What the mouse chooses from lists, by key.
void Application::handle_choices() {
    if (input_.take(GLFW_KEY_R, true))
        state_.rank = state_.rank + 1 < static_cast<int>(kStatistics) ? state_.rank + 1 : kRankByCell;
    if (input_.take(GLFW_KEY_L, true))
        state_.scale = static_cast<Scale>((static_cast<int>(state_.scale) + 1) % 3);
    if (input_.take(GLFW_KEY_T, true))
        state_.queries = state_.queries == Axis::rows ? Axis::columns : Axis::rows;
    if (input_.take(GLFW_KEY_I, true)) state_.inspector_over = !state_.inspector_over;
    if (input_.take(GLFW_KEY_D, true)) state_.dark = !state_.dark;
    const bool typing = fields_.typed() || types_path();
    for (const View& v : views())
        if (answer_ && answer_->sentence && v.offered(*answer_->sentence->model) &&
            (input_.take(v.digit, true) || (!typing && v.digit <= '9' && input_.take(v.digit))))
            open_view(state_, v.key);
    if (input_.take(GLFW_KEY_K, true)) {
        const auto names = colormap_names();
        const auto now = std::find(names.begin(), names.end(), state_.colormap);
        state_.colormap = names[static_cast<size_t>(now - names.begin() + 1) % names.size()];
    }
}

/// The first table of what is shown, for a spreadsheet.
void Application::copy_numbers() {
    const auto found = guarded([this]() -> Result<std::vector<NumberTable>> {
        if (!answer_ || !answer_->picture) return std::vector<NumberTable>();
        return shown_numbers(make_scene());
    });
    if (!found || found->empty()) {
        state_.notice = found ? "This view has no numbers to copy." : found.error().message;
        return;
    }
    const auto& tables = *found;
    glfwSetClipboardString(window_, as_tsv(tables[0]).c_str());
    state_.notice = "Copied “" + tables[0].name + "”: " + std::to_string(tables[0].values.rows()) + " × " +
                    std::to_string(tables[0].values.cols()) + " numbers" +
                    (tables.size() > 1 ? "; the view's other tables can be saved." : ".");
}

/// The view as a page, with the style that the save menu shows.
ViewPage Application::page_to_save() const {
    ViewPage page{view_for(state_, *answer_->sentence->model), state_, answer_, 0, 0, 1, state_.figure};
    FigureStyle& f = page.style;
    f.colormap = state_.colormap;
    f.scale = state_.scale;
    f.queries = state_.queries;
    f.marks = state_.marks;
    f.drop_sink = state_.drop_sink;
    size_page(page, state_.centre.first, state_.centre.second);
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
    options.site = page.state.site;
    options.head = page.state.head;
    return find_figure(view.key)->make(page.answer->sentence->trace, options, pool);
}

}  // namespace

void Application::save_picture() {
    if (!answer_ || !answer_->sentence || !answer_->sentence->trace || saving_.valid()) return;
    saving_path_ = state_.save_path;
    state_.save_result = "saving…";
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
        state_.preview_error = image ? "" : image.error().message;
        if (image) {
            pictures_.preview = Texture::of_rgb(image->width, image->height, image->rgb.data());
            pictures_.preview_w = image->width;
            pictures_.preview_h = image->height;
        }
        frames_wanted_ = std::max(frames_wanted_, 1);
    }
    if (!state_.save_menu) {
        previewed_.reset();
        pictures_.preview = {};
        return;
    }
    if (state_.save_workspace || state_.preview_box.first < 16 || state_.preview_box.second < 16 ||
        previewing_.valid() || !answer_ || !answer_->sentence || !answer_->sentence->trace)
        return;
    const ViewPage page = page_to_save();
    const auto now = std::tuple(page.style, page.answer, page.view, state_.preview_box);
    if (previewed_ == now) return;
    previewed_ = now;
    previewing_ = beside([page, box = state_.preview_box]() -> Result<RgbImage> {
        TRY(const Drawing drawing, draw_page(page));
        return draw_image(drawing, box.first, box.second);
    });
}

/// The workspace is small: it is written at once.
void Application::save_workspace_file() {
    note_state();
    const std::string path = state_.save_path;
    const Status written = save_workspace(state_, path);
    state_.save_failed = !written;
    state_.save_result = written ? "Saved " + path : written.error().message;
    if (written) state_.workspace = state_.may_replace = path;
    frames_wanted_ = 2;
}

/// Makes the typed path a full one. A file that is there already is replaced only when the person asks for it
/// once more.
bool Application::settle_save_path() {
    fs::path path = full_path(state_.save_path, state_.save_folder);
    std::error_code problem;
    if (path.empty())
        path = proposed_path(state_);
    else if (!path.has_filename() || fs::is_directory(path, problem))
        path = next_free(path / proposed_path(state_).filename());
    if (state_.save_workspace && !is_workspace(path)) path += ".headlight.json";
    state_.save_path = path.string();
    std::error_code ignored;
    const bool asks = fs::is_regular_file(path, ignored) && state_.may_replace != state_.save_path;
    if (!asks) return true;
    state_.may_replace = state_.save_path;
    state_.save_failed = true;
    state_.save_result = state_.save_path + " is there already. Save again to replace it; " +
                         next_free(path).filename().string() + " is free.";
    frames_wanted_ = 2;
    return false;
}

/// The desktop's dialog asks for the path, and whether a file may be replaced.
void Application::ask_for_path() {
    if (std::exchange(state_.dialog_wanted, false)) {
        const fs::path path = full_path(state_.save_path, state_.save_folder);
        dialog_.ask(state_.save_workspace ? "Save the workspace" : "Save the figure",
                    path.empty() ? proposed_path(state_) : path, [] { glfwPostEmptyEvent(); });
    }
    const auto chosen = dialog_.poll();
    if (!chosen) return;
    frames_wanted_ = std::max(frames_wanted_, 2);
    state_.save_failed = !*chosen;
    if (!*chosen) state_.save_result = chosen->error().message;
    if (!*chosen || (**chosen).empty() || !state_.save_menu) return;
    state_.save_path = state_.may_replace = **chosen;
    state_.save_wanted = true;
}

void Application::finish_saving() {
    ask_for_path();
    if (!saving_.valid() && std::exchange(state_.save_wanted, false) && settle_save_path()) {
        if (state_.save_workspace)
            save_workspace_file();
        else
            save_picture();
    }
    if (!saving_.valid() || saving_.wait_for(std::chrono::seconds(0)) != std::future_status::ready) return;
    const Status written = saving_.get();
    if (written) state_.may_replace = saving_path_;
    state_.save_failed = !written;
    state_.save_result = written ? "Saved " + saving_path_ : written.error().message;
    frames_wanted_ = 2;
}

/// Tab goes through the texts, then through the controls and back.
void Application::move_focus(int by) {
    const bool sheet =
        state_.labelling || state_.model_menu || state_.settings_menu || state_.save_menu || state_.help;
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
    if (!picture) return choose_model(state_, path);
    if (answer_ && answer_->sentence && answer_->sentence->model->config.kind == ModelKind::vision)
        fields_.sentence.replace(path, state_.history);
    else
        state_.notice = "An image needs a vision model: open a ViT first, then drop the image again.";
}

/// Whether a path or a label is being typed, into a field of Dear ImGui's.
bool Application::types_path() const {
    return ImGui::GetIO().WantTextInput || state_.model_menu || state_.save_menu || state_.labelling;
}

/// One key after another, in the order in which they were pressed; what a key does, it does not type as well.
void Application::handle_keys() {
    const bool pressed = !input_.keys.empty();
    for (KeyPress& press : std::exchange(input_.keys, {})) {
        input_.keys.clear();
        input_.keys.push_back(std::move(press));
        const bool hinting = !state_.hints_seen;
        state_.hints_seen = true;
        handle_key(hinting);
    }
    const bool path_field = state_.model_menu || state_.save_menu ||
                            state_.labelling;  // after the keys: one of them may have opened it
    if (path_field && pressed) frames_wanted_ = std::max(frames_wanted_, 4);
    if (path_field && !ImGui::GetIO().WantTextInput && fields_waited_++ < 6)
        frames_wanted_ =
            std::max(frames_wanted_, 1);  // Dear ImGui's field takes the keyboard after some frames
    if (!path_field) fields_waited_ = 0;
    for (const auto& path : input_.dropped) open_dropped(path);
    if (typed_text() != last_text_) {
        state_.notice.clear();
        state_.locked.reset();
        state_.first_chip = state_.first_target_chip = 0;
        last_text_ = typed_text();
    }
    if (fields_.take_shortened())
        state_.notice = "A text holds at most 400,000 bytes; the rest of what was pasted is left out.";
    input_.clear();
}

void Application::handle_key(bool hinting) {
    if (input_.take(GLFW_KEY_F1)) state_.help = !state_.help;
    if (input_.take(GLFW_KEY_Q, true)) glfwSetWindowShouldClose(window_, GLFW_TRUE);
    if (input_.take(GLFW_KEY_O, true)) state_.model_menu = !state_.model_menu;
    for (const bool workspace : {false, true})
        if (input_.take(GLFW_KEY_S, true, workspace)) open_save_menu(state_, workspace);
    if (input_.take(GLFW_KEY_ESCAPE)) handle_escape(hinting);
    handle_choices();
    handle_focus();
    if (state_.model_menu || state_.save_menu || state_.labelling)
        entered_ = input_.take(GLFW_KEY_ENTER) || input_.take(GLFW_KEY_KP_ENTER) || entered_;
    if (input_.take(GLFW_KEY_UP) || input_.take(GLFW_KEY_PAGE_UP)) move_head(-1, 0);
    if (input_.take(GLFW_KEY_DOWN) || input_.take(GLFW_KEY_PAGE_DOWN)) move_head(1, 0);
    if (types_path()) return;
    if (!fields_.typed()) handle_outside_text();
    if (!ui_->focus().empty() && input_.types()) ui_->drop_focus();  // typing goes to the sentence
    handle_text();
}

void Application::handle_escape(bool hinting) {
    if (state_.labelling)
        state_.labelling = false;
    else if (state_.model_menu || state_.settings_menu || state_.save_menu || state_.help)
        state_.choosing_other = state_.model_menu = state_.settings_menu = state_.save_menu = state_.help =
            false;
    else if (hinting) {
    }  // closing the hints was all
    else if (state_.view && views()[*state_.view].fills_window)
        close_view(state_);
    else if (!ui_->focus().empty())
        ui_->drop_focus();
    else if (state_.locked)
        state_.locked.reset();
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
        state_.labelling = true;
        state_.label_typed = head_label(make_scene(), state_.site, state_.head);
        open_view(state_, "heads");
    }
}

/// Typing and editing; what no text takes of copying and undoing is the view's.
void Application::handle_text() {
    const auto clipboard = [this] {
        const char* text = glfwGetClipboardString(window_);
        return std::string(text ? text : "");
    };
    TextField& typed = fields_.typed() ? *fields_.typed() : fields_.sentence;
    typed.handle(input_, state_.history, clipboard,
                 [this](const std::string& text) { glfwSetClipboardString(window_, text.c_str()); });
    if (input_.take(GLFW_KEY_C, true)) copy_numbers();
    if (input_.take(GLFW_KEY_Z, true)) undo(state_, fields_);
    if (input_.take(GLFW_KEY_Y, true) || input_.take(GLFW_KEY_Z, true, true)) redo(state_, fields_);
}

/// Dear ImGui 1.86 misses a key that goes down and up between two frames, so Enter in a path field is ours.
void Application::handle_enter() {
    if (!entered_) return;
    entered_ = false;
    frames_wanted_ = std::max(frames_wanted_, 2);
    if (state_.labelling)
        state_.label_wanted = true;
    else if (state_.save_menu)
        state_.save_wanted = true;
    else if (state_.model_menu && !state_.path_typed.empty())
        choose_model(state_, state_.path_typed);
}

}  // namespace headlight
