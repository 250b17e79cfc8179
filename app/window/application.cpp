
#include "window/application.h"

#include <GLFW/glfw3.h>
#include <backends/imgui_impl_glfw.h>
#include <backends/imgui_impl_opengl3.h>
#include <imgui_internal.h>

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "base/utf8.h"
#include "session/keys.h"
#include "views/menus.h"
#include "views/panels.h"

namespace headlight {

namespace fs = std::filesystem;

namespace {
constexpr float kDimAfter = 0.1f;
constexpr double kPatience = 0.016;
}  // namespace

Result<std::unique_ptr<Application> > Application::create(const WindowOptions& options) {
    auto app = std::unique_ptr<Application>(new Application(options));
    TRY_STATUS(app->open_window());
    return app;
}

Status Application::open_window() {
    static std::string glfw_message;
    glfwSetErrorCallback([](int, const char* message) { glfw_message = message; });
    if (!glfwInit())
        return Error{"There is no display to open a window on (" + glfw_message +
                     "); 'headlight render' draws figures without one, and 'xvfb-run headlight --screenshot "
                     "FILE.png' draws the window."};
    TRY_STATUS(apply_options());
    if (remembers()) end_signals_ = std::make_unique<EndSignals>([] { glfwPostEmptyEvent(); });
    glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3);
    glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 3);
    glfwWindowHint(GLFW_OPENGL_PROFILE, GLFW_OPENGL_CORE_PROFILE);
    glfwWindowHint(GLFW_OPENGL_FORWARD_COMPAT, GLFW_TRUE);
    if (!options_.screenshot.empty()) glfwWindowHint(GLFW_VISIBLE, GLFW_FALSE);
    window_ = glfwCreateWindow(session_.preferences.window_width, session_.preferences.window_height,
                               "Headlight", nullptr, nullptr);
    if (!window_)
        return Error{"A window with OpenGL 3.3 cannot be opened (" + glfw_message +
                     "); update the graphics driver or set LIBGL_ALWAYS_SOFTWARE=1, or use 'headlight "
                     "render', which needs neither."};
    glfwSetWindowSizeLimits(window_, 640, 480, GLFW_DONT_CARE, GLFW_DONT_CARE);
    glfwMakeContextCurrent(window_);
    glfwSwapInterval(0);  // frames are drawn only when something changed: waiting for the screen would only

    // delay the next key
    worker_ = std::make_unique<Worker>(
        options_.threads ? options_.threads : default_thread_count(), [] { glfwPostEmptyEvent(); },
        Texture::most_side());
    ask_worker();  // the model opens while the fonts load

    ImGui::CreateContext();
    ImGui::GetIO().IniFilename = nullptr;
    install_callbacks();
    ImGui_ImplGlfw_InitForOpenGL(window_, true);
    install_key_callback();
    key_gate_.install(window_);
    ImGui_ImplOpenGL3_Init("#version 330");
    TRY(auto heat, HeatmapRenderer::create(options_.shader_dir));
    heat_ = std::make_unique<HeatmapRenderer>(std::move(heat));
    ui_ = std::make_unique<Ui>(text_, heat_.get());
    const auto* renderer = reinterpret_cast<const char*>(glGetString(GL_RENDERER));
    const bool software =
        renderer && (std::string_view(renderer).find("llvmpipe") != std::string_view::npos ||
                     std::string_view(renderer).find("softpipe") != std::string_view::npos);
    if (software) ui_->most_lines = 100;
    return success();
}

Application::~Application() {
    end_signals_.reset();
    dialog_.close();
    worker_.reset();
    saving_ = {};  // waited for: their threads wake the window
    previewing_ = {};
    looking_ = {};
    pictures_ = {};
    colors_.reset();
    fields_ = {};
    text_ = {};
    if (ImGui::GetCurrentContext()) {
        if (ImGui::GetIO().BackendRendererUserData) ImGui_ImplOpenGL3_Shutdown();
        if (ImGui::GetIO().BackendPlatformUserData) ImGui_ImplGlfw_Shutdown();
        ImGui::DestroyContext();
    }
    if (window_) glfwDestroyWindow(window_);
    glfwTerminate();
}

