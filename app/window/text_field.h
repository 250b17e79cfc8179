// A one-line text field for any script: Pango shapes what is around the caret and knows where that goes.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "gpu/texture.h"
#include "session/history.h"
#include "window/input.h"
#include "window/theme.h"

typedef struct _PangoLayout PangoLayout;

namespace headlight {

class TextField {
public:
    static constexpr size_t kMaxBytes = 400'000;

    TextField(std::shared_ptr<History> history, int number) : history_(std::move(history)), number_(number) {}

    const std::string& text() const { return text_; }
    /// Another text, by the program: what was typed before cannot be brought back.
    void set_text(std::string text, bool caret_at_end = true);
    /// What the program shows while the person has typed nothing: no step of undo, and gone when one is taken back.
    void show_text(const std::string& text, bool caret_at_end);
    /// Another text, by the person, in one step of undo.
    void replace_text(const std::string& text);
    /// Takes an edit of this field back, or makes it again.
    void undo(const TextEdit& edit);
    void redo(const TextEdit& edit);
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
    void edit(size_t at, size_t size, std::string_view by, bool alone);
    bool has_length(size_t bytes);
    void insert(std::string_view what, bool pasted);
    bool erase_selection(bool alone);
    std::vector<size_t> boundaries(size_t near) const;
    size_t step(size_t from, int direction, bool word) const;
    size_t index_at(float x);
    float x_of(size_t index);
    bool covers_caret() const;
    size_t good_cut(size_t at) const;
    void layout();
    void dim_unread(size_t read, const Theme& theme);
    void draw_texture(ImVec2 size, const Theme& theme, const char* placeholder, size_t read);
    bool edit_key(const KeyPress& key, const std::function<std::string()>& clipboard, const std::function<void(const std::string&)>& copy, bool& used);

    std::shared_ptr<History> history_;
    int number_ = 0;             // in the history
    std::string text_;
    bool shown_ = false;         // text_ is the program's
    size_t caret_ = 0, anchor_ = 0;
    float scroll_ = 0, scale_ = 1;
    float caret_place_ = 0;      // where the caret was drawn last, from the left end
    std::shared_ptr<PangoLayout> layout_;
    size_t first_ = 0, last_ = 0;  // bytes of the text that are laid out: all, or a stretch around the caret
    Texture texture_;
    std::string drawn_;          // what the texture shows
};

/// The texts that are typed into the window; at most one of them has the keyboard.
struct Fields {
    std::shared_ptr<History> history = std::make_shared<History>();
    TextField sentence{history, 0};
    TextField second{history, 1};  // the second sentence, or the target
    TextField other{history, 2};   // the sentence that is compared

    Fields() { focus(sentence); }
    /// Takes the last step back, or makes it again; a text that changes has the keyboard then.
    void undo() { step(history->undo(), &TextField::undo); }
    void redo() { step(history->redo(), &TextField::redo); }
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

private:
    void step(const std::optional<Step>& step, void (TextField::*change)(const TextEdit&)) {
        const auto* text = step ? std::get_if<TextStep>(&*step) : nullptr;
        if (!text) return;
        TextField& field = text->field == 0 ? sentence : text->field == 1 ? second : other;
        (field.*change)(text->edit);
        focus(field);
    }
};

}  // namespace headlight
