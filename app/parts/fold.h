// Folds parts of the panel at the right: one sign, one memory.
#pragma once

#include <string>
#include <vector>

#include "paint/layout.h"
#include "parts/scene.h"

namespace headlight {

/// Remembers the folds that are not as they begin, by their keys.
struct TurnedFolds {
    std::vector<std::string> turned;
    void visit(FieldVisitor& visitor);
};

/// Whether a fold begins open.
enum class Begins { open, closed };
bool is_open(const Scene& scene, const std::string& key, Begins begins = Begins::open);

/// Opens what is closed, and the other way round.
void turn(Scene& scene, const std::string& key);

/// Draws the sign of a fold at the left of its line, and takes its room; a click on the line turns it.
/// Returns whether it is open. On a page every fold is open and has no sign.
bool turn_fold(Scene& scene, Rect& line, const std::string& key, Begins begins = Begins::open);

}  // namespace headlight
