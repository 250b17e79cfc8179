#include "views/contacts/contacts.h"

#include <algorithm>

#include "base/cast.h"
#include "parts/matrix_view.h"
#include "views/views.h"

namespace headlight {

namespace {

constexpr float kResidueNames = 56;

void draw_contacts_toolbar(Scene& s, Rect& rest) {
    Toolbar bar = view_toolbar(s.ui, rest);
    bar.say(kCaption, s.ui.colors->t3, "probability that two residues touch", gap::wide);
    auto& apart = s.of<ContactsState>().apart;
    const auto now = std::find(kContactsApart.begin(), kContactsApart.end(), apart) - kContactsApart.begin();
    if (const int i =
            bar.choice("List pairs", "contacts/apart",
                       {"all", "6 or more apart", "12 or more apart", "24 or more apart"}, narrow<int>(now));
        i >= 0)
        apart = kContactsApart[i];
}

std::string contact_tip(const Scene& s, const Matrix& map, int row, int column) {
    const int apart = std::abs(row - column);
    return residue_name(s, row) + " and " + residue_name(s, column) + ": " +
           decimals(double(map(row, column)), 3) + ", " + std::to_string(apart) + " apart along the chain";
}

MatrixView contacts_matrix(const Scene& s, const Matrix& map) {
    constexpr float kLargestCell = 40;
    const Colormap& colors = colormap(s.session.preferences.colormap, s.ui.colors->dark);
    MatrixView out{
        .path = "contacts/map",
        .cells = {places_of(map, 1), colors, false},
        .rows = {[&s](int i) { return residue_name(s, i); }},
        .columns = {[&s](int i) { return residue_name(s, i); }, "residue"},
        .bar = range_bar(colors, 1),
        .note = {"σ of a weighted sum over all heads of P + Pᵀ, corrected for what a residue has with every "
                 "other one (Rao et al. 2021).",
                 "From the patterns of all heads, with learned weights (Rao et al. 2021).",
                 "From all heads (Rao et al. 2021)."},
        .max_w = kLargestCell,
        .max_h = kLargestCell,
        .ratio = 1,
        .upright = true,
        .number = [&map](int row, int column) { return decimals(double(map(row, column)), 2); },
        .tip = [&s, &map](int row, int column) { return contact_tip(s, map, row, column); },
        .marked = s.of<ContactsState>().pointed};
    out.rows.room = kResidueNames;
    out.rows.ink = out.columns.ink = [&s](int) { return s.ui.colors->t2; };
    return out;
}

/// Locks the pair of a clicked cell, so that every other view shows it.
void take_pair(Scene& s, const MatrixAnswer& answer) {
    if (!s.ui.on_page()) s.of<ContactsState>().pointed = answer.hovered;
    if (answer.pressed) s.lock(std::pair{answer.hovered->first + 1, answer.hovered->second + 1});
}

void draw_contacts_map(Scene& s, Rect area, const Matrix& map) {
    MatrixView view = contacts_matrix(s, map);
    const MatrixLayout l = arrange_matrix(s.ui, area, view);
    const MatrixAnswer answer = answer_matrix(s, l, view);
    draw_matrix_view(s, l, view);
    take_pair(s, answer);
}

const char* no_contact_head(const Model& m) {
    if (const char* missing = no_weights(m)) return missing;
    if (m.engine) return "Contacts need the model's contact head here; open the model from its files.";
    return m.weights.contact ? nullptr
                             : "Contacts need a protein model with a contact head: ESM-2 stores one.";
}

std::vector<Question> ask_contacts(const Scene& s) {
    constexpr int kLeast = 3;  // the first and the last token are no residues
    return s.sentence()->trace->query_count(0) < kLeast ? std::vector<Question>{}
                                                        : std::vector<Question>{ContactsRequest{}};
}

}  // namespace

const Matrix* shown_contacts(const Scene& s) {
    const auto* found = s.found<ContactsRequest>();
    const bool fits =
        found && found->answer.rows() + 2 == isize(s.sentence()->labels[0]) && found->answer.rows() > 0;
    return fits ? &found->answer : nullptr;
}

std::string residue_name(const Scene& s, int residue) {
    return std::to_string(residue + 1) + " " + s.sentence()->labels[0][size_t(residue) + 1];
}

void draw_contacts(Scene& s, Rect area) {
    constexpr float kSide = 300;
    Rect rest = area;
    if (s.ui.on_page())
        take_top(rest, gap::medium);
    else
        draw_contacts_toolbar(s, rest);
    rest = inset(rest, size::center_pad, gap::medium);
    const Matrix* map = shown_contacts(s);
    if (!map)
        return caption(s.ui, take_top(rest, size::row),
                       "Type a protein, one letter for each residue: MKTAYIAKQRQISFVKSHFSRQ");
    const Rect side = take_right(rest, std::min(kSide, rest.w * 0.34f), gap::wide);
    draw_contacts_map(s, rest, *map);
    draw_contacts_side(s, side, *map);
}

View contacts_view() {
    return {.key = "contacts",
            .name = "Contacts",
            .answers = ViewGroup::look,
            .synonyms = "contact map, protein structure, residues, ESM",
            .draw = draw_contacts,
            .offered = reads_text,
            .missing = no_contact_head,
            .shows = View::Shows::model,
            .ask = ask_contacts,
            .page_w = 1100,
            .page_h = 800,
            .panels = View::Panels::none,
            .least_high = 260,
            .numbers = contact_numbers,
            .visit = visit_state<ContactsState>};
}

}  // namespace headlight
