
// What the window shows, for documents and for tests: a picture, or JSON.

#include <GLFW/glfw3.h>

#include <algorithm>

#include "base/memory.h"
#include "io/json.h"
#include "io/output_file.h"
#include "views/all_heads.h"
#include "views/changes.h"
#include "views/delta.h"
#include "views/graph.h"
#include "views/heat_map.h"
#include "views/lines.h"
#include "views/menus.h"
#include "views/panels.h"
#include "views/save_menu.h"
#include "views/steps.h"
#include "views/views.h"
#include "window/application.h"

namespace headlight {

namespace {

/// A framebuffer of its own: a hidden window's pixels are nobody's.
struct Framebuffer {
    GLuint id = 0, color = 0;
    Framebuffer(int width, int height) {
        glGenFramebuffers(1, &id);
        glGenRenderbuffers(1, &color);
        glBindRenderbuffer(GL_RENDERBUFFER, color);
        glRenderbufferStorage(GL_RENDERBUFFER, GL_RGBA8, width, height);
        glBindFramebuffer(GL_FRAMEBUFFER, id);
        glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, color);
    }
    ~Framebuffer() {
        glBindFramebuffer(GL_FRAMEBUFFER, 0);
        glDeleteFramebuffers(1, &id);
        glDeleteRenderbuffers(1, &color);
    }
};

}  // namespace

Status Application::take_screenshot() {
    int width = 0, height = 0;
    glfwGetFramebufferSize(window_, &width, &height);
    std::vector<unsigned char> pixels(static_cast<size_t>(width) * static_cast<size_t>(height) * 4);
    {
        const Framebuffer target(width, height);
        draw_frame();
        glPixelStorei(GL_PACK_ALIGNMENT, 4);
        glReadPixels(0, 0, width, height, GL_BGRA, GL_UNSIGNED_BYTE, pixels.data());
    }
    const std::filesystem::path path(options_.screenshot);
    return write_page(path,
                      {{static_cast<double>(width), static_cast<double>(height), 96}, [&](Canvas& canvas) {
                           cairo_surface_t* image = cairo_image_surface_create_for_data(
                               pixels.data(), CAIRO_FORMAT_RGB24, width, height, width * 4);
                           cairo_t* cairo = canvas.cairo();
                           cairo_translate(cairo, 0, height);
                           cairo_scale(cairo, 1, -1);  // OpenGL's rows run upwards
                           cairo_set_source_surface(cairo, image, 0, 0);
                           cairo_pattern_set_filter(cairo_get_source(cairo), CAIRO_FILTER_NEAREST);
                           cairo_paint(cairo);
                           cairo_surface_destroy(image);
                       }});
}

/// GLFW's clock starts with glfwInit, the first thing that the window does.
Status Application::measure_frames() {
    std::vector<double> times;
    for (int i = 0; i < options_.frames; ++i) {
        const double begin = glfwGetTime();
        draw_frame();
        glfwSwapBuffers(window_);
        glFinish();
        times.push_back(glfwGetTime() - begin);
    }
    const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
    std::nth_element(times.begin(), middle, times.end());
    std::printf("{\"start_ms\": %.2f, \"frame_ms\": %.3f, \"peak_mb\": %.1f}\n", first_picture_ * 1e3,
                *middle * 1e3, static_cast<double>(peak_memory()) / (1 << 20));
    return success();
}

