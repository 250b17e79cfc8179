// Tests stations as rows of a table, and every kind of block as a drawing and numbers.
#include "views/learn/learn_page.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <set>
#include <sstream>

#include "base/embedded.h"
#include "command_bench.h"
#include "figure/figure.h"
#include "figure/file_formats.h"
#include "io/json.h"
#include "learn/controls.h"
#include "learn/numbers.h"

using namespace headlight;
using namespace headlight::learn;

namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

/// Makes one block of every kind.
learn::Page page_of_all_kinds() {
    learn::Page page;
    BarRows bars;
    bars.columns = {"B", "ark", "is"};
    bars.rows.push_back(
        {"Dot", "q · k", "Luong et al. 2015", {0.7f, 0.3f, kNan}, Matrix::Identity(3, 3), "0.88 bits", true});
    bars.rows.push_back({"Scores", "q · k", "", {-2.5f, 1, 4}, std::nullopt, "", false});
    page.blocks.push_back(bars);
    page.blocks.push_back(
        learn::Grid{"Keys", "key", "component", {"a", "b"}, {"x", "y"}, Matrix::Ones(2, 2), true, "keys", 1});
    Curves curves;
    curves.title = "Variance";
    curves.x_is = "d";
    curves.y_is = "variance";
    curves.lines.push_back({"sampled", {1, 10, 100}, {1.1f, 9, 104}, {0.2f, 2, 20}, false});
    curves.lines.push_back({"d", {1, 100}, {1, 100}, {}, true});
    curves.log_x = curves.log_y = true;
    curves.mark_x = 10.0f;
    curves.mark_name = "here";
    page.blocks.push_back(curves);
    page.blocks.push_back(Plane{"Embeddings", {{"king", 1, 2, true}, {"queen", 1.5f, 1.5f, false}}});
    page.blocks.push_back(
        learn::Steps{"By hand", {{"q · k₁", "1·2 + 0·1", "2"}, {"answer", "0.5·(1, 2)", "(0.5, −1.5)"}}});
    const double none = std::numeric_limits<double>::quiet_NaN();
    page.blocks.push_back(
        learn::Table{"Sizes", {"what", "how many"}, {{"a head", "6291456"}}, {{none, 6291456}}});
    page.blocks.push_back(Pixels{"Patches", {2, 1, {255, 0, 0, 0, 0, 255}}, 1, 2, {0.25f, 0.75f}});
    page.blocks.push_back(learn::Words{"A sentence."});
    page.symbols.push_back({"q", "the query: what this token asks for"});
    return page;
}

/// Collects the keys of a station's controls; numbers are edited in the page, which explains them.
struct ControlKeys final : ControlVisitor {
    std::set<std::string> keys;
    void choice(const char* key, const char*, int&, std::span<const char* const>) override {
        keys.insert(key);
    }
    void flag(const char* key, const char*, bool&) override { keys.insert(key); }
    void number(const char* key, const char*, float&, float, float) override { keys.insert(key); }
    void whole(const char* key, const char*, int&, int, int) override { keys.insert(key); }
    void text(const char* key, const char*, std::string&) override { keys.insert(key); }
    void numbers(const char*, std::vector<float>&) override {}
};

/// Checks that each control is explained in one sentence, and no other is.
void check_explained(const Station& station, const StationText& text) {
    ControlKeys controls;
    std::any state = station.first_state();
    station.visit(state, controls);
    std::set<std::string> explained;
    for (const auto& control : text.controls) {
        const std::string& sentence = control.second;
        CHECK_MESSAGE(sentence.back() == '.', sentence);
        CHECK_MESSAGE(sentence.find(". ") == std::string::npos, sentence);
        explained.insert(control.first);
    }
    CHECK(controls.keys == explained);
}

/// Counts the pixels of a drawing that are not white.
int ink_of(const Drawing& drawing) {
    const RgbImage image = *draw_image(drawing, 800, 4000);
    return narrow<int>(std::count_if(image.rgb.begin(), image.rgb.end(), [](uint8_t v) { return v != 255; }));
}

}  // namespace

