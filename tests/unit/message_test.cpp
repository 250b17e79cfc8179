// Tests messages: the file, its own words, the error and the remedy.
#include <cmath>

#include "base/check.h"
#include "base/memory.h"
#include "gguf_bytes.h"
#include "helpers.h"
#include "model/interventions/mask.h"
#include "tokenizer/gguf_tokenizer.h"
#include "tokenizer/tokenizer.h"

using namespace headlight;

namespace {

template <class T>
std::string message_of(const Result<T>& result) {
    return result ? "" : result.error().message;
}

std::string config_problem(const std::string& key, const auto& value) {
    GgufBytes file = decoder_header("phi2");
    file.set(key, value);
    return message_of(config_of(file));
}

}  // namespace

TEST_CASE("errors about a GGUF file use the file's own keys") {
    for (const char* key : {"phi2.attention.head_count", "phi2.embedding_length", "phi2.context_length",
                            "phi2.attention.layer_norm_epsilon", "phi2.rope.freq_base",
                            "phi2.rope.dimension_count", "tokenizer.ggml.eos_token_id"}) {
        const std::string message = config_problem(key, std::string("many"));
        CAPTURE(message);
        CHECK(says(message, key));
        for (const char* other :
             {"num_attention_heads", "hidden_size", "max_position", "eps\"", "rope_theta"})
            CHECK(!says(message, other));
    }
    CHECK(says(config_problem("phi2.attention.head_count_kv", 7u), "phi2.attention.head_count_kv"));
    GgufBytes words;
    words.set("tokenizer.ggml.model", std::string("bert"));
    words.set("tokenizer.ggml.tokens", std::vector<std::string>{"[UNK]", "cat"});
    words.set("tokenizer.ggml.cls_token_id", 9u);
    const std::string bytes = words.bytes();
    CHECK(says(message_of(gguf_tokenizer(*parsed(bytes), "x.gguf")), "tokenizer.ggml.cls_token_id"));
}

TEST_CASE("NaN is written by its name, not as null") {
    for (const float value : {std::nanf(""), INFINITY}) {
        const std::string message = config_problem("phi2.attention.layer_norm_epsilon", value);
        CAPTURE(message);
        CHECK(says(message, std::isnan(value) ? "not NaN" : "not infinity"));
        CHECK(!says(message, "null"));
    }
    CHECK(says(message_of(parse_json("{\"a\": 1,\n\"b\": NaN}", "x")), "NaN on line 2"));
    CHECK(says(message_of(parse_json("{\"b\": -Infinity}", "x")), "Infinity on line 1"));
    CHECK(says(message_of(parse_json("{\"b\": 1e999}", "x")), "beyond float64"));
}

TEST_CASE("JSON: truncated and malformed texts have different errors") {
    for (const char* cut : {"{\"a\": [1, 2", "{\"a", "[tru"})
        CHECK(says(message_of(parse_json(cut, "x")), "x is cut off"));
    CHECK(says(message_of(parse_json("{\"a\": 1,\n}", "x")), "x is not valid JSON (line 2)"));
}

TEST_CASE("errors about a tokenizer's limits name its file") {
    const std::string loop = R"({"model": {"type": "WordPiece", "unk_token": "?", "vocab": {"?": 0}},
        "pre_tokenizer": {"type": "Split", "pattern": {"Regex": "(a|aa)+$"}, "behavior": "Isolated"}})";
    const auto tokenizer = Tokenizer::parse(loop, "some/tokenizer.json");
    REQUIRE(tokenizer);
    const std::string text = std::string(60, 'a') + "!";
    for (const auto& result : {(*tokenizer)->encode(text), (*tokenizer)->encode_pair("a", text)})
        CHECK(says(message_of(result), "some/tokenizer.json: a pattern needs too many steps"));
}

TEST_CASE("a mask without its numbers says how many it takes, with an example") {
    CHECK(says(message_of(Mask::parse("window")), "one number"));
    CHECK(says(message_of(Mask::parse("window")), "\"window:4\""));
    CHECK(says(message_of(Mask::parse("global:3")), "\"global:1:4\""));
    CHECK(says(message_of(Mask::parse("causal:3")), "no number"));
}

#if !defined(HEADLIGHT_SANITIZED)
TEST_CASE("an exception becomes a sentence even without memory") {
    const auto exhausted_sentence = [](auto raise) {
        try {
            raise();
        } catch (...) {
            void* volatile taken = nullptr;
            for (size_t size = size_t{1} << 20; size >= 16; size = size > 1024 ? size / 2 : size - 16) do
                    taken = std::malloc(size);
                while (taken);
            return caught_error().message == "Out of memory.";
        }
        return false;
    };
    CHECK(runs_within(256 << 20, [&] {
        return exhausted_sentence([] { throw Failure(Error{std::string(64 << 20, 'x')}); });
    }));
    CHECK(runs_within(256 << 20, [&] { return exhausted_sentence([] { throw std::bad_alloc(); }); }));
}
#endif
