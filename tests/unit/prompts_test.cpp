// Prompts from a template, and intervals over them.
#include "analysis/corpus/prompts.h"

#include <set>

#include "helpers.h"

using namespace headlight;

namespace {

Result<PromptTemplate> parsed(const char* text) {
    return parse_prompt_template(*parse_json(text, "prompts.json"), "prompts.json");
}

}  // namespace

TEST_CASE("prompts: two names of one list never stand for the same word") {
    const auto from = parsed(R"({"text": "When {A} and {B} went out, {B} called", "metric": "{A} - {B}",
                                 "fill": {"A": ["Mary", "Anna", "Tom"], "B": "A"}})");
    REQUIRE(from);
    const auto all = fill_prompts(*from, 100, 1);
    CHECK(all.size() == 6);
    std::set<std::string> texts;
    for (const FilledPrompt& prompt : all) {
        texts.insert(prompt.text);
        CHECK(prompt.values.at("A") != prompt.values.at("B"));
        CHECK(prompt.metric == prompt.values.at("A") + " - " + prompt.values.at("B"));
    }
    CHECK(texts.size() == 6);
    CHECK(texts.count("When Anna and Tom went out, Tom called") == 1);
}

TEST_CASE("prompts: fewer than all are drawn by the seed") {
    const auto from =
        *parsed(R"({"text": "{A} {B}", "fill": {"A": ["a","b","c","d"], "B": ["e","f","g","h"]}})");
    const auto one = fill_prompts(from, 5, 1), same = fill_prompts(from, 5, 1),
               other = fill_prompts(from, 5, 2);
    REQUIRE((one.size() == 5 && other.size() == 5));
    bool differs = false;
    for (size_t i = 0; i < 5; ++i) {
        CHECK(one[i].text == same[i].text);
        differs = differs || one[i].text != other[i].text;
    }
    CHECK(differs);
}

TEST_CASE("prompts: what is wrong is said in one sentence") {
    CHECK(parsed(R"({"text": "{A}", "fill": {}})").error().message.find("nothing fills {A}") !=
          std::string::npos);
    CHECK(parsed(R"({"text": "x", "fill": {"A": ["b"]}})").error().message.find("fills nothing") !=
          std::string::npos);
    CHECK(parsed(R"({"fill": {}})").error().message.find("\"text\" is missing") != std::string::npos);
    CHECK(parsed(R"({"text": "{A}", "fill": {"A": []}})").error().message.find("no list") !=
          std::string::npos);
    CHECK(parsed(R"({"text": "a", "txt": "b"})").error().message.find("is not known") != std::string::npos);
}

TEST_CASE("prompts: the interval is Student's") {
    CHECK(student_t975(1) == doctest::Approx(12.706).epsilon(1e-4));
    CHECK(student_t975(3) == doctest::Approx(3.182).epsilon(4e-3));
    CHECK(student_t975(10) == doctest::Approx(2.228).epsilon(1e-3));
    CHECK(student_t975(100) == doctest::Approx(1.984).epsilon(1e-3));
    const double values[] = {1, 2, 3, 4};
    const MeanInterval found = mean_interval(values);
    CHECK(found.mean == doctest::Approx(2.5));
    CHECK(found.half == doctest::Approx(3.182 * 1.290994 / 2).epsilon(5e-3));
    CHECK(std::isnan(mean_interval({values, 1}).half));
}
