// Reads, writes and reports the fields of plain structs, whose visit() names them for these visitors.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/cast.h"
#include "base/result.h"

namespace headlight {

inline constexpr size_t kMaxRecent = 8, kLongestText = 4 << 20, kMaxChanges = 50'000, kMaxSlides = 200,
                        kMaxModels = 1000, kMaxStations = 200;

/// A field's command, title in the palette, help, and words of its values. `shared`: several views show it.
struct Choice {
    std::string command, title, help;
    std::vector<std::string> words;
    bool shared = false;
};

/// How the command line takes a field: the option's name, its help where the command's does not fit, and the
/// option that it acts with ("graph", "method integrated-gradients").
struct FieldOption {
    const char* name = "";
    const char* help = "";
    const char* with = "";
    bool flag = false;          // it chooses the last word
    bool figure_alone = false;  // it changes the figure and not the numbers
};

/// Goes through fields by key. Numbers come with their range: what lies beyond it becomes the nearest in it.
class FieldVisitor {
public:
    virtual ~FieldVisitor() = default;
    virtual void text(const char* key, std::string& value) = 0;
    virtual void flag(const char* key, bool& value) = 0;
    virtual void number(const char* key, float& value, float low, float high) = 0;
    virtual void whole(const char* key, int64_t& value, int64_t low, int64_t high) = 0;
    virtual void list(const char* key, std::vector<std::string>& value, size_t max) = 0;
    virtual void pairs(const char* key, std::vector<std::pair<int, int>>& value) = 0;
    /// A cell (query, key), or none.
    virtual void cell(const char* key, std::optional<std::pair<int, int>>& value) = 0;
    /// Not saved, but reported to tests.
    virtual void report(const char* /*key*/, const nlohmann::json& /*value*/) {}
    /// The index of a value among a command's words; −1: none of them.
    virtual void choice(const Choice& /*choice*/, int& /*place*/) {}
    /// Sets what an option can: one of a choice's words by its place, a whole number, a text.
    virtual void word_option(const FieldOption& /*option*/, const Choice& /*choice*/, int& /*place*/) {}
    virtual void number_option(const FieldOption& /*option*/, int& /*value*/, int /*low*/, int /*high*/) {}
    virtual void text_option(const FieldOption& /*option*/, std::string& /*value*/) {}

    /// A switch, enum or integer by index, set by a command. Saved under the key, if not null.
    template <class T>
    void choose(const char* key, T& value, const Choice& of, const FieldOption& option = {}) {
        if constexpr (std::is_same_v<T, bool>) {
            if (key) flag(key, value);
        } else {
            if (key) integer(key, value, 0, std::ssize(of.words) - 1);
        }
        auto place = static_cast<int>(value);
        choice(of, place);
        if (*option.name) word_option(option, of, place);
        value = static_cast<T>(place);
    }
    /// A number with preset values for a command; other values may be saved.
    template <class T>
    void choose_among(T& value, std::span<const T> values, const Choice& of) {
        const auto now = std::find(values.begin(), values.end(), value);
        int place = now == values.end() ? -1 : narrow<int>(now - values.begin());
        choice(of, place);
        if (place >= 0) value = values[place];
    }

    /// Any integer, or an enum by index.
    template <class T>
    void integer(const char* key, T& value, int64_t low, int64_t high) {
        auto number = static_cast<int64_t>(value);
        whole(key, number, low, high);
        value = static_cast<T>(number);
    }
    /// A whole number that an option sets.
    void integer(const char* key, int& value, int low, int high, const FieldOption& option) {
        integer(key, value, low, high);
        number_option(option, value, low, high);
    }
    /// A share, which an option takes in percent.
    void share(const char* key, float& value, const FieldOption& option) {
        number(key, value, 0.01f, 1);
        const int before = static_cast<int>(std::lround(100 * value));
        int percent = before;
        number_option(option, percent, 1, 100);
        if (percent != before) value = static_cast<float>(percent) / 100;
    }
};

/// Passes over what is remembered: for what can be chosen.
class ChoiceVisitor : public FieldVisitor {
public:
    void text(const char*, std::string&) final {}
    void flag(const char*, bool&) final {}
    void number(const char*, float&, float, float) final {}
    void whole(const char*, int64_t&, int64_t, int64_t) final {}
    void list(const char*, std::vector<std::string>&, size_t) final {}
    void pairs(const char*, std::vector<std::pair<int, int>>&) final {}
    void cell(const char*, std::optional<std::pair<int, int>>&) final {}
};

/// Reads the fields in the JSON and leaves others unchanged. A value of another type is an error, or skipped
/// if a newer version may have written it (`lenient`).
class FieldReader final : public FieldVisitor {
public:
    FieldReader(const nlohmann::json& root, std::string name, bool lenient = false)
        : root_(root), name_(std::move(name)), lenient_(lenient) {}
    /// The first error.
    const Status& status() const { return status_; }

    void text(const char* key, std::string& value) override;
    void flag(const char* key, bool& value) override;
    void number(const char* key, float& value, float low, float high) override;
    void whole(const char* key, int64_t& value, int64_t low, int64_t high) override;
    void list(const char* key, std::vector<std::string>& value, size_t max) override;
    void pairs(const char* key, std::vector<std::pair<int, int>>& value) override;
    void cell(const char* key, std::optional<std::pair<int, int>>& value) override;

private:
    template <class T>
    void take(Result<T> found, T& value);

    const nlohmann::json& root_;
    std::string name_;
    bool lenient_;
    Status status_ = success();
};

/// Writes the fields into a JSON object; fails if they could not be read back.
class FieldWriter : public FieldVisitor {
public:
    explicit FieldWriter(nlohmann::json& root) : root_(root) {}
    const Status& status() const { return status_; }

    void text(const char* key, std::string& value) final;
    void flag(const char* key, bool& value) final;
    void number(const char* key, float& value, float low, float high) final;
    void whole(const char* key, int64_t& value, int64_t low, int64_t high) final;
    void list(const char* key, std::vector<std::string>& value, size_t max) final;
    void pairs(const char* key, std::vector<std::pair<int, int>>& value) final;
    void cell(const char* key, std::optional<std::pair<int, int>>& value) final;

protected:
    nlohmann::json& root_;

private:
    void fail(std::string message);

    Status status_ = success();
};

/// Also writes what is only reported to tests.
class FieldReporter final : public FieldWriter {
public:
    using FieldWriter::FieldWriter;
    void report(const char* key, const nlohmann::json& value) override;
};

}  // namespace headlight