void Application::write_report() {
    Json widgets = Json::object();
    for (const auto& [path, r] : ui_->widgets) widgets[path] = {r.x, r.y, r.w, r.h};
    const auto cell = [](const std::optional<std::pair<int, int> >& c) {
        return c ? Json({c->first, c->second}) : Json();
    };
    Json root{
        {"frame", frames_drawn_},
        {"text", fields_.sentence.text()},
        {"field_focused", fields_.sentence.focused},
        {"second", fields_.second.text()},
        {"layer", session_.selection.block},
        {"head", session_.selection.head},
        {"hovered", cell(session_.selection.hovered.cell)},
        {"locked", cell(session_.selection.locked)},
        {"notice", shown_notice(make_scene())},
        {"model_menu", session_.model_menu},
        {"left", session_.document.left_workspace},
        {"busy", worker_->busy() || worker_->opening()},
        {"opening", worker_->opening() ? worker_->opening()->path : ""},
        {"hints", !session_.preferences.hints_seen},
        {"dark", session_.preferences.dark},
        {"drop_sink", session_.preferences.drop_sink},
        {"latencies", latencies_},
        {"answers", answers_},
        {"frame_times", frame_times_},
        {"widgets", widgets},
        {"save_result", session_.of<SaveMenu>().result},
        {"focus", ui_->focus()},
        {"typing", ImGui::GetIO().WantTextInput},
        {"save_path", session_.of<SaveMenu>().path},
        {"path_typed", session_.of<ModelMenu>().path},
        {"preset_typed", session_.of<SaveMenu>().preset_typed},
        {"head_labels", session_.document.head_labels},
        {"compared", {session_.document.comparison.head.first, session_.document.comparison.head.second}},
        {"mask", session_.document.intervention.mask.name()},
        {"changes", session_.document.intervention.changes.size()},
        {"rank", session_.preferences.rank},
        {"compared_what", static_cast<int>(session_.document.comparison.what)},
        {"ties", session_.document.comparison.alignment.by_hand.size()},
        {"text_b", fields_.other.text()},
        {"brush", static_cast<int>(session_.of<Painting>().brush)},
    };
    FieldReporter views_fields(root);
    for (const StateVisit visit : session_.visits) visit(session_.views, views_fields);
    for (const StyleField& field : style_fields())
        root["figure"][field.name] = field_text(session_.of<SaveMenu>().style, field);
    if (answer_) {
        root["model_error"] = answer_->model_error;
        root["failure"] = answer_->failure;
        root["shown_text_b"] = answer_->other ? answer_->other->text : "";
        root["swept"] = answer_->sweep ? answer_->sweep->ended() ? "ended" : "going on" : "";
        root["shown_head"] = {answer_->block, answer_->head};
        if (answer_->sentence) {
            root["model"] = answer_->sentence->model->name;
            root["milliseconds"] = answer_->sentence->milliseconds;
            root["shown_text"] = answer_->sentence->text;
            root["shown_second"] = answer_->sentence->second;
            const SentenceResult& s = *answer_->sentence;
            for (const Change& change : session_.document.intervention.changes)
                root["change_list"].push_back(change_name(s.model->config, change));
            root["tokens"] = s.labels.empty() ? std::vector<std::string>() : s.labels[0];
            if (!s.effects.empty())
                root["effect"] = {prediction_label(*s.model, s.effects[0].id), s.effects[0].a,
                                  s.effects[0].b};
            if (s.written)
                root["written"] = {{"labels", s.written->labels},
                                   {"text", s.written->text},
                                   {"step", s.step},
                                   {"ended", s.written->writing.ended},
                                   {"forced", session_.document.generation.forced.size()},
                                   {"playing", session_.document.generation.playing}};
            if (const auto* found = answer_->found<WordAlignmentWanted>())
                root["alignment"] = {{"rows", found->answer.rows},
                                     {"columns", found->answer.columns},
                                     {"strongest", found->answer.strongest},
                                     {"site", found->asked.block}};
            if (s.labels.size() > 1) root["target_tokens"] = s.labels[1];
            if (!s.predictions.empty() && !s.predictions[0].tokens.empty())
                root["next"] = s.predictions[0].tokens[0].label;
            root["view"] = views()[view_for(session_, *s.model)].name;
        }
        if (answer_->cell) root["weight"] = answer_->cell->weight;
    }
    const auto out = OutputFile::create(options_.report);
    if (!out) return;
    (*out)->write(root.dump(-1, ' ', false, Json::error_handler_t::replace));
    if (const Status written = (*out)->commit(); !written) options_.report.clear();
}

}  // namespace headlight
