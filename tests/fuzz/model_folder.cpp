#include "model_folder.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <set>

#include "gguf_writer.h"
#include "io/gguf.h"
#include "io/png.h"
#include "quantized_files.h"

namespace headlight::fuzz {

namespace fs = std::filesystem;

namespace {

std::string read_bytes(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

ModelFiles read_folder(const fs::path& folder) {
    ModelFiles out;
    out.name = folder.filename().string();
    const std::set<std::string> left_out{"cases.json", "config_v4.json"};
    for (const auto& entry : fs::directory_iterator(folder)) {
        const std::string name = entry.path().filename().string(), bytes = read_bytes(entry.path());
        if (left_out.count(name) || name.starts_with("expected") || name.ends_with(".png")) continue;
        if (name == kWeights) {
            uint64_t length = 0;
            std::memcpy(&length, bytes.data(), 8);
            out.documents[name] = Json::parse(bytes.substr(8, length));
            out.tensors = bytes.substr(8 + length);
        } else if (name.ends_with(".json")) {
            out.documents[name] = Json::parse(bytes);
        } else {
            out.raw[name] = bytes;
        }
    }
    out.documents.try_emplace("generation_config.json", Json{{"eos_token_id", 2},
                                                             {"forced_eos_token_id", 1},
                                                             {"bad_words_ids", {{3}}},
                                                             {"suppress_tokens", {4}},
                                                             {"begin_suppress_tokens", {5}},
                                                             {"decoder_start_token_id", 1},
                                                             {"forced_bos_token_id", nullptr},
                                                             {"max_length", 20},
                                                             {"no_repeat_ngram_size", 0}});
    return out;
}

ModelFiles read_gguf(const fs::path& path) {
    ModelFiles out;
    out.name = path.filename().string();
    out.gguf = true;
    const std::string bytes = read_bytes(path);
    const auto file = parse_gguf(std::as_bytes(std::span(bytes)), out.name);
    if (!file) std::abort();
    const auto *end = reinterpret_cast<const std::byte*>(bytes.data() + bytes.size()), *begin = end;
    for (const auto& [name, t] : file->tensors) begin = std::min(begin, t.bytes.data());
    for (const auto& [key, value] : file->metadata) out.documents["metadata"][key] = value;
    for (const auto& [name, t] : file->tensors)
        out.documents["tensors"][name] = {
            {"type", t.dtype->gguf_id}, {"shape", t.shape}, {"offset", t.bytes.data() - begin}};
    out.tensors.assign(reinterpret_cast<const char*>(begin), reinterpret_cast<const char*>(end));
    return out;
}

/// The same files under the name of a family that shares its layers.
ModelFiles relative(const std::vector<ModelFiles>& models, const std::string& name, const std::string& of) {
    ModelFiles out =
        *std::find_if(models.begin(), models.end(), [&](const ModelFiles& m) { return m.name == of; });
    out.name = name;
    out.documents["config.json"]["model_type"] = name;
    return out;
}

void write_bytes(const fs::path& path, std::string_view head, std::string_view body = {}) {
    std::ofstream out(path, std::ios::binary);
    out << head << body;
}

std::string text_of(const Json& document) {
    return document.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

const std::vector<ModelFiles>& valid_models() {
    static const std::vector<ModelFiles> models = [] {
        const fs::path folder = fs::path(HEADLIGHT_TESTS_DIR) / "reference" / "models";
        std::vector<fs::path> paths;
        for (const auto& entry : fs::directory_iterator(folder)) paths.push_back(entry.path());
        std::sort(paths.begin(), paths.end());
        std::vector<ModelFiles> out;
        for (const auto& path : paths)
            if (fs::exists(path / kWeights)) out.push_back(read_folder(path));
        for (const auto& [name, of] : {std::pair("camembert", "roberta"),
                                       {"xlm-roberta", "roberta"},
                                       {"mt5", "t5"},
                                       {"gemma", "gemma2"}})
            out.push_back(relative(out, name, of));
        for (const char* gguf : {"gpt2_gguf/gpt2-f32.gguf", "llama_gguf/llama-f32.gguf",
                                 "llama_gguf/llama-q4_0.gguf", "llama_gguf/llama-q8_0.gguf"})
            out.push_back(read_gguf(folder / gguf));
        const auto llama =
            std::find_if(out.begin(), out.end(), [](const ModelFiles& m) { return m.name == "llama"; });
        for (ModelFiles& quantized : quantized_models(ModelFiles(*llama)))
            out.push_back(std::move(quantized));
        return out;
    }();
    return models;
}

fs::path write_model(const ModelFiles& files, const fs::path& folder) {
    std::error_code ignored;
    fs::remove_all(folder, ignored);
    fs::create_directories(folder);
    if (files.gguf) {
        write_bytes(folder / "model.gguf",
                    gguf_header(files.documents.at("metadata"), files.documents.at("tensors")),
                    files.tensors);
        return folder / "model.gguf";
    }
    for (const auto& [name, document] : files.documents) {
        const std::string text = text_of(document);
        if (name != kWeights) {
            write_bytes(folder / name, text);
            continue;
        }
        const uint64_t length = text.size();
        std::string head(reinterpret_cast<const char*>(&length), 8);
        write_bytes(folder / name, head + text, files.tensors);
    }
    for (const auto& [name, bytes] : files.raw) write_bytes(folder / name, bytes);
    return folder;
}

fs::path write_picture(const ModelFiles& files, const fs::path& folder) {
    static std::map<std::pair<uint32_t, uint32_t>, std::string> made;  // the large ones take a second
    std::string& bytes = made[{files.picture_width, files.picture_height}];
    if (bytes.empty()) {
        const PngPixels pixels{files.picture_width, files.picture_height, false,
                               std::vector<uint8_t>(size_t{3} * files.picture_width * files.picture_height)};
        (void)static_cast<bool>(encode_png(pixels, [&](const void* data, size_t size) {
            bytes.append(static_cast<const char*>(data), size);
        }));
    }
    write_bytes(folder / "picture.png", bytes);
    return folder / "picture.png";
}

}  // namespace headlight::fuzz
