#include "window/conversation.h"

#include <GLFW/glfw3.h>

#include <algorithm>

#include "base/utf8.h"
#include "session/workspace.h"
#include "views/changes.h"
#include "views/chips.h"
#include "views/menus.h"
#include "views/views.h"
#include "window/beside.h"

namespace headlight {

void note_state(Desk& desk) {
    Document& d = desk.session.document;
    d.text = desk.fields.sentence.text();
    d.second = desk.typed_second();
    d.comparison.text = desk.fields.other.text();
    Selection& s = desk.session.selection;
    if (s.view) s.view_name = views()[*s.view].key;
    if (desk.sentence() && !d.changes_wait) note_changes(d, desk.sentence()->model->config);
}

void Conversation::show_texts() {
    Fields& fields = desk_.fields;
    const Document& d = desk_.session.document;
    fields.sentence.set_text(valid_utf8(d.text));
    fields.second.set_text(valid_utf8(d.second));
    written_target_.clear();
    fields.other.set_text(valid_utf8(d.comparison.text));
    fields.focus(fields.sentence);
    last_text_ = desk_.typed_text();
}

void Conversation::note_typing() {
    if (desk_.typed_text() == last_text_) return;
    last_text_ = desk_.typed_text();
    desk_.session.notice.clear();
    desk_.session.selection.locked.reset();
    desk_.session.of<ChipsState>() = {};
    if (desk_.fields.take_shortened())
        desk_.session.notice = "A text holds at most 400,000 bytes; the rest of what was pasted is left out.";
}

/// What the model wrote stands in the second field, until the person types there.
void Conversation::show_written() {
    const SentenceResult* s = desk_.sentence();
    if (!s || !desk_.typed_second().empty()) return;
    TextField& second = desk_.fields.second;
    const bool target = s->model->config.can.write_target && s->written && s->second.empty();
    const std::string text = target ? s->written->text : "";
    const bool stands = text == written_target_ && (text.empty() || second.shows());
    const bool emptying = second.focused && second.text().empty();  // to type something else
    if (stands || emptying) return;
    written_target_ = text;
    second.show(text, second.focused);  // its beginning is seen
}

bool Conversation::awaits_text() const {
    const SentenceResult* s = desk_.sentence();
    return s && (s->text != desk_.fields.sentence.text() ||
                 (reads_two_texts(s->model->config) && s->second != desk_.typed_second()));
}

GenerationAsked Conversation::writing_wanted() {
    GenerationState& g = desk_.session.document.generation;
    const std::string now = desk_.session.document.model_path + '\n' + desk_.fields.sentence.text();
    if (g.forced_for != now) {
        g.forced_for = now;
        g.unforce();
        g.playing = false;
    }
    GenerationAsked asked{{g.decoding, g.length, g.forced}, g.bar, g.step};
    asked.wanted.length = std::max(asked.wanted.length, static_cast<int>(g.forced.size()));
    return asked;
}

/// What Compare puts beside the run that is shown, where that is another run.
std::optional<OtherRun> Conversation::other_run() const {
    const Comparison& c = desk_.session.document.comparison;
    if (c.what == Compared::sentences) return OtherRun{"", 0, desk_.fields.other.text()};
    if (c.what == Compared::models && !c.model.empty())
        return OtherRun{c.model, c.attempt, desk_.fields.sentence.text()};
    return std::nullopt;
}

WorkRequest Conversation::wanted() {
    const Session& session = desk_.session;
    const Document& d = session.document;
    const Selection& s = session.selection;
    const SentenceResult* sentence = desk_.sentence();
    const bool alone = sentence && !reads_two_texts(sentence->model->config);
    WorkRequest r{d.model_path,
                  d.model_attempt,
                  desk_.fields.sentence.text(),
                  alone ? "" : desk_.typed_second(),
                  writing_wanted(),
                  s.block,
                  s.head,
                  s.focused(),
                  s.choose_head,
                  d.intervention,
                  {},
                  {},
                  {},
                  session.preferences.drop_sink};
    if (!desk_.shown() || !desk_.answer->picture) return r;
    const Scene scene = desk_.scene();
    const View& view = views()[view_for(session, *sentence->model)];
    if (view.ask) r.questions = view.ask(scene);
    for (Question& question : ask_about_changes(scene)) r.questions.push_back(std::move(question));
    if (view.second_run) r.other = other_run();
    if (d.sweeping) r.sweep = d.sweep_token;
    const auto& picture = *desk_.answer->picture;
    if (!r.cell && picture.block == r.block && picture.head == r.head) r.cell = scene.shown_cell();
    return r;
}

void Conversation::ask() {
    WorkRequest r = wanted();
    if (r == asked_ && asked_at_ > 0) return;
    asked_ = r;
    asked_at_ = glfwGetTime();
    desk_.worker->ask(std::move(r));
}

/// Another model is open: what was changed in the last one is over, unless it waited for this one.
void Conversation::take_model() {
    Session& session = desk_.session;
    Document& d = session.document;
    d.intervention = {};
    d.history.forget_model();
    d.sweeping = false;
    if (d.changes_wait) restore_changes(session, desk_.sentence()->model->config);
    if (session.shows(Sheet::models) && desk_.options.open_menu.empty()) session.sheet.reset();
    session.of<ModelMenu>().path.clear();
    auto& recent = session.preferences.recent_models;
    const std::string& path = desk_.answer->model_path;
    recent.erase(std::remove(recent.begin(), recent.end(), path), recent.end());
    if (path.find('/') != std::string::npos) recent.insert(recent.begin(), path);
    if (recent.size() > 8) recent.resize(8);
}

bool Conversation::take_answer() {
    const auto fresh = desk_.worker->poll();
    if (!fresh) return false;
    const auto before = std::exchange(desk_.answer, fresh);
    Session& session = desk_.session;
    const bool opened = fresh->sentence && fresh->model_error.empty() &&
                        (!before || !before->sentence || before->sentence->model != fresh->sentence->model);
    const bool not_opened =
        !fresh->model_error.empty() && (!before || before->model_attempt != fresh->model_attempt ||
                                        before->model_error != fresh->model_error);
    if (before && !before->failure.empty() && fresh->failure.empty() && session.notice == before->failure)
        session.notice.clear();
    const bool failed =
        !fresh->failure.empty() && (!before || before->failure != fresh->failure || session.notice.empty());
    if (desk_.key_at > 0 && fresh->sentence && fresh->sentence->text == desk_.fields.sentence.text() &&
        answered_at_ < desk_.key_at)
        answered_at_ = glfwGetTime();
    if (opened) take_model();
    if (not_opened) session.sheet = Sheet::models;
    if (failed) session.notice = fresh->failure;
    Selection& s = session.selection;
    if (s.choose_head && desk_.shown()) {
        s.block = fresh->block;
        s.head = fresh->head;
        s.choose_head = false;
    }
    if (fresh->sentence) fit_head(s, fresh->sentence->model->config);
    show_written();
    desk_.want_frames(1);
    return true;
}

void Conversation::look_for_models() {
    ModelMenu& menu = desk_.session.of<ModelMenu>();
    const bool open = desk_.session.shows(Sheet::models) || desk_.session.shows(Sheet::compared_models);
    if (open && !menu.found_all && !looking_.valid())
        looking_ = beside([]() -> Result<std::vector<FoundModel>> { return models_on_computer(); });
    if (!looking_.valid() || looking_.wait_for(std::chrono::seconds(0)) != std::future_status::ready) return;
    auto found = looking_.get();
    if (found)
        menu.found = *std::move(found);
    else
        desk_.session.notice = found.error().message;
    menu.found_all = true;
    desk_.want_frames(1);
}

bool Conversation::open_workspace_file(const std::string& path) {
    note_state(desk_);
    Session& session = desk_.session;
    auto opened = open_workspace(path, session);
    if (!opened) {
        session.notice = opened.error().message;
        return false;
    }
    const bool same_model = opened->document.model_path == session.document.model_path;
    session = *std::move(opened);
    session.sheet.reset();
    session.of<ModelMenu>().path.clear();
    session.notice = "Opened " + std::filesystem::path(path).filename().string() + ".";
    open_named_view(session, session.selection.view_name);
    show_texts();
    Document& d = session.document;
    d.history.clear();
    const bool failed = desk_.answer && !desk_.answer->model_error.empty();
    const bool anew = !same_model || failed;
    if (anew) choose_model(session, d.model_path, ++d.attempts);
    const bool is_open = desk_.sentence() && desk_.answer->model_path == d.model_path &&
                         desk_.answer->model_attempt == d.model_attempt;
    if (!anew && is_open)
        restore_changes(session, desk_.sentence()->model->config);  // else take_model() does
    return true;
}

}  // namespace headlight
