// Tests the pointer.
#include "window/pointer.h"

#include <doctest/doctest.h>

using namespace headlight;

TEST_CASE("a click within one frame is held for a frame at its position, then released") {
    PointerEvents pointer;
    CHECK_FALSE(pointer.next());
    pointer.move(1, 2);
    pointer.move(10, 20);
    pointer.press(0, true);
    pointer.move(30, 40);
    pointer.move(50, 60);
    pointer.press(0, false);
    pointer.move(70, 80);
    const std::array<bool, 5> held{true}, none{};
    CHECK(pointer.next() == PointerState{10, 20, none});
    CHECK(pointer.changes_seen() == 0);
    CHECK(pointer.next() == PointerState{10, 20, held});
    CHECK(pointer.changes_seen() == 1);
    CHECK(pointer.next() == PointerState{50, 60, held});
    CHECK(pointer.next() == PointerState{50, 60, none});
    CHECK(pointer.waiting());
    CHECK(pointer.changes_seen() == pointer.changes());
    CHECK(pointer.next() == PointerState{70, 80, none});
    CHECK_FALSE(pointer.waiting());
    CHECK_FALSE(pointer.next());
}

TEST_CASE("moves merge within a frame, never across a button; invalid buttons are ignored") {
    PointerEvents pointer;
    pointer.press(0, true);
    CHECK(pointer.next() == PointerState{0, 0, {true}});
    pointer.move(1, 1);
    pointer.move(2, 2);
    pointer.press(0, true);
    pointer.press(5, true);
    pointer.press(-1, true);
    CHECK(pointer.next() == PointerState{2, 2, {true}});
    CHECK_FALSE(pointer.waiting());
}
