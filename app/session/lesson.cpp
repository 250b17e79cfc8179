#include "session/lesson.h"

#include <unistd.h>

#include <algorithm>
#include <ctime>

#include "base/quoted.h"
#include "hub/library.h"
#include "session/adopt.h"
#include "session/settings.h"
#include "session/workspace.h"

namespace headlight {

namespace fs = std::filesystem;

namespace {

std::string utc_now() {
    const std::time_t now = std::time(nullptr);
    std::tm utc{};
    gmtime_r(&now, &utc);
    char text[32];
    std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
    return text;
}

bool is_built_in(const std::string& name) { return lessons::find_built_in_lesson(name) != nullptr; }

/// Whether a new file can be made in a folder.
bool is_writable(const fs::path& folder) { return access(folder.empty() ? "." : folder.c_str(), W_OK) == 0; }

/// The folder for results of lessons that lie where nothing can be written, and of built-in ones.
fs::path results_folder() { return settings_path().parent_path() / "lessons"; }

/// Where the results of a lesson belong: beside it, else in that folder.
fs::path place_of_results(const std::string& name) {
    if (is_built_in(name)) return results_folder() / (name + ".results.json");
    std::error_code ignored;
    const fs::path beside = lessons::results_path(fs::absolute(name, ignored));
    const bool there = fs::exists(beside, ignored);
    if (there ? access(beside.c_str(), W_OK) == 0 : is_writable(beside.parent_path())) return beside;
    return results_folder() / beside.filename();
}

/// Reads earlier results, or starts over; never writes over a file that it could not read.
void find_results(const std::string& name, LessonState& state) {
    const lessons::Lesson& lesson = *state.lesson;
    state.results = lessons::no_results(lesson);
    state.results.began = utc_now();
    state.saved_in = place_of_results(name);
    std::error_code ignored;
    const bool aside = !is_built_in(name) && state.saved_in.parent_path() == results_folder();
    const std::string file = state.saved_in.filename().string();
    state.saving = aside ? "The lesson’s folder cannot be written: saved in " + state.saved_in.string()
                         : "Saved in " + file;
    if (!fs::exists(state.saved_in, ignored)) return;
    auto read = lessons::open_results(state.saved_in, lesson);
    if (read) {
        state.results = *std::move(read);
        return;
    }
    state.saved_in.clear();
    state.saving = "Not saved: " + read.error().message;
}

/// A lesson names a built-in model, one by path, or one in its own folder.
std::string model_of(const lessons::Lesson& lesson, const std::string& file) {
    std::error_code ignored;
    const fs::path path = lesson.model;
    if (is_built_in(file) || path.is_absolute()) return model_key(lesson.model);
    const fs::path there = fs::absolute(fs::path(file).parent_path() / path, ignored);
    return model_key(fs::exists(there, ignored) ? there.string() : lesson.model);
}

}  // namespace

Result<lessons::Lesson> find_lesson(const std::string& name) {
    if (const auto* built_in = lessons::find_built_in_lesson(name)) return built_in->lesson;
    return lessons::open_lesson(name);
}

std::optional<lessons::Results> known_results(const std::string& name, const lessons::Lesson& lesson) {
    auto read = lessons::open_results(place_of_results(name), lesson);
    return read ? std::optional(*std::move(read)) : std::nullopt;
}

Result<Session> begin_lesson(const Session& session, const std::string& name) {
    TRY(lessons::Lesson lesson, find_lesson(name));
    LessonState state;
    state.before = session.of<LessonState>().before;  // of the lesson from which this one was opened
    if (!open_lesson_of(session)) {
        TRY(const Json document, workspace_document(session));
        state.before = json_text(document);
    }
    state.name = is_built_in(name) ? name : fs::path(name).filename().string();
    state.lesson = std::make_shared<const lessons::Lesson>(std::move(lesson));
    find_results(name, state);
    Session out = without_document(session);
    Document& d = out.document;
    d.wanted.path = model_of(*state.lesson, name);
    d.text = state.lesson->text;
    d.second = state.lesson->second;
    out.selection.view_name = state.lesson->view;
    out.selection.view.reset();
    out.selection.choose_head = true;
    out.selection.head_chosen = false;
    out.guide = Guide::none;
    out.preferences.change_bar = false;
    out.of<LessonState>() = std::move(state);
    open_task(out, nullptr, out.of<LessonState>().results.current);
    return out;
}

Result<Session> leave_lesson(const Session& session) {
    TRY(Session out, parse_workspace(session.of<LessonState>().before, "The workspace", session));
    out.of<LessonState>() = {};
    return out;
}

Session without_lesson(Session session) {
    if (!open_lesson_of(session)) return session;
    auto left = leave_lesson(session);
    return left ? *std::move(left) : std::move(session);
}

void open_task(Session& session, const ModelConfig* config, int number) {
    LessonState& state = session.of<LessonState>();
    state.results.current = std::clamp(number, 0, state.tasks() - 1);
    state.answer.clear();
    state.revealed = state.result().done;
    const lessons::Task& task = state.task();
    if (!task.view.empty()) {
        session.selection.view_name = task.view;
        session.selection.view.reset();
    }
    session.selection.unlock();
    state.placed = false;
    if (config) choose_task_head(session, *config);
}

void choose_task_head(Session& session, const ModelConfig& config) {
    LessonState& state = session.of<LessonState>();
    state.placed = true;
    const std::string& named = state.task().head;
    if (named.empty()) return;
    if (const auto head = parse_head(config, named, "head"))
        session.selection.choose(head->block, head->head);
}

std::optional<lessons::JudgeRequest> judge_request(const Session& session) {
    const LessonState* state = open_lesson_of(session);
    if (!state) return std::nullopt;
    return lessons::JudgeRequest{state->task(), state->answer, session.document.text, state->lesson->text};
}

bool covers_view(const LessonState& state) {
    return state.task().kind == lessons::TaskKind::look && !state.revealed && state.answer.empty();
}

bool sentence_locked(const Session& session) {
    const LessonState* state = open_lesson_of(session);
    return state && state->lesson->locks.sentence && state->task().kind != lessons::TaskKind::answer;
}

bool model_locked(const Session& session) {
    const LessonState* state = open_lesson_of(session);
    return state && state->lesson->locks.model;
}

bool interventions_locked(const Session& session) {
    const LessonState* state = open_lesson_of(session);
    return state && state->lesson->locks.interventions;
}

bool view_locked(const Session& session, std::string_view key) {
    const LessonState* state = open_lesson_of(session);
    if (!state) return false;
    const auto& views = state->lesson->locks.views;
    return std::find(views.begin(), views.end(), key) != views.end();
}

void write_results(LessonState& state) {
    state.changed = false;
    if (state.saved_in.empty()) return;
    state.results.continued = utc_now();
    std::error_code ignored;
    fs::create_directories(state.saved_in.parent_path(), ignored);
    const Status written = lessons::save_results(state.saved_in, state.results);
    if (!written) state.saving = "Not saved: " + written.error().message;
}

}  // namespace headlight
