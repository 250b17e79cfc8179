#include "window/texts.h"

#include "base/utf8.h"
#include "session/samples.h"

namespace headlight {

namespace {

void note(std::string& out, const std::string& text) {
    if (out != text) out = text;
}

}  // namespace

void note_texts(Document& d, const Fields& fields) {
    note(d.named(fields.sentence.name()), fields.sentence.text());
    note(d.second, fields.second.typed());
    note(d.comparison.text, fields.other.text());
}

void show_texts(const Document& d, Fields& fields) {
    for (TextField* field : {&fields.sentence, &fields.second, &fields.other})
        field->set_text(valid_utf8(d.named(field->name())));
}

bool show_text_of(const Document& d, Fields& fields, const Model& model) {
    const TextName name = model.config.can.read_image ? TextName::picture : TextName::sentence;
    if (fields.sentence.name() == name) return false;
    const std::string& text = d.named(name);
    const bool begins = name == TextName::picture && text.empty();
    fields.sentence.set_text(name, begins ? first_picture(model) : valid_utf8(text));
    return true;
}

void set_text(Document& d, Fields& fields, TextName which, const std::string& text) {
    TextField& field = fields.of(which);
    if (which == TextName::picture && field.name() != which) return d.put_text(which, text);
    field.replace(text, d.history);
}

bool apply_edit(Document& d, Fields& fields, const TextEdit& edit) {
    TextField& field = fields.of(edit.text);
    if (field.name() == edit.text) return field.apply(edit);
    auto after = edited(d.named(edit.text), edit);
    if (after) d.named(edit.text) = *std::move(after);
    return after.has_value();
}

}  // namespace headlight
