// Tests the translator whose decoder may read only part of the source.
#include <cmath>
#include <fstream>
#include <set>

#include "analysis/prediction/generate.h"
#include "helpers.h"
#include "learn/bottleneck.h"
#include "learn/stations/seq2seq.h"
#include "model/input.h"

using namespace headlight;
using namespace headlight::learn;

namespace {

using Texts = std::vector<std::string>;

Sequence source_of(const std::string& text) {
    TextInput typed;
    typed.text = text;
    return encode_input(*translator(), typed)->sequences[0];
}

/// Runs a limit over six generated tokens.
std::shared_ptr<const Trace> limited_run(const CrossLimit& limit, ThreadPool& pool) {
    ForwardRequest request = *limited_request(*translator(), source_of("The tree is blue."), limit);
    for (int i = 0; i < 5; ++i) append_token(*translator(), request.inputs[1], 10 + i);
    return *run_trace(translator(), request, pool);
}

/// Calls each(pattern) for every head of every cross-attention block.
template <class Each>
void for_cross(const Trace& trace, const Each& each) {
    for (int block = 0; block < trace.config().blocks(); ++block)
        for (int head = 0; head < trace.config().heads(block); ++head)
            if (trace.config().block(block).kind == AttentionKind::cross) each(trace.pattern(block, head));
}

std::shared_ptr<const Trace> trace_of_text(const std::string& text, ThreadPool& pool) {
    return *run_trace(translator(), *limited_request(*translator(), source_of(text), {}), pool);
}

StationInput input_of(const std::shared_ptr<const Trace>& trace, const std::string& text) {
    StationInput in;
    in.trace = trace.get();
    in.model = trace->model.get();
    in.text = text;
    return in;
}

}  // namespace

TEST_CASE("learn seq2seq: limits as changes, by hand") {
    CHECK(cross_changes({}, 4).empty());
    CHECK(cross_changes({CrossReach::last, 0, 0}, 4) == Texts{"mask:*>0-2@cross"});
    CHECK(cross_changes({CrossReach::last, 0, 0}, 1).empty());
    CHECK(cross_changes({CrossReach::one, 0, 1}, 4) == Texts{"mask:*>0@cross", "mask:*>2..@cross"});
    CHECK(cross_changes({CrossReach::one, 0, 9}, 3) == Texts{"mask:*>0-1@cross"});
    CHECK(cross_changes({CrossReach::window, 1, 0}, 3) == Texts{"mask:0>2..@cross", "mask:2..>0@cross"});
    CHECK(cross_changes({CrossReach::window, 0, 0}, 2) == Texts{"mask:0>1..@cross", "mask:1..>0@cross"});
}

TEST_CASE("learn seq2seq: every cross head attends to what the limit allows") {
    ThreadPool pool(2);
    for_cross(*limited_run({CrossReach::last, 0, 0}, pool),
              [](const Matrix& p) { CHECK((p.col(p.cols() - 1).array() == 1.0f).all()); });
    for_cross(*limited_run({CrossReach::one, 0, 2}, pool),
              [](const Matrix& p) { CHECK((p.col(2).array() == 1.0f).all()); });
    for_cross(*limited_run({CrossReach::window, 1, 0}, pool), [](const Matrix& p) {
        const int keys = narrow<int>(p.cols());
        for (int q = 0; q < p.rows(); ++q)
            for (int k = 0; k < keys; ++k) CHECK((p(q, k) > 0) == (std::abs(std::min(q, keys - 1) - k) <= 1));
    });
}

TEST_CASE("learn seq2seq: the mean of a translation's probabilities is geometric") {
    CHECK(ReferenceTokens{{}, {}, {0.5f, 0.125f}, nullptr}.mean_probability() == doctest::Approx(0.25));
    CHECK(ReferenceTokens{}.mean_probability() == 0);
}

TEST_CASE("learn seq2seq: what the model writes itself is as probable as when it was written") {
    ThreadPool pool(2);
    const ForwardRequest request = *limited_request(*translator(), source_of("The tree is blue."), {});
    const Generation own = *generate(translator(), request, {{}, 32, {}}, pool);
    std::vector<int> ids;
    for (const GeneratedToken& token : own.tokens) ids.push_back(token.id);
    const ReferenceTokens right = *read_reference(translator(), request, ids, pool, nullptr);
    REQUIRE(right.probabilities.size() == own.tokens.size());
    for (size_t i = 0; i < ids.size(); ++i)
        CHECK(right.probabilities[i] == doctest::Approx(own.tokens[i].probability).epsilon(1e-4));
    CHECK(own.ended);
    CHECK(*translation_ids(*translator(), translator()->target_tokenizer()->decode(own.ids())) == ids);
}

