// Tests views and stations with less room than they need, as under a tiling window manager, on a small screen
// with a large scale, or with --size.
#include <limits>

#include "command_bench.h"
#include "figure/figure.h"
#include "learn/station.h"
#include "paint/layout.h"
#include "views/learn/learn.h"
#include "views/page.h"

using namespace headlight;

namespace {

/// In points; some parts take more of a side than there is.
const ImVec2 kSmallSizes[] = {{700, 5}, {360, 300}, {330, 40}, {120, 90}, {0, 0}, {-40, -60}};

/// Makes the page of a view with its request if there is room; null if it shows nothing of the model.
std::unique_ptr<ViewPage> small_page_of(const View& view, const RunAnswer& shown, const std::string& station,
                                        ThreadPool& pool) {
    const Model& model = *shown.sentence->model;
    if (!view.offered(model) || view.missing(model)) return nullptr;
    auto page = std::make_unique<ViewPage>();
    page->view = size_t(&view - views().data());
    page->session.visits = view_visits();
    page->session.of<LearnState>().station = station;
    page->session.selection.choose(model.config.blocks() - 1, 0);
    page->width = 1000;
    page->height = 700;
    REQUIRE(prepare_page(*page, shown, pool));
    return page;
}

void draw_small(ViewPage& page) {
    const View& view = views()[page.view];
    with_scene(page, [&](Scene& s) {
        for (const ImVec2 size : kSmallSizes) {
            CAPTURE(view.key);
            CAPTURE(size.x);
            CAPTURE(size.y);
            view.draw(s, {0, 0, size.x, size.y});
        }
    });
    CHECK(page.session.selection.block >= 0);
}

int draw_views(const std::shared_ptr<const Model>& model) {
    ThreadPool pool(2);
    const RunAnswer shown = shown_with(model);
    int drawn = 0;
    for (const View& view : views()) {
        const auto page = std::string_view(view.key) == kCorpusView
                              ? nullptr
                              : small_page_of(view, shown, "no-weights", pool);
        if (!page) continue;
        page->session.selection.locked = std::pair{1, 0};
        draw_small(*page);
        ++drawn;
    }
    return drawn;
}

}  // namespace

TEST_CASE("small pages: every view is drawn at every size, of words, pictures and two texts") {
    CHECK(draw_views(*Model::open(kTests.parent_path() / "models/stories")) >= 12);
    CHECK(draw_views(translator()) >= 12);
    CHECK(draw_views(reference_model("vit")) >= 5);
}

TEST_CASE("small pages: every station is drawn at every size") {
    ThreadPool pool(2);
    const RunAnswer stories = shown_with(*Model::open(kTests.parent_path() / "models/stories")),
                    translated = shown_with(translator()), picture = shown_with(reference_model("vit"));
    for (const learn::Station& station : learn::stations()) {
        CAPTURE(station.key);
        const bool sees = std::string_view(station.key) == "pictures",
                   writes = std::string_view(station.opens) == "translator";
        const auto page = small_page_of(*find_view("learn"),
                                        sees     ? picture
                                        : writes ? translated
                                                 : stories,
                                        station.key, pool);
        REQUIRE(page);
        draw_small(*page);
    }
}

TEST_CASE("labels, cells and bounds where there is no room") {
    constexpr double kNone = std::numeric_limits<double>::quiet_NaN(),
                     kEndless = std::numeric_limits<double>::infinity();
    for (const double cell : {0.0, -1.0, -1e30, -kEndless, kNone, 1e-300})
        CHECK(label_step(cell, 16) == kOneLabel);
    CHECK((label_step(3, 16) == 10 && label_step(16, 16) == 1 && label_step(1e-7, 16) == 200'000'000));
    CHECK((int_of(kNone) == 0 && int_of(kEndless) == std::numeric_limits<int>::max() && int_of(-2.7) == -2));
    CHECK((between(5, 1, 3) == 3 && between(0, 1, 3) == 1 && between(5.0f, 3.0f, 1.0f) == 3.0f));
    for (const float side : {0.0f, -4.0f, 1e-38f}) {
        const headlight::Grid flat{{0, 0, 100, 100}, 7, 3, side, side, 0, 0};
        const auto [row, column] = flat.at({50, -50});
        CHECK((row >= 0 && row < 7 && column >= 0 && column < 3));
    }
    CHECK(headlight::Grid{}.at({1, 1}) == std::pair(0, 0));
}
