// Text on the screen. Latin comes from Dear ImGui's atlas; every other script and emoji from Pango, as in the
// figures, cached.
#pragma once

#include <imgui.h>

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "base/lru_cache.h"
#include "base/result.h"
#include "figure/canvas.h"
#include "gpu/texture.h"

namespace headlight {

struct TextPiece;  // figure/text_pieces.h

/// A face at one of the three sizes.
struct Font {
    Face face = Face::sans;
    float points = 15;
};

/// A text of this frame, for tests: where it stands in pixels, and what is seen of it.
struct DrawnText {
    std::string text;
    ImVec4 box;            // left, top, right, bottom of capitals and digits, before it is turned
    float angle = 0;       // about the left end of its middle
    ImVec4 seen;           // what it is clipped to
    std::string layer;     // what is drawn over one another on purpose is in several
    bool covered = false;  // in part, by something opaque
};

class TextPainter {
public:
    /// Puts the fonts of all sizes into the atlas for this scale (pixels per point). Call before a frame
    /// begins. All lengths below are points.
    void load(float scale);
    /// Lets go of pictures that were not drawn for long; between two frames, because the last one's list
    /// names them.
    void begin_frame();
    void set_list(ImDrawList* list) { list_ = list; }
    /// Notes what is drawn in each frame from now on.
    void note_drawn() { notes_ = true; }
    const std::vector<DrawnText>& drawn() const { return drawn_; }
    /// Notes that something opaque was drawn over what stood there before, in pixels.
    void cover(ImVec2 min, ImVec2 max);
    /// Draws on a page from now on: Pango for everything, a point a CSS pixel.
    void set_page(const Canvas* page) { page_ = page; }

    /// How wide a line is in pixels, and how it is drawn.
    struct Measured {
        float pixels = 0;
        bool in_atlas = false;
    };
    Measured measure(Font font, std::string_view text);
    float points(const Measured& m) const { return m.pixels / scale_; }
    float width(Font font, std::string_view text) { return points(measure(font, text)); }
    /// Draws one line whose left edge is x and whose middle is y; returns its width. `angle` turns it about
    /// (x, y).
    float draw(float x, float y, Font font, ImU32 color, std::string_view text, float angle = 0);
    /// The same of a line that was measured before.
    float draw(float x, float y, Font font, ImU32 color, std::string_view text, const Measured& measured,
               float angle = 0);
    float draw_right(float x, float y, Font font, ImU32 color, std::string_view text);
    float draw_centered(float x, float y, Font font, ImU32 color, std::string_view text);
    /// Wraps at `wrap`; y is the top. Returns the height.
    float draw_wrapped(float x, float y, float wrap, Font font, ImU32 color, const std::string& text);
    /// The height that takes.
    float wrapped_height(float wrap, Font font, const std::string& text) const;
    /// The text cut with … at its end so that it fits.
    std::string fitted(Font font, const std::string& text, float room);

private:
    struct Loaded {
        ImFont* font = nullptr;
        float pixels = 0;  // the size Dear ImGui wants: ascent plus descent
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
    float line_height(Font font) const;
    std::vector<TextPiece> pieces(Font font, const std::string& text) const;

    bool notes_ = false;
    std::vector<DrawnText> drawn_;  // in this frame
    ImDrawList* list_ = nullptr;
    const Canvas* page_ = nullptr;
    float scale_ = 1;
    std::array<Loaded, 6> fonts_;
    LruCache<Picture> pictures_;  // by bytes of their textures
    LruCache<float> widths_;      // of what Pango draws
};

/// Lines of at most `wrap` pixels: broken at blanks, and within a word where it alone is wider.
std::vector<std::string> broken_lines(const std::string& text, const std::vector<TextPiece>& pieces,
                                      double wrap);

/// The file that fontconfig gives for a face.
std::string font_file(Face face);

/// Whether Dear ImGui's atlas holds every character of the text.
bool in_atlas(std::string_view text);

}  // namespace headlight
