// Tests GGUF, storage formats, pictures, and the models of other programs.
#include <cmath>
#include <cstdlib>

#include "analysis/patching/patch_map.h"
#include "helpers.h"
#include "hub/library.h"
#include "io/gguf.h"
#include "io/image.h"
#include "io/json.h"
#include "io/safetensors.h"
#include "model/model.h"

using namespace headlight;
namespace fs = std::filesystem;

namespace {

/// Sets an environment variable until the end of the test.
class Variable {
public:
    Variable(const char* name, const std::string& value) : name_(name) {
        if (const char* old = std::getenv(name)) old_ = old;
        setenv(name, value.c_str(), 1);
    }
    ~Variable() { old_ ? setenv(name_, old_->c_str(), 1) : unsetenv(name_); }

private:
    const char* name_;
    std::optional<std::string> old_;
};

}  // namespace

TEST_CASE("every block format of GGUF decodes to the reference's numbers") {
    const auto file = open_gguf(kTests / "reference/gguf_blocks/blocks.gguf");
    REQUIRE(file);
    const auto expected = open_safetensors(kTests / "reference/gguf_blocks/expected.safetensors");
    REQUIRE(expected);
    size_t formats = 0;
    for (const auto& row : expected->tensors) {
        const std::string& name = row.first;
        const StoredTensor& want = row.second;
        CAPTURE(name);
        const auto it = file->tensors.find(name);
        REQUIRE(it != file->tensors.end());
        Vector a(element_count(want.shape)), b(a.size());
        want.dtype->decode(want.bytes.data(), a.size(), a.data());
        it->second.dtype->decode(it->second.bytes.data(), b.size(), b.data());
        CHECK((a - b).cwiseAbs().maxCoeff() <= 1e-6f * a.cwiseAbs().maxCoeff());
        ++formats;
    }
    CHECK(formats == 15);
}

TEST_CASE("every type of GGUF metadata is read") {
    const auto file = open_gguf(kTests / "reference/gguf_blocks/blocks.gguf");
    REQUIRE(file);
    const auto is = [&](const char* key, const Json& value) {
        return file->value(std::string("test.") + key) == value;
    };
    CHECK(is("u8", 200));
    CHECK(is("i8", -100));
    CHECK(is("u16", 60000));
    CHECK(is("i16", -30000));
    CHECK(is("u32", 4000000000u));
    CHECK(is("i32", -2000000000));
    CHECK(is("u64", uint64_t{9223372036854775813u}));
    CHECK(is("i64", int64_t{-4611686018427387904}));
    CHECK(is("f32", 1.5));
    CHECK(is("f64", -2.25));
    CHECK(is("bool", true));
    CHECK(is("string", "grüße 日本"));
    CHECK(is("array_string", {"a", "", "ß"}));
    CHECK(is("array_int", {1, -2, 3}));
    CHECK(file->value("test.nothing").is_null());
}

TEST_CASE("dense product: weights in every format equal their decoded values") {
    ThreadPool pool(2);
    const auto file = open_gguf(kTests / "reference/gguf_blocks/blocks.gguf");
    REQUIRE(file);
    for (const auto& row : file->tensors) {
        const StoredTensor& t = row.second;
        CAPTURE(row.first);
        const int64_t out = t.shape[0], in = t.shape[1];
        const Linear stored{t.bytes.data(),       nullptr, in, out, t.dtype->size(in),
                            WeightLayout::out_in, t.dtype};
        Matrix plain(out, in);
        for (int64_t o = 0; o < out; ++o) stored.read(o, 0, in, plain.row(o).data());
        for (const int n : {1, 5, 40}) {
            const Matrix x = random_matrix(n, in, 4), want = x * plain.transpose();
            Matrix y = Matrix::Constant(n, out, NAN);
            apply_linear(pool, x, stored, y);
            CHECK((y - want).cwiseAbs().maxCoeff() < 1e-4f * std::max(1.0f, want.cwiseAbs().maxCoeff()));
        }
    }
}

