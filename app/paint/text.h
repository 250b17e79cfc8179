// Draws text on the screen: Latin by Dear ImGui's atlas, other scripts and emoji by Pango, cached.
#pragma once

#include <imgui.h>

#include <array>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/lru_cache.h"
#include "figure/canvas.h"
#include "gpu/texture.h"

namespace headlight {

struct TextPiece;  // figure/text_pieces.h

struct Font {
    Face face = Face::sans;
    float points = 15;
};

/// A text of this frame, for tests: its position in pixels, and the visible part.
struct DrawnText {
    std::string text;
    ImVec4 box;              // left, top, right, bottom of capitals and digits, before rotation
    float angle = 0;         // about the left end of its middle
    ImVec4 seen;             // its clip rectangle
    std::string layer;       // texts that overlap on purpose are in different layers
    bool covered = false;    // partly, by something opaque
    bool cut = false;        // by the clip rectangle, unless it may be
    bool shortened = false;  // ends in … for lack of room
};

class TextPainter {
public:
    /// Loads all fonts into the atlas for this scale (pixels per point), before a frame. Lengths are points.
    void load(float scale);
    /// Frees pictures not drawn for long; between frames, because the last draw list names them.
    void begin_frame();
    void set_list(ImDrawList* list) { list_ = list; }
    /// Records drawn texts in each frame from now on.
    void note_drawn() { notes_ = true; }
    const std::vector<DrawnText>& drawn() const { return drawn_; }
    /// Says what texts from now on may lose: lines that scroll their upper or lower part, parts of a word the
    /// rest of it.
    enum class MayCut { nothing, lines, words };
    void may_cut(MayCut may) { may_cut_ = may; }
    /// Records that something opaque covers this area, in pixels.
    void cover(ImVec2 min, ImVec2 max);
    /// Draws on a page from now on: Pango for everything, a point as a CSS pixel.
    void set_page(const Canvas* page) { page_ = page; }
    /// Only measures texts from now on.
    bool without_ink = false;

    /// A line's width in pixels, and how to draw it.
    struct Measured {
        float pixels = 0;
        bool in_atlas = false;
    };
    Measured measure(Font font, std::string_view text);
    float points(const Measured& m) const { return m.pixels / scale_; }
    float width(Font font, std::string_view text) { return points(measure(font, text)); }
    /// Draws one line from x on, its middle at y; returns its width. `angle` rotates it about (x, y).
    float draw(float x, float y, Font font, ImU32 color, std::string_view text, float angle = 0);
    /// The same for a line measured before.
    float draw(float x, float y, Font font, ImU32 color, std::string_view text, const Measured& measured,
               float angle = 0);
    float draw_right(float x, float y, Font font, ImU32 color, std::string_view text);
    float draw_centered(float x, float y, Font font, ImU32 color, std::string_view text);
    /// Wraps at `wrap`; y is the top. Returns the height.
    float draw_wrapped(float x, float y, float wrap, Font font, ImU32 color, const std::string& text);
    float wrapped_height(float wrap, Font font, const std::string& text) const;
    /// Returns from where to where consecutive parts of a line, which end at these bytes, are drawn. A part
    /// of a character gets its share of it.
    std::vector<std::pair<float, float>> parts(Font font, const std::string& text,
                                               const std::vector<size_t>& ends) const;
    /// Truncates a text with … to fit.
    std::string fitted(Font font, const std::string& text, float room);

private:
    struct Loaded {
        ImFont* font = nullptr;
        float pixels = 0;  // size in Dear ImGui's sense: ascent plus descent
    };
    struct Picture {
        Texture texture;
        float width = 0, height = 0;
        bool colored = false;
    };
    const Loaded& loaded(Font font) const;
    bool is_out_of_sight(Font font, float middle) const;
    void note(ImVec2 at, Font font, std::string_view text, const Measured& measured, float angle);
    const Picture& picture(Font font, std::string_view text, ImU32 color);
    const Picture& picture_in(Font font, std::string_view text, Rgb ink);
    float width_on_page(Font font, std::string_view text);
    float line_height(Font font) const;
    std::vector<TextPiece> pieces(Font font, const std::string& text) const;

    bool notes_ = false;
    MayCut may_cut_ = MayCut::nothing;
    std::vector<DrawnText> drawn_;     // in this frame
    std::set<std::string> shortened_;  // while drawn texts are recorded
    ImDrawList* list_ = nullptr;
    const Canvas* page_ = nullptr;
    float scale_ = 1;
    std::array<Loaded, 6> fonts_;
    LruCache<Picture> pictures_;  // limited by bytes of their textures
    LruCache<float> widths_;      // of text that Pango draws
};

/// Lines of at most `wrap` pixels: broken at spaces, and within a word only if it is too wide by itself.
std::vector<std::string> broken_lines(const std::string& text, const std::vector<TextPiece>& pieces,
                                      double wrap);

/// The file that fontconfig finds for a face.
std::string font_file(Face face);

/// Whether Dear ImGui's atlas has every character of the text.
bool in_atlas(std::string_view text);

}  // namespace headlight
