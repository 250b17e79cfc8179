// Tests word alignments, layer patterns and positions on cases computed by hand.
#include <cmath>

#include "analysis/attention/layer_patterns.h"
#include "analysis/attention/positions.h"
#include "analysis/comparison/word_alignment.h"
#include "base/cast.h"
#include "helpers.h"
#include "model/input.h"

using namespace headlight;

TEST_CASE("word alignment: rows are chosen tokens, words join pieces, the mean is over heads") {
    ThreadPool pool(2);
    const auto input = *encode_input(
        *translator(), {"The cat sat on the mat.", "", "Die Katze saß auf der Matte.", {}, {}, {}, nullptr});
    const auto trace = *run_trace(translator(), {input.sequences, {}}, pool);
    const int block = cross_block(translator()->config, 0) + 2, n = trace->query_count(block);
    const WordAlignment one = *answer_word_alignment(*trace, WordAlignmentRequest{block, {3}}, pool);
    CHECK((one.weights - trace->pattern(block, 3)).cwiseAbs().maxCoeff() == 0);
    CHECK(one.rows[0] == "Die");
    CHECK(one.rows.back() == "</s>");  // the most probable last choice
    CHECK(answer_word_alignment(*trace, WordAlignmentRequest{block, {3}, false, true}, pool)->rows[0] ==
          "<pad>");
    CHECK(answer_word_alignment(*trace, WordAlignmentRequest{0, {}}, pool)->rows[0] ==
          "The");  // an encoder's queries choose nothing (found by fuzz_model)
    Matrix mean = Matrix::Zero(n, trace->key_count(block));
    for (int h = 0; h < 8; ++h) mean += trace->pattern(block, h) / 8;
    const WordAlignment all = *answer_word_alignment(*trace, WordAlignmentRequest{block, {}}, pool);
    CHECK((all.weights - mean).cwiseAbs().maxCoeff() < 1e-6f);
    const WordAlignment words = *answer_word_alignment(*trace, WordAlignmentRequest{block, {}, true}, pool);
    CHECK(words.rows == std::vector<std::string>{"Die", "Katze", "saß", "auf", "der", "Matte", ".", "</s>"});
    CHECK(words.columns == std::vector<std::string>{"The", "cat", "sat", "on", "the", "mat", ".", "</s>"});
    for (Index r = 0; r < words.weights.rows(); ++r) {
        CHECK(words.weights.row(r).sum() == doctest::Approx(1));
        CHECK(words.entropy[r] <= 3.0001f);  // eight columns
    }
    CHECK(words.strongest[1] == 1);  // Katze from cat
}

TEST_CASE("word alignment: crossings are pairs of links in reverse order") {
    CHECK(count_crossings({0, 1, 2, 3}) == 0);
    CHECK(count_crossings({0, 3, 1, 2}) == 2);
    CHECK(count_crossings({3, 2, 1, 0}) == 6);
    CHECK(count_crossings({1, 1, 1}) == 0);
    CHECK(cross_block(reference_model("gpt2")->config, 0) == -1);
    CHECK(cross_block(translator()->config, 1) == 7);  // encoder 1
    CHECK(cross_block(translator()->config, 5) == 8);  // decoder 2
}

TEST_CASE("word alignment: bits are the rows' mutual information with the columns") {
    CHECK(alignment_bits(Matrix::Identity(4, 4)) == doctest::Approx(2));  // four rows, four places
    CHECK(alignment_bits(Matrix::Constant(4, 4, 0.25f)) == doctest::Approx(0));
    Matrix same = Matrix::Zero(4, 4);
    same.col(2).setOnes();
    CHECK(alignment_bits(same) == doctest::Approx(0));  // sharp, but all attend to one word
    Matrix two(2, 2);
    two << 0.75f, 0.25f, 0.25f, 0.75f;
    CHECK(alignment_bits(two) == doctest::Approx(1 - 0.8112781).epsilon(1e-4));
}

