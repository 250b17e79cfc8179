// The table of commands without a window: what keys, lines and the palette find in it, and what rows do.
#include <algorithm>
#include <cstdlib>
#include <set>

#include "helpers.h"
#include "session/choices.h"
#include "session/commands.h"
#include "session/palette.h"
#include "views/changes.h"
#include "views/delta.h"
#include "views/layer_heads.h"
#include "views/views.h"
#include "window/commands.h"

using namespace headlight;

namespace {

/// A window that does nothing but hold texts.
struct TestHost final : Host {
    Session& session;
    std::string texts[3];
    std::string opened;
    int numbers = 0, closed = 0;
    bool types = false;

    explicit TestHost(Session& session) : session(session) {}
    void set_text(TextName which, const std::string& to) override {
        std::string& text = texts[static_cast<int>(which)];
        session.document.history.note({static_cast<int>(which), 0, text, to}, EditKind::replaced, 0);
        text = to;
    }
    const std::string& text(TextName which) override { return texts[static_cast<int>(which)]; }
    void apply(const TextEdit& e) override { texts[e.text].replace(e.at, e.removed.size(), e.inserted); }
    bool typing() const override { return types; }
    void focus_text(TextName) override { types = true; }
    void leave_texts() override { types = false; }
    bool has_focus() const override { return false; }
    void move_focus(int) override {}
    void press_focus() override {}
    void step_focus(int) override {}
    void drop_focus() override {}
    void open_workspace(const std::string& path) override { opened = path; }
    void drop_left_workspace() override { session.document.left_workspace.clear(); }
    void copy_numbers() override { ++numbers; }
    void save() override {}
    void browse() override {}
    void close_window() override { ++closed; }
};

/// A session over a short text in the built-in model.
struct Bench {
    Session session;
    TestHost host{session};
    WorkAnswer answer;

    Bench() {
        static const RunAnswer shown = [] {
            ThreadPool pool(1);
            const auto model = *Model::open(kTests.parent_path() / "models/stories");
            TextInput typed;
            typed.text = "Lily had a red ball. Tom had";
            const auto input = *encode_input(*model, typed);
            const auto trace = *run_trace(model, {input.sequences, {}}, pool);
            return *answer_for({trace, nullptr, nullptr}, 0, 0, std::nullopt, pool);
        }();
        static_cast<RunAnswer&>(answer) = shown;
    }
    CommandContext context() { return {session, &answer, host}; }
    Status act(const std::string& text) {
        TRY(const auto lines, parse_commands(commands(), text));
        CommandContext c = context();
        for (const CommandLine& line : lines) TRY_STATUS(carry_out(line, c));
        return success();
    }
    std::string refused(const std::string& text) {
        const Status done = act(text);
        return done ? "" : done.error().message;
    }
    std::vector<std::string> offers(const std::string& typed) {
        std::vector<std::string> out;
        for (const Offer& offer : palette_offers(commands(), context(), typed)) out.push_back(offer.label);
        return out;
    }
};

std::string golden(const std::string& name, const std::string& now) {
    const auto path = kTests / "golden" / name;
    const char* write = std::getenv("HEADLIGHT_GOLDEN");
    if (write && std::string(write) == "write") std::ofstream(path) << now;
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_CASE("the table: one name a row, keys that exist, and no key twice without a condition") {
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

TEST_CASE("F1 is made from the table; its text is golden") {
    const std::string now = key_help_text(commands());
    CHECK(golden("keys.txt", now) == now);
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

TEST_CASE("commands act on a session without a window, or say in a sentence why not") {
    Bench b;
    REQUIRE(
        b.act("head 2.1; lock 6,3; theme light; colormap magma; scale log; queries columns; rank entropy"));
    const Selection& s = b.session.selection;
    CHECK((s.block == 2 && s.head == 1 && !s.choose_head && s.locked == std::pair{6, 3}));
    const Preferences& p = b.session.preferences;
    CHECK((!p.dark && p.colormap == "magma" && p.scale == Scale::log && p.queries == Axis::columns));
    REQUIRE(b.act("theme; scale; next head; previous layer; unlock"));
    CHECK((p.dark && p.scale == Scale::row && s.block == 1 && s.head == 2 && !s.locked));
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

namespace {

/// Where the values of a state stand among the words of their choices.
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
    b.host.texts[0] = "Tom had";
    const auto& predicted = b.answer.sentence->predictions.at(0);
    const auto& token = predicted.tokens.at(0);
    REQUIRE(
        b.act("accept prediction " + std::to_string(predicted.position) + "," + std::to_string(token.id)));
    const std::string bytes = b.answer.sentence->model->target_tokenizer()->bytes(token.id);
    CHECK(b.host.texts[0] == "Tom had" + bytes);
    CHECK(!b.refused("accept prediction 3").empty());
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

TEST_CASE("undo goes through text, interventions, comparison and labels in the order of time") {
    Bench b;
    const std::string model = b.answer.sentence->model->name;
    const auto label = [&] { return b.session.document.head_labels[model]["1.2"]; };
    REQUIRE(b.act(
        "text One; head 1.2; label sink; mask causal; compare 2.0; label induction; text Two; tie 1,2"));
    const Document& d = b.session.document;
    CHECK((label() == "induction" && d.comparison.head == std::pair{2, 0} && b.host.texts[0] == "Two"));
    REQUIRE(b.act("undo"));
    CHECK(d.comparison.alignment.by_hand.empty());
    REQUIRE(b.act("undo; undo"));
    CHECK((b.host.texts[0] == "One" && label() == "sink"));
    REQUIRE(b.act("undo; undo"));
    CHECK((d.comparison.head == Comparison().head && d.intervention == Intervention{}));
    REQUIRE(b.act("undo; undo"));
    CHECK((label().empty() && b.host.texts[0].empty()));
    REQUIRE(b.act("redo; redo; redo; redo"));
    CHECK((label() == "sink" && d.intervention.mask.name() == "causal" &&
           d.comparison.head == std::pair{2, 0}));
    CHECK(d.label_edits.size() == 5);
    b.session.document.history.forget_model();
    REQUIRE(b.act("undo"));
    CHECK((label().empty() && d.comparison.head == std::pair{2, 0}));
}

TEST_CASE("keys: the first row that applies, and a text keeps those that edit it") {
    Bench b;
    const auto of = [&](const char* keys) {
        const Command* row = command_of_key(commands(), chords_of(keys)[0], b.context());
        return row ? row->name : "";
    };
    CHECK((of("Ctrl+K") == "palette" && of("Ctrl+Shift+K") == "colormap" && of("F1") == "keys"));
    CHECK((of("→") == "next head" && of("2") == "view lines" && of("Ctrl+2") == "view lines"));
    CHECK((of("Enter").empty() && of("8") == "view alignment"));  // which says why it is not
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
    CHECK(first("lin") == "View Lines");
    CHECK(first("magm") == "Color map: magma");
    CHECK(first("map magma") == "Color map: magma");
    CHECK(first("theme li") == "Theme: light");
    CHECK(first("head 2.0") == "Go to head: 2.0");
    CHECK(first("undo") == "Undo");
    CHECK(b.offers("qqq").empty());
    CHECK((b.offers("").size() > 40 && b.offers("")[0] == "View Heat map"));
    const auto offers = palette_offers(commands(), b.context(), "remove all interventions");
    REQUIRE(!offers.empty());
    CHECK((offers[0].why_not && *offers[0].why_not));
}
