// Tests slides, and several heads combined, by commands.
#include "panels/present.h"

#include "command_bench.h"
#include "session/workspace.h"
#include "views/combined_heads.h"
#include "views/views.h"
#include "window/slide_pictures.h"

using namespace headlight;

TEST_CASE("a slide keeps view, head, cell, colors, combined heads and interventions") {
    Bench b;
    b.session.visits = view_visits();
    REQUIRE(b.act("view head; head 2.1; lock 3,1; contrast root; map of mean; mask 3>2; slide add"));
    CHECK((b.session.document.slides.size() == 1 && b.session.slide == 0));
    REQUIRE(
        b.act("view lines; head 0.3; unlock; contrast auto; map of head; remove interventions; slide add"));
    CHECK((b.session.document.slides.size() == 2 && b.session.slide == 1));
    REQUIRE(b.act("slide go 1"));
    const Selection& s = b.session.selection;
    CHECK(views()[*s.view].key == std::string("head"));
    CHECK((s.block == 2 && s.head == 1 && s.locked == std::pair{3, 1}));
    CHECK(b.session.preferences.contrast == Contrast::root);
    CHECK(b.session.of<CombinedHeads>().of == MapOf::mean);
    CHECK(b.session.document.intervention.changes.size() == 1);
    CHECK(b.session.slide == 0);
    REQUIRE(b.act("slide go 2"));
    CHECK((s.block == 0 && !s.locked && b.session.document.intervention == Intervention{}));
    REQUIRE(b.act("undo"));
    CHECK_MESSAGE(b.session.document.intervention.changes.size() == 1, "interventions are steps of undo");
    CHECK(b.refused("slide go 3").find("1") != std::string::npos);
}

TEST_CASE("a slide keeps texts, comparison, metric and generation, and is one undo step") {
    Bench b;
    b.session.visits = view_visits();
    REQUIRE(
        b.act("view head; head 0.1; text One dog; compare sentences; compare text Two dogs; metric logit "
              "ball; seed 7; beams 3; "
              "generate on; length 5; second Zwei; slide add"));
    Document& d = b.session.document;
    d.generation.forced = {7};
    d.generation.forced_for = d.text;
    d.generation.step = 2;
    REQUIRE(b.act("slide remove; slide add"));
    const auto said = [&] {
        Json out = *workspace_document(b.session);
        for (const char* key : {"slides", "view"}) out.erase(key);
        return out;
    };
    const Json first = said();
    REQUIRE(b.act(
        "text Another; compare 2.1; compare text Third; metric default; tie 1,2; seed 1; beams 1; generate "
        "off; length 9; second Drei; mask none; slide add"));
    const Json second = said();
    const size_t steps = d.history.steps();
    REQUIRE(b.act("slide go 1"));
    CHECK(Json::diff(first, said()).dump() == "[]");
    CHECK((b.host.text(TextName::sentence) == "One dog" && b.host.text(TextName::other) == "Two dogs" &&
           b.host.text(TextName::second) == "Zwei"));
    CHECK((d.generation.forced == std::vector<int>{7} && d.generation.forced_for == "One dog"));
    CHECK((d.metric.metric.kind == MetricKind::logit && d.metric.metric.a >= 0));
    CHECK(d.history.steps() == steps + 1);
    REQUIRE(b.act("undo"));
    CHECK((d.text == "Another" && d.second == "Drei" && d.comparison.text == "Third" &&
           d.metric.name.empty() && d.intervention.mask.name() == "none" &&
           d.comparison.alignment.by_hand.size() == 1));
    REQUIRE(b.act("slide go 2"));
    CHECK(Json::diff(second, said()).dump() == "[]");
}

namespace {

/// Holds two slides: of the story model, and of the translator.
struct SlidesOfTwo : Bench {
    SlidesOfTwo() {
        session.visits = view_visits();
        REQUIRE(act("mask 3>2; text A dog; slide add; switch translator"));
        come("translator");
        REQUIRE(act("ablate encoder.0.1; text A cat; slide add; switch stories"));
        come("stories");
        REQUIRE(act("remove interventions; text Between"));
    }
    Status go_on() {
        CommandContext c = context();
        return headlight::go_on(c);
    }
    std::string changed() const {
        const auto& changes = session.document.intervention.changes;
        return changes.empty() ? "" : change_name(answer.sentence->model->config, changes[0]);
    }
};

}  // namespace

