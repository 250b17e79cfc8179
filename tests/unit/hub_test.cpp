// Tests the Hugging Face hub without a network: hashes, names, listings, and which files are needed.
#include "hub/hub.h"

#include <set>

#include "base/digest.h"
#include "helpers.h"
#include "hub/files.h"
#include "io/http.h"

using namespace headlight;

namespace {

std::string digest(DigestKind kind, std::string_view text, size_t piece = 1000) {
    Digest out(kind);
    for (size_t i = 0; i < text.size(); i += piece) out.add(text.substr(i, piece));
    return out.finish();
}

/// Lists these files, all of one byte.
HubListing listing_of(const std::vector<std::string>& names) {
    HubListing out{std::string(40, 'a'), {}};
    for (const std::string& name : names) out.files.push_back({name, 1, std::string(40, 'b')});
    return out;
}

std::set<std::string> chosen(const std::vector<std::string>& names, const std::string& gguf = "") {
    const auto files = choose_hub_files(listing_of(names), gguf, "owner/name");
    REQUIRE_MESSAGE(files, (files ? "" : files.error().message));
    std::set<std::string> out;
    for (const HubFile& file : *files) out.insert(file.name);
    return out;
}

std::string refused(const std::vector<std::string>& names, const std::string& gguf = "") {
    const auto files = choose_hub_files(listing_of(names), gguf, "owner/name");
    REQUIRE(!files);
    return files.error().message;
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("digests are those of FIPS 180-4's examples, in pieces of any size") {
    const std::string two = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                      million(1'000'000, 'a');
    CHECK(digest(DigestKind::sha1, "abc") == "a9993e364706816aba3e25717850c26c9cd0d89d");
    CHECK(digest(DigestKind::sha1, two) == "84983e441c3bd26ebaae4aa1f95129e5e54670f1");
    CHECK(digest(DigestKind::sha256, "") ==
          "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    CHECK(digest(DigestKind::sha256, "abc") ==
          "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    CHECK(digest(DigestKind::sha256, two) ==
          "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    for (const size_t piece : {1, 7, 63, 64, 65, 4096}) {
        CHECK(digest(DigestKind::sha1, million, piece) == "34aa973cd4c4daa4f61eeb2bdbad27316534016f");
        CHECK(digest(DigestKind::sha256, million, piece) ==
              "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    }
}

TEST_CASE("a hash of the hub is 40 small hexadecimal digits, or 64") {
    CHECK(is_hub_hash(std::string(40, 'a')));
    CHECK(!is_hub_hash(std::string(40, 'A')));
    CHECK(!is_hub_hash("../" + std::string(37, 'a')));
}

TEST_CASE("names of models are those of their pages") {
    const auto read = [](const std::string& text) {
        const auto name = parse_hub_name(text);
        return name ? name->repository + "@" + name->revision : "refused";
    };
    CHECK(read("openai-community/gpt2") == "openai-community/gpt2@main");
    CHECK(read("  gpt2\n") == "gpt2@main");
    CHECK(read("Qwen/Qwen3-0.6B@v1.0") == "Qwen/Qwen3-0.6B@v1.0");
    CHECK(read("https://huggingface.co/EleutherAI/pythia-70m") == "EleutherAI/pythia-70m@main");
    CHECK(read("https://huggingface.co/EleutherAI/pythia-70m/tree/step1000?x") ==
          "EleutherAI/pythia-70m@step1000");
    for (const char* bad : {"", "/", "a/", "/b", "a/b/c", "../b", "a b/c", "a/b..c", "models--a--b", ".a/b",
                            "a/b@", "a/b@../c"})
        CHECK_MESSAGE(read(bad) == "refused", bad);
    CHECK(parse_hub_name("a/b@main", "refs/pr/1")->revision == "refs/pr/1");
    CHECK(hub_folder("/cache", "openai-community/gpt2") == "/cache/models--openai-community--gpt2");
    CHECK(hub_repository("models--openai-community--gpt2") == "openai-community/gpt2");
    for (const HubSuggestion& s : hub_suggestions()) CHECK(parse_hub_name(s.repository));
    CHECK(hub_suggestions().size() == 6);
}

TEST_CASE("two addresses have one server where scheme, host and port are the same") {
    CHECK(http_origin("https://huggingface.co/a") == "https://huggingface.co:443");
    CHECK(http_origin("HTTPS://HuggingFace.co:443/a?b") == "https://huggingface.co:443");
    CHECK(http_origin("http://huggingface.co") != http_origin("https://huggingface.co"));
    CHECK(http_origin("http://127.0.0.1:80/x") != http_origin("http://127.0.0.1:81/x"));
    CHECK(http_origin("https://huggingface.co@evil.example/x") == "https://evil.example:443");
    CHECK(http_origin("http://[::1]:8080/x") == "http://[::1]:8080");
    CHECK(http_origin("http://[::1]/x") == "http://[::1]:80");
    for (const char* bad : {"", "ftp://a/b", "file:///etc/passwd", "huggingface.co", "://a", "http://"})
        CHECK(http_origin(bad).empty());
    CHECK(url_part("a b/ü") == "a%20b%2F%C3%BC");
}

TEST_CASE("the files that a model needs, and no others") {
    const std::set<std::string> gpt2{"config.json", "tokenizer.json", "tokenizer_config.json",
                                     "model.safetensors"};
    CHECK(chosen({"README.md", "config.json", "flax_model.msgpack", "merges.txt", "model.safetensors",
                  "onnx/config.json", "onnx/model.onnx", "pytorch_model.bin", "tokenizer.json",
                  "tokenizer_config.json", "vocab.json"}) == gpt2);
    CHECK(chosen({"config.json", "vocab.json", "merges.txt", "vocab.txt", "model.safetensors"}) ==
          std::set<std::string>{"config.json", "vocab.json", "merges.txt", "model.safetensors"});
    CHECK(chosen({"config.json", "source.spm", "target.spm", "vocab.json", "model.safetensors",
                  "tf_model.h5"}) == std::set<std::string>{"config.json", "source.spm", "target.spm",
                                                           "vocab.json", "model.safetensors"});
    CHECK(chosen({"config.json", "spiece.model", "model.safetensors.index.json", "model-1.safetensors"}) ==
          std::set<std::string>{"config.json", "spiece.model", "model.safetensors.index.json"});
    CHECK(chosen({"modules.json", "0_Transformer/config.json", "0_Transformer/model.safetensors",
                  "0_Transformer/vocab.txt", "1_Pooling/config.json"}) ==
          std::set<std::string>{"modules.json", "0_Transformer/config.json",
                                "0_Transformer/model.safetensors", "0_Transformer/vocab.txt"});
    CHECK(has(refused({"config.json", "pytorch_model.bin"}), "pickle"));
    CHECK(has(refused({"config.json"}), "no model.safetensors"));
    CHECK(has(refused({}), "no model.safetensors"));
}

TEST_CASE("weights as a pickle alone, and the same pickles elsewhere") {
    const auto pickled = [](const std::vector<std::string>& names) {
        return is_only_pickled(listing_of(names));
    };
    CHECK(pickled({"config.json", "pytorch_model.bin"}));
    CHECK(pickled({"config.json", "pytorch_model.bin.index.json", "pytorch_model-1.bin"}));
    CHECK(!pickled({"config.json", "pytorch_model.bin", "model.safetensors"}));
    CHECK(!pickled({"config.json", "pytorch_model.bin", "model.safetensors.index.json"}));
    CHECK(!pickled({"config.json", "pytorch_model.bin", "m.gguf"}));
    CHECK(!pickled({"config.json"}));
    const HubListing own = listing_of({"config.json", "pytorch_model-1.bin", "pytorch_model-2.bin"});
    HubListing other = own;
    CHECK(has_same_pickles(own, other));
    other.files[0].hash = std::string(40, 'c');
    CHECK(has_same_pickles(own, other));
    other.files[2].hash = "";
    CHECK(has_same_pickles(own, other));
    other.files[2].hash = std::string(40, 'c');
    CHECK(!has_same_pickles(own, other));
    other.files.pop_back();
    CHECK(!has_same_pickles(own, other));
}

TEST_CASE("pull requests of the hub's converter are found, and others ignored") {
    const auto row = [](int number, const std::string& rest) {
        return R"({"num": )" + std::to_string(number) + R"(, "isPullRequest": true, )" + rest + "}";
    };
    const std::string title = std::string(R"("title": ")") + kHubConversion + R"(", )",
                      bot = R"("author": {"name": "SFconvertbot"}, )";
    const std::string page = R"({"count": 9, "start": 3, "discussions": [)" +
                             row(8, title + bot + R"("status": "closed")") + "," +
                             row(7, title + R"("author": {"name": "x"}, "status": "open")") + "," +
                             row(6, title + R"("author": null, "status": "open")") + "," +
                             row(5, title + bot + R"("status": "open")") + "," +
                             row(4, R"("title": "Other", )" + bot + R"("status": "open")") + "," +
                             row(3, title + bot + R"("status": "merged")") + "]}";
    HubConversions found;
    const auto more = add_hub_conversions(page, "owner/name", found);
    REQUIRE(more);
    CHECK(!*more);
    CHECK(found.all() == std::vector{5, 8});
    CHECK(*add_hub_conversions(R"({"count": 9, "start": 0, "discussions": [{"num": 1}]})", "a/b", found));
    CHECK(!*add_hub_conversions(R"({"count": 9, "start": 0, "discussions": []})", "a/b", found));
    CHECK(found.all().size() == 2);
    for (const char* bad : {"", "[]", R"({"discussions": {}})", R"({"discussions": [7]})",
                            R"({"discussions": [{"num": "../1"}]})", R"({"discussions": [{"num": -1}]})"})
        CHECK_MESSAGE(!add_hub_conversions(bad, "owner/name", found), bad);
}

TEST_CASE("a GGUF file is chosen by a part of its name") {
    const std::vector<std::string> files{"README.md", "m-Q4_K_M.gguf", "m-Q4_K_S.gguf", "m-Q8_0.gguf"};
    CHECK(chosen(files, "q8") == std::set<std::string>{"m-Q8_0.gguf"});
    CHECK(chosen(files, "m-Q4_K_S.gguf") == std::set<std::string>{"m-Q4_K_S.gguf"});
    CHECK(chosen({"only.gguf"}) == std::set<std::string>{"only.gguf"});
    CHECK(has(refused(files), "several GGUF files"));
    CHECK(has(refused(files, "Q4"), "m-Q4_K_S.gguf"));
    CHECK(!has(refused(files, "Q4"), "m-Q8_0.gguf"));
    CHECK(has(refused(files, "F16"), "F16"));
    CHECK(has(refused({"config.json", "model.safetensors"}, "Q4"), "no GGUF file"));
}

TEST_CASE("all parts of a GGUF file are downloaded, given a part of their common name") {
    const std::vector<std::string> parts{"Q8/m-00001-of-00002.gguf", "Q8/m-00002-of-00002.gguf"};
    const std::set<std::string> all(parts.begin(), parts.end());
    for (const char* name : {"", "q8", "Q8/m-00002-of-00002.gguf"}) CHECK(chosen(parts, name) == all);
    CHECK(
        has(refused({"m-00002-of-00002.gguf"}, "m-00002-of-00002.gguf"), "lacks \"m-00001-of-00002.gguf\""));
}

TEST_CASE("the shards are those of the index") {
    const HubListing listing =
        listing_of({"x/model-1.safetensors", "x/model-2.safetensors", "x/other.safetensors"});
    const std::string index = "x/model.safetensors.index.json";
    const auto found = choose_hub_shards(
        listing, index, R"({"weight_map": {"a": "model-1.safetensors", "b": "model-2.safetensors"}})");
    REQUIRE(found);
    CHECK(found->size() == 2);
    CHECK((*found)[1].name == "x/model-2.safetensors");
    CHECK(!choose_hub_shards(listing, index, R"({"weight_map": {"a": "model-3.safetensors"}})"));
    CHECK(!choose_hub_shards(listing, index, R"({"weight_map": {"a": "../model-1.safetensors"}})"));
}

TEST_CASE("a hub listing is parsed, and invalid entries are refused") {
    const std::string commit(40, 'c'), sha256(64, 'd'), blob(40, 'e');
    const auto read = [&](const std::string& file) {
        return parse_hub_listing("{\"sha\": \"" + commit + "\", \"siblings\": [" + file + "]}", "owner/name");
    };
    const auto large = read(R"({"rfilename": "m.safetensors", "size": 7, "blobId": ")" + blob +
                            R"(", "lfs": {"size": 9, "sha256": ")" + sha256 + "\"}}");
    REQUIRE(large);
    CHECK(large->files[0] == HubFile{"m.safetensors", 9, sha256});
    const auto small = read(R"({"rfilename": "a/config.json", "size": 7, "blobId": ")" + blob + "\"}");
    REQUIRE(small);
    CHECK(*small->find("a/config.json") == HubFile{"a/config.json", 7, blob});
    CHECK(read(R"({"rfilename": "config.json"})")->files[0] == HubFile{"config.json", -1, ""});
    for (const char* name : {"../a", "/a", "a/../b", "a//b", "a/", "./a", "a\\\\b", "a\\nb", ""})
        CHECK_MESSAGE(!read("{\"rfilename\": \"" + std::string(name) + "\"}"), name);
    for (const char* rest : {R"("size": -1)", R"("size": 1e30)", R"("size": 4611686018427387904)",
                             R"("blobId": "xyz")", R"("lfs": [])"})
        CHECK_MESSAGE(!read("{\"rfilename\": \"a\", " + std::string(rest) + "}"), rest);
    CHECK(!parse_hub_listing(R"({"siblings": []})", "owner/name"));
    CHECK(!parse_hub_listing(R"({"sha": "main", "siblings": []})", "owner/name"));
}
