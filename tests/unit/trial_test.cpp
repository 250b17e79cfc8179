// Tests trials by click: one step of undo, active while nothing of it changes, reverted by the next.
#include "command_bench.h"
#include "session/commands/try_out.h"
#include "session/work/requests.h"
#include "views/learn/learn.h"

using namespace headlight;

namespace {

/// Sets up a station of Learn in its first state.
struct TrialBench : Bench {
    explicit TrialBench(const std::string& station) { REQUIRE(act("learn " + station)); }

    Status attempt(const std::string& commands) { return act("try \"" + commands + "\""); }
    std::vector<std::string> words() {
        const LearnState& state = session.of<LearnState>();
        return state.words(state.shown());
    }
    size_t steps() const { return session.document.history.steps(); }
    void open(const std::string& name) {
        choose_model(session, name);
        come(name);
    }
    const Mask& mask() const { return session.document.intervention.mask; }
};

const std::string kSeeAll = "mask none", kIdentities = "learn set query=identity; learn set key=identity";

}  // namespace

TEST_CASE("try: a second click undoes the first") {
    TrialBench b("qkv");
    REQUIRE(b.attempt(kIdentities));
    CHECK(b.words() == std::vector<std::string>{"query=identity", "key=identity"});
    CHECK(trial_is_active(b.session, kIdentities));
    CHECK_FALSE(trial_is_active(b.session, kSeeAll));
    CHECK(b.steps() == 1);
    REQUIRE(b.attempt(kIdentities));
    CHECK(b.words().empty());
    CHECK_FALSE(trial_is_active(b.session));
    REQUIRE(b.act("undo"));
    CHECK(b.words().size() == 2);
    CHECK(trial_is_active(b.session, kIdentities));
    REQUIRE(b.act("undo"));
    CHECK(b.words().empty());
    CHECK_FALSE(trial_is_active(b.session));
    REQUIRE(b.act("redo; redo"));
    CHECK(b.words().empty());
}

TEST_CASE("try: another try undoes the first, as one step") {
    TrialBench b("qkv");
    const Selection before = b.session.selection;
    REQUIRE(b.attempt(kSeeAll));
    REQUIRE(b.attempt("head 2.5"));
    CHECK(b.mask() == Mask());
    CHECK(b.session.selection.head == 5);
    CHECK(trial_is_active(b.session, "head 2.5"));
    REQUIRE(b.act("undo"));
    CHECK(b.mask() != Mask());
    CHECK(b.session.selection.head == before.head);
    CHECK(b.session.selection.head_chosen == before.head_chosen);
    CHECK(trial_is_active(b.session, kSeeAll));
    REQUIRE(b.act("redo; learn reset"));
    CHECK(b.session.selection.block == before.block);
    CHECK_FALSE(b.session.selection.head_chosen);
    CHECK_FALSE(trial_is_active(b.session));
}

TEST_CASE("try: what the user did since then is kept") {
    TrialBench b("database");
    REQUIRE(b.act("try learn set temperature=0; learn set similarity=dot product; text A dog; mask none"));
    CHECK(trial_is_active(b.session, "learn set temperature=0"));  // it stands beside what is new
    REQUIRE(b.act("try learn set temperature=0"));
    CHECK(b.words() == std::vector<std::string>{"similarity=dot product"});
    CHECK(b.host.text(TextName::sentence) == "A dog");
    CHECK(b.mask() == *Mask::parse("none"));
    REQUIRE(b.act("try learn set temperature=1000; learn set temperature=5"));
    CHECK_FALSE(trial_is_active(b.session));
    REQUIRE(b.act("try learn set query=8,2"));
    CHECK(b.words() == std::vector<std::string>{"similarity=dot product", "temperature=5", "query=8,2"});
}

TEST_CASE("try: undone at another station than the one it changed") {
    TrialBench b("database");
    REQUIRE(b.act("try learn set temperature=0; learn qkv; try learn set heads=4"));
    const LearnState& state = b.session.of<LearnState>();
    CHECK(state.set == std::vector<std::string>{"qkv heads=4"});
    CHECK(state.station == "qkv");
    REQUIRE(b.act("undo"));
    CHECK(state.set == std::vector<std::string>{"database temperature=0"});
}

TEST_CASE("try: restores text, view and cell too; a failure changes nothing") {
    TrialBench b("masks");
    REQUIRE(b.act("text A dog; lock 2,1"));
    REQUIRE(b.act("try text The cat sat"));
    CHECK(b.host.text(TextName::sentence) == "The cat sat");
    REQUIRE(b.act("try view steps"));
    CHECK(b.host.text(TextName::sentence) == "A dog");
    CHECK(std::string(views()[*b.session.selection.view].key) == "steps");
    REQUIRE(b.act("undo; undo"));
    CHECK(std::string(views()[*b.session.selection.view].key) == "learn");
    CHECK(b.session.selection.locked == std::pair{2, 1});
    const size_t steps = b.steps();
    CHECK_FALSE(b.attempt("mask causal; head 99.0"));
    CHECK(b.mask() == Mask());
    CHECK(b.steps() == steps);
    CHECK_FALSE(trial_is_active(b.session));
}

