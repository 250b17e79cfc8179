// Tests what a view shows of a picture larger than its area, and the commands that move it.
#include "command_bench.h"
#include "views/all_heads/all_heads.h"
#include "views/heat_map/heat_map.h"
#include "views/learn/learn.h"
#include "views/lens/lens.h"
#include "views/views.h"

using namespace headlight;

TEST_CASE("zooming keeps the point under the mouse in place") {
    Viewport seen{.max = 8, .x = 30, .y = 10, .wide = 200, .high = 100};
    seen.zoom_to(2, 50, 20);  // 80 and 30 of the picture are there; enlarged twice 160 and 60
    CHECK((seen.zoom == 2 && seen.x == 110 && seen.y == 40));
    seen.zoom_to(100);
    CHECK(seen.zoom == 8);
    const float x = seen.x;
    seen.zoom_to(100);
    CHECK(seen.x == x);  // no farther, so nothing moves
    seen.zoom_to(0);
    CHECK(seen.zoom == 1);
    CHECK((Viewport{.max = 2}.zooms() && !Viewport{}.zooms()));
}

TEST_CASE("pages overlap by a step; scrolling is clamped") {
    Viewport seen{.wide = 100, .high = 300, .across = 20, .down = 50};
    seen.page(1, 1);
    CHECK((seen.x == 80 && seen.y == 250));
    seen.scroll(-1, 2);
    CHECK((seen.x == 60 && seen.y == 350));
    seen.keep_within(120, 500);
    CHECK((seen.x == 20 && seen.y == 200));
    seen.scroll(-3, -30);
    seen.keep_within(120, 500);
    CHECK((seen.x == 0 && seen.y == 0));
    seen.keep_within(10, 10);  // all of it is visible
    CHECK((seen.x == 0 && seen.y == 0));
    Viewport low{.wide = 10, .high = 10};
    low.page(0, 1);
    CHECK(low.y == low.down);  // a page is at least a step
}

TEST_CASE("commands zoom and scroll the current view") {
    Bench b;
    const auto& map = b.session.of<HeatMapState>().seen;
    REQUIRE(b.act("view head; zoom in; zoom in"));
    CHECK(map.zoom == doctest::Approx(kEnlargedByStep * kEnlargedByStep));
    REQUIRE(b.act("scroll down; scroll right"));
    CHECK((map.y >= map.down && map.x >= map.across));
    REQUIRE(b.act("zoom out; zoom fit"));
    CHECK(map.zoom == 1);
    REQUIRE(b.act("view heads; zoom out"));
    CHECK((b.session.of<AllHeadsState>().seen.zoom < 1 && map.zoom == 1));
    REQUIRE(b.act("view lens; page right; page left; page right"));
    CHECK(b.session.of<LensState>().first() == 2);
    CHECK(b.refused("zoom in").find("does not zoom") != std::string::npos);
    REQUIRE(b.act("view positions"));
    CHECK(b.refused("scroll down").find("does not scroll") != std::string::npos);
}

TEST_CASE("every scrollable view scrolls, and changes nothing else") {
    for (const View& view : views()) {
        if (!view.seen) continue;
        CAPTURE(view.key);
        Bench b;
        if (!b.act(std::string("view ") + view.key)) continue;  // this model has none
        REQUIRE(b.act("page down"));
        CHECK(view.seen(b.session.views).y > 0);
        for (const View& other : views())
            if (other.seen && &other != &view) CHECK(other.seen(b.session.views).y == 0);
    }
}

TEST_CASE("keys zoom and scroll; PgDn turns Learn's pages and selects layers elsewhere") {
    Bench b;
    const auto of = [&](const char* keys) {
        const CommandContext c = b.context();
        const Command* row = command_of_key(commands(), chords_of(keys)[0], c);
        return row ? row->name : std::string();
    };
    CHECK((of("Ctrl++") == "zoom in" && of("Ctrl+-") == "zoom out" && of("Shift+PgDn") == "page down"));
    CHECK(of("PgDn") == "next layer");
    b.session.sheet = Sheet::models;
    CHECK((of("Ctrl++").empty() && of("Shift+PgDn").empty()));
    b.session.sheet.reset();
    REQUIRE(b.act("view learn"));
    CHECK((of("PgDn") == "learn down" && of("Shift+PgUp") == "page up"));
    REQUIRE(b.act("learn down"));
    CHECK(b.session.of<LearnState>().seen.y > 0);
}

TEST_CASE("the palette offers commands for the view and head under it") {
    Bench b;
    b.session.sheet = Sheet::palette;
    CHECK((b.offers("zoom in")[0] == "Zoom in" && b.offers("next head")[0] == "Next head"));
    b.session.sheet = Sheet::models;
    CHECK(b.offers("zoom in").empty());
}
