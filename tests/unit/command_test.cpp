// Tests the table of commands without a window: keys, lines, the palette, and the effects of rows.
#include <algorithm>
#include <cstdlib>
#include <set>

#include "command_bench.h"
#include "panels/token_chips.h"
#include "parts/interventions.h"
#include "parts/layer_heads.h"
#include "views/all_heads/all_heads.h"
#include "views/doors.h"
#include "views/graph/graph.h"
#include "views/steps/steps.h"
#include "views/views.h"

using namespace headlight;

TEST_CASE("the table: unique names, valid keys, no key twice without a condition") {
    std::set<std::string> names;
    std::vector<KeyChord> always;
    for (const Command& row : commands()) {
        CAPTURE(row.name);
        CHECK(names.insert(row.name).second);
        CHECK((row.run && !row.title.empty() && !row.help.empty()));
        CHECK(
            std::none_of(row.name.begin(), row.name.end(), [](unsigned char c) { return std::isupper(c); }));
        const auto chords = chords_of(row.keys);
        const auto listed = row.keys.empty() ? 0 : 1 + std::count(row.keys.begin(), row.keys.end(), ',');
        CHECK(std::ssize(chords) == listed);
        const bool grouped = row.group.empty() || std::find(std::begin(kGroups), std::end(kGroups),
                                                            row.group) != std::end(kGroups);
        CHECK(grouped);
        if (row.when) continue;
        for (const KeyChord& chord : chords) {
            CHECK(std::find(always.begin(), always.end(), chord) == always.end());
            always.push_back(chord);
        }
    }
    CHECK(names.size() > 60);
}

TEST_CASE("a line finds the longest name, in small or large letters, and says what is wrong") {
    const auto line = [](const char* text) { return parse_command(commands(), text); };
    CHECK(line("view lines")->command->name == "view lines");
    CHECK(line("  View Heat Map ")->command->name == "view head");
    CHECK((line("head 2.0")->command->name == "head" && line("head 2.0")->words == "2.0"));
    CHECK((line("compare text A b")->command->name == "compare text" &&
           line("compare text A b")->words == "A b"));
    CHECK(line("text \"a; b\"")->words == "a; b");
    CHECK(parse_commands(commands(), "view lines; text \"a; b\";; head 1.0 ;")->size() == 3);
    CHECK(line("views").error().message.find("\"views\"") != std::string::npos);
    CHECK(line("lock").error().message.find("QUERY,KEY") != std::string::npos);
    CHECK(line("undo twice").error().message.find("\"twice\"") != std::string::npos);
    CHECK_FALSE(line(""));
}

TEST_CASE("commands act on a session without a window, or return the reason") {
    Bench b;
    REQUIRE(b.act(
        "head 2.1; lock 6,3; theme light; colormap magma; contrast log; queries columns; rank entropy"));
    const Selection& s = b.session.selection;
    CHECK((s.block == 2 && s.head == 1 && !s.choose_head && s.locked == std::pair{6, 3}));
    const Preferences& p = b.session.preferences;
    CHECK((!p.dark && p.colormap == "magma" && p.contrast == Contrast::log && p.queries == Axis::columns));
    REQUIRE(b.act("theme; contrast; next head; previous layer; unlock"));
    CHECK((p.dark && p.contrast == Contrast::percentile && s.block == 1 && s.head == 2 && !s.locked));
    REQUIRE(
        b.act("mask window:4; mask 6>3@2.0; temperature 0.5@2.0; ablate 1.1:mean; brush unmask rectangle"));
    const Intervention& now = b.session.document.intervention;
    CHECK((now.mask.name() == "window:4" && now.changes.size() == 3));
    CHECK(b.session.of<Painting>().brush == Brush::unmask_rectangle);
    CHECK(b.refused("theme blue").find("dark|light") != std::string::npos);
    CHECK(b.refused("head 9.9").find("\"9.9\"") != std::string::npos);
    CHECK(b.refused("lock 99,0").find("\"99,0\"") != std::string::npos);
    CHECK(!b.refused("mask 6>").empty());
    CHECK(b.refused("view alignment").find("encoder") != std::string::npos);
    CHECK(!b.refused("play").empty());
    REQUIRE(b.act("open a.headlight.json; copy numbers; quit"));
    CHECK((b.host.opened == "a.headlight.json" && b.host.numbers == 1 && b.host.closed == 1));
    CHECK(b.refused("open b.png").find("ViT") != std::string::npos);
}

