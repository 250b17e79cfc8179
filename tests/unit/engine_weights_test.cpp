// Tests the weights that a server offers: what is refused, and what comes.
#include "base/memory.h"
#include "engine/remote_engine.h"
#include "fake_engine.h"
#include "model/engine.h"
#include "model/input.h"
#include "trace/trace.h"

using namespace headlight;

namespace {

Json gpt2_config() {
    return {{"model_type", "gpt2"}, {"n_embd", 6},       {"n_layer", 1},
            {"n_head", 2},          {"vocab_size", 256}, {"n_positions", 64}};
}

/// Opens a server that offers weights of a small GPT-2, edited.
Result<std::shared_ptr<const Model>> offered(FakeEngine& engine, const std::function<void(Json&)>& edit) {
    Json told = FakeEngine::described();
    told["family"] = "gpt2";
    told["config"] = gpt2_config();
    told["weights"] = {{"bytes", 4000}};
    told["blocks"][0]["kv_heads"] = 2;
    edit(told);
    engine.answer("describe", [told](const Json& request) mutable {
        told["id"] = request["id"];
        return frame_bytes(told);
    });
    return open_engine(engine.address());
}

std::string withheld(const std::function<void(Json&)>& edit) {
    FakeEngine engine;
    const auto model = offered(engine, edit);
    REQUIRE_MESSAGE(model, (model ? "" : model.error().message));
    CHECK(weights_come(**model) == (*model)->engine->withheld().empty());
    return (*model)->engine->withheld();
}

/// Answers the list of files, and parts of them.
void lists(FakeEngine& engine, const Json& files, const std::string& bytes) {
    engine.answer("weights", [files, bytes](const Json& request) {
        Json told{{"id", request["id"]}, {"version", 1}};
        if (!request.contains("file")) told["files"] = files;
        const size_t from = request.value("from", size_t{0});
        const std::string part = from < bytes.size() ? bytes.substr(from, 100) : "";
        if (!request.contains("file")) return frame_bytes(told);
        return frame_bytes(told, {{"bytes", "U8", {std::ssize(part)}, part}});
    });
}

std::string refusal(const Json& files, const std::string& bytes) {
    FakeEngine engine;
    const auto model = offered(engine, [](Json&) {});
    REQUIRE(model);
    lists(engine, files, bytes);
    const auto fetched = (*model)->engine->with_weights(nullptr);
    return fetched ? "" : fetched.error().message;
}

}  // namespace

TEST_CASE("a server's weights are withheld in one sentence that says why") {
    CHECK(withheld([](Json&) {}).empty());
    const auto says = [](const std::function<void(Json&)>& edit, const char* part) {
        const std::string sentence = withheld(edit);
        CHECK_MESSAGE(sentence.find(part) != std::string::npos, sentence);
        CHECK(sentence.ends_with('.'));
    };
    says([](Json& t) { t.erase("weights"); }, "no files");
    says([](Json& t) { t["weights"] = {{"refused", "h.0 has a hook"}}; }, "h.0 has a hook");
    says([](Json& t) { t["weights"]["bytes"] = int64_t{1} << 33; }, "GB");
    says([](Json& t) { t["config"]["model_type"] = "later"; }, "family gpt2");
    says([](Json& t) { t["config"]["n_layer"] = 2; }, "other blocks");
    says([](Json& t) { t["config"]["n_embd"] = 8; }, "other blocks");
    says([](Json& t) { t["blocks"][0]["kv_heads"] = 1; }, "other blocks");
}

TEST_CASE("files of weights that are none are refused in one sentence") {
    const auto files = [](const std::string& name, int64_t bytes) {
        return Json::array({{{"name", name}, {"bytes", bytes}}});
    };
    for (const char* name : {"../x", "a/b", "/etc/passwd", ".hidden", "", "a b"})
        CHECK(refusal(files(name, 5), "abcde").find("names no file") != std::string::npos);
    CHECK(refusal(Json::array({1}), "").find("another form") != std::string::npos);
    CHECK(refusal(files("model.safetensors", 1 << 30), "x").find("larger than it said") != std::string::npos);
    CHECK(refusal(files("model.safetensors", 9), "").find("does not fit") != std::string::npos);
    CHECK(refusal(files("model.safetensors", 50), std::string(70, 'x')).find("does not fit") !=
          std::string::npos);
    CHECK(refusal(files("model.safetensors", 250), std::string(250, 'x')).find("config.json") !=
          std::string::npos);
}

