// Tests that no file makes the program grow without bound, take minutes, or fail silently.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <span>
#include <thread>

#include "base/quoted.h"
#include "base/utf8.h"
#include "helpers.h"
#include "io/image.h"
#include "io/output_file.h"
#include "tokenizer/tokenizer.h"

using namespace headlight;

namespace {

/// Makes a tokenizer whose vocabulary is "a", with given steps.
Result<std::shared_ptr<const Tokenizer>> tokenizer_with(const Json& steps) {
    Json root{
        {"model",
         {{"type", "BPE"}, {"vocab", {{"a", 0}, {"b", 1}}}, {"merges", Json::array()}, {"unk_token", "b"}}}};
    root.update(steps);
    return Tokenizer::parse(root.dump(), "file");
}

Json replace(const Json& pattern, const std::string& content) {
    return {{"type", "Replace"}, {"pattern", pattern}, {"content", content}};
}

std::string error_of(const Json& steps, const std::string& text) {
    const auto tokenizer = tokenizer_with(steps);
    if (!tokenizer) return tokenizer.error().message;
    const auto encoding = (*tokenizer)->encode(text);
    return encoding ? "" : encoding.error().message;
}

bool mentions(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

const std::string kSlowText = std::string(60, 'a') + "!";

const Json kSlow{{"Regex", "(a|aa)+$"}};

}  // namespace

TEST_CASE("a pattern beyond its limit is an error in normalizer and pre-tokenizer") {
    CHECK(mentions(error_of({{"normalizer", replace(kSlow, "b")}}, kSlowText), "too many steps"));
    CHECK(mentions(
        error_of({{"normalizer",
                   {{"type", "Sequence"}, {"normalizers", {{{"type", "NFC"}}, replace(kSlow, "b")}}}}},
                 kSlowText),
        "too many steps"));
    CHECK(mentions(
        error_of({{"pre_tokenizer", {{"type", "Split"}, {"pattern", kSlow}, {"behavior", "Isolated"}}}},
                 kSlowText),
        "too many steps"));
    const Json added = Json::array({{{"id", 2}, {"content", kSlowText}, {"normalized", true}}});
    CHECK(mentions(error_of({{"normalizer", replace(kSlow, "b")}, {"added_tokens", added}}, "a"),
                   "too many steps"));
    CHECK(error_of({{"normalizer", replace(kSlow, "b")}}, std::string(60, 'a')).empty());
}

TEST_CASE("many slow searches share one limit") {
    std::string text;
    for (int i = 0; i < 3000; ++i) text += std::string(20, 'a') + "!";
    CHECK(mentions(error_of({{"normalizer", replace(kSlow, "b")}}, text), "too many steps"));
}

TEST_CASE("ordinary patterns handle long texts") {
    const auto tokenizer =
        tokenizer_with({{"pre_tokenizer", {{"type", "ByteLevel"}, {"add_prefix_space", false}}}});
    REQUIRE(tokenizer);
    std::string words;
    for (int i = 0; i < 20'000; ++i) words += "a bc, ";
    for (const std::string& text : {std::string(300'000, ' '), std::string(300'000, 'a'), words})
        CHECK((*tokenizer)->encode(text));
}

TEST_CASE("a normalizer cannot make a text more than 32 times longer") {
    const std::string text(3000, 'a');
    CHECK(mentions(
        error_of({{"normalizer", {{"type", "Prepend"}, {"prepend", std::string(1 << 20, 'x')}}}}, text),
        "32 times"));
    CHECK(mentions(error_of({{"normalizer", replace({{"String", "a"}}, std::string(1 << 20, 'x'))}}, text),
                   "32 times"));
    Json doubled = Json::array();
    for (int i = 0; i < 60; ++i) doubled.push_back(replace({{"String", "a"}}, "aa"));
    CHECK(mentions(error_of({{"normalizer", {{"type", "Sequence"}, {"normalizers", doubled}}}}, text),
                   "32 times"));
    CHECK(error_of({{"normalizer", replace({{"String", "a"}}, std::string(30, 'x'))}}, text).empty());
    CHECK(error_of({{"normalizer", {{"type", "NFKD"}}}}, "\uFDFA\uFDFA\uFDFA").empty());
}

TEST_CASE("a template cannot make more than 4 times as many tokens, however often it is applied") {
    const auto times = [](int n) {
        Json single = Json::array();
        for (int i = 0; i < n; ++i) single.push_back({{"Sequence", {{"id", "A"}, {"type_id", 0}}}});
        return Json{{"type", "TemplateProcessing"},
                    {"single", single},
                    {"pair", single},
                    {"special_tokens", Json::object()}};
    };
    const std::string text(3000, 'a');
    CHECK(mentions(error_of({{"post_processor", times(1500)}}, text), "4 times"));
    CHECK(mentions(
        error_of({{"post_processor", {{"type", "Sequence"}, {"processors", {times(3), times(3), times(3)}}}}},
                 text),
        "4 times"));
    CHECK(error_of({{"post_processor", times(2)}}, text).empty());
}

TEST_CASE("a tokenizer has at most 100 steps of a kind, and no token of more than 4,096 bytes") {
    Json many = Json::array();
    for (int i = 0; i < 101; ++i) many.push_back({{"type", "Lowercase"}});
    CHECK(mentions(error_of({{"normalizer", {{"type", "Sequence"}, {"normalizers", many}}}}, "a"),
                   "100 steps"));
    const std::string longest(5000, 'x');
    CHECK(mentions(error_of({{"added_tokens", Json::array({{{"id", 2}, {"content", longest}}})}}, "a"),
                   "4,096 bytes"));
    CHECK(mentions(
        error_of({{"model", {{"type", "BPE"}, {"vocab", {{longest, 0}}}, {"merges", Json::array()}}}}, "a"),
        "4,096 bytes"));
    CHECK(mentions(error_of({{"pre_tokenizer", {{"type", "Metaspace"}, {"replacement", "xx"}}}}, "a"),
                   "one character"));
}

TEST_CASE("a picture is resized row by row, whatever its shape") {
    RgbImage tall{1, 65'535, std::vector<uint8_t>(65'535 * 3, 200)};
    for (size_t y = 0; y < 65'535; ++y) tall.rgb[3 * y] = y < 32'768 ? 0 : 100;
    CHECK(runs_within(64 << 20, [&] {
        return resize(tall, 512, 2, Resampling::bilinear).width == 512;
    }));  // 512 × 65,535 pixels are 100 MB
    const RgbImage small = resize(tall, 512, 2, Resampling::bilinear);
    CHECK(small.rgb[1] == 200);
    CHECK(small.rgb[0] ==
          14);  // the triangle at 1/4 of the height reaches from 0 to 3/4: 1/7 of it is in the lower half
    CHECK(small.rgb[512 * 3] == 86);
}

TEST_CASE("a picture with a side beyond 65,535 pixels is refused before it is decoded") {
    const auto number = [](uint32_t n) {
        return std::string{static_cast<char>(n >> 24), static_cast<char>(n >> 16), static_cast<char>(n >> 8),
                           static_cast<char>(n)};
    };
    const std::string header =
        "IHDR" + number(1) + number(33'000'000) + std::string("\x08\x02\x00\x00\x00", 5);
    uLong sum = crc32(0, reinterpret_cast<const Bytef*>(header.data()), static_cast<uInt>(header.size()));
    const std::string png = "\x89PNG\r\n\x1a\n" + number(13) + header + number(static_cast<uint32_t>(sum));
    const auto image = decode_image(std::as_bytes(std::span(png.data(), png.size())), "tall.png");
    REQUIRE(!image);
    CHECK(mentions(image.error().message, "65,535"));
}

TEST_CASE("sinusoidal positions cost only the rows read, not the declared context") {
    TemporaryFolder folder;
    for (const auto& file : std::filesystem::directory_iterator(kTests / "reference/models/marian"))
        std::filesystem::copy(file.path(), folder.path / file.path().filename());
    Json config = *read_json(folder.path / "config.json");
    config["max_position_embeddings"] = 4'000'000;
    write_bytes(folder.path / "config.json", config.dump());
    CHECK(runs_within(128 << 20, [&] { return bool(Model::open(folder.path)); }));
    const auto model = Model::open(folder.path);
    REQUIRE(model);
    ThreadPool pool(2);
    const auto sequence = [](std::vector<int> ids) { return request_of(std::move(ids)).inputs[0]; };
    const ForwardRequest request{{sequence({1, 2, 3}), sequence({4, 5})}, {}};
    const auto huge = *run_trace(*model, request, pool),
               usual = *run_trace(reference_model("marian"), request, pool);
    CHECK(huge->normalized().all() == usual->normalized().all());
}

TEST_CASE("a truncated mapped file reads as zeros and reports the change; a replaced one stays mapped") {
    TemporaryFolder folder;
    const auto path = folder.path / "data";
    const std::string text(100'000, 'x');
    write_bytes(path, text);
    const auto cut = *MappedFile::open(path);
    CHECK(cut->check_unchanged());
    std::filesystem::resize_file(path, 10);
    CHECK(cut->text()[99'999] == 0);
    CHECK(cut->text()[50'000] == 0);
    REQUIRE(!cut->check_unchanged());
    CHECK(cut->check_unchanged().error().message == path.string() + " changed on the disk; open it again.");

    write_bytes(path, text);
    const auto overwritten = *MappedFile::open(path), replaced = *MappedFile::open(path);
    std::filesystem::last_write_time(path, std::filesystem::last_write_time(path) - std::chrono::seconds(5));
    CHECK(!overwritten->check_unchanged());
    const auto other = *MappedFile::open(path);
    write_bytes(folder.path / "new", "new");
    std::filesystem::rename(folder.path / "new", path);
    CHECK(other->check_unchanged());
    CHECK(other->text() == text);
}

TEST_CASE(
    "a truncated or overwritten model file ends the pass with one sentence, not with a signal or "
    "wrong numbers") {
    TemporaryFolder folder;
    for (const auto& file : std::filesystem::directory_iterator(kTests / "reference/models/gpt2"))
        std::filesystem::copy(file.path(), folder.path / file.path().filename());
    const auto weights = folder.path / "model.safetensors";
    const std::string bytes = read_bytes(weights);
    const auto error_after = [&](const std::function<void()>& change) {
        write_bytes(weights, bytes);
        const auto model = *Model::open(folder.path);
        ThreadPool pool(2);
        REQUIRE(run_trace(model, request_of({1, 2, 3}), pool));
        change();
        const auto trace = run_trace(model, request_of({1, 2, 3}), pool);
        return trace ? "" : trace.error().message;
    };
    const std::string expected = weights.string() + " changed on the disk; open it again.";
    CHECK(error_after([&] { std::filesystem::resize_file(weights, 5000); }) == expected);
    CHECK(error_after([&] { std::filesystem::resize_file(weights, 0); }) == expected);
    CHECK(error_after([&] {
              std::this_thread::sleep_for(std::chrono::milliseconds(20));  // the kernel counts time in ticks
              std::fstream(weights, std::ios::in | std::ios::out | std::ios::binary)
                  .seekp(-100, std::ios::end)
                  .write("other numbers", 13);
          }) == expected);
}

TEST_CASE("control characters are shown, not sent: C0, delete, C1; line breaks and tabs stay") {
    CHECK(printable("a\x1b]0;x\x07"
                    "b\n\tc\x7f") == "a␛]0;x␇b\n\tc␡");
    CHECK(printable("\xc2\x9b"
                    "31m ä 猫") == "␦31m ä 猫");
    CHECK(printable(std::string("\0", 1)) == "␀");
}

TEST_CASE("messages repeat little of their input, as valid UTF-8") {
    CHECK(in_quotes("short") == "\"short\"");
    for (const std::string& text : {std::string(1 << 20, 'x'), std::string(1 << 20, '\xff')}) {
        CHECK(count_code_points(in_quotes(text)) < 100);
        CHECK(is_valid_utf8(in_quotes(text)));
    }
    std::string cats;
    for (int i = 0; i < 5000; ++i) cats += "猫";
    CHECK(is_valid_utf8(in_quotes(cats)));
    CHECK(count_code_points(display_path(std::string(3000, 'p'))) == 200);
    const auto wrong = json_boolean(Json{{"key", std::string(5000, 'x')}}, "key", true, "file");
    CHECK(wrong.error().message.size() < 250);
}
