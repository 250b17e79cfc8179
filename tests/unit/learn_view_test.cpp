// Tests Learn in the window: settings, requests to the worker, trials.
#include <set>

#include "command_bench.h"
#include "learn/controls.h"
#include "learn/station.h"
#include "questions/answering.h"
#include "views/learn/learn.h"
#include "views/views.h"

using namespace headlight;

namespace {

Result<StationPage> asked(const RunAnswer& shown, const PageRequest& request) {
    ThreadPool pool(2);
    return answer_page({*shown.sentence->trace}, request, pool, nullptr);
}

/// Opens the model that a station opens, or an image model.
Bench bench_of(const learn::Station& station) {
    if (std::string_view(station.key) == "pictures") return Bench(reference_model("vit"));
    return std::string_view(station.opens) == "translator" ? Bench(translator()) : Bench();
}

/// Checks that a page mentions only controls that the station has.
void check_controls(const learn::Station& station, const learn::Page& page) {
    std::any state = station.first_state();
    for (const learn::Limit& limit : page.limits)
        CHECK(learn::set_control(station, state, limit.control + "=" + std::to_string(limit.high)));
    for (const learn::Idle& idle : page.idle) {
        CHECK(learn::station_text(station.key).controls.count(idle.control) == 1);
        CHECK(learn::set_control(station, state, idle.makes_count));
    }
}

}  // namespace

TEST_CASE("learn: a station, what is chosen there, and the way back are commands") {
    Bench b;
    LearnState& state = b.session.of<LearnState>();
    REQUIRE(b.act("view lines; learn positions"));
    CHECK(state.station == "positions");
    CHECK(std::string(views()[*b.session.selection.view].key) == "learn");
    REQUIRE(b.act("learn set width=8; learn set count=7; learn database; learn set similarity=dot product"));
    CHECK(state.set == std::vector<std::string>{"positions width=8", "positions count=7",
                                                "database similarity=dot product"});
    REQUIRE(b.act("learn set similarity=distance"));
    CHECK(state.words(state.shown()).empty());
    CHECK(
        b.refused("learn set width=8") ==
        "The station database has no \"width\" to set; it has similarity, temperature, keys, values, query.");
    REQUIRE(b.act("learn positions; learn reset"));
    CHECK(state.set.empty());
    REQUIRE(b.act("next station; previous station; previous station"));
    CHECK(state.station == "masks");
    REQUIRE(b.act("back"));
    CHECK(std::string(views()[*b.session.selection.view].key) == "lines");
    CHECK_FALSE(b.act("next station"));
}

TEST_CASE("learn: what is remembered of it, and what another version wrote") {
    LearnState state;
    Json json;
    state.station = "scale";
    state.set = {"positions width=8"};
    FieldWriter writer(json);
    state.visit(writer);
    LearnState again;
    FieldReader reader(json, "test");
    again.visit(reader);
    CHECK(again.station == "scale");
    CHECK(again.set == state.set);
    const Json newer{{"learn_station", "telepathy"}, {"learn_set", {"positions mood=3", "telepathy a=1"}}};
    FieldReader newest(newer, "test");
    again.visit(newest);
    CHECK(again.station == learn::stations().front().key);
    const learn::Station& positions = *learn::find_station("positions");
    CHECK(learn::control_words(positions, learn::state_of(positions, again.words(positions))).empty());
}

TEST_CASE("learn: the worker answers each station, with a page or a sentence") {
    Bench b;
    for (const learn::Station& station : learn::stations()) {
        CAPTURE(station.key);
        PageRequest request;
        request.station = station.key;
        request.text = "Bark is a dog";
        const auto found = asked(b.answer, request);
        REQUIRE(found);
        CHECK((found->page != nullptr) == found->missing.empty());
        if (found->page) check_controls(station, *found->page);
        request.block = 99;
        request.clamp_to(*b.answer.sentence->trace);
        CHECK(request.block == 3);
    }
    PageRequest request;
    request.station = "positions";
    request.words = {"width=4", "mood=3"};
    const auto chosen = asked(b.answer, request);
    REQUIRE(chosen->page);
    int vectors = 0;
    for (const learn::Block& block : chosen->page->blocks)
        if (const auto* grid = std::get_if<learn::Grid>(&block);
            grid && grid->title == "A vector for each position") {
            ++vectors;
            CHECK(grid->values.cols() == 4);
            CHECK(grid->rows[0].find("Lily") != std::string::npos);
        }
    CHECK(vectors == 1);
}

TEST_CASE("learn: a question that names no station asks for the first") {
    const Bench b;
    PageRequest request;
    request.clamp_to(*b.answer.sentence->trace);
    CHECK(request.station == learn::stations()[0].key);
    CHECK(asked(b.answer, request)->page);
}

