// Tests that the sentences of the start screen show what they claim.
#include "base/cast.h"
#include "helpers.h"
#include "learn/translation_choices.h"
#include "model/heads.h"
#include "model/input.h"
#include "paint/explanations.h"
#include "session/commands/experiments.h"
#include "session/examples.h"
#include "session/samples.h"
#include "session/session.h"
#include "window/commands.h"

using namespace headlight;

namespace {

std::shared_ptr<const Trace> read(const std::shared_ptr<const Model>& model, const std::string& text,
                                  ThreadPool& pool) {
    if (model->config.can.write_target) return translate(model, text, pool, nullptr)->trace;
    TextInput typed;
    typed.text = text;
    return *run_trace(model, {encode_input(*model, typed)->sequences, {}}, pool);
}

}  // namespace

TEST_CASE("examples: each opens on a cell that weighs most in its row, but for where heads rest") {
    ThreadPool pool(2);
    int pointed = 0, masked = 0, others = 0;
    for (const Example& example : examples()) {
        CAPTURE(example.text);
        CHECK(example.masks == (example.text.find("[MASK]") != std::string::npos));
        CHECK((example.masks || example.others) == example.model.empty());
        masked += example.masks;
        others += example.others;
        if (example.model.empty()) continue;
        const auto model = *Model::open(kTests.parent_path() / "models" / example.model);
        const auto trace = read(model, example.text, pool);
        const AttentionHead head = *parse_head(model->config, example.head, "example");
        const auto [query, key] = example.cell;
        REQUIRE(query < trace->query_count(head.block));
        const auto row = trace->pattern(head.block, head.head).row(query).eval();
        REQUIRE(key < row.size());
        CHECK(row[key] >= 0.3f);
        for (Index k = 1; k < row.size(); ++k) CHECK(row[k] <= row[key]);
        ++pointed;
    }
    CHECK(masked >= 3);
    CHECK(others >= 3);
    CHECK(pointed + masked + others == isize(examples()));
}

TEST_CASE("examples: a model is offered its own, masks in its spelling") {
    const auto begin = [](const std::filesystem::path& folder) {
        return examples_for(**Model::open(folder)).front().text;
    };
    CHECK(begin(kTests.parent_path() / "models/stories") == examples()[0].text);
    CHECK(begin(kTests.parent_path() / "models/translator") ==
          "The animal didn't cross the street because it was too tired.");
    CHECK(begin(kTests / "reference/models/gpt2").starts_with("When Mary and John"));
    for (const Example& own : examples_for(**Model::open(kTests.parent_path() / "models/stories")))
        CHECK_FALSE(own.others);
    CHECK(begin(kTests / "reference/models/bert") == "The capital of France is [MASK].");
    CHECK(begin(kTests / "reference/models/roberta") == "The capital of France is <mask>.");
}

TEST_CASE("examples: a first start shows the story, its head and its cell") {
    Session session;
    begin_with_story(session);
    CHECK(session.document.text == examples()[0].text);
    CHECK(session.selection.block == 1);
    CHECK(session.selection.head == 2);
    CHECK(session.selection.locked == std::pair(16, 4));
    CHECK(session.preferences.rank == kRankByCell);
    CHECK_FALSE(session.selection.choose_head);
}

TEST_CASE("examples: the sample pictures are there") {
    for (const SamplePicture& sample : sample_pictures()) {
        CAPTURE(sample.path);
        CHECK(names_picture(sample.path));
        const auto image = open_picture(sample.path);
        REQUIRE(image);
        CHECK(image->width == 224);
        CHECK(image->height == 224);
    }
    CHECK(names_picture("A/b.JPG"));
    CHECK_FALSE(names_picture("A sentence."));
    CHECK_FALSE(open_picture("sample:none"));
}

TEST_CASE("examples: each thing to try is made of commands that there are") {
    CHECK(things_to_try().size() == 7);
    for (const ThingToTry& thing : things_to_try()) {
        CAPTURE(thing.title);
        CHECK(parse_commands(commands(), thing.commands));
        CHECK_FALSE(thing.see.empty());
    }
}

TEST_CASE("explanations: the longest beginning of a path counts") {
    REQUIRE(explanation_of("contrast/linear"));
    CHECK(*explanation_of("contrast/linear") == *explanation_of("contrast"));
    CHECK(*explanation_of("map/fit") != *explanation_of("map"));
    CHECK(explanation_of("no such widget") == nullptr);
}
