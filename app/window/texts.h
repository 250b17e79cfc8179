// The document's texts and the fields that they are typed into.
#pragma once

#include "model/model.h"
#include "paint/text_field.h"
#include "session/session.h"

namespace headlight {

/// The document says what stands in the fields.
void note_texts(Document& document, const Fields& fields);

/// The fields show what the document says, without a step of undo.
void show_texts(const Document& document, Fields& fields);

/// The first field shows the text that a model reads: the sentence, or the path of a picture; true where that
/// is another one than before.
bool show_text_of(const Document& document, Fields& fields, const Model& model);

/// Does an edit that the history gave back: in the field of the text, or in the document alone where that
/// shows another text. False where the text is no longer the one that was edited.
bool apply_edit(Document& document, Fields& fields, const TextEdit& edit);

}  // namespace headlight