TEST_CASE("usage is parsed into name and words: words have a capital, a | or a bracket") {
    const auto words_of = [](const char* usage) {
        const Command made = row({usage, "", ""}, [](CommandContext&) {});
        return std::pair{made.name, made.words};
    };
    CHECK(words_of("drop sink") == std::pair<std::string, std::string>{"drop sink", ""});
    CHECK(words_of("metric position [POSITION]") ==
          std::pair<std::string, std::string>{"metric position", "[POSITION]"});
    CHECK(words_of("close models|compared models") ==
          std::pair<std::string, std::string>{"close", "models|compared models"});
    CHECK(words_of("open [PATH]") == std::pair<std::string, std::string>{"open", "[PATH]"});
}

TEST_CASE("numbers outside their range are rejected") {
    Bench b;
    const SamplingParams& d = b.session.document.generation.decoding;
    REQUIRE(b.act("beams 3; top p 0.5; seed 7; length 12"));
    CHECK((d.beams == 3 && d.top_p == 0.5f && d.seed == 7 && b.session.document.generation.length == 12));
    for (const char* line : {"beams 0", "beams 2.5", "top p 1.5", "top p much"})
        CHECK(b.refused(line).find("takes a number from") != std::string::npos);
    CHECK((d.beams == 3 && d.top_p == 0.5f));
}

TEST_CASE("commands select the heads of Lines and Graph and the column of Steps") {
    Bench b;
    const ModelConfig& config = b.answer.sentence->model->config;
    REQUIRE(b.act("lines heads 2.0,2.3"));
    std::set<int> hidden;
    for (int h = 0; h < config.heads(2); ++h)
        if (h != 0 && h != 3) hidden.insert(h);
    CHECK((b.session.of<LayerHeads>().hidden == hidden && b.session.selection.block == 2));
    CHECK(drawn_heads_of_layer(b.session, config).whole_layer);
    REQUIRE(b.act("lines heads 2.3"));
    const ShownHeads alone = drawn_heads_of_layer(b.session, config);
    CHECK((!alone.whole_layer && alone.head == AttentionHead{2, 3}));  // after which the figure is named
    REQUIRE(b.act("lines heads 2.0,2.3"));
    CHECK(b.refused("lines heads 2.0,1.1").find("one layer") != std::string::npos);
    CHECK(b.refused("lines heads 9.9").find("\"9.9\"") != std::string::npos);
    CHECK(b.session.of<LayerHeads>().hidden == hidden);
    REQUIRE(b.act("lines heads all; graph heads 2.0,1.3"));
    const auto& left_out = b.session.of<GraphState>().included.left_out;
    CHECK(b.session.of<LayerHeads>().hidden.empty());
    CHECK((std::ssize(left_out) == config.head_count() - 2 && !left_out.count({1, 3})));
    CHECK(views()[*b.session.selection.view].key == std::string("graph"));
    REQUIRE(b.act("graph heads all; steps column weighted"));
    CHECK((left_out.empty() && b.session.of<StepsState>().column == StepColumn::moved));
}

TEST_CASE("choosing a statistic resets range and order") {
    Bench b;
    const AllHeadsState& heads = b.session.of<AllHeadsState>();
    REQUIRE(b.act("heads sort induction; heads filter 0.5; heads order reversed"));
    CHECK((heads.sort == 2 && heads.kept == 0.5f && heads.turned));
    REQUIRE(b.act("heads sort entropy"));
    CHECK((heads.sort == 0 && heads.kept == 1 && !heads.turned && !b.session.document.sweeping));
    REQUIRE(b.act("heads sort effect; heads labeled sink"));
    CHECK((b.session.document.sweeping && heads.label == "sink"));
    CHECK(!b.refused("heads filter 2").empty());
}

