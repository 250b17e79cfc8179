// Reads the config.json of a family. Keeps the first error, so that a family reads as a list of its parts.
#pragma once

#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "model/loading/config.h"

namespace headlight {

using Keys = std::initializer_list<JsonKey>;  // spellings of one entry; the first one present counts

/// Names the key for the width of a head, in classes that have one.
struct HeadDim {
    JsonKey key;
    int64_t usual = 0;  // if missing; 0: d_model / heads
};

/// Reads bounded values out of a config.json. A missing entry takes the fallback, the class's default in
/// transformers. A value of another type is an error; so is null, unless the class's default is None
/// (or_null).
class ConfigReader {
public:
    ConfigReader(const Json& root, std::string file) : root_(root), file_(std::move(file)) {}

    /// Returns whether an entry is present and not null.
    bool has(const char* key) const { return json_find(root_, or_null(key)); }
    /// Returns whether it is present and null, which some classes distinguish from missing.
    bool is_null(const char* key) const { return root_.contains(key) && root_[key].is_null(); }
    int integer(Keys keys, int64_t fallback, int64_t low, int64_t high);
    float number(Keys keys, double fallback);
    /// Reads a number larger than 0.
    double positive(const Json& object, JsonKey key, double fallback);
    /// Reads a soft cap; 0 if it is null, or missing where 0 is usual: none.
    float cap(const char* key, double usual);
    /// Reads an object; an empty one if it is missing or null.
    Json object(const char* key);
    bool boolean(Keys keys, bool fallback);
    std::string text(Keys keys, const std::string& fallback);
    Activation activation(Keys keys, const std::string& fallback) {
        return activation_named(text(keys, fallback));
    }
    Activation activation_named(const std::string& label);

    /// Reads the sizes that nearly every family has, within sane limits.
    void widths(ModelConfig& config, AttentionSpec& attention, Keys d_model, int64_t d_model_default,
                Keys heads, int64_t heads_default, const std::optional<HeadDim>& own = {});
    /// Reads the heads. d_head is d_model / heads, which must be whole, unless it has its own key.
    void heads(AttentionSpec& attention, int d_model, Keys keys, int64_t fallback,
               const std::optional<HeadDim>& own = {});
    /// Reads the number of key/value heads; null means one per query head, in classes that allow it.
    void kv_heads(AttentionSpec& attention, JsonKey key, int64_t fallback);
    int layers(Keys keys, int64_t fallback) { return integer(keys, fallback, 1, 1000); }
    int mlp_width(Keys keys, int64_t fallback) { return integer(keys, fallback, 1, 1 << 20); }
    int vocabulary(int64_t fallback, Keys keys = {"vocab_size"}) {
        return integer(keys, fallback, 1, 1 << 23);
    }
    int context(Keys keys, int64_t fallback) { return integer(keys, fallback, 1, 1 << 24); }

    /// Gives the layers that "layer_types" calls sliding this window; without the list, those that `sliding`
    /// selects.
    void windows(StackConfig& stack, int window, const std::function<bool(int layer)>& sliding);

    /// Refuses add_cross_attention: such layers also read an encoder that the folder does not hold.
    void refuse_cross_attention();
    /// Reads "architectures"; empty if missing.
    std::vector<std::string> architectures();

    const Json& root() const { return root_; }
    const std::string& file() const { return file_; }
    void fail(const std::string& message);
    /// Returns a value, or the fallback after recording the first error.
    template <class T>
    T keep(Result<T> value, T fallback) {
        if (value) return *value;
        fail(value.error().message);
        return fallback;
    }
    Result<ModelConfig> finish(ModelConfig config) const;

private:
    JsonKey present(Keys keys) const;

    const Json& root_;
    std::string file_, error_;
};

}  // namespace headlight
