#include "window/frame.h"

#include <GLFW/glfw3.h>
#include <backends/imgui_impl_glfw.h>
#include <backends/imgui_impl_opengl3.h>
#include <imgui_internal.h>

#include <algorithm>
#include <utility>

#include "base/cast.h"
#include "io/folder.h"
#include "panels/menus.h"
#include "panels/panels.h"
#include "session/samples.h"
#include "window/help.h"
#include "window/layout.h"

namespace headlight {

namespace fs = std::filesystem;

namespace {

/// Sample images, read once.
void show_samples(Pictures& pictures) {
    for (size_t i = 0; i < pictures.samples.size() && !pictures.samples[i].image; ++i) {
        auto image = open_picture(sample_pictures()[i].path);
        if (!image) continue;
        pictures.samples[i].texture = Texture::of_rgb(image->width, image->height, image->rgb.data());
        pictures.samples[i].image = std::make_shared<const RgbImage>(*std::move(image));
    }
}

}  // namespace

/// A GPU copies a picture to the window in no time, a CPU does not.
void Frame::prepare() {
    if (const auto parts = state_.software ? PartialSwap::find() : std::nullopt) kept_.show_by(*parts);
}

void Frame::draw() {
    shows_other_ = false;
    screen_.begin_frame();
    update_pictures();
    begin();
    const ImVec2 size = ImGui::GetIO().DisplaySize, points = state_.ui->points(size);
    const Rect window{0, 0, points.x, points.y};
    draw_views(window);
    Scene scene = state_.scene();
    draw_menus(scene, window);
    draw_help(scene, window);
    palette_.draw(scene, window);
    state_.ui->draw_focus();
    state_.ui->draw_tooltip();
    show();
    ++state_.frames_drawn;
}

void Frame::begin() {
    ImGui_ImplOpenGL3_NewFrame();
    ImGui_ImplGlfw_NewFrame();
    point();
    ImGui::NewFrame();
    drawing_ = true;
    state_.heat->begin_frame(ImGui::GetIO().DisplaySize);
    state_.text.begin_frame();
    state_.ui->begin(theme(state_.session.preferences.dark), screen_.scale());
}

/// Replays the mouse's path, one event per frame, instead of its current position.
void Frame::point() {
    const auto seen = state_.pointer.next();
    if (!seen) return;
    if (state_.pointer.waiting()) state_.want_frames(3);
    if (IMGUI_VERSION_NUM >= 18700) return;  // it keeps the order itself
    ImGuiIO& io = ImGui::GetIO();
    io.MousePos = {seen->x, seen->y};
    std::copy(seen->down.begin(), seen->down.end(), io.MouseDown);
}

/// Draws everything under the sheets. All views highlight what is hovered in the next frame.
void Frame::draw_views(Rect window) {
    ImGui::SetNextWindowPos({0, 0});
    ImGui::SetNextWindowSize(ImGui::GetIO().DisplaySize);
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {0, 0});
    ImGui::Begin("window", nullptr,
                 ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoBackground | ImGuiWindowFlags_NoMove |
                     ImGuiWindowFlags_NoBringToFrontOnFocus | ImGuiWindowFlags_NoNav |
                     ImGuiWindowFlags_NoScrollWithMouse);
    ImGui::PopStyleVar();
    state_.ui->use_list(ImGui::GetWindowDrawList());
    state_.pointed = {};
    Scene scene = state_.scene();
    draw_parts(scene, window);
    if (std::exchange(state_.session.selection.hovered, state_.pointed) != state_.pointed)
        state_.want_frames(1);
    ImGui::End();
}

ImVec4 Frame::background() const { return as_vec4(theme(state_.session.preferences.dark).bg1); }

void Frame::show() {
    ImGui::Render();
    drawing_ = false;
    const bool other_fonts = std::exchange(kept_scale_, screen_.scale()) != screen_.scale();
    if (std::exchange(state_.exposed, false) || other_fonts) kept_.forget();
    shows_other_ = kept_.draw(*ImGui::GetDrawData(), background());
}

size_t Frame::wrong_pixels() const { return kept_.wrong_pixels(*ImGui::GetDrawData()); }

void Frame::give_up() {
    if (!std::exchange(drawing_, false)) return;
    ImGui::ErrorCheckEndFrameRecover(nullptr);
    ImGui::EndFrame();
}

