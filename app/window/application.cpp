#include "window/application.h"

#include <GLFW/glfw3.h>
#include <sys/resource.h>

#include <cstdio>
#include <thread>
#include <utility>

#include "base/check.h"
#include "hub/adapted.h"
#include "hub/library.h"
#include "model/engine.h"
#include "panels/lesson/lesson.h"
#include "panels/save_menu.h"
#include "session/examples.h"
#include "session/file_kind.h"
#include "session/samples.h"
#include "session/step_names.h"
#include "session/workspace.h"
#include "views/views.h"
#include "window/commands.h"

namespace headlight {

namespace {

constexpr float kDimAfter = 0.1f;
constexpr double kPatience = 0.016;

/// Prepends --head and --lock as commands before those of --do.
std::string first_commands(const WindowOptions& o) {
    std::string out;
    if (!o.head.empty()) out += "head \"" + o.head + "\"; ";
    if (!o.lock.empty()) out += "rank weight; lock \"" + o.lock + "\"; ";
    return out + o.commands;
}

}  // namespace

Application::Application(const WindowOptions& options)
    : screen_(state_),
      state_(options),
      worker_link_(state_),
      exporter_(state_),
      fetcher_(state_),
      autosave_(state_),
      lesson_keeper_(state_),
      host_(state_, worker_link_, exporter_, autosave_),
      palette_(state_, host_),
      keyboard_(state_, host_, palette_, [this](const CommandLine& line) { try_to_act(line); }),
      frame_(state_, screen_, palette_),
      slide_pictures_(state_, frame_),
      slide_saver_(state_, exporter_, host_),
      harness_(state_, frame_, worker_link_, exporter_, fetcher_, palette_) {}

Result<std::unique_ptr<Application>> Application::create(const WindowOptions& options) {
    auto app = std::unique_ptr<Application>(new Application(options));
    TRY_STATUS(app->open());
    return app;
}

Status Application::open() {
    TRY(auto lines, parse_commands(commands(), first_commands(state_.options)));
    harness_.give(std::move(lines));
    TRY_STATUS(screen_.start());
    autosave_.begin();
    TRY_STATUS(apply_options());
    worker_link_.show_texts();
    autosave_.offer_left();
    if (state_.remembers()) end_signals_ = std::make_unique<EndSignals>([] { glfwPostEmptyEvent(); });
    TRY_STATUS(screen_.open());
    TRY_STATUS(start_worker());
    worker_link_.ask();  // opens the model while fonts load
    TRY_STATUS(screen_.prepare());
    frame_.prepare();
    return success();
}

/// Lowers the priority of computing threads when the CPU draws: on Linux a thread inherits the priority of
/// its creator.
Status Application::start_worker() {
    const int threads = state_.options.threads ? state_.options.threads : default_thread_count();
    const auto start = [&, max_side = Texture::most_side()] {
#if defined(__linux__)
        constexpr int kBehindDrawing = 10;
        if (state_.software) setpriority(PRIO_PROCESS, 0, kBehindDrawing);
#endif
        state_.worker = std::make_unique<Worker>(
            threads, [] { glfwPostEmptyEvent(); }, max_side);
        return success();
    };
    return guarded([&] {
        Status started = success();
        std::thread([&] { started = guarded(start); }).join();
        return started;
    });
}

/// Ends threads before the things that they wake.
Application::~Application() {
    end_signals_.reset();
    exporter_.close();
    fetcher_.close();
    state_.worker.reset();
    worker_link_.close();
}

/// Opens the file named on the command line as a drop would. A file that needs a model waits until one is
/// open.
Status Application::take_file() {
    WindowOptions& o = state_.options;
    const FileKind kind = o.file.empty() ? FileKind::model : kind_of_file(o.file);
    if (kind == FileKind::lesson) {
        if (o.text || !o.model.empty() || !o.second.empty())
            return Error{
                "A lesson brings its own model and sentence; leave out --model, --text and the like."};
        return start_lesson(state_.session, o.file);
    }
    if (kind == FileKind::workspace) {
        TRY(state_.session, open_workspace(o.file, std::move(state_.session)));
    } else if (kind == FileKind::model) {
        if (!o.file.empty()) o.model = o.file;
    } else {
        file_to_drop_ = o.file;
    }
    return success();
}

Status Application::apply_options() {
    WindowOptions& o = state_.options;
    Session& session = state_.session;
    Document& d = session.document;
    Selection& s = session.selection;
    Preferences& p = session.preferences;
    TRY_STATUS(take_file());
    TRY(o.model, with_adapter(o.model, o.adapter));
    const bool anew = o.text || !o.model.empty(), first = !anew && o.file.empty() && !p.hints_seen;
    if (!o.model.empty()) d.wanted.path = model_key(o.model);
    if (o.text)
        d.text = *o.text;
    else if (first && d.text.empty())
        begin_with_story(session);
    if (names_picture(d.text)) d.picture = d.text;
    if (!o.second.empty()) d.second = o.second;
    if (anew) {
        s.choose_head = true;
        s.head_chosen = false;
        s.unlock();
        d.changes().mask = "own";
        d.changes().changes.clear();
        d.changes().forced.clear();
    }
    open_named_view(session, o.view.empty() ? s.view_name : o.view);
    if (o.hints || (first && o.screenshot.empty())) session.guide = Guide::hints;
    p.hints_seen = true;
    if (!o.theme.empty()) p.dark = o.theme == "dark";
    if (o.width) std::tie(p.window_width, p.window_height) = std::pair{o.width, o.height};
    if (o.open_menu == "models") session.sheet = Sheet::models;
    if (o.open_menu == "settings") session.sheet = Sheet::settings;
    if (o.open_menu == "keys") session.sheet = Sheet::help;
    if (o.open_menu == "palette") session.sheet = Sheet::palette;
    if (o.open_menu == "save") open_save_menu(session, nullptr, false);
    return success();
}

Status Application::act(const CommandLine& line) {
    CommandContext context{state_.session, state_.answer.get(), host_};
    state_.want_frames(1);
    return carry_out(line, context);
}

void Application::try_to_act(const CommandLine& line) {
    if (const Status done = act(line); !done) state_.session.notice = done.error().message;
}

void Application::carry_out_sent() {
    CommandContext context{state_.session, state_.answer.get(), host_};
    if (const Status done = go_on(context); !done) state_.session.notice = done.error().message;
    for (const SentCommand& sent : std::exchange(state_.sent, {})) {
        const Command& command = command_named(commands(), sent.name);
        const char* why_not = command.missing(context);
        state_.session.document.same_step = sent.joins;
        if (!why_not || *why_not) try_to_act({&command, sent.words});  // else its target is gone
        state_.session.document.same_step = false;
    }
}

/// Closes the window if the model that opened first lacks the view of --view.
Status Application::check_view() {
    if (view_checked_ || !state_.sentence()) return success();
    view_checked_ = true;
    const View* view = find_view(state_.options.view);
    if (!view) return success();
    const CommandContext context{state_.session, state_.answer.get(), host_};
    const char* why_not = command_named(commands(), std::string("view ") + view->key).missing(context);
    refused_ = why_not && *why_not;
    return refused_ ? Status(Error{std::string("--view ") + view->key + ": " + why_not}) : success();
}

/// Closes the window when a command of --do fails.
Status Application::carry_out_given() {
    const CommandLine* line = harness_.next_command();
    if (!line) return success();
    harness_.take_command();
    Status done = act(*line);
    refused_ = !done;
    return done;
}

void Application::wait_for_events() {
    if (dim() != state_.dim) state_.want_frames(1);
    if (state_.frames_wanted > 0 || !state_.input.dropped.empty()) return screen_.wait(0);
    double wait = state_.ui->wake_after;
    if (state_.worker->busy() && dim() == 0) wait = kDimAfter;
    if (exporter_.busy() || worker_link_.looks_for_models()) wait = 0.05;
    if (state_.worker->opening() || fetcher_.busy() || (state_.answer && state_.answer->measures()) ||
        (state_.sentence() && !fetching_of(state_.sentence()->model.get()).empty()))
        wait = 0.1;
    if (!state_.options.shader_dir.empty() && wait == 0) wait = 0.5;
    const auto save = autosave_.seconds_to_update();
    if (save && (wait == 0 || *save < wait)) return screen_.wait(std::max(*save, 1e-3));
    if (wait == 0) return screen_.wait(std::nullopt);
    screen_.wait(wait);
    state_.want_frames(1);
}

void Application::handle_keys() {
    keyboard_.handle();
    worker_link_.note_typing();
}

/// Waits briefly for new numbers after a key press, to avoid drawing twice.
void Application::wait_for_answer() {
    const auto rest = [this] { return worker_link_.asked_at() + kPatience - glfwGetTime(); };
    while (worker_link_.awaits_text() && rest() > 0) {
        const bool last_look =
            !state_.worker->busy();  // checked before taking: an answer that arrives in between is taken
        if (worker_link_.take_answer()) continue;
        if (last_look) return;
        screen_.wait(std::max(rest(), 1e-4));
        if (state_.input.keys.empty()) continue;
        handle_keys();
        worker_link_.ask();
    }
}

/// Fade of the old answer: after a while of computing, or on an error, the screen shows an older text.
float Application::dim() const {
    const double asked = worker_link_.asked_at();
    const bool late = state_.worker->busy() && asked > 0 && glfwGetTime() - asked > kDimAfter;
    const bool failed = state_.sentence() && !state_.answer->failure.empty() &&
                        state_.sentence()->text != state_.fields.sentence.text();
    return late || failed ? 0.4f : 0.0f;
}

/// Handles what happened since the last turn.
void Application::update() {
    autosave_.update();
    wait_for_events();
    if (std::exchange(state_.moved, false)) autosave_.note_window();
    worker_link_.take_answer();
    lesson_keeper_.update();
    if (!file_to_drop_.empty() && state_.sentence())
        state_.input.dropped.push_back(std::exchange(file_to_drop_, {}));
    frame_.reload_shaders();
    exporter_.update();
    slide_saver_.update();
    fetcher_.update();
    worker_link_.look_for_models();
    if (state_.worker->opening()) state_.want_frames(1);
}

/// Handles events, answers, keys, draws a frame, and runs the commands that its controls sent. Returns
/// whether the harness is done.
Result<bool> Application::turn() {
    update();
    if (state_.frames_wanted <= 0) return false;
    --state_.frames_wanted;
    autosave_.touch(glfwGetTime());
    handle_keys();
    worker_link_.ask();
    wait_for_answer();
    state_.dim = dim();
    const double began = glfwGetTime();
    slide_pictures_.update();
    frame_.draw();
    carry_out_sent();
    TRY_STATUS(check_view());
    TRY_STATUS(carry_out_given());
    name_steps(state_.session, state_.answer ? state_.answer->sentence.get() : nullptr);
    autosave_.write_labels();
    worker_link_.ask();
    if (state_.options.screenshot.empty()) frame_.present();
    return harness_.after_frame(began);
}

Result<bool> Application::turn_safely() {
    return barrier_.pass([this] { return turn(); },
                         [this](const std::string& why) {
                             frame_.give_up();
                             state_.session.notice = why;
                             state_.want_frames(1);
                         });
}

bool Application::closing() const {
    return glfwWindowShouldClose(state_.window) || (end_signals_ && end_signals_->received());
}

Status Application::draw_until_closed() {
    while (!closing()) {
        TRY(const bool done, turn_safely());
        if (done) return success();
    }
    autosave_.note_window();
    glfwHideWindow(state_.window);  // at once, even if threads still end
    lesson_keeper_.finish();
    autosave_.finish();
    autosave_.end(end_signals_ && end_signals_->received());
    return success();
}

Status Application::run() {
    Status ended = guarded([this] { return draw_until_closed(); });
    if (!ended && state_.options.screenshot.empty())
        static_cast<void>(guarded([this] {
            lesson_keeper_.finish();
            autosave_.finish();
            return success();
        }));
    return ended;
}

}  // namespace headlight