/// Ours come first; Dear ImGui's, installed after them, call them.
void Application::install_callbacks() {
    glfwSetWindowUserPointer(window_, this);
    const auto self = [](GLFWwindow* w) -> Application& {
        auto& app = *static_cast<Application*>(glfwGetWindowUserPointer(w));
        app.frames_wanted_ = 3;
        return app;
    };
    static decltype(+self) touch;
    touch = self;
    glfwSetCharCallback(window_, [](GLFWwindow* w, unsigned c) {
        auto& app = *static_cast<Application*>(glfwGetWindowUserPointer(w));
        std::string text;
        append_utf8(text, c);
        app.input_.add_text(text);
        app.frames_wanted_ =
            std::max(app.frames_wanted_,
                     ImGui::GetIO().WantTextInput ? 3 : 1);  // an input method's comes without a key
    });
    glfwSetDropCallback(window_, [](GLFWwindow* w, int count, const char** paths) {
        for (int i = 0; i < count; ++i) touch(w).input_.dropped.emplace_back(paths[i]);
    });
    glfwSetCursorPosCallback(window_, [](GLFWwindow* w, double, double) { touch(w); });
    glfwSetMouseButtonCallback(window_, [](GLFWwindow* w, int, int, int) { touch(w); });
    glfwSetScrollCallback(window_, [](GLFWwindow* w, double, double) { touch(w); });
    glfwSetFramebufferSizeCallback(window_, [](GLFWwindow* w, int, int) { touch(w); });
    glfwSetWindowRefreshCallback(window_, [](GLFWwindow* w) { touch(w); });
    glfwSetWindowFocusCallback(window_, [](GLFWwindow* w, int) { touch(w); });
    glfwSetCursorEnterCallback(window_, [](GLFWwindow* w, int) { touch(w); });
    glfwSetWindowContentScaleCallback(window_, [](GLFWwindow* w, float, float) { touch(w); });
}

/// Keys are handled before the frame, so one frame shows what they did, unless Dear ImGui's own field takes

/// them: its callback is called by ours, with the key that the person's layout means.
void Application::install_key_callback() {
    glfwSetKeyCallback(window_, [](GLFWwindow* w, int place, int scancode, int action, int mods) {
        auto& app = *static_cast<Application*>(glfwGetWindowUserPointer(w));
        const int key = app.meant_key_of(place, scancode);
        ImGui_ImplGlfw_KeyCallback(w, IMGUI_VERSION_NUM < 18700 ? key : place, scancode, action,
                                   mods);  // later ones translate themselves
        if (action == GLFW_RELEASE) return;
        app.frames_wanted_ = std::max(app.frames_wanted_, ImGui::GetIO().WantTextInput ? 3 : 1);
        if (app.key_at_ == 0) app.key_at_ = glfwGetTime();
        app.input_.keys.push_back(
            {key, (mods & GLFW_MOD_CONTROL) != 0, (mods & GLFW_MOD_SHIFT) != 0, (mods & GLFW_MOD_ALT) != 0});
    });
}

/// Asked of the layout at each press: a person may change it while the window is open.
int Application::meant_key_of(int key, int scancode) const {
    const char* name = glfwGetKeyName(key, scancode);
    std::string all;
    for (int k = GLFW_KEY_APOSTROPHE; k <= GLFW_KEY_WORLD_2; ++k)
        if (const char* other = glfwGetKeyScancode(k) > 0 ? glfwGetKeyName(k, 0) : nullptr;
            other && !other[1])
            all += other[0];
    return meant_key(key, name ? name : "", all);
}

float Application::scale() const {
    float display = static_cast<float>(options_.scale), y = 1;
    if (display <= 0) glfwGetWindowContentScale(window_, &display, &y);
    return display * session_.preferences.text_size;
}

void Application::load_fonts() {
    loaded_scale_ = scale();
    text_.load(loaded_scale_);
    ImGui_ImplOpenGL3_DestroyFontsTexture();
    ImGui_ImplOpenGL3_CreateFontsTexture();
}

