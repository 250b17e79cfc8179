// Prompts from a template, and intervals over them.
#include "analysis/corpus/prompts.h"

#include <set>

#include "helpers.h"

using namespace headlight;

namespace {

Result<PromptTemplate> parsed_template(const char* text) {
    return parse_prompt_template(*parse_json(text, "prompts.json"), "prompts.json");
}

}  // namespace

TEST_CASE("prompts: two names of one list never stand for the same word") {
    const auto from =
        parsed_template(R"({"text": "When {A} and {B} went out, {B} called", "metric": "{A} - {B}",
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
        *parsed_template(R"({"text": "{A} {B}", "fill": {"A": ["a","b","c","d"], "B": ["e","f","g","h"]}})");
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
    CHECK(parsed_template(R"({"text": "{A}", "fill": {}})").error().message.find("nothing fills {A}") !=
          std::string::npos);
    CHECK(parsed_template(R"({"text": "x", "fill": {"A": ["b"]}})").error().message.find("fills nothing") !=
          std::string::npos);
    CHECK(parsed_template(R"({"fill": {}})").error().message.find("\"text\" is missing") !=
          std::string::npos);
    CHECK(parsed_template(R"({"text": "{A}", "fill": {"A": []}})").error().message.find("no list") !=
          std::string::npos);
    CHECK(parsed_template(R"({"text": "a", "txt": "b"})").error().message.find("is not known") !=
          std::string::npos);
}

TEST_CASE("prompts: the interval is Student's") {
    CHECK(student_t975(1) == doctest::Approx(12.706).epsilon(1e-4));
    CHECK(student_t975(3) == doctest::Approx(3.182446).epsilon(1e-6));
    CHECK(student_t975(10) == doctest::Approx(2.228139).epsilon(1e-6));
    CHECK(student_t975(100) == doctest::Approx(1.983972).epsilon(1e-6));
    CHECK(student_t975(999) == doctest::Approx(1.962341).epsilon(1e-6));
    const double values[] = {1, 2, 3, 4};
    const MeanInterval found = mean_interval(values);
    CHECK(found.mean == doctest::Approx(2.5));
    CHECK(found.half == doctest::Approx(3.182446 * 1.290994 / 2).epsilon(1e-5));
    CHECK(std::isnan(mean_interval({values, 1}).half));
}

TEST_CASE("prompts: a file of lines has texts and pairs, each with its metric") {
    const char* lines = "\"Tom ran\"\n\n{\"clean\": \"a\", \"corrupted\": \"b\", \"metric\": \"x - y\"}\n";
    const auto set = *read_prompts(lines, "p.jsonl", {});
    REQUIRE(set.prompts.size() == 2);
    CHECK((set.prompts[0].text == "Tom ran" && set.prompts[1].corrupted == "b"));
    CHECK((set.available == 2 && set.metric.empty()));
    CHECK(read_prompts("\"a\"\n\"b\"\n", "p.jsonl", {"x - y"})->prompts[1].metric == "x - y");
    const auto said = [&](const char* text, const std::string& metric = "") {
        return read_prompts(text, "p.jsonl", {metric}).error().message;
    };
    CHECK(said(lines, "ball").find("Line 3 of p.jsonl has a metric") == 0);
    CHECK(said("{\"txt\": \"a\"}").find("\"txt\" is not known") != std::string::npos);
    CHECK(said("3").find("is neither a text nor an object") != std::string::npos);
    CHECK(said("\n").find("has no prompt") != std::string::npos);
}

TEST_CASE("prompts: a template without a metric takes the one that is given, with its names") {
    const char* from = R"({"text": "{A} or {B}", "fill": {"A": ["x", "y", "z"], "B": "A"}})";
    const auto set = *read_prompts(from, "p.json", {"{A} - {B}", 2, 1});
    REQUIRE(set.prompts.size() == 2);
    CHECK(set.available == 6);
    for (const FilledPrompt& one : set.prompts)
        CHECK(one.metric == one.values.at("A") + " - " + one.values.at("B"));
}
