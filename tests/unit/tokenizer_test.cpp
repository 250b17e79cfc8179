#include "base/utf8.h"
#include "helpers.h"
#include "tokenizer/byte_level.h"
#include "tokenizer/tokenizer.h"

using namespace headlight;

namespace {
/// A vocabulary of all bytes plus "ab" and "abb".
std::string tiny_tokenizer(const std::string& extra) {
    Json vocab;
    for (int b = 0; b < 256; ++b) vocab[printable_of_bytes(std::string(1, static_cast<char>(b)))] = b;
    vocab["ab"] = 256;
    vocab["abb"] = 257;
    return R"({"model":{"type":"BPE","vocab":)" + vocab.dump() + R"(,"merges":["a b","ab b"]},"pre_tokenizer":{"type":"ByteLevel","add_prefix_space":false})" + extra + "}";
}
}  // namespace

TEST_CASE("BPE by hand: the earliest merge of the list goes first, leftmost") {
    const auto t = Tokenizer::parse(tiny_tokenizer(""), "tiny");
    REQUIRE(t);
    CHECK((*t)->encode("abbab")->ids == std::vector<int>{257, 256});
    CHECK((*t)->encode("aabb")->ids == std::vector<int>{'a', 257});
    CHECK((*t)->encode("b é")->ids == std::vector<int>{'b', ' ', 0xC3, 0xA9});
    CHECK((*t)->encode("b é")->offsets == std::vector<Span>{{0, 1}, {1, 2}, {2, 3}, {2, 3}});
}

TEST_CASE("added tokens: longest first, with the blanks they swallow") {
    const auto t = Tokenizer::parse(tiny_tokenizer(R"(,"added_tokens":[{"id":300,"content":"<x>","special":true},{"id":301,"content":"<x>>","special":true},
        {"id":302,"content":"[M]","lstrip":true,"special":true},{"id":303,"content":"cat","single_word":true,"special":true}])"), "tiny");
    REQUIRE(t);
    CHECK((*t)->encode("a<x>>b<x>")->ids == std::vector<int>{'a', 301, 'b', 300});
    CHECK((*t)->encode("a  [M]")->ids == std::vector<int>{'a', 302});
    CHECK((*t)->encode("a  [M]")->offsets[1] == Span{1, 6});
    CHECK((*t)->encode("cat concat")->ids[0] == 303);
    CHECK((*t)->encode("cat concat")->size() == 8);
}

TEST_CASE("NFC: composed characters stand for their first code point") {
    const AlignedText n = normalize_nfc(AlignedText::of("e\xCC\x81x"));
    CHECK(n.bytes == "éx");
    CHECK(n.origin == std::vector<Span>{{0, 1}, {0, 1}, {2, 3}});
    CHECK(normalize_nfc(AlignedText::of("\xE1\x84\x92\xE1\x85\xA1\xE1\x86\xAB")).bytes == "한");  // Hangul jamo
    CHECK(normalize_nfc(AlignedText::of("a\xCC\xA3\xCC\x87")).bytes == "ạ\xCC\x87");             // marks in order
    CHECK(normalize_nfc(AlignedText::of("a\xCC\x87\xCC\xA3")).bytes == "ạ\xCC\x87");             // and out of order
}

TEST_CASE("ids, tokens and offsets equal Hugging Face's on every vector") {
    size_t texts = 0;
    for (const auto& folder : std::filesystem::directory_iterator(kTests / "reference/tokenizers")) {
        const auto t = Tokenizer::open(folder.path());
        REQUIRE_MESSAGE(t, folder.path().string());
        std::ifstream lines(folder.path() / "tokenization.jsonl");
        for (std::string line; std::getline(lines, line);) {
            const Json want = Json::parse(line);
            const auto got = (*t)->encode(want["text"].get<std::string>(), want["special"].get<bool>());
            REQUIRE(got);
            CAPTURE(folder.path().filename().string());
            CAPTURE(line.substr(0, 200));
            CHECK(got->ids == want["ids"].get<std::vector<int>>());
            CHECK(got->tokens == want["tokens"].get<std::vector<std::string>>());
            std::vector<Span> offsets;
            for (const Json& o : want["offsets"]) offsets.push_back({o[0].get<int>(), o[1].get<int>()});
            CHECK(got->offsets == offsets);
            ++texts;
        }
    }
    MESSAGE(texts << " texts equal");
    CHECK(texts > 5000);
}

TEST_CASE("vocab.json and merges.txt give the same ids as tokenizer.json") {
    const TemporaryFolder folder;
    const auto source = kTests / "reference/tokenizers/bbpe_gpt2";
    for (const char* name : {"vocab.json", "merges.txt"}) std::filesystem::copy(source / name, folder.path / name);
    const auto a = Tokenizer::open(source), b = Tokenizer::open(folder.path);
    REQUIRE(a);
    REQUIRE(b);
    std::ifstream lines(source / "tokenization.jsonl");
    for (std::string line; std::getline(lines, line);) {
        const std::string text = Json::parse(line)["text"];
        CHECK((*a)->encode(text)->ids == (*b)->encode(text)->ids);
    }
}

TEST_CASE("decoding gives the text back") {
    const auto t = Tokenizer::open(kTests / "reference/tokenizers/bbpe_gpt2");
    for (const char* text : {"The cat sat on the mat.", " two  blanks\n", "naïve 猫 😀", ""}) CHECK((*t)->decode((*t)->encode(text)->ids) == text);
}

TEST_CASE("a word of 100,000 letters is tokenized in time that grows with its length") {
    const auto t = Tokenizer::open(kTests / "reference/tokenizers/bbpe_gpt2");
    const auto e = (*t)->encode(std::string(100'000, 'a'));
    REQUIRE(e);
    CHECK((*t)->decode(e->ids).size() == 100'000);
}

TEST_CASE("invalid UTF-8 is read as U+FFFD") {
    const auto t = Tokenizer::open(kTests / "reference/tokenizers/bbpe_gpt2");
    CHECK((*t)->encode("a\xff")->ids == (*t)->encode("a\xEF\xBF\xBD")->ids);
}