TEST_CASE("dense product: rows in groups, as of interleaved q, k and v") {
    ThreadPool pool(2);
    const int in = 40, heads = 5, d = 7, inner = heads * d;
    const Matrix mixed = random_matrix(3 * inner, in, 1);  // [head][q, k, v][d]
    Linear k =
        Linear::of_floats(mixed.data(), nullptr, in, 3 * inner, WeightLayout::out_in).columns(d, inner);
    k.group = d;
    k.group_stride = 3 * d * k.stride;
    for (const int n : {3, 50}) {
        const Matrix x = random_matrix(n, in, 2);
        Matrix y(n, inner);
        apply_linear(pool, x, k, y);
        for (int h = 0; h < heads; ++h)
            CHECK((y.middleCols(h * d, d) - x * mixed.middleRows((3 * h + 1) * d, d).transpose())
                      .cwiseAbs()
                      .maxCoeff() < 1e-4f);
    }
}

TEST_CASE("pictures: downscaling averages as in Pillow") {
    RgbImage ramp{4, 1, {}};
    for (const int v : {0, 100, 200, 40})
        for (int c = 0; c < 3; ++c) ramp.rgb.push_back(static_cast<uint8_t>(v));
    const RgbImage half = resize(
        ramp, 2, 1,
        Resampling::bilinear);  // the triangle reaches 2 pixels to each side: (3 · 0 + 3 · 100 + 200) / 7
    CHECK(half.rgb[0] == 71);
    CHECK(half.rgb[3] == 117);  // (100 + 3 · 200 + 3 · 40) / 7
    CHECK(resize(ramp, 4, 1, Resampling::bicubic).rgb == ramp.rgb);
}

