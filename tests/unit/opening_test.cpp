// What is read of a model's files, and what is refused.
#include "base/cast.h"
#include "helpers.h"
#include "io/json.h"
#include "io/safetensors.h"
#include "model/input.h"
#include "model/parameters.h"
#include "trace/trace_file.h"

using namespace headlight;

TEST_CASE("the two spellings of a configuration mean the same, and both count the file's parameters") {
    for (const auto& entry : std::filesystem::directory_iterator(kTests / "reference/models")) {
        if (!std::filesystem::exists(entry.path() / "config_v4.json")) continue;
        CAPTURE(entry.path().string());
        const auto now = parse_config(*read_json(entry.path() / "config.json"), "now"),
                   before = parse_config(*read_json(entry.path() / "config_v4.json"), "before");
        REQUIRE(now);
        REQUIRE(before);
        CHECK(*now == *before);
        const auto model = Model::open(entry.path());
        REQUIRE(model);
        CHECK(parameter_count(*now) == (*model)->store.parameters());
    }
}

TEST_CASE("parameter table of GPT-2 small: 124,439,808") {
    const auto config = parse_config(Json{{"model_type", "gpt2"}}, "x");
    REQUIRE(config);
    CHECK(parameter_count(*config) == 124'439'808);
    CHECK(short_count(124'439'808) == "124 M");
    const auto model = reference_model("gpt2");
    CHECK(parameter_count(model->config) == model->store.parameters());
}

TEST_CASE("malformed files: one sentence each, nothing opened") {
    const Json manifest = Json::parse(read_bytes(kTests / "reference/malformed/manifest.json"));
    const auto vit = reference_model("vit");
    for (const Json& c : manifest["cases"]) {
        CAPTURE(c.dump());
        const auto path = kTests / "reference/malformed" / c["path"].get<std::string>();
        std::string message;
        if (c["kind"] == "png") {
            if (const auto image = open_image(path); !image) message = image.error().message;
        } else if (const auto model = Model::open(path); !model) {
            message = model.error().message;
        } else if (c["kind"] == "tokenizer") {
            if (const auto input = encode_input(**model, {"hello world", "", "", {}, {}, {}, nullptr});
                !input)
                message = input.error().message;
        }
        const std::string expect = c["expect"];
        if (expect == "error") CHECK(!message.empty());
        if (expect == "ok") CHECK(message.empty());
        if (message.empty()) continue;
        CHECK(message.size() > 20);
        CHECK(message.find('\n') == std::string::npos);
        CHECK(message.back() == '.');
    }
}

TEST_CASE("names of tensors are matched by globs") {
    CHECK(glob_match("*", ""));
    CHECK(glob_match("blocks.*.hook_q", "blocks.10.attn.hook_q"));
    CHECK(!glob_match("blocks.?.attn", "blocks.10.attn"));
    CHECK(glob_match("*a*b*c", "xaybzc"));
    CHECK(!glob_match("*a*b*c", "xaybz"));
}
