// Tests what stations ask: the right card follows from the numbers, and what is covered says none of them.
#include <set>

#include "command_bench.h"
#include "learn/questions/parts.h"
#include "learn_bench.h"
#include "views/learn/learn.h"

using namespace headlight;
using namespace headlight::learn;

namespace {

constexpr const char* kSentences[] = {"Lily had a red ball. Tom had a blue ball. Lily gave Tom the red",
                                      "Bark is very cute and he is a dog", "The cat sat on a mat"};

/// Checks what holds of every question: an answer alone, no number of it before the answer, a finding.
void check_question(const PageQuestion& q) {
    CAPTURE(q.text);
    CHECK(!q.finding.empty());
    CHECK((q.finding.back() == '.' || q.finding.back() == '!'));
    if (!q.asks()) return;
    CHECK(q.text.back() == '?');
    CHECK(!q.will_see.empty());
    CHECK(isize(q.cards) >= 2);
    CHECK(isize(q.cards) <= 4);
    REQUIRE(q.right >= 0);
    REQUIRE(q.right < isize(q.cards));
    std::set<std::string> labels;
    for (int i = 0; i < isize(q.cards); ++i) {
        const GuessCard& card = q.cards[i];
        CHECK(labels.insert(card.label + " " + card.place).second);
        CHECK(!card.reason.empty());
        if (i != q.right) CHECK(card.value < q.cards[q.right].value);
        if (card.shown.empty()) continue;
        CHECK(q.will_see.find(card.shown) == std::string::npos);
        CHECK(card.reason.find(card.shown) == std::string::npos);
    }
}

StationInput input_of(const Station& station, const Trace& trace, const std::string& text, ThreadPool& pool) {
    StationInput in;
    in.trace = &trace;
    in.model = trace.model.get();
    in.text = text;
    const StationStart start = station_start(station, trace, std::nullopt, -1, pool);
    std::tie(in.block, in.head, in.query) =
        std::tuple{start.cell.head.block, start.cell.head.head, start.cell.query};
    return in;
}

std::vector<PageQuestion> asked_of(const Station& station, const Trace& trace, const std::string& text,
                                   ThreadPool& pool) {
    const auto page =
        station_page(station, input_of(station, trace, text, pool), station.first_state(), pool);
    return page ? page->questions : std::vector<PageQuestion>();
}

int key_of(const PageQuestion& q) { return std::stoi(q.cards[q.right].place); }

/// A bench that shows a station, as after its worker's answer.
struct LearnBench : Bench {
    explicit LearnBench(const std::string& station) {
        REQUIRE(act("learn " + station));
        ask();
    }
    void ask() {
        ThreadPool pool(2);
        PageRequest request;
        request.station = session.of<LearnState>().station;
        request.text = "Lily had a red ball. Tom had";
        answer.answers = {};
        REQUIRE(answer_questions(answer, {request}, pool));
    }
    const learn::Page& page() const { return *answer.found<PageRequest>()->answer.page; }
    const std::vector<std::string>& guesses() const { return session.preferences.guesses; }
};

}  // namespace

TEST_CASE("learn: every station's question has one right answer, and a finding, on any sentence") {
    ThreadPool pool(2);
    for (const char* text : kSentences) {
        const auto trace = read_by_stories(text);
        for (const Station& station : stations()) {
            if (std::string_view(station.opens) == "translator") continue;
            CAPTURE(station.key);
            CAPTURE(text);
            const auto questions = asked_of(station, *trace, text, pool);
            if (std::string_view(station.key) != "follow") CHECK(!questions.empty());
            for (const PageQuestion& q : questions) check_question(q);
        }
    }
}

TEST_CASE("learn: questions hold in models that know nothing, of other families too") {
    ThreadPool pool(2);
    for (const char* name : {"gpt2", "bert", "llama", "t5", "marian", "gemma2"}) {
        const Opened opened(name);
        for (const Station& station : stations()) {
            CAPTURE(name);
            CAPTURE(station.key);
            for (const PageQuestion& q : asked_of(station, *opened.trace, "", pool)) check_question(q);
        }
    }
}

