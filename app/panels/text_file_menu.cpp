// Asks whether a dropped text file is one text or a corpus.
#include <filesystem>

#include "base/quoted.h"
#include "paint/layout.h"
#include "panels/menus.h"
#include "parts/sheet_frame.h"
#include "session/dropped_text.h"
#include "views/views.h"

namespace headlight {

void draw_text_file_menu(Scene& s, Rect window) {
    constexpr float kWide = 460, kHigh = 168, kTop = 180, kInside = 20, kLine = 48, kFirst = 196,
                    kSecond = 208;
    Ui& ui = s.ui;
    const Rect r{window.middle_x() - kWide / 2, window.y + kTop, kWide, kHigh};
    SheetFrame sheet(s, "text file menu", r);
    Rect rest = inset(r, kInside, gap::close);
    const std::string& path = s.session.of<DroppedText>().path;
    write(ui, take_top(rest, kLine), kTitle, ui.colors->t1, std::filesystem::path(path).filename().string());
    const Model* model = s.model();
    const bool reads = model && reads_text(*model);
    const char* missing = !reads ? "Open a model that reads text first." : cannot_run(*model);
    ui.text.draw_wrapped(
        rest.x, rest.y, rest.w, kBody, ui.colors->t2,
        missing ? missing : "Read the file as one text, or as a corpus with one text per line?");
    Rect buttons = take_bottom(rest, size::button + gap::medium);
    buttons.h = size::button;
    const auto look = reads ? Ui::Look::normal : Ui::Look::off;
    if (ui.button("text file/text", take_left(buttons, kFirst, gap::medium), "Use as the text", look)) {
        s.send("close", "text file");
        s.send("read text", path);
    }
    if (ui.button("text file/corpus", take_left(buttons, kSecond), "Analyze as a corpus",
                  missing ? Ui::Look::off : Ui::Look::primary)) {
        s.send("close", "text file");
        s.send("corpus", path);
    }
}

}  // namespace headlight
