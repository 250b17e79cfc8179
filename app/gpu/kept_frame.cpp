#include "gpu/kept_frame.h"

#include <GLFW/glfw3.h>
#include <backends/imgui_impl_opengl3.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/cast.h"
#include "gpu/heatmap.h"

namespace headlight {

namespace {

PixelBox whole(const ImDrawData& data) { return {0, 0, int(data.DisplaySize.x), int(data.DisplaySize.y)}; }

/// The pixels of a clip rectangle in Dear ImGui's backend, with its rounding.
PixelBox clip_of(const ImDrawCmd& command, const PixelBox& window) {
    const ImVec4& c = command.ClipRect;
    if (c.z <= c.x || c.w <= c.y) return {};
    const int left = int(c.x), bottom = window.bottom - int(float(window.bottom) - c.w);
    return common({left, bottom - int(c.w - c.y), left + int(c.z - c.x), bottom}, window);
}

uint64_t look_of(const ImDrawVert& v) {
    static_assert(sizeof(ImVec2) == sizeof(uint64_t));
    return Fingerprint()
        .with(std::bit_cast<uint64_t>(v.pos))
        .with(std::bit_cast<uint64_t>(v.uv))
        .with(uint64_t{v.col})
        .value();
}

uint64_t texture_of(const ImDrawCmd& command) {
    const auto id = static_cast<GLuint>(reinterpret_cast<intptr_t>(command.GetTexID()));
    return Fingerprint().with(uint64_t{id}).with(Texture::serial(id)).value();
}

PixelBox around_all(const std::vector<PixelBox>& boxes) {
    PixelBox all = boxes[0];
    for (const PixelBox& b : boxes) all = around(all, b);
    return all;
}

void redraw(ImDrawData& data, ImVec4 background) {
    glClearColor(background.x, background.y, background.z, 1);
    glClear(GL_COLOR_BUFFER_BIT);
    ImGui_ImplOpenGL3_RenderDrawData(&data);
}

/// A second index triple that shares the first triangle's first and last corner: a rectangle, as most are.
bool is_pair(const ImDrawIdx* i) { return i[3] == i[0] && i[4] == i[2]; }

}  // namespace

void KeptFrame::add(const PixelBox& box, uint64_t look, unsigned first, unsigned count) {
    if (box.empty()) return;
    tiles_.add(box, look);
    pieces_.push_back({box, first, count});
}

void KeptFrame::look_at_triangles(const ImDrawList& list, const ImDrawCmd& command, const PixelBox& clip) {
    const uint64_t drawn_with = Fingerprint(texture_of(command)).with(clip).value();
    const ImDrawVert* vertices = list.VtxBuffer.Data + command.VtxOffset;
    const uint64_t* looks = vertices_.data() + command.VtxOffset;
    const unsigned end = command.IdxOffset + command.ElemCount;
    for (unsigned at = command.IdxOffset; at < end;) {
        const ImDrawIdx* i = list.IdxBuffer.Data + at;
        const unsigned count = at + 6 <= end && is_pair(i) ? 6 : 3;
        ImVec2 low = vertices[i[0]].pos, high = low;
        Fingerprint look(drawn_with);
        look.with(looks[i[0]]);
        for (const unsigned corner : {1u, 2u, 5u}) {
            if (corner >= count) break;
            const ImVec2 p = vertices[i[corner]].pos;
            low = {std::min(low.x, p.x), std::min(low.y, p.y)};
            high = {std::max(high.x, p.x), std::max(high.y, p.y)};
            look.with(looks[i[corner]]);
        }
        add(pixels_between(low, high, clip), look.value(), at, count);
        at += count;
    }
}

void KeptFrame::look_at(const ImDrawList& list, const ImDrawCmd& command, const PixelBox& clip) {
    if (!command.UserCallback) return look_at_triangles(list, command, clip);
    if (command.UserCallback == ImDrawCallback_ResetRenderState) return;
    const auto parts = HeatmapRenderer::parts_of(command);
    if (!parts) return add(clip, Fingerprint().with(++unknown_).value(), 0, 0);
    for (const HeatmapRenderer::Part& part : *parts)
        add(pixels_between(part.low, part.high, clip), Fingerprint(part.look).with(clip).value(), 0, 0);
}

void KeptFrame::look_through(const ImDrawData& data) {
    const PixelBox window = whole(data);
    pieces_.clear();
    commands_.clear();
    for (int l = 0; l < data.CmdListsCount; ++l) {
        const ImDrawList& list = *data.CmdLists[l];
        vertices_.resize(list.VtxBuffer.Size);
        for (int i = 0; i < list.VtxBuffer.Size; ++i) vertices_[i] = look_of(list.VtxBuffer.Data[i]);
        for (const ImDrawCmd& command : list.CmdBuffer) {
            const PixelBox clip = clip_of(command, window);
            const size_t begin = pieces_.size();
            if (!clip.empty()) look_at(list, command, clip);
            commands_.push_back({clip, begin, pieces_.size()});
        }
    }
}

/// Sorts pieces into the boxes that show them, in order, by tiles, which make up the boxes.
void KeptFrame::sort_pieces() {
    constexpr int kNone = -1;
    const PixelBox all = Tiles::touched_by(window_);
    std::vector<int> box_of(size_t(all.right) * size_t(all.bottom), kNone);
    for (int i = 0; i < isize(boxes_); ++i) {
        const PixelBox b = Tiles::touched_by(boxes_[i]);
        for (int row = b.top; row < b.bottom; ++row)
            std::fill_n(box_of.begin() + row * all.right + b.left, b.right - b.left, i);
    }
    shown_.assign(boxes_.size(), {});
    for (size_t p = 0; p < pieces_.size(); ++p) {
        const PixelBox b = Tiles::touched_by(pieces_[p].box);
        for (int row = b.top; row < b.bottom; ++row)
            for (int column = b.left; column < b.right; ++column) {
                const int i = box_of[size_t(row) * all.right + column];
                if (i != kNone && (shown_[i].empty() || shown_[i].back() != p)) shown_[i].push_back(p);
            }
    }
    taken_.assign(boxes_.size(), 0);
}

/// Copies the part of a command inside a box after the parts of earlier commands; whether there is any.
bool KeptFrame::selects(const Command& command, size_t box, const ImDrawList& list, ImDrawList& out) {
    const std::vector<size_t>& shown = shown_[box];
    const size_t begin = taken_[box];
    for (size_t& at = taken_[box]; at < shown.size() && shown[at] < command.end; ++at) {
        const Piece& piece = pieces_[shown[at]];
        const int end = out.IdxBuffer.Size;
        out.IdxBuffer.resize(end + int(piece.count));
        std::copy_n(list.IdxBuffer.Data + piece.first, piece.count, out.IdxBuffer.Data + end);
    }
    return taken_[box] != begin;
}

void KeptFrame::select(const ImDrawList& list, size_t first, ImDrawList& out) {
    out.CmdBuffer.resize(0);
    out.IdxBuffer.resize(0);
    for (size_t box = 0; box < boxes_.size(); ++box)
        for (int i = 0; i < list.CmdBuffer.Size; ++i) {
            const Command& command = commands_[first + i];
            ImDrawCmd selected = list.CmdBuffer[i];
            const bool resets = selected.UserCallback == ImDrawCallback_ResetRenderState,
                       after_callback = out.CmdBuffer.Size > 0 && out.CmdBuffer.back().UserCallback &&
                                        out.CmdBuffer.back().UserCallback != ImDrawCallback_ResetRenderState;
            selected.IdxOffset = unsigned(out.IdxBuffer.Size);
            if (resets ? !after_callback : !selects(command, box, list, out)) continue;
            const PixelBox clip = common(command.clip, boxes_[box]);
            selected.ClipRect = {float(clip.left), float(clip.top), float(clip.right), float(clip.bottom)};
            selected.ElemCount = unsigned(out.IdxBuffer.Size) - selected.IdxOffset;
            out.CmdBuffer.push_back(selected);
        }
}

void KeptFrame::draw_boxes(ImDrawData& data) {
    glEnable(GL_SCISSOR_TEST);
    for (const PixelBox& b : boxes_) {
        glScissor(b.left, window_.bottom - b.bottom, b.right - b.left, b.bottom - b.top);
        glClear(GL_COLOR_BUFFER_BIT);
    }
    glDisable(GL_SCISSOR_TEST);
    while (selected_.size() < size_t(data.CmdListsCount))
        selected_.emplace_back(ImGui::GetDrawListSharedData());
    sort_pieces();
    std::vector<ImDrawList*> lists;
    size_t first = 0;
    for (int l = 0; l < data.CmdListsCount; ++l) {
        ImDrawList &list = *data.CmdLists[l], &out = selected_[l];
        select(list, first, out);
        first += list.CmdBuffer.Size;
        lists.push_back(&list);
        out.VtxBuffer.swap(list.VtxBuffer);
        data.CmdLists[l] = &out;
    }
    ImGui_ImplOpenGL3_RenderDrawData(&data);
    for (int l = 0; l < data.CmdListsCount; ++l) {
        selected_[l].VtxBuffer.swap(lists[l]->VtxBuffer);
        data.CmdLists[l] = lists[l];
    }
}

/// Binds the buffer that keeps a picture of the window's size; false if there is none.
bool KeptFrame::make_room(const ImDrawData& data, GLuint target) {
    if (data.FramebufferScale.x != 1 || data.FramebufferScale.y != 1 || data.DisplayPos.x != 0 ||
        data.DisplayPos.y != 0)
        return false;  // positions in lists are not pixels
    window_ = whole(data);
    if (parts_) return target == 0;
    if (window_.right == kept_.width() && window_.bottom == kept_.height()) return kept_.complete();
    kept_ = Framebuffer(window_.right, window_.bottom);
    forget();
    return kept_.complete();
}

bool KeptFrame::draw(ImDrawData& data, ImVec4 background) {
    if (whole(data).empty()) return false;
    GLint bound = 0;
    glGetIntegerv(GL_DRAW_FRAMEBUFFER_BINDING, &bound);
    const auto target = static_cast<GLuint>(bound);
    background_ = background;
    in_parts_ = parts_ && target == 0;
    if (!make_room(data, target)) {
        in_parts_ = false;
        glBindFramebuffer(GL_FRAMEBUFFER, target);
        redraw(data, background);
        forget();
        boxes_ = {whole(data)};
        return true;
    }
    if (in_parts_ && swapped_) forget();
    tiles_.begin(window_.right, window_.bottom);
    tiles_.add(window_, Fingerprint().with(background).value());
    look_through(data);
    boxes_ = tiles_.changed();
    glClearColor(background.x, background.y, background.z, 1);
    if (boxes_.size() == 1 && boxes_[0] == window_)
        redraw(data, background);
    else if (!boxes_.empty())
        draw_boxes(data);
    if (parts_) return !boxes_.empty();
    const bool elsewhere = std::exchange(shown_in_, bound) != bound, shows = elsewhere || !boxes_.empty();
    if (shows)
        kept_.copy_to(target);
    else
        glBindFramebuffer(GL_FRAMEBUFFER, target);
    return shows;
}

/// Cuts a part out of the buffer by its height, which must be the window's: Mesa's software renderer resizes
/// the buffer at the first drawing after a swap. If the window has the same size before and after drawing the
/// lists, so has the buffer.
bool KeptFrame::show(GLFWwindow* window) {
    PixelBox now;
    glfwGetFramebufferSize(window, &now.right, &now.bottom);
    if (swapped_) buffer_ = window_;
    if (in_parts_ && buffer_ == window_ && now == window_) {
        swapped_ = false;
        if (!boxes_.empty())
            parts_->show(around_all(boxes_), window_.bottom);  // each is a round trip to the server
        return false;
    }
    glfwSwapBuffers(window);
    swapped_ = true;
    return in_parts_;
}

float KeptFrame::drawn() const {
    double area = 0;
    for (const PixelBox& b : boxes_) area += double(b.right - b.left) * (b.bottom - b.top);
    return window_.empty() ? 1 : float(area / (double(window_.right) * window_.bottom));
}

/// Reads both from the same buffer: a window is drawn upside down, which rounds some edges differently.
size_t KeptFrame::wrong_pixels(ImDrawData& data) const {
    constexpr size_t kColors = 3;  // of four bytes; windows may lack the fourth
    GLint target = 0;
    glGetIntegerv(GL_DRAW_FRAMEBUFFER_BINDING, &target);
    if (in_parts_ && swapped_) return 0;  // the buffer's content is gone
    if (!in_parts_) kept_.bind();
    const std::vector<unsigned char> shown = bound_pixels(window_.right, window_.bottom);
    redraw(data, background_);
    const std::vector<unsigned char> right = bound_pixels(window_.right, window_.bottom);
    glBindFramebuffer(GL_FRAMEBUFFER, GLuint(target));
    size_t wrong = 0;
    for (size_t i = 0; i < right.size(); i += 4)
        wrong += std::memcmp(right.data() + i, shown.data() + i, kColors) != 0;
    return wrong;
}

}  // namespace headlight
