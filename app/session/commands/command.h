// What a person can do, as a table. Keys, buttons, menus, the palette, F1, --do and the tests go through its
// rows, so that each thing has one name, one help and one effect.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "session/commands/keys.h"
#include "session/session.h"
#include "session/work/worker.h"

namespace headlight {

/// What a command needs of the program around the session: the window, or a test.
class Host {
public:
    virtual ~Host() = default;

    /// Puts a text into a field, as one step of the history; the sentence's is the picture's where the model
    /// reads that.
    virtual void set_text(TextName which, const std::string& text) = 0;
    virtual const std::string& text(TextName which) = 0;
    /// Does an edit that the history gave back, in the field or, where that shows another text, in the
    /// document; false where the text is no longer the one that was edited.
    virtual bool apply(const TextEdit& edit) = 0;
    /// Puts the document's texts into the fields.
    virtual void show_texts() = 0;
    /// Whether a text field has the keyboard; leaving it gives the arrows to heads and cells.
    virtual bool typing() const = 0;
    virtual void focus_text(TextName which) = 0;
    virtual void leave_texts() = 0;

    /// The control that Tab reached: moves on, presses it, chooses in it.
    virtual bool has_focus() const = 0;
    virtual void move_focus(int by) = 0;
    virtual void press_focus() = 0;
    virtual void step_focus(int by) = 0;
    virtual void drop_focus() = 0;

    /// Gives a picture to the view that is shown; false where it takes none.
    virtual bool show_picture(const std::string& path) = 0;
    /// Counts the parameters of a config.json in the view of architectures.
    virtual Status show_config(const std::string& path) = 0;
    /// Shows the heads over the texts of a file; fails where the open model cannot read them.
    virtual Status show_corpus(const std::string& path) = 0;
    /// Asks for such a file with the desktop's dialog.
    virtual void browse_corpus() = 0;
    virtual void open_workspace(const std::string& path) = 0;
    virtual void drop_left_workspace() = 0;
    virtual void copy_numbers() = 0;
    virtual void copy_text(const std::string& text) = 0;
    /// Writes what the save sheet shows to its path; asks for one with the desktop's dialog.
    virtual void save() = 0;
    virtual void browse() = 0;
    virtual void close_window() = 0;
};

/// What a command acts on.
struct CommandContext {
    Session& session;
    const WorkAnswer* answer;  // null before the first one
    Host& host;

    const SentenceResult* sentence() const {
        return answer && answer->sentence && answer->sentence->trace ? answer->sentence.get() : nullptr;
    }
    const Model* model() const {
        return answer && answer->sentence ? answer->sentence->model.get() : nullptr;
    }
};

/// A row of the table.
struct Command {
    std::string name;  // its words in --do and in tests: "view lines", "theme"
    /// What may follow the name: "" nothing, "dark|light" one of these, "LAYER.HEAD" (capitals) something of
    /// that form; in brackets where it may be left out.
    std::string words = "";
    std::string title = "";  // as the palette shows it
    std::string group = "";  // heading of F1
    std::string keys = "";   // "Ctrl+Shift+K, F1"
    std::string help = "";   // one line of F1 and of --commands; rows with keys and one help share a line
    /// Null where it can be done now, else why not; "" where it just does not apply: its key then does
    /// something else.
    std::function<const char*(const CommandContext&)> when = nullptr;
    std::function<Status(CommandContext&, const std::string& words)> run = nullptr;
    std::string alias = "";  // another name

    const char* missing(const CommandContext& context) const { return when ? when(context) : nullptr; }
    bool needs_words() const { return !words.empty() && words[0] != '['; }
    bool takes_words() const { return !words.empty(); }
    /// Those of its words that stand for themselves.
    std::vector<std::string> choices() const;
};

/// The words of a row that takes one of these, or none: "[on|off]".
std::string optional_words(const std::vector<std::string>& words);

/// What a part of the window asks for while it is drawn; carried out after the frame.
struct SentCommand {
    std::string name, words;  // name: a row's, exactly
    bool joins = false;       // what it does belongs to the last step of undo
};

/// A row and the words behind its name.
struct CommandLine {
    const Command* command = nullptr;
    std::string words;
};

/// "view lines", "head 2.0": the row with the longest name that the text begins with, in upper or lower
/// case. An error names the nearest row where there is none, or what the row takes.
Result<CommandLine> parse_command(std::span<const Command> table, const std::string& text);

/// "view lines; head 2.0" → its commands in order. A ; within double quotes is a part of the words.
Result<std::vector<CommandLine>> parse_commands(std::span<const Command> table, const std::string& text);

/// The row of exactly this name. A part of the window names no other.
const Command& command_named(std::span<const Command> table, const std::string& name);

/// Does it, or says why it cannot be done.
Status carry_out(const CommandLine& line, CommandContext& context);

/// What a pressed key does: the first row with that key that applies, else one that says why it does not;
/// null where the key means nothing now.
const Command* command_of_key(std::span<const Command> table, const KeyChord& pressed,
                              const CommandContext& context);

/// The headings of F1, in their order.
inline constexpr const char* kGroups[] = {"Views", "Heads and cells", "Intervene", "Compare", "Generate",
                                          "Edit",  "Display",         "Files",     "Window"};

/// F1: each group with its lines of keys and help.
struct HelpGroup {
    std::string title;
    std::vector<std::pair<std::string, std::string>> lines;
};
std::vector<HelpGroup> key_help(std::span<const Command> table);

/// --commands: a line for each row with its name, keys and help.
std::string list_commands(std::span<const Command> table);

}  // namespace headlight
