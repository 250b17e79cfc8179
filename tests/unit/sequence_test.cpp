// Tests which sequences a model may read, wherever they come from.
#include "analysis/prediction/generate.h"
#include "helpers.h"
#include "model/input.h"

using namespace headlight;
namespace fs = std::filesystem;

namespace {

/// Returns the error of a request; "" if it runs.
std::string refusal(const std::shared_ptr<const Model>& model, std::vector<Sequence> inputs) {
    ThreadPool pool(1);
    const auto trace = run_trace(model, {std::move(inputs), {}}, pool);
    return trace ? "" : trace.error().message;
}

Sequence of(std::vector<int> ids, std::vector<int> types = {}) {
    return {std::move(ids), {}, std::move(types), nullptr};
}

/// Returns the error of a pass over some ids in the only stack.
std::string refused_ids(const std::shared_ptr<const Model>& model, std::vector<int> ids,
                        std::vector<int> types = {}) {
    return refusal(model, {of(std::move(ids), std::move(types))});
}

}  // namespace

TEST_CASE("no pass is run on ids or lengths that a model does not have") {
    const auto gpt2 = reference_model("gpt2");
    const int vocab = gpt2->config.vocab;
    CHECK(refused_ids(gpt2, {0, vocab - 1}) == "");
    CHECK(says(refused_ids(gpt2, {1, vocab}), "id " + std::to_string(vocab)));
    CHECK(says(refused_ids(gpt2, {1, -1}), "id -1"));
    CHECK(says(refused_ids(gpt2, {}), "no tokens"));
    CHECK(says(refused_ids(gpt2, std::vector<int>(static_cast<size_t>(gpt2->config.context) + 1, 1)),
               "can read"));
    CHECK(says(refusal(gpt2, {}), "1 sequence"));
    CHECK(says(refusal(gpt2, {of({1}), of({1})}), "1 sequence"));
    CHECK(says(refusal(reference_model("marian"), {of({1})}), "2 sequences"));
    CHECK(says(refusal(reference_model("marian"), {of({1}), of({1 << 20})}), "--target-ids"));
}

TEST_CASE("no pass is run on token types that a model does not have") {
    const auto bert = reference_model("bert");
    CHECK(refused_ids(bert, {2, 5, 3}, {0, 1, 1}) == "");
    CHECK(says(refused_ids(bert, {2, 5, 3}, {0, 0}), "one type per id"));
    CHECK(says(refused_ids(bert, {2, 5, 3}, {0, 0, bert->config.token_types}), "token type"));
    CHECK(says(refused_ids(bert, {2, 5, 3}, {0, -1, 0}), "token type"));
}

TEST_CASE("images are read only by vision models, cut to their patches") {
    const auto vit = reference_model("vit"), gpt2 = reference_model("gpt2");
    CHECK(says(refused_ids(vit, {0, 1, 2}), "patches"));
    Sequence picture = of({0});
    picture.picture =
        std::make_shared<const Picture>(Picture{{}, Matrix::Zero(vit->config.vision.patches(), 5)});
    CHECK(says(refusal(vit, {picture}), "patches"));
    CHECK(says(refusal(gpt2, {picture}), "not images"));
}

TEST_CASE(
    "a tokenizer's template with a token type beyond the type table is refused where the text is read") {
    TemporaryFolder folder;
    for (const char* file : {"config.json", "model.safetensors"})
        fs::copy(kTests / "reference/models/bert" / file, folder.path / file);
    Json tokenizer = *read_json(kTests / "reference/models/bert/tokenizer.json");
    tokenizer["post_processor"]["single"][2]["SpecialToken"]["type_id"] = 1000000;
    write_bytes(folder.path / "tokenizer.json", tokenizer.dump());
    write_bytes(folder.path / "tokenizer_config.json", R"({"tokenizer_class":"PreTrainedTokenizerFast"})");
    const auto model = Model::open(folder.path);
    REQUIRE(model);
    const auto input = encode_input(**model, {"the cat", "", "", {}, {}, {}, nullptr});
    REQUIRE(!input);
    CHECK(says(input.error().message, "the token type 1000000"));
}

TEST_CASE("a decoder's start token must be in its vocabulary") {
    Json config = *read_json(kTests / "reference/models/marian/config.json");
    const auto problem = [&] {
        const auto parsed = parse_config(config, "x");
        return parsed ? "" : parsed.error().message;
    };
    CHECK(problem() == "");
    const int vocab = parse_config(config, "x")->decoder().vocab;
    config["forced_bos_token_id"] = vocab;
    CHECK(says(problem(), "forced_bos_token_id"));
    config["forced_bos_token_id"] = nullptr;
    config["decoder_start_token_id"] = vocab;
    CHECK(says(problem(), "decoder_start_token_id"));
    config["decoder_start_token_id"] = 1 << 22;
    CHECK(says(problem(), "decoder_start_token_id"));
}

TEST_CASE("forced tokens must be in the model's vocabulary") {
    ThreadPool pool(1);
    const auto model = reference_model("gpt2");
    const ForwardRequest request = request_of({1, 2, 3});
    CHECK(generate(model, request, {{}, 2, {5}}, pool));
    for (const int id : {-1, model->config.vocab, 1 << 30})
        CHECK(!generate(model, request, {{}, 2, {id}}, pool));
}
