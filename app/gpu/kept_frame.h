// The window's picture as it was drawn last: of a new frame only the tiles are drawn that look otherwise.
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

/// It lies in the window's back buffer where parts of that can be shown; else in a framebuffer, of which each
/// new picture is copied there.
class KeptFrame {
public:
    /// Shows parts of the window from now on.
    void show_by(const PartialSwap& parts) { parts_ = parts; }
    /// Draws Dear ImGui's lists on a background into the framebuffer that is bound: what differs from the
    /// last frame anew, the rest as it is kept. Textures that others made and shaders are taken to be as
    /// they were until `forget`. False: that framebuffer has the same frame already.
    bool draw(ImDrawData& data, ImVec4 background);
    /// Shows what was drawn into the window's back buffer. True: another frame is to follow, because that one
    /// was drawn into a buffer of another size.
    bool show(GLFWwindow* window);
    /// The next frame is drawn as a whole: nothing is known of what is kept.
    void forget() { tiles_.forget(); }
    /// How much of the window the last frame drew anew, 0 … 1.
    float drawn() const;
    /// How many pixels of the last frame differ from those of one that is drawn as a whole; for tests.
    size_t wrong_pixels(ImDrawData& data) const;

private:
    /// What is drawn in one: two triangles that share a side, one alone, a part of what a callback draws.
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
    /// The commands of a list that draw in the boxes, each clipped to one; list after list.
    void select(const ImDrawList& list, size_t first, ImDrawList& out);
    bool selects(const Command& command, size_t box, const ImDrawList& list, ImDrawList& out);

    Tiles tiles_;
    std::optional<PartialSwap> parts_;
    Framebuffer kept_;       // not with parts_
    bool in_parts_ = false;  // the last frame is kept in the window's back buffer
    PixelBox buffer_;        // the size of that, as long as it is known
    bool swapped_ = true;    // whole buffers: a driver makes another one of the window's size then
    PixelBox window_;
    std::vector<PixelBox> boxes_;  // that the last frame drew
    ImVec4 background_;
    GLint shown_in_ = -1;                     // the framebuffer that has the last frame
    std::vector<Piece> pieces_;               // of this frame
    std::vector<Command> commands_;           // of all lists, one after another
    std::vector<uint64_t> vertices_;          // how those of a list look
    std::vector<std::vector<size_t>> shown_;  // pieces, by the box that shows them
    std::vector<size_t> taken_;               // of those: how many were selected
    std::deque<ImDrawList> selected_;
    uint64_t unknown_ = 0;  // callbacks of which nothing is known, so that they are drawn in each frame
};

}  // namespace headlight
