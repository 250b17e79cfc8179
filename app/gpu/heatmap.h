// The two heat-map shaders: one head large, all heads small. Each picture is one draw inside Dear ImGui's
// list.

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

/// What both pictures share. Colors are 0 … 1.
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
    int across = 0, down = 0;  // cells as they lie on the screen
    Curve curve = Curve::straight;
    bool by_row = false;  // each row up to its own largest, which row_largest holds
    bool dots = false;    // the larger the weight, the larger the dot
    float gap = 0;        // pixels between cells, which are hatched where they are masked; 0: cells touch
    ImVec4 rect;          // x, y, width, height in window pixels
};

/// A place for one thumbnail.
struct GridSlot {
    int index = 0;      // of the head in the atlas; −1: the place is empty
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
    bool linear = false;  // colors by the weight, not its square root
    ImVec4 rect;
};

class HeatmapRenderer {
public:
    /// Compiles the shaders, from `shader_dir` where one is given (reloaded by reload()), else from the
    /// program itself.
    static Result<HeatmapRenderer> create(const std::string& shader_dir);

    void begin_frame(ImVec2 viewport);
    void draw(ImDrawList& list, const HeatmapDraw& what);
    void draw(ImDrawList& list, const GridDraw& what);
    /// Hatches a rectangle in whole pixels: a line every `period` of them. All in one texture, because lines
    /// of their own, each clipped, cost a software renderer more than all else that is drawn.
    void hatch(ImDrawList& list, const ImVec4& rect, ImU32 color, int period);
    /// Where a command of a list draws in so many parts, in pixels, and how each looks, as a number; none
    /// where the command is not the renderer's.
    struct Part {
        ImVec2 low, high;
        uint64_t look;
    };
    static std::optional<std::vector<Part>> parts_of(const ImDrawCmd& command);
    /// Textures of a matrix, of a color map and of a picture, made when what they hold is drawn first.
    GLuint texture_of(const Matrix& values);
    GLuint texture_of(const RgbImage& image);
    GLuint texture_of(const Colormap& colors);
    /// Compiles the shaders again; on failure the old ones stay and the message says why.
    Status reload();

private:
    struct Program {
        GLuint id = 0;
        GLint uniform(const char* name) const {
            return glGetUniformLocation(id, name);
        }  // −1, which GL ignores, where a variant has no such uniform
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
    mutable std::map<std::string, Program> heatmaps_;  // by what they define, compiled when first drawn
    GLuint vertex_array_ = 0;
    mutable Texture slots_;
    Texture hatch_;
    int hatch_period_ = 0;  // of the texture
    ImVec2 viewport_;
    std::deque<Command> commands_;
    LruCache<Texture> textures_;  // by what they hold, of matrices and maps that were drawn last
};

}  // namespace headlight
