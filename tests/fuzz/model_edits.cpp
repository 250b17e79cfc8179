// Edits of a model's files by structure.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <functional>
#include <iterator>
#include <limits>
#include <set>
#include <tuple>

#include "model_folder.h"

namespace headlight::fuzz {

namespace {

using Pointer = Json::json_pointer;

constexpr size_t kLargeObject = 200, kLargeArray = 12;  // of which three entries stand for all: a vocabulary
constexpr size_t kMaxBytes = 1 << 20;                   // of a document
constexpr uint8_t kIds = 224;                           // targets from here on: one edit of eight is of an id

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

/// Whether a place holds a number that chooses a row elsewhere: `type_id`, `eos_token_id`, an entry of `ids`.
bool is_id(const Json& document, const Pointer& place) {
    if (!document[place].is_number()) return false;
    const bool listed = document[place.parent_pointer()].is_array();
    const std::string key = (listed ? place.parent_pointer() : place).back();
    return key == "id" || key == "ids" || key.ends_with("_id") || key.ends_with("_ids");
}

/// What edits choose from: every short string and every field of all models' files.
struct Pool {
    std::vector<std::string> names;
    std::map<std::string, std::map<std::string, Json>> fields;  // by document: key and a value
    std::map<std::pair<std::string, std::string>, std::vector<Pointer>> places;  // by model and document
    std::map<std::string, std::vector<std::pair<std::string, Pointer>>> ids;  // by model: document and place
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
                    if (is_id(document, place)) out.ids[model.name].emplace_back(file, place);
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

/// An id becomes another number: every table that it chooses from has an end.
void edit_id(ModelFiles& files, const Edit& e) {
    const auto& ids = pool().ids.at(files.name);
    const auto& [file, place] = ids[e.place % ids.size()];
    Json& document = files.documents[file];
    if (document.contains(place)) document[place] = number(e.low);
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

}  // namespace

void apply_edits(ModelFiles& files, std::span<const uint8_t> bytes) {
    for (; bytes.size() >= 6; bytes = bytes.subspan(6)) {
        const Edit e{bytes[0], bytes[3], bytes[4], bytes[5], bytes[1] + size_t{256} * bytes[2]};
        const auto all = targets(files);
        if (e.target >= kIds && pool().ids.count(files.name))
            edit_id(files, e);
        else
            all[e.target % all.size()](e);
    }
}

}  // namespace headlight::fuzz
