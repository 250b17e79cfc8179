#include "parts/sheet_frame.h"

#include "base/cast.h"

namespace headlight {

namespace {
constexpr ImGuiWindowFlags kSheet = ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove |
                                    ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoBackground;
}

SheetFrame::SheetFrame(Scene& s, const char* name, Rect r) : s_(s), below_(s.ui.list) {
    const Rect on_screen = s.ui.pixels(r);
    ImGui::SetNextWindowPos(on_screen.min());
    ImGui::SetNextWindowSize({on_screen.w, on_screen.h});
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {0, 0});
    ImGui::Begin(name, nullptr, kSheet);
    s.ui.use_list(ImGui::GetWindowDrawList());
    s.ui.fill(r, s.ui.colors->bg2, size::popup_corner);
    s.ui.frame(r, s.ui.colors->l2, 1, size::popup_corner);
    s.ui.name(name, r);
    s.ui.only_from_here();
    if (ImGui::IsWindowAppearing())
        ImGui::SetWindowFocus();
    else if (ImGui::IsMouseReleased(0) &&
             !ImGui::IsPopupOpen("", ImGuiPopupFlags_AnyPopupId | ImGuiPopupFlags_AnyPopupLevel) &&
             !on_screen.contains(ImGui::GetIO().MouseClickedPos[0]) &&
             !on_screen.contains(ImGui::GetMousePos()))
        s.send("close", row_of(kSheetNames, *s.session.sheet));
}

SheetFrame::~SheetFrame() {
    ImGui::End();
    ImGui::PopStyleVar();
    s_.ui.use_list(below_);
}

}  // namespace headlight
