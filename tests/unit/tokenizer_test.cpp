// Tests tokenizers against expected tokens.
#include "tokenizer/tokenizer.h"

#include "base/utf8.h"
#include "helpers.h"
#include "tokenizer/byte_level.h"
#include "tokenizer/files.h"
#include "tokenizer/unicode_forms.h"

using namespace headlight;

namespace {
/// Makes a vocabulary of all bytes plus "ab" and "abb".
std::string tiny_tokenizer(const std::string& extra) {
    Json vocab;
    for (int b = 0; b < 256; ++b) vocab[printable_of_bytes(std::string(1, static_cast<char>(b)))] = b;
    vocab["ab"] = 256;
    vocab["abb"] = 257;
    return R"({"model":{"type":"BPE","vocab":)" + vocab.dump() +
           R"(,"merges":["a b","ab b"]},"pre_tokenizer":{"type":"ByteLevel","add_prefix_space":false})" +
           extra + "}";
}
AlignedText nfc(const AlignedText& text) { return normalize_form(text, UnicodeForm::nfc); }

std::shared_ptr<const Tokenizer> open_folder(const std::filesystem::path& folder) {
    const auto files = open_tokenizer_files(folder);
    REQUIRE_MESSAGE(files, folder.string());
    return files->source;
}

/// Checks a file of expected tokens, except texts that `skip` selects.
size_t check_vectors(const Tokenizer& t, const std::filesystem::path& file, bool offsets,
                     bool (*skip)(const std::string&) = nullptr) {
    std::ifstream lines(file);
    size_t texts = 0;
    for (std::string line; std::getline(lines, line);) {
        const Json want = Json::parse(line);
        const std::string text = want["text"];
        if (skip && skip(text)) continue;
        const auto got = t.encode(text, want["special"].get<bool>());
        REQUIRE(got);
        CAPTURE(file.string());
        CAPTURE(line.substr(0, 200));
        CHECK(got->ids == want["ids"].get<std::vector<int>>());
        CHECK(got->tokens == want["tokens"].get<std::vector<std::string>>());
        std::vector<Span> spans;
        if (offsets)
            for (const Json& o : want["offsets"]) spans.push_back({o[0].get<int>(), o[1].get<int>()});
        if (offsets) CHECK(got->offsets == spans);
        ++texts;
    }
    return texts;
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

TEST_CASE(
    "added tokens: longest first, with the spaces that they swallow, and the next ids whatever the "
    "file says") {
    const auto t = Tokenizer::parse(
        tiny_tokenizer(
            R"(,"added_tokens":[{"id":300,"content":"<x>","special":true},{"id":301,"content":"<x>>","special":true},
        {"id":302,"content":"[M]","lstrip":true,"special":true},{"id":303,"content":"cat","single_word":true,"special":true}])"),
        "tiny");
    REQUIRE(t);
    CHECK((*t)->encode("a<x>>b<x>")->ids == std::vector<int>{'a', 259, 'b', 258});
    CHECK((*t)->encode("a  [M]")->ids == std::vector<int>{'a', 260});
    CHECK((*t)->encode("a  [M]")->offsets[1] == Span{1, 6});
    CHECK((*t)->encode("cat concat")->ids[0] == 261);
    CHECK((*t)->encode("cat concat")->size() == 8);
}

TEST_CASE("NFC: composed characters align with their first code point") {
    const AlignedText n = nfc(AlignedText::of("e\xCC\x81x"));
    CHECK(n.bytes == "éx");
    CHECK(n.origin == std::vector<Span>{{0, 1}, {0, 1}, {2, 3}});
    CHECK(nfc(AlignedText::of("\xE1\x84\x92\xE1\x85\xA1\xE1\x86\xAB")).bytes == "한");  // Hangul jamo
    CHECK(nfc(AlignedText::of("a\xCC\xA3\xCC\x87")).bytes == "ạ\xCC\x87");              // marks in order
    CHECK(nfc(AlignedText::of("a\xCC\x87\xCC\xA3")).bytes == "ạ\xCC\x87");              // and out of order
}

TEST_CASE("ids, tokens and offsets equal Hugging Face's on every vector") {
    size_t texts = 0;
    for (const auto& folder : std::filesystem::directory_iterator(kTests / "reference/tokenizers"))
        if (std::filesystem::exists(folder.path() / "tokenization.jsonl"))
            texts += check_vectors(*open_folder(folder.path()), folder.path() / "tokenization.jsonl", true);
    MESSAGE(texts << " texts equal");
    CHECK(texts > 9000);
}

TEST_CASE("Marian: pieces of the .spm files, ids of vocab.json, for both sides") {
    const auto folder = kTests / "reference/tokenizers/marian";
    const auto files = open_tokenizer_files(folder);
    REQUIRE(files);
    size_t texts = check_vectors(*files->source, folder / "tokenization_source.jsonl", false) +
                   check_vectors(*files->target, folder / "tokenization_target.jsonl", false);
    MESSAGE(texts << " texts equal (Marian)");
    CHECK(texts > 800);
}

// Leaves out texts with special tokens, which transformers reads and sentencepiece does not.
TEST_CASE("SentencePiece model files alone give sentencepiece's ids") {
    size_t texts = 0;
    for (const auto& [name, file] : {std::pair{"spbpe_gemma", "tokenizer.model"},
                                     {"spbpe_llama2", "tokenizer.model"},
                                     {"unigram_albert", "spiece.model"},
                                     {"unigram_t5", "spiece.model"}}) {
        const TemporaryFolder folder;
        const auto source = kTests / "reference/tokenizers" / name;
        std::filesystem::copy(source / file, folder.path / file);
        const auto holds_special = [](const std::string& text) {
            return text.find('<') != std::string::npos || text.find('[') != std::string::npos;
        };
        texts +=
            check_vectors(*open_folder(folder.path), source / "tokenization_spm.jsonl", false, holds_special);
    }
    MESSAGE(texts << " texts equal (SentencePiece)");
    CHECK(texts > 1300);
}

TEST_CASE("pairs: special tokens between two texts, types, and offsets of each") {
    const auto bert = open_folder(kTests / "reference/tokenizers/wp_uncased");
    const auto e = bert->encode_pair("the", "the");
    REQUIRE(e);
    CHECK(e->tokens == std::vector<std::string>{"[CLS]", "the", "[SEP]", "the", "[SEP]"});
    CHECK(e->types == std::vector<int>{0, 0, 0, 1, 1});
    CHECK(e->offsets == std::vector<Span>{{}, {0, 3}, {}, {0, 3}, {}});
    CHECK(bert->encode_pair("the", "the", false)->types == std::vector<int>{0, 1});
    const auto roberta = open_folder(kTests / "reference/tokenizers/bbpe_roberta")->encode_pair("a", "a");
    CHECK(roberta->tokens == std::vector<std::string>{"<s>", "a", "</s>", "</s>", "a", "</s>"});
    CHECK(roberta->types == std::vector<int>(6, 0));
}

TEST_CASE("vocab.txt alone gives the ids of tokenizer.json") {
    for (const bool lower : {true, false}) {
        const TemporaryFolder folder;
        const auto source = kTests / "reference/tokenizers" / (lower ? "wp_uncased" : "wp_cased");
        std::filesystem::copy(source / "vocab.txt", folder.path / "vocab.txt");
        if (!lower) write_bytes(folder.path / "tokenizer_config.json", R"({"do_lower_case": false})");
        check_vectors(*open_folder(folder.path), source / "tokenization.jsonl", true);
    }
}

TEST_CASE("Unigram by hand: the most probable cut, and unknown characters as one run") {
    const auto t = Tokenizer::parse(
        R"({"model":{"type":"Unigram","unk_id":0,"vocab":[["<unk>",0],["a",-2],["b",-2],["ab",-3],["abb",-9]]}})",
        "tiny");
    REQUIRE(t);
    CHECK((*t)->encode("abb")->ids == std::vector<int>{3, 2});  // −5 beats −6 and −9
    CHECK((*t)->encode("axyb")->ids == std::vector<int>{1, 0, 2});
    CHECK((*t)->encode("axyb")->tokens[1] == "xy");
}

TEST_CASE("WordPiece by hand: longest first, or the whole word is unknown") {
    const auto t = Tokenizer::parse(
        R"({"model":{"type":"WordPiece","unk_token":"[UNK]","vocab":{"[UNK]":0,"un":1,"una":2,"##ble":3,"##a":4}},"pre_tokenizer":{"type":"BertPreTokenizer"}})",
        "tiny");
    REQUIRE(t);
    CHECK((*t)->encode("unable una unbled")->ids == std::vector<int>{2, 3, 2, 0});
    CHECK((*t)->decode({2, 3, 2}) == "unable una");
}

TEST_CASE("the tokenizers inside GGUF files") {
    for (const auto& [folder, file] :
         {std::pair{"llama_gguf", "llama-f32.gguf"}, {"gpt2_gguf", "gpt2-f32.gguf"}}) {
        const auto model = Model::open(kTests / "reference/models" / folder / file);
        REQUIRE(model);
        REQUIRE((*model)->tokenizer);
        const Json cases =
            Json::parse(read_bytes(kTests / "reference/models" / folder / "cases.json"))["cases"];
        for (const Json& c : cases)
            CHECK((*(*model)->tokenizer)->encode(c["text"].get<std::string>())->tokens ==
                  c["tokens"].get<std::vector<std::string>>());
    }
}

TEST_CASE("vocab.json and merges.txt give the same ids as tokenizer.json") {
    const TemporaryFolder folder;
    const auto source = kTests / "reference/tokenizers/bbpe_gpt2";
    for (const char* name : {"vocab.json", "merges.txt"})
        std::filesystem::copy(source / name, folder.path / name);
    const auto a = open_folder(source), b = open_folder(folder.path);
    std::ifstream lines(source / "tokenization.jsonl");
    for (std::string line; std::getline(lines, line);) {
        const std::string text = Json::parse(line)["text"];
        CHECK(a->encode(text)->ids == b->encode(text)->ids);
    }
}

TEST_CASE("decoding gives the text back") {
    const auto t = open_folder(kTests / "reference/tokenizers/bbpe_gpt2");
    for (const char* text : {"The cat sat on the mat.", " two  blanks\n", "naïve 猫 😀", ""})
        CHECK(t->decode(t->encode(text)->ids) == text);
}

TEST_CASE("a word of 100,000 letters is tokenized in time that grows with its length") {
    const auto t = open_folder(kTests / "reference/tokenizers/bbpe_gpt2");
    const auto e = t->encode(std::string(100'000, 'a'));
    REQUIRE(e);
    CHECK(t->decode(e->ids).size() == 100'000);
}

TEST_CASE("invalid UTF-8 is read as U+FFFD") {
    const auto t = open_folder(kTests / "reference/tokenizers/bbpe_gpt2");
    CHECK(t->encode("a\xff")->ids == t->encode("a\xEF\xBF\xBD")->ids);
}
