// Tests the history of texts and interventions: steps in order, undone and redone.
#include "session/history.h"

#include <doctest/doctest.h>

#include <random>

#include "session/commands/try_out.h"

using namespace headlight;

namespace {

Intervention masked(const char* mask) {
    Intervention out;
    out.mask = *Mask::parse(mask);
    return out;
}

/// Holds a text and an intervention under a history, as the window does.
struct Desk {
    std::string text;
    Intervention intervention;
    History history;

    void edit(size_t at, size_t count, const std::string& with, EditKind kind, double now) {
        history.note(edit_of(TextName::sentence, text, at, count, with), kind, now);
        text.replace(at, count, with);
    }
    void type(const std::string& what, double now) {
        for (const char c : what) edit(text.size(), 0, std::string(1, c), EditKind::typed, now);
    }
    void intervene(Intervention next, bool same_step = false) {
        history.note({intervention, next, ""}, same_step);
        intervention = std::move(next);
    }
    bool apply(const std::vector<Edit>& edits) {
        for (const Edit& edit : edits)
            if (const auto* t = std::get_if<TextEdit>(&edit)) {
                const auto after = edited(text, *t);
                REQUIRE(after);
                text = *after;
            } else {
                REQUIRE(std::get<InterventionEdit>(edit).before == intervention);
                intervention = std::get<InterventionEdit>(edit).after;
            }
        return !edits.empty();
    }
    bool undo() { return apply(history.undo()); }
    bool redo() { return apply(history.redo()); }
};

}  // namespace

TEST_CASE("undo covers texts and interventions in order of time") {
    Desk d;
    d.type("cat", 0);
    d.intervene(masked("causal"));
    d.type("s", 0.1);
    d.intervene(masked("none"));
    CHECK(d.undo());
    CHECK((d.text == "cats" && d.intervention == masked("causal")));
    CHECK(d.undo());
    CHECK(d.text == "cat");
    CHECK(d.undo());
    CHECK(d.intervention == Intervention());
    CHECK(d.redo());
    CHECK(d.redo());
    CHECK((d.text == "cats" && d.intervention == masked("causal")));
    d.type("!", 9);
    CHECK_FALSE(d.redo());
    for (int i = 0; i < 4; ++i) CHECK(d.undo());
    CHECK((d.text.empty() && d.intervention == Intervention()));
    CHECK_FALSE(d.undo());
}

TEST_CASE("undo steps are words and pauses, not characters") {
    Desk d;
    d.type("one two", 0);
    d.type("three", 5);  // after a pause
    std::vector<std::string> seen;
    while (d.undo()) seen.push_back(d.text);
    CHECK(seen == std::vector<std::string>{"one two", "one ", ""});
    while (d.redo()) {
    }
    CHECK(d.text == "one twothree");
    for (int i = 0; i < 3; ++i) d.edit(d.text.size() - 1, 1, "", EditKind::erased, 10);  // Backspace
    for (int i = 0; i < 3; ++i) d.edit(0, 1, "", EditKind::erased, 10);                  // Delete, elsewhere
    CHECK(d.text == " twoth");
    CHECK(d.undo());
    CHECK(d.text == "one twoth");
    CHECK(d.undo());
    CHECK(d.text == "one twothree");
    d.edit(0, 3, "x", EditKind::replaced, 11);
    d.edit(1, 0, "y", EditKind::typed, 11);
    CHECK(d.undo());
    CHECK(d.text == "x twothree");
}

TEST_CASE("a drag is one step") {
    Desk d;
    d.type("a", 0);
    d.intervene(masked("causal"));
    d.intervene(masked("none"), true);
    d.intervene(masked("window:2"), true);
    CHECK(d.history.steps() == 2);
    CHECK(d.undo());
    CHECK(d.intervention == Intervention());
    CHECK(d.redo());
    CHECK(d.intervention == masked("window:2"));
    CHECK(d.undo());
    CHECK(d.undo());
    CHECK(d.text.empty());
    CHECK_FALSE(d.undo());
}

TEST_CASE("models opened one after the other are one step where that is asked for") {
    History history;
    history.note(ModelEdit{{"a=1"}, {"a=0.9"}}, true);
    history.note(ModelEdit{{"a=0.9"}, {"a=0.5"}}, true);
    CHECK(history.steps() == 1);
    CHECK(std::get<ModelEdit>(*history.last()).after.path == "a=0.5");
    history.note(ModelEdit{{"a=0.5"}, {"b"}}, false);
    history.note(ModelEdit{{"c"}, {"c=0"}}, true);  // from elsewhere
    CHECK(history.steps() == 3);
}