TEST_CASE("learn seq2seq: a model without an end token reads a translation without one") {
    const std::string config =
        R"({"model_type":"bart","vocab_size":100,"d_model":8,"encoder_layers":1,)"
        R"("decoder_layers":1,"encoder_attention_heads":2,"decoder_attention_heads":2,)"
        R"("encoder_ffn_dim":8,"decoder_ffn_dim":8,"max_position_embeddings":16,)"
        R"("decoder_start_token_id":1,"eos_token_id":)";
    CHECK(parse_config(Json::parse(config + "[100,99]}"), "config.json")->end_id == 99);
    CHECK(parse_config(Json::parse(config + "8388608}"), "config.json")->end_id == -1);
    const TemporaryFolder folder;
    for (const auto& file : std::filesystem::directory_iterator(kTests.parent_path() / "models/translator"))
        std::filesystem::copy(file.path(), folder.path);
    std::ifstream stated(folder.path / "config.json");
    Json endless = Json::parse(stated);
    endless["eos_token_id"] = endless["vocab_size"];
    write_bytes(folder.path / "config.json", endless.dump());
    ThreadPool pool(2);
    const auto model = *Model::open(folder.path);
    const auto ids = *translation_ids(*model, "Der Baum ist blau.");
    const auto request = *limited_request(*model, source_of("The tree is blue."), {});
    CHECK(read_reference(model, request, ids, pool, nullptr)->probabilities.size() == ids.size());
}

TEST_CASE("learn seq2seq: sixty pairs that training held out, longer and longer") {
    const auto& pairs = held_out_pairs();
    REQUIRE(pairs.size() == 60);
    std::ifstream file(kTests / "reference/translator_sentences.txt");
    std::set<std::string> held_out;
    for (std::string line; std::getline(file, line);) held_out.insert(line);
    int longest = 0;
    for (size_t i = 0; i < pairs.size(); ++i) {
        CHECK_MESSAGE(held_out.count(pairs[i].source) == 1, pairs[i].source);
        CHECK(!pairs[i].target.empty());
        if (i % 10 == 0) CHECK(pairs[i].words() >= longest);
        longest = std::max(longest, pairs[i].words());
    }
    CHECK(TranslationPair{"Was the room empty?", ""}.words() == 4);
}

TEST_CASE("learn seq2seq: with all positions the right words are probable, with only the last they are not") {
    ThreadPool pool(2);
    const CrossLimit limits[] = {{}, {CrossReach::window, 2, 0}, {CrossReach::last, 0, 0}};
    const auto curves = *reference_by_length(translator(), limits, pool, nullptr);
    REQUIRE(curves.size() == 3);
    for (size_t i = 0; i < 6; ++i) {
        CAPTURE(i);
        CHECK(curves[0][i].probability > 0.6f);
        CHECK(curves[2][i].probability < 0.1f);
        CHECK(curves[0][i].error < 0.2f);
    }
    CHECK(curves[1][0].probability > curves[1][5].probability + 0.1f);  // the window suffices for short ones
}

TEST_CASE("learn seq2seq: a page of the user's sentence, its reference translation known, typed or written") {
    ThreadPool pool(2);
    Seq2seqState state;
    state.held_out = false;
    const auto trace = trace_of_text("The tree is blue.", pool);
    const auto labels = [&](const std::string& text) {
        return std::get<BarRows>(seq2seq_page(input_of(trace, text), state, pool)->blocks[1]).columns;
    };
    CHECK(labels("The tree is blue.") == labels("written by the model"));
    state.reference = "Das Haus ist alt.";
    CHECK(labels("The tree is blue.") == labels(""));  // the typed translation counts
    const learn::Page page = *seq2seq_page(input_of(trace, ""), state, pool);
    const auto& bars = std::get<BarRows>(page.blocks[1]);
    REQUIRE(bars.rows.size() == 4);
    for (const auto& row : bars.rows) CHECK(row.values.size() == bars.columns.size());
    const auto& written = std::get<learn::Steps>(page.blocks[0]);
    CHECK(written.lines.size() == 4);
    CHECK(written.lines[0].worked.find("…") == std::string::npos);  // translations are shown whole
}

TEST_CASE("learn seq2seq: another kind of model is asked for") {
    ThreadPool pool(1);
    const auto page = seq2seq_page({}, {}, pool);
    REQUIRE(!page);
    CHECK(page.error().message.find("translator") != std::string::npos);
}