TEST_CASE("a slide of another model opens it first, as one undo step") {
    SlidesOfTwo b;
    Document& d = b.session.document;
    const size_t steps = d.history.steps();
    REQUIRE(b.act("slide go 1"));
    CHECK((!d.awaits_model() && !b.changed().empty()));
    REQUIRE(b.act("undo"));
    REQUIRE(b.act("slide go 2"));
    CHECK((d.wanted.path == "translator" && d.text == "Between" && b.session.slide == 1));
    REQUIRE(b.go_on());
    CHECK_MESSAGE(d.text == "Between", "it waits");
    b.come("translator");
    REQUIRE(b.go_on());
    CHECK(d.text == "A cat");
    CHECK(b.changed() == "ablate:encoder.0.1:zero");
    CHECK(b.session.notice.find("skipped") == std::string::npos);
    CHECK(d.history.steps() == steps + 1);
    REQUIRE(b.act("undo"));
    CHECK((d.text == "Between" && d.wanted.path == "stories"));
    b.come("stories");
    REQUIRE(b.go_on());
    CHECK((d.text == "Between" && b.changed().empty()));
    REQUIRE(b.act("redo"));
    b.come("translator");
    CHECK((d.text == "A cat" && b.changed() == "ablate:encoder.0.1:zero"));
}

TEST_CASE("the latest slide or model wins") {
    SlidesOfTwo b;
    Document& d = b.session.document;
    REQUIRE(b.act("slide go 2; slide go 1"));
    CHECK((!d.awaits_model() && d.text == "A dog"));
    REQUIRE(b.act("slide go 2; switch vit"));
    CHECK((d.wanted.path == "vit" && !d.pending_slide));
    REQUIRE(b.act("slide go 2; cancel opening"));
    CHECK((!d.awaits_model() && !d.pending_slide && d.text == "A dog"));
    REQUIRE(b.act("slide go 2; slide remove"));
    CHECK_MESSAGE(!d.pending_slide, "there is none to show");
}

TEST_CASE("a slide whose model cannot be opened is shown without its interventions, with a notice") {
    SlidesOfTwo b;
    Document& d = b.session.document;
    Json slide = Json::parse(d.slides[1]);
    slide["model"] = "/gone";
    slide["slide_of"] = "another";
    d.slides[1] = slide.dump();
    REQUIRE(b.act("mask 3>2; present; slide go 2"));
    b.fail("There is nothing at /gone.");
    REQUIRE(b.go_on());
    CHECK((d.text == "A cat" && d.intervention == Intervention{} && d.wanted.path == "stories"));
    CHECK((!b.session.sheet && b.session.presenting && !d.pending_slide));
    CHECK(b.session.notice.find("another") != std::string::npos);
    slide.erase("model");
    d.slides[1] = slide.dump();
    REQUIRE(b.act("slide go 2"));
    CHECK_MESSAGE(d.wanted.path == "another", "an older slide says the name alone");
    REQUIRE(b.act("cancel opening"));
    slide["slide_of"] = "stories";
    slide["model"] = "/elsewhere/stories";
    d.slides[1] = slide.dump();
    REQUIRE(b.act("slide go 2"));
    CHECK_MESSAGE(!d.awaits_model(), "on another computer a model of that name is the slide's");
}

TEST_CASE("slides belong to their workspace") {
    Bench b;
    b.session.visits = view_visits();
    REQUIRE(b.act("head 1.2; slide add; slide add"));
    const auto kept = workspace_document(b.session);
    REQUIRE(kept);
    Session fresh;
    fresh.visits = view_visits();
    const auto back = parse_workspace(json_text(*kept), "w", fresh);
    REQUIRE(back);
    CHECK(back->document.slides == b.session.document.slides);
    const auto other = parse_workspace(R"({"format": "headlight-workspace", "version": 1})", "w", *back);
    REQUIRE(other);
    CHECK(other->document.slides.empty());
    REQUIRE(b.act("slide remove; slide remove"));
    CHECK(b.session.document.slides.empty());
    CHECK(b.refused("slide remove").find("Shift+F5") != std::string::npos);
}

TEST_CASE("presenting: Esc exits first; arrows need slides") {
    Bench b;
    b.session.visits = view_visits();
    b.host.types = true;
    REQUIRE(b.act("head 1.2; lock 2,1; present"));
    CHECK((b.session.presenting && !b.host.types));
    const auto key = [&](const char* name) {
        return command_of_key(commands(), chords_of(name)[0], b.context());
    };
    CHECK(key("→")->name == "next head");
    REQUIRE(b.act("slide add"));
    CHECK((key("→")->name == "slide next" && key("←")->name == "slide previous"));
    REQUIRE(b.act("escape"));
    CHECK((!b.session.presenting && b.session.selection.locked));
    CHECK(key("→")->name == "next head");
}

