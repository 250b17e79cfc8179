// Makes the session's request to the worker, and applies the answer.
#pragma once

#include <optional>

#include "session/session.h"
#include "session/work/work.h"

namespace headlight {

/// Whether a model reads a second text: a second sentence, or a target.
bool reads_two_texts(const ModelConfig& config);

/// The session's request without the view's questions. `shown`: the sentence on screen, or null.
WorkRequest request_of(Session& session, const SentenceResult* shown);

/// The run to compare with, if it is another run.
std::optional<OtherRun> other_run(const Document& document);

/// Applies an answer to the session: a model that opened or failed, the chosen head, new or cleared errors.
/// `before`: the last answer, or null. True if a requested model has just opened.
bool take_in(Session& session, const WorkAnswer* before, const WorkAnswer& now);

}  // namespace headlight
