// Tests the recurrent networks against torch, and what the station says of them.
#include <cmath>

#include "learn/recurrent.h"
#include "learn/stations/recurrence.h"
#include "learn_bench.h"

using namespace headlight;
using namespace headlight::learn;

namespace {

std::shared_ptr<const RecurrentPair> built_in_networks() {
    static const auto pair = *open_recurrent(kTests.parent_path() / "models/recurrent");
    return pair;
}

Json reference() { return *read_json(kTests / "reference/recurrent.json"); }

float largest_error(const std::vector<float>& found, const Json& wanted) {
    REQUIRE(found.size() == wanted.size());
    float error = 0;
    for (size_t i = 0; i < found.size(); ++i)
        error = std::max(error, std::abs(found[i] - wanted[i].get<float>()));
    return error;
}

/// Returns ∂h'/∂h by differences.
Matrix jacobian_by_differences(const Gru& gru, const Vector& x, const Vector& h) {
    Matrix out(h.size(), h.size());
    constexpr float step = 1e-2f;
    for (Index i = 0; i < h.size(); ++i) {
        Vector more = h, less = h;
        more[i] += step;
        less[i] -= step;
        out.col(i) = (gru.next(x, more) - gru.next(x, less)) / (2 * step);
    }
    return out;
}

}  // namespace

TEST_CASE("recurrent: a text becomes words without marks") {
    using Words = std::vector<std::string>;
    CHECK(plain_words("The car-thief isn't here -- \"No\".") ==
          Words{"the", "car-thief", "isn't", "here", "no"});
    CHECK(plain_words("").empty());
    CHECK(plain_words(long_sentence()).size() == 97);
}

TEST_CASE("recurrent: one step of a unit of width one, by hand") {
    Gru gru{Matrix::Ones(3, 1), Matrix::Ones(3, 1), Vector::Zero(3), Vector::Zero(3)};
    const Vector x = Vector::Constant(1, 0.5f), h = Vector::Constant(1, -0.5f);
    // r = z = σ(0) = ½; n = tanh(0.5 + ½ · −0.5) = tanh 0.25; h' = ½ n − ½ · 0.5
    CHECK(gru.next(x, h)[0] == doctest::Approx(0.5 * std::tanh(0.25) - 0.25));
    CHECK(gru.jacobian(x, h)(0, 0) ==
          doctest::Approx(jacobian_by_differences(gru, x, h)(0, 0)).epsilon(1e-3));
}

TEST_CASE("recurrent: states, probabilities and the gradient through time as torch computes them") {
    const auto pair = built_in_networks();
    float error = 0, gradient_error = 0;
    for (const Json& row : reference()) {
        const std::vector<int> ids = pair->ids(plain_words(row["text"].get<std::string>()));
        const Matrix states = pair->without.read(ids);
        const Vector end = states.row(states.rows() - 1);
        error = std::max(error, largest_error({end.begin(), end.end()}, row["end"]));
        error = std::max(error, largest_error(pair->without.repeat(ids), row["without"]));
        error = std::max(error, largest_error(pair->attention.repeat(ids), row["attention"]));
        gradient_error = std::max(gradient_error,
                                  largest_error(pair->without.gradient_through_time(ids), row["gradient"]));
    }
    MESSAGE("largest error: " << error << ", of gradients " << gradient_error);
    CHECK(error < 2e-4f);
    CHECK(gradient_error < 2e-4f);
}

TEST_CASE("recurrent: without attention long texts are lost, with attention much less") {
    const auto measured = repeated_by_length(*built_in_networks());
    const auto at = [&](int words) {
        return *std::find_if(measured.begin(), measured.end(),
                             [&](const RepeatedLength& m) { return m.words == words; });
    };
    CHECK(at(4).without > 0.8f);
    CHECK(at(24).without < at(4).without / 2);
    CHECK(at(24).attention > at(24).without + 0.3f);
}

TEST_CASE("recurrent: of 97 words nothing is repeated, and only the carry brings a gradient to the first") {
    const auto pair = built_in_networks();
    const auto ids = pair->ids(plain_words(long_sentence()));
    CHECK(std::count(ids.begin(), ids.end(), RecurrentPair::kUnknown) == 0);
    const auto p = pair->without.repeat(ids);
    CHECK(std::count_if(p.begin(), p.end(), [](float v) { return v > 0.5f; }) < 30);
    const auto gradient = pair->without.gradient_through_time(ids);
    const auto cut = pair->without.gradient_through_time(ids, false);
    CHECK(gradient.back() == 1);
    CHECK(gradient.front() > 1e-3f);
    CHECK(cut.front() < 1e-6f);
    const auto influence = pair->without.influence_on_end(ids, RecurrentPair::kUnknown);
    CHECK(influence.size() == 97);
    CHECK(influence[48] < 0.2f);
}

TEST_CASE("recurrent: a file of another shape, or without its words, is refused in a sentence") {
    const std::filesystem::path folder = kTests.parent_path() / "models/recurrent";
    const auto refused = [&](const char* key, const Json& value) {
        TemporaryFolder copy;
        for (const char* file : {"network.json", "model.safetensors"})
            std::filesystem::copy(folder / file, copy.path);
        Json config = *read_json(folder / "network.json");
        config[key] = value;
        write_bytes(copy.path / "network.json", config.dump());
        const auto pair = open_recurrent(copy.path);
        REQUIRE(!pair);
        return pair.error().message;
    };
    CHECK(refused("width", 3).find("must be of the shape") != std::string::npos);
    CHECK(refused("words", Json::array({1, 2, 3})).find("list of words") != std::string::npos);
    CHECK(!open_recurrent(folder / "absent"));
}

TEST_CASE("recurrent: the station's curves are of the sentence that is asked for") {
    const auto long_one = *recurrence_blocks("The tree is blue.", true);
    const auto typed = *recurrence_blocks("The tree is blue.", false);
    REQUIRE(long_one.size() == 5);
    CHECK(std::get<Curves>(long_one[2]).lines[0].x.size() == 97);
    CHECK(std::get<Curves>(typed[2]).lines[0].x.size() == 4);
    CHECK(recurrence_blocks("", false)->size() == 1);
}

TEST_CASE("recurrent: z is the state after the last word, and both networks trained as long") {
    const auto pair = built_in_networks();
    const auto blocks = *recurrence_blocks("The tree is blue.", false);
    const auto& z = std::get<learn::Grid>(blocks[0]);
    CHECK(z.title == "z: all that the decoder gets of these 4 words, without attention");
    const auto ids = pair->ids(plain_words("The tree is blue."));
    CHECK(z.values == Matrix(pair->without.read(ids).row(3)));
    CHECK(z.columns.size() == 128);
    CHECK(std::get<learn::Words>(blocks[4]).text.find("After the same 750 steps of training, at 20 words:") ==
          0);
}
