// Tests the heads and queries that stations begin with.
#include "learn/stations/first_head.h"
#include "learn_bench.h"
#include "questions/answering.h"

using namespace headlight;
using namespace headlight::learn;

namespace {

constexpr const char* kRedBall = "Lily had a red ball. Tom had a blue ball. Lily gave Tom the red";
constexpr const char* kTellingTexts[] = {kRedBall, "Bark is very cute and he is a dog",
                                         "The cat sat on a mat",
                                         "Once upon a time there was a little girl named Lily."};

Vector row_of(const Trace& trace, const TellingCell& cell) {
    return trace.pattern_rows(cell.head.block, cell.head.head, cell.query, 1).row(0).transpose();
}

int strongest_key(const Vector& row) {
    Index key = 0;
    row.maxCoeff(&key);
    return int(key);
}

}  // namespace

TEST_CASE("a dash, a quote and an emoji are no words; an accented letter, a kanji and a digit begin some") {
    for (const char* word : {"red", "Tom", "über", "猫", "7", "３", "天 1/3"}) CHECK(is_word(word));
    for (const char* other : {"", ".", "—", "“", "…", "🙂", "␣", "[CLS]", "⟨E2⟩"})
        CHECK_FALSE(is_word(other));
}

TEST_CASE("red looks at the first ball: the telling head and query of a sentence that says red twice") {
    ThreadPool pool(2);
    const auto trace = read_by_stories(kRedBall);
    const auto cell = telling_look(*trace, std::nullopt, pool);
    REQUIRE(cell);
    CHECK(head_name(trace->config(), cell->head) == "1.0");
    CHECK(cell->query == 16);
    CHECK(strongest_key(row_of(*trace, *cell)) == 4);
}

TEST_CASE("a telling head looks away from itself, its neighbors and the first token, and not evenly") {
    ThreadPool pool(2);
    for (const char* text : kTellingTexts) {
        CAPTURE(text);
        const auto trace = read_by_stories(text);
        const auto cell = telling_look(*trace, std::nullopt, pool);
        REQUIRE(cell);
        const Vector row = row_of(*trace, *cell);
        const int key = strongest_key(row);
        const float most = row[key];
        CHECK(most >= 2.0f / float(cell->query + 1));
        CHECK(most >= 0.3f);
        CHECK(key > 0);
        CHECK(std::abs(key - cell->query) > 1);
        CHECK(is_word(token_labels(*trace, 0)[cell->query]));
    }
}

TEST_CASE("each station begins with a row that shows what it is about") {
    ThreadPool pool(2);
    for (const char* text : kTellingTexts) {
        CAPTURE(text);
        const auto trace = read_by_stories(text);
        const auto mask = telling_mask(*trace, std::nullopt, pool);
        if (mask) CHECK(mask->query < trace->query_count(0) - 1);  // the last hides nothing
        const auto before = telling_previous(*trace, std::nullopt, pool);
        REQUIRE(before);
        CHECK(row_of(*trace, *before)[before->query - 1] > 0.5f);
        const auto choice = telling_choice(*trace, std::nullopt, pool);
        REQUIRE(choice);
        const float most = row_of(*trace, *choice).maxCoeff();
        CHECK(most >= 0.3f);
        CHECK(most <= 0.9f);
    }
}

TEST_CASE("the row that the division moves most is that of no other query of any head") {
    ThreadPool pool(2);
    const auto trace = read_by_stories("The cat sat on a mat");  // no word twice
    const auto moved = [&](AttentionHead head, int q) {
        const Matrix divided = trace->pattern(head.block, head.head);
        const auto root = std::sqrt(float(trace->config().d_head(head.block)));
        const Eigen::ArrayXf dot = trace->scores(head.block, head.head).row(q).head(q + 1).array() * root;
        const Eigen::ArrayXf e = (dot - dot.maxCoeff()).exp();
        return float((e / e.sum() - divided.row(q).head(q + 1).transpose().array()).abs().sum()) / 2;
    };
    const auto cell = telling_scale(*trace, std::nullopt, pool);
    REQUIRE(cell);
    const float most = moved(cell->head, cell->query);
    CHECK(most > 0.1f);
    for (int i = 0; i < trace->config().head_count(); ++i)
        for (int q = 1; q < trace->query_count(0); ++q) {
            const AttentionHead head = trace->config().head_at(i);
            const float largest = trace->pattern_rows(head.block, head.head, q, 1).maxCoeff();
            if (largest >= std::max(0.3f, std::min(0.9f, 2.0f / float(q + 1))))  // not spread evenly
                CHECK(moved(head, q) <= most + 1e-4f);
        }
}

TEST_CASE("a head that the user selected keeps, and gets its own telling query") {
    ThreadPool pool(2);
    const auto trace = read_by_stories(kRedBall);
    const AttentionHead chosen{0, 0};
    const StationStart start = station_start(*find_station("qkv"), *trace, chosen, -1, pool);
    CHECK(start.cell.head == chosen);
    CHECK_FALSE(start.found);
    CHECK(station_start(*find_station("qkv"), *trace, chosen, 3, pool).cell.query == 3);
    CHECK(station_start(*find_station("qkv"), *trace, std::nullopt, -1, pool).found);
}

TEST_CASE("an intervention does not move a station to another head") {
    ThreadPool pool(2);
    const auto own = read_by_stories(kRedBall);
    ForwardRequest request = own->request;
    request.intervention.changes.push_back(*parse_change(own->config(), "mask:16>4@*"));
    const auto masked = *run_trace(own->model, std::move(request), pool);
    PageRequest asked;
    asked.station = "qkv";
    asked.text = kRedBall;
    const auto page = answer_page({*masked, own.get()}, asked, pool, nullptr);
    REQUIRE(page);
    CHECK(head_name(own->config(), page->head) == "1.0");
    CHECK(page->head_found);
}

TEST_CASE("a station has no telling head in a text of one token; in an encoder–decoder one of the encoder") {
    ThreadPool pool(1);
    CHECK_FALSE(telling_previous(*read_by_stories("a"), std::nullopt, pool));
    CHECK_FALSE(telling_scale(*read_by_stories("a"), std::nullopt, pool));
    const Opened two("marian");
    const auto cell = telling_scale(*two.trace, std::nullopt, pool);
    if (cell) CHECK(two.trace->config().block(cell->head.block).kind == AttentionKind::encoder);
    for (const Station& station : stations())
        if (station.first_head) CHECK(std::string_view(station.opens) == "stories");
}