TEST_CASE("a fetch that is cancelled goes on where it was") {
    FakeEngine engine;
    const auto model = offered(engine, [](Json&) {});
    REQUIRE(model);
    const std::string config = gpt2_config().dump();
    CancelFlag cancel{false};
    int parts = 0;
    std::string fetching;  // what the window says meanwhile
    std::mutex counting;
    engine.answer("weights", [&](const Json& request) {
        Json told{{"id", request["id"]}, {"version", 1}};
        if (!request.contains("file")) {
            told["files"] = {{{"name", "config.json"}, {"bytes", config.size()}}};
            return frame_bytes(told);
        }
        const std::lock_guard lock(counting);
        if (++parts == 2) cancel = true;
        if (parts == 2) fetching = fetching_of(model->get());
        const std::string part = config.substr(request.value("from", size_t{0}), 30);
        return frame_bytes(told, {{"bytes", "U8", {std::ssize(part)}, part}});
    });
    const auto stopped = (*model)->engine->with_weights(&cancel);
    REQUIRE_FALSE(stopped);
    CHECK(stopped.error().cancelled);
    CHECK(fetching_of(model->get()).empty());
    const auto again = (*model)->engine->with_weights(nullptr);
    REQUIRE_FALSE(again);  // there is no file of weights
    CHECK(again.error().message.find("safetensors") != std::string::npos);
    const std::lock_guard lock(counting);
    CHECK(parts <= int(config.size() / 30) + 2);
    CHECK(fetching ==
          "Fetching the weights: " + short_bytes(30) + " of " + short_bytes(std::ssize(config)) + "…");
}

TEST_CASE("weights are fetched once, and again after a pass with others") {
    FakeEngine engine;
    const auto folder = kTests / "reference/models/gpt2";
    std::map<std::string, std::string> files;
    for (const char* name : {"config.json", "model.safetensors"}) files[name] = read_bytes(folder / name);
    const auto config = open_config(folder / "config.json");
    REQUIRE(config);
    const auto model = offered(engine, [&](Json& told) {
        told["config"] = Json::parse(files["config.json"]);
        told["weights"] = {{"bytes", files["model.safetensors"].size()}};
        told["d_model"] = config->d_model;
        const Json block = told["blocks"][0];
        told["blocks"] = Json::array();
        for (int i = 0; i < config->blocks(); ++i) {
            Json one = block;
            one["at"] = "blocks." + std::to_string(i) + ".attn";
            one["heads"] = one["kv_heads"] = config->heads(i);
            told["blocks"].push_back(one);
        }
    });
    REQUIRE(model);
    REQUIRE((*model)->engine->withheld().empty());
    int fetches = 0;
    std::mutex counting;
    engine.answer("weights", [&](const Json& request) {
        Json told{{"id", request["id"]}};
        if (!request.contains("file")) {
            const std::lock_guard lock(counting);
            ++fetches;
            for (const auto& [name, bytes] : files)
                told["files"].push_back({{"name", name}, {"bytes", bytes.size()}});
            return frame_bytes(told);
        }
        const std::string part = files[request["file"]].substr(request.value("from", size_t{0}), 50'000);
        return frame_bytes(told, {{"bytes", "U8", {std::ssize(part)}, part}});
    });
    const auto first = (*model)->engine->with_weights(nullptr);
    REQUIRE_MESSAGE(first, (first ? "" : first.error().message));
    CHECK((*first)->config.head_count() == config->head_count());
    const auto again = (*model)->engine->with_weights(nullptr);
    REQUIRE(again);
    CHECK(*again == *first);
    const auto own = Model::open(folder);
    REQUIRE(own);
    CHECK((*own)->weights.stacks[0].layers[0].mlp_in.out == (*first)->weights.stacks[0].layers[0].mlp_in.out);
    Json rules;
    for (int i = 0; i < config->blocks(); ++i)
        rules["blocks." + std::to_string(i) + ".attn"] = FakeEngine::rule();
    std::atomic<int> version = 7;
    std::string smaller = files["config.json"];
    smaller.replace(smaller.find("\"n_layer\": "), 12, "\"n_layer\": 1");
    engine.answer(
        "run", [rules, &version](const Json& request) {  // it lacks the tensors: only the version is read
            return frame_bytes(
                {{"id", request["id"]}, {"from", 0}, {"version", version.load()}, {"rules", rules}});
        });
    TextInput typed;
    typed.text = "a text";
    const auto input = encode_input(**model, typed);
    REQUIRE(input);
    ThreadPool pool(1);
    CHECK_FALSE(run_trace(*model, {input->sequences, {}}, pool));
    CHECK((*model)->engine->weights_version() == 7);
    std::swap(files["config.json"], smaller);  // once with another model's
    const auto wrong = (*model)->engine->with_weights(nullptr);
    REQUIRE_FALSE(wrong);
    CHECK(wrong.error().message.find("cannot be read") != std::string::npos);
    REQUIRE_FALSE((*model)->engine->with_weights(nullptr));  // and asks no more for them
    std::swap(files["config.json"], smaller);
    version = 8;
    CHECK_FALSE(run_trace(*model, {input->sequences, {}}, pool));
    const auto other = (*model)->engine->with_weights(nullptr);
    REQUIRE(other);
    CHECK(*other != *first);
    REQUIRE((*model)->engine->with_weights(nullptr));
    const std::lock_guard lock(counting);
    CHECK(fetches == 3);
}
