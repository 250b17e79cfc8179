#include "window/harness.h"

#include <GLFW/glfw3.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/memory.h"
#include "figure/file_formats.h"
#include "gpu/framebuffer.h"
#include "io/output_file.h"
#include "paint/layout.h"
#include "panels/menus.h"
#include "panels/present.h"
#include "window/report.h"

namespace headlight {

namespace {

constexpr float kLookAgain = 0.05f;  // seconds between frames while a screenshot waits for results
constexpr double kGiveUp = 120;      // seconds until a window that does not settle times out
constexpr double kEnough = 60;       // seconds after which a screenshot shows what is measured so far

/// Returns the i-th point of a sequence that fills the unit square evenly: van der Corput's sequences to
/// bases 2 and 3 (Halton 1960).
ImVec2 halton(int i) {
    const auto reversed = [](int n, int base) {
        double out = 0, digit = 1;
        for (; n > 0; n /= base) out += n % base * (digit /= base);
        return float(out);
    };
    return {reversed(i, 2), reversed(i, 3)};
}

}  // namespace

/// Whether nothing is measured in the background, or has been for so long that a picture may be taken.
bool Harness::measured_enough() const {
    if (!state_.answer->measures()) {
        measuring_since_ = -1;
        return true;
    }
    const double now = glfwGetTime();
    if (measuring_since_ < 0) measuring_since_ = now;
    return !state_.options.screenshot.empty() &&
           (now - measuring_since_ > kEnough || now - waits_since_ > kGiveUp);
}

/// Whether nothing is being computed, opened, written or fetched.
bool Harness::quiet() const {
    return state_.answer && !state_.worker->busy() && !state_.worker->opening() && measured_enough() &&
           state_.session.of<SlidesPdf>().path.empty() && !exporter_.busy() && !fetcher_.busy() &&
           !state_.session.of<FetchState>().request;
}

bool Harness::settled() const {
    const auto& answer = state_.answer;
    const bool models = state_.session.shows(Sheet::models) || state_.session.shows(Sheet::compared_models);
    return quiet() && gave_all() && (!models || state_.session.of<ModelMenu>().found_all) &&
           state_.frames_drawn > 4 && state_.frames_wanted <= 0 &&
           (!state_.shown() || answer->cell || !answer->picture);
}

const CommandLine* Harness::next_command() {
    if (gave_all()) return nullptr;
    state_.want_frames(1);
    if (!quiet() || state_.frames_drawn <= 1) return nullptr;
    return worker_link_.take_answer() ? nullptr : &lines_[taken_];  // draws the new answer first
}

void Harness::take_command() {
    list_texts();
    waits_since_ = glfwGetTime();
    measuring_since_ = -1;
    ++taken_;
}

/// Records the texts on screen after the last command.
void Harness::list_texts() {
    if (state_.options.list_texts.empty() || taken_ == 0) return;
    const auto corners = [](const ImVec4& r) { return Json{r.x, r.y, r.z, r.w}; };
    Json texts = Json::array();
    for (const DrawnText& d : state_.text.drawn())
        texts.push_back({{"text", d.text},
                         {"box", corners(d.box)},
                         {"angle", d.angle},
                         {"seen", corners(d.seen)},
                         {"layer", d.layer},
                         {"covered", d.covered},
                         {"cut", d.cut},
                         {"shortened", d.shortened}});
    const CommandLine& last = lines_[taken_ - 1];
    texts_ +=
        json_text(Json{{"command", std::string(last.command->name) + " " + last.words}, {"texts", texts}}) +
        "\n";
}

Result<bool> Harness::screenshot() {
    const bool settles = settled() && !worker_link_.take_answer();
    if (settles && was_settled_) {  // what one frame asks for, the next one shows
        TRY_STATUS(take_screenshot());
        if (state_.answer->measures())
            std::fputs("The picture shows what was measured within a minute; the rest still runs.\n", stderr);
        list_texts();
        if (!state_.options.list_texts.empty()) TRY_STATUS(write_file(state_.options.list_texts, texts_));
        return true;
    }
    if (!settles && glfwGetTime() - waits_since_ > kGiveUp)
        return Error{"The window did not settle within two minutes; try a smaller model or a shorter text."};
    was_settled_ = settles;
    glFinish();  // else frames queue up faster than they are drawn
    if (state_.frames_drawn < 5)
        state_.want_frames(1);
    else
        state_.ui->wake_after = kLookAgain;
    return false;
}

Result<bool> Harness::after_frame(double began) {
    if (!state_.options.screenshot.empty()) return screenshot();
    if (state_.options.frames == 0 && state_.options.report.empty()) return false;
    if (first_picture_ == 0 && state_.pictures.of_picture) {
        glFinish();
        first_picture_ = glfwGetTime();
    }
    if (state_.options.frames && settled() && !worker_link_.take_answer()) {
        print_frame_times();
        return true;
    }
    if (state_.options.frames) state_.want_frames(state_.worker->busy() || state_.frames_drawn < 5 ? 1 : 0);
    note_times(began);
    return false;
}

void Harness::note_times(double began) {
    glFinish();  // times drawing, not queuing
    const bool shown = state_.sentence() && state_.sentence()->text == state_.fields.sentence.text() &&
                       !state_.worker->busy();
    if (state_.key_at > 0 && shown) {
        latencies_.push_back(glfwGetTime() - state_.key_at);
        answers_.push_back(std::max(0.0, worker_link_.answered_at() - state_.key_at));
        state_.key_at = 0;
    }
    if (state_.options.report.empty()) return;
    frame_times_.push_back(glfwGetTime() - began);
    redrawn_.push_back(frame_.redrawn());
    if (state_.options.check_frames) wrong_pixels_ += frame_.wrong_pixels();
    write_report();
}

Status Harness::take_screenshot() {
    int width = 0, height = 0;
    glfwGetFramebufferSize(state_.window, &width, &height);
    std::vector<unsigned char> pixels;
    {
        const Framebuffer target(width, height);  // its own: the pixels of a hidden window are undefined
        frame_.draw();
        pixels = target.pixels();
    }
    const std::filesystem::path path(state_.options.screenshot);
    return write_page(path, {{double(width), double(height), 96}, [&](Canvas& canvas) {
                                 cairo_surface_t* image = cairo_image_surface_create_for_data(
                                     pixels.data(), CAIRO_FORMAT_RGB24, width, height, width * 4);
                                 cairo_t* cairo = canvas.cairo();
                                 cairo_translate(cairo, 0, height);
                                 cairo_scale(cairo, 1, -1);  // OpenGL's rows run bottom to top
                                 cairo_set_source_surface(cairo, image, 0, 0);
                                 cairo_pattern_set_filter(cairo_get_source(cairo), CAIRO_FILTER_NEAREST);
                                 cairo_paint(cairo);
                                 cairo_surface_destroy(image);
                             }});
}

/// Moves the pointer over the controls of the view, each far from the last, so that every frame hovers
/// another cell.
std::vector<ImVec2> Harness::places_to_point_at() const {
    constexpr int kTried = 100'000;
    constexpr float kApart = 40;
    std::vector<ImVec2> out;
    const auto center = state_.ui->widgets.find("center");
    if (center == state_.ui->widgets.end()) return out;
    Rect room = center->second;
    take_top(room, size::view_header);  // the view's controls
    std::vector<Rect> answering;
    for (const auto& [path, r] : state_.ui->widgets)
        if (path != "center" && room.contains(r.middle())) answering.push_back(r);
    for (int i = 1; i < kTried && int(out.size()) < state_.options.frames; ++i) {
        const ImVec2 at = halton(i), place{room.x + at.x * room.w, room.y + at.y * room.h};
        const bool answers =
            std::any_of(answering.begin(), answering.end(), [&](Rect r) { return r.contains(place); });
        const bool far = out.empty() || std::hypot(place.x - out.back().x, place.y - out.back().y) > kApart;
        if (answers && far) out.push_back(place);
    }
    return out;
}

Harness::FrameTimes Harness::measure_frames(const std::function<void(int)>& before) {
    std::vector<double> times;
    for (int i = 0; i < state_.options.frames; ++i) {
        const double begin = glfwGetTime();
        before(i);
        worker_link_.take_answer();
        worker_link_.ask();
        frame_.draw();
        frame_.present();
        glFinish();
        times.push_back(glfwGetTime() - begin);
    }
    std::sort(times.begin(), times.end());
    return {times[times.size() / 2], times[times.size() * 95 / 100]};
}

/// GLFW's clock starts with glfwInit, the window's first call.
void Harness::print_frame_times() {
    const std::vector<ImVec2> places = places_to_point_at();
    const auto move = [&](int i) {
        if (places.empty()) return;
        const ImVec2 at = state_.ui->pixels(places[size_t(i) % places.size()]);
        state_.pointer.move(double(at.x), double(at.y));
    };
    const FrameTimes anew = measure_frames([&](int) { frame_.redraw_all(); });
    const FrameTimes rest = measure_frames([](int) {}), moving = measure_frames(move);
    Json out{{"start_ms", first_picture_ * 1e3}, {"places", places.size()}};
    const auto note = [&](const std::string& name, const FrameTimes& t) {
        out[name + "_ms"] = t.median * 1e3;
        out[name + "_p95_ms"] = t.p95 * 1e3;
    };
    note("frame", anew);
    note("rest", rest);
    note("moving", moving);
    out["peak_mb"] = double(peak_memory()) / (1 << 20);
    std::puts(json_text(out).c_str());
}

void Harness::write_report() {
    Json root = window_report(state_);
    root["busy"] = root["busy"].get<bool>() || !gave_all();
    root["latencies"] = latencies_;
    root["answers"] = answers_;
    root["frame_times"] = frame_times_;
    root["redrawn"] = redrawn_;
    if (state_.options.check_frames) root["wrong_pixels"] = wrong_pixels_;
    if (state_.options.report_texts)
        for (const DrawnText& drawn : state_.text.drawn()) root["texts"].push_back(drawn.text);
    if (state_.session.shows(Sheet::palette))
        for (const Offer& offer : palette_.offers()) root["palette"].push_back(offer.label);
    const auto out = OutputFile::create(state_.options.report);
    if (!out) return;
    (*out)->write(json_text(root));
    if (const Status written = (*out)->commit(); !written) state_.options.report.clear();
}

}  // namespace headlight
