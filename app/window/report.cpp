#include "window/report.h"

#include <GLFW/glfw3.h>
#include <imgui.h>

#include "panels/lesson/lesson.h"
#include "panels/menus.h"
#include "panels/panels.h"
#include "panels/save_menu.h"
#include "panels/token_chips.h"
#include "parts/interventions.h"
#include "parts/metric.h"
#include "session/commands/try_out.h"
#include "session/fetching.h"
#include "session/settings.h"
#include "views/doors.h"
#include "views/page.h"
#include "views/views.h"

namespace headlight {

namespace {

/// Position on the screen, and whether it fills it.
Json place_of(GLFWwindow* window) {
    int x = 0, y = 0;
    glfwGetWindowPos(window, &x, &y);
    return {x, y, glfwGetWindowAttrib(window, GLFW_MAXIMIZED) == GLFW_TRUE};
}

Json cell_json(const std::optional<std::pair<int, int>>& cell) {
    return cell ? Json({cell->first, cell->second}) : Json();
}

void report_window(WindowState& state, Json& root) {
    Json& widgets = root["widgets"] = Json::object();
    for (const auto& [path, place] : state.ui->widgets) {
        const Rect r = state.ui->pixels(place);
        widgets[path] = {r.x, r.y, r.w, r.h};
    }
    root["frame"] = state.frames_drawn;
    root["size"] = {ImGui::GetIO().DisplaySize.x, ImGui::GetIO().DisplaySize.y};
    root["place"] = place_of(state.window);
    root["scale"] = state.ui->scale;
    root["unexplained"] = state.ui->unexplained();
    root["focus"] = state.ui->focus();
    root["list"] = state.ui->open_list();
    root["typing"] = ImGui::GetIO().WantTextInput;
    root["text"] = state.fields.sentence.text();
    root["field_focused"] = state.fields.sentence.focused;
    root["second"] = state.fields.second.text();
    root["text_b"] = state.fields.other.text();
    root["busy"] = state.worker->busy() || state.worker->opening();
    root["opening"] = state.worker->opening() ? state.worker->opening()->path : "";
}

/// Reports what is open and chosen, besides what is remembered of it.
void report_session(WindowState& state, Json& root) {
    Session& session = state.session;
    const Selection& selection = session.selection;
    const Document& document = session.document;
    root["hovered"] = cell_json(selection.hovered.cell);
    root["locked"] = cell_json(selection.locked);
    root["hovered_head"] = cell_json(selection.hovered.head);
    root["preview"] = cell_json(selection.hovered.preview);
    root["notice"] = shown_notice(state.scene());
    root["model_menu"] = session.shows(Sheet::models) || session.shows(Sheet::compared_models);
    root["left"] = document.left_workspace;
    root["hints"] = session.guide == Guide::hints;
    root["tries"] = session.guide == Guide::tries;
    root["trial"] = trial_is_active(session) ? document.trial->commands : "";
    root["sweeping"] = document.sweeping;
    root["head_labels"] = document.head_labels;
    root["mask"] = document.intervention.mask.name();
    root["metric"] = document.metric.name;
    root["steps"] = document.history.names();
    root["changes"] = document.intervention.changes.size();
    root["presenting"] = session.presenting;
    root["arranging"] = session.arranging;
    root["revealed"] = session.revealed;
    root["learned"] = session.preferences.learned;
    root["learn_guesses"] = session.preferences.guesses;
    root["thumbnails"] = state.pictures.slides.size();
    root["slide"] = session.slide;
    root["slides"] = document.slides.size();
    for (const StyleField& field : style_fields())
        root["figure"][field.name] = field_text(session.of<SaveMenu>().style, field);
}

/// Reports the open lesson: its task, what was judged, what is saved.
void report_lesson(WindowState& state, Json& root) {
    const LessonState* lesson = open_lesson_of(state.session);
    root["lesson"] = Json();
    if (!lesson) return;
    const lessons::TaskResult& result = lesson->result();
    Json& out = root["lesson"] = {{"name", lesson->name},
                                  {"task", lesson->results.current + 1},
                                  {"done", lesson->results.done()},
                                  {"task_done", result.done},
                                  {"tries", result.tries},
                                  {"hints", result.hints},
                                  {"who", lesson->results.who},
                                  {"saving", lesson->saving},
                                  {"saved_in", lesson->saved_in.string()}};
    if (const lessons::Verdict* v = state.answer ? shown_verdict(state.scene()) : nullptr) {
        out["says"] = v->refusal.empty() ? v->says : v->refusal;
        out["now"] = v->now.text;
        out["count"] = v->count;
    }
}

/// Reports the states of views and panels.
void report_states(Session& session, Json& root) {
    constexpr StateVisit kPanels[] = {visit_state<SaveMenu>, visit_state<FetchState>, visit_state<ChipsState>,
                                      visit_state<Painting>};
    FieldReporter reporter(root);
    for (const StateVisit visit : session.visits) visit(session.views, reporter);
    for (const StateVisit visit : kPanels) visit(session.views, reporter);
}

/// The sum of the scores so far, whether they are all known, why there are none.
template <class Asked>
void report_scores(const WorkAnswer& answer, const char* key, Json& root) {
    const auto* job = answer.job<Measuring<Asked>>();
    if (!job) return;
    const TokenScores found = job->found();
    root[key] = {found.found ? found.found->sum : 0.0f, found.whole, found.refusal, found.done};
}

void report_jobs(const WorkAnswer& answer, Json& root) {
    const auto* sweep = answer.job<HeadSweep>();
    root["swept"] = sweep ? sweep->ended() ? "ended" : "going on" : "";
    if (const auto* patching = answer.job<PatchSweep>()) {
        const PatchMapFound found = patching->found();
        root["patched"] = {found.map.done, found.map.cells, found.refusal};
    }
    if (const auto* map = answer.job<Measuring<InfluenceMapRequest>>()) {
        const InfluenceMapFound found = map->found();
        root["influence_map"] = {found.map ? found.map->done : 0, found.map ? found.map->norms.rows() : 0,
                                 found.refusal};
    }
    if (const auto* curve = answer.job<Measuring<StrengthsRequest>>()) {
        const StrengthsFound found = curve->found();
        root["strengths"] = {found.curve ? found.curve->done : 0, found.refusal};
    }
    if (const auto* costs = answer.job<Measuring<EncodingsRequest>>()) {
        const EncodingsFound found = costs->found();
        root["encodings"] = {found.costs ? found.costs->done : 0, found.costs ? found.costs->steps : -1,
                             found.refusal};
    }
    report_scores<FirstScoresRequest>(answer, "first_scores", root);
    report_scores<SecondScoresRequest>(answer, "second_scores", root);
    if (const auto* dossier = answer.job<CorpusSweep>()) {
        const CorpusSweep::Found found = dossier->found();
        root["corpus_read"] = {found.done, found.texts, found.refusal};
    }
}

void report_answers(const WorkAnswer& answer, Json& root) {
    if (const auto* explained = answer.found<AttributionRequest>())
        root["explained"] = {explained->answer.token, explained->answer.against, explained->answer.logit,
                             explained->asked.position};
    if (const auto* split = answer.found<DeltaSplitRequest>())
        root["explained_delta"] = {split->answer.token, split->answer.against};
    if (const auto* found = answer.found<WordAlignmentRequest>())
        root["alignment"] = {{"rows", found->answer.rows},
                             {"columns", found->answer.columns},
                             {"strongest", found->answer.strongest}};
    if (answer.cell) root["weight"] = answer.cell->weight;
}

/// Reports the shown sentence.
void report_sentence(const WindowState& state, const SentenceResult& s, Json& root) {
    root["model"] = s.model->name;
    root["shown_text"] = s.text;
    root["shown_second"] = s.second;
    root["tokens"] = s.labels.empty() ? std::vector<std::string>() : s.labels[0];
    if (s.chat)
        for (const ChatTurn& turn : s.chat->turns) root["turns"].push_back(turn.role);
    if (s.labels.size() > 1) root["target_tokens"] = s.labels[1];
    if (!s.predictions.empty() && !s.predictions[0].tokens.empty())
        root["next"] = s.predictions[0].tokens[0].label;
    if (!s.effects.empty())
        root["effect"] = {prediction_label(*s.model, s.effects[0].id), s.effects[0].a, s.effects[0].b};
    const Document& document = state.session.document;
    for (const Change& change : document.intervention.changes)
        root["change_list"].push_back(change_name(s.model->config, change));
    if (s.is_writing())
        root["writing"] = s.step;
    else if (s.written)
        root["written"] = {{"labels", s.written->labels},
                           {"text", s.written->text},
                           {"step", s.step},
                           {"ended", s.written->generation.ended},
                           {"forced", document.generation.forced.size()},
                           {"playing", document.generation.playing}};
}

void report_view(const Scene& scene, Json& root) {
    const View& view = shown_view(scene.session, *scene.model());
    root["view"] = view.name;
    const Door* door = shown_door(scene.session, *scene.model());
    root["door"] = door ? door->name : "";
    root["title"] = view_title(scene, view);
    if (scene.sentence()) root["metric_label"] = metric_text(scene);
    if (const MetricReport* metric = metric_report(scene))
        root["metric_now"] = {metric->before.value, metric->now.value, metric->refusal};
    if (!view.seen) return;
    const Viewport& seen = view.seen(scene.states);
    root["seen"] = {seen.zoom, seen.x, seen.y};
}

}  // namespace

Json window_report(WindowState& state) {
    auto remembered = settings_fields(state.session);
    Json root = remembered ? *std::move(remembered) : Json::object();
    root.erase("model");  // until it is open
    root.erase("view");   // as its tab is called, below
    report_window(state, root);
    report_session(state, root);
    report_lesson(state, root);
    report_states(state.session, root);
    if (!state.answer) return root;
    const WorkAnswer& answer = *state.answer;
    root["model_error"] = answer.model_error;
    root["failure"] = answer.failure;
    root["other_error"] = answer.other_error;
    root["shown_text_b"] = answer.other ? answer.other->text : "";
    root["shown_head"] = {answer.block, answer.head};
    report_jobs(answer, root);
    report_answers(answer, root);
    if (!answer.sentence) return root;
    report_sentence(state, *answer.sentence, root);
    report_view(state.scene(), root);
    return root;
}

}  // namespace headlight
