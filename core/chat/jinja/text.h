// Holds text whose bytes remember where they come from, and what one render of a template may spend.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace headlight::jinja {

/// Is thrown within a render or parse, and becomes one sentence at its barrier: what is wrong, what helps.
struct Trouble {
    std::string what, help;
};
[[noreturn]] void fail(std::string what, std::string help = "");

/// Numbers what a byte comes from: 0 is the template, others are rows of a table of the render.
using Origin = int;

/// Bounds a render. Far more than any real template needs, and so little that none can exhaust a machine.
struct Budget {
    size_t max_live = size_t{192} << 20, max_made = size_t{2} << 30;  // bytes
    int64_t max_steps = 20'000'000;
    size_t live = 0, made = 0;
    int64_t steps = 0;

    void step(int64_t count = 1);
    void hold(size_t bytes);
    void release(size_t bytes) { live -= bytes; }
};

/// Counts bytes in a budget while it lives.
class Counted {
public:
    Counted() = default;
    explicit Counted(Budget& budget) : budget_(&budget) {}
    Counted(Counted&& other) noexcept { *this = std::move(other); }
    Counted& operator=(Counted&& other) noexcept {
        std::swap(budget_, other.budget_);
        std::swap(bytes_, other.bytes_);
        return *this;
    }
    ~Counted() {
        if (budget_) budget_->release(bytes_);
    }
    void add(size_t bytes);

private:
    Budget* budget_ = nullptr;
    size_t bytes_ = 0;
};

/// Is a stretch of bytes up to `end` that come from one origin.
struct Run {
    size_t end = 0;
    Origin origin = 0;
};

/// Holds immutable UTF-8, its stretches by origin (none: all from the template), shared by its copies.
class Text {
public:
    Text() = default;
    /// Makes text from one origin, counted in no budget: of templates and input.
    explicit Text(std::string bytes, Origin origin = 0);

    std::string_view bytes() const { return data_ ? std::string_view(data_->bytes) : std::string_view(); }
    std::string string() const { return std::string(bytes()); }
    bool empty() const { return bytes().empty(); }
    /// Counts code points.
    size_t length() const { return data_ ? data_->length : 0; }
    /// Returns the byte where code point `index` ≤ length() begins.
    size_t byte_of(size_t index) const;
    /// Returns the code points before a byte.
    size_t index_of(size_t byte) const;
    const std::vector<Run>& runs() const;
    Origin origin_at(size_t byte) const;
    /// Says that HTML escapes what is added to it, as after the filter safe.
    bool markup() const { return markup_; }
    Text marked(bool on) const;

private:
    friend class TextBuilder;
    struct Data {
        std::string bytes;
        std::vector<Run> runs;
        size_t length = 0;
        Counted counted;
    };
    std::shared_ptr<const Data> data_;
    bool markup_ = false;
};

/// Appends text, keeping origins.
class TextBuilder {
public:
    explicit TextBuilder(Budget& budget) : budget_(budget), counted_(budget) {}
    void add(std::string_view bytes, Origin origin = 0);
    void add(const Text& text) { add(text, 0, text.bytes().size()); }
    /// Appends bytes [begin, end) of a text.
    void add(const Text& text, size_t begin, size_t end);
    size_t size() const { return bytes_.size(); }
    const std::string& bytes() const { return bytes_; }
    const std::vector<Run>& runs() const { return runs_; }
    Text finish();

private:
    Budget& budget_;
    Counted counted_;
    std::string bytes_;
    std::vector<Run> runs_;
};

/// Is bytes [begin, end) of a text.
struct Stretch {
    size_t begin = 0, end = 0;
};

Text slice(Budget& budget, const Text& text, Stretch bytes);
Text concat(Budget& budget, const Text& a, const Text& b);
/// Appends a change of each code point to `out`.
Text each_character(Budget& budget, const Text& text, void (*change)(char32_t from, std::string& out));
/// Escapes &, <, >, ' and " as markupsafe does, unless the text is markup.
Text escaped(Budget& budget, const Text& text);

/// Tests str.isspace() of one character.
bool is_python_space(char32_t c);
/// Returns what str.strip() leaves; no `chars`: strips white space.
Stretch stripped(std::string_view text, const std::string_view* chars, bool left, bool right);

}  // namespace headlight::jinja
