// What is looked at, as a small file: model, sentences, view, masks, changes, comparison.
#pragma once

#include "session/settings.h"

namespace headlight {

/// Whether a path is named like a workspace: it ends in ".headlight.json".
bool is_workspace(const std::filesystem::path& path);

/// Reads a workspace over a session; what the file does not name stays, and
/// what this version does not know is kept for the next save. A model that is named relative to the
/// file is found there. Its changes wait until the model is open.
Result<Session> open_workspace(const std::filesystem::path& path, Session session);

/// Gives each model of a document its one spelling. What lies in the folder, if any, is meant by a path that
/// is not absolute. Of two that become one, the one that is wanted keeps what is in force.
void spell_models(Document& document, const std::filesystem::path& folder = {});

/// From the text of such a file. For tests and fuzzing.
Result<Session> parse_workspace(std::string_view text, const std::string& name, Session session);

/// What such a file holds of a session; an error where a part of it could not be read back whole.
Result<Json> workspace_document(Session session);

/// The file appears whole or not at all.
Status save_workspace(const Session& session, const std::filesystem::path& path);

}  // namespace headlight
