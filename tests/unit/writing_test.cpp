// What models write: decoding against an exhaustive search, rules, and the window's worker; alignments and
// positions by hand.
#include <cmath>
#include <limits>

#include "analysis/generate.h"
#include "analysis/layer_patterns.h"
#include "analysis/positions.h"
#include "analysis/word_alignment.h"
#include "base/cast.h"
#include "helpers.h"
#include "model/input.h"
#include "session/worker.h"

using namespace headlight;

namespace {

ForwardRequest source_of(const Model& model, std::vector<int> ids) {
    ForwardRequest r = request_of(std::move(ids));
    Sequence start;
    start.ids = {model.config.start_id};
    start.tokens = {"<start>"};
    r.inputs.push_back(std::move(start));
    return r;
}

double log_probability(const std::shared_ptr<const Model>& model, ForwardRequest request,
                       const std::vector<int>& ids, ThreadPool& pool) {
    double sum = 0;
    for (const int id : ids) {
        const auto trace = *run_trace(model, request, pool);
        sum += std::log(probabilities_at(*trace, request.inputs.back().size() - 1, pool)[id]);
        append_token(*model, request.inputs.back(), id);
    }
    return sum;
}

const std::shared_ptr<const Model>& translator() {
    static const auto model = *Model::open(kTests.parent_path() / "models/translator");
    return model;
}

}  // namespace

TEST_CASE("writing: greedy takes the most probable token at each step and keeps what else there was") {
    ThreadPool pool(2);
    const auto model = reference_model("marian");
    const ForwardRequest request = source_of(*model, {5, 9, 200, 0});
    const Generation w = *generate(model, request, {{}, 5, {}}, pool);
    ForwardRequest growing = request;
    double sum = 0;
    for (const GeneratedToken& token : w.tokens) {
        const auto trace = *run_trace(model, growing, pool);
        const Vector p = probabilities_at(*trace, growing.inputs.back().size() - 1, pool);
        CHECK(token.alternatives.size() == kAlternatives);
        CHECK(token.probability == doctest::Approx(p[token.id]).epsilon(1e-4));
        CHECK(token.alternatives[0].probability == doctest::Approx(p.maxCoeff()).epsilon(1e-4));
        sum += std::log(p[token.id]);
        append_token(*model, growing.inputs.back(), token.id);
    }
    CHECK(w.score == doctest::Approx(sum / double(w.tokens.size())).epsilon(1e-3));
    CHECK(w.trace->output().size() == isize(w.tokens));  // it has read all but the last
}

TEST_CASE(
    "writing: with as many drafts as there are choices, beam search finds the best text of two tokens") {
    ThreadPool pool(2);
    const auto model = reference_model("marian");
    const ForwardRequest request = source_of(*model, {7, 7, 31, 0});
    const Generation w = *generate(model, request, {{0, 0, 1, 0, kMaxBeams, 1}, 2, {}}, pool);
    const auto trace = *run_trace(model, request, pool);
    const Vector first = probabilities_at(*trace, 0, pool);
    double best = -1e9;
    for (const int a : ranked_ids(first, kMaxBeams)) {
        ForwardRequest next = request;
        append_token(*model, next.inputs.back(), a);
        const auto read = *run_trace(model, next, pool);
        const Vector second = probabilities_at(*read, 1, pool);
        best = std::max(best, (std::log(double{first[a]}) + std::log(double{second.maxCoeff()})) / 2);
    }
    CHECK(w.score == doctest::Approx(best).epsilon(1e-3));
    CHECK(w.score >= generate(model, request, {{}, 2, {}}, pool)->score - 1e-5f);
}

TEST_CASE("writing: forced tokens come first, each with the probability that the model gave it") {
    ThreadPool pool(1);
    const auto model = reference_model("marian");
    const ForwardRequest request = source_of(*model, {5, 9, 0});
    for (const int beams : {1, 3}) {
        const Generation w = *generate(model, request, {{0, 0, 1, 0, beams, 1}, 6, {33, 44}}, pool);
        REQUIRE(w.tokens.size() >= 2);
        CHECK(w.tokens[0].id == 33);
        CHECK(w.tokens[1].id == 44);
        CHECK(std::log(w.tokens[0].probability) + std::log(w.tokens[1].probability) ==
              doctest::Approx(log_probability(model, request, {33, 44}, pool)).epsilon(1e-3));
    }
}

TEST_CASE("writing: draws follow the probabilities that temperature, top k and top p leave") {
    Vector logits(4);
    logits << std::log(0.5f), std::log(0.25f), std::log(0.15f), std::log(0.1f);
    const auto shares = [&](const SamplingParams& d) {
        std::array<int, 4> counts{};
        for (int i = 0; i < 1000; ++i) ++counts[draw_token(logits, d, (i + 0.5) / 1000)];
        return counts;
    };
    CHECK(shares({1}) == std::array<int, 4>{500, 250, 150, 100});
    CHECK(shares({1, 2}) == std::array<int, 4>{667, 333, 0, 0});
    CHECK(shares({1, 0, 0.7f}) == std::array<int, 4>{667, 333, 0, 0});
    CHECK(shares({1, 3, 0.8f}) == std::array<int, 4>{667, 333, 0, 0});  // of the three, 0.5 + 0.25 are 0.83
    CHECK(shares({1, 0, 0}) == std::array<int, 4>{1000, 0, 0, 0});
    CHECK(shares({0.5f})[0] == 725);  // 0.25 / (0.25 + 0.0625 + 0.0225 + 0.01)
    CHECK(shares({0}) == std::array<int, 4>{1000, 0, 0, 0});
}

