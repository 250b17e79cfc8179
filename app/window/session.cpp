
// What is open and what is asked of the worker; what is remembered of it.

#include <GLFW/glfw3.h>

#include <algorithm>

#include "base/quoted.h"
#include "base/utf8.h"
#include "session/workspace.h"
#include "views/changes.h"
#include "views/menus.h"
#include "views/save_menu.h"
#include "views/views.h"
#include "window/application.h"
#include "window/beside.h"

namespace headlight {

namespace fs = std::filesystem;

namespace {
constexpr const char* kFirstSentence = "Lily had a red ball. Tom had a blue ball. Lily gave Tom the red";
}  // namespace

Status Application::apply_options() {
    const bool for_picture = !options_.screenshot.empty();
    if (remembers()) recovery_.emplace(recovery_folder());
    const bool starts_well = !recovery_ || !recovery_->left() ||
                             recovery_->left()->shown;  // else what was open may be what ended it
    if (!options_.settings.empty())
        session_ = load_settings(options_.settings, false, true, view_visits());
    else if (!for_picture)
        session_ = load_settings(settings_path(), true, starts_well, view_visits());
    session_.visits = view_visits();
    if (remembers()) begin_remembering(session_);
    if (!options_.file.empty() && is_workspace(options_.file)) {
        TRY(session_, open_workspace(options_.file, std::move(session_)));
    } else if (!options_.file.empty()) {
        options_.model = options_.file;
    }
    if (!options_.model.empty()) {
        session_.document.model_path = options_.model;
        session_.selection.choose_head = true;
        session_.document.changes_wait = false;
    }
    if (options_.text) {
        session_.document.text = *options_.text;
        session_.selection.choose_head = true;
        session_.document.changes_wait = false;
    } else if (session_.document.text.empty() && !session_.preferences.hints_seen) {
        session_.document.text = kFirstSentence;
    }
    if (!options_.second.empty()) session_.document.second = options_.second;
    if (!options_.view.empty()) session_.selection.view_name = options_.view;
    open_named_view(session_, session_.selection.view_name);
    if (options_.text || !options_.model.empty()) session_.selection.locked.reset();
    if (for_picture) session_.preferences.hints_seen = true;
    if (options_.hints) session_.preferences.hints_seen = false;
    if (!options_.theme.empty()) session_.preferences.dark = options_.theme == "dark";
    if (options_.width) {
        session_.preferences.window_width = options_.width;
        session_.preferences.window_height = options_.height;
    }
    if (std::sscanf(options_.head.c_str(), "%d.%d", &session_.selection.block, &session_.selection.head) == 2)
        session_.selection.choose_head = false;
    int query = 0, key = 0;
    if (std::sscanf(options_.lock.c_str(), "%d,%d", &query, &key) == 2 && query >= 0 && key >= 0) {
        session_.selection.locked = std::pair{query, key};
        session_.preferences.rank = kRankByCell;
    }
    session_.model_menu = options_.open_menu == "models";
    session_.settings_menu = options_.open_menu == "settings";
    session_.help = options_.open_menu == "keys";
    if (options_.open_menu == "save") open_save_menu(session_, false);
    show_texts();
    offer_left_workspace();
    return success();
}

/// Puts the texts of the state into the fields.
void Application::show_texts() {
    fields_.sentence.set_text(valid_utf8(session_.document.text));
    fields_.second.set_text(valid_utf8(session_.document.second));
    written_target_.clear();
    fields_.other.set_text(valid_utf8(session_.document.comparison.text));
    fields_.focus(fields_.sentence);
    last_text_ = typed_text();
}

std::string Application::typed_text() const { return fields_.sentence.text() + '\n' + typed_second(); }

std::string Application::typed_second() const { return fields_.second.typed(); }

/// What the model wrote stands in the second field, until the person types there.
void Application::show_written() {
    const SentenceResult* s = answer_->sentence.get();
    if (!s || !typed_second().empty()) return;
    const bool target =
        s->model->config.kind == ModelKind::encoder_decoder && s->written && s->second.empty();
    const std::string text = target ? s->written->text : "";
    const bool stands = text == written_target_ && (text.empty() || fields_.second.shows());
    const bool emptying = fields_.second.focused && fields_.second.text().empty();  // to type something else
    if (stands || emptying) return;
    written_target_ = text;
    fields_.second.show(text, fields_.second.focused);  // its beginning is seen
}

GenerationAsked Application::writing_asked() {
    const std::string now = session_.document.model_path + '\n' + fields_.sentence.text();
    if (session_.document.generation.forced_for != now) {
        session_.document.generation.forced_for = now;
        session_.document.generation.unforce();
        session_.document.generation.playing = false;
    }
    GenerationAsked asked{{session_.document.generation.decoding, session_.document.generation.length,
                           session_.document.generation.forced},
                          session_.document.generation.bar,
                          session_.document.generation.step};
    asked.wanted.length =
        std::max(asked.wanted.length, static_cast<int>(session_.document.generation.forced.size()));
    return asked;
}

bool Application::take_answer() {
    auto fresh = worker_->poll();
    if (!fresh) return false;
    const bool opened =
        fresh->sentence && fresh->model_error.empty() &&
        (!answer_ || !answer_->sentence || answer_->sentence->model != fresh->sentence->model);
    const bool failed =
        !fresh->model_error.empty() && (!answer_ || answer_->model_attempt != fresh->model_attempt ||
                                        answer_->model_error != fresh->model_error);
    if (answer_ && !answer_->failure.empty() && fresh->failure.empty() && session_.notice == answer_->failure)
        session_.notice.clear();
    const bool newly_failed = !fresh->failure.empty() &&
                              (!answer_ || answer_->failure != fresh->failure || session_.notice.empty());
    answer_ = std::move(fresh);
    if (key_at_ > 0 && answer_->sentence && answer_->sentence->text == fields_.sentence.text() &&
        answer_at_ < key_at_)
        answer_at_ = glfwGetTime();
    if (opened) {
        session_.document.intervention = {};
        session_.document.history.forget_interventions();
        session_.document.sweeping = false;
        if (session_.document.changes_wait) restore_changes(session_, answer_->sentence->model->config);
        if (session_.model_menu && options_.open_menu.empty()) session_.model_menu = false;
        session_.of<ModelMenu>().path.clear();
        auto& recent = session_.preferences.recent_models;
        recent.erase(std::remove(recent.begin(), recent.end(), answer_->model_path), recent.end());
        if (answer_->model_path.find('/') != std::string::npos)
            recent.insert(recent.begin(), answer_->model_path);
        if (recent.size() > 8) recent.resize(8);
    }
    if (failed) session_.model_menu = true;
    if (newly_failed) session_.notice = answer_->failure;
    if (session_.selection.choose_head && answer_->sentence && answer_->sentence->trace) {
        session_.selection.block = answer_->block;
        session_.selection.head = answer_->head;
        session_.selection.choose_head = false;
    }
    if (answer_->sentence) fit_head(session_.selection, answer_->sentence->model->config);
    show_written();
    frames_wanted_ = std::max(frames_wanted_, 1);
    return true;
}

bool reads_two_texts(const ModelConfig& config) {
    return config.kind == ModelKind::encoder || config.kind == ModelKind::encoder_decoder;
}

void Application::ask_worker() {
    const SentenceResult* shown = answer_ ? answer_->sentence.get() : nullptr;
    const std::string second = shown && !reads_two_texts(shown->model->config) ? "" : typed_second();
    WorkRequest r{session_.document.model_path,
                  session_.document.model_attempt,
                  fields_.sentence.text(),
                  second,
                  writing_asked(),
                  session_.selection.block,
                  session_.selection.head,
                  session_.selection.focused(),
                  session_.selection.choose_head,
                  session_.document.intervention,
                  {},
                  {},
                  {},
                  session_.preferences.drop_sink};
    if (shown && shown->trace && answer_->picture) {
        const View& view = views()[view_for(session_, *shown->model)];
        const Scene scene = make_scene();
        if (view.ask) r.questions = view.ask(scene);
        for (Question& question : ask_about_changes(scene)) r.questions.push_back(std::move(question));
        if (std::string_view(view.key) == "compare") r.other = other_run();
        if (session_.document.sweeping) r.sweep = session_.document.sweep_token;
    }
    if (!r.cell && shown && answer_->picture && shown->trace && answer_->picture->block == r.block &&
        answer_->picture->head == r.head)
        r.cell = make_scene().shown_cell();
    if (r == asked_ && asked_at_ > 0) return;
    asked_ = r;
    asked_at_ = glfwGetTime();
    worker_->ask(std::move(r));
}

/// What Compare puts beside the run that is shown, where that is another run.
std::optional<OtherRun> Application::other_run() const {
    if (session_.document.comparison.what == Compared::sentences)
        return OtherRun{"", 0, fields_.other.text()};
    if (session_.document.comparison.what == Compared::models && !session_.document.comparison.model.empty())
        return OtherRun{session_.document.comparison.model, session_.document.comparison.attempt,
                        fields_.sentence.text()};
    return std::nullopt;
}

/// Lists the models of other programs when the menu is opened for the first time.
void Application::look_for_models() {
    if (session_.model_menu && !session_.of<ModelMenu>().found_all && !looking_.valid()) {
        looking_ = beside([]() -> Result<std::vector<FoundModel> > { return models_on_computer(); });
    }
    if (!looking_.valid() || looking_.wait_for(std::chrono::seconds(0)) != std::future_status::ready) return;
    auto found = looking_.get();
    if (found)
        session_.of<ModelMenu>().found = *std::move(found);
    else
        session_.notice = found.error().message;
    session_.of<ModelMenu>().found_all = true;
    frames_wanted_ = std::max(frames_wanted_, 1);
}

/// Writes what stands elsewhere into the state, so that it can be saved.
void Application::note_state() {
    session_.document.text = fields_.sentence.text();
    session_.document.second = typed_second();
    session_.document.comparison.text = fields_.other.text();
    if (session_.selection.view) session_.selection.view_name = views()[*session_.selection.view].key;
    if (answer_ && answer_->sentence && !session_.document.changes_wait)
        note_changes(session_.document, answer_->sentence->model->config);
}

/// What was open stays where the file cannot be used.
void Application::open_workspace_file(const std::string& path) {
    note_state();
    auto opened = open_workspace(path, session_);
    if (!opened) {
        session_.notice = opened.error().message;
        return;
    }
    const bool same_model = opened->document.model_path == session_.document.model_path,
               was_left = path == session_.document.left_workspace;
    session_ = *std::move(opened);
    session_.model_menu = false;
    session_.of<ModelMenu>().path.clear();
    session_.notice = was_left ? "Opened the workspace of the window that did not close properly."
                               : "Opened " + fs::path(path).filename().string() + ".";
    if (was_left) session_.document.workspace.clear();
    session_.document.left_unwanted |= was_left;
    open_named_view(session_, session_.selection.view_name);
    show_texts();
    session_.document.history.clear();
    const bool failed = answer_ && !answer_->model_error.empty();
    if (!same_model || failed)
        return choose_model(session_, session_.document.model_path, ++session_.document.attempts);
    const bool is_open = answer_ && answer_->sentence &&
                         answer_->model_path == session_.document.model_path &&
                         answer_->model_attempt == session_.document.model_attempt;
    if (is_open)
        restore_changes(session_, answer_->sentence->model->config);  // else take_answer() does, when it is
}

}  // namespace headlight
