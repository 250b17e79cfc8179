#include "gpu/heatmap.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/cast.h"
#include "base/embedded.h"
#include "base/quoted.h"
#include "io/mapped_file.h"

namespace headlight {

namespace {

Result<std::string> shader_source(const std::string& dir, const std::string& name) {
    if (dir.empty()) return std::string(embedded_file("shaders/" + name));
    TRY(const auto file, MappedFile::open(std::filesystem::path(dir) / name));
    return std::string(file->text());
}

Result<GLuint> compile_stage(GLenum stage, const std::string& source, const std::string& name) {
    const GLuint shader = glCreateShader(stage);
    const char* text = source.c_str();
    glShaderSource(shader, 1, &text, nullptr);
    glCompileShader(shader);
    GLint done = 0;
    glGetShaderiv(shader, GL_COMPILE_STATUS, &done);
    if (done) return shader;
    char log[600] = "";
    glGetShaderInfoLog(shader, sizeof log, nullptr, log);
    glDeleteShader(shader);
    return Error{"The shader " + name + " does not compile: " + log};
}

/// The program's own shaders are right, so a failure is the driver's.
Error driver_refuses(const Error& why) {
    const auto say = [](GLenum what) {
        const GLubyte* text = glGetString(what);
        return printable(text ? reinterpret_cast<const char*>(text) : "unknown");
    };
    return Error{"The graphics driver (" + say(GL_RENDERER) + ", GLSL " + say(GL_SHADING_LANGUAGE_VERSION) +
                 ") rejects the program's shaders; update it, or set LIBGL_ALWAYS_SOFTWARE=1 (" +
                 shortened(why.message) + ")."};
}

}  // namespace

Result<HeatmapRenderer::Program> HeatmapRenderer::compile(const std::string& dir, const char* vertex,
                                                          const char* fragment, const std::string& defines) {
    TRY(const std::string vertex_source, shader_source(dir, vertex));
    TRY(std::string fragment_source, shader_source(dir, fragment));
    fragment_source.insert(std::min(fragment_source.size(), fragment_source.find('\n') + 1),
                           defines);  // after #version
    TRY(const GLuint vs, compile_stage(GL_VERTEX_SHADER, vertex_source, vertex));
    TRY(const GLuint fs, compile_stage(GL_FRAGMENT_SHADER, fragment_source, fragment));
    const Program program{glCreateProgram()};
    glAttachShader(program.id, vs);
    glAttachShader(program.id, fs);
    glLinkProgram(program.id);
    glDeleteShader(vs);
    glDeleteShader(fs);
    GLint done = 0;
    glGetProgramiv(program.id, GL_LINK_STATUS, &done);
    if (done) return program;
    char log[600] = "";
    glGetProgramInfoLog(program.id, sizeof log, nullptr, log);
    glDeleteProgram(program.id);
    return Error{std::string("The shader ") + fragment + " does not link: " + log};
}

Result<HeatmapRenderer> HeatmapRenderer::create(const std::string& shader_dir) {
    HeatmapRenderer r;
    r.shader_dir_ = shader_dir;
    const Status compiled = r.reload();
    if (!compiled && shader_dir.empty()) return driver_refuses(compiled.error());
    TRY_STATUS(compiled);
    glGenVertexArrays(1, &r.vertex_array_);
    return r;
}

const HeatmapRenderer::Program& HeatmapRenderer::heatmap_program(const HeatmapDraw& d) const {
    const bool minify = d.rect.z < float(d.across);
    std::string variant = "#define CURVE " + std::to_string(static_cast<int>(d.curve)) + "\n";
    if (d.by_row) variant += "#define BY_ROW\n";
    if (minify) variant += "#define MINIFY\n";
    if (minify && d.diverges) variant += "#define DIVERGES\n";
    if (!minify && d.dots) variant += "#define DOTS\n";
    if (!minify && d.gap > 0) variant += "#define GAPS\n";
    Program& program = heatmaps_[variant];
    if (!program.id) {
        const auto compiled = compile(shader_dir_, "quad.vert", "heatmap.frag", variant);
        if (compiled) program = *compiled;
    }
    return program;
}

Status HeatmapRenderer::reload() {
    TRY(const Program grid, compile(shader_dir_, "grid.vert", "grid.frag", ""));
    constexpr const char* kPlain = "#define CURVE 0\n";
    TRY(const Program heatmap, compile(shader_dir_, "quad.vert", "heatmap.frag", kPlain));
    if (grid_.id) glDeleteProgram(grid_.id);
    for (const auto& [key, program] : heatmaps_) glDeleteProgram(program.id);
    grid_ = grid;
    heatmaps_ = {{kPlain, heatmap}};
    return success();
}

void HeatmapRenderer::begin_frame(ImVec2 viewport) {
    constexpr size_t kMaxBytes = 64 << 20;
    viewport_ = viewport;
    commands_.clear();
    textures_.trim(kMaxBytes);
}

namespace {

std::string name_of(const void* data, size_t bytes, Index rows) {
    const std::string_view all(static_cast<const char*>(data), bytes);
    return std::to_string(std::hash<std::string_view>()(all)) + ":" + std::to_string(bytes) + ":" +
           std::to_string(rows);
}

}  // namespace

GLuint HeatmapRenderer::texture_of(const Matrix& values) {
    const size_t bytes = values.size() * sizeof(float);
    std::string name = name_of(values.data(), bytes, values.rows());
    if (const Texture* known = textures_.find(name)) return known->id();
    return textures_.add(std::move(name), Texture::of_values({&values, 1}), bytes).id();
}

GLuint HeatmapRenderer::texture_of(const Colormap& colors) {
    std::string name = name_of(colors.data(), sizeof colors, 0);
    if (const Texture* known = textures_.find(name)) return known->id();
    return textures_.add(std::move(name), Texture::of_colormap(colors), sizeof colors).id();
}

GLuint HeatmapRenderer::texture_of(const RgbImage& image) {
    std::string name = "rgb:" + name_of(image.rgb.data(), image.rgb.size(), image.height);
    if (const Texture* known = textures_.find(name)) return known->id();
    return textures_
        .add(std::move(name), Texture::of_rgb(image.width, image.height, image.rgb.data()), image.rgb.size())
        .id();
}

void HeatmapRenderer::add(ImDrawList& list, Command command) {
    commands_.push_back(std::move(command));
    list.AddCallback(run, &commands_.back());
    list.AddCallback(ImDrawCallback_ResetRenderState, nullptr);
}

void HeatmapRenderer::draw(ImDrawList& list, const HeatmapDraw& what) { add(list, {this, what, {}}); }
void HeatmapRenderer::draw(ImDrawList& list, const GridDraw& what) { add(list, {this, {}, what}); }

namespace {

constexpr int kHatchSide = 256;  // pixels of the texture

Texture hatch_texture(int period) {
    std::vector<uint32_t> pixels(size_t{kHatchSide} * kHatchSide);
    for (int y = 0; y < kHatchSide; ++y)
        for (int x = 0; x < kHatchSide; ++x)
            if ((x + y) % period < std::max(1, period / 6)) pixels[size_t{kHatchSide} * y + x] = 0xFFFFFFFF;
    return Texture::of_argb(kHatchSide, kHatchSide, kHatchSide * int(sizeof(uint32_t)),
                            reinterpret_cast<const unsigned char*>(pixels.data()));
}

}  // namespace

void HeatmapRenderer::hatch(ImDrawList& list, const ImVec4& rect, ImU32 color, int period) {
    if (std::exchange(hatch_period_, period) != period) hatch_ = hatch_texture(period);
    const float left = std::round(rect.x), top = std::round(rect.y), right = std::round(rect.x + rect.z),
                bottom = std::round(rect.y + rect.w), step = float(kHatchSide - period);
    const auto texel = [&](float at) {  // also for cells scrolled off to the left
        return std::fmod(std::fmod(at, float(period)) + float(period), float(period)) / kHatchSide;
    };
    for (float y = top; y < bottom; y += step)
        for (float x = left; x < right; x += step) {
            const float w = std::min(step, right - x), h = std::min(step, bottom - y);
            const ImVec2 from{texel(x), texel(y)};
            list.AddImage(reinterpret_cast<ImTextureID>(static_cast<intptr_t>(hatch_.id())), {x, y},
                          {x + w, y + h}, from, {from.x + w / kHatchSide, from.y + h / kHatchSide}, color);
        }
}

void HeatmapRenderer::run(const ImDrawList*, const ImDrawCmd* cmd) {
    const auto& command = *static_cast<const Command*>(cmd->UserCallbackData);
    const HeatmapRenderer& r = *command.renderer;
    const ImVec4 clip = cmd->ClipRect;
    glScissor(int(clip.x), int(r.viewport_.y - clip.w), int(clip.z - clip.x), int(clip.w - clip.y));
    glDisable(GL_BLEND);
    glBindVertexArray(r.vertex_array_);
    if (command.heatmap) r.draw_now(*command.heatmap);
    if (command.grid) r.draw_now(*command.grid);
    glEnable(GL_BLEND);
}

void HeatmapRenderer::set_style(const Program& p, const PictureStyle& s, const ImVec4& rect) const {
    glUseProgram(p.id);
    glUniform4f(p.uniform("rect"), rect.x, rect.y, rect.z, rect.w);
    glUniform2f(p.uniform("viewport"), viewport_.x, viewport_.y);
    glUniform1f(p.uniform("largest"), s.largest);
    glUniform1i(p.uniform("columns"), s.queries == Axis::columns);
    glUniform3f(p.uniform("background"), s.background.x, s.background.y, s.background.z);
    glUniform1i(p.uniform("colors"), 1);
    glActiveTexture(GL_TEXTURE1);
    glBindTexture(GL_TEXTURE_2D, s.colors);
    glActiveTexture(GL_TEXTURE0);
}

void HeatmapRenderer::draw_now(const HeatmapDraw& d) const {
    const Program& heatmap = heatmap_program(d);
    set_style(heatmap, d.style, d.rect);
    glUniform1i(heatmap.uniform("values"), 0);
    glUniform1i(heatmap.uniform("row_largest"), 2);
    glUniform2i(heatmap.uniform("cells"), d.across, d.down);
    glUniform1f(heatmap.uniform("log_floor"), kLogFloor);
    glUniform3f(heatmap.uniform("hatch"), d.style.hatch.x, d.style.hatch.y, d.style.hatch.z);
    glUniform1f(heatmap.uniform("hatch_period"), std::max(2.0f, std::round(d.style.hatch_period)));
    glUniform1f(heatmap.uniform("gap_width"), d.gap);
    glActiveTexture(GL_TEXTURE2);
    glBindTexture(GL_TEXTURE_2D, d.row_largest);
    glActiveTexture(GL_TEXTURE0);
    glBindTexture(GL_TEXTURE_2D, d.values);
    glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
}

void HeatmapRenderer::draw_now(const GridDraw& d) const {
    set_style(grid_, d.style, d.rect);
    glUniform1i(grid_.uniform("atlas"), 0);
    constexpr int kAcross = 1024;  // OpenGL 3.3 guarantees textures as wide
    const int count = isize(d.slots), across = std::clamp(count, 1, kAcross);
    Matrix slots = Matrix::Zero(3 * ((count + across - 1) / across), across);
    for (int i = 0; i < count; ++i)
        slots.block<3, 1>(3 * (i / across), i % across) << float(d.slots[i].index), d.slots[i].fade,
            d.slots[i].largest;
    slots_ = Texture::of_values({&slots, 1});
    glUniform1i(grid_.uniform("slots"), 2);
    glUniform1i(grid_.uniform("t"), d.atlas.t);
    glUniform1f(grid_.uniform("covered"), d.atlas.covered);
    glUniform1f(grid_.uniform("heads"), float(d.heads));
    glUniform1f(grid_.uniform("across"), float(d.across));
    glUniform2f(grid_.uniform("pitch"), d.pitch.x, d.pitch.y);
    glUniform1f(grid_.uniform("side"), d.side);
    const float apart = d.atlas.sinks ? d.apart : 0, sink = d.atlas.sinks ? d.sink : 0;
    glUniform1f(grid_.uniform("beside"), sink + apart);
    glUniform1f(grid_.uniform("apart"), apart);
    glUniform1i(grid_.uniform("sink_t"), d.atlas.queries);
    glUniform1f(grid_.uniform("sink_covered"), float(d.atlas.queries) / d.side);
    glUniform1i(grid_.uniform("sinks"), 4);
    glActiveTexture(GL_TEXTURE4);
    glBindTexture(GL_TEXTURE_2D, d.atlas.sinks);
    glUniform1i(grid_.uniform("linear"), d.linear);
    glUniform1i(grid_.uniform("signed_colors"), 3);
    glActiveTexture(GL_TEXTURE3);
    glBindTexture(GL_TEXTURE_2D, d.signed_colors);
    glActiveTexture(GL_TEXTURE2);
    glBindTexture(GL_TEXTURE_2D, slots_.id());
    glActiveTexture(GL_TEXTURE0);
    glBindTexture(GL_TEXTURE_2D, d.atlas.texture);
    glDrawArraysInstanced(GL_TRIANGLE_STRIP, 0, 4, isize(d.slots));
}

}  // namespace headlight
