// Tests the list of steps of undo: their names, going to one, and models among them.
#include "session/step_names.h"

#include "command_bench.h"

using namespace headlight;

namespace {

/// A window that names its steps after each act, as the window does at the end of a turn.
struct NamedBench : Bench {
    std::vector<std::string> names_after(const std::string& text) {
        REQUIRE(act(text));
        name_steps(session, answer.sentence.get());
        return session.document.history.names();
    }
    std::string last_after(const std::string& text) { return names_after(text).back(); }
};

}  // namespace

TEST_CASE("history: each step has a name in plain English, with tokens, heads and models") {
    NamedBench b;
    CHECK(b.last_after("mask 3>1@1.2") == "Mask had 1 for red 3 in head 1.2");
    CHECK(b.last_after("ablate 0.0") == "Ablate 0.0");
    CHECK(b.last_after("ablate 0.1:mean") == "Ablate 0.1 (mean)");
    CHECK(b.last_after("skip-mlp 2") == "Skip MLP 2");
    CHECK(b.last_after("ablate 0.0") == "Remove: ablate 0.0");
    CHECK(b.last_after("mask window:4") == "Mask: sliding window 4");
    CHECK(b.last_after("remove interventions") == "Remove all interventions");
    CHECK(b.last_after("metric logit ball") == "Explain logit ball");
    CHECK(b.last_after("metric default") == "Explain the most probable token");
    CHECK(b.last_after("compare sentences") == "Compare sentences");
    CHECK(b.last_after("text A dog") == "Type “A dog”");
    CHECK(b.last_after("text A cat").find("“A dog” to “A cat”") != std::string::npos);
    CHECK(b.last_after("try mask none") == "Try: Mask: none");
    REQUIRE(b.act("switch translator"));
    b.come("translator");
    CHECK(b.last_after("unlock") == "Open translator");
    CHECK(b.last_after("ablate encoder.0.1") == "Ablate enc 0.1");
    CHECK(b.last_after("slide add; text B; slide go 1") == "Show slide 1");
}

TEST_CASE("history: tokens keep the names that they had when the step was taken") {
    NamedBench b;
    b.names_after("mask 3>1@1.2");
    CHECK(b.names_after("text A dog ran home").front() == "Mask had 1 for red 3 in head 1.2");
}

TEST_CASE("history: a click goes to any step, forward and back, and to the start") {
    NamedBench b;
    const auto names = b.names_after("ablate 0.0; mask causal; skip-mlp 1; mask none");
    REQUIRE(names.size() == 4);
    const Document& d = b.session.document;
    CHECK((b.names_after("history go 1") == names && d.history.steps() == 1 && d.history.undone() == 3));
    CHECK((d.intervention.changes.size() == 1 && d.intervention.mask.is_own()));
    CHECK((b.names_after("history go 3") == names && d.intervention.changes.size() == 2));
    REQUIRE(b.act("history start"));
    CHECK((d.intervention == Intervention{} && d.history.steps() == 0));
    REQUIRE(b.act("history go 4"));
    CHECK(d.intervention.mask.name() == "none");
    CHECK(b.refused("history go 5").find("4") != std::string::npos);
}

TEST_CASE("history: undo after a model was switched goes back to it, its head, cell and changes") {
    NamedBench b;
    Document& d = b.session.document;
    const Selection& s = b.session.selection;
    REQUIRE(b.act("head 2.5; lock 3,1; ablate 0.3; switch translator"));
    b.come("translator");
    CHECK(b.names_after("head encoder.0.1").back() == "Open translator");
    REQUIRE(b.act("undo"));
    CHECK((d.wanted.path == "stories" && d.open.path == "translator"));
    b.come("stories");
    CHECK((s.block == 2 && s.head == 5 && s.locked == std::pair{3, 1}));
    CHECK((d.intervention.changes.size() == 1 && d.history.steps() == 1));
    REQUIRE(b.act("redo"));
    b.come("translator");
    CHECK((d.open.path == "translator" && d.intervention == Intervention{}));
}

TEST_CASE("history: undo to a model whose file is gone says so in one sentence") {
    NamedBench b;
    Document& d = b.session.document;
    REQUIRE(b.act("switch translator"));
    b.come("translator");
    REQUIRE(b.act("undo"));
    b.fail("There is nothing at stories.");
    CHECK(b.session.notice == "There is nothing at stories.");
    CHECK((!b.session.sheet && !d.awaits_model() && d.open.path == "translator"));
}
