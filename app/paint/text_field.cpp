#include "paint/text_field.h"

#include <GLFW/glfw3.h>
#include <utf8proc.h>

#include <tuple>

#include "base/cast.h"
#include "base/utf8.h"
#include "figure/canvas.h"
#include "session/conversation.h"

namespace headlight {

namespace {

bool is_space_at(const std::string& text, size_t at) { return is_white_space(decode_utf8(text, at).value); }

/// Makes one line: control characters become spaces, invalid bytes U+FFFD.
std::string cleaned(std::string what) {
    what = valid_utf8(what);
    for (char& c : what)
        if (as_byte(c) < 0x20 || c == 0x7F) c = ' ';
    return what;
}

}  // namespace

void TextField::set_text(std::string text) {
    text_ = cleaned(std::move(text));
    shown_.clear();
    caret_ = anchor_ = text_.size();
    layout_ = nullptr;
}

void TextField::show(std::string text, bool caret_at_end) {
    shown_ = text_ = cleaned(std::move(text));
    caret_ = anchor_ = caret_at_end ? text_.size() : 0;
    layout_ = nullptr;
}

void TextField::replace(std::string text, History& history) {
    caret_ = 0;
    anchor_ = text_.size();
    insert(text, EditKind::replaced, history);
}

/// The one way in which the user changes the text. When the program's own text becomes the user's, or the
/// reverse, the step spans the user's texts, so that it can be undone after the program has changed its own.
void TextField::edit(size_t begin, size_t end, std::string_view with, EditKind kind, History& history) {
    const std::string before = typed();
    const bool showed = shows();
    TextEdit change = edit_of(name_, text_, begin, end - begin, std::string(with));
    text_.replace(begin, end - begin, with);
    caret_ = anchor_ = begin + with.size();
    layout_ = nullptr;
    if (showed || shows())
        history.note(edit_of(name_, before, 0, before.size(), typed()), EditKind::replaced, glfwGetTime());
    else
        history.note(std::move(change), kind, glfwGetTime());
}

bool TextField::apply(const TextEdit& edit) {
    auto after = edited(typed(), edit);
    if (!after) return false;
    text_ = *std::move(after);
    shown_.clear();
    layout_ = nullptr;
    caret_ = anchor_ = edit.at + edit.inserted.size();
    return true;
}

void TextField::insert(std::string_view what, EditKind kind, History& history) {
    std::string text(what.substr(0, kMaxBytes));
    if (breaks_lines) text = to_field(text);
    std::string clean = cleaned(std::move(text));
    const size_t room = kMaxBytes - std::min(kMaxBytes, text_.size() - (last() - first()));
    shortened_ = shortened_ || what.size() > kMaxBytes || clean.size() > room;
    if (clean.size() > room) clean = valid_utf8(clean.substr(0, room));
    edit(first(), last(), clean, kind, history);
}

void TextField::erase(int direction, bool word, EditKind kind, History& history) {
    if (caret_ != anchor_) return edit(first(), last(), "", EditKind::replaced, history);
    anchor_ = step(caret_, direction, word);
    edit(first(), last(), "", kind, history);
}

/// Bounds of the graphemes around `near`; a few dozen code points of lead-in settle every rule (UAX #29).
std::vector<size_t> TextField::boundaries(size_t near) const {
    size_t at = near;
    for (int i = 0; i < 64 && at > 0; ++i) do
            --at;
        while (at > 0 && (as_byte(text_[at]) & 0xC0) == 0x80);
    std::vector<size_t> out{at};
    utf8proc_int32_t state = 0;
    while (at < text_.size() && (out.back() <= near || out.size() < 2)) {
        const CodePoint c = decode_utf8(text_, at);
        at += c.length;
        if (at >= text_.size() ||
            utf8proc_grapheme_break_stateful(c.value, decode_utf8(text_, at).value, &state))
            out.push_back(at);
    }
    return out;
}

/// The next caret position: by a grapheme, or a word.
size_t TextField::step(size_t from, int direction, bool word) const {
    const auto back = [&](size_t at) {
        const auto all = boundaries(at);
        const auto here = std::lower_bound(all.begin(), all.end(), at);
        return here == all.begin() ? size_t{0} : *(here - 1);
    };
    const auto forward = [&](size_t at) {
        const auto all = boundaries(at);
        const auto next = std::upper_bound(all.begin(), all.end(), at);
        return next == all.end() ? text_.size() : *next;
    };
    if (!word) return direction < 0 ? back(from) : forward(from);
    size_t at = from;
    if (direction < 0) {
        while (at > 0 && is_space_at(text_, back(at))) at = back(at);
        while (at > 0 && !is_space_at(text_, back(at))) at = back(at);
    } else {
        while (at < text_.size() && is_space_at(text_, at)) at = forward(at);
        while (at < text_.size() && !is_space_at(text_, at)) at = forward(at);
    }
    return at;
}

/// Moves the caret, with Shift the end of the selection.
bool TextField::move_key(const KeyPress& k) {
    const bool lets_go = !k.shift && caret_ != anchor_ && !k.control;
    if (k.key == GLFW_KEY_LEFT)
        caret_ = lets_go ? first() : step(caret_, -1, k.control);
    else if (k.key == GLFW_KEY_RIGHT)
        caret_ = lets_go ? last() : step(caret_, 1, k.control);
    else if (k.key == GLFW_KEY_HOME)
        caret_ = 0;
    else if (k.key == GLFW_KEY_END)
        caret_ = text_.size();
    else
        return false;
    if (!k.shift) anchor_ = caret_;
    return true;
}

/// Whether the field handled the key.
bool TextField::edit_key(const KeyPress& k, History& history, const std::function<std::string()>& clipboard,
                         const std::function<void(const std::string&)>& copy) {
    const bool selected = caret_ != anchor_;
    const auto copies = [&] {
        const std::string text = text_.substr(first(), last() - first());
        copy(breaks_lines ? from_field(text) : text);
    };
    if (move_key(k)) return true;
    if (k.key == GLFW_KEY_BACKSPACE || k.key == GLFW_KEY_DELETE)
        erase(k.key == GLFW_KEY_DELETE ? 1 : -1, k.control, EditKind::erased, history);
    else if (breaks_lines && k.shift && k.key == GLFW_KEY_ENTER)
        insert("\n", EditKind::typed, history);
    else if (k.control && k.key == GLFW_KEY_A)
        std::tie(anchor_, caret_) = std::pair{size_t{0}, text_.size()};
    else if (k.control && k.key == GLFW_KEY_V)
        insert(clipboard(), EditKind::replaced, history);
    else if (k.control && k.key == GLFW_KEY_C && selected)
        copies();
    else if (k.control && k.key == GLFW_KEY_X && selected) {
        copies();
        erase(-1, false, EditKind::replaced, history);
    } else
        return false;
    return true;
}

void TextField::handle(Input& input, History& history, const std::function<std::string()>& clipboard,
                       const std::function<void(const std::string&)>& copy) {
    std::erase_if(input.keys, [&](const KeyPress& k) {
        const bool begins = k.control && (k.key == GLFW_KEY_A || k.key == GLFW_KEY_V);
        focused = focused || begins;
        if (k.text.empty()) return focused && edit_key(k, history, clipboard, copy);
        focused = true;
        insert(k.text, EditKind::typed, history);
        return true;
    });
}

}  // namespace headlight