TEST_CASE("try: another model drops only its interventions on the last one") {
    TrialBench b("qkv");
    REQUIRE(b.attempt("mask none; learn set heads=4"));
    b.open("translator");
    CHECK(b.mask() == Mask());
    CHECK(trial_is_active(b.session));
    REQUIRE(b.attempt("mask none; learn set heads=4"));
    CHECK(b.words().empty());
    CHECK(b.mask() == Mask());
}

TEST_CASE("try: one that fails at its first command undoes nothing of the user's") {
    TrialBench b("qkv");
    REQUIRE(b.act("mask none"));
    const size_t steps = b.steps();
    CHECK_FALSE(b.attempt("head 99.0"));
    CHECK(b.steps() == steps);
    CHECK(b.mask() != Mask());
}

TEST_CASE("try: one that only changed a closed model's attention is inactive") {
    TrialBench b("qkv");
    REQUIRE(b.attempt("mask none"));
    b.open("translator");
    CHECK_FALSE(trial_is_active(b.session));
    b.open("stories");
    CHECK(trial_is_active(b.session, "mask none"));
}

TEST_CASE("try: what comes after a model waits until it is open, and is undone in one step with it") {
    TrialBench b("qkv");
    const std::string commands = "switch translator; head encoder.1.3; mask none";
    REQUIRE(b.attempt(commands));
    Document& d = b.session.document;
    CHECK((d.wanted.path == "translator" && d.open.path == "stories"));
    CHECK(b.mask() == Mask());
    CHECK(trial_is_active(b.session, commands));
    CommandContext c = b.context();
    CHECK_FALSE(trial_can_resume(c));
    b.come("translator");
    REQUIRE(go_on(c));
    CHECK(b.mask() == *Mask::parse("none"));
    CHECK(b.session.selection.block == 1);
    CHECK(b.session.selection.head == 3);
    CHECK(b.steps() == 1);
    REQUIRE(b.attempt(commands));
    CHECK(d.wanted.path == "stories");
    b.come("stories");
    CHECK(b.mask() == Mask());
    CHECK_FALSE(trial_is_active(b.session));
}

TEST_CASE("try: a model that cannot be opened ends the waiting commands") {
    TrialBench b("qkv");
    REQUIRE(b.attempt("switch missing; mask none"));
    CHECK(b.session.document.pending_trial);
    b.fail("There is no model of that name.");
    CommandContext c = b.context();
    CHECK_FALSE(trial_can_resume(c));
    CHECK((b.mask() == Mask() && b.session.document.wanted.path == "stories"));
    CHECK_FALSE(trial_is_active(b.session));
    REQUIRE(b.act("undo"));
    CHECK(!b.session.document.awaits_model());
}

TEST_CASE("try: commands that use or clear the history are rejected with a reason") {
    TrialBench b("qkv");
    b.host.files["w.headlight.json"] = json_text(*workspace_document(b.session));
    for (const char* line : {"undo", "redo", "do undo", "try mask none", "open w.headlight.json"}) {
        for (int filled = 0; filled < 2; ++filled) {
            if (filled) REQUIRE(b.act("mask none; text A dog"));
            const size_t steps = b.steps();
            CHECK_MESSAGE(b.refused(std::string("try ") + line).find("one step of undo") != std::string::npos,
                          line);
            CHECK_MESSAGE(b.steps() == steps, line);
            CHECK_FALSE(b.session.document.history.grouping());
        }
    }
    CHECK(b.session.document.history.steps() > 0);
    REQUIRE(b.act("try mask causal"));
    CHECK(!b.refused("try undo").empty());
    CHECK_MESSAGE(b.mask() == *Mask::parse("causal"), "what fails changes nothing");
}

TEST_CASE("try: resetting a station is one step and leaves no empty one") {
    TrialBench b("qkv");
    REQUIRE(b.act("learn set heads=4"));
    REQUIRE(b.act("try learn reset"));
    CHECK(b.words().empty());
    CHECK(b.steps() == 2);
    REQUIRE(b.act("undo"));
    CHECK(b.words() == std::vector<std::string>{"heads=4"});
    REQUIRE(b.act("undo"));
    CHECK((b.words().empty() && b.steps() == 0));
}

TEST_CASE("try: the view is restored where it has not changed since") {
    TrialBench b("qkv");
    REQUIRE(b.attempt("head 2.5; rank induction; sweep on"));
    REQUIRE(b.act("head 3.1"));
    CHECK_FALSE(trial_is_active(b.session));
    const int rank = b.session.preferences.rank;
    REQUIRE(b.attempt("mask none"));
    CHECK_FALSE(b.session.document.sweeping);
    CHECK(b.session.preferences.rank != rank);
    CHECK(b.session.selection.block == 3);
}
