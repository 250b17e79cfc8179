// What a session asks of the worker, and what an answer changes in it.
#pragma once

#include <optional>
#include <string>

#include "session/session.h"
#include "session/work.h"

namespace headlight {

/// Whether a model reads a second text: a second sentence, or a target.
bool reads_two_texts(const ModelConfig& config);

/// What the session wants computed, but for what the view asks. `shown`: the sentence that is shown, or null.
/// What was forced in another text is forgotten.
WorkRequest request_of(Session& session, const SentenceResult* shown);

/// What is put beside the run that is shown, where that is another run.
std::optional<OtherRun> other_run(const Document& document);

/// Takes an answer into the session: a model that was opened or could not be, the head that was chosen, what
/// failed or does no longer. `before`: the last answer, or null. True where another model is open now.
bool take_in(Session& session, const WorkAnswer* before, const WorkAnswer& now);

/// Puts an opened workspace in the place of what was open. Its model is opened where that is another one, or
/// where the last opening failed; else its changes are put in force. `shown`: the last answer, or null.
void replace_session(Session& session, Session opened, const WorkAnswer* shown);

/// The session as the next start shall find it: with the model that is open where the chosen one was not
/// opened.
Session to_remember(Session session, const WorkAnswer* shown);

}  // namespace headlight