TEST_CASE("a group is one step that nothing joins") {
    Desk d;
    d.type("a", 0);
    d.history.begin_group();
    d.type("b", 0);
    d.intervene(masked("none"));
    d.intervene(masked("causal"), true);
    CHECK(d.history.group().size() == 3);
    d.history.end_group();
    d.type("c", 0);
    CHECK(d.history.steps() == 3);
    CHECK(d.undo());
    CHECK(d.undo());
    CHECK((d.text == "a" && d.intervention == Intervention()));
    d.history.begin_group();
    d.history.end_group();
    CHECK(d.history.steps() == 1);  // an empty step does not count, and undone steps can still be redone
    CHECK(d.redo());
    CHECK((d.text == "ab" && d.intervention == masked("causal")));
    {
        const HistoryGroup outer(d.history);
        d.type("1", 0);
        {
            const HistoryGroup inner(d.history);
            d.type("2", 0);
        }
        CHECK(d.history.grouping());
        d.type("3", 0);
    }
    CHECK(d.text == "ab123");
    CHECK(d.undo());
    CHECK_MESSAGE(d.text == "ab", "a group within a group is a part of it");
}

TEST_CASE("undo is exact for random edits, and the history stays within its bounds") {
    std::mt19937 random(7);
    Desk d;
    for (int i = 0; i < 900; ++i) {
        const size_t at = random() % (d.text.size() + 1), count = random() % (d.text.size() - at + 1);
        d.edit(at, random() % 3 ? 0 : count, std::string(random() % 4, static_cast<char>('a' + i % 26)),
               static_cast<EditKind>(random() % 2 * 2), i * 0.3);
    }
    const std::string end = d.text;
    while (d.undo()) {
    }
    CHECK(d.text.empty());
    while (d.redo()) {
    }
    CHECK(d.text == end);
    for (int i = 0; i < 60; ++i)
        d.edit(0, d.text.size(), std::string(400'000, static_cast<char>('a' + i % 26)), EditKind::replaced,
               1000);
    CHECK(d.history.steps() * 800'000 <= History::kMaxBytes + 800'000);
    CHECK(d.history.steps() >= 19);
}

TEST_CASE("an edit does not apply to another text") {
    const TextEdit cut = edit_of(TextName::sentence, "Lily had a ball", 5, 4, "");
    const auto back = std::get<TextEdit>(reversed(cut));
    CHECK(edited("Lily had a ball", cut) == "Lily a ball");
    CHECK(edited("Lily a ball", back) == "Lily had a ball");
    for (const char* other : {"", "sample:shapes", "Lily a doll", "Lily a ball "})
        CHECK(!edited(other, back));
}

TEST_CASE("the history counts the memory of all steps") {
    const std::string text(400'000, 'x');
    Intervention frozen;
    Change change;
    change.kind = ChangeKind::freeze;
    change.from = text;
    frozen.changes = {change};
    Intervention patched;
    change.from.clear();
    change.pattern = std::make_shared<const Matrix>(Matrix::Zero(400, 250));
    patched.changes = {change};
    Comparison compared;
    compared.text = text;
    const auto trial = std::make_shared<const Trial>(Trial{"freeze", {InterventionEdit{{}, frozen, ""}}, {}});
    const Edit edits[] = {InterventionEdit{{}, frozen, ""}, InterventionEdit{patched, {}, ""},
                          ComparisonEdit{{}, compared}, TrialEdit{nullptr, trial}};
    for (const Edit& edit : edits) {
        History history;
        history.note(edit);
        CHECK(history.bytes() >= text.size());
        for (int i = 0; i < 100; ++i) history.note(i % 2 ? edit : reversed(edit));
        CHECK(history.bytes() <= History::kMaxBytes);
        CHECK(history.steps() < 50);
        while (!history.undo().empty()) {
        }
        CHECK(history.bytes() == 0);
    }
    History drag;
    for (int i = 0; i < 100; ++i) drag.note(InterventionEdit{{}, i % 2 ? frozen : patched, ""}, true);
    CHECK(drag.steps() == 1);
    drag.undo();
    CHECK(drag.bytes() == 0);
}
