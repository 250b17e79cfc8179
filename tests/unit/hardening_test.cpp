// Tests rare corners: a failing sink, dangling links, a name in use, a table beside a missing one, a seed on
// any standard library.
#include <random>
#include <stdexcept>

#include "base/draws.h"
#include "base/lru_cache.h"
#include "figure/file_formats.h"
#include "helpers.h"
#include "hub/library.h"
#include "io/png.h"

using namespace headlight;

TEST_CASE("hardening: an exception of a PNG's sink is rethrown after the encoder, not through it") {
    const std::vector<uint8_t> bytes(64 * 64 * 3, 7);
    PngPixels pixels{};
    pixels.bytes = bytes;
    pixels.width = pixels.height = 64;
    pixels.alpha = false;
    pixels.dpi = 72;
    int calls = 0;
    CHECK_THROWS_WITH_AS((void)static_cast<bool>(encode_png(pixels,
                                                            [&](const void*, size_t) {
                                                                if (++calls == 2)
                                                                    throw std::runtime_error("full");
                                                            })),
                         "full", std::runtime_error);
    CHECK(calls == 2);
    size_t written = 0;
    CHECK(encode_png(pixels, [&](const void*, size_t size) { written += size; }));
    CHECK(written > 8);
}

TEST_CASE("hardening: a folder with dangling weight links is not listed as a model") {
    const TemporaryFolder folder;
    const auto bert = kTests / "reference/models/bert";
    std::filesystem::copy(bert / "config.json", folder.path / "config.json");
    std::filesystem::create_symlink(folder.path / "blobs/gone", folder.path / "model.safetensors");
    const FoundModel gone = examine_model(folder.path, "gone", "here");
    CHECK((gone.bytes == 0 && gone.problem.find("weights") != std::string::npos));
    std::filesystem::remove(folder.path / "model.safetensors");
    std::filesystem::copy(bert / "model.safetensors", folder.path / "model-00001-of-00002.safetensors");
    CHECK(examine_model(folder.path, "half", "here").problem.empty());
    std::filesystem::create_symlink(folder.path / "blobs/gone",
                                    folder.path / "model-00002-of-00002.safetensors");
    const FoundModel half = examine_model(folder.path, "half", "here");
    CHECK((half.bytes == 0 && !half.problem.empty()));
    std::filesystem::create_symlink(folder.path / "blobs/gone", folder.path / "link.gguf");
    CHECK(!examine_model(folder.path / "link.gguf", "link", "here").problem.empty());
}

TEST_CASE("hardening: a cached name gets the new value, and the old one costs nothing") {
    LruCache<int> cache;
    cache.add("a", 1, 10);
    cache.add("b", 2, 10);
    cache.add("a", 3, 5);
    CHECK((cache.size() == 2 && cache.cost() == 15 && *cache.find("a") == 3));
    cache.find("b");
    cache.trim(10);
    CHECK((cache.size() == 1 && *cache.find("b") == 2 && !cache.find("a")));
}

TEST_CASE("hardening: an array of only additional tables holds them") {
    const TemporaryFolder folder;
    NumberTable scores;
    scores.name = "scores";
    scores.rows = {"a", "b"};
    scores.columns = {"score"};
    scores.values = Matrix::Ones(2, 1);
    scores.beside = true;
    REQUIRE(write_numbers(folder.path / "scores.npy", {&scores, 1}));
    CHECK(read_bytes(folder.path / "scores.npy").find("'shape': (2, 1)") != std::string::npos);
}

TEST_CASE("hardening: a seed draws the same numbers on every standard library") {
    std::mt19937_64 random;
    random.discard(9999);  // the standard specifies the 10,000th: 9981545732273789042
    CHECK(uniform(random) == 9981545732273789042.0 / 18446744073709551616.0);
    double least = 1, largest = 0;
    for (int i = 0; i < 10000; ++i) {
        const double u = uniform(random);
        least = std::min(least, u);
        largest = std::max(largest, u);
    }
    CHECK((least >= 0 && least < 0.01 && largest < 1 && largest > 0.99));
}