TEST_CASE("models of other programs are found and described") {
    const TemporaryFolder home;
    const Variable a("HOME", home.path), b("HF_HOME", home.path / "hf"),
        c("XDG_CACHE_HOME", home.path / ".cache");
    const fs::path gguf = kTests / "reference/models/llama_gguf/llama-q4_0.gguf";
    const auto copy = [](const fs::path& from, const fs::path& to) {
        fs::create_directories(to.parent_path());
        fs::copy(from, to);
    };
    const fs::path snapshot = home.path / "hf/hub/models--some-org--tiny bert/snapshots/abc";
    for (const char* file : {"config.json", "model.safetensors", "tokenizer.json"})
        copy(kTests / "reference/models/bert" / file, snapshot / file);
    fs::create_directories(home.path / "hf/hub/models--some-org--tiny bert/refs");
    write_bytes(home.path / "hf/hub/models--some-org--tiny bert/refs/main", "abc");
    copy(kTests / "reference/models/gpt2/config.json",
         home.path / "hf/hub/models--other--pickled/snapshots/1/config.json");
    write_bytes(home.path / "hf/hub/models--other--pickled/snapshots/1/pytorch_model.bin", "x");
    copy(gguf, home.path / ".lmstudio/models/publisher/repo/lm.gguf");
    copy(gguf, home.path / ".cache/llama.cpp/cached.gguf");
    copy(gguf, home.path / ".ollama/models/blobs/sha256-77");
    fs::create_directories(home.path / ".ollama/models/manifests/registry.ollama.ai/library/tiny");
    write_bytes(
        home.path / ".ollama/models/manifests/registry.ollama.ai/library/tiny/1b",
        R"({"layers":[{"mediaType":"application/vnd.ollama.image.license","digest":"sha256:1"},{"mediaType":"application/vnd.ollama.image.model","digest":"sha256:77"}]})");
    write_bytes(home.path / ".ollama/models/manifests/registry.ollama.ai/library/tiny/broken", "{");

    for (const auto& [name, base] :
         {std::pair{"poems", "some-org/tiny bert"}, std::pair{"lost", "no/such"}}) {
        const fs::path adapter = home.path / ("hf/hub/models--me--" + std::string(name)) / "snapshots/1";
        fs::create_directories(adapter);
        write_bytes(adapter / "adapter_config.json",
                    Json{{"peft_type", "LORA"}, {"r", 2}, {"base_model_name_or_path", base}}.dump());
    }

    std::map<std::string, FoundModel> found;
    for (const FoundModel& m : models_on_computer()) found[m.name] = m;
    CHECK(found.at("me/poems").family == "adapter of some-org/tiny bert");
    CHECK(found.at("me/poems").problem.empty());
    CHECK(model_name(found.at("me/poems").path) == "tiny bert + poems");
    CHECK(found.at("me/lost").problem == "its base \"no/such\" is not on this computer");
    CHECK(found.at("stories").source == "built in");
    CHECK(found.at("some-org/tiny bert").family == "BERT");
    CHECK(found.at("some-org/tiny bert").problem.empty());
    CHECK(found.at("some-org/tiny bert").bytes > 100'000);
    CHECK(found.at("other/pickled").problem.find("pickle") != std::string::npos);
    for (const char* name : {"lm", "cached", "tiny:1b"}) {
        CAPTURE(name);
        CHECK(found.at(name).family == "Llama");
        CHECK(found.at(name).problem.empty());
        const auto model = open_model(name);
        REQUIRE(model);
        CHECK((*model)->name == name);
    }
    CHECK((*open_model("some-org/tiny bert"))->name == "some-org/tiny bert");
}

TEST_CASE("a model that does not fit in memory is refused before anything is read") {
    const TemporaryFolder folder;
    const int64_t vocab = 8'000'000, width = 131072;  // 4 TB
    const std::string header =
        Json{{"wte.weight",
              {{"dtype", "F32"}, {"shape", {vocab, width}}, {"data_offsets", {0, vocab * width * 4}}}}}
            .dump();
    const uint64_t length = header.size();
    write_bytes(folder.path / "model.safetensors",
                std::string(reinterpret_cast<const char*>(&length), 8) + header);
    write_bytes(folder.path / "config.json",
                R"({"model_type":"gpt2","n_embd":131072,"n_head":64,"vocab_size":8000000})");
    std::error_code error;
    fs::resize_file(folder.path / "model.safetensors", 8 + length + static_cast<uint64_t>(vocab * width * 4),
                    error);
    if (error) {
        MESSAGE("skipped: this file system holds no sparse file of 4 TB");
        return;
    }
    const auto model = Model::open(folder.path);
    REQUIRE(!model);
    CAPTURE(model.error().message);
    CHECK((model.error().message.find("4194.3 GB") != std::string::npos ||
           model.error().message.find("mapped") != std::string::npos));
}

TEST_CASE(
    "a sentence-transformers folder opens its transformer; checkpoints with and without a prefix are the "
    "same") {
    const TemporaryFolder folder;
    fs::create_directories(folder.path / "0_Transformer");
    for (const char* file : {"config.json", "model.safetensors", "tokenizer.json"})
        fs::copy(kTests / "reference/models/bert" / file, folder.path / "0_Transformer" / file);
    write_bytes(
        folder.path / "modules.json",
        R"([{"idx":0,"path":"0_Transformer","type":"sentence_transformers.models.Transformer"},{"idx":1,"path":"1_Pooling"}])");
    const auto model = Model::open(folder.path);
    REQUIRE(model);
    CHECK((*model)->config.family == "bert");

    auto header = open_safetensors(kTests / "reference/models/bert/model.safetensors");
    REQUIRE(header);
    std::vector<TensorToWrite> plain;
    for (const auto& [name, t] : header->tensors) {
        if (!name.starts_with("bert.")) continue;  // a base model: no prefix, no head
        const auto bytes = t.bytes;
        plain.push_back({name.substr(5), "F32", t.shape,
                         [bytes](const auto& sink) { sink(bytes.data(), bytes.size()); }});
    }
    REQUIRE(write_safetensors(folder.path / "0_Transformer/model.safetensors", plain, {}));
    const auto base = Model::open(folder.path);
    REQUIRE(base);
    CHECK(!(*base)->has_logits());
    CHECK(parse_metric(**base, "p 5").error().message.find("no head that predicts tokens") !=
          std::string::npos);
    ThreadPool pool(1);
    CHECK(trace_of(*base, {2, 5, 9, 3}, pool)->normalized().all() ==
          trace_of(reference_model("bert"), {2, 5, 9, 3}, pool)->normalized().all());
    const auto one = trace_of(*base, {2, 5, 9, 3}, pool), other = trace_of(*base, {2, 6, 9, 3}, pool);
    const auto map = empty_patch_map(*one, *other, {}, pool);
    REQUIRE(!map);
    CHECK(map.error().message.find("no head that predicts tokens") != std::string::npos);
}
