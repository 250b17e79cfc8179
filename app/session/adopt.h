// Applies documents to the session, by one function: workspaces, recovered ones, slides, opened models.
#pragma once

#include "model/model.h"
#include "session/session.h"

namespace headlight {

/// Parts of a document to apply.
enum class Adopted {
    document,  // everything read replaces everything present; ends history, tries, presenting
    slide,     // the view of the open model: one undo step
    changes,   // the document's own interventions for the open model
};

/// The session without its document: preferences and program state.
Session without_document(Session session);

/// `from`: what was read over a copy of the session; null for the changes only. `open`: the current model, or
/// null. Skips what does not fit and reports it in the notice.
void adopt(Session& session, Session* from, Adopted what, const Model* open);

/// Parses masks and changes; skips those that do not fit the model and names them in `notice`.
Intervention intervention_of(const ModelChanges& spelled, const ModelConfig& config, std::string& notice);

/// Spells the active masks, changes, metric and forced tokens, to save and restore them by model.
void note_changes(Document& document);

}  // namespace headlight
