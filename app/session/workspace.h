// Saves the document as a small file: model, sentences, view, masks, changes, comparison.
#pragma once

#include "session/settings.h"

namespace headlight {

/// Whether a path has the extension ".headlight.json".
bool is_workspace(const std::filesystem::path& path);

/// Reads a workspace over a session; fields that the file lacks stay, and unknown ones are kept for the next
/// save. Finds a model with a path relative to the file. Its interventions wait until the model is open.
Result<Session> open_workspace(const std::filesystem::path& path, Session session);

/// Gives each model of a document one spelling, resolving relative paths against the folder, if any. If two
/// become the same, the requested one keeps the active interventions.
void spell_models(Document& document, const std::filesystem::path& folder = {});

/// Parses a file's text. For tests and fuzzing.
Result<Session> parse_workspace(std::string_view text, const std::string& name, Session session);

/// The file's text for a session; fails if a part of it could not be read back.
Result<Json> workspace_document(Session session);

/// The file appears whole or not at all.
Status save_workspace(const Session& session, const std::filesystem::path& path);

}  // namespace headlight
