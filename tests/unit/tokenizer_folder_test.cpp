// Tests the files of a tokenizer's folder.
#include "gguf_bytes.h"
#include "helpers.h"
#include "tokenizer/files.h"
#include "tokenizer/gguf_splits.h"
#include "tokenizer/gguf_tokenizer.h"

using namespace headlight;

namespace {

using Ids = std::vector<int>;

template <class T>
std::string message_of_tokenizer(const Result<T>& result) {
    return result ? "" : result.error().message;
}
/// Makes a folder with a small byte-level vocabulary and other files.
struct WordsFolder {
    TemporaryFolder folder;
    explicit WordsFolder(const Json& config) {
        const auto source = kTests / "reference/tokenizers/bbpe_gpt2";
        for (const char* name : {"vocab.json", "merges.txt"})
            std::filesystem::copy(source / name, folder.path / name);
        write("tokenizer_config.json", config);
    }
    void write(const char* name, const Json& json) const { write_bytes(folder.path / name, json.dump()); }
    std::shared_ptr<const Tokenizer> open() const {
        const auto files = open_tokenizer_files(folder.path);
        REQUIRE(files);
        return files->source;
    }
    std::string refusal() const { return message_of_tokenizer(open_tokenizer_files(folder.path)); }
};

std::vector<std::string> tokens_of(const Tokenizer& t, const std::string& text) {
    const auto encoding = t.encode(text);
    REQUIRE(encoding);
    return encoding->tokens;
}
using Tokens = std::vector<std::string>;

}  // namespace

TEST_CASE(
    "tokens of added_tokens.json, added_tokens_decoder and special_tokens_map.json are one token each") {
    const WordsFolder listed(Json{{"tokenizer_class", "GPT2Tokenizer"}});
    const int size = listed.open()->size();
    listed.write("added_tokens.json", {{"<|user|>", size}});
    CHECK(tokens_of(*listed.open(), "a<|user|>a") == Tokens{"a", "<|user|>", "a"});
    listed.write("special_tokens_map.json", {{"bos_token", "<|begin|>"}});
    CHECK(listed.open()->id_of("<|begin|>") == size + 1);
    const Json token{{"content", "<|x|>"}, {"lstrip", true}, {"special", true}};
    listed.write("tokenizer_config.json",
                 {{"tokenizer_class", "GPT2Tokenizer"}, {"added_tokens_decoder", {{"9000", token}}}});
    CHECK(listed.open()->encode("a  <|x|>")->ids == Ids{listed.open()->id_of("a"), size});
    CHECK(listed.open()->id_of("<|user|>") == -1);  // the older files are not read beside it
}

TEST_CASE("a class has its own pattern, which the configuration overrides") {
    const WordsFolder qwen(Json{{"tokenizer_class", "Qwen2Tokenizer"}});
    CHECK(tokens_of(*qwen.open(), "a(x")[1] == "(");
    CHECK(tokens_of(*qwen.open(), "e\u0301") == tokens_of(*qwen.open(), "\u00e9"));
    const WordsFolder prefix(Json{{"tokenizer_class", "GPT2Tokenizer"}, {"add_prefix_space", true}});
    CHECK(tokens_of(*prefix.open(), "a") == Tokens{"\u0120a"});
    const WordsFolder flags(Json{{"tokenizer_class", "GPT2Tokenizer"}, {"add_bos_token", true}});
    CHECK(tokens_of(*flags.open(), "a") == Tokens{"<|endoftext|>", "a"});
}

TEST_CASE("a class that Headlight does not implement is refused by name") {
    const WordsFolder other(Json{{"tokenizer_class", "XLMTokenizer"}});
    CHECK(says(other.refusal(), "XLMTokenizer"));
    const WordsFolder japanese(Json{{"tokenizer_class", "BertJapaneseTokenizer"}});
    CHECK(says(japanese.refusal(), "MeCab"));
    const WordsFolder missing(Json{{"tokenizer_class", "LlamaTokenizer"}});
    CHECK(says(missing.refusal(), "tokenizer.model"));
    const WordsFolder described(Json{{"tokenizer_class", "PreTrainedTokenizerFast"}});
    CHECK(says(described.refusal(), "tokenizer.json"));
}

TEST_CASE("a MarianTokenizer with one of its two vocabularies is refused, and read as no other") {
    const WordsFolder half(Json{{"tokenizer_class", "MarianTokenizer"}});
    std::filesystem::copy(kTests / "reference/models/marian/source.spm", half.folder.path / "source.spm");
    CHECK(says(half.refusal(), "target.spm"));
}

TEST_CASE("an extra piece of T5 comes after the vocabulary, the last one first") {
    const TemporaryFolder folder;
    std::filesystem::copy(kTests / "reference/tokenizers/unigram_t5/spiece.model",
                          folder.path / "spiece.model");
    write_bytes(folder.path / "config.json", R"({"model_type":"t5"})");
    const auto t5 = open_tokenizer_files(folder.path);
    REQUIRE(t5);
    CHECK(t5->source->id_of("<extra_id_0>") == t5->source->size() - 1);
    CHECK(t5->source->id_of("<extra_id_99>") == t5->source->size() - 100);
    CHECK(t5->source->encode("<extra_id_0>")->tokens == Tokens{"<extra_id_0>", "</s>"});
}

