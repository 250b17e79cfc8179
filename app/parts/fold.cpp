#include "parts/fold.h"

#include "base/cast.h"
#include "session/field_visitors.h"

namespace headlight {

void TurnedFolds::visit(FieldVisitor& v) {
    constexpr size_t kMax = 64;
    v.list("folds", turned, kMax);
}

bool is_open(const Scene& s, const std::string& key, Begins begins) {
    return contains(s.of<TurnedFolds>().turned, key) != (begins == Begins::open);
}

void turn(Scene& s, const std::string& key) {
    auto& turned = s.of<TurnedFolds>().turned;
    if (std::erase(turned, key) == 0) turned.push_back(key);
}

bool turn_fold(Scene& s, Rect& line, const std::string& key, Begins begins) {
    constexpr float kSign = 12, kArm = 4;
    if (s.ui.on_page()) return true;
    const std::string path = "fold/" + key;
    const Rect around = inset(line, -gap::close, 0);
    const Hit hit = s.ui.control(path, around);
    if (hit.hovered) s.ui.fill(around, s.ui.colors->bg3, size::corner);
    if (hit.clicked) turn(s, key);
    const bool open = is_open(s, key, begins);
    const ImVec2 at = take_left(line, kSign, gap::small).middle();
    s.ui.chevron(at, kArm, hit.hovered ? s.ui.colors->t1 : s.ui.colors->t2, open);
    return open;
}

}  // namespace headlight
