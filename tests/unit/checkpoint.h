// Reads, edits and writes safetensors checkpoints for tests.
#pragma once

#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "helpers.h"
#include "io/json.h"
#include "io/safetensors.h"

namespace headlight {

/// Holds the tensors and the configuration of a model's folder.
struct Checkpoint {
    struct Entry {
        std::string dtype;
        std::vector<int64_t> shape;
        std::string bytes;
    };
    std::map<std::string, Entry> tensors;
    Json config;

    /// Reads a model of tests/reference/models.
    static Checkpoint of(const std::string& name) {
        const auto folder = kTests / "reference/models" / name;
        Checkpoint out;
        out.config = *read_json(folder / "config.json");
        const auto file = open_safetensors(folder / "model.safetensors");
        REQUIRE(file);
        for (const auto& [key, t] : file->tensors)
            out.tensors[key] = {t.dtype->name, t.shape,
                                std::string(reinterpret_cast<const char*>(t.bytes.data()), t.bytes.size())};
        return out;
    }

    void rename(const std::string& from, const std::string& to) {
        REQUIRE_MESSAGE(tensors.count(from), from);
        tensors[to] = tensors[from];
        tensors.erase(from);
    }
    /// Adds a tensor of zeros.
    void add(const std::string& name, const std::string& dtype = "F32", int64_t count = 3) {
        tensors[name] = {dtype, {count}, std::string(size_t(count * find_dtype(dtype)->bytes), '\0')};
    }
    /// Converts F32 to F64, which changes no value.
    void widen(const std::string& name) {
        Entry& t = tensors.at(name);
        std::string wide(t.bytes.size() * 2, '\0');
        for (size_t i = 0; i < t.bytes.size() / 4; ++i) {
            float value;
            std::memcpy(&value, t.bytes.data() + 4 * i, 4);
            const double as_double = value;
            std::memcpy(wide.data() + 8 * i, &as_double, 8);
        }
        t = {"F64", t.shape, wide};
    }

    void write(const std::filesystem::path& folder) const {
        Json header = Json::object();
        std::string data;
        for (const auto& [name, t] : tensors) {
            header[name] = {{"dtype", t.dtype},
                            {"shape", t.shape},
                            {"data_offsets", {data.size(), data.size() + t.bytes.size()}}};
            data += t.bytes;
        }
        std::string text = header.dump();
        text.resize((text.size() + 7) / 8 * 8, ' ');
        const uint64_t length = text.size();
        write_bytes(folder / "model.safetensors",
                    std::string(reinterpret_cast<const char*>(&length), 8) + text + data);
        write_bytes(folder / "config.json", config.dump());
    }
    /// Opens the edited model.
    Result<std::shared_ptr<const Model>> open() const {
        const TemporaryFolder folder;
        write(folder.path);
        return Model::open(folder.path);
    }
};

}  // namespace headlight
