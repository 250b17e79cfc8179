// Tests images as patches, with and without a vision model.
#include "analysis/prediction/predict.h"
#include "learn/stations/pictures.h"
#include "learn_bench.h"
#include "model/input.h"

using namespace headlight;
using namespace headlight::learn;

TEST_CASE("learn pictures: the brightness of a patch, by hand") {
    RgbImage image{4, 2, {}};
    for (int i = 0; i < 8; ++i) image.rgb.insert(image.rgb.end(), {uint8_t(i * 30), 0, uint8_t(i * 30)});
    const Matrix right = patch_brightness(image, 2, 0, 1);
    CHECK(right(0, 0) == doctest::Approx(2 * 60 / 765.0));   // pixel 2
    CHECK(right(1, 1) == doctest::Approx(2 * 210 / 765.0));  // pixel 7
}

TEST_CASE("learn pictures: the sample is the same each time, and not one color") {
    const RgbImage a = sample_picture(), b = sample_picture();
    CHECK(a.rgb == b.rgb);
    CHECK(a.rgb.size() == size_t{224} * 224 * 3);
    CHECK(sample_picture(32).rgb.size() == size_t{32} * 32 * 3);
    const Matrix ground = patch_brightness(a, 16, 13, 13), triangle = patch_brightness(a, 16, 9, 6);
    CHECK(ground.mean() > triangle.mean() + 0.2f);
}

TEST_CASE(
    "learn pictures: without a model, patches of the sample or of the user's picture, and what to open") {
    ThreadPool pool(1);
    StationInput in;
    const learn::Page sample = *pictures_page(in, {}, pool);
    CHECK(blocks_of<Pixels>(sample)[0].rows == 14);
    REQUIRE(blocks_of<learn::Words>(sample).size() == 1);
    CHECK(blocks_of<learn::Words>(sample)[0].text.find("--image") != std::string::npos);
    CHECK(blocks_of<learn::Table>(sample)[0].values[1][1] == 768);
    in.image = std::make_shared<const RgbImage>(RgbImage{3, 5, std::vector<uint8_t>(45, 200)});
    PicturesState state;
    state.patch = 32;
    const learn::Page own = *pictures_page(in, state, pool);
    CHECK(blocks_of<Pixels>(own)[0].rows == 7);
    CHECK(blocks_of<Pixels>(own)[0].image.rgb[0] == 200);
    CHECK(blocks_of<Pixels>(own)[0].weights.empty());
}

TEST_CASE("learn pictures: in a vision transformer a row of attention lies over the picture") {
    ThreadPool pool(1);
    const auto model = reference_model("vit");
    TextInput typed;
    typed.image = std::make_shared<const RgbImage>(sample_picture());
    const auto trace = *run_trace(model, {encode_input(*model, typed)->sequences, {}}, pool);
    StationInput in;
    in.trace = trace.get();
    in.model = model.get();
    std::tie(in.block, in.head) = std::pair{1, 2};
    const learn::Page page = *pictures_page(in, {}, pool);
    const auto pixels = blocks_of<Pixels>(page);
    REQUIRE(pixels.size() == 2);
    CHECK(pixels[0].rows == 4);
    CHECK(pixels[0].columns == 4);
    const Matrix row = trace->pattern_rows(1, 2, 0, 1);
    REQUIRE(pixels[1].weights.size() == 16);
    for (int i = 0; i < 16; ++i) CHECK(pixels[1].weights[i] == row(0, i + 1));
    CHECK(blocks_of<learn::Words>(page).empty());
}

TEST_CASE(
    "learn pictures: two glimpses tell what random patches do not, and Patch is refused in a sentence") {
    ThreadPool pool(2);
    const auto model = *Model::open(kTests.parent_path() / "models/scenes");
    TextInput typed;
    typed.image = std::make_shared<const RgbImage>(sample_picture());
    const auto trace = *run_trace(model, {encode_input(*model, typed)->sequences, {}}, pool);
    StationInput in;
    in.trace = trace.get();
    in.model = model.get();
    PicturesState state;
    state.patch = 4;
    const Station& station = *find_station("pictures");
    const auto page = *station_page(station, in, std::any(state), pool);
    const auto curves = blocks_of<Curves>(page);
    REQUIRE(curves.size() == 1);
    REQUIRE(curves[0].lines[0].x == std::vector<float>{1, 2, 4, 8, 16, 32, 36});
    CHECK(curves[0].lines[0].y[1] > 0.9f);
    CHECK(curves[0].lines[1].y[1] < 0.3f);
    for (const auto& line : curves[0].lines)  // all patches are the picture
        CHECK(line.y.back() == doctest::Approx(blocks_of<learn::Table>(page)[0].values[0][1]).epsilon(1e-3));
    CHECK(page.idle[0].control == "patch");
    CHECK(page.questions[0].why.find("scenes reads patches of 8 × 8 pixels and no others") !=
          std::string::npos);
    CHECK(station_page(station, in, station.first_state(), pool)->questions[0].why.find("no others") ==
          std::string::npos);
}

TEST_CASE("learn pictures: the built-in model names its scene's largest shape, and a head looks there") {
    ThreadPool pool(1);
    const auto model = *Model::open(kTests.parent_path() / "models/scenes");
    TextInput typed;
    typed.image = std::make_shared<const RgbImage>(sample_picture());
    const auto trace = *run_trace(model, {encode_input(*model, typed)->sequences, {}}, pool);
    const auto best = predictions(*trace, predicting_positions(*trace)[0], 1, pool);
    CHECK(prediction_label(*model, best[0].id) == "red triangle");
    const Matrix row = trace->pattern_rows(1, 1, 0, 1);
    float inside = 0;
    for (int down = 2; down <= 4; ++down)
        for (int across = 1; across <= 4; ++across) inside += row(0, 1 + 6 * down + across);
    CHECK(inside > 0.6f);
}
