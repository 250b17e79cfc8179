// Lists five questions and the doors to the views that answer each.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "views/views.h"

namespace headlight {

struct GroupRow {
    const char* name;      // of the group
    const char* question;  // that its views answer
};
/// By their place in ViewGroup; the key of each is its place from 1.
std::span<const GroupRow> view_groups();

/// A pill of the header and a row of the palette: a view, or one way to use it.
struct Door {
    std::string key;  // its command is "view KEY"
    std::string name, synonyms;
    ViewGroup group;
    const View* view;
    /// Carried out once the view is open; null: nothing.
    const char *command = nullptr, *words = "";
    /// Whether the view, where it is shown, is used in this way; null: always.
    bool (*used)(const Session& session) = nullptr;
    /// Why it does nothing with a model although its view does; null: it always does.
    const char* (*without)(const Model& model) = nullptr;

    /// Whether it belongs to a model at all; null: to every one.
    bool (*offered)(const Model& model) = nullptr;

    /// Why it says nothing of a model, or null.
    const char* missing(const Model& model) const;
};

/// In the order of the groups and of the pills in each.
std::span<const Door> doors();
std::vector<const Door*> doors_of(ViewGroup group);
/// … those that belong to a model.
std::vector<const Door*> doors_of(ViewGroup group, const Model& model);
/// Returns null if there is none.
const Door* find_door(std::string_view key);

/// Remembers opened doors, the last one first.
struct VisitedDoors {
    std::vector<std::string> keys;
    void visit(FieldVisitor& visitor);
    void note(const std::string& key);
};

/// Returns the door of the shown view: of several, the one opened last; null for Learn.
const Door* shown_door(const Session& session, const Model& model);
/// Returns the door that the key of a group opens: the one opened last, or the next if the group is shown
/// already; null if none applies.
const Door* next_door(const Session& session, const Model& model, ViewGroup group);

}  // namespace headlight
