// Names the steps of the undo history for their list: "Mask ball 4 for red 16 in head 1.2", "Open gpt2".
#pragma once

#include "questions/answering.h"
#include "session/session.h"

namespace headlight {

/// Names one step; tokens are named only while the model whose change it is, is shown (`shown`, or null).
std::string step_name(const Session& session, const SentenceResult* shown, const std::vector<Edit>& step);

/// Names the steps that were just taken.
void name_steps(Session& session, const SentenceResult* shown);

}  // namespace headlight