TEST_CASE("learn: everything that a station says to try is a command that can be carried out") {
    for (const learn::Station& station : learn::stations()) {
        Bench b = bench_of(station);
        const learn::StationText& text = learn::station_text(station.key);
        CAPTURE(station.key);
        CHECK(text.tries.size() >= 2);
        CHECK(text.tries.size() <= 3);
        std::set<std::string> labels;
        for (const learn::Try& attempt : text.tries) {
            CAPTURE(attempt.command);
            CHECK(labels.insert(attempt.label).second);
            REQUIRE(b.act(std::string("learn ") + station.key));
            const Status done = b.act("do " + attempt.command);
            CHECK_MESSAGE(done, (done ? "" : done.error().message));
        }
    }
}

TEST_CASE("learn: what is chosen at a station is a step of undo, in the order of time") {
    Bench b;
    LearnState& state = b.session.of<LearnState>();
    REQUIRE(b.act("learn positions; learn set width=8; text A dog; learn set count=7; mask none"));
    REQUIRE(b.act("learn database; learn set temperature=5; undo"));
    CHECK(state.words(state.shown()).empty());
    REQUIRE(b.act("undo"));
    CHECK(b.session.document.intervention == Intervention());
    CHECK(state.station == "database");
    REQUIRE(b.act("undo"));
    CHECK(state.set == std::vector<std::string>{"positions width=8"});
    CHECK(state.station == "positions");  // where it changed something
    REQUIRE(b.act("undo"));
    CHECK(b.host.text(TextName::sentence).empty());
    REQUIRE(b.act("undo"));
    CHECK(state.set.empty());
    REQUIRE(b.act("redo; redo; redo"));
    CHECK(state.set == std::vector<std::string>{"positions width=8", "positions count=7"});
    REQUIRE(b.act("learn reset; undo"));
    CHECK(state.set.size() == 2);
    const size_t steps = b.session.document.history.steps();
    REQUIRE(b.act("learn set width=8"));  // unchanged
    CHECK(b.session.document.history.steps() == steps);
}

TEST_CASE("learn: what goes on at a station is one step of undo, another station's is not") {
    Bench b;
    LearnState& state = b.session.of<LearnState>();
    REQUIRE(b.act("learn positions; learn set width=8"));
    const auto goes_on = [&](const std::string& commands) {
        b.session.document.same_step = true;
        REQUIRE(b.act(commands));
        b.session.document.same_step = false;
    };
    for (const char* width : {"10", "12", "14"}) goes_on(std::string("learn set width=") + width);
    CHECK(b.session.document.history.steps() == 1);
    goes_on("learn database; learn set temperature=5");
    CHECK(b.session.document.history.steps() == 2);
    REQUIRE(b.act("undo"));
    CHECK(state.set == std::vector<std::string>{"positions width=14"});
    goes_on("learn positions; learn set width=20");  // after an undo nothing joins
    REQUIRE(b.act("undo; undo"));
    CHECK(state.set.empty());
}

TEST_CASE("learn: the built-in picture model begins with its scene, another model with no picture") {
    Bench scenes(*Model::open(kTests.parent_path() / "models/scenes"));
    CHECK(scenes.host.text(TextName::sentence) == "sample:scene");
    Bench other(reference_model("vit"));
    CHECK(other.host.text(TextName::sentence).empty());
}

TEST_CASE("learn: a picture that is opened at its station is shown there, whatever model reads text") {
    const std::string picture = (kTests / "reference/models/vit/gray.png").string();
    Bench b;
    const LearnState& state = b.session.of<LearnState>();
    CHECK(b.refused("learn masks; open " + picture).find("vision model") != std::string::npos);
    REQUIRE(b.act("learn pictures; open " + picture));
    CHECK(state.set == std::vector<std::string>{"pictures picture=" + picture});
    CHECK(b.host.text(TextName::sentence).empty());
    PageRequest request;
    request.station = "pictures";
    request.words = state.words(state.shown());
    const auto found = asked(b.answer, request);
    REQUIRE(found->page);
    CHECK(std::get<learn::Pixels>(found->page->blocks[0]).title == "The picture in patches");
    REQUIRE(b.act("undo"));
    CHECK(state.set.empty());
    CHECK(b.refused("view lines; open " + picture).find("vision model") != std::string::npos);
    Bench vision(reference_model("vit"));
    REQUIRE(vision.act("learn pictures; open " + picture));
    CHECK(vision.host.text(TextName::sentence) == picture);
    CHECK(vision.session.of<LearnState>().set.empty());
}

TEST_CASE("learn: a station begins with its own head until the user selects one") {
    Bench b;
    PageRequest request;
    request.station = "score-functions";
    const auto own = asked(b.answer, request);
    REQUIRE(own->head_found);
    const std::string name = head_name(b.answer.sentence->model->config, own->head.block, own->head.head);
    CHECK(own->page->note.find("head " + name) != std::string::npos);
    request.head_chosen = true;
    const auto chosen = asked(b.answer, request);
    CHECK_FALSE(chosen->head_found);
    CHECK(chosen->page->note.find("head 0.0") != std::string::npos);
    CHECK_FALSE(b.session.selection.head_chosen);
    REQUIRE(b.act("head 2.5"));
    CHECK(b.session.selection.head_chosen);
}