void Application::style_imgui() const {
    const Theme& t = theme(session_.preferences.dark);
    ImGuiStyle& s = ImGui::GetStyle();
    s = ImGuiStyle();
    s.WindowPadding = {4 * loaded_scale_, 4 * loaded_scale_};
    s.FrameRounding = 4 * loaded_scale_;
    s.PopupRounding = 6 * loaded_scale_;
    s.FrameBorderSize = s.PopupBorderSize = std::max(1.0f, std::floor(loaded_scale_));
    s.WindowBorderSize = 0;
    s.ItemSpacing = {0, 0};
    s.WindowMinSize = {1, 1};
    const std::pair<ImGuiCol, ImU32> colors[] = {
        {ImGuiCol_Text, t.t1},      {ImGuiCol_TextDisabled, t.t3},    {ImGuiCol_PopupBg, t.bg2},
        {ImGuiCol_Border, t.l2},    {ImGuiCol_FrameBg, t.bg1},        {ImGuiCol_TextSelectedBg, t.bg4},
        {ImGuiCol_WindowBg, t.bg1}, {ImGuiCol_NavHighlight, t.accent}};
    for (const auto& [slot, color] : colors) s.Colors[slot] = as_vec4(color);
}

void Application::wait_for_events() {
    if (dim() != drawn_dim_) frames_wanted_ = std::max(frames_wanted_, 1);
    if (frames_wanted_ > 0 || !input_.dropped.empty()) {
        glfwPollEvents();
        return key_gate_.let_pass();
    }
    double wait = ui_->wake_after;
    if (worker_->busy() && dim() == 0) wait = kDimAfter;
    if (saving_.valid() || looking_.valid() || previewing_.valid()) wait = 0.05;
    if (worker_->opening() || (answer_ && answer_->sweep && !answer_->sweep->ended())) wait = 0.1;
    if (!options_.shader_dir.empty() && wait == 0) wait = 0.5;
    const auto save = seconds_to_remembering();
    if (save && (wait == 0 || *save < wait)) {
        glfwWaitEventsTimeout(std::max(*save, 1e-3));
    } else if (wait > 0) {
        glfwWaitEventsTimeout(wait);
        frames_wanted_ = std::max(frames_wanted_, 1);
    } else {
        glfwWaitEvents();
    }
    key_gate_.let_pass();
}

/// After a key press the next frame waits an instant for the new numbers, so that it need not be drawn twice.
void Application::wait_for_answer() {
    const auto awaited = [this] {
        return answer_ && answer_->sentence &&
               (answer_->sentence->text != fields_.sentence.text() ||
                (reads_two_texts(answer_->sentence->model->config) &&
                 answer_->sentence->second != typed_second()));
    };
    for (double now = glfwGetTime(); awaited() && now < asked_at_ + kPatience; now = glfwGetTime()) {
        const bool last_look =
            !worker_->busy();  // asked before looking: an answer that came in between is seen
        if (take_answer()) continue;
        if (last_look) return;
        glfwWaitEventsTimeout(asked_at_ + kPatience - now);
        key_gate_.let_pass();
        if (!input_.keys.empty()) {
            handle_keys();
            ask_worker();
        }
    }
}

Scene Application::make_scene(float dim) {
    return {*ui_, session_, answer_.get(), pictures_, fields_, worker_->opening(), colors_.id(), dim};
}

