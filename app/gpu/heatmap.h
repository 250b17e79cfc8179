// The two heat-map shaders: one large head, and all heads small. Each picture is one draw of Dear ImGui.

#pragma once

#include <imgui.h>

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/lru_cache.h"
#include "base/result.h"
#include "figure/colormap.h"
#include "figure/contrast.h"
#include "figure/figure.h"
#include "gpu/texture.h"
#include "gpu/thumbnails.h"
#include "io/image.h"

namespace headlight {

/// Common to both pictures. Colors are 0 … 1.
struct PictureStyle {
    GLuint colors = 0;
    float largest = 1;
    Axis queries = Axis::rows;
    ImVec4 background, hatch;
    float hatch_period = 6;
};

struct HeatmapDraw {
    PictureStyle style;
    GLuint values = 0, row_largest = 0;
    int across = 0, down = 0;  // cells on the screen
    Curve curve = Curve::straight;
    bool by_row = false;    // normalizes each row by its largest weight, in row_largest
    bool dots = false;      // dots sized by weight
    bool diverges = false;  // values are places about 0.5: a pixel of several shows the farthest from it
    float gap = 0;          // pixels between cells, hatched if masked; 0: cells touch
    ImVec4 rect;            // x, y, width, height in window pixels
};

struct GridSlot {
    int index = 0;      // of the head in the atlas; −1: an empty slot
    float fade = 0;     // 0 … 1 towards the background
    float largest = 1;  // weight of the brightest color
};

struct GridDraw {
    PictureStyle style;
    Thumbnails::Atlas atlas;
    int heads = 0;                // thumbnails across the atlas
    int across = 0;               // slots in a row
    std::vector<GridSlot> slots;  // row by row
    ImVec2 pitch;
    float side = 0;
    float sink = 0, apart = 0;  // pixels before the keys: weights of sinks, and the gap; 0: none are drawn
    bool linear = false;        // colors by the weight, not its square root
    GLuint signed_colors = 0;   // of entries of mixing matrices (kSignedEntry)
    ImVec4 rect;
};

class HeatmapRenderer {
public:
    /// Compiles the shaders from `shader_dir` if given (see reload()), else the embedded ones.
    static Result<HeatmapRenderer> create(const std::string& shader_dir);

    void begin_frame(ImVec2 viewport);
    void draw(ImDrawList& list, const HeatmapDraw& what);
    void draw(ImDrawList& list, const GridDraw& what);
    /// Hatches a rectangle in whole pixels: a line every `period` of them. All in one texture, because
    /// separately clipped lines cost a software renderer more than everything else.
    void hatch(ImDrawList& list, const ImVec4& rect, ImU32 color, int period);
    /// The parts in which a command draws, in pixels, and a hash of each; none if it is not the renderer's.
    struct Part {
        ImVec2 low, high;
        uint64_t look;
    };
    static std::optional<std::vector<Part>> parts_of(const ImDrawCmd& command);
    /// Textures of a matrix, a color map and a picture, created at first use.
    GLuint texture_of(const Matrix& values);
    GLuint texture_of(const RgbImage& image);
    GLuint texture_of(const Colormap& colors);
    /// Recompiles the shaders; on failure keeps the old ones and returns the error.
    Status reload();

private:
    struct Program {
        GLuint id = 0;
        GLint uniform(const char* name) const {
            return glGetUniformLocation(id, name);
        }  // −1, which GL ignores, if a variant lacks the uniform
    };
    struct Command {
        HeatmapRenderer* renderer;
        std::optional<HeatmapDraw> heatmap;
        std::optional<GridDraw> grid;
    };
    static Result<Program> compile(const std::string& shader_dir, const char* vertex, const char* fragment,
                                   const std::string& defines);
    const Program& heatmap_program(const HeatmapDraw& d) const;
    static void run(const ImDrawList* list, const ImDrawCmd* command);
    void set_style(const Program& program, const PictureStyle& style, const ImVec4& rect) const;
    void draw_now(const HeatmapDraw& d) const;
    void draw_now(const GridDraw& d) const;
    void add(ImDrawList& list, Command command);

    std::string shader_dir_;
    Program grid_;
    mutable std::map<std::string, Program> heatmaps_;  // by their defines, compiled at first use
    GLuint vertex_array_ = 0;
    mutable Texture slots_;
    Texture hatch_;
    int hatch_period_ = 0;  // of the texture
    ImVec2 viewport_;
    std::deque<Command> commands_;
    LruCache<Texture> textures_;  // by content, of recently drawn matrices and maps
};

}  // namespace headlight