TEST_CASE("word lists: other words are unknown, and without an unknown token the text is refused") {
    const auto tokenizer = [](const char* unknown) {
        return Tokenizer::parse(
            R"({"model":{"type":"WordLevel","unk_token":")" + std::string(unknown) +
                R"(","vocab":{"[UNK]":0,"cat":1}},"pre_tokenizer":{"type":"Whitespace"}})",
            "tiny");
    };
    CHECK((*tokenizer("[UNK]"))->encode("cat dog")->ids == Ids{1, 0});
    CHECK(says(message_of_tokenizer((*tokenizer("none"))->encode("cat dog")), "dog"));
}

namespace {
/// Tokenizes a text by a GGUF file's tokenizer of bytes and a few words.
Tokens gguf_tokens(const std::string& pre, const std::string& text, void (*more)(GgufBytes&)) {
    GgufBytes file;
    file.set("tokenizer.ggml.model", std::string("gpt2"));
    if (!pre.empty()) file.set("tokenizer.ggml.pre", pre);
    file.set("tokenizer.ggml.tokens", Tokens{"a", "b", "ab", "(", "1", "11", "<s>"});
    file.set("tokenizer.ggml.merges", Tokens{"a b", "1 1"});
    file.set("tokenizer.ggml.bos_token_id", 6u);
    more(file);
    const std::string bytes = file.bytes();
    const auto opened = gguf_tokenizer(*parsed(bytes), "x.gguf");
    REQUIRE(opened);
    return tokens_of(**opened, text);
}
void nothing_more(GgufBytes&) {}
}  // namespace

TEST_CASE("GGUF: the pre-tokenizer's name adds a begin token unless the file says otherwise") {
    for (const char* pre : {"llama-bpe", "llama3", "llama-v3", "falcon3", "lfm2", "pixtral", "tekken"}) {
        CHECK(gguf_tokens(pre, "ab", nothing_more) == Tokens{"<s>", "ab"});
        CHECK(gguf_tokens(pre, "ab", [](GgufBytes& f) { f.set("tokenizer.ggml.add_bos_token", false); }) ==
              Tokens{"ab"});
    }
    for (const char* pre :
         {"", "default", "gpt-2", "qwen2", "deepseek-r1-qwen", "megrez", "smaug-bpe", "smollm"})
        CHECK(gguf_tokens(pre, "ab", nothing_more) == Tokens{"ab"});
}

TEST_CASE("GGUF: every pattern name has a regular expression that compiles") {
    for (const char* pre :
         {"llama-bpe", "gpt-4o", "tekken", "deepseek-v3", "deepseek-coder", "bailingmoe", "jais-2", "viking",
          "tiny_aya", "youtu", "exaone-moe", "minicpm5", "laguna", "qwen35", "seed-coder", "falcon"})
        CHECK(gguf_tokens(pre, "ab(", [](GgufBytes& f) { f.set("tokenizer.ggml.add_bos_token", false); }) ==
              Tokens{"ab", "("});
    CHECK(gguf_tokens("smollm", "11", nothing_more) == Tokens{"1", "1"});
    CHECK(gguf_tokens("gpt-2", "11", nothing_more) == Tokens{"11"});
    CHECK(!split_named("kimi-k2"));
    CHECK(!split_named("gpt-2 phi-2"));
}

TEST_CASE("GGUF: Gemma 4 merges characters, writes blanks as a sign, and falls back to bytes") {
    GgufBytes file;
    file.set("tokenizer.ggml.model", std::string("gemma4"));
    file.set("tokenizer.ggml.tokens", Tokens{"<pad>", "<eos>", "<bos>", "<unk>", "a", "b", "ab", "\u2581",
                                             "\u2581ab", "<0xC3>", "<0xA9>"});
    file.set("tokenizer.ggml.token_type", std::vector<uint32_t>{3, 3, 3, 2, 1, 1, 1, 1, 1, 6, 6});
    file.set("tokenizer.ggml.merges", Tokens{"a b", "\u2581 ab"});
    const std::string bytes = file.bytes();
    const auto opened = gguf_tokenizer(*parsed(bytes), "x.gguf");
    REQUIRE(opened);
    CHECK((*opened)->encode("ab ab \u00e9")->ids == Ids{2, 6, 8, 7, 9, 10});
}

TEST_CASE("GGUF: WordPiece lower-cases unless the file says otherwise") {
    const auto ids = [](bool lower) {
        GgufBytes file;
        file.set("tokenizer.ggml.model", std::string("bert"));
        file.set("tokenizer.ggml.tokens", Tokens{"[UNK]", "\u2581cat", "\u2581Cat"});
        if (!lower) file.set("tokenizer.ggml.normalizer.lowercase", false);
        const std::string bytes = file.bytes();
        return (*gguf_tokenizer(*parsed(bytes), "x.gguf"))->encode("Cat")->ids;
    };
    CHECK(ids(true) == Ids{1});
    CHECK(ids(false) == Ids{2});
}
