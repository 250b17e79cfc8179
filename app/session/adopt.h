// What belongs to a document, said once: a workspace, what was left of a window, a slide and a model that is
// opened put it in force by the same function.
#pragma once

#include "model/model.h"
#include "session/session.h"

namespace headlight {

/// What is taken over.
enum class Adopted {
    document,  // all that was read, in the place of all that was there; history, tries, presenting end with
               // it
    slide,     // what is looked at, of the model that is open: one step of undo
    changes,   // what the session's own document says of the model that is open now
};

/// The session without its document: what belongs to the person and the program.
Session without_document(Session session);

/// `from`: what was read over a copy of the session; null for the changes alone. `open`: the model that
/// answers, or null. What it has no place for is left out and said in the notice.
void adopt(Session& session, Session* from, Adopted what, const Model* open);

/// Masks and changes as they are spelled; one that the model has no place for is left out, and `notice` says
/// which.
Intervention intervention_of(const ModelChanges& spelled, const ModelConfig& config, std::string& notice);

/// Spells what is in force of masks, changes, metric and forced tokens, so that it is saved and comes back
/// with its model.
void note_changes(Document& document);

}  // namespace headlight
