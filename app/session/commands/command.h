// The table of everything you can do. Keys, buttons, menus, drops, the palette, F1, --do and the tests run
// its rows, so each action has one name, one help and one effect.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "session/commands/keys.h"
#include "session/session.h"
#include "session/work/worker.h"

namespace headlight {

/// Services that commands need of the program around the session: the window, or a test.
class Host {
public:
    virtual ~Host() = default;

    /// Sets a text, as one undo step; the sentence's field holds the image path if the model reads that.
    virtual void set_text(TextName which, const std::string& text) = 0;
    virtual const std::string& text(TextName which) = 0;
    /// Applies an edit from the history, in the field or, if it shows another text, in the document; false if
    /// the text is no longer the edited one.
    virtual bool apply(const TextEdit& edit) = 0;
    virtual void show_texts() = 0;
    /// Whether a text field has the keyboard; leaving it gives the arrows to heads and cells.
    virtual bool typing() const = 0;
    virtual void focus_text(TextName which) = 0;
    virtual void leave_texts() = 0;

    /// Moves the Tab focus, presses the focused control, changes its choice.
    virtual bool has_focus() const = 0;
    virtual void move_focus(int by) = 0;
    virtual void press_focus() = 0;
    virtual void step_focus(int by) = 0;
    virtual void drop_focus() = 0;

    /// Gives an image to the current view; false if it takes none.
    virtual bool show_picture(const std::string& path) = 0;
    /// Counts the parameters of a config.json in the view Architecture.
    virtual Status show_config(const std::string& path) = 0;
    /// Analyzes the texts of a file; fails if the open model cannot read them.
    virtual Status show_corpus(const std::string& path) = 0;
    /// Asks for such a file with the desktop's dialog.
    virtual void browse_corpus() = 0;
    /// Asks for an image that the model reads.
    virtual void browse_image() = 0;
    virtual void open_workspace(const std::string& path) = 0;
    /// Opens a lesson by path, or a built-in one by name; returns to what was open before it.
    virtual Status open_lesson(const std::string& name) = 0;
    virtual Status leave_lesson() = 0;
    virtual void drop_left_workspace() = 0;
    virtual void copy_numbers() = 0;
    virtual void copy_text(const std::string& text) = 0;
    /// Writes what the save sheet shows; asks for a path with the desktop's dialog.
    virtual void save() = 0;
    virtual void browse() = 0;
    virtual void close_window() = 0;
};

/// The session, answer and host that a command acts on.
struct CommandContext {
    Session& session;
    const WorkAnswer* answer;  // null before the first answer
    Host& host;

    const SentenceResult* sentence() const {
        return answer && answer->sentence && answer->sentence->trace ? answer->sentence.get() : nullptr;
    }
    const Model* model() const {
        return answer && answer->sentence ? answer->sentence->model.get() : nullptr;
    }
};

struct Command {
    std::string name;  // its words in --do and in tests: "view lines", "theme"
    /// Words after the name: "" none, "dark|light" one of these, "LAYER.HEAD" (capitals) a value of that
    /// form; in brackets if optional.
    std::string words = "";
    std::string title = "";  // as the palette shows it
    std::string group = "";  // heading of F1
    std::string keys = "";   // "Ctrl+Shift+K, F1"
    std::string help = "";   // one line of F1 and --commands; rows with keys and the same help share a line
    /// Null if available, else the reason; "" if it does not apply, and its key then does something else.
    std::function<const char*(const CommandContext&)> when = nullptr;
    std::function<Status(CommandContext&, const std::string& words)> run = nullptr;
    std::string alias = "";     // another name
    std::string synonyms = "";  // what else a person may call it: "export, PDF"; the palette finds them

    /// … or because the lesson locks it.
    const char* missing(const CommandContext& context) const;
    bool needs_words() const { return !words.empty() && words[0] != '['; }
    bool takes_words() const { return !words.empty(); }
    /// The words that stand for themselves.
    std::vector<std::string> choices() const;
};

/// The words of a row that takes one of these, or none: "[on|off]".
std::string optional_words(const std::vector<std::string>& words);

/// A command sent by a widget while drawing; run after the frame.
struct SentCommand {
    std::string name, words;  // name: a row's, exactly
    bool joins = false;       // joins the last undo step
};

struct CommandLine {
    const Command* command = nullptr;
    std::string words;
};

/// "view lines", "head 2.0": finds the row with the longest name that starts the text, ignoring case. An
/// error names the nearest row, or the words the row takes.
Result<CommandLine> parse_command(std::span<const Command> table, const std::string& text);

/// "view lines; head 2.0" → its commands in order. A ; within double quotes is part of the words.
Result<std::vector<CommandLine>> parse_commands(std::span<const Command> table, const std::string& text);

/// The row of exactly this name. Widgets name no other.
const Command& command_named(std::span<const Command> table, const std::string& name);

/// Runs a command, or returns why it is unavailable.
Status carry_out(const CommandLine& line, CommandContext& context);

/// The command of a key: the first row with it that applies, else one that gives its reason, or null.
const Command* command_of_key(std::span<const Command> table, const KeyChord& pressed,
                              const CommandContext& context);

/// The headings of F1, in order.
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
