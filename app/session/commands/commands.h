// The rows that act on the session alone, by what they are about. The window joins them with those of the
// views and its own (window/commands.h).
#pragma once

#include "session/commands/command_rows.h"

namespace headlight {

std::vector<Command> selection_commands();     // heads, cells
std::vector<Command> display_commands();       // how it is shown
std::vector<Command> intervention_commands();  // masks, changes, undo
std::vector<Command> metric_commands();        // what is explained, and how heads act on it
std::vector<Command> comparison_commands();
std::vector<Command> generation_commands();
std::vector<Command> document_commands();  // models, texts, files

/// Of the view that shows it.
Command explain_row();

/// Why something that needs a model cannot be done yet, …
const char* needs_model(const CommandContext& context);
/// … something that needs a text's pass,
const char* needs_sentence(const CommandContext& context);
/// … or one that computes: a trace holds no weights.
const char* needs_weights(const CommandContext& context);

/// … or one whose model predicts tokens.
const char* needs_logits(const CommandContext& context);

const char* needs_written(const CommandContext& context);

/// "2.0,1.3": heads of the model that is open.
Result<std::vector<AttentionHead>> heads_named(const CommandContext& context, const std::string& words);

/// Shows a step of what is generated; the last one is "everything".
void show_step(Session& session, const WrittenText& written, int step);

/// Puts a change in force in the place of what it excludes: another way of ablating or freezing the same
/// head, another temperature or score at the same place, the opposite at the same cells. The same one again
/// is taken away, and so is what a temperature of 1 stands in the place of.
void put_change(Document& document, const Change& change);

/// The cell whose numbers are shown: focused, or the last query's heaviest key; none without tokens.
std::optional<std::pair<int, int>> shown_cell(const Session& session, const WorkAnswer* answer);

/// Why something that goes through the history, or ends it, cannot be done now: a step is being made.
const char* outside_group(const CommandContext& context);

/// Makes what an edit is about as it is after it; false where that is no longer what was edited.
bool put_edit(const Edit& edit, Session& session, Host& host);
/// Take a step back, do it again; what is taken back in a view is brought to sight, what does not fit any
/// more is left out and said in the notice.
void undo(Session& session, Host& host);
void redo(Session& session, Host& host);

/// The word of the command "rank" for a way of ranking heads.
std::string rank_word(int rank);

}  // namespace headlight
