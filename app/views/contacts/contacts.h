// Contacts: which residues of a protein touch, predicted from the patterns of all heads (ESM).
#pragma once

#include "io/numbers.h"
#include "parts/controls.h"

namespace headlight {

struct View;

/// Least distances along the chain of listed pairs, as contacts are scored: short, medium and long ones.
inline constexpr std::array<int, 4> kContactsApartValues{1, 6, 12, 24};
inline constexpr std::span<const int> kContactsApart = kContactsApartValues;

struct ContactsState {
    int apart = 6;
    std::optional<std::pair<int, int>> pointed;  // residues
    void visit(FieldVisitor& v) {
        v.integer("contacts_apart", apart, 1, 24);
        v.choose_among(apart, kContactsApart,
                       {"contacts apart",
                        "Contacts: distance along the chain",
                        "least number of residues from one of a listed pair to the other",
                        {"1", "6", "12", "24"}});
    }
};

/// Returns the map of the shown protein, or null.
const Matrix* shown_contacts(const Scene& scene);
/// "12 L": a residue as biologists count it, from 1.
std::string residue_name(const Scene& scene, int residue);

void draw_contacts(Scene& scene, Rect area);
/// Lists the most probable contacts.
void draw_contacts_side(Scene& scene, Rect area, const Matrix& map);
std::vector<NumberTable> contact_numbers(const Scene& scene);

View contacts_view();

}  // namespace headlight
