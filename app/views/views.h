// The table of views for the window's center.
#pragma once

#include <set>
#include <span>
#include <string>
#include <vector>

#include "parts/view.h"

namespace headlight {

constexpr const char* kCorpusView = "corpus";  // shows heads over the texts of a file

std::span<const View> views();

/// Returns the rows whose digits answer an open question of Learn, before all other rows of these keys.
std::vector<Command> answering_commands();

/// Gives an image to the shown view; false if it takes none.
bool give_picture(Session& session, const Model& model, const std::string& path);

Status give_config(Session& session, const std::string& path);

Status give_corpus(Session& session, const Model* model, const std::string& path);

std::span<const StateVisit> view_visits();

/// Returns why a view says nothing of a model, or null.
const char* why_missing(const View& view, const Model& model);

/// Returns the chosen view if the model has what it needs, else the heat map, or the image.
size_t view_for(const Session& session, const Model& model);
const View& shown_view(const Session& session, const Model& model);
/// Returns the head or layer that a view of one shows now, the hovered one included.
ShownHeads shown_heads(const Scene& scene, const View& view);
/// True if a sheet covers the view. The palette does not count: it closes before it acts.
bool behind_sheet(const CommandContext& context);

/// Selects a clicked head and shows it alone; arrow keys then move among heads.
void show_head(const Scene& scene, int block, int head);

/// Hides all other heads: in the graph of every block, in lines of this one.
void show_heads_alone(Session& session, const ModelConfig& config, int block,
                      const std::set<AttentionHead>& heads);

void open_view(Session& session, const char* key);
/// True if All heads orders heads by the effect of ablating each.
bool ranks_by_effect(const Session& session);
/// Makes a command also open a view.
Command opens_view(const char* key, Command row);
/// Finds a view by key or name, ignoring case; null if there is none. "difference" is an alias of Compare.
const View* find_view(const std::string& name);
/// Returns the key of that view, else the name itself.
std::string key_of_view(const std::string& name);
void open_named_view(Session& session, const std::string& name);
/// Leaves a view that fills the window for the previous one.
void close_view(Session& session);

}  // namespace headlight
