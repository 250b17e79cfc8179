// Lists the most probable contacts of a protein, and exports its map.
#include <algorithm>

#include "views/contacts/contacts.h"

namespace headlight {

namespace {

constexpr float kContactStep = 26, kContactValue = 52;

/// "12 L · 45 V   33 apart   0.93".
void draw_contact(Scene& s, Column& c, const Contact& pair, bool on) {
    Ui& ui = c.ui;
    Rect line = c.line();
    const ImU32 ink = on ? ui.colors->accent_text : ui.colors->t1;
    write(ui, take_left(line, c.at.w * 0.46f, gap::small), kCaptionMono, ink,
          residue_name(s, pair.first) + " · " + residue_name(s, pair.second));
    write(ui, take_right(line, kContactValue), kCaptionMono, on ? ink : ui.colors->t2,
          decimals(double(pair.probability), 3), Flush::right);
    ui.bar(band(line, size::bar), pair.probability, on ? ui.colors->accent : ui.colors->t3);
    c.skip(kContactStep);
}

/// Counts the pairs whose probability is at least one half.
int count_likely(const Matrix& map, int apart) {
    int out = 0;
    for (Index i = 0; i < map.rows(); ++i)
        for (Index j = i + apart; j < map.cols(); ++j) out += map(i, j) >= 0.5f;
    return out;
}

}  // namespace

void draw_contacts_side(Scene& s, Rect area, const Matrix& map) {
    constexpr float kFoot = 56;
    Ui& ui = s.ui;
    const auto& state = s.of<ContactsState>();
    Column c(ui, area, area.y + gap::medium);
    c.heading("Protein");
    c.skip(4);
    c.pair("residues", std::to_string(map.rows()));
    const std::string apart = state.apart > 1 ? ", " + std::to_string(state.apart) + "+ apart" : "";
    c.pair("pairs above 0.5" + apart, std::to_string(count_likely(map, state.apart)));
    c.skip(4);
    c.rule();
    c.heading("Most probable contacts" + apart, "probability");
    const int room = std::max(1, int((area.bottom() - kFoot - c.y) / kContactStep));
    const auto& pointed = state.pointed;
    for (const Contact& pair : likely_contacts(map, state.apart, room))
        draw_contact(
            s, c, pair,
            pointed == std::pair{pair.first, pair.second} || pointed == std::pair{pair.second, pair.first});
    if (ui.on_page()) return;
    const Rect foot{area.x, area.bottom() - size::button, area.w, size::button};
    if (ui.button("save", foot, "Save figure…")) s.send("save figure");
}

std::vector<NumberTable> contact_numbers(const Scene& s) {
    const Matrix* map = shown_contacts(s);
    if (!map) return {};
    std::vector<std::string> names;
    for (int i = 0; i < map->rows(); ++i) names.push_back(residue_name(s, i));
    return {{"contacts", "residue", "residue", names, names, *map}};
}

}  // namespace headlight
