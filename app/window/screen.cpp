#include "window/screen.h"

#include <GLFW/glfw3.h>
#include <backends/imgui_impl_glfw.h>
#include <backends/imgui_impl_opengl3.h>
#include <imgui_internal.h>

#include <cmath>

#include "base/utf8.h"
#include "panels/present.h"
#include "session/commands/keys.h"
#include "window/icon.h"

namespace headlight {

namespace {

std::string& glfw_message() {
    static std::string message;
    return message;
}

/// Asks the layout at each press: it may change while the window is open.
int meant_key_of(int key, int scancode) {
    const char* name = glfwGetKeyName(key, scancode);
    std::string all;
    for (int k = GLFW_KEY_APOSTROPHE; k <= GLFW_KEY_WORLD_2; ++k)
        if (const char* other = glfwGetKeyScancode(k) > 0 ? glfwGetKeyName(k, 0) : nullptr;
            other && !other[1])
            all += other[0];
    return meant_key(key, name ? name : "", all);
}

WindowState& state_of(GLFWwindow* window) {
    return *static_cast<WindowState*>(glfwGetWindowUserPointer(window));
}

struct WindowSize {
    int wide = 0, high = 0;
};
constexpr WindowSize kFirstSize{1600, 1000}, kMinSize{1024, 640};  // points

/// Window units per point: the display's scale if units are pixels, else 1.
float units_per_point(GLFWwindow* window, double asked) {
    float scale = float(asked), down = 1;
    if (scale <= 0) glfwGetWindowContentScale(window, &scale, &down);
    int units = 0, pixels = 0, high = 0;
    glfwGetWindowSize(window, &units, &high);
    glfwGetFramebufferSize(window, &pixels, &high);
    return pixels > 0 ? scale * float(units) / float(pixels) : scale;
}

/// The largest window that fits the screen.
WindowSize screen_room() {
    WindowSize room{1 << 20, 1 << 20};
    int x = 0, y = 0;
    if (GLFWmonitor* monitor = glfwGetPrimaryMonitor())
        glfwGetMonitorWorkarea(monitor, &x, &y, &room.wide, &room.high);
    return room;
}

/// Whether enough of a window at this position is on a screen to see and move it.
bool can_be_seen(int x, int y, int wide) {
    constexpr int kLeast = 100;
    int count = 0;
    GLFWmonitor** monitors = glfwGetMonitors(&count);
    for (int i = 0; i < count; ++i) {
        int left = 0, top = 0, room_wide = 0, room_high = 0;
        glfwGetMonitorWorkarea(monitors[i], &left, &top, &room_wide, &room_high);
        const int seen = std::min(x + wide, left + room_wide) - std::max(x, left);
        if (seen >= kLeast && y >= top && y + kLeast <= top + room_high) return true;
    }
    return false;
}

/// Redraws: something happened to the window.
WindowState& touched(GLFWwindow* window) {
    WindowState& state = state_of(window);
    state.frames_wanted = 3;
    return state;
}

/// Marks the picture of the window as lost.
void expose(GLFWwindow* window) { touched(window).exposed = true; }

}  // namespace

Status Screen::start() {
    glfwSetErrorCallback([](int, const char* message) { glfw_message() = message; });
    if (glfwInit()) return success();
    return Error{"There is no display to open a window on (" + glfw_message() +
                 "); 'headlight render' draws figures without one, and 'xvfb-run headlight --screenshot "
                 "FILE.png' draws the window."};
}

Status Screen::open() {
    glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3);
    glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 3);
    glfwWindowHint(GLFW_OPENGL_PROFILE, GLFW_OPENGL_CORE_PROFILE);
    glfwWindowHint(GLFW_OPENGL_FORWARD_COMPAT, GLFW_TRUE);
    glfwWindowHint(GLFW_VISIBLE, GLFW_FALSE);                // until it has its size
    glfwWindowHintString(GLFW_X11_CLASS_NAME, "headlight");  // must match headlight.desktop
    glfwWindowHintString(GLFW_X11_INSTANCE_NAME, "headlight");
    const Preferences& p = state_.session.preferences;
    const auto [wide, high] = p.window_width > 0 ? WindowSize{p.window_width, p.window_height} : kFirstSize;
    state_.window = window_ = glfwCreateWindow(wide, high, "Headlight", nullptr, nullptr);
    if (!state_.window)
        return Error{"A window with OpenGL 3.3 cannot be opened (" + glfw_message() +
                     "); update the graphics driver or set LIBGL_ALWAYS_SOFTWARE=1, or use 'headlight "
                     "render', which needs neither."};
    fit_size();
    place();
    set_window_icon(state_.window);
    if (state_.options.screenshot.empty()) glfwShowWindow(state_.window);
    glfwMakeContextCurrent(state_.window);
    glfwSwapInterval(
        0);  // frames are drawn only on changes: waiting for the screen would only delay the next key
    const auto* renderer = reinterpret_cast<const char*>(glGetString(GL_RENDERER));
    const std::string_view name = renderer ? renderer : "";
    state_.software = name.find("llvmpipe") != name.npos || name.find("softpipe") != name.npos;
    return success();
}