TEST_CASE("writing rules: one id, a list, lists of one id; phrases are left alone, nonsense is refused") {
    GenerationConfig r;
    REQUIRE(parse_generation_config(
        Json::parse(
            R"({"eos_token_id": [2, 7], "bad_words_ids": [[5], [1, 2], [9]], "suppress_tokens": [3], "forced_bos_token_id": 4})"),
        "x", r));
    CHECK(r.eos_token_ids == std::vector<int>{2, 7});
    CHECK(r.suppress_tokens == std::vector<int>{5, 9, 3});
    CHECK(r.forced_bos_token_id == 4);
    REQUIRE(parse_generation_config(Json::parse(R"({"eos_token_id": 1})"), "x", r));
    CHECK(r.eos_token_ids == std::vector<int>{1});
    CHECK(r.suppress_tokens.size() == 3);  // what is missing stays
    for (const char* bad : {R"({"eos_token_id": "x"})", R"({"bad_words_ids": [["a"]]})",
                            R"({"eos_token_id": 99999999999})", "[]"})
        CHECK(!parse_generation_config(Json::parse(bad), "x", r));
    CHECK(translator()->config.generation.suppress_tokens == std::vector<int>{translator()->config.pad_id});
}

TEST_CASE("word alignment: rows are what is chosen, words join their pieces, the mean is the heads' mean") {
    ThreadPool pool(2);
    const auto input = *encode_input(
        *translator(), {"The cat sat on the mat.", "", "Die Katze saß auf der Matte.", {}, {}, {}, nullptr});
    const auto trace = *run_trace(translator(), {input.sequences, {}}, pool);
    const int block = cross_block(translator()->config, 0) + 2, n = trace->query_count(block);
    const WordAlignment one = *answer(*trace, WordAlignmentWanted{block, {3}}, pool);
    CHECK((one.weights - trace->pattern(block, 3)).cwiseAbs().maxCoeff() == 0);
    CHECK(one.rows[0] == "Die");
    CHECK(one.rows.back() == "</s>");  // the most probable last choice
    CHECK(answer(*trace, WordAlignmentWanted{block, {3}, false, true}, pool)->rows[0] == "<pad>");
    CHECK(answer(*trace, WordAlignmentWanted{0, {}}, pool)->rows[0] ==
          "The");  // an encoder's queries choose nothing (found by fuzz_model)
    Matrix mean = Matrix::Zero(n, trace->key_count(block));
    for (int h = 0; h < 8; ++h) mean += trace->pattern(block, h) / 8;
    const WordAlignment all = *answer(*trace, WordAlignmentWanted{block, {}}, pool);
    CHECK((all.weights - mean).cwiseAbs().maxCoeff() < 1e-6f);
    const WordAlignment words = *answer(*trace, WordAlignmentWanted{block, {}, true}, pool);
    CHECK(words.rows == std::vector<std::string>{"Die", "Katze", "saß", "auf", "der", "Matte", ".", "</s>"});
    CHECK(words.columns == std::vector<std::string>{"The", "cat", "sat", "on", "the", "mat", ".", "</s>"});
    for (Index r = 0; r < words.weights.rows(); ++r) {
        CHECK(words.weights.row(r).sum() == doctest::Approx(1));
        CHECK(words.entropy[r] <= 3.0001f);  // eight columns
    }
    CHECK(words.strongest[1] == 1);  // Katze from cat
}

TEST_CASE("word alignment: crossings are pairs of links in the other order") {
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
    CHECK(alignment_bits(same) == doctest::Approx(0));  // sharp, but all look at one word
    Matrix two(2, 2);
    two << 0.75f, 0.25f, 0.25f, 0.75f;
    CHECK(alignment_bits(two) == doctest::Approx(1 - 0.8112781).epsilon(1e-4));
}

