// What is open and what is asked of the worker; what is remembered of it.
#include <GLFW/glfw3.h>

#include <algorithm>

#include "base/quoted.h"
#include "base/utf8.h"
#include "session/workspace.h"
#include "views/changes.h"
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
        state_ = load_settings(options_.settings, false);
    else if (!for_picture)
        state_ = load_settings(settings_path(), true, starts_well);
    if (remembers()) begin_remembering(state_);
    if (!options_.file.empty() && is_workspace(options_.file)) {
        TRY(state_, open_workspace(options_.file, std::move(state_)));
    } else if (!options_.file.empty()) {
        options_.model = options_.file;
    }
    if (!options_.model.empty()) {
        state_.model_path = options_.model;
        state_.choose_head = true;
        state_.changes_wait = false;
    }
    if (options_.text_option->count()) {
        state_.text = options_.text;
        state_.choose_head = true;
        state_.changes_wait = false;
    } else if (state_.text.empty() && !state_.hints_seen) {
        state_.text = kFirstSentence;
    }
    if (!options_.second.empty()) state_.second = options_.second;
    if (!options_.view.empty()) state_.view_name = options_.view;
    open_named_view(state_, state_.view_name);
    if (options_.text_option->count() || !options_.model.empty()) state_.locked.reset();
    if (for_picture) state_.hints_seen = true;
    if (options_.hints) state_.hints_seen = false;
    if (!options_.theme.empty()) state_.dark = options_.theme == "dark";
    if (options_.width) {
        state_.window_width = options_.width;
        state_.window_height = options_.height;
    }
    if (std::sscanf(options_.head.c_str(), "%d.%d", &state_.site, &state_.head) == 2)
        state_.choose_head = false;
    int query = 0, key = 0;
    if (std::sscanf(options_.lock.c_str(), "%d,%d", &query, &key) == 2 && query >= 0 && key >= 0) {
        state_.locked = std::pair{query, key};
        state_.rank = kRankByCell;
    }
    state_.model_menu = options_.open_menu == "models";
    state_.settings_menu = options_.open_menu == "settings";
    state_.help = options_.open_menu == "keys";
    if (options_.open_menu == "save") open_save_menu(state_, false);
    show_texts();
    offer_left_workspace();
    return success();
}

