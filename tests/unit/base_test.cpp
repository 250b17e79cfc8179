// Tests the pool, text and numbers of core/base.
#include <atomic>
#include <set>

#include "base/check.h"
#include "base/memory.h"
#include "base/threads.h"
#include "base/utf8.h"
#include "helpers.h"
#include "io/json.h"
#include "io/output_file.h"
#include "io/safetensors.h"

using namespace headlight;

TEST_CASE("a pool runs every tile once, whatever the number of threads") {
    for (const int threads : {1, 2, 5}) {
        ThreadPool pool(threads);
        for (const int count : {0, 1, 2, 7, 1000})
            for (int repeat = 0; repeat < 50; ++repeat) {
                std::vector<std::atomic<int>> seen(count);
                pool.run(count, [&](int i) { ++seen[i]; });
                for (const auto& s : seen) REQUIRE(s == 1);
            }
    }
}

TEST_CASE("a pool rethrows a tile's exception after all tiles, and keeps working") {
    for (const int threads : {1, 2, 5}) {
        ThreadPool pool(threads);
        for (int repeat = 0; repeat < 50; ++repeat) {
            std::atomic<int> inside{0}, done{0};
            const auto tile = [&](int i) {
                ++inside;
                if (i % 10 == 3) {
                    --inside;
                    throw std::runtime_error("tile");
                }
                ++done;
                --inside;
            };
            std::string thrown;
            try {
                pool.run(100, tile);
            } catch (const std::runtime_error& e) {
                thrown = e.what();
            }
            CHECK((thrown == "tile" && inside == 0 && done < 100));
            std::atomic<int> later{0};
            pool.run(20, [&](int) { ++later; });
            CHECK(later == 20);
        }
    }
}

TEST_CASE("a cancelled job ends within its tiles and says that it was cancelled") {
    for (const int threads : {1, 3}) {
        ThreadPool pool(threads);
        CancelFlag cancel{false};
        std::atomic<int> begun{0};
        const Status ended = guarded([&]() -> Status {
            const CancelScope scope(pool, &cancel);
            const CancelScope inner(pool, nullptr);  // keeps the outer flag
            pool.run(1000, [&](int) {
                if (++begun == 5) cancel = true;
                while (begun >= 5 && !pool.stopped()) {
                }
            });
            return success();
        });
        REQUIRE(!ended);
        CHECK(ended.error().cancelled);
        CHECK(begun < 5 + threads);
        int after = 0;
        if (threads == 1) pool.run(3, [&](int) { ++after; });  // the scope has ended
        CHECK(after == (threads == 1 ? 3 : 0));
    }
}

TEST_CASE("non-finite values are detected at every place and width") {
    for (const Index cols : {1, 3, 8, 17, 64}) {
        Matrix m = random_matrix(5, cols, 1);
        CHECK(all_finite(m));
        for (const float bad :
             {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
              -std::numeric_limits<float>::infinity()})
            for (Index i = 0; i < m.size(); ++i) {
                const float good = std::exchange(m.data()[i], bad);
                CHECK(!all_finite(m));
                m.data()[i] = good;
            }
        CHECK(all_finite(m.leftCols(cols / 2)));
        CHECK(all_finite(Matrix::Constant(2, cols, std::numeric_limits<float>::max())));
    }
}

TEST_CASE("memory that grows with n² is checked before allocation") {
    const auto asked = [](int64_t bytes) {
        return guarded([&]() -> Status {
            check_fits(bytes);
            return success();
        });
    };
    CHECK(asked(1 << 20));
    const Status refused = asked(int64_t{1} << 50);
    REQUIRE(!refused);
    CHECK(refused.error().message.find("needs 1073741824 MB") != std::string::npos);
}

TEST_CASE("exceptions inside the barrier become sentences") {
    const auto message = [](auto&& thrower) {
        const Status status = guarded([&]() -> Status {
            thrower();
            return success();
        });
        return status ? "" : status.error().message;
    };
    CHECK(message([] {}) == "");
    CHECK(message([] { throw std::bad_alloc(); }).find("not enough memory") != std::string::npos);
    CHECK(message([] { throw Failure({"A sentence."}); }) == "A sentence.");
    CHECK(message([] { throw 3; }).find("could not finish") != std::string::npos);
    abort_on_failed_check(false);
    const std::string broken = message([] { HEADLIGHT_CHECK(1 + 1 == 3); });
    abort_on_failed_check(true);
    CHECK(broken.find("base_test.cpp:") != std::string::npos);
    CHECK(broken.find("1 + 1 == 3") != std::string::npos);
}

