#include "model_folder.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <limits>
#include <set>
#include <tuple>

#include "gguf_writer.h"
#include "io/gguf.h"
#include "io/png.h"

namespace headlight::fuzz {

namespace fs = std::filesystem;

namespace {

using Pointer = Json::json_pointer;

constexpr const char* kWeights = "model.safetensors";
constexpr size_t kLargeObject = 200, kLargeArray = 12;  // of which three entries stand for all: a vocabulary
constexpr size_t kMaxBytes = 1 << 20;                   // of a document

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

/// Fields of training and of other programs, which would only thin out those that are read.
bool is_idle(const std::string& key) {
    for (const char* part : {"drop", "version", "architectures", "dtype", "init", "cache", "label", "output_",
                             "chunk", "problem", "classifier"})
        if (key.find(part) != std::string::npos && key != "__metadata__") return true;
    return false;
}

/// Every place of a document; of large containers only the first three entries.
void list_places(const Json& node, const Pointer& at, bool config, std::vector<Pointer>& into) {
    if (!at.empty()) into.push_back(at);
    if (!node.is_structured()) return;
    size_t left = node.size() > (node.is_array() ? kLargeArray : kLargeObject) ? 3 : node.size();
    for (auto it = node.begin(); it != node.end() && left > 0; ++it, --left)
        if (!node.is_object())
            list_places(*it, at / static_cast<size_t>(it - node.begin()), config, into);
        else if (!config || !is_idle(it.key()))
            list_places(*it, at / it.key(), config, into);
}

/// What edits choose from: every short string and every field of all models' files.
struct Pool {
    std::vector<std::string> names;
    std::map<std::string, std::map<std::string, Json>> fields;  // by document: key and a value
    std::map<std::pair<std::string, std::string>, std::vector<Pointer>> places;  // by model and document
};

const Pool& pool() {
    static const Pool made = [] {
        Pool out;
        std::set<std::string> names;
        for (const ModelFiles& model : valid_models())
            for (const auto& [file, document] : model.documents) {
                auto& places = out.places[{model.name, file}];
                list_places(document, Pointer(), file == "config.json", places);
                for (const Pointer& place : places) {
                    const Json& value = document[place];
                    if (value.is_string() && value.get_ref<const std::string&>().size() < 40)
                        names.insert(value.get<std::string>());
                    if (file != kWeights && file != "tensors" &&
                        document[place.parent_pointer()].is_object() && value.dump().size() < 2000)
                        out.fields[file][place.back()] = value;
                }
            }
        out.names.assign(names.begin(), names.end());
        return out;
    }();
    return made;
}

Json number(uint8_t which) {
    static const double inf = std::numeric_limits<double>::infinity();
    static const std::vector<Json> numbers{0,
                                           -1,
                                           1,
                                           2,
                                           6,
                                           8,
                                           16,
                                           64,
                                           1000,
                                           16384,
                                           65536,
                                           1000000,
                                           4000000,
                                           16777216,
                                           2147483647,
                                           -2147483648LL,
                                           4294967296LL,
                                           INT64_MAX,
                                           UINT64_MAX,
                                           0.5,
                                           1e-38,
                                           1e30,
                                           1e39,
                                           -1e308,
                                           std::nan(""),
                                           inf};
    return numbers[which % numbers.size()];
}

Json nearby(const Json& value, uint8_t which) {
    if (!value.is_number()) return number(which);
    const double x = value.get<double>();
    const double near = std::array{x + 1, x - 1, x * 2, x / 2, -x, x * 3, x + 0.5, x * 1000}[which % 8];
    if (value.is_number_float() || near != std::floor(near) || std::abs(near) > 1e15) return near;
    return near < 0 ? Json(static_cast<int64_t>(near)) : Json(static_cast<uint64_t>(near));
}

Json of_another_type(uint8_t which) {
    static const std::vector<Json> values{nullptr,
                                          true,
                                          false,
                                          "",
                                          Json::object(),
                                          Json::array(),
                                          "x",
                                          Json::array({0}),
                                          Json{{"a", 0}},
                                          Json::array({"a"}),
                                          1.5,
                                          "1",
                                          Json::array({nullptr}),
                                          "\x1b]0;x\x07"};
    return values[which % values.size()];
}

/// The same many times: a long string, a long list.
Json repeated(const Json& value, uint8_t times) {
    const size_t size = value.dump(-1, ' ', false, Json::error_handler_t::replace).size(),
                 count = std::min<size_t>(size_t{1} << times % 16, kMaxBytes / (size + 1));
    if (value.is_string()) {
        std::string out;
        for (size_t i = 0; i < count; ++i) out += value.get_ref<const std::string&>();
        return out;
    }
    Json out = Json::array();
    for (size_t i = 0; i < count; ++i)
        if (value.is_array())
            out.insert(out.end(), value.begin(), value.end());
        else
            out.push_back(value);
    return out;
}

struct Edit {
    uint8_t target, kind, low, high;
    size_t place;
    size_t wide() const { return low + 256u * high; }
};

void remove(Json& document, const Pointer& place) {
    Json& parent = document[place.parent_pointer()];
    if (parent.is_object())
        parent.erase(place.back());
    else if (parent.is_array())
        parent.erase(std::stoul(place.back()));
}

/// Adds a field that another model's file has, as it stands there or with a number in its place.
void graft(Json& document, const Pointer& place, const std::string& file, const Edit& e) {
    const auto& fields = pool().fields.at(file);
    Json& into = document[place].is_object() ? document[place] : document;
    if (!into.is_object()) return;
    const auto& [key, value] =
        *std::next(fields.begin(), static_cast<long>((e.place + 17u * e.low) % fields.size()));
    into[key] = e.high < 64 ? value : number(e.high);
}

void edit_document(ModelFiles& files, const std::string& file, const Edit& e) {
    Json& document = files.documents[file];
    const auto& places = pool().places.at({files.name, file});
    const Pointer& place = places[e.place % places.size()];
    if (!document.contains(place)) return;  // an earlier edit took it
    Json& value = document[place];
    switch (e.kind % 12) {
        case 0:
        case 1:
        case 10:
            value = number(e.low);
            break;
        case 2:
            value = nearby(value, e.low);
            break;
        case 3:
            value = of_another_type(e.low);
            break;
        case 4:
            value = pool().names[e.wide() % pool().names.size()];
            break;
        case 5:
            remove(document, place);
            break;
        case 6:
        case 11:
            if (pool().fields.count(file)) graft(document, place, file, e);
            break;
        case 7:
            value = Json(document.value(places[e.wide() % places.size()], Json()));
            break;
        case 8:
            value = repeated(value, e.low);
            break;
        case 9:
            if (value.is_array()) std::reverse(value.begin(), value.end());
            break;
    }
}

/// One value of the weights, or all values of a stretch.
void edit_values(ModelFiles& files, const Edit& e) {
    static constexpr std::array values = {std::numeric_limits<float>::quiet_NaN(),
                                          std::numeric_limits<float>::infinity(),
                                          -std::numeric_limits<float>::infinity(),
                                          1e38f,
                                          -1e38f,
                                          0.0f,
                                          1e-40f,
                                          1e20f};
    const size_t count = files.tensors.size() / sizeof(float);
    const size_t first = count * e.place / 65536,
                 last = std::min(count, first + (e.kind < 128 ? 1 : size_t{16} << e.high % 10));
    for (size_t i = first; i < last; ++i)
        std::memcpy(files.tensors.data() + i * sizeof(float), &values[e.low % values.size()], sizeof(float));
}

void edit_raw(ModelFiles& files, const std::string& file, const Edit& e) {
    std::string& bytes = files.raw[file];
    const size_t at = bytes.size() * e.place / 65536;
    if (e.kind % 4 == 0)
        files.raw.erase(file);
    else if (e.kind % 4 == 1)
        bytes.resize(at);
    else if (at < bytes.size())
        bytes[at] = static_cast<char>(e.kind % 4 == 2 ? e.low : bytes[at] ^ (1 << e.low % 8));
}

void edit_picture(ModelFiles& files, const Edit& e) {
    static constexpr std::pair<uint32_t, uint32_t> sizes[] = {
        {1, 1}, {1, 33'000'000}, {33'000'000, 1}, {5000, 5000}, {3, 1000}, {64, 64}, {31, 2}, {1, 1'000'000}};
    std::tie(files.picture_width, files.picture_height) = sizes[e.low % std::size(sizes)];
}

/// What an edit may change, the files that say most several times.
std::vector<std::function<void(const Edit&)>> targets(ModelFiles& files) {
    std::vector<std::function<void(const Edit&)>> out;
    for (auto& [name, document] : files.documents) {
        const int weight = name == "config.json" || name == "metadata" ? 5 : name == "tokenizer.json" ? 3 : 1;
        for (int i = 0; i < weight; ++i)
            out.push_back([&files, name = name](const Edit& e) { edit_document(files, name, e); });
    }
    for (const auto& [name, bytes] : files.raw)
        out.push_back([&files, name = name](const Edit& e) { edit_raw(files, name, e); });
    for (int i = 0; i < 2; ++i) out.push_back([&files](const Edit& e) { edit_values(files, e); });
    if (files.documents.count("preprocessor_config.json"))
        out.push_back([&files](const Edit& e) { edit_picture(files, e); });
    out.push_back([&files](const Edit& e) {  // a file is missing
        if (files.gguf || files.documents.empty()) return;
        files.documents.erase(
            std::next(files.documents.begin(), static_cast<long>(e.place % files.documents.size())));
    });
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
        return out;
    }();
    return models;
}

void apply_edits(ModelFiles& files, std::span<const uint8_t> bytes) {
    for (; bytes.size() >= 6; bytes = bytes.subspan(6)) {
        const Edit e{bytes[0], bytes[3], bytes[4], bytes[5], bytes[1] + size_t{256} * bytes[2]};
        const auto all = targets(files);
        all[e.target % all.size()](e);
    }
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
