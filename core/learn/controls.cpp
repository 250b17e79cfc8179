// Reads and writes the controls of stations.
#include "learn/controls.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/cast.h"
#include "base/quoted.h"

namespace headlight::learn {

namespace {

/// Sets the control of one key, and lists the keys in case there is no such control.
class Setter final : public ControlVisitor {
public:
    Setter(std::string key, std::string value) : key_(std::move(key)), value_(std::move(value)) {}

    void choice(const char* key, const char*, int& place, std::span<const char* const> words) override {
        if (!wanted(key)) return;
        std::string all;
        for (int i = 0; i < isize(words); ++i) {
            if (value_ == words[i]) {
                place = i;
                return;
            }
            all += (i ? ", " : "") + std::string(words[i]);
        }
        refuse("one of " + all);
    }
    void flag(const char* key, const char*, bool& value) override {
        if (!wanted(key)) return;
        if (value_ != "on" && value_ != "off") return refuse("on or off");
        value = value_ == "on";
    }
    void number(const char* key, const char*, float& value, float low, float high) override {
        set_number(key, value, low, high);
    }
    void whole(const char* key, const char*, int& value, int low, int high) override {
        set_number(key, value, low, high);
    }
    void text(const char* key, const char*, std::string& value) override {
        if (wanted(key)) value = value_;
    }
    void numbers(const char* key, std::vector<float>& values) override {
        if (!wanted(key)) return;
        values.clear();
        if (value_.empty()) return;
        for (size_t at = 0; at <= value_.size();) {
            const size_t end = std::min(value_.find(',', at), value_.size());
            values.emplace_back();
            if (!read_number(std::string_view(value_).substr(at, end - at), values.back()))
                return refuse("numbers with one comma between them");
            at = end + 1;
        }
    }

    Status status(const char* station) const {
        if (!refused_.empty()) return Error{refused_};
        if (found_) return success();
        return Error{"The station " + std::string(station) + " has no " + in_quotes(key_) + " to set" +
                     (keys_.empty() ? "; leave --set out." : "; it has " + keys_ + ".")};
    }

private:
    template <class Number>
    void set_number(const char* key, Number& value, Number low, Number high) {
        if (!wanted(key)) return;
        if (Number read = 0; read_number(value_, read) && read >= low && read <= high)
            value = read;
        else
            refuse("a number from " + spelled(low) + " to " + spelled(high));
    }
    bool wanted(const char* key) {
        keys_ += (keys_.empty() ? "" : ", ") + std::string(key);
        found_ = found_ || key_ == key;
        return key_ == key;
    }
    void refuse(const std::string& what) {
        refused_ = key_ + " cannot be " + in_quotes(value_) + "; it is " + what + ".";
    }

    std::string key_, value_, keys_, refused_;
    bool found_ = false;
};

/// Spells all controls as "KEY=VALUE".
class Speller final : public ControlVisitor {
public:
    std::vector<std::string> words;

    void choice(const char* key, const char*, int& place, std::span<const char* const> names) override {
        say(key, names[place]);
    }
    void flag(const char* key, const char*, bool& value) override { say(key, value ? "on" : "off"); }
    void number(const char* key, const char*, float& value, float, float) override {
        say(key, spelled(value));
    }
    void whole(const char* key, const char*, int& value, int, int) override { say(key, spelled(value)); }
    void text(const char* key, const char*, std::string& value) override { say(key, value); }
    void numbers(const char* key, std::vector<float>& values) override {
        std::string all;
        for (const float value : values) all += (all.empty() ? "" : ",") + spelled(value);
        say(key, all);
    }

private:
    void say(const std::string& key, const std::string& value) { words.push_back(key + "=" + value); }
};

std::vector<std::string> all_words(const Station& station, std::any state) {
    Speller speller;
    station.visit(state, speller);
    return std::move(speller.words);
}

}  // namespace

std::string spelled(double value) {
    char text[32];
    const bool whole = value == std::round(value) && std::abs(value) < 1e15;
    const auto end = whole ? std::to_chars(text, text + sizeof text, std::llround(value))
                           : std::to_chars(text, text + sizeof text, float(value));
    return {text, end.ptr};
}

std::any state_of(const Station& station, const std::vector<std::string>& words) {
    std::any state = station.first_state();
    for (const auto& word : words) (void)set_control(station, state, word);
    return state;
}

std::vector<std::string> control_words(const Station& station, const std::any& state) {
    const auto first = all_words(station, station.first_state());
    std::vector<std::string> out;
    for (const auto& word : all_words(station, state))
        if (std::find(first.begin(), first.end(), word) == first.end()) out.push_back(word);
    return out;
}

Status set_control(const Station& station, std::any& state, const std::string& assignment) {
    const size_t equals = assignment.find('=');
    if (equals == std::string::npos)
        return Error{in_quotes(assignment) + " sets nothing; write KEY=VALUE, width=64 for example."};
    Setter setter(assignment.substr(0, equals), assignment.substr(equals + 1));
    station.visit(state, setter);
    return setter.status(station.key);
}

}  // namespace headlight::learn
