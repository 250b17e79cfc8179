// The window's life: one GLFW window, one frame after each change, nothing in between.
#pragma once

#include <future>
#include <memory>
#include <optional>
#include <tuple>

#include "model/library.h"
#include "session/end_signals.h"
#include "session/file_dialog.h"
#include "session/recovery.h"
#include "session/saver.h"
#include "session/session.h"
#include "session/worker.h"
#include "views/page.h"
#include "window/key_gate.h"
#include "window/window.h"

struct GLFWwindow;

namespace headlight {

class Application {
public:
    /// Opens the window, or says what is missing: a display, OpenGL 3.3.
    static Result<std::unique_ptr<Application>> create(const WindowOptions& options);
    ~Application();

    Status run();

private:
    explicit Application(const WindowOptions& options) : options_(options) {}

    Status open_window();
    Status draw_until_closed();
    void install_callbacks();
    void install_key_callback();
    Status apply_options();
    void show_texts();
    std::string typed_text() const;
    std::string typed_second() const;
    void show_written();
    GenerationAsked writing_asked();
    bool aligns() const;
    void note_state();
    Session remembered_state();
    bool remembers() const { return options_.screenshot.empty() && options_.frames == 0; }
    void begin_remembering(const Session& found);
    void offer_left_workspace();
    void see_to_remembering();
    void write_labels();
    void save_now();
    std::optional<double> seconds_to_remembering() const;
    Status tell_of_saving();
    void finish_remembering();
    void open_workspace_file(const std::string& path);
    std::optional<OtherRun> other_run() const;
    std::vector<TextField*> shown_fields();
    float scale() const;
    void load_fonts();
    void style_imgui() const;

    void wait_for_events();
    bool take_answer();
    void wait_for_answer();
    void ask_worker();
    int meant_key_of(int key, int scancode) const;
    void handle_keys();
    void handle_key(bool hinting);
    void handle_escape(bool hinting);
    void handle_outside_text();
    void handle_text();
    bool types_path() const;
    void handle_choices();
    void handle_enter();
    void move_focus(int by);
    void handle_focus();
    void open_dropped(const std::string& path);
    void look_for_models();
    Scene make_scene(float dim = 0);
    void move_head(int layers, int heads);
    void move_cell(int down, int across);
    void copy_numbers();
    ViewPage page_to_save() const;
    void save_picture();
    void update_preview();
    void save_workspace_file();
    bool settle_save_path();
    void ask_for_path();
    void finish_saving();
    void draw_frame();
    Status draw_safely();
    void draw_parts(Scene& scene, Rect window);
    void update_pictures();
    void reload_shaders();
    float dim() const;

    bool settled() const;
    Status take_screenshot();
    Status measure_frames();
    void write_report();

    WindowOptions options_;
    std::unique_ptr<EndSignals> end_signals_;
    std::optional<Recovery> recovery_;
    std::unique_ptr<Saver> saver_;
    std::optional<Saver::Snapshot> saved_;  // the last one that was handed over
    SaveClock save_clock_;
    bool saving_settings_ = false;  // until it is known how that went
    std::string save_error_;        // said already
    double shown_since_ = 0;        // when a picture was first seen
    GLFWwindow* window_ = nullptr;
    Session session_;
    Fields fields_;
    Input input_;
    KeyGate key_gate_;
    TextPainter text_;
    std::unique_ptr<HeatmapRenderer> heat_;
    std::unique_ptr<Ui> ui_;
    std::unique_ptr<Worker> worker_;
    std::shared_ptr<const WorkAnswer> answer_;
    Pictures pictures_;
    Texture colors_;
    std::string colors_key_;
    WorkRequest asked_;
    double asked_at_ = 0;   // when the last change was handed to the worker
    float drawn_dim_ = 0;   // how far the last frame faded what is old
    double key_at_ = 0;     // when the oldest key press not yet on the screen came
    double answer_at_ = 0;  // when the answer to that press arrived
    std::vector<double> answers_,
        latencies_;                    // seconds from key press to the numbers, and to the finished frame
    std::vector<double> frame_times_;  // seconds of each frame drawn, while a report is written
    std::future<Status> saving_;
    std::string saving_path_;
    FileDialog dialog_;
    std::future<Result<RgbImage>> previewing_;
    std::optional<std::tuple<FigureStyle, std::shared_ptr<const WorkAnswer>, size_t, std::pair<int, int>>>
        previewed_;
    std::future<Result<std::vector<FoundModel>>>
        looking_;  // for models on this computer, while the menu is open
    std::filesystem::file_time_type shader_time_{};
    float loaded_scale_ = 0;
    int frames_wanted_ = 3;                     // Dear ImGui needs a frame to notice, one to react
    int frames_drawn_ = 0, frames_failed_ = 0;  // failed: one after another
    int fields_waited_ = 0;  // frames in which an open path field had not taken the keyboard yet
    bool entered_ =
        false;  // Enter was pressed while a path is typed; acts after the frame that takes the last letters
    double first_picture_ = 0;  // seconds from the start to the first frame with a heat map on it
    std::string last_text_;
    std::string written_target_;  // what the model wrote for the second field
};

/// Whether the window shows a second text: a second sentence, or a target.
bool reads_two_texts(const ModelConfig& config);

}  // namespace headlight