TEST_CASE("learn: the right card of the look is the largest weight of the head's row") {
    ThreadPool pool(2);
    const Station& qkv = *find_station("qkv");
    for (const char* text : kSentences) {
        const auto trace = read_by_stories(text);
        const StationInput in = input_of(qkv, *trace, text, pool);
        const auto questions = asked_of(qkv, *trace, text, pool);
        REQUIRE(!questions.empty());
        REQUIRE(questions[0].asks());
        Index key = 0;
        const Matrix row = trace->pattern_rows(in.block, in.head, in.query, 1);
        CHECK(row.row(0).maxCoeff(&key) == doctest::Approx(questions[0].cards[questions[0].right].value));
        CHECK(key_of(questions[0]) == key);
    }
}

TEST_CASE("learn: red looks at what followed it, and the model says less surely without that cell") {
    ThreadPool pool(2);
    const auto trace = read_by_stories(kSentences[0]);
    const auto questions = asked_of(*find_station("qkv"), *trace, kSentences[0], pool);
    REQUIRE(questions.size() == 2);
    CHECK(questions[0].text == "Which word will “red” look at most?");
    CHECK(key_of(questions[0]) == 4);
    CHECK(questions[0].cards[questions[0].right].reason == "what followed “red” last time");
    CHECK(questions[0].finding.find("the first “ball”") != std::string::npos);
    ForwardRequest request = trace->request;
    request.intervention.changes.push_back(*parse_change(trace->config(), "mask:16>4@*"));
    const auto masked = *run_trace(trace->model, std::move(request), pool);
    const Prediction best = predictions(*masked, 16, 1, pool)[0];
    CHECK(questions[1].cards[questions[1].right].label == prediction_label(*trace->model, best.id));
    CHECK(questions[1].cards[questions[1].right].value == doctest::Approx(double(best.probability)));
}

TEST_CASE("learn: at √d and masks each answer is right for some sentence, and follows from the bars") {
    ThreadPool pool(2);
    const char* const texts[] = {"Lily had a red ball. Tom had a blue ball. Lily gave Tom the red",
                                 "Bark is very cute and he is a dog",
                                 "The cat sat on a mat",
                                 "Once upon a time there was a little girl named Lily.",
                                 "Mom made a big cake and Tim ate it all",
                                 "The sun was hot and the dog slept under a tree",
                                 "Sam found a shiny key in the old box",
                                 "A bird sang in the park while the children played",
                                 "Anna lost her hat and her brother found it",
                                 "The little boat sailed far away from the shore",
                                 "Ben was sad because his toy was broken",
                                 "They went home and had soup for dinner"};
    for (const char* key : {"scale", "masks"}) {
        std::set<std::string> right;
        for (const char* text : texts) {
            const Station& station = *find_station(key);
            const auto trace = read_by_stories(text);
            const StationInput in = input_of(station, *trace, text, pool);
            const auto page = *station_page(station, in, station.first_state(), pool);
            if (page.questions.empty() || !page.questions[0].asks()) continue;
            const PageQuestion& q = page.questions[0];
            check_question(q);
            right.insert(q.cards[q.right].label);
            const BarRows bars = blocks_of<BarRows>(page)[0];
            const bool sums = q.text.find("sum to") != std::string::npos;
            int follows = 0;  // columns named in the question that change as the right card says
            for (size_t i = 0; i < bars.columns.size(); ++i) {
                const float before = bars.rows[0].values[i], after = bars.rows[1].values[i];
                const float change = (std::isnan(after) ? 0 : after) - before;
                const std::string says = change > 0.005f ? "more" : change < -0.005f ? "less" : "the same";
                follows +=
                    q.text.find(said(bars.columns[i])) != std::string::npos && says == q.cards[q.right].label;
            }
            CHECK((sums || follows > 0));
            if (sums) CHECK(sum_of(bars.rows[1]) == doctest::Approx(1));
        }
        CAPTURE(key);
        CHECK(right == std::set<std::string>{"less", "more", "the same"});
    }
}

