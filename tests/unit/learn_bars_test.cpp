// Tests the cells of the selected head under bars: tokens, and the first ones of words.
#include <algorithm>

#include "learn/stations/no_weights.h"
#include "learn/stations/query_key.h"
#include "learn/stations/small_vectors.h"
#include "learn_bench.h"

using namespace headlight;
using namespace headlight::learn;

namespace {

StationInput seen(const Trace& trace, const std::string& text, int query) {
    StationInput in;
    in.trace = &trace;
    in.model = trace.model.get();
    in.text = text;
    in.block = 1;
    in.query = query;
    return in;
}

}  // namespace

TEST_CASE(
    "bars correspond to cells of the selected head: tokens, the first ones of words, of the same "
    "words again") {
    const std::string text = "Bark, the dog, is the best";
    const auto trace = read_by_stories(text);
    const StationInput in = seen(*trace, text, 3);
    const auto& tokens = trace->request.inputs[0].tokens;
    const QueryKey head = head_query_key(in);
    CHECK(head.cells.query == 3);
    CHECK(head.cells.keys.size() == tokens.size());
    CHECK(head.cells.keys.back() == isize(tokens) - 1);
    const QueryKey small = small_query_key(in);
    REQUIRE(small.cells.keys.size() == small.keys.size());
    const auto token = [&](int word) { return tokens[small.cells.keys[word]]; };
    CHECK(token(1).find("the") != std::string::npos);
    CHECK(token(4).find("the") != std::string::npos);
    CHECK(small.cells.keys[4] > small.cells.keys[1]);
    CHECK(small.cells.keys[0] == 0);
    StationInput other = in;
    other.text = "A cat, the cat";  // typed, but not read yet
    CHECK(small_query_key(other).cells.keys[0] == -1);
    CHECK(small_query_key({}).cells.keys.empty());
}

TEST_CASE("the cells of shuffled words go along with them") {
    ThreadPool pool(1);
    const std::string text = "Bark is very cute and he is a dog";
    const auto trace = read_by_stories(text);
    NoWeightsState state;
    const auto bars_of = [&] {
        return blocks_of<BarRows>(*no_weights_page(seen(*trace, text, -1), state, pool))[0];
    };
    const BarRows plain = bars_of();
    state.shuffle = 3;
    const BarRows shuffled = bars_of();
    REQUIRE(plain.cells.keys.size() == plain.columns.size());
    CHECK(shuffled.columns != plain.columns);
    for (int i = 0; i < isize(plain.columns); ++i) {
        const auto& keys = shuffled.cells.keys;
        const auto at = std::find(keys.begin(), keys.end(), plain.cells.keys[i]);
        REQUIRE(at != keys.end());
        CHECK(shuffled.columns[at - keys.begin()] == plain.columns[i]);
    }
    CHECK(shuffled.cells.query == plain.cells.query);
}