TEST_CASE("one sheet at a time, and Esc closes from the top") {
    Bench b;
    REQUIRE(b.act("settings; keys"));
    CHECK(b.session.shows(Sheet::help));
    REQUIRE(b.act("keys"));
    CHECK_FALSE(b.session.sheet);
    REQUIRE(b.act("lock 3,1; palette; escape"));
    CHECK((!b.session.sheet && b.session.selection.locked));
    REQUIRE(b.act("escape"));
    CHECK_FALSE(b.session.selection.locked);
}

TEST_CASE("undo covers text, interventions, comparison and labels in order of time") {
    Bench b;
    const std::string model = b.answer.sentence->model->name;
    const auto label = [&] { return b.session.document.head_labels[model]["1.2"]; };
    REQUIRE(b.act(
        "text One; head 1.2; label sink; mask causal; compare 2.0; label induction; text Two; tie 1,2"));
    const Document& d = b.session.document;
    CHECK((label() == "induction" && d.comparison.head == std::pair{2, 0} &&
           b.host.text(TextName::sentence) == "Two"));
    REQUIRE(b.act("undo"));
    CHECK(d.comparison.alignment.by_hand.empty());
    REQUIRE(b.act("undo; undo"));
    CHECK((b.host.text(TextName::sentence) == "One" && label() == "sink"));
    REQUIRE(b.act("undo; undo"));
    CHECK((d.comparison.head == Comparison().head && d.intervention == Intervention{}));
    REQUIRE(b.act("undo; undo"));
    CHECK((label().empty() && b.host.text(TextName::sentence).empty()));
    REQUIRE(b.act("redo; redo; redo; redo"));
    CHECK((label() == "sink" && d.intervention.mask.name() == "causal" &&
           d.comparison.head == std::pair{2, 0}));
    CHECK(d.label_edits.size() == 5);
    REQUIRE(b.act("undo; undo"));
    CHECK((label() == "sink" && d.comparison.head == Comparison().head && d.intervention == Intervention{}));
}

TEST_CASE("compare nearest follows the selected head until a head is chosen") {
    Bench b;
    const Comparison& compared = b.session.document.comparison;
    CHECK(compared.head == std::pair{-1, -1});
    REQUIRE(b.act("compare 2.0; head 1.2"));
    CHECK(compared.head == std::pair{2, 0});
    REQUIRE(b.act("compare sentences; compare nearest"));
    CHECK((compared.head == std::pair{-1, -1} && compared.what == Compared::heads));
}

TEST_CASE("keys: the first row that applies; a text field keeps its editing keys") {
    Bench b;
    const auto of = [&](const char* keys) {
        const Command* row = command_of_key(commands(), chords_of(keys)[0], b.context());
        return row ? row->name : "";
    };
    CHECK((of("Ctrl+K") == "palette" && of("Ctrl+Shift+K") == "colormap" && of("F1") == "keys"));
    CHECK((of("→") == "next head" && of("2") == "question explain" && of("Ctrl+2") == "question explain"));
    CHECK((of("Enter").empty() && of("8").empty()));
    b.session.sheet = Sheet::models;
    CHECK((of("→").empty() && of("Enter") == "accept"));
    for (const char* key : {"1", "←", "Shift+↑", "Ctrl+C", "Space", "Home"})
        CHECK(chords_of(key)[0].edits_text());
    for (const char* key : {"Ctrl+1", "↑", "Tab", "Esc", "F1", "Ctrl+K", "PgUp"})
        CHECK_FALSE(chords_of(key)[0].edits_text());
}

TEST_CASE("the palette finds commands by parts of their names") {
    Bench b;
    const auto first = [&](const char* typed) {
        const auto all = b.offers(typed);
        return all.empty() ? std::string() : all[0];
    };
    CHECK(first("lin") == "Lines");
    CHECK(first("magm") == "Color map: magma");
    CHECK(first("map magma") == "Color map: magma");
    CHECK(first("theme li") == "Theme: light");
    CHECK(first("head 2.0") == "Go to head: 2.0");
    CHECK(first("undo") == "Undo");
    CHECK(b.offers("qqq").empty());
    CHECK((b.offers("").size() > 40 && b.offers("")[0] == "Look: What does each head look at?"));
    const auto offers = palette_offers(commands(), b.context(), "remove all interventions");
    REQUIRE(!offers.empty());
    CHECK((offers[0].why_not && *offers[0].why_not));
}

