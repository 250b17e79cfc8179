// Rows that act on the session only, by topic. window/commands.h joins them with the views' and its own.
#pragma once

#include "questions/chat_input.h"
#include "session/commands/command_rows.h"

namespace headlight {

std::vector<Command> selection_commands();     // heads, cells
std::vector<Command> display_commands();       // display
std::vector<Command> intervention_commands();  // masks, changes, undo, history
std::vector<Command> metric_commands();        // the metric, and effects of heads
std::vector<Command> adapter_commands();       // its strength
std::vector<Command> chat_commands();          // messages, turns
std::vector<Command> comparison_commands();
std::vector<Command> generation_commands();
std::vector<Command> document_commands();  // models, texts, files

/// Of the view that shows it.
Command explain_row();

/// Why something that needs a model is unavailable, …
const char* needs_model(const CommandContext& context);
/// … something that needs a text's pass,
const char* needs_sentence(const CommandContext& context);
/// … or one that computes: a trace has no weights.
const char* needs_model_to_run(const CommandContext& context);

/// … or one whose model predicts tokens.
const char* needs_logits(const CommandContext& context);

/// … or one whose model has an adapter.
inline constexpr const char* kNoAdapter = "The model has no adapter; drop the folder of one on the window.";

/// … or one whose model has a chat template.
inline constexpr const char* kNoChatTemplate =
    "This model has no chat template; open a chat or instruct model.";
const char* needs_chat(const CommandContext& context);

const char* needs_written(const CommandContext& context);

/// Puts an edited message back as it was.
void stop_editing(CommandContext& context);

/// The strength of the model's adapter, or the one that is being opened.
float strength_of(const Session& session, const Model& model);

/// Parses "2.0,1.3": heads of the open model.
Result<std::vector<AttentionHead>> heads_named(const CommandContext& context, const std::string& words);

/// Shows a step of the generation; the last step means all.
void show_step(Session& session, const WrittenText& written, int step);

/// Activates a change in place of those it excludes: another ablation or freezing of the same head, another
/// temperature or score at the same place, the opposite at the same cells. An active change is removed
/// instead; a temperature of 1 only removes.
void put_change(Document& document, const Change& change);

/// The cell whose numbers to show: focused, or the last query's strongest key; none without tokens.
std::optional<std::pair<int, int>> shown_cell(const Session& session, const WorkAnswer* answer);

/// Why undo or redo is unavailable: a step is in progress.
const char* outside_group(const CommandContext& context);

/// Applies an edit; false if its target is no longer what was edited.
bool put_edit(const Edit& edit, Session& session, Host& host);
/// Undo and redo; show what changes in a view, skip what no longer fits and report it in the notice.
void undo(Session& session, Host& host);
void redo(Session& session, Host& host);

/// The word of the command "rank" for a ranking.
std::string rank_word(int rank);

}  // namespace headlight