TEST_CASE("learn: every station has its own key and words, under sixty of them, and every text a station") {
    std::set<std::string> keys;
    for (const Station& station : stations()) {
        CAPTURE(station.key);
        CHECK(keys.insert(station.key).second);
        CHECK(find_station(station.key) == &station);
        const StationText& text = station_text(station.key);
        CHECK(!text.title.empty());
        CHECK(!text.sample.empty());
        std::istringstream words(text.text);
        CHECK(std::distance(std::istream_iterator<std::string>(words), {}) < 60);
        CHECK(text.tries.size() >= 2);
        CHECK(text.tries.size() <= 3);
        check_explained(station, text);
    }
    CHECK(find_station("wisdom") == nullptr);
    const Json texts = Json::parse(embedded_file("assets/learn.json"));
    for (const auto& text : texts.items()) CHECK_MESSAGE(keys.count(text.key()) == 1, text.key());
}

TEST_CASE("learn: what Try offers are commands of the table") {
    for (const Station& station : stations())
        for (const Try& attempt : station_text(station.key).tries)
            CHECK_MESSAGE(parse_commands(commands(), attempt.command), attempt.command);
}

TEST_CASE("learn: every station computes without a model, or says in one sentence what it lacks") {
    ThreadPool pool(1);
    for (const Station& station : stations()) {
        CAPTURE(station.key);
        const auto page = station_page(station, {}, station.first_state(), pool);
        if (page)
            CHECK(!page->blocks.empty());
        else
            CHECK(page.error().message.back() == '.');
    }
}

TEST_CASE("learn: the numbers of every kind of block") {
    const auto tables = page_numbers(page_of_all_kinds());
    std::map<std::string, NumberTable> by_name;
    for (const NumberTable& t : tables) {
        CHECK(isize(t.rows) == t.values.rows());
        CHECK(isize(t.columns) == t.values.cols());
        by_name[t.name] = t;
    }
    CHECK(by_name.size() == tables.size());
    CHECK(by_name.at("bars").values(1, 0) == -2.5f);
    CHECK(std::isnan(by_name.at("bars").values(0, 2)));
    CHECK(by_name.at("Dot").values == Matrix::Identity(3, 3));
    CHECK(by_name.at("Keys").columns_are == "component");
    CHECK(by_name.at("Variance: sampled").values(2, 2) == 20);
    CHECK(by_name.at("Variance: d").columns == std::vector<std::string>{"d", "variance"});
    CHECK(by_name.at("Embeddings").values(1, 0) == 1.5f);
    CHECK(by_name.at("Patches").values(0, 1) == 0.75f);
    CHECK(by_name.at("By hand").values(1, 1) == -1.5f);
    CHECK(std::isnan(by_name.at("By hand").values(0, 1)));
    CHECK(by_name.at("By hand").texts[0] != "");  // what was worked is not lost
    CHECK(by_name.at("Sizes").rows == std::vector<std::string>{"a head"});
    CHECK(by_name.at("Sizes").values(0, 0) == 6291456);
}

TEST_CASE("learn: counts are exported exactly, in every format") {
    const TemporaryFolder folder;
    ThreadPool pool(1);
    const Station& parameters = *find_station("parameters");
    const auto tables = page_numbers(*station_page(parameters, {}, parameters.first_state(), pool));
    for (const char* ending : {".json", ".csv", ".tsv"}) {
        CAPTURE(ending);
        const auto path = folder.path / ("counts" + std::string(ending));
        REQUIRE(write_numbers(path, tables));
        const std::string text = read_bytes(path);
        for (const char* count : {"1572864", "6291456", "603979776", "57982058496", "175181291520"})
            CHECK_MESSAGE(text.find(count) != std::string::npos, count);
        CHECK(text.find("e+") == std::string::npos);
    }
    NumberTable counts{"counts", "", "", {"a"}, {"b"}, Matrix::Constant(1, 1, 175181291520.0f)};
    counts.exact = DoubleMatrix::Constant(1, 1, 175181291520.0);
    for (const char* ending : {".npy", ".safetensors"}) {
        CAPTURE(ending);
        const auto path = folder.path / ("counts" + std::string(ending));
        REQUIRE(write_numbers(path, std::span(&counts, 1)));
        const std::string bytes = read_bytes(path);
        double read = 0;
        std::memcpy(&read, bytes.data() + bytes.size() - sizeof read, sizeof read);
        CHECK(read == 175181291520.0);
    }
}

TEST_CASE("learn: tables with the same name get distinct ones") {
    learn::Page page;
    for (int i = 0; i < 3; ++i) page.blocks.push_back(Plane{"Same", {{"p", 0, 0, false}}});
    const auto tables = page_numbers(page);
    CHECK(tables[0].name == "Same");
    CHECK(tables[1].name == "Same 2");
    CHECK(tables[2].name == "Same 3");
}

