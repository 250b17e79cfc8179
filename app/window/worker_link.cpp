#include "window/worker_link.h"

#include <GLFW/glfw3.h>

#include <algorithm>

#include "panels/head_list.h"
#include "panels/menus.h"
#include "panels/panels.h"
#include "panels/token_chips.h"
#include "parts/controls.h"
#include "parts/head_tags.h"
#include "parts/interventions.h"
#include "parts/metric.h"
#include "parts/result.h"
#include "session/adopt.h"
#include "session/conversation.h"
#include "session/lesson.h"
#include "session/work/requests.h"
#include "session/workspace.h"
#include "views/views.h"
#include "window/background_task.h"
#include "window/texts.h"

namespace headlight {

void note_state(WindowState& state) {
    note_texts(state.session.document, state.fields);
    Selection& s = state.session.selection;
    if (s.view) s.view_name = views()[*s.view].key;
}

void WorkerLink::show_texts() {
    headlight::show_texts(state_.session.document, state_.fields);
    written_target_.clear();
    last_text_ = state_.typed_text();
    state_.session.of<ChipsState>() = {};
}

void WorkerLink::note_typing() {
    Selection& selection = state_.session.selection;
    if (state_.typed_text() != last_text_) {
        last_text_ = state_.typed_text();
        state_.session.notice.clear();
        selection.unlock();
        state_.session.of<ChipsState>() = {};
    }
    const auto cell = std::exchange(selection.lock_in_text, std::nullopt);
    if (cell && selection.text_to_lock == state_.fields.sentence.text()) selection.locked = cell;
    if (state_.fields.take_shortened())
        state_.session.notice =
            "A text holds at most 400,000 bytes; the rest of the pasted text was dropped.";
}

/// Shows what the model generated in the second field, until you type there.
void WorkerLink::show_written() {
    const SentenceResult* s = state_.sentence();
    if (!s || !state_.typed_second().empty()) return;
    TextField& second = state_.fields.second;
    const bool target = s->model->config.can.write_target && s->written && s->second.empty();
    const std::string text = target ? s->written->text : "";
    const bool stands = text == written_target_ && (text.empty() || second.shows());
    const bool emptying = second.focused && second.text().empty();  // to type something else
    if (stands || emptying) return;
    written_target_ = text;
    second.show(text, second.focused);  // scrolled to its beginning
}

bool WorkerLink::awaits_text() const {
    const SentenceResult* s = state_.sentence();
    const std::string& image = state_.session.document.picture;
    return s &&
           (s->text != state_.fields.sentence.text() || s->chat_asked != chat_read(state_.session.document) ||
            (reads_two_texts(s->model->config) && s->second != state_.typed_second()) ||
            (s->model->config.can.add_image && s->image != image));
}

WorkRequest WorkerLink::wanted() {
    note_texts(state_.session.document, state_.fields);
    const Session& session = state_.session;
    WorkRequest r = request_of(state_.session, state_.sentence());
    if (!state_.sentence()) return r;
    const Scene scene = state_.scene();
    const View& view = shown_view(session, *state_.sentence()->model);
    for (const View& one : views())
        if (one.jobs)
            for (JobRequest& job : one.jobs(scene, &one == &view)) r.jobs.push_back(std::move(job));
    for (JobRequest& job : head_tag_jobs(scene, !view.fills_window())) r.jobs.push_back(std::move(job));
    if (!state_.shown() && view.of_model) r.questions = view.ask(scene);
    if (!state_.shown() || !state_.answer->picture) return r;
    if (view.ask) r.questions = view.ask(scene);
    for (Question& question : ask_about_metric(scene)) r.questions.push_back(std::move(question));
    for (Question& question : ask_about_changes(scene)) r.questions.push_back(std::move(question));
    for (Question& question : ask_about_ranking(scene)) r.questions.push_back(std::move(question));
    if (auto task = judge_request(session)) r.questions.push_back(*std::move(task));
    if (view.group && !session.selection.hovered.preview)
        r.group = view.group(session, state_.sentence()->model->config);
    if (view.second_run) r.other = other_run(session.document);
    r.cell_tokens = scene.of<InspectorState>().open && (!view.beside.inspect || view.beside.tells_cell);
    if (r.cell_tokens)
        for (JobRequest& job : inspector_jobs(scene)) r.jobs.push_back(std::move(job));
    const auto& picture = *state_.answer->picture;
    if (!r.cell && picture.block == r.block && picture.head == r.head) r.cell = scene.shown_cell();
    return r;
}

void WorkerLink::ask() {
    WorkRequest r = wanted();
    if (r == asked_ && asked_at_ > 0) return;
    asked_ = r;
    asked_at_ = glfwGetTime();
    state_.worker->ask(std::move(r));
}

bool WorkerLink::take_answer() {
    const auto fresh = state_.worker->poll();
    if (!fresh) return false;
    Session& session = state_.session;
    note_texts(session.document, state_.fields);
    const auto before = std::exchange(state_.answer, fresh);
    if (state_.sentence() && show_text_of(session.document, state_.fields, *state_.sentence()->model))
        last_text_ = state_.typed_text();
    if (state_.key_at > 0 && fresh->sentence && fresh->sentence->text == state_.fields.sentence.text() &&
        answered_at_ < state_.key_at)
        answered_at_ = glfwGetTime();
    if (take_in(session, before.get(), *fresh)) {
        if (session.shows(Sheet::models) && state_.options.open_menu.empty()) session.sheet.reset();
        session.of<ModelMenu>().path.clear();
    }
    show_written();
    state_.want_frames(1);
    return true;
}

void WorkerLink::look_for_models() {
    ModelMenu& menu = state_.session.of<ModelMenu>();
    const bool open = state_.session.shows(Sheet::models) || state_.session.shows(Sheet::compared_models);
    if (open && !menu.found_all && !looking_.valid())
        looking_ = in_background([]() -> Result<std::vector<FoundModel>> {
            auto found = models_on_computer();
            for (FoundModel& m : found) m.path = model_key(m.path.string());
            return found;
        });
    if (!looking_.valid() || looking_.wait_for(std::chrono::seconds(0)) != std::future_status::ready) return;
    auto found = looking_.get();
    if (found)
        menu.found = *std::move(found);
    else
        state_.session.notice = found.error().message;
    menu.found_all = true;
    state_.want_frames(1);
}

bool WorkerLink::open_workspace_file(const std::string& path) {
    note_state(state_);
    Session& session = state_.session;
    auto opened = open_workspace(path, session);
    if (!opened) {
        session.notice = opened.error().message;
        return false;
    }
    adopt(session, &*opened, Adopted::document, state_.sentence() ? state_.sentence()->model.get() : nullptr);
    session.of<ModelMenu>().path.clear();
    if (session.notice.empty())
        session.notice = "Opened " + std::filesystem::path(path).filename().string() + ".";
    open_named_view(session, session.selection.view_name);
    show_texts();
    state_.fields.focus(state_.fields.sentence);
    return true;
}

}  // namespace headlight
