// What the families' files read their config.json with. It keeps the first error, so that a family reads as a
// list of what it has.

#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "model/loading/config.h"

namespace headlight {

using Keys = std::initializer_list<JsonKey>;  // spellings of one entry; the first that is there counts

/// The key for the width of a head, in the classes that have one.
struct HeadDim {
    JsonKey key;
    int64_t usual = 0;  // where it is missing; 0: d_model / heads
};

/// Reads bounded numbers out of a config.json; a missing entry takes the fallback, which is the class's
/// default. A value of another type is an error, and so is null, but where the class's default is None
/// (or_null).
class ConfigReader {
public:
    ConfigReader(const Json& root, std::string file) : root_(root), file_(std::move(file)) {}

    /// Whether an entry is there and not null.
    bool has(const char* key) const { return json_find(root_, or_null(key)); }
    /// Whether it is there and null, which some classes tell from a missing one.
    bool is_null(const char* key) const { return root_.contains(key) && root_[key].is_null(); }
    int integer(Keys keys, int64_t fallback, int64_t low, int64_t high);
    float number(Keys keys, double fallback);
    /// A number that must be larger than 0.
    double positive(const Json& object, JsonKey key, double fallback);
    /// An object among the entries; an empty one where it is missing or null.
    Json object(const char* key);
    bool boolean(Keys keys, bool fallback);
    std::string text(Keys keys, const std::string& fallback);
    Activation activation(Keys keys, const std::string& fallback) {
        return activation_named(text(keys, fallback));
    }
    Activation activation_named(const std::string& label);

    /// Sizes that nearly every family has, within sane limits; heads are those of the first stack.
    void widths(ModelConfig& config, Keys d_model, int64_t d_model_default, Keys heads, int64_t heads_default,
                const std::optional<HeadDim>& own = {});
    /// Heads of one stack. d_head is d_model / heads, which must be whole, but where the class has a key of
    /// its `own` for it.
    void heads(StackConfig& stack, int d_model, Keys keys, int64_t fallback,
               const std::optional<HeadDim>& own = {});
    /// How many key/value heads they share; null stands for one each, in the classes that allow it.
    void kv_heads(StackConfig& stack, JsonKey key, int64_t fallback);
    int layers(Keys keys, int64_t fallback) { return integer(keys, fallback, 1, 1000); }
    int mlp_width(Keys keys, int64_t fallback) { return integer(keys, fallback, 1, 1 << 20); }
    int vocabulary(int64_t fallback, Keys keys = {"vocab_size"}) {
        return integer(keys, fallback, 1, 1 << 23);
    }
    int context(Keys keys, int64_t fallback) { return integer(keys, fallback, 1, 1 << 24); }

    /// Layers that "layer_types" calls sliding see `window` keys; without the list, those that `sliding`
    /// says.
    std::vector<int> windows(int layers, int window, bool (*sliding)(int layer));

    /// add_cross_attention: layers that also read another model's encoder, which the folder does not hold.
    void refuse_cross_attention();
    /// What "architectures" names, without a list nothing.
    std::vector<std::string> architectures();

    const Json& root() const { return root_; }
    const std::string& file() const { return file_; }
    void fail(const std::string& message);
    /// A value that was read, or the fallback in place of the first error, which stays.
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
