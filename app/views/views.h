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

/// Gives a picture to the view that is shown; false where it takes none.
bool give_picture(Session& session, const Model& model, const std::string& path);

/// Opens the view that shows configurations on one.
Status give_config(Session& session, const std::string& path);

/// Opens the view that shows heads over many texts on a file.
Status give_corpus(Session& session, const Model* model, const std::string& path);

/// How the states of all views are remembered.
std::span<const StateVisit> view_visits();

/// The view of a model: the chosen one where it is offered and says something, else the first that is.
size_t view_for(const Session& session, const Model& model);
const View& shown_view(const Session& session, const Model& model);
/// Returns the head or layer that a view of one shows now, `hovered` included.
ShownHeads shown_heads(const Scene& scene, const View& view);
/// Whether a sheet lies over the view; the palette does not count, which closes before it acts.
bool behind_sheet(const CommandContext& context);

/// Chooses a head that was pressed, which the view then shows by itself; arrows move among heads.
void show_head(const Scene& scene, int block, int head);

/// Leaves out all other heads: of a graph everywhere, of lines in this block.
void show_heads_alone(Session& session, const ModelConfig& config, int block,
                      const std::set<AttentionHead>& heads);

/// Opens a view by its key.
void open_view(Session& session, const char* key);
/// The row of a command that opens a view too.
Command opens_view(const char* key, Command row);
/// A row by its key or tab text, in upper or lower case; null where there is none. "difference": Compare.
const View* find_view(const std::string& name);
/// The key of that row; the name itself where there is none.
std::string key_of_view(const std::string& name);
/// Opens the view of that name, where there is one.
void open_named_view(Session& session, const std::string& name);
/// Leaves a view that fills the window for the one before it.
void close_view(Session& session);

}  // namespace headlight
