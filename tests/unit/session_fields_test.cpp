// Tests what is remembered of a session, without a display and without its views: fields, the bag of states,
// workspaces.
#include <doctest/doctest.h>

#include "helpers.h"
#include "session/workspace.h"

using namespace headlight;

namespace {

/// Holds what a view might remember.
struct ToyState {
    enum class Show { first, second, third } show = Show::first;
    bool open = false;
    float share = 0.5f;
    int zoom = 1;
    void visit(FieldVisitor& v) {
        v.integer("toy_show", show, 0, 2);
        v.flag("toy_open", open);
        v.number("toy_share", share, 0, 1);
        v.report("toy_zoom", zoom);
    }
};

constexpr StateVisit kToys[] = {visit_state<ToyState>};

Json parsed_json(const char* text) { return Json::parse(text); }

}  // namespace

TEST_CASE("a bag holds one value of each type, and a copy holds its own") {
    struct Other {
        std::string text = "untouched";
    };
    StateBag bag;
    CHECK(std::as_const(bag).of<Other>().text == "untouched");
    bag.of<ToyState>().zoom = 3;
    bag.of<Other>().text = "first";
    StateBag copy = bag;
    copy.of<Other>().text = "second";
    CHECK((bag.of<Other>().text == "first" && copy.of<ToyState>().zoom == 3));
    CHECK(std::as_const(copy).of<Other>().text == "second");
}

TEST_CASE("visit() reads, writes and reports: clamps to the range, skips or rejects wrong types") {
    ToyState state;
    const Json given = parsed_json(R"({"toy_show": 9, "toy_open": true, "toy_share": -2, "toy_zoom": 8})");
    FieldReader reader(given, "given");
    state.visit(reader);
    CHECK(reader.status());
    CHECK((state.show == ToyState::Show::third && state.open && state.share == 0 && state.zoom == 1));
    const Json wrong = parsed_json(R"({"toy_show": "two", "toy_open": 1, "toy_share": 0.25})");
    FieldReader strict(wrong, "the file"), lenient(wrong, "the file", true);
    state.visit(strict);
    REQUIRE(!strict.status());
    CHECK(strict.status().error().message.find("toy_show") != std::string::npos);
    ToyState kept;
    kept.visit(lenient);
    CHECK((lenient.status() && kept.show == ToyState::Show::first && !kept.open && kept.share == 0.25f));
    Json written = Json::object(), reported = Json::object();
    FieldWriter writer(written);
    FieldReporter reporter(reported);
    kept.visit(writer);
    kept.visit(reporter);
    CHECK(written == parsed_json(R"({"toy_show": 0, "toy_open": false, "toy_share": 0.25})"));
    CHECK((reported["toy_zoom"] == 1 && reported["toy_share"] == 0.25));
}

TEST_CASE("cells, pairs and lists: misfits are skipped when reading and rejected when writing") {
    const Json given = parsed_json(
        R"({"cell": [[2, 1], [3, 3]], "none": [], "pairs": [[1, -1], [1], ["a", 2], [4, 100000]], "list": ["a", 5, "b", "c"]})");
    FieldReader reader(given, "given");
    std::optional<std::pair<int, int>> cell, none{{1, 1}}, absent{{7, 8}};
    std::vector<std::pair<int, int>> pairs;
    std::vector<std::string> list;
    reader.cell("cell", cell);
    reader.cell("none", none);
    reader.cell("absent", absent);
    reader.pairs("pairs", pairs);
    reader.list("list", list, 2);
    CHECK((cell == std::pair(2, 1) && !none && absent == std::pair(7, 8)));
    CHECK((pairs == std::vector<std::pair<int, int>>{{1, -1}} && list == std::vector<std::string>{"a", "b"}));
    Json root = Json::object();
    FieldWriter writer(root);
    writer.list("list", list, 2);
    CHECK(writer.status());
    writer.list("list", list, 1);
    REQUIRE(!writer.status());
    CHECK(writer.status().error().message.find("at most 1;") != std::string::npos);
}

TEST_CASE("a view's state is saved in workspaces and settings generically") {
    const TemporaryFolder folder;
    const auto path = folder.path / "a.headlight.json";
    Session s;
    s.visits = kToys;
    s.of<ToyState>() = {ToyState::Show::second, true, 0.75f, 5};
    REQUIRE(save_workspace(s, path));
    Session empty;
    empty.visits = kToys;
    const auto back = open_workspace(path, empty);
    REQUIRE(back);
    CHECK((back->of<ToyState>().show == ToyState::Show::second && back->of<ToyState>().share == 0.75f &&
           back->of<ToyState>().zoom == 1));
    CHECK((workspace_fields(kToys).count("toy_open") && !workspace_fields().count("toy_open")));
    CHECK((*settings_fields(s))["toy_open"] == true);
    CHECK(read_settings(*settings_fields(s), "settings", kToys).of<ToyState>().open);
}

TEST_CASE("a workspace of a newer version keeps its fields when it is saved again") {
    const TemporaryFolder folder;
    const auto path = folder.path / "a.headlight.json";
    write_bytes(
        path,
        R"({"format": "headlight-workspace", "version": 1, "text": "old", "toy_open": true, "future": {"deep": [1, 2]}})");
    auto opened = open_workspace(path, {});
    REQUIRE(opened);
    opened->document.text = "new";
    REQUIRE(save_workspace(*opened, path));
    const Json kept = Json::parse(read_bytes(path));
    CHECK((kept["future"]["deep"][1] == 2 && kept["text"] == "new" && kept["toy_open"] == true));
    write_bytes(path, R"({"format": "headlight-workspace", "version": 1, "text": "other"})");
    const auto other = open_workspace(path, *opened);
    REQUIRE(other);
    CHECK_MESSAGE(!workspace_document(*other)->contains("future"), "another file's fields are its own");
}