TEST_CASE("layer patterns: encoder, masked decoder and cross, of one head or the mean of all") {
    ThreadPool pool(1);
    const auto input = *encode_input(*translator(), {"The cat sat.", "", "Die Katze", {}, {}, {}, nullptr});
    const auto trace = *run_trace(translator(), {input.sequences, {}}, pool);
    const auto kinds = *answer_layer_patterns(*trace, LayerPatternsRequest{1, 4}, pool);
    REQUIRE(kinds.size() == 3);
    CHECK(kinds[0].block == 1);
    CHECK(kinds[1].block == 4);
    CHECK(kinds[2].block == 7);
    CHECK((kinds[2].weights - trace->pattern(7, 4)).cwiseAbs().maxCoeff() == 0);
    CHECK(kinds[1].weights(0, 1) == kMasked);  // later keys are masked
    Matrix mean = Matrix::Zero(trace->query_count(7), trace->key_count(7));
    for (int h = 0; h < 8; ++h) mean += trace->pattern(7, h) / 8;
    CHECK(((*answer_layer_patterns(*trace, LayerPatternsRequest{1, -1}, pool))[2].weights - mean)
              .cwiseAbs()
              .maxCoeff() < 1e-6f);
}

TEST_CASE("positions: the sinusoidal table by its formula; dot products depend on the distance alone") {
    const Positions p = positions_of(*translator(), {0, 0, 0, 32});
    CHECK(p.scheme == PositionScheme::sinusoidal);
    CHECK(p.table(1, 0) == doctest::Approx(std::sin(1.0)));
    CHECK(p.table(1, 128) == doctest::Approx(std::cos(1.0)));
    CHECK(p.table(7, 3) == doctest::Approx(std::sin(7 / std::pow(10000.0, 6.0 / 256))));
    CHECK(p.waves[0] == doctest::Approx(2 * M_PI));
    CHECK(p.between(4, 4) == doctest::Approx(128));  // sin² + cos² of 128 pairs
    CHECK(p.between(2, 9) == doctest::Approx(p.between(20, 27)).epsilon(1e-4));
}

TEST_CASE("positions: rotations, slopes and buckets as in their papers") {
    const auto llama = reference_model("llama"), bloom = reference_model("bloom"), t5 = reference_model("t5"),
               gpt2 = reference_model("gpt2");
    const Positions turns = positions_of(*llama, {0, 0, 0, 16});
    CHECK(turns.scheme == PositionScheme::rotary);
    // the first pair rotates by one radian per position
    CHECK(turns.table(5, 0) == doctest::Approx(std::cos(5.0)));
    CHECK(turns.between(3, 3) == doctest::Approx(1));
    CHECK(turns.between(2, 9) == doctest::Approx(turns.table.row(7).mean()));
    const Positions slopes = positions_of(*bloom, {0, 0, 1, 16});
    CHECK(slopes.scheme == PositionScheme::alibi);
    REQUIRE(slopes.slopes.size() == 4);
    CHECK(slopes.slopes[0] == doctest::Approx(0.25));  // 2^(−8/4)
    CHECK(slopes.slopes[3] == doctest::Approx(1.0 / 256));
    CHECK(slopes.between(9, 4) == doctest::Approx(-5 * 0.0625));
    CHECK(std::isnan(slopes.between(4, 9)));
    const Positions both_ways = positions_of(*t5, {0, 0, 1, 16}), back = positions_of(*t5, {1, 0, 1, 16});
    CHECK(both_ways.scheme == PositionScheme::relative);
    CHECK(both_ways.distances.front() == -15);
    CHECK(both_ways.distances.back() == 15);
    CHECK(both_ways.buckets[15] == 0);                                 // distance 0
    CHECK(both_ways.buckets[14] == 1);                                 // one back
    CHECK(both_ways.buckets[16] == t5->config.buckets.count / 2 + 1);  // one ahead: in the other half
    CHECK(back.distances.back() == 0);
    CHECK(both_ways.between(3, 3) == both_ways.table(1, 15));
    CHECK(positions_of(*gpt2, {0, 0, 0, 8}).scheme == PositionScheme::learned);
    CHECK(positions_of(*gpt2, {0, 0, 0, 8}).between(2, 2) ==
          doctest::Approx(positions_of(*gpt2, {0, 0, 0, 8}).table.row(2).squaredNorm()).epsilon(1e-4));
}