/// Puts the texts of the state into the fields.
void Application::show_texts() {
    fields_.sentence.set_text(valid_utf8(state_.text));
    fields_.second.set_text(valid_utf8(state_.second));
    written_target_.clear();
    fields_.other.set_text(valid_utf8(state_.other_text));
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

WritingAsked Application::writing_asked() {
    const std::string now = state_.model_path + '\n' + fields_.sentence.text();
    if (state_.forced_for != now) {
        state_.forced_for = now;
        state_.unforce();
        state_.playing = false;
    }
    WritingAsked asked{
        {state_.decoding, state_.written_length, state_.forced}, state_.writing_bar, state_.step};
    asked.wanted.length = std::max(asked.wanted.length, static_cast<int>(state_.forced.size()));
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
    if (answer_ && !answer_->failure.empty() && fresh->failure.empty() && state_.notice == answer_->failure)
        state_.notice.clear();
    const bool newly_failed =
        !fresh->failure.empty() && (!answer_ || answer_->failure != fresh->failure || state_.notice.empty());
    answer_ = std::move(fresh);
    if (key_at_ > 0 && answer_->sentence && answer_->sentence->text == fields_.sentence.text() &&
        answer_at_ < key_at_)
        answer_at_ = glfwGetTime();
    if (opened) {
        state_.intervention = {};
        state_.history.forget_interventions();
        state_.sweeping = false;
        if (state_.changes_wait) restore_changes(state_, answer_->sentence->model->config);
        if (state_.model_menu && options_.open_menu.empty()) state_.model_menu = false;
        state_.path_typed.clear();
        auto& recent = state_.recent_models;
        recent.erase(std::remove(recent.begin(), recent.end(), answer_->model_path), recent.end());
        if (answer_->model_path.find('/') != std::string::npos)
            recent.insert(recent.begin(), answer_->model_path);
        if (recent.size() > 8) recent.resize(8);
    }
    if (failed) state_.model_menu = true;
    if (newly_failed) state_.notice = answer_->failure;
    if (state_.choose_head && answer_->sentence && answer_->sentence->trace) {
        state_.site = answer_->site;
        state_.head = answer_->head;
        state_.choose_head = false;
    }
    if (answer_->sentence) fit_head(state_, answer_->sentence->model->config);
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
    WorkRequest r{state_.model_path,
                  state_.model_attempt,
                  fields_.sentence.text(),
                  second,
                  writing_asked(),
                  state_.site,
                  state_.head,
                  state_.focused(),
                  state_.choose_head,
                  state_.intervention,
                  {},
                  {},
                  {},
                  state_.drop_sink};
    if (shown && shown->trace && answer_->picture) {
        const View& view = views()[view_for(state_, *shown->model)];
        const Scene scene = make_scene();
        if (view.ask) r.questions = view.ask(scene);
        for (Question& question : ask_about_changes(scene)) r.questions.push_back(std::move(question));
        if (std::string_view(view.key) == "compare") r.other = other_run();
        if (state_.sweeping) r.sweep = state_.sweep_token;
    }
    if (!r.cell && shown && answer_->picture && shown->trace && answer_->picture->site == r.site &&
        answer_->picture->head == r.head)
        r.cell = make_scene().shown_cell();
    if (r == asked_ && asked_at_ > 0) return;
    asked_ = r;
    asked_at_ = glfwGetTime();
    worker_->ask(std::move(r));
}

/// What Compare puts beside the run that is shown, where that is another run.
std::optional<OtherRun> Application::other_run() const {
    if (state_.compared_what == Compared::sentences) return OtherRun{"", 0, fields_.other.text()};
    if (state_.compared_what == Compared::models && !state_.other_model.empty())
        return OtherRun{state_.other_model, state_.other_attempt, fields_.sentence.text()};
    return std::nullopt;
}

/// Lists the models of other programs when the menu is opened for the first time.
void Application::look_for_models() {
    if (state_.model_menu && !state_.found_all && !looking_.valid()) {
        looking_ = beside([]() -> Result<std::vector<FoundModel>> { return models_on_computer(); });
    }
    if (!looking_.valid() || looking_.wait_for(std::chrono::seconds(0)) != std::future_status::ready) return;
    auto found = looking_.get();
    if (found)
        state_.found = *std::move(found);
    else
        state_.notice = found.error().message;
    state_.found_all = true;
    frames_wanted_ = std::max(frames_wanted_, 1);
}

/// Writes what stands elsewhere into the state, so that it can be saved.
void Application::note_state() {
    state_.text = fields_.sentence.text();
    state_.second = typed_second();
    state_.other_text = fields_.other.text();
    if (state_.view) state_.view_name = views()[*state_.view].key;
    if (answer_ && answer_->sentence && !state_.changes_wait)
        note_changes(state_, answer_->sentence->model->config);
}

/// What was open stays where the file cannot be used.
void Application::open_workspace_file(const std::string& path) {
    note_state();
    auto opened = open_workspace(path, state_);
    if (!opened) {
        state_.notice = opened.error().message;
        return;
    }
    const bool same_model = opened->model_path == state_.model_path, was_left = path == state_.left_workspace;
    state_ = *std::move(opened);
    state_.model_menu = false;
    state_.path_typed.clear();
    state_.notice = was_left ? "Opened the workspace of the window that did not close properly."
                             : "Opened " + fs::path(path).filename().string() + ".";
    if (was_left) state_.workspace.clear();
    state_.left_unwanted |= was_left;
    open_named_view(state_, state_.view_name);
    show_texts();
    state_.history.clear();
    const bool failed = answer_ && !answer_->model_error.empty();
    if (!same_model || failed) return choose_model(state_, state_.model_path, ++state_.attempts);
    const bool is_open = answer_ && answer_->sentence && answer_->model_path == state_.model_path &&
                         answer_->model_attempt == state_.model_attempt;
    if (is_open)
        restore_changes(state_, answer_->sentence->model->config);  // else take_answer() does, when it is
}

}  // namespace headlight
