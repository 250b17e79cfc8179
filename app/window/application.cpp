#include "window/application.h"

#include <GLFW/glfw3.h>
#include <sys/resource.h>

#include <cstdio>
#include <thread>
#include <utility>

#include "base/check.h"
#include "hub/library.h"
#include "panels/save_menu.h"
#include "session/examples.h"
#include "session/file_kind.h"
#include "session/samples.h"
#include "session/workspace.h"
#include "views/views.h"
#include "window/commands.h"

namespace headlight {

namespace {

constexpr float kDimAfter = 0.1f;
constexpr double kPatience = 0.016;

/// --head and --lock are the commands of their names, before those of --do.
std::string first_commands(const WindowOptions& o) {
    std::string out;
    if (!o.head.empty()) out += "head \"" + o.head + "\"; ";
    if (!o.lock.empty()) out += "rank weight; lock \"" + o.lock + "\"; ";
    return out + o.commands;
}

}  // namespace

Application::Application(const WindowOptions& options)
    : screen_(desk_),
      desk_(options),
      worker_link_(desk_),
      exporter_(desk_),
      fetcher_(desk_),
      autosave_(desk_),
      host_(desk_, worker_link_, exporter_, autosave_),
      palette_(desk_, host_),
      keyboard_(desk_, host_, palette_, [this](const CommandLine& line) { try_to_act(line); }),
      frame_(desk_, screen_, palette_),
      harness_(desk_, frame_, worker_link_, exporter_, fetcher_, palette_) {}

Result<std::unique_ptr<Application>> Application::create(const WindowOptions& options) {
    auto app = std::unique_ptr<Application>(new Application(options));
    TRY_STATUS(app->open());
    return app;
}

Status Application::open() {
    TRY(auto lines, parse_commands(commands(), first_commands(desk_.options)));
    harness_.give(std::move(lines));
    TRY_STATUS(screen_.start());
    autosave_.begin();
    TRY_STATUS(apply_options());
    worker_link_.show_texts();
    autosave_.offer_left();
    if (desk_.remembers()) end_signals_ = std::make_unique<EndSignals>([] { glfwPostEmptyEvent(); });
    TRY_STATUS(screen_.open());
    TRY_STATUS(start_worker());
    worker_link_.ask();  // the model opens while the fonts load
    TRY_STATUS(screen_.prepare());
    frame_.prepare();
    return success();
}

/// Where the processor draws, what computes leaves it to what draws: on Linux a thread begins with the
/// priority of the one that starts it.
Status Application::start_worker() {
    const int threads = desk_.options.threads ? desk_.options.threads : default_thread_count();
    const auto start = [&, max_side = Texture::most_side()] {
#if defined(__linux__)
        constexpr int kBehindDrawing = 10;
        if (desk_.software) setpriority(PRIO_PROCESS, 0, kBehindDrawing);
#endif
        desk_.worker = std::make_unique<Worker>(
            threads, [] { glfwPostEmptyEvent(); }, max_side);
        return success();
    };
    return guarded([&] {
        Status started = success();
        std::thread([&] { started = guarded(start); }).join();
        return started;
    });
}

/// What threads do ends before what they wake.
Application::~Application() {
    end_signals_.reset();
    exporter_.close();
    fetcher_.close();
    desk_.worker.reset();
    worker_link_.close();
}

/// The file that was named beside the program's name: what a drop of it would open. What needs a model waits
/// until one is open.
Status Application::take_file() {
    WindowOptions& o = desk_.options;
    const FileKind kind = o.file.empty() ? FileKind::model : kind_of_file(o.file);
    if (kind == FileKind::workspace) {
        TRY(desk_.session, open_workspace(o.file, std::move(desk_.session)));
    } else if (kind == FileKind::model) {
        if (!o.file.empty()) o.model = o.file;
    } else {
        file_to_drop_ = o.file;
    }
    return success();
}

Status Application::apply_options() {
    WindowOptions& o = desk_.options;
    Session& session = desk_.session;
    Document& d = session.document;
    Selection& s = session.selection;
    Preferences& p = session.preferences;
    TRY_STATUS(take_file());
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
    if (o.open_menu == "save") open_save_menu(session, false);
    return success();
}

Status Application::act(const CommandLine& line) {
    CommandContext context{desk_.session, desk_.answer.get(), host_};
    desk_.want_frames(1);
    return carry_out(line, context);
}

void Application::try_to_act(const CommandLine& line) {
    if (const Status done = act(line); !done) desk_.session.notice = done.error().message;
}

void Application::carry_out_sent() {
    CommandContext context{desk_.session, desk_.answer.get(), host_};
    if (const Status done = go_on(context); !done) desk_.session.notice = done.error().message;
    for (const SentCommand& sent : std::exchange(desk_.sent, {})) {
        const Command& command = command_named(commands(), sent.name);
        const char* why_not = command.missing(context);
        desk_.session.document.same_step = sent.joins;
        if (!why_not || *why_not) try_to_act({&command, sent.words});  // else what it is about is over
        desk_.session.document.same_step = false;
    }
}

/// A command of --do that cannot be carried out ends the window.
Status Application::carry_out_given() {
    const CommandLine* line = harness_.next_command();
    if (!line) return success();
    harness_.take_command();
    Status done = act(*line);
    refused_ = !done;
    return done;
}

void Application::wait_for_events() {
    if (dim() != desk_.dim) desk_.want_frames(1);
    if (desk_.frames_wanted > 0 || !desk_.input.dropped.empty()) return screen_.wait(0);
    double wait = desk_.ui->wake_after;
    if (desk_.worker->busy() && dim() == 0) wait = kDimAfter;
    if (exporter_.busy() || worker_link_.looks_for_models()) wait = 0.05;
    if (desk_.worker->opening() || fetcher_.busy() || (desk_.answer && desk_.answer->measures())) wait = 0.1;
    if (!desk_.options.shader_dir.empty() && wait == 0) wait = 0.5;
    const auto save = autosave_.seconds_to_update();
    if (save && (wait == 0 || *save < wait)) return screen_.wait(std::max(*save, 1e-3));
    if (wait == 0) return screen_.wait(std::nullopt);
    screen_.wait(wait);
    desk_.want_frames(1);
}

void Application::handle_keys() {
    keyboard_.handle();
    worker_link_.note_typing();
}

/// After a key press the next frame waits an instant for the new numbers, so that it need not be drawn twice.
void Application::wait_for_answer() {
    const auto rest = [this] { return worker_link_.asked_at() + kPatience - glfwGetTime(); };
    while (worker_link_.awaits_text() && rest() > 0) {
        const bool last_look =
            !desk_.worker->busy();  // asked before looking: an answer that came in between is seen
        if (worker_link_.take_answer()) continue;
        if (last_look) return;
        screen_.wait(std::max(rest(), 1e-4));
        if (desk_.input.keys.empty()) continue;
        handle_keys();
        worker_link_.ask();
    }
}

/// How far what is shown fades: what is still being computed after a while, and what cannot be computed, are
/// of an older text.
float Application::dim() const {
    const double asked = worker_link_.asked_at();
    const bool late = desk_.worker->busy() && asked > 0 && glfwGetTime() - asked > kDimAfter;
    const bool failed = desk_.sentence() && !desk_.answer->failure.empty() &&
                        desk_.sentence()->text != desk_.fields.sentence.text();
    return late || failed ? 0.4f : 0.0f;
}

/// What has happened since the last turn.
void Application::update() {
    autosave_.update();
    wait_for_events();
    if (std::exchange(desk_.moved, false)) autosave_.note_window();
    worker_link_.take_answer();
    if (!file_to_drop_.empty() && desk_.sentence())
        desk_.input.dropped.push_back(std::exchange(file_to_drop_, {}));
    frame_.reload_shaders();
    exporter_.update();
    fetcher_.update();
    worker_link_.look_for_models();
    if (desk_.worker->opening()) desk_.want_frames(1);
}

/// Events, answers, keys, a frame, and what the frame's controls sent. Returns whether the harness is done.
Result<bool> Application::turn() {
    update();
    if (desk_.frames_wanted <= 0) return false;
    --desk_.frames_wanted;
    autosave_.touch(glfwGetTime());
    handle_keys();
    worker_link_.ask();
    wait_for_answer();
    desk_.dim = dim();
    const double began = glfwGetTime();
    frame_.draw();
    carry_out_sent();
    TRY_STATUS(carry_out_given());
    autosave_.write_labels();
    worker_link_.ask();
    if (desk_.options.screenshot.empty()) frame_.present();
    return harness_.after_frame(began);
}

Result<bool> Application::turn_safely() {
    return barrier_.pass([this] { return turn(); },
                         [this](const std::string& why) {
                             frame_.give_up();
                             desk_.session.notice = why;
                             desk_.want_frames(1);
                         });
}

bool Application::closing() const {
    return glfwWindowShouldClose(desk_.window) || (end_signals_ && end_signals_->received());
}

Status Application::draw_until_closed() {
    while (!closing()) {
        TRY(const bool done, turn_safely());
        if (done) return success();
    }
    autosave_.note_window();
    glfwHideWindow(desk_.window);  // closed at once, whatever still ends behind it
    autosave_.finish();
    autosave_.end(end_signals_ && end_signals_->received());
    return success();
}

Status Application::run() {
    Status ended = guarded([this] { return draw_until_closed(); });
    if (!ended && desk_.options.screenshot.empty())
        static_cast<void>(guarded([this] {
            autosave_.finish();
            return success();
        }));
    return ended;
}

}  // namespace headlight
