// A one-line text field for any script: Pango shapes what is around the caret and knows where that goes.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "gpu/texture.h"
#include "window/input.h"
#include "window/theme.h"

typedef struct _PangoLayout PangoLayout;

namespace headlight {

class TextField {
public:
    static constexpr size_t kMaxBytes = 400'000;

    const std::string& text() const { return text_; }
    void set_text(std::string text, bool caret_at_end = true);
    bool focused = true;

    /// Edits by what was pressed and typed; takes what it used. `clipboard` reads and `copy` writes the system's clipboard.
    /// Returns whether the text changed.
    bool handle(Input& input, const std::function<std::string()>& clipboard, const std::function<void(const std::string&)>& copy);

    /// Mouse in pixels from the left end of the visible text.
    void press(float x, bool extend);
    void select_word(float x);
    void drag(float x);

    /// Draws into the rectangle; `placeholder` shows while there is no text. What stands behind the first `read` bytes is dimmed.
    void draw(ImDrawList& list, ImVec2 at, ImVec2 size, float scale, const Theme& theme, const char* placeholder, size_t read = std::string::npos);

private:
    void insert(std::string_view what);
    bool erase_selection();
    std::vector<size_t> boundaries(size_t near) const;
    size_t step(size_t from, int direction, bool word) const;
    size_t index_at(float x);
    float x_of(size_t index);
    bool covers_caret() const;
    size_t good_cut(size_t at) const;
    void layout();
    void dim_unread(size_t read, const Theme& theme);
    void draw_texture(ImVec2 size, const Theme& theme, const char* placeholder, size_t read);
    void remember();
    bool edit_key(const KeyPress& key, const std::function<std::string()>& clipboard, const std::function<void(const std::string&)>& copy, bool& used);

    std::string text_;
    size_t caret_ = 0, anchor_ = 0;
    float scroll_ = 0, scale_ = 1;
    float caret_place_ = 0;      // where the caret was drawn last, from the left end
    std::shared_ptr<PangoLayout> layout_;
    size_t shaped_from_ = 0, shaped_to_ = 0;  // bytes of the text in the layout: all, or a stretch around the caret
    Texture texture_;
    std::string drawn_;          // what the texture shows
    std::vector<std::pair<std::string, size_t>> past_, future_;  // undo and redo: text and caret
};

/// The texts that are typed into the window; at most one of them has the keyboard.
struct Fields {
    TextField sentence;
    TextField second;  // the second sentence, or the target
    TextField other;   // the sentence that is compared

    Fields() { focus(sentence); }
    TextField* typed() {
        for (TextField* field : {&sentence, &second, &other})
            if (field->focused) return field;
        return nullptr;
    }
    void focus(TextField& one) {
        leave();
        one.focused = true;
    }
    void leave() { sentence.focused = second.focused = other.focused = false; }
};

}  // namespace headlight
