// What a session asks of the worker, and what an answer changes in it.
#pragma once

#include <optional>
#include <string>

#include "session/session.h"
#include "session/work/work.h"

namespace headlight {

/// Whether a model reads a second text: a second sentence, or a target.
bool reads_two_texts(const ModelConfig& config);

/// What the session wants computed, but for what the view asks. `shown`: the sentence that is shown, or null.
/// What was forced in another text is forgotten.
WorkRequest request_of(Session& session, const SentenceResult* shown);

/// What is put beside the run that is shown, where that is another run.
std::optional<OtherRun> other_run(const Document& document);

/// Takes an answer into the session: a model that was opened or could not be, the head that was chosen, what
/// failed or does no longer. `before`: the last answer, or null. True where a model that was wanted is open
/// now.
bool take_in(Session& session, const WorkAnswer* before, const WorkAnswer& now);

}  // namespace headlight