/// The first and minimum sizes are points and fit the screen; a requested size is used as given.
void Screen::fit_size() {
    const float unit = units_per_point(window_, state_.options.scale);
    const auto in_units = [&](WindowSize points) {
        const WindowSize room = screen_room();
        return WindowSize{std::min(int(std::lround(float(points.wide) * unit)), room.wide),
                          std::min(int(std::lround(float(points.high) * unit)), room.high)};
    };
    WindowSize min = in_units(kMinSize), size = in_units(kFirstSize);
    const Preferences& p = state_.session.preferences;
    if (p.window_width > 0) size = {p.window_width, p.window_height};
    if (state_.options.width > 0) {
        min = {std::min(min.wide, size.wide), std::min(min.high, size.high)};
    } else {
        const WindowSize room = screen_room();
        size = {std::min(std::max(size.wide, min.wide), room.wide),
                std::min(std::max(size.high, min.high), room.high)};
    }
    glfwSetWindowSizeLimits(window_, min.wide, min.high, GLFW_DONT_CARE, GLFW_DONT_CARE);
    glfwSetWindowSize(window_, size.wide, size.high);
}

/// Restores the last position, unless that screen is gone or a size was requested; restores the maximized
/// state.
void Screen::place() {
    const Preferences& p = state_.session.preferences;
    if (state_.options.width > 0 || !state_.options.screenshot.empty()) return;
    if (p.window_placed && can_be_seen(p.window_x, p.window_y, p.window_width))
        glfwSetWindowPos(window_, p.window_x, p.window_y);
    if (p.window_maximized) glfwMaximizeWindow(window_);
}

Status Screen::prepare() {
    ImGui::CreateContext();
    ImGui::GetIO().IniFilename = nullptr;
    install_callbacks();
    ImGui_ImplGlfw_InitForOpenGL(state_.window, true);
    install_key_callback();
    key_gate_.install(state_.window);
    ImGui_ImplOpenGL3_Init("#version 330");
    TRY(auto heat, HeatmapRenderer::create(state_.options.shader_dir));
    state_.heat = std::make_unique<HeatmapRenderer>(std::move(heat));
    state_.ui = std::make_unique<Ui>(state_.text, state_.heat.get());
    state_.ui->notes_unexplained = !state_.options.report.empty();
    if (state_.software) state_.ui->draw_by_processor();
    return success();
}

Screen::~Screen() {
    if (ImGui::GetCurrentContext()) {
        if (ImGui::GetIO().BackendRendererUserData) ImGui_ImplOpenGL3_Shutdown();
        if (ImGui::GetIO().BackendPlatformUserData) ImGui_ImplGlfw_Shutdown();
        ImGui::DestroyContext();
    }
    if (window_) glfwDestroyWindow(window_);
    glfwTerminate();
}

void Screen::wait(std::optional<double> seconds) {
    if (!seconds)
        glfwWaitEvents();
    else if (*seconds > 0)
        glfwWaitEventsTimeout(*seconds);
    else
        glfwPollEvents();
    key_gate_.let_pass();
    if (state_.thrown) std::rethrow_exception(std::exchange(state_.thrown, nullptr));
}

/// Calls f() and keeps its exception from passing GLFW's C frames: Screen::wait throws it again.
template <class F>
void kept_from_c(WindowState& state, F&& f) {
    try {
        f();
    } catch (...) {
        state.thrown = std::current_exception();
    }
}