TEST_CASE("learn: a row without one largest weight is not asked about") {
    PageQuestion even, alone;
    add_key_cards(even, {.keys = {"a", "b", "c"}, .shares = {0.4f, 0.2f, 0.4f}, .query = 1});
    CHECK_FALSE(even.asks());
    add_key_cards(alone, {.keys = {"a"}, .shares = {1}, .query = 0});
    CHECK_FALSE(alone.asks());
    CHECK(which_key({.keys = {"a"}, .shares = {1}, .query = 0}, "Where?").finding ==
          "“a” gives 100 % to itself.");
    PageQuestion hidden;
    const float nothing = std::numeric_limits<float>::quiet_NaN();
    add_key_cards(hidden, {.keys = {"a", "b", "c"}, .shares = {0.3f, 0.7f, nothing}, .query = 1});
    REQUIRE(hidden.cards.size() == 2);
    CHECK(hidden.right == 1);
}

TEST_CASE("learn: a guess by key uncovers the page, and a wrong one is not counted as right") {
    LearnBench b("qkv");
    REQUIRE(b.page().questions[0].asks());
    const int right = b.page().questions[0].right, wrong = right == 0 ? 1 : 0;
    CHECK(open_question(b.session, "qkv", b.page()) == 0);
    REQUIRE(b.act("learn guess " + std::to_string(wrong + 1)));
    CHECK(b.guesses() == std::vector<std::string>{"qkv wrong"});
    CHECK(open_question(b.session, "qkv", b.page()) == -1);
    CHECK_FALSE(b.act("learn guess 1"));
    const Guess* guess = guess_at(b.session.of<LearnState>(), "qkv", b.page().questions[0]);
    REQUIRE(guess);
    CHECK(guess->card == wrong);
    CHECK(counted_guesses(b.guesses()).right == 0);
    REQUIRE(b.act("learn ask 1; learn guess " + std::to_string(right + 1)));
    CHECK(counted_guesses(b.guesses()).right == 1);
    CHECK(counted_guesses(b.guesses()).all == 1);
    REQUIRE(b.act("learn ask 1; learn show"));
    CHECK(counted_guesses(b.guesses()).all == 0);
    CHECK(open_question(b.session, "qkv", b.page()) == -1);
}

TEST_CASE("learn: digits answer while a question is open, and open views otherwise") {
    LearnBench b("qkv");
    const KeyChord two{'2', false, false};
    CHECK(command_of_key(commands(), two, b.context())->name == "learn guess 2");
    REQUIRE(b.act("learn show"));
    CHECK(command_of_key(commands(), two, b.context())->name == "question explain");
    REQUIRE(b.act("learn ask 1; view lines"));
    CHECK(command_of_key(commands(), two, b.context())->name == "question explain");
}

TEST_CASE("learn: ticks and guesses are remembered, and forgotten when one starts over") {
    LearnBench b("masks");
    REQUIRE(b.act("learn done masks; learn done masks; learn show"));
    CHECK(b.session.preferences.learned == std::vector<std::string>{"masks"});
    CHECK(b.refused("learn done telepathy").find("telepathy") != std::string::npos);
    Json json;
    FieldWriter writer(json);
    visit_preferences(b.session, writer);
    Session again;
    FieldReader reader(json, "test");
    visit_preferences(again, reader);
    CHECK(again.preferences.learned == std::vector<std::string>{"masks"});
    CHECK(again.preferences.guesses == std::vector<std::string>{"masks shown"});
    REQUIRE(b.act("learn start over"));
    CHECK(b.session.preferences.learned.empty());
    CHECK(b.guesses().empty());
    CHECK(b.session.of<LearnState>().station == stations().front().key);
    REQUIRE(b.act("learn qkv; learn guessing off"));
    b.ask();
    CHECK(open_question(b.session, "qkv", b.page()) == -1);
}