TEST_CASE("commands combine several heads") {
    Bench b;
    const ModelConfig& c = b.answer.sentence->model->config;
    const auto shown = [&] { return combined_heads(b.session, c); };
    CHECK_FALSE(shown());
    REQUIRE(b.act("head 1.2; map of mean"));
    CHECK(shown() == HeadGroup{Combine::mean, heads_of_block(c, 1)});
    REQUIRE(b.act("map heads all; map of max"));
    CHECK(shown() == HeadGroup{Combine::max, heads_alike(c, 1)});
    REQUIRE(b.act("map heads 2.0,0.3"));
    CHECK(shown() == HeadGroup{Combine::max, {{0, 3}, {2, 0}}});
    REQUIRE(b.act("map toggle 2.0; map toggle 1.1"));
    CHECK(shown() == HeadGroup{Combine::max, {{0, 3}, {1, 1}}});
    REQUIRE(b.act("map of head; map toggle 3.3"));
    CHECK_MESSAGE((shown() == HeadGroup{Combine::mean, {{1, 2}, {3, 3}}}), "begins with the shown head");
    CHECK(b.refused("map heads 9.9").find("\"9.9\"") != std::string::npos);
    CHECK(b.refused("map heads 1.1,1.1").find("once") != std::string::npos);
}

TEST_CASE("slides are added at the end, moved, named, and keep their pictures under another name") {
    Bench b;
    b.session.visits = view_visits();
    REQUIRE(b.act("view head; head 1.2; slide add; head 0.0; slide add; slide go 1; head 2.5; slide add"));
    const auto titles = [&] {
        std::vector<std::string> out;
        for (const std::string& slide : b.session.document.slides) out.push_back(card_of(slide).title);
        return out;
    };
    const std::vector<std::string> added{"Heat map, head 1.2", "Heat map, head 0.0", "Heat map, head 2.5"};
    CHECK((titles() == added && b.session.slide == 2));
    REQUIRE(b.act("slide move 3 1"));
    CHECK((titles().front() == added[2] && titles().back() == added[1] && b.session.slide == 0));
    REQUIRE(b.act("slide move 1 3"));
    CHECK((titles() == std::vector{added[0], added[1], added[2]}));
    const std::string picture = card_of(b.session.document.slides[2]).picture;
    REQUIRE(b.act("slide title Find the last red; slide steps on"));
    const SlideCard card = card_of(b.session.document.slides[2]);
    CHECK((card.title == "Find the last red" && card.by_steps && card.picture == picture));
    CHECK(card.picture != card_of(b.session.document.slides[0]).picture);
    CHECK(b.refused("slide move 1 4").find("3") != std::string::npos);
}

TEST_CASE("presenting: Space reveals a slide step by step, then goes on; B blanks; Esc goes back by one") {
    Bench b;
    b.session.visits = view_visits();
    Session& s = b.session;
    REQUIRE(b.act("slide add; slide steps on; slide add; slides; slide go 1; present"));
    CHECK((s.presenting && s.arranging && s.revealed == 0));
    REQUIRE(b.act("slide reveal; slide reveal"));
    CHECK((s.revealed == kReveals && s.slide == 0));
    REQUIRE(b.act("slide reveal"));
    CHECK_MESSAGE((s.slide == 1 && s.revealed == kReveals), "this one shows all at once");
    REQUIRE(b.act("slide previous; slide blank"));
    CHECK((s.slide == 0 && s.revealed == 0 && s.blank));
    REQUIRE(b.act("slide next"));
    CHECK(!s.blank);
    REQUIRE(b.act("escape"));
    CHECK((!s.presenting && s.arranging));
    REQUIRE(b.act("escape"));
    CHECK(!s.arranging);
}

TEST_CASE("a part of a picture is shrunk into the middle of a thumbnail") {
    std::vector<unsigned char> pixels;  // 4 × 2, the lowest row first: blue below red
    for (const int red : {0, 255})
        for (int x = 0; x < 4; ++x)
            for (const int byte : {255 - red, 0, red, 255})
                pixels.push_back(static_cast<unsigned char>(byte));
    const RgbImage out = shrunk_part(pixels, 4, 2, {0, 0, 4, 2}, {2, 1}, IM_COL32(7, 8, 9, 255));
    REQUIRE(out.rgb.size() == 6);
    CHECK_MESSAGE((out.rgb[0] == 127 && out.rgb[2] == 127), "both rows in one");
    const RgbImage wide = shrunk_part(pixels, 4, 2, {0, 0, 4, 2}, {4, 4}, IM_COL32(7, 8, 9, 255));
    CHECK_MESSAGE((wide.rgb[0] == 7 && wide.rgb[2] == 9), "the color around");
    CHECK_MESSAGE((wide.rgb[12] == 255 && wide.rgb[24] == 0), "red above blue");
}