void Frame::reload_shaders() {
    const std::string& folder = state_.options.shader_dir;
    if (folder.empty()) return;
    fs::file_time_type newest{};
    std::error_code ignored;
    for (const fs::path& file : folder_entries(folder))
        newest = std::max(newest, fs::last_write_time(file, ignored));
    if (newest == shader_time_) return;
    shader_time_ = newest;
    const Status done = state_.heat->reload();
    kept_.forget();
    state_.session.notice = done ? "Shaders reloaded." : done.error().message;
}

namespace {
/// Turns the signed entries of each level into places of colors.
std::vector<Matrix> places_of_levels(const HeadPicture& picture, Contrast contrast) {
    const Shades shades{contrast, picture.largest, picture.percentile, true};
    std::vector<Matrix> out;
    for (const Matrix& level : picture.levels)
        out.push_back(level.unaryExpr(
            [&](float w) { return is_masked(w) ? kMasked : shades.place(w, picture.largest); }));
    return out;
}
}  // namespace

void Frame::update_pictures() {
    const Preferences& p = state_.session.preferences;
    const std::string key = p.colormap + (p.dark ? "d" : "l");
    if (key != std::exchange(colors_key_, key))
        state_.colors = Texture::of_colormap(colormap(p.colormap, p.dark));
    if (!state_.sentence()) return;
    Pictures& pictures = state_.pictures;
    const auto& picture = state_.answer->picture;
    if (!state_.shown() && state_.sentence()->model->config.can.read_image) show_samples(pictures);
    const Contrast contrast = signed_contrast(p.contrast);
    const bool other_places = picture && picture->is_mixing && pictures.of_contrast != contrast;
    if (picture && (pictures.of_picture != picture->serial.value() || other_places)) {
        pictures.values =
            Texture::of_values(picture->is_mixing ? places_of_levels(*picture, contrast) : picture->levels);
        pictures.of_contrast = contrast;
        pictures.row_largest = Texture::of_values({&picture->row_largest, 1});
        pictures.of_picture = picture->serial.value();
    }
    const SentenceResult& s = *state_.sentence();
    if (pictures.of_sentence != s.serial.value() && !s.heads.empty()) update_atlas(s);
}

/// Builds the thumbnails of all heads in one texture, as large as they fit.
void Frame::update_atlas(const SentenceResult& s) {
    Pictures& pictures = state_.pictures;
    const int count = isize(s.heads), across = s.model->config.max_heads(),
              down = (count + across - 1) / across;
    int t = narrow<int>(s.heads[0].thumbnail.rows());
    while (t > 1 && std::max(down, across) * t > Texture::most_side()) t = (t + 1) / 2;
    Matrix atlas = Matrix::Zero(down * t, across * t), sinks;
    pictures.largest = 1e-6f;
    for (int i = 0; i < count; ++i) {
        Matrix thumbnail = s.heads[i].thumbnail;
        Matrix sink = s.heads[i].sinks;
        while (thumbnail.rows() > t) thumbnail = halve(thumbnail);
        while (sink.rows() > t) sink = halve(sink);
        if (sink.size() && sinks.size() == 0) sinks = Matrix::Constant(down * t, across, kMasked);
        if (sink.size()) sinks.block(Index{i / across} * t, i % across, t, 1) = sink;
        if (s.trace->is_mixing(s.model->config.head_at(i).block)) {
            const Shades shades = shades_of(Contrast::root, thumbnail, true);
            thumbnail = thumbnail.unaryExpr([&](float w) {
                return is_masked(w) ? kMasked : kSignedEntry + shades.place(w, shades.largest);
            });
        }
        atlas.block(Index{i / across} * t, Index{i % across} * t, t, t) = thumbnail;
        if (const float own = thumbnail.maxCoeff(); own < kSignedEntry)
            pictures.largest = std::max(pictures.largest, own);
    }
    pictures.thumbnails.set(std::move(atlas), t, sinks);
    pictures.of_sentence = s.serial.value();
    const auto& photo = s.trace->request.inputs[0].picture;
    if (photo && photo != pictures.of_photo)
        pictures.photo = Texture::of_rgb(photo->image.width, photo->image.height, photo->image.rgb.data());
    pictures.of_photo = photo;
}

}  // namespace headlight