void Application::update_pictures() {
    const std::string key = session_.preferences.colormap + (session_.preferences.dark ? "d" : "l");
    if (key != colors_key_) {
        colors_ = Texture::of_colormap(colormap(session_.preferences.colormap, session_.preferences.dark));
        colors_key_ = key;
    }
    if (!answer_ || !answer_->sentence) return;
    if (answer_->picture && pictures_.of_picture != answer_->picture->serial.value()) {
        pictures_.values = Texture::of_values(answer_->picture->levels);
        pictures_.row_largest = Texture::of_values({&answer_->picture->row_largest, 1});
        pictures_.of_picture = answer_->picture->serial.value();
    }
    const SentenceResult& s = *answer_->sentence;
    if (pictures_.of_sentence == s.serial.value() || s.heads.empty()) return;
    const int count = static_cast<int>(s.heads.size()), across = s.model->config.max_heads(),
              down = (count + across - 1) / across;
    int t = static_cast<int>(s.heads[0].thumbnail.rows());
    while (t > 1 && std::max(down, across) * t > Texture::most_side()) t = (t + 1) / 2;
    Matrix atlas = Matrix::Zero(down * t, across * t);
    pictures_.largest = 1e-6f;
    for (int i = 0; i < count; ++i) {
        Matrix thumbnail = s.heads[static_cast<size_t>(i)].thumbnail;
        while (thumbnail.rows() > t) thumbnail = halve(thumbnail);
        atlas.block(Index{i / across} * t, Index{i % across} * t, t, t) = thumbnail;
        pictures_.largest = std::max(pictures_.largest, thumbnail.maxCoeff());
    }
    pictures_.atlas = Texture::of_values({&atlas, 1});
    pictures_.t = t;
    pictures_.of_sentence = s.serial.value();
    if (const auto& picture = s.trace->request.inputs[0].picture)
        pictures_.photo =
            Texture::of_rgb(picture->image.width, picture->image.height, picture->image.rgb.data());
}

void Application::reload_shaders() {
    if (options_.shader_dir.empty()) return;
    fs::file_time_type newest{};
    std::error_code ignored;
    for (const auto& file : fs::directory_iterator(options_.shader_dir, ignored))
        newest = std::max(newest, fs::last_write_time(file, ignored));
    if (newest == shader_time_) return;
    shader_time_ = newest;
    const Status done = heat_->reload();
    session_.notice = done ? "Shaders reloaded." : done.error().message;
}

/// How far what is shown fades: what is still being computed after a while, and what cannot be computed, are

/// of an older text.
float Application::dim() const {
    const bool late = worker_->busy() && asked_at_ > 0 && glfwGetTime() - asked_at_ > kDimAfter;
    const bool failed = answer_ && !answer_->failure.empty() && answer_->sentence &&
                        answer_->sentence->text != fields_.sentence.text();
    return late || failed ? 0.4f : 0.0f;
}

void Application::draw_frame() {
    if (scale() != loaded_scale_) load_fonts();
    style_imgui();
    update_pictures();
    ImGui_ImplOpenGL3_NewFrame();
    ImGui_ImplGlfw_NewFrame();
    ImGui::NewFrame();
    if (ImGui::IsMouseReleased(0)) session_.preferences.hints_seen = true;
    const ImVec2 size = ImGui::GetIO().DisplaySize;
    heat_->begin_frame(size);
    text_.begin_frame();
    ui_->begin(theme(session_.preferences.dark), loaded_scale_);
    ImGui::SetNextWindowPos({0, 0});
    ImGui::SetNextWindowSize(size);
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {0, 0});
    ImGui::Begin("window", nullptr,
                 ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoBackground | ImGuiWindowFlags_NoMove |
                     ImGuiWindowFlags_NoBringToFrontOnFocus | ImGuiWindowFlags_NoNav |
                     ImGuiWindowFlags_NoScrollWithMouse);
    ImGui::PopStyleVar();
    ui_->use_list(ImGui::GetWindowDrawList());
    Scene scene = make_scene(drawn_dim_ = dim());
    const Hovered pointed = session_.selection.hovered;
    draw_parts(scene, {0, 0, size.x, size.y});
    if (!session_.selection.hover_fresh) session_.selection.hovered.cell.reset();
    if (pointed != session_.selection.hovered) frames_wanted_ = std::max(frames_wanted_, 1);
    draw_hints(scene, {0, 0, size.x, size.y});
    ImGui::End();
    draw_menus(scene, {0, 0, size.x, size.y});
    ui_->draw_focus();
    handle_enter();
    ImGui::Render();
    glViewport(0, 0, static_cast<GLsizei>(size.x), static_cast<GLsizei>(size.y));
    const ImVec4 clear = as_vec4(theme(session_.preferences.dark).bg1);
    glClearColor(clear.x, clear.y, clear.z, 1);
    glClear(GL_COLOR_BUFFER_BIT);
    ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
    ++frames_drawn_;
}

