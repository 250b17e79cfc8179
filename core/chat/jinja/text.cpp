#include "chat/jinja/text.h"

#include <algorithm>
#include <utility>

#include "base/utf8.h"

namespace headlight::jinja {

void fail(std::string what, std::string help) { throw Trouble{std::move(what), std::move(help)}; }

void Budget::step(int64_t count) {
    steps += count;
    if (steps > max_steps)
        fail("runs without end: it has taken " + std::to_string(max_steps / 1'000'000) + " million steps",
             "correct its loops, or shorten the conversation");
}

void Budget::hold(size_t bytes) {
    live += bytes;
    made += bytes;
    if (live > max_live || made > max_made)
        fail("grows without end: it holds more than " + std::to_string(max_live >> 20) + " MiB",
             "correct what it repeats, or shorten the conversation");
}

void Counted::add(size_t bytes) {
    bytes_ += bytes;
    budget_->hold(bytes);
}

Text::Text(std::string bytes, Origin origin) {
    auto data = std::make_shared<Data>();
    data->length = count_code_points(bytes);
    if (origin != 0 && !bytes.empty()) data->runs.push_back({bytes.size(), origin});
    data->bytes = std::move(bytes);
    data_ = std::move(data);
}

size_t Text::byte_of(size_t index) const {
    const std::string_view text = bytes();
    if (length() == text.size()) return index;
    size_t at = 0;
    for (; index > 0 && at < text.size(); --index) at += static_cast<size_t>(decode_utf8(text, at).length);
    return at;
}

size_t Text::index_of(size_t byte) const {
    return length() == bytes().size() ? byte : count_code_points(bytes().substr(0, byte));
}

const std::vector<Run>& Text::runs() const {
    static const std::vector<Run> none;
    return data_ ? data_->runs : none;
}

Origin Text::origin_at(size_t byte) const {
    const auto& all = runs();
    const auto run = std::upper_bound(all.begin(), all.end(), byte,
                                      [](size_t at, const Run& candidate) { return at < candidate.end; });
    return run == all.end() ? 0 : run->origin;
}

Text Text::marked(bool on) const {
    Text out = *this;
    out.markup_ = on;
    return out;
}

void TextBuilder::add(std::string_view bytes, Origin origin) {
    if (bytes.empty()) return;
    counted_.add(bytes.size());
    bytes_ += bytes;
    if (!runs_.empty() && runs_.back().origin == origin) {
        runs_.back().end = bytes_.size();
    } else {
        counted_.add(sizeof(Run));
        runs_.push_back({bytes_.size(), origin});
    }
}

void TextBuilder::add(const Text& text, size_t begin, size_t end) {
    const auto& runs = text.runs();
    if (runs.empty()) return add(text.bytes().substr(begin, end - begin));
    auto run = std::upper_bound(runs.begin(), runs.end(), begin,
                                [](size_t at, const Run& candidate) { return at < candidate.end; });
    for (; begin < end && run != runs.end(); ++run) {
        const size_t stop = std::min(end, run->end);
        add(text.bytes().substr(begin, stop - begin), run->origin);
        begin = stop;
    }
}

Text TextBuilder::finish() {
    auto data = std::make_shared<Text::Data>();
    data->length = count_code_points(bytes_);
    data->bytes = std::move(bytes_);
    if (runs_.size() > 1 || (runs_.size() == 1 && runs_[0].origin != 0)) data->runs = std::move(runs_);
    data->counted = std::move(counted_);
    bytes_.clear();
    runs_.clear();
    counted_ = Counted(budget_);
    Text out;
    out.data_ = std::move(data);
    return out;
}

Text slice(Budget& budget, const Text& text, Stretch bytes) {
    if (bytes.begin == 0 && bytes.end == text.bytes().size()) return text;
    TextBuilder out(budget);
    out.add(text, bytes.begin, std::max(bytes.begin, bytes.end));
    return out.finish().marked(text.markup());
}

Text concat(Budget& budget, const Text& a, const Text& b) {
    TextBuilder out(budget);
    out.add(a);
    out.add(b);
    return out.finish();
}

Text each_character(Budget& budget, const Text& text, void (*change)(char32_t, std::string&)) {
    TextBuilder out(budget);
    std::string changed;
    const std::string_view bytes = text.bytes();
    budget.step(static_cast<int64_t>(bytes.size() / 8));
    for (size_t at = 0; at < bytes.size();) {
        const CodePoint c = decode_utf8(bytes, at);
        changed.clear();
        change(c.value, changed);
        out.add(changed, text.origin_at(at));
        at += static_cast<size_t>(c.length);
    }
    return out.finish().marked(text.markup());
}

Text escaped(Budget& budget, const Text& text) {
    if (text.markup()) return text;
    const auto escape = [](char32_t c, std::string& out) {
        switch (c) {
            case '&':
                out += "&amp;";
                break;
            case '<':
                out += "&lt;";
                break;
            case '>':
                out += "&gt;";
                break;
            case '\'':
                out += "&#39;";
                break;
            case '"':
                out += "&#34;";
                break;
            default:
                append_utf8(out, c);
        }
    };
    return each_character(budget, text, escape).marked(true);
}

bool is_python_space(char32_t c) { return is_white_space(c) || (c >= 0x1C && c <= 0x1F); }

Stretch stripped(std::string_view text, const std::string_view* chars, bool left, bool right) {
    const auto goes = [&](size_t at, size_t length) {
        if (!chars) return is_python_space(decode_utf8(text, at).value);
        return chars->find(text.substr(at, length)) != std::string_view::npos;
    };
    Stretch out{0, text.size()};
    while (left && out.begin < out.end) {
        const auto length = static_cast<size_t>(decode_utf8(text, out.begin).length);
        if (!goes(out.begin, length)) break;
        out.begin += length;
    }
    while (right && out.begin < out.end) {
        size_t at = out.end - 1;
        while (at > out.begin && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) --at;
        if (!goes(at, out.end - at)) break;
        out.end = at;
    }
    return out;
}

}  // namespace headlight::jinja
