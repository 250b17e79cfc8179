// Tests a lesson in a session: what it locks, its tasks in order, undo, and the way out.
#include "command_bench.h"
#include "session/lesson.h"

using namespace headlight;

namespace {

/// Opens the lesson of the copied word, changed as a test needs it, from a file in a folder of its own.
struct LessonSession : Bench {
    TemporaryFolder folder;
    std::string file = (folder.path / "copies.headlight-lesson.json").string();

    explicit LessonSession(const Json& locked = {{"model", true}, {"sentence", true}, {"views", {"delta"}}}) {
        host.set_text(TextName::sentence, "Tom had a car");
        Json root = Json::parse(lessons::built_in_lesson_text("how-a-model-copies-a-word"));
        root["locked"] = locked;
        write_bytes(file, root.dump());
        REQUIRE(act("lesson \"" + file + "\""));
    }
    LessonState& lesson() { return session.of<LessonState>(); }
    /// Counts the open task as done.
    void solve() { lesson().result().done = true; }
    std::string text() { return host.text(TextName::sentence); }
    size_t changes() const { return session.document.intervention.changes.size(); }
};

constexpr const char* kCopied = "Lily had a red ball. Tom had a blue ball. Lily gave Tom the red";

}  // namespace

TEST_CASE("lesson: what it locks refuses with one sentence, by word, in the palette and by key") {
    LessonSession b;
    CHECK(b.text() == kCopied);
    for (const char* command :
         {"open", "switch translator", "text Tom", "second Tom", "read text x.txt", "example 0", "view delta",
          "open /tmp/nothing.gguf", "open x.headlight.json", "insert generated"}) {
        CAPTURE(command);
        CHECK(b.refused(command) == kLockedByLesson);
    }
    CHECK(b.text() == kCopied);
    for (const char* command : {"view lines", "mask 3>1", "head 1.1"}) CHECK(b.refused(command) == "");
    const auto offers = palette_offers(commands(), b.context(), "switch to a model");
    REQUIRE(!offers.empty());
    CHECK(offers[0].why_not == std::string(kLockedByLesson));
    REQUIRE(b.act("lesson leave"));
    CHECK(b.refused("text Tom") == "");
}

TEST_CASE("lesson: interventions can be locked, and views by all their doors") {
    Json root = Json::parse(lessons::built_in_lesson_text("how-a-model-copies-a-word"));
    LessonSession b(Json{{"views", {"compare"}}});
    CHECK(b.refused("view compare changes") == kLockedByLesson);
    CHECK(b.refused("switch stories") == "");
    root["locked"] = {{"interventions", true}};
    root["tasks"] = Json::array({root["tasks"][0]});
    write_bytes(b.file, root.dump());
    REQUIRE(b.act("lesson \"" + b.file + "\""));
    for (const char* command : {"mask 3>1", "ablate 0.0", "temperature 2", "skip-mlp 0", "intervene on"}) {
        CAPTURE(command);
        CHECK(b.refused(command) == kLockedByLesson);
    }
    CHECK(b.changes() == 0);
}

TEST_CASE("lesson: tasks open in order, and each begins with the lesson's own sentence") {
    LessonSession b;
    CHECK(b.refused("lesson next") == "The next task opens once this one is done.");
    CHECK(b.refused("lesson task 3") == "This task opens once the one before it is done.");
    CHECK(b.refused("lesson task 9") == "The lesson has tasks 1 … 5.");
    for (int task = 0; task < 3; ++task) {
        b.solve();
        REQUIRE(b.act("lesson next"));
    }
    CHECK(b.lesson().task().kind == lessons::TaskKind::answer);
    REQUIRE(b.act("text Lily had a red kite"));  // the task that changes the sentence unlocks it
    b.solve();
    REQUIRE(b.act("lesson next"));
    CHECK(b.text() == kCopied);
    CHECK(b.refused("text Tom") == kLockedByLesson);
    CHECK(b.refused("lesson next") == "This is the last task.");
    REQUIRE(b.act("lesson task 3; mask 16>4; lesson task 2"));
    CHECK(b.changes() == 0);
}

TEST_CASE("lesson: undo takes back what was masked, and Start over is one step") {
    LessonSession b;
    REQUIRE(b.act("mask 5>3; mask 5>4"));
    CHECK(b.changes() == 2);
    REQUIRE(b.act("undo"));
    CHECK(b.changes() == 1);
    REQUIRE(b.act("redo; lesson start over"));
    CHECK(b.changes() == 0);
    REQUIRE(b.act("undo"));
    CHECK(b.changes() == 2);
    while (b.session.document.history.steps() > 0) REQUIRE(b.act("undo"));
    CHECK(b.text() == kCopied);  // nothing from before the lesson comes back
}

TEST_CASE("lesson: leaving it returns to what was open; what is saved meanwhile is that") {
    LessonSession b;
    CHECK(open_lesson_of(b.session));
    CHECK(without_lesson(b.session).document.text == "Tom had a car");
    REQUIRE(b.act("lesson what-a-mask-hides"));  // from one lesson to another
    CHECK(b.lesson().name == "what-a-mask-hides");
    REQUIRE(b.act("lesson leave"));
    CHECK(!open_lesson_of(b.session));
    CHECK(b.text() == "Tom had a car");
    CHECK(b.refused("lesson hint") != "");
}

TEST_CASE("lesson: hints come one by one and are counted; a guess uncovers the view") {
    LessonSession b;
    CHECK(covers_view(b.lesson()));
    const size_t hints = b.lesson().task().hints.size();
    for (size_t i = 0; i < hints; ++i) REQUIRE(b.act("lesson hint"));
    CHECK(b.refused("lesson hint") == "There is no further hint.");
    CHECK(b.lesson().result().hints == static_cast<int>(hints));
    REQUIRE(b.act("lesson answer 4"));
    CHECK(!covers_view(b.lesson()));
    CHECK(judge_request(b.session)->answer == "4");
}

TEST_CASE("lesson: results are written beside it and read again; others' files stay") {
    LessonSession b;
    b.solve();
    write_results(b.lesson());
    CHECK(b.lesson().saving == "Saved in copies.results.json");
    REQUIRE(b.act("lesson leave"));
    REQUIRE(b.act("lesson \"" + b.file + "\""));
    CHECK(b.lesson().results.done() == 1);
    REQUIRE(b.act("lesson leave"));
    write_bytes(b.folder.path / "copies.results.json", "{\"mine\": 1}");
    REQUIRE(b.act("lesson \"" + b.file + "\""));
    CHECK(b.lesson().saving.starts_with("Not saved: "));
    write_results(b.lesson());
    CHECK(read_bytes(b.folder.path / "copies.results.json") == "{\"mine\": 1}");
}

TEST_CASE("lesson: a view that does not exist, and a broken file, leave everything as it is") {
    LessonSession b;
    Json root = Json::parse(read_bytes(b.file));
    root["view"] = "hed";
    const std::string other = (b.folder.path / "other.headlight-lesson.json").string();
    write_bytes(other, root.dump());
    CHECK(b.refused("lesson \"" + other + "\"").find("there is no view \"hed\"") != std::string::npos);
    CHECK(b.refused("lesson nothing").find("nothing") != std::string::npos);
    CHECK(b.lesson().name == "copies.headlight-lesson.json");
}