/// A frame that throws is given up, and the notice says why; an error where frame after frame does.
Status Application::draw_safely() {
    constexpr int kMaxFailures = 3;
    const Status drawn = guarded([this] {
        draw_frame();
        return success();
    });
    if (drawn) {
        frames_failed_ = 0;
        return drawn;
    }
    ImGui::ErrorCheckEndFrameRecover(nullptr);
    ImGui::EndFrame();
    session_.notice = drawn.error().message;
    frames_wanted_ = std::max(frames_wanted_, 1);
    return ++frames_failed_ < kMaxFailures ? success() : drawn;
}

bool Application::settled() const {
    return answer_ && !worker_->busy() && !worker_->opening() &&
           (!answer_->sweep || answer_->sweep->ended()) && !previewing_.valid() &&
           (!session_.model_menu || session_.of<ModelMenu>().found_all) && frames_drawn_ > 4 &&
           frames_wanted_ <= 0 &&
           (!answer_->sentence || !answer_->sentence->trace || answer_->cell || !answer_->picture);
}

/// What is thrown on the window's own thread ends it with a sentence; what a person did is remembered all the

/// same, and its workspace is left for the next start to offer.
Status Application::run() {
    const Status ended = guarded([this] { return draw_until_closed(); });
    if (!ended && options_.screenshot.empty())
        static_cast<void>(guarded([this] {
            finish_remembering();
            return success();
        }));
    return ended;
}

Status Application::draw_until_closed() {
    const double deadline = glfwGetTime() + 120;
    while (!glfwWindowShouldClose(window_) && !(end_signals_ && end_signals_->received())) {
        see_to_remembering();
        wait_for_events();
        take_answer();
        reload_shaders();
        finish_saving();
        update_preview();
        if (!session_.document.workspace_wanted.empty())
            open_workspace_file(std::exchange(session_.document.workspace_wanted, ""));
        look_for_models();
        if (worker_->opening()) frames_wanted_ = std::max(frames_wanted_, 1);
        if (frames_wanted_ <= 0) continue;
        --frames_wanted_;
        save_clock_.touch(glfwGetTime());
        handle_keys();
        ask_worker();
        wait_for_answer();
        const double begin = glfwGetTime();
        TRY_STATUS(draw_safely());
        if (!session_.document.label_edits.empty() && remembers()) write_labels();
        ask_worker();
        if (!options_.screenshot.empty()) {
            if (settled() && !take_answer()) return take_screenshot();
            if (glfwGetTime() > deadline)
                return Error{
                    "The window did not settle within two minutes; try a smaller model or a shorter text."};
            frames_wanted_ = std::max(frames_wanted_, worker_->busy() || frames_drawn_ < 5 ? 1 : 0);
            continue;
        }
        glfwSwapBuffers(window_);
        if (first_picture_ == 0 && pictures_.of_picture) {
            glFinish();
            first_picture_ = glfwGetTime();
        }
        if (options_.frames && settled() && !take_answer()) return measure_frames();
        if (options_.frames)
            frames_wanted_ = std::max(frames_wanted_, worker_->busy() || frames_drawn_ < 5 ? 1 : 0);
        const bool shown = answer_ && answer_->sentence &&
                           answer_->sentence->text == fields_.sentence.text() && !worker_->busy();
        if (key_at_ > 0 && shown) {
            glFinish();
            latencies_.push_back(glfwGetTime() - key_at_);
            answers_.push_back(std::max(0.0, answer_at_ - key_at_));
            key_at_ = 0;
        }
        if (!options_.report.empty()) {
            glFinish();
            frame_times_.push_back(glfwGetTime() - begin);
            write_report();
        }
    }
    glfwHideWindow(window_);  // closed at once, whatever still ends behind it
    finish_remembering();
    if (recovery_) recovery_->end();
    return success();
}

}  // namespace headlight