TEST_CASE("UTF-8: invalid bytes become U+FFFD one by one, valid text is unchanged") {
    CHECK(valid_utf8("héé😀") == "héé😀");
    CHECK(valid_utf8("a\xff\xc3") == "a\xEF\xBF\xBD\xEF\xBF\xBD");
    CHECK(valid_utf8("\xed\xa0\x80") == "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");  // a surrogate
    CHECK(count_code_points("猫😀a") == 3);
    CHECK(shorten_middle("abcdefghij", 5) == "ab…ij");
    CHECK(shorten_middle("猫猫猫", 5) == "猫猫猫");
}

TEST_CASE("JSON: nesting, types and ranges are checked") {
    CHECK(parse_json("{\"a\": [1, 2]}", "x"));
    CHECK(!parse_json("", "x"));
    CHECK(!parse_json("{\"a\":", "x"));
    CHECK(!parse_json(std::string(100000, '['), "x"));
    const Json j =
        *parse_json("{\"n\": 5, \"s\": \"5\", \"big\": 18446744073709551615, \"none\": null}", "x");
    CHECK(*json_integer(j, "n", 1, 0, 10, "x") == 5);
    CHECK(*json_integer(j, or_null("none"), 7, 0, 10, "x") == 7);
    CHECK(!json_integer(j, "none", 7, 0, 10, "x"));
    CHECK(*json_integer(j, "missing", 7, 0, 10, "x") == 7);
    CHECK(!json_integer(j, "s", 1, 0, 10, "x"));
    CHECK(!json_integer(j, "n", 1, 6, 10, "x"));
    CHECK(!json_integer(j, "big", 1, 0, INT64_MAX - 1, "x"));
}

TEST_CASE("an output file appears whole or not at all") {
    const TemporaryFolder folder;
    const auto path = folder.path / "ümläut name.txt";
    write_bytes(path, "old");
    {
        auto out = OutputFile::create(path);
        REQUIRE(out);
        (*out)->write("half of the ne");
    }
    CHECK(read_bytes(path) == "old");
    {
        auto out = OutputFile::create(path);
        (*out)->write("new");
        CHECK((*out)->commit());
    }
    CHECK(read_bytes(path) == "new");
    CHECK(std::distance(std::filesystem::directory_iterator(folder.path), {}) == 1);
    CHECK(!OutputFile::create(folder.path));
    CHECK(!OutputFile::create(folder.path / "missing" / "file"));
}

TEST_CASE("a full disk is a sentence, and /dev/full stays a device") {
    auto out = OutputFile::create("/dev/full");
    REQUIRE(out);
    (*out)->write(std::string(1 << 20, 'x'));
    const Status done = (*out)->commit();
    CHECK(!done);
    CHECK(std::filesystem::is_character_file("/dev/full"));
}

TEST_CASE("safetensors: files round-trip") {
    const TemporaryFolder folder;
    const auto path = folder.path / "t.safetensors";
    const Matrix m = random_matrix(3, 5, 1);
    const int64_t id = 42;
    REQUIRE(write_safetensors(
        path,
        {{"m", "F32", {3, 5}, [&](const auto& sink) { sink(m.data(), sizeof(float) * 15); }},
         {"id", "I64", {1}, [&](const auto& sink) { sink(&id, 8); }}},
        {{"key", "välue"}}));
    const auto file = open_safetensors(path);
    REQUIRE(file);
    Matrix back(3, 5);
    const StoredTensor& stored = file->tensors.at("m");
    stored.dtype->decode(stored.bytes.data(), 15, back.data());
    CHECK(back == m);
    CHECK(file->metadata.at("key") == "välue");
    CHECK(file->tensors.at("id").shape == std::vector<int64_t>{1});
}

TEST_CASE("safetensors: F16 and BF16 decode to the float32 values that they represent") {
    const uint16_t half[] = {0x3C00, 0xC000, 0x7BFF, 0x0001}, brain[] = {0x3F80, 0xC000, 0x7F7F, 0x0001};
    float out[4];
    find_dtype("F16")->decode(std::as_bytes(std::span(half)).data(), 4, out);
    CHECK(out[0] == 1.0f);
    CHECK(out[1] == -2.0f);
    CHECK(out[2] == 65504.0f);
    CHECK(out[3] == doctest::Approx(5.9604645e-8f));
    find_dtype("BF16")->decode(std::as_bytes(std::span(brain)).data(), 4, out);
    CHECK(out[0] == 1.0f);
    CHECK(out[1] == -2.0f);
    CHECK(out[2] == doctest::Approx(3.3895314e38f));
}
