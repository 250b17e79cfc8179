#include "window/report.h"

#include <GLFW/glfw3.h>
#include <imgui.h>

#include "panels/menus.h"
#include "panels/panels.h"
#include "panels/save_menu.h"
#include "panels/token_chips.h"
#include "parts/interventions.h"
#include "parts/metric.h"
#include "session/commands/try_out.h"
#include "session/fetching.h"
#include "views/page.h"
#include "views/views.h"

namespace headlight {

namespace {

/// Where it stands on the screen, and whether it fills it.
Json place_of(GLFWwindow* window) {
    int x = 0, y = 0;
    glfwGetWindowPos(window, &x, &y);
    return {x, y, glfwGetWindowAttrib(window, GLFW_MAXIMIZED) == GLFW_TRUE};
}

}  // namespace

Json window_report(WindowState& desk) {
    Json widgets = Json::object();
    for (const auto& [path, place] : desk.ui->widgets) {
        const Rect r = desk.ui->pixels(place);
        widgets[path] = {r.x, r.y, r.w, r.h};
    }
    const auto cell = [](const std::optional<std::pair<int, int>>& c) {
        return c ? Json({c->first, c->second}) : Json();
    };
    Json root{
        {"frame", desk.frames_drawn},
        {"size", {ImGui::GetIO().DisplaySize.x, ImGui::GetIO().DisplaySize.y}},
        {"place", place_of(desk.window)},
        {"scale", desk.ui->scale},
        {"text", desk.fields.sentence.text()},
        {"field_focused", desk.fields.sentence.focused},
        {"second", desk.fields.second.text()},
        {"layer", desk.session.selection.block},
        {"head", desk.session.selection.head},
        {"hovered", cell(desk.session.selection.hovered.cell)},
        {"locked", cell(desk.session.selection.locked)},
        {"hovered_head", cell(desk.session.selection.hovered.head)},
        {"preview", cell(desk.session.selection.hovered.preview)},
        {"notice", shown_notice(desk.scene())},
        {"model_menu", desk.session.shows(Sheet::models) || desk.session.shows(Sheet::compared_models)},
        {"left", desk.session.document.left_workspace},
        {"busy", desk.worker->busy() || desk.worker->opening()},
        {"opening", desk.worker->opening() ? desk.worker->opening()->path : ""},
        {"hints", desk.session.guide == Guide::hints},
        {"tries", desk.session.guide == Guide::tries},
        {"trial", trial_in_force(desk.session) ? desk.session.document.trial->commands : ""},
        {"sweeping", desk.session.document.sweeping},
        {"dark", desk.session.preferences.dark},
        {"drop_sink", desk.session.preferences.drop_sink},
        {"widgets", widgets},
        {"unexplained", desk.ui->unexplained()},
        {"save_result", desk.session.of<SaveMenu>().result},
        {"focus", desk.ui->focus()},
        {"list", desk.ui->open_list()},
        {"typing", ImGui::GetIO().WantTextInput},
        {"save_path", desk.session.of<SaveMenu>().path},
        {"fetching", desk.session.of<FetchState>().going != nullptr},
        {"hub_typed", desk.session.of<FetchState>().typed},
        {"fetch_said", desk.session.of<FetchState>().said},
        {"fetched", desk.session.of<FetchState>().fetched},
        {"path_typed", desk.session.of<ModelMenu>().path},
        {"preset_typed", desk.session.of<SaveMenu>().preset_typed},
        {"head_labels", desk.session.document.head_labels},
        {"compared",
         {desk.session.document.comparison.head.first, desk.session.document.comparison.head.second}},
        {"mask", desk.session.document.intervention.mask.name()},
        {"counted", desk.session.of<ChipsState>().counted},
        {"metric", desk.session.document.metric.name},
        {"changes", desk.session.document.intervention.changes.size()},
        {"rank", desk.session.preferences.rank},
        {"compared_what", static_cast<int>(desk.session.document.comparison.what)},
        {"ties", desk.session.document.comparison.alignment.by_hand.size()},
        {"text_b", desk.fields.other.text()},
        {"presenting", desk.session.presenting},
        {"slide", desk.session.slide},
        {"slides", desk.session.document.slides.size()},
        {"brush", static_cast<int>(desk.session.of<Painting>().brush)},
    };
    FieldReporter views_fields(root);
    for (const StateVisit visit : desk.session.visits) visit(desk.session.views, views_fields);
    for (const StyleField& field : style_fields())
        root["figure"][field.name] = field_text(desk.session.of<SaveMenu>().style, field);
    if (desk.answer) {
        root["model_error"] = desk.answer->model_error;
        root["failure"] = desk.answer->failure;
        root["other_error"] = desk.answer->other_error;
        root["shown_text_b"] = desk.answer->other ? desk.answer->other->text : "";
        const auto* sweep = desk.answer->job<HeadSweep>();
        root["swept"] = sweep ? sweep->ended() ? "ended" : "going on" : "";
        if (const auto* patching = desk.answer->job<PatchSweep>()) {
            const PatchMapFound found = patching->found();
            root["patched"] = {found.map.done, found.map.cells, found.refusal};
        }
        if (const auto* map = desk.answer->job<InfluenceMapSweep>()) {
            const InfluenceMapFound found = map->found();
            root["influence_map"] = {found.map ? found.map->done : 0, found.map ? found.map->norms.rows() : 0,
                                     found.refusal};
        }
        if (const auto* scores = desk.answer->job<TokenScoresSweep>()) {
            const TokenScores found = scores->found();
            root["token_scores"] = {found.found ? found.found->sum : 0.0f, found.found != nullptr,
                                    found.refusal};
        }
        if (const auto* dossier = desk.answer->job<CorpusSweep>()) {
            const CorpusSweep::Found found = dossier->found();
            root["corpus_read"] = {found.done, found.texts, found.refusal};
        }
        root["shown_head"] = {desk.answer->block, desk.answer->head};
        if (desk.answer->sentence) {
            root["model"] = desk.answer->sentence->model->name;
            root["milliseconds"] = desk.answer->sentence->milliseconds;
            root["shown_text"] = desk.answer->sentence->text;
            root["shown_second"] = desk.answer->sentence->second;
            const SentenceResult& s = *desk.answer->sentence;
            const Scene scene = desk.scene();
            for (const Change& change : desk.session.document.intervention.changes)
                root["change_list"].push_back(change_name(s.model->config, change));
            root["tokens"] = s.labels.empty() ? std::vector<std::string>() : s.labels[0];
            if (const MetricReport* metric = metric_report(scene))
                root["metric_now"] = {metric->before.value, metric->now.value, metric->refusal};
            if (const auto* explained = desk.answer->found<AttributionRequest>())
                root["explained"] = {explained->answer.token, explained->answer.against,
                                     explained->answer.logit, explained->asked.position};
            if (const auto* split = desk.answer->found<DeltaSplitRequest>())
                root["explained_delta"] = {split->answer.token, split->answer.against};
            if (s.trace) root["metric_label"] = metric_text(scene);
            if (!s.effects.empty())
                root["effect"] = {prediction_label(*s.model, s.effects[0].id), s.effects[0].a,
                                  s.effects[0].b};
            if (s.written)
                root["written"] = {{"labels", s.written->labels},
                                   {"text", s.written->text},
                                   {"step", s.step},
                                   {"ended", s.written->generation.ended},
                                   {"forced", desk.session.document.generation.forced.size()},
                                   {"playing", desk.session.document.generation.playing}};
            if (const auto* found = desk.answer->found<WordAlignmentRequest>())
                root["alignment"] = {{"rows", found->answer.rows},
                                     {"columns", found->answer.columns},
                                     {"strongest", found->answer.strongest},
                                     {"site", found->asked.block}};
            if (s.labels.size() > 1) root["target_tokens"] = s.labels[1];
            if (!s.predictions.empty() && !s.predictions[0].tokens.empty())
                root["next"] = s.predictions[0].tokens[0].label;
            root["view"] = shown_view(desk.session, *s.model).name;
            root["title"] = view_title(desk.scene(), shown_view(desk.session, *s.model));
            if (const auto seen = shown_view(desk.session, *s.model).seen) {
                const Viewport& v = seen(desk.session.views);
                root["seen"] = {v.zoom, v.x, v.y};
            }
        }
        if (desk.answer->cell) root["weight"] = desk.answer->cell->weight;
    }
    return root;
}

}  // namespace headlight
