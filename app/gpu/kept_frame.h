// Keeps the window's last picture and redraws only the tiles that change.
#pragma once

#include <imgui.h>

#include <deque>
#include <optional>
#include <vector>

#include "gpu/framebuffer.h"
#include "gpu/partial_swap.h"
#include "gpu/tiles.h"

struct GLFWwindow;

namespace headlight {

/// The picture is kept in the window's back buffer if parts of that can be shown, else in a framebuffer from
/// which each new picture is copied.
class KeptFrame {
public:
    /// Shows parts of the window from now on.
    void show_by(const PartialSwap& parts) { parts_ = parts; }
    /// Draws Dear ImGui's lists on a background into the bound framebuffer: redraws what changed and keeps
    /// the rest. Assumes that foreign textures and shaders are unchanged until `forget`. False: that
    /// framebuffer already has the same frame.
    bool draw(ImDrawData& data, ImVec4 background);
    /// Shows what was drawn into the window's back buffer. True: the buffer had another size; draw again.
    bool show(GLFWwindow* window);
    /// Makes the next frame a full redraw.
    void forget() { tiles_.forget(); }
    /// The share of the window that the last frame redrew, 0 … 1.
    float drawn() const;
    /// The number of pixels of the last frame that differ from a full redraw; for tests.
    size_t wrong_pixels(ImDrawData& data) const;

private:
    /// A unit of drawing: two triangles that share a side, a single one, a part of a callback's drawing.
    struct Piece {
        PixelBox box;
        unsigned first = 0, count = 0;  // of the list's indices
    };
    struct Command {
        PixelBox clip;              // as the backend clips it
        size_t begin = 0, end = 0;  // its pieces
    };
    bool make_room(const ImDrawData& data, GLuint target);
    void look_through(const ImDrawData& data);
    void look_at(const ImDrawList& list, const ImDrawCmd& command, const PixelBox& clip);
    void look_at_triangles(const ImDrawList& list, const ImDrawCmd& command, const PixelBox& clip);
    void add(const PixelBox& box, uint64_t look, unsigned first, unsigned count);
    void draw_boxes(ImDrawData& data);
    void sort_pieces();
    /// The commands of a list that draw in the boxes, each clipped to one; list by list.
    void select(const ImDrawList& list, size_t first, ImDrawList& out);
    bool selects(const Command& command, size_t box, const ImDrawList& list, ImDrawList& out);

    Tiles tiles_;
    std::optional<PartialSwap> parts_;
    Framebuffer kept_;       // unused with parts_
    bool in_parts_ = false;  // the last frame is kept in the window's back buffer
    PixelBox buffer_;        // its size, if known
    bool swapped_ = true;    // after a swap the driver creates a new buffer of the window's size
    PixelBox window_;
    std::vector<PixelBox> boxes_;  // drawn by the last frame
    ImVec4 background_;
    GLint shown_in_ = -1;                     // the framebuffer that has the last frame
    std::vector<Piece> pieces_;               // of this frame
    std::vector<Command> commands_;           // of all lists, one after another
    std::vector<uint64_t> vertices_;          // hashes of a list's vertices
    std::vector<std::vector<size_t>> shown_;  // pieces by box
    std::vector<size_t> taken_;               // number of those already selected
    std::deque<ImDrawList> selected_;
    uint64_t unknown_ = 0;  // callbacks of unknown content, which are drawn in each frame
};

}  // namespace headlight
