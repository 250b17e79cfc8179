// Tests commands that choose: views' states, interventions, comparisons, generation.
#include <map>

#include "command_bench.h"
#include "io/json.h"
#include "parts/layer_heads.h"
#include "session/commands/choices.h"
#include "views/delta/delta.h"
#include "views/views.h"

using namespace headlight;

namespace {

/// Reads the index of each choice of a state.
struct PlaceReader final : FieldWriter {
    Json json;
    std::map<std::string, int> places;

    PlaceReader() : FieldWriter(json) {}
    void choice(const Choice& choice, int& place) override { places[choice.command] = place; }
};

int place_of(StateBag& bag, const View& view, const std::string& command) {
    PlaceReader reader;
    view.visit(bag, reader);
    return reader.places.at(command);
}

}  // namespace

TEST_CASE("what can be chosen of a view's state is a row of the table that sets it") {
    int count = 0;
    for (const View& view : views())
        for (const Choice& choice : view.visit ? choices_of(view.visit) : std::vector<Choice>{}) {
            CAPTURE(choice.command);
            CHECK(command_named(commands(), choice.command).choices() == choice.words);
            StateBag bag;
            const int words = static_cast<int>(choice.words.size());
            REQUIRE(words > 1);
            for (int i = words - 1; i >= 0; --i) {
                choose(bag, view.visit, choice.command, choice.words[static_cast<size_t>(i)]);
                CHECK(place_of(bag, view, choice.command) == i);
            }
            choose(bag, view.visit, choice.command, "");
            CHECK(place_of(bag, view, choice.command) == 1);
            ++count;
        }
    CHECK(count > 15);
}

TEST_CASE("choosing what a view shows opens it, but for what several views show") {
    Bench b;
    const auto shown = [&] { return std::string(views()[*b.session.selection.view].key); };
    REQUIRE(b.act("delta show norm; delta split keys of head"));
    CHECK(b.session.of<DeltaState>().show == DeltaShow::norm);
    CHECK(b.session.of<DeltaState>().split == DeltaSplitBy::key_of_head);
    CHECK(shown() == "delta");
    REQUIRE(b.act("delta scale; lines share 99"));
    CHECK_FALSE(b.session.of<DeltaState>().per_layer);
    CHECK(b.session.of<LayerHeads>().share == 0.99f);
    CHECK(shown() == "delta");
    REQUIRE(b.act("heads layout table"));
    CHECK(shown() == "heads");
    REQUIRE(b.act("back"));
    CHECK(shown() == "delta");
    CHECK(!b.refused("alignment links hard").empty());  // this model aligns nothing
    CHECK(b.refused("delta show both").find("ratio|norm|cosine") != std::string::npos);
    const auto offers = b.offers("delta norm");
    CHECK(std::find(offers.begin(), offers.end(), "ΔE: show: norm") != offers.end());
}

TEST_CASE("a change takes the place of what it excludes, and the same one again goes") {
    Bench b;
    const auto& changes = b.session.document.intervention.changes;
    REQUIRE(b.act("ablate 1.1; ablate 1.1:mean; ablate 1.2; mask 6>3@2.0; unmask 6>3@2.0; mask 6>2@2.0"));
    CHECK(changes.size() == 4);
    CHECK((changes[0].kind == ChangeKind::mean && changes[1].kind == ChangeKind::zero));
    CHECK((changes[2].kind == ChangeKind::unmask && changes[3].kind == ChangeKind::mask));
    REQUIRE(b.act("ablate 1.1:mean; unmask 6>3@2.0; freeze 1.2=Tom sat."));
    CHECK((changes.size() == 2 && changes[1].kind == ChangeKind::freeze));
    REQUIRE(b.act("remove interventions; temperature 0.5@2.0; temperature 2@2.0; temperature 4"));
    CHECK((changes.size() == 2 && changes[0].value == 2));
    REQUIRE(b.act("temperature 1@2.0; temperature 1"));
    CHECK(changes.empty());
}

TEST_CASE("a model that is chosen again for comparison is opened again, wherever it is chosen") {
    Bench b;
    const Comparison& compared = b.session.document.comparison;
    REQUIRE(b.act("compare model stories"));
    const auto first = compared.attempt;
    REQUIRE(b.act("compare model stories"));
    CHECK(compared.attempt == first + 1);
    REQUIRE(b.act("compare heads; compare model; open stories"));
    CHECK((compared.attempt == first + 2 && compared.what == Compared::models && !b.session.sheet));
}

TEST_CASE("numbers of decoding keep within their ranges; a prediction goes into the text") {
    Bench b;
    REQUIRE(b.act("sampling temperature 0.8; top k 40; seed 7; beams 4; length penalty -0.5; length 8"));
    const GenerationState& g = b.session.document.generation;
    CHECK((g.decoding.temperature == 0.8f && g.decoding.top_k == 40 && g.decoding.seed == 7));
    CHECK((g.decoding.beams == 4 && g.decoding.length_penalty == -0.5f && g.length == 8));
    for (const char* line : {"top p 1.5", "top p nan", "beams 2.5", "seed -1", "length 0", "length many"}) {
        CAPTURE(line);
        CHECK(b.refused(line).find("takes a number from") != std::string::npos);
    }
    b.host.set_text(TextName::sentence, "Tom had");
    const auto& predicted = b.answer.sentence->predictions.at(0);
    const auto& token = predicted.tokens.at(0);
    REQUIRE(
        b.act("accept prediction " + std::to_string(predicted.position) + "," + std::to_string(token.id)));
    const std::string bytes = b.answer.sentence->model->target_tokenizer()->bytes(token.id);
    CHECK(b.host.text(TextName::sentence) == "Tom had" + bytes);
    CHECK(!b.refused("accept prediction 3").empty());
}
