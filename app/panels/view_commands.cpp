#include "panels/view_commands.h"

#include <algorithm>

#include "base/cast.h"
#include "base/utf8.h"
#include "panels/head_list.h"
#include "panels/menus.h"
#include "panels/save_menu.h"
#include "panels/token_menu.h"
#include "parts/interventions.h"
#include "parts/layer_heads.h"
#include "session/commands/choices.h"
#include "session/commands/word_parsers.h"
#include "session/save_path.h"
#include "views/doors.h"
#include "views/viewport_commands.h"
#include "views/views.h"

namespace headlight {

namespace {

const char *kViews = "Views", *kSelection = "Heads and cells";

const View& shown_view(const CommandContext& c) { return shown_view(c.session, *c.model()); }

/// Why a view or a door cannot be opened now.
const char* missing(const View& v, const CommandContext& c) {
    return c.model() ? why_missing(v, *c.model()) : "No model is open yet.";
}
const char* missing(const Door& door, const CommandContext& c) {
    return c.model() ? door.missing(*c.model()) : "No model is open yet.";
}

/// The commands that doors send.
std::span<const Command> sent_by_doors() {
    static const std::vector<Command> table =
        joined({comparison_commands(), generation_commands(), intervention_commands(),
                find_view("heads")->commands()});
    return table;
}

/// Opens a view on what it chooses, unless it is shown already.
void begin_view(CommandContext& c, const View& v) {
    const bool opens = c.model() && &shown_view(c) != &v;
    open_view(c.session, v.key);
    if (v.begin && (opens || (c.model() && c.session.document.text.empty()))) v.begin(c);
}

Status open_door(CommandContext& c, const Door& door) {
    begin_view(c, *door.view);
    if (door.command) TRY_STATUS(carry_out({&command_named(sent_by_doors(), door.command), door.words}, c));
    c.session.of<VisitedDoors>().note(door.key);
    return success();
}

Command door_row(const Door& door) {
    Command out = row(
        {"view " + door.key, door.name, door.name},
        [&door](CommandContext& c, const std::string&) { return open_door(c, door); },
        [&door](const CommandContext& c) { return missing(door, c); });
    if (!door.command && door.view->letter) out.keys = std::string("Ctrl+") + door.view->letter;
    out.alias = "view " + lower_case(door.name);
    return also_called(door.synonyms, out);
}

/// The row of a view that has no door of its own.
Command view_row(const View& v) {
    Command out = row(
        {std::string("view ") + v.key, v.name, v.name}, [&v](CommandContext& c) { begin_view(c, v); },
        [&v](const CommandContext& c) { return missing(v, c); });
    if (v.letter) out.keys = std::string("Ctrl+") + v.letter;
    return also_called(v.synonyms, out);
}

std::vector<Command> opening_commands() {
    std::vector<Command> out;
    for (const Door& door : doors()) out.push_back(door_row(door));
    for (const View& v : views())
        if (!find_door(v.key)) out.push_back(view_row(v));
    return out;
}

/// "1": what answers a question; again: the next that does.
Command question_row(ViewGroup group) {
    const GroupRow& of = row_of(view_groups(), group);
    const std::string digit = std::to_string(static_cast<int>(group) + 1);
    const auto open = [group](CommandContext& c, const std::string&) -> Status {
        const Door* door = next_door(c.session, *c.model(), group);
        if (!door) return Error{"Nothing of this applies to " + c.model()->name + "."};
        const bool typing = c.host.typing();
        TRY_STATUS(open_door(c, *door));
        if (!typing) c.host.leave_texts();  // the next digit is a command again
        return success();
    };
    return row({"question " + lower_case(of.name), std::string(of.name) + ": " + of.question,
                std::string(of.question) + " Again: the next view", digit + ", Ctrl+" + digit},
               open, needs_model);
}

std::vector<Command> question_commands() {
    std::vector<Command> out;
    for (size_t i = 0; i < view_groups().size(); ++i) out.push_back(question_row(static_cast<ViewGroup>(i)));
    return out;
}

/// A row for a choice in a view's state; opens the view unless others show that state too.
Command choice_of_view(const View& v, const Choice& choice) {
    const auto run = [&v, choice](CommandContext& c, const std::string& words) {
        choose(c.session.views, v.visit, choice.command, words);
        return success();
    };
    Command out = row({choice.command, choice.title, choice.help}, run,
                      [&v](const CommandContext& c) { return missing(v, c); });
    out.words = optional_words(choice.words);
    return choice.shared ? out : opens_view(v.key, out);
}

/// The view's own rows, under the heading Views and available when the view is, unless they say otherwise.
std::vector<Command> own_rows(const View& v) {
    std::vector<Command> rows = v.commands ? v.commands() : std::vector<Command>{};
    for (Command& row : rows) {
        if (row.group.empty()) row.group = kViews;
        if (!row.when) row.when = [&v](const CommandContext& c) { return missing(v, c); };
    }
    return rows;
}

/// Rows for all choices in the states of all views.
std::vector<Command> choice_commands() {
    std::vector<Command> out;
    for (const View& v : views())
        for (const Choice& choice : v.visit ? choices_of(v.visit) : std::vector<Choice>{})
            out.push_back(choice_of_view(v, choice));
    return out;
}

/// Stays within cross-attention in a view that lists the choices of a step.
void move_head(CommandContext& c, int layers, int heads) {
    Selection& s = c.session.selection;
    const ModelConfig& config = c.model()->config;
    s.choose(std::clamp(s.block + layers, shown_view(c).of_target ? cross_block(config, 0) : 0,
                        config.blocks() - 1),
             s.head + heads);
    fit_head(s, config);
}

Command moves_head(const CommandText& text, int layers, int heads) {
    return row(
        text, [layers, heads](CommandContext& c) { move_head(c, layers, heads); },
        [](const CommandContext& c) { return c.model() && !behind_sheet(c) ? nullptr : ""; });
}

/// Moves the locked cell (or the shown one) by rows and columns of the heat map.
void move_cell(CommandContext& c, int down, int across) {
    const auto [query, key] = *shown_cell(c.session, c.answer);
    const bool turned = c.session.preferences.queries == Axis::columns;
    const int block = c.answer->shown().block;
    const auto queries = isize(c.sentence()->query_labels(block)),
               keys = isize(c.sentence()->key_labels(block));
    c.session.selection.locked = std::pair{std::clamp(query + (turned ? across : down), 0, queries - 1),
                                           std::clamp(key + (turned ? down : across), 0, keys - 1)};
}

Command moves_cell(const char* name, const char* title, const char* keys, int down, int across) {
    return row(
        {name, title, "move the locked cell", keys},
        [down, across](CommandContext& c) { move_cell(c, down, across); },
        [](const CommandContext& c) {
            return shown_cell(c.session, c.answer) && !behind_sheet(c) ? nullptr : "";
        });
}

/// Steps through the generated tokens in a view that lists the choices.
Command moves_step(const char* name, const char* title, const char* keys, int by) {
    const auto move = [by](CommandContext& c) {
        const WrittenText& written = *c.sentence()->written;
        const int wanted = c.session.document.generation.step;  // its answer may still be on the way
        show_step(c.session, written, (wanted < 0 ? written.steps() : wanted) + by);
    };
    const auto when = [](const CommandContext& c) {
        const bool lists = c.sentence() && c.sentence()->written && shown_view(c).of_target;
        return lists && !behind_sheet(c) ? nullptr : "";
    };
    return row({name, title, "in Alignment: previous or next step", keys}, move, when);
}

std::vector<Command> move_commands() {
    const char *head = "previous or next head", *layer = "layer above or below";
    return {moves_head({"previous head", "Previous head", head, "←"}, 0, -1),
            moves_head({"next head", "Next head", head, "→"}, 0, 1),
            moves_head({"previous layer", "Previous layer", layer, "↑, PgUp"}, -1, 0),
            moves_head({"next layer", "Next layer", layer, "↓, PgDn"}, 1, 0),
            moves_cell("cell up", "Move the cell up", "Shift+↑", -1, 0),
            moves_cell("cell down", "Move the cell down", "Shift+↓", 1, 0),
            moves_cell("cell left", "Move the cell left", "Shift+←", 0, -1),
            moves_cell("cell right", "Move the cell right", "Shift+→", 0, 1)};
}

std::vector<Command> brush_commands() {
    return {choice_row({"brush", "Brush", "what dragging on the heat map does"},
                       {{"off", Brush::off},
                        {"mask", Brush::mask},
                        {"unmask", Brush::unmask},
                        {"mask rectangle", Brush::mask_rectangle},
                        {"unmask rectangle", Brush::unmask_rectangle}},
                       of_state(&Painting::brush), needs_model_to_run),
            choice_row({"brush on", "Brush and temperature scope",
                        "heads that the brush and the temperature act on"},
                       {{"all heads", BrushScope::all_heads},
                        {"this layer", BrushScope::this_layer},
                        {"this head", BrushScope::this_head}},
                       of_state(&Painting::scope))};
}

const char* fills_window(const CommandContext& c) {
    return c.model() && shown_view(c).fills_window() ? nullptr : "";
}

/// Opens a sheet for the label when called without words.
Status label_head(CommandContext& c, const std::string& words) {
    Session& s = c.session;
    const ModelConfig& config = c.model()->config;
    const std::string head = head_path(config, s.selection.block, s.selection.head);
    if (!words.empty()) {
        s.document.label(c.model()->name, head, valid_utf8(words.substr(0, 100)));
        return success();
    }
    const auto model = s.document.head_labels.find(c.model()->name);
    const bool known = model != s.document.head_labels.end() && model->second.count(head);
    s.of<LabelMenu>().typed = known ? model->second.at(head) : "";
    s.sheet = Sheet::label;
    open_view(s, "heads");
    return success();
}

Status remove_label(CommandContext& c, const std::string&) {
    const Selection& s = c.session.selection;
    c.session.document.label(c.model()->name, head_path(c.model()->config, s.block, s.head), "");
    return success();
}

/// Opens the save sheet when called without a path.
Command saves(const CommandText& text, bool workspace) {
    const auto run = [workspace](CommandContext& c, const std::string& words) -> Status {
        open_save_menu(c.session, c.model(), workspace);
        if (words.empty()) return success();
        SaveMenu& menu = c.session.of<SaveMenu>();
        menu.path = full_path(words, current_folder()).string();
        c.session.sheet.reset();
        c.host.save();
        return menu.failed ? Status(Error{menu.result}) : success();
    };
    return row(text, run, workspace ? needs_model : needs_sentence);
}

}  // namespace

std::vector<Command> view_commands() {
    std::vector<Command> own;
    for (const View& v : views()) own = joined({own, own_rows(v)});
    const std::vector<Command> back{row(
        {"back", "Back", "leave a full-window view"}, [](CommandContext& c) { close_view(c.session); },
        fills_window)};
    return joined({in_group(kViews, joined({answering_commands(), question_commands(), opening_commands(),
                                            choice_commands(), layer_heads_commands(), back})),
                   own,
                   in_group("Generate", {moves_step("previous step", "Previous step", "←", -1),
                                         moves_step("next step", "Next step", "→", 1)}),
                   in_group(kSelection, joined({move_commands(), token_commands()})),
                   in_group("Intervene", brush_commands()), in_group("Display", viewport_commands())});
}

std::vector<Command> label_commands() {
    return in_group(
        kSelection,
        {row({"label [TEXT]", "Label head", "label the selected head", "F2"}, label_head, needs_sentence),
         row({"remove label", "Remove the head's label", "remove the selected head's label"}, remove_label,
             needs_sentence)});
}

std::vector<Command> save_commands() {
    return in_group(
        "Files",
        {also_called("export, screenshot, PDF, SVG, PNG, CSV",
                     saves({"save figure [PATH]", "Save figure…", "save the figure or its numbers", "Ctrl+S"},
                           false)),
         saves({"save workspace [PATH]", "Save workspace…", "save the workspace", "Ctrl+Shift+S"}, true)});
}

}  // namespace headlight