TEST_CASE("the palette finds other names, behind what is called that") {
    Bench b;
    const auto offers = palette_offers(commands(), b.context(), "saliency");
    REQUIRE(!offers.empty());
    CHECK((offers[0].label == "Words that matter" && offers[0].also == "saliency"));
    const auto named = palette_offers(commands(), b.context(), "slide");
    REQUIRE(named.size() > 1);
    CHECK((named[0].also.empty() && named[0].label.find("lide") != std::string::npos));
    CHECK(b.offers("slency").empty());
}

TEST_CASE("a question opens what was opened last in it, then steps through what applies") {
    Bench b;
    const auto shown = [&] { return shown_door(b.session, *b.answer.sentence->model)->key; };
    CHECK(shown() == "head");
    REQUIRE(b.act("question look; question look"));
    CHECK(shown() == "text");
    REQUIRE(b.act("question look"));  // over Image and Alignment, which do not apply
    CHECK(shown() == "heads");
    REQUIRE(b.act("question explain; view graph; question change"));
    CHECK((shown() == "mask" && b.session.preferences.change_bar));
    REQUIRE(b.act("question explain"));
    CHECK(shown() == "graph");
    REQUIRE(b.act("question compare; question look"));
    CHECK((shown() == "heads" && b.session.document.comparison.what == Compared::changes));
    CHECK(!b.refused("view picture").empty());
}

TEST_CASE("Heads that matter is All heads by what ablating each does") {
    Bench b;
    const auto shown = [&] { return shown_door(b.session, *b.answer.sentence->model)->key; };
    REQUIRE(b.act("view effect"));
    CHECK((shown() == "effect" && b.session.document.sweeping));
    REQUIRE(b.act("heads color pattern"));
    CHECK(shown() == "heads");
}

TEST_CASE("the metric is an undo step; explaining a token opens Prediction") {
    Bench b;
    const ChosenMetric& chosen = b.session.document.metric;
    REQUIRE(b.act("metric \"ball - car\""));
    CHECK((chosen.metric.kind == MetricKind::difference && chosen.name == "\" ball\" - \" car\""));
    REQUIRE(b.act("metric position 3"));
    CHECK((chosen.metric.position == 3 && chosen.name == "\" ball\" - \" car\"@3"));
    REQUIRE(b.act("undo; undo"));
    CHECK(chosen == ChosenMetric{});
    REQUIRE(b.act("redo; metric default"));
    CHECK(chosen == ChosenMetric{});
    REQUIRE(b.act("metric kl; explain 4"));
    CHECK(chosen.name == "log p \" ball\"@3");
    CHECK(views()[*b.session.selection.view].key == std::string("lens"));
    CHECK(b.refused("explain 0").find("before the first token") != std::string::npos);
    CHECK(b.refused("metric ball@99").find("positions 0") != std::string::npos);
    CHECK(b.refused("metric zzzzqq").find("No token of stories") != std::string::npos);
    CHECK(chosen.name == "log p \" ball\"@3");
}

TEST_CASE("tokens can be copied, and counted by a toggle") {
    Bench b;
    REQUIRE(b.act("copy token 1; count 1"));
    CHECK(b.host.copied == "had");
    CHECK((b.session.of<ChipsState>().counted == std::vector<int>{1, 7}));
    CHECK(b.session.notice.find("occurs 2 times, at 1 and 7") != std::string::npos);
    REQUIRE(b.act("count 1"));
    CHECK(b.session.of<ChipsState>().counted.empty());
    CHECK(b.refused("count 99").find("positions 0 … 7") != std::string::npos);
    REQUIRE(b.act("token menu 4"));
    CHECK(b.session.shows(Sheet::token));
}