TEST_CASE("learn: every kind of block leaves ink on a page, and a page is as high as its blocks") {
    const learn::Page all = page_of_all_kinds();
    const StationText text{"Title", "Words.", "", {}, {}, {}};
    const auto drawing_of = [&](learn::Page page) {
        return draw_learn_page(std::make_shared<const learn::Page>(std::move(page)), text, {});
    };
    const Drawing empty = drawing_of({});
    const int none = ink_of(empty);
    double sum = 0;
    for (const Block& block : all.blocks) {
        CAPTURE(block.index());
        learn::Page one;
        one.blocks = {block};
        const Drawing drawing = drawing_of(one);
        CHECK(drawing.page.height > empty.page.height + 10);
        CHECK(ink_of(drawing) > none + 50);
        sum += drawing.page.height - empty.page.height;
    }
    const Drawing whole = drawing_of(all);
    CHECK(whole.page.height > empty.page.height + sum / 2);
    FigureStyle column;
    column.width_mm = 85;
    CHECK(draw_learn_page(std::make_shared<const learn::Page>(all), text, column).page.width ==
          doctest::Approx(85 / 25.4 * 96));
}

TEST_CASE("learn: curves of nothing, of one point and of no number are drawn") {
    learn::Page page;
    Curves curves;
    page.blocks.push_back(curves);
    curves.lines.push_back({"point", {3}, {0}, {}, false});
    curves.lines.push_back({"gap", {0, 1, 2}, {1, kNan, -1}, {}, true});
    page.blocks.push_back(curves);
    curves.log_x = curves.log_y = true;
    page.blocks.push_back(curves);
    page.blocks.push_back(learn::Grid{"", "", "", {}, {}, Matrix(0, 0), false, "", std::nullopt});
    page.blocks.push_back(BarRows{});
    const Drawing drawing = draw_learn_page(std::make_shared<const learn::Page>(page), {}, {});
    CHECK(std::isfinite(drawing.page.height));
    CHECK(draw_image(drawing, 400, 2000));
}

TEST_CASE("learn: a line of one point is seen") {
    Curves curves;
    curves.lines.push_back({"line", {0, 4}, {0, 4}, {}, false});
    const auto ink_with = [&](float y) {
        learn::Page page;
        curves.lines.resize(1);
        curves.lines.push_back({"point", {2}, {y}, {}, false});
        page.blocks.push_back(curves);
        return ink_of(draw_learn_page(std::make_shared<const learn::Page>(page), {}, {}));
    };
    CHECK(ink_with(3) > ink_with(kNan) + 20);
}

TEST_CASE("learn: a user's settings at a station, as text") {
    const Station& station = *find_station("positions");
    std::any state = station.first_state();
    CHECK(set_control(station, state, "width=8"));
    CHECK(set_control(station, state, "base=1e3"));
    for (const auto* wrong : {"width=1", "width=8.5", "width=", "width", "height=3", "base=nan"})
        CHECK_MESSAGE(!set_control(station, state, wrong), wrong);
    CHECK(set_control(station, state, "depth=3").error().message ==
          "The station positions has no \"depth\" to set; it has width, count, base, seed.");
    ThreadPool pool(1);
    const learn::Page page = *station_page(station, {}, state, pool);
    CHECK(std::get<learn::Grid>(page.blocks[1]).values.cols() == 8);
    CHECK(page.note == "8 components, base 1000");
}

TEST_CASE("learn: numbers are spelled as controls read them") {
    CHECK(spelled(0.1f) == "0.1");
    CHECK(spelled(-2) == "-2");
    CHECK(spelled(100000) == "100000");  // not 1e+05, which no integer control reads
    CHECK(spelled(1e20) == "1e+20");
    const Station& station = *find_station("parameters");
    std::any state = station.first_state();
    CHECK(set_control(station, state, "vocab=" + spelled(100000)));
}

TEST_CASE("learn: a state is its differences from the first one") {
    for (const Station& station : stations()) {
        CAPTURE(station.key);
        CHECK(control_words(station, station.first_state()).empty());
    }
    const Station& station = *find_station("positions");
    std::any state = station.first_state(), again = station.first_state();
    REQUIRE(set_control(station, state, "base=12.5"));
    REQUIRE(set_control(station, state, "count=7"));
    const auto words = control_words(station, state);
    CHECK(words == std::vector<std::string>{"count=7", "base=12.5"});
    for (const auto& word : words) CHECK(set_control(station, again, word));
    CHECK(control_words(station, again) == words);
}