/// Our callbacks come first; Dear ImGui's, installed later, call them.
void Screen::install_callbacks() {
    GLFWwindow* window = state_.window;
    glfwSetWindowUserPointer(window, &state_);
    glfwSetCharCallback(window, [](GLFWwindow* w, unsigned c) {
        WindowState& state = state_of(w);
        kept_from_c(state, [&] {
            std::string text;
            append_utf8(text, c);
            state.input.add_text(text, state.pointer.changes());
        });
        state.want_frames(ImGui::GetIO().WantTextInput ? 3
                                                       : 1);  // an input method's text comes without a key
    });
    glfwSetDropCallback(window, [](GLFWwindow* w, int count, const char** paths) {
        WindowState& state = touched(w);
        kept_from_c(state, [&] {
            for (int i = 0; i < count; ++i) state.input.dropped.emplace_back(paths[i]);
        });
    });
    glfwSetCursorPosCallback(window, [](GLFWwindow* w, double x, double y) {
        WindowState& state = state_of(w);
        kept_from_c(state, [&] { state.pointer.move(x, y); });
        state.want_frames(2);  // one frame finds what is hovered, one shows its highlights
    });
    glfwSetMouseButtonCallback(window, [](GLFWwindow* w, int button, int action, int) {
        WindowState& state = touched(w);
        kept_from_c(state, [&] { state.pointer.press(button, action != GLFW_RELEASE); });
    });
    glfwSetScrollCallback(window, [](GLFWwindow* w, double, double) { touched(w); });
    glfwSetFramebufferSizeCallback(window, [](GLFWwindow* w, int, int) { expose(w); });
    glfwSetWindowPosCallback(window, [](GLFWwindow* w, int, int) { state_of(w).moved = true; });
    glfwSetWindowSizeCallback(window, [](GLFWwindow* w, int, int) { state_of(w).moved = true; });
    glfwSetWindowRefreshCallback(window, [](GLFWwindow* w) { expose(w); });
    glfwSetWindowFocusCallback(window, [](GLFWwindow* w, int) { touched(w); });
    glfwSetCursorEnterCallback(window, [](GLFWwindow* w, int) { touched(w); });
    glfwSetWindowContentScaleCallback(window, [](GLFWwindow* w, float, float) { expose(w); });
}

/// Handles keys before the frame, so that one frame shows their effect, unless Dear ImGui's own field takes
/// them: our callback calls Dear ImGui's with the key that the layout means.
void Screen::install_key_callback() {
    glfwSetKeyCallback(state_.window, [](GLFWwindow* w, int place, int scancode, int action, int mods) {
        WindowState& state = state_of(w);
        const int key = meant_key_of(place, scancode);
        ImGui_ImplGlfw_KeyCallback(w, IMGUI_VERSION_NUM < 18700 ? key : place, scancode, action,
                                   mods);  // later versions translate the key themselves
        if (action == GLFW_RELEASE) return;
        state.want_frames(ImGui::GetIO().WantTextInput ? 3 : 1);
        if (state.key_at == 0) state.key_at = glfwGetTime();
        const auto held = [mods](int modifier) { return (mods & modifier) != 0; };
        kept_from_c(state, [&] {
            state.input.keys.push_back({key,
                                        held(GLFW_MOD_CONTROL),
                                        held(GLFW_MOD_SHIFT),
                                        held(GLFW_MOD_ALT),
                                        {},
                                        state.pointer.changes()});
        });
    });
}

float Screen::wanted_scale() const {
    float display = float(state_.options.scale), y = 1;
    if (display <= 0) glfwGetWindowContentScale(state_.window, &display, &y);
    const float text = state_.session.preferences.text_size;
    return display * (state_.session.presenting ? std::max(text, kPresentScale) : text);
}

void Screen::load_fonts() {
    loaded_scale_ = wanted_scale();
    state_.text.load(loaded_scale_);
    ImGui_ImplOpenGL3_DestroyFontsTexture();
    ImGui_ImplOpenGL3_CreateFontsTexture();
}

void Screen::begin_frame() {
    if (wanted_scale() != loaded_scale_) load_fonts();
    style_imgui();
}

void Screen::style_imgui() const {
    const Theme& t = theme(state_.session.preferences.dark);
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

}  // namespace headlight
