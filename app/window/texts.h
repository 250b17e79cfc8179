// Connects the document's texts with the fields that edit them.
#pragma once

#include "model/model.h"
#include "paint/text_field.h"
#include "session/session.h"

namespace headlight {

/// Copies the fields' texts into the document.
void note_texts(Document& document, const Fields& fields);

/// Shows the document's texts in the fields, without an undo step.
void show_texts(const Document& document, Fields& fields);

/// Shows in the first field the text that the model reads: the sentence, or the path of an image; true if
/// that changed.
bool show_text_of(const Document& document, Fields& fields, const Model& model);

/// Sets a text as an undo step: in its field, or in the document only if no field shows that image.
void set_text(Document& document, Fields& fields, TextName which, const std::string& text);

/// Applies an edit from the history: in the field of the text, or in the document only if the field shows
/// another text. False if the text is no longer the edited one.
bool apply_edit(Document& document, Fields& fields, const TextEdit& edit);

}  // namespace headlight
