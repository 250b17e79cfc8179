// A one-line text field for any script: Pango shapes the text around the caret and locates it.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gpu/texture.h"
#include "paint/input.h"
#include "paint/theme.h"
#include "session/history.h"

typedef struct _PangoLayout PangoLayout;

namespace headlight {

class TextField {
public:
    static constexpr size_t kMaxBytes = 400'000;

    explicit TextField(TextName name) : name_(name) {}

    /// The text that the field edits; the history identifies edits by it.
    TextName name() const { return name_; }
    /// Switches to another text, without an undo step.
    void set_text(TextName name, std::string text) {
        name_ = name;
        set_text(std::move(text));
    }

    const std::string& text() const { return text_; }
    /// The user's text: empty while the program's own text is shown.
    std::string typed() const { return shows() ? "" : text_; }
    /// Sets a saved text: resets the field, without an undo step.
    void set_text(std::string text);
    /// Shows the program's own text until the user edits it.
    void show(std::string text, bool caret_at_end);
    bool shows() const { return !shown_.empty() && text_ == shown_; }
    /// Replaces the text by a choice of the user: one undo step.
    void replace(std::string text, History& history);
    void select_all() {
        anchor_ = 0;
        caret_ = text_.size();
    }
    /// Applies an edit from the history; false if the text is no longer the edited one.
    bool apply(const TextEdit& edit);
    bool focused = true;
    bool breaks_lines = false;  // "⏎" stands for a line break: typed by Shift+Enter, pasted and copied

    /// Edits by keys and characters; removes those used. `clipboard` reads, `copy` writes the clipboard.
    void handle(Input& input, History& history, const std::function<std::string()>& clipboard,
                const std::function<void(const std::string&)>& copy);
    /// Whether a paste was cut off since the last call.
    bool take_shortened() { return std::exchange(shortened_, false); }

    /// Mouse in pixels from the left end of the visible text.
    void press(float x, bool extend);
    void select_word(float x);
    void drag(float x);

    /// Draws into the rectangle; `placeholder` shows while the text is empty. Dims bytes from `read` on.
    void draw(ImDrawList& list, ImVec2 at, ImVec2 size, float scale, const Theme& theme,
              const char* placeholder, size_t read = std::string::npos);

private:
    size_t first() const { return std::min(caret_, anchor_); }
    size_t last() const { return std::max(caret_, anchor_); }
    void edit(size_t begin, size_t end, std::string_view with, EditKind kind, History& history);
    void insert(std::string_view what, EditKind kind, History& history);
    void erase(int direction, bool word, EditKind kind, History& history);
    std::vector<size_t> boundaries(size_t near) const;
    size_t step(size_t from, int direction, bool word) const;
    size_t index_at(float x);
    float x_of(size_t index);
    bool covers_caret() const;
    size_t good_cut(size_t at) const;
    void layout();
    void dim_unread(size_t read, const Theme& theme);
    void draw_texture(ImVec2 size, const Theme& theme, const char* placeholder, size_t read);
    void fade_ends(ImDrawList& list, ImVec2 at, ImVec2 size, bool goes_on, ImU32 back) const;
    bool move_key(const KeyPress& key);
    bool edit_key(const KeyPress& key, History& history, const std::function<std::string()>& clipboard,
                  const std::function<void(const std::string&)>& copy);

    TextName name_;
    std::string text_, shown_;  // shown_: set by the program
    size_t caret_ = 0, anchor_ = 0;
    bool shortened_ = false;
    float scroll_ = 0, scale_ = 1;
    float caret_place_ = 0;  // where the caret was last drawn, from the left end
    std::shared_ptr<PangoLayout> layout_;
    size_t shaped_from_ = 0,
           shaped_to_ = 0;  // bytes of the text in the layout: all, or a section around the caret
    std::map<size_t, float>
        places_;  // cached positions of bytes in the layout: each lookup takes time linear in its length
    Texture texture_;
    std::string drawn_;  // content of the texture
};

/// The texts of the window; at most one of them has the keyboard.
struct Fields {
    TextField sentence{TextName::sentence};  // or the path of an image
    TextField second{TextName::second};      // the second sentence, or the target
    TextField other{TextName::other};        // the sentence to compare with

    Fields() { focus(sentence); }
    TextField* typed() {
        for (TextField* field : {&sentence, &second, &other})
            if (field->focused) return field;
        return nullptr;
    }
    bool take_shortened() {
        bool any = false;
        for (TextField* field : {&sentence, &second, &other}) any |= field->take_shortened();
        return any;
    }
    /// The field of a text; sentence and image share one.
    TextField& of(TextName name) {
        return name == TextName::second ? second : name == TextName::other ? other : sentence;
    }
    void focus(TextField& one) {
        leave();
        one.focused = true;
    }
    void leave() { sentence.focused = second.focused = other.focused = false; }
};

}  // namespace headlight