TEST_CASE("layer patterns: encoder, masked decoder and cross, of one head or the mean of all") {
    ThreadPool pool(1);
    const auto input = *encode_input(*translator(), {"The cat sat.", "", "Die Katze", {}, {}, {}, nullptr});
    const auto trace = *run_trace(translator(), {input.sequences, {}}, pool);
    const auto kinds = *answer(*trace, LayerPatternsWanted{1, 4}, pool);
    REQUIRE(kinds.size() == 3);
    CHECK(kinds[0].block == 1);
    CHECK(kinds[1].block == 4);
    CHECK(kinds[2].block == 7);
    CHECK((kinds[2].weights - trace->pattern(7, 4)).cwiseAbs().maxCoeff() == 0);
    CHECK(kinds[1].weights(0, 1) == -1);  // what comes later is masked
    Matrix mean = Matrix::Zero(trace->query_count(7), trace->key_count(7));
    for (int h = 0; h < 8; ++h) mean += trace->pattern(7, h) / 8;
    CHECK(((*answer(*trace, LayerPatternsWanted{1, -1}, pool))[2].weights - mean).cwiseAbs().maxCoeff() <
          1e-6f);
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

TEST_CASE("positions: rotations, slopes and buckets as their papers give them") {
    const auto llama = reference_model("llama"), bloom = reference_model("bloom"), t5 = reference_model("t5"),
               gpt2 = reference_model("gpt2");
    const Positions turns = positions_of(*llama, {0, 0, 0, 16});
    CHECK(turns.scheme == PositionScheme::rotary);
    CHECK(turns.table(5, 0) == doctest::Approx(std::cos(5.0)));  // the first pair turns by one a position
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
    CHECK(both_ways.buckets[16] == t5->config.buckets.count / 2 + 1);  // one ahead: the other half
    CHECK(back.distances.back() == 0);
    CHECK(both_ways.between(3, 3) == both_ways.table(1, 15));
    CHECK(positions_of(*gpt2, {0, 0, 0, 8}).scheme == PositionScheme::learned);
    CHECK(positions_of(*gpt2, {0, 0, 0, 8}).between(2, 2) ==
          doctest::Approx(positions_of(*gpt2, {0, 0, 0, 8}).table.row(2).squaredNorm()).epsilon(1e-4));
}

TEST_CASE(
    "worker: the translator writes its target; a step reads a part of it; what is forced stands first; a "
    "typed target is read as it is") {
    Worker worker(2, [] {});
    const auto answer = [&](const WorkRequest& r, auto&& fits) {
        worker.ask(r);
        for (int i = 0; i < 2000; ++i) {
            if (const auto a = worker.poll(); a && a->sentence && a->sentence->trace &&
                                              a->sentence->asked == r.writing &&
                                              a->sentence->second == r.second && fits(*a))
                return a;
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        }
        FAIL("no such answer");
        return std::shared_ptr<const WorkAnswer>();
    };
    const auto any = [](const WorkAnswer&) { return true; };
    WorkRequest r;
    r.model_path = (kTests.parent_path() / "models/translator").string();
    r.text = "The cat sat on the mat.";
    const auto whole = answer(r, any);
    REQUIRE(whole->sentence->written);
    const WrittenText& w = *whole->sentence->written;
    CHECK(w.text == "Die Katze saß auf der Matte.");
    CHECK(w.writing.ended);
    CHECK(whole->sentence->trace->output().size() == w.steps() + 1);
    CHECK(whole->sentence->predictions[0].tokens[0].label == "</s>");
    r.writing.step = 2;
    const auto part = answer(r, any);
    CHECK(part->sentence->written == whole->sentence->written);  // not written anew
    CHECK(part->sentence->step == 2);
    CHECK(part->sentence->trace->output().size() == 3);
    r.writing = {};
    r.writing.wanted.forced = {w.writing.tokens[0].alternatives[1].id};
    const auto forced = answer(r, any);
    CHECK(forced->sentence->written->writing.tokens[0].id == r.writing.wanted.forced[0]);
    r.writing = {};
    r.second = "Die Katze";
    const auto typed = answer(r, any);
    CHECK(typed->sentence->written->labels ==
          std::vector<std::string>{"Die", "Katze"});  // made to write it: each token has its probability
    CHECK(typed->sentence->written->writing.tokens[1].probability > 0.5f);
    CHECK(typed->sentence->trace->output().size() == 3);
    r.second.clear();
    Change ablate;
    ablate.block = 8;
    ablate.head = 0;
    r.intervention.changes = {ablate};
    const auto changed = answer(r, [](const WorkAnswer& a) { return a.sentence->unchanged != nullptr; });
    CHECK(changed->sentence->unchanged->output().ids ==
          changed->sentence->trace->output().ids);  // both read what the changed one wrote
}

TEST_CASE("worker: a decoder writes on only where it was asked to") {
    Worker worker(2, [] {});
    WorkRequest r;
    r.model_path = (kTests.parent_path() / "models/stories").string();
    r.text = "Once upon a time";
    r.writing.continues = true;
    r.writing.wanted.length = 5;
    worker.ask(r);
    std::shared_ptr<const WorkAnswer> a;
    for (int i = 0; i < 2000 && !(a && a->sentence && a->sentence->written); ++i) {
        if (auto fresh = worker.poll()) a = fresh;
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    REQUIRE(a->sentence->written);
    const int given = a->sentence->written->given;
    CHECK(a->sentence->trace->output().size() == given + 5);
    CHECK(a->sentence->written->writing.tokens.size() == 5);
    r.writing.continues = false;
    worker.ask(r);
    for (int i = 0; i < 2000 && a->sentence->written; ++i) {
        if (auto fresh = worker.poll(); fresh && fresh->sentence && fresh->sentence->asked == r.writing)
            a = fresh;
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    CHECK(!a->sentence->written);
    CHECK(a->sentence->trace->output().size() == given);
}
