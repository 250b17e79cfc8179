#include "views/commands.h"

#include <algorithm>

#include "base/cast.h"
#include "base/utf8.h"
#include "session/choices.h"
#include "session/words.h"
#include "views/changes.h"
#include "views/head_list.h"
#include "views/menus.h"
#include "views/save_menu.h"
#include "views/views.h"

namespace headlight {

namespace {

const char *kViews = "Views", *kSelection = "Heads and cells";

const View& shown_view(const CommandContext& c) { return views()[view_for(c.session, *c.model())]; }

/// Why a view cannot be opened now; "" where the model has none.
const char* missing(const View& v, const CommandContext& c) {
    if (!c.model()) return "No model is open yet.";
    return v.offered(*c.model()) ? v.missing(*c.model()) : "";
}

Command view_row(const View& v) {
    const std::string digit(1, v.digit);
    return {.name = std::string("view ") + v.key,
            .title = std::string("View ") + v.name,
            .group = kViews,
            .keys = v.digit <= '9' ? digit + ", Ctrl+" + digit : "Ctrl+" + digit,
            .help = v.name,
            .when = [&v](const CommandContext& c) { return missing(v, c); },
            .run =
                [&v](CommandContext& c, const std::string&) {
                    open_view(c.session, v.key);
                    return success();
                },
            .alias = "view " + lower_case(v.name)};
}

/// A row for what can be chosen of a view's state; the view opens, unless others show that state too.
Command choice_of_view(const View& v, const Choice& choice) {
    return {.name = choice.command,
            .words = optional_words(choice.words),
            .title = choice.title,
            .group = kViews,
            .help = choice.help,
            .when = [&v](const CommandContext& c) { return missing(v, c); },
            .run =
                [&v, choice](CommandContext& c, const std::string& words) {
                    choose(c.session.views, v.visit, choice.command, words);
                    if (!choice.shared) open_view(c.session, v.key);
                    return success();
                }};
}

/// A view that lists the choices of a step stays within cross-attention.
void move_head(CommandContext& c, int layers, int heads) {
    Selection& s = c.session.selection;
    const ModelConfig& config = c.model()->config;
    s.block = std::clamp(s.block + layers, shown_view(c).lists_choices ? cross_block(config, 0) : 0,
                         config.blocks() - 1);
    s.head += heads;
    fit_head(s, config);
    s.choose_head = false;
}

Command moves_head(const char* name, const char* title, const char* keys, const char* help, int layers,
                   int heads) {
    return {.name = name,
            .title = title,
            .group = kSelection,
            .keys = keys,
            .help = help,
            .when = [](const CommandContext& c) { return c.model() && !c.session.sheet ? nullptr : ""; },
            .run =
                [layers, heads](CommandContext& c, const std::string&) {
                    move_head(c, layers, heads);
                    return success();
                }};
}

/// The locked cell (or the one that is shown) by rows and columns of the picture.
Command moves_cell(const char* name, const char* title, const char* keys, int down, int across) {
    return {.name = name,
            .title = title,
            .group = kSelection,
            .keys = keys,
            .help = "move the locked cell",
            .when =
                [](const CommandContext& c) {
                    return shown_cell(c.session, c.answer) && !c.session.sheet ? nullptr : "";
                },
            .run =
                [down, across](CommandContext& c, const std::string&) {
                    auto [query, key] = *shown_cell(c.session, c.answer);
                    const bool turned = c.session.preferences.queries == Axis::columns;
                    const int block = c.answer->shown().block;
                    const auto queries = isize(c.sentence()->query_labels(block)),
                               keys = isize(c.sentence()->key_labels(block));
                    c.session.selection.locked =
                        std::pair{std::clamp(query + (turned ? across : down), 0, queries - 1),
                                  std::clamp(key + (turned ? down : across), 0, keys - 1)};
                    return success();
                }};
}

/// Steps through what is written, in a view that lists the choices.
Command moves_step(const char* name, const char* title, const char* keys, int by) {
    return {.name = name,
            .title = title,
            .group = "Generate",
            .keys = keys,
            .help = "in Alignment: previous or next step",
            .when =
                [](const CommandContext& c) {
                    const bool lists = c.sentence() && c.sentence()->written && shown_view(c).lists_choices;
                    return lists && !c.session.sheet ? nullptr : "";
                },
            .run =
                [by](CommandContext& c, const std::string&) {
                    const WrittenText& written = *c.sentence()->written;
                    const int wanted = c.session.document.generation.step;  // its answer may still be coming
                    show_step(c.session, written, (wanted < 0 ? written.steps() : wanted) + by);
                    return success();
                }};
}

Command brush_row() {
    return choice_row<Brush>({.name = "brush",
                              .title = "Brush",
                              .group = "Intervene",
                              .help = "what dragging over the heat map does",
                              .when = needs_weights},
                             {{"off", Brush::off},
                              {"mask", Brush::mask},
                              {"unmask", Brush::unmask},
                              {"mask rectangle", Brush::mask_rectangle},
                              {"unmask rectangle", Brush::unmask_rectangle}},
                             [](Session& s) -> Brush& { return s.of<Painting>().brush; });
}

Command scope_row() {
    return choice_row<bool>({.name = "brush on",
                             .title = "Brush and temperature on",
                             .group = "Intervene",
                             .help = "what the brush and the temperature act on"},
                            {{"all heads", true}, {"this head", false}},
                            [](Session& s) -> bool& { return s.of<Painting>().all_heads; });
}

Command back_row() {
    return {
        .name = "back",
        .title = "Back",
        .group = kViews,
        .help = "leave a view that fills the window",
        .when =
            [](const CommandContext& c) { return c.model() && shown_view(c).fills_window ? nullptr : ""; },
        .run =
            [](CommandContext& c, const std::string&) {
                close_view(c.session);
                return success();
            }};
}

/// Without words a sheet asks for the label.
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

/// Without a path the sheet opens that shows what is saved, and how.
Command saves(const char* name, const char* title, const char* keys, const char* help, bool workspace) {
    return {.name = name,
            .words = "[PATH]",
            .title = title,
            .group = "Files",
            .keys = keys,
            .help = help,
            .when = needs_sentence,
            .run = [workspace](CommandContext& c, const std::string& words) -> Status {
                open_save_menu(c.session, workspace);
                if (words.empty()) return success();
                SaveMenu& menu = c.session.of<SaveMenu>();
                menu.path = words;
                c.session.sheet.reset();
                c.host.save();
                return menu.failed ? Status(Error{menu.result}) : success();
            },
            .alias = workspace ? "" : "save picture"};
}

}  // namespace

std::vector<Command> view_commands() {
    std::vector<Command> out;
    for (const View& v : views()) out.push_back(view_row(v));
    for (const View& v : views())
        for (const Choice& choice : v.visit ? choices_of(v.visit) : std::vector<Choice>{})
            out.push_back(choice_of_view(v, choice));
    for (const View& v : views())
        for (Command& row : v.commands ? v.commands() : std::vector<Command>{}) out.push_back(std::move(row));
    const char *head = "previous or next head", *layer = "layer above or below";
    const std::vector<Command> moves{moves_step("previous step", "Previous step", "←", -1),
                                     moves_step("next step", "Next step", "→", 1),
                                     moves_head("previous head", "Previous head", "←", head, 0, -1),
                                     moves_head("next head", "Next head", "→", head, 0, 1),
                                     moves_head("previous layer", "Previous layer", "↑, PgUp", layer, -1, 0),
                                     moves_head("next layer", "Next layer", "↓, PgDn", layer, 1, 0),
                                     moves_cell("cell up", "Move the cell up", "Shift+↑", -1, 0),
                                     moves_cell("cell down", "Move the cell down", "Shift+↓", 1, 0),
                                     moves_cell("cell left", "Move the cell left", "Shift+←", 0, -1),
                                     moves_cell("cell right", "Move the cell right", "Shift+→", 0, 1),
                                     brush_row(),
                                     scope_row(),
                                     back_row()};
    out.insert(out.end(), moves.begin(), moves.end());
    return out;
}

std::vector<Command> label_commands() {
    return {{.name = "label",
             .words = "[TEXT]",
             .title = "Label head",
             .group = kSelection,
             .keys = "F2",
             .help = "label the selected head",
             .when = needs_sentence,
             .run = label_head},
            {.name = "remove label",
             .title = "Remove the head's label",
             .group = kSelection,
             .help = "remove the selected head's label",
             .when = needs_sentence,
             .run = remove_label}};
}

std::vector<Command> save_commands() {
    return {saves("save figure", "Save figure…", "Ctrl+S", "save the figure or its numbers", false),
            saves("save workspace", "Save workspace…", "Ctrl+Shift+S", "save the workspace", true)};
}

}  // namespace headlight
