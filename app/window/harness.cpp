#include "window/harness.h"

#include <GLFW/glfw3.h>

#include <algorithm>

#include "base/memory.h"
#include "io/output_file.h"
#include "views/menus.h"
#include "window/report.h"

namespace headlight {

namespace {

constexpr double kGiveUp = 120;  // seconds until a window that does not settle is given up

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

/// Nothing is being computed, opened, written or fetched.
bool Harness::quiet() const {
    return desk_.answer && !desk_.worker->busy() && !desk_.worker->opening() && !desk_.answer->measures() &&
           !exporter_.busy() && !fetcher_.busy() && !desk_.session.of<FetchState>().wanted;
}

bool Harness::settled() const {
    const auto& answer = desk_.answer;
    const bool models = desk_.session.shows(Sheet::models) || desk_.session.shows(Sheet::compared_models);
    return quiet() && gave_all() && (!models || desk_.session.of<ModelMenu>().found_all) &&
           desk_.frames_drawn > 4 && desk_.frames_wanted <= 0 &&
           (!desk_.shown() || answer->cell || !answer->picture);
}

const CommandLine* Harness::next_command() {
    if (gave_all()) return nullptr;
    desk_.want_frames(1);
    return quiet() && desk_.frames_drawn > 1 ? &lines_[taken_] : nullptr;
}

Result<bool> Harness::screenshot() {
    if (settled() && !conversation_.take_answer()) {
        TRY_STATUS(take_screenshot());
        return true;
    }
    if (glfwGetTime() > kGiveUp)
        return Error{"The window did not settle within two minutes; try a smaller model or a shorter text."};
    desk_.want_frames(desk_.worker->busy() || desk_.frames_drawn < 5 ? 1 : 0);
    return false;
}

Result<bool> Harness::after_frame(double began) {
    if (!desk_.options.screenshot.empty()) return screenshot();
    glfwSwapBuffers(desk_.window);
    if (first_picture_ == 0 && desk_.pictures.of_picture) {
        glFinish();
        first_picture_ = glfwGetTime();
    }
    if (desk_.options.frames && settled() && !conversation_.take_answer()) {
        TRY_STATUS(measure_frames());
        return true;
    }
    if (desk_.options.frames) desk_.want_frames(desk_.worker->busy() || desk_.frames_drawn < 5 ? 1 : 0);
    note_times(began);
    return false;
}

void Harness::note_times(double began) {
    const bool shown =
        desk_.sentence() && desk_.sentence()->text == desk_.fields.sentence.text() && !desk_.worker->busy();
    if (desk_.key_at > 0 && shown) {
        glFinish();
        latencies_.push_back(glfwGetTime() - desk_.key_at);
        answers_.push_back(std::max(0.0, conversation_.answered_at() - desk_.key_at));
        desk_.key_at = 0;
    }
    if (desk_.options.report.empty()) return;
    glFinish();
    frame_times_.push_back(glfwGetTime() - began);
    write_report();
}

Status Harness::take_screenshot() {
    int width = 0, height = 0;
    glfwGetFramebufferSize(desk_.window, &width, &height);
    std::vector<unsigned char> pixels(size_t{4} * width * height);
    {
        const Framebuffer target(width, height);
        frame_.draw();
        glPixelStorei(GL_PACK_ALIGNMENT, 4);
        glReadPixels(0, 0, width, height, GL_BGRA, GL_UNSIGNED_BYTE, pixels.data());
    }
    const std::filesystem::path path(desk_.options.screenshot);
    return write_page(path, {{double(width), double(height), 96}, [&](Canvas& canvas) {
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
Status Harness::measure_frames() {
    std::vector<double> times;
    for (int i = 0; i < desk_.options.frames; ++i) {
        const double begin = glfwGetTime();
        frame_.draw();
        glfwSwapBuffers(desk_.window);
        glFinish();
        times.push_back(glfwGetTime() - begin);
    }
    std::sort(times.begin(), times.end());
    const double median = times[times.size() / 2], p95 = times[times.size() * 95 / 100];
    std::printf("{\"start_ms\": %.2f, \"frame_ms\": %.3f, \"frame_p95_ms\": %.3f, \"peak_mb\": %.1f}\n",
                first_picture_ * 1e3, median * 1e3, p95 * 1e3, double(peak_memory()) / (1 << 20));
    return success();
}

void Harness::write_report() {
    Json root = window_report(desk_);
    root["latencies"] = latencies_;
    root["answers"] = answers_;
    root["frame_times"] = frame_times_;
    if (desk_.options.report_texts) root["texts"] = desk_.text.drawn();
    if (desk_.session.shows(Sheet::palette))
        for (const Offer& offer : palette_.offers()) root["palette"].push_back(offer.label);
    const auto out = OutputFile::create(desk_.options.report);
    if (!out) return;
    (*out)->write(json_text(root));
    if (const Status written = (*out)->commit(); !written) desk_.options.report.clear();
}

}  // namespace headlight
