#include "learn/controls.h"

#include <charconv>

#include "base/quoted.h"

namespace headlight::learn {

namespace {

template <class Number>
bool read_number(std::string_view text, Number& value) {
    const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
    return read.ec == std::errc() && read.ptr == text.data() + text.size();
}

template <class Number>
std::string plain(Number value) {
    char text[32];
    const auto end = std::to_chars(text, text + sizeof text, value);
    return {text, end.ptr};
}

/// Sets the control of one key, and keeps what there is for where it is not found.
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
        value = value_ == "on";
        if (!value && value_ != "off") refuse("on or off");
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
            refuse("a number from " + plain(low) + " to " + plain(high));
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

}  // namespace

Status set_control(const Station& station, std::any& state, const std::string& assignment) {
    const size_t equals = assignment.find('=');
    if (equals == std::string::npos)
        return Error{in_quotes(assignment) + " sets nothing; write KEY=VALUE, width=64 for example."};
    Setter setter(assignment.substr(0, equals), assignment.substr(equals + 1));
    station.visit(state, setter);
    return setter.status(station.key);
}

}  // namespace headlight::learn
