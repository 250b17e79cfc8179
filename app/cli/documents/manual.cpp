// Makes the manual page and the shells' completions from the declared options, so that they are never stale.
#include "cli/documents/manual.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <set>

#include "cli/options.h"
#include "cli/validators.h"
#include "cli/verbs.h"

namespace headlight {

std::vector<const CLI::Option*> options_of(const CLI::App& app) {
    auto options = app.get_options();
    options.erase(std::remove_if(options.begin(), options.end(),
                                 [](const CLI::Option* o) { return o->get_group().empty(); }),
                  options.end());
    return options;
}

std::vector<const CLI::App*> verbs_of(const CLI::App& root) {
    return root.get_subcommands([](const CLI::App*) { return true; });
}

std::vector<std::string> spellings(const CLI::Option& o) {
    std::vector<std::string> out;
    for (const std::string& name : o.get_snames()) out.push_back("-" + name);
    for (const std::string& name : o.get_lnames()) out.push_back("--" + name);
    return out;
}

std::vector<std::string> words_of(const CLI::Option& o) {
    const std::string type = o.get_type_name();
    const size_t open = type.find('{'), close = type.find('}');
    if (open == std::string::npos || close == std::string::npos) return {};
    return comma_list(type.substr(open + 1, close - open - 1));
}

namespace {

/// Escapes text for man pages: no line begins with a control character, no backslash or hyphen is lost.
std::string troff(const std::string& text) {
    std::string out;
    for (const char c : text) {
        if (c == '\\')
            out += "\\e";
        else if (c == '-')
            out += "\\-";
        else if ((c == '.' || c == '\'') && (out.empty() || out.back() == '\n'))
            out += std::string("\\&") + c;
        else
            out += c;
    }
    return out;
}

std::string option_entries(const CLI::App& app) {
    std::string out;
    for (const CLI::Option* o : options_of(app)) {
        std::string names;
        for (const std::string& name : spellings(*o)) names += (names.empty() ? "" : ", ") + name;
        if (names.empty()) names = o->get_name();
        out += ".TP\n.B " + troff(names) + "\n" + troff(o->get_description()) + "\n";
    }
    return out;
}

std::string examples_of(const char* examples) {
    std::string out;
    std::istringstream in(examples);
    for (std::string line; std::getline(in, line);) out += troff(line) + "\n";
    return ".nf\n" + out + ".fi\n";
}

std::string man_page(const CLI::App& root) {
    std::string out = ".TH HEADLIGHT 1 \"\" \"headlight " HEADLIGHT_VERSION
                      "\" \"User Commands\"\n.SH NAME\nheadlight \\- shows what every attention head of a "
                      "transformer looks at\n";
    out +=
        ".SH SYNOPSIS\n.B headlight\n[FILE] [OPTIONS]\n.br\n.B headlight\nVERB [OPTIONS]\n.SH DESCRIPTION\n" +
        troff(root.get_description()) + "\nWithout a verb it opens the window.\n.SH OPTIONS\n" +
        option_entries(root);
    for (const CLI::App* verb : verbs_of(root)) {
        std::string title = verb->get_name();
        std::transform(title.begin(), title.end(), title.begin(),
                       [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
        out += ".SH " + title + "\n" + troff(verb->get_description()) + ".\n" + option_entries(*verb);
        for (const Verb& row : verbs())
            if (verb->get_name() == row.name) out += ".PP\nExamples:\n" + examples_of(row.examples);
    }
    out += ".SH ENVIRONMENT\n";
    for (const Variable& row : environment())
        out += ".TP\n.B " + troff(row.name) + "\n" + troff(row.help) + "\n";
    return out + ".SH FILES\n" + troff(kOptionsFile) +
           "\n.SH EXIT STATUS\n0 done; 1 the input cannot be used, which one line on standard error "
           "explains; "
           "2 wrong usage.\n";
}

std::string joined(const std::set<std::string>& words) {
    std::string out;
    for (const std::string& word : words) out += (out.empty() ? "" : " ") + word;
    return out;
}

std::set<std::string> all_spellings(const CLI::App& app) {
    std::set<std::string> out;
    for (const CLI::Option* o : options_of(app))
        for (const std::string& name : spellings(*o)) out.insert(name);
    return out;
}

/// Writes completions for bash; zsh reads them through bashcompinit.
std::string bash_completions(const CLI::App& root) {
    std::set<std::string> first = all_spellings(root);
    std::string cases;
    for (const CLI::App* verb : verbs_of(root)) {
        first.insert(verb->get_name());
        cases += "        " + verb->get_name() + ") words=\"" + joined(all_spellings(*verb)) + "\" ;;\n";
    }
    return "_headlight() {\n    local words current=\"${COMP_WORDS[COMP_CWORD]}\"\n    case "
           "\"${COMP_WORDS[1]}\" in\n" +
           cases + "        *) words=\"" + joined(first) +
           "\" ;;\n    esac\n    COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n    [ "
           "${#COMPREPLY[@]} -gt 0 ] || COMPREPLY=($(compgen -f -- \"$current\"))\n}\ncomplete -o filenames "
           "-F _headlight headlight\n";
}

std::string zsh_completions(const CLI::App& root) {
    return "#compdef headlight\nautoload -U +X bashcompinit && bashcompinit\n" + bash_completions(root);
}

std::string quoted(std::string text) {
    for (size_t at = 0; (at = text.find_first_of("\\'", at)) != std::string::npos; at += 2)
        text.insert(at, "\\");
    return "'" + text + "'";
}

std::string fish_lines(const CLI::App& app, const std::string& condition) {
    std::string out;
    for (const CLI::Option* o : options_of(app)) {
        std::string line = "complete -c headlight -n '" + condition + "'";
        for (const std::string& name : o->get_snames()) line += " -s " + name;
        for (const std::string& name : o->get_lnames()) line += " -l " + name;
        if (!o->get_snames().empty() || !o->get_lnames().empty())
            out += line + " -d " + quoted(o->get_description()) + "\n";
    }
    return out;
}

std::string fish_completions(const CLI::App& root) {
    std::string out = fish_lines(root, "__fish_use_subcommand");
    for (const CLI::App* verb : verbs_of(root)) {
        out += "complete -c headlight -n '__fish_use_subcommand' -a " + verb->get_name() + " -d " +
               quoted(verb->get_description()) + "\n";
        out += fish_lines(*verb, "__fish_seen_subcommand_from " + verb->get_name());
    }
    return out;
}

}  // namespace

std::function<Status()> declare_man(CLI::App& app) {
    struct Wanted {
        std::string folder;
        bool json = false;
    };
    auto wanted = std::make_shared<Wanted>();
    auto* markdown =
        app.add_option("--markdown", wanted->folder,
                       "write the generated parts of README.md and docs/ in this folder, a copy of the "
                       "sources, instead of the page");
    app.add_flag("--json", wanted->json, "print all options and formats as JSON, instead of the page")
        ->excludes(markdown);
    return [&app, wanted]() -> Status {
        const CLI::App& root = *app.get_parent();
        if (!wanted->folder.empty()) return write_markdown(root, wanted->folder);
        return wanted->json ? print_json(option_list(root)) : print(man_page(root));
    };
}

std::function<Status()> declare_completions(CLI::App& app) {
    auto shell = std::make_shared<std::string>();
    app.add_option("shell", *shell, "bash, zsh or fish")->required()->check(one_of({"bash", "zsh", "fish"}));
    return [&app, shell]() -> Status {
        const CLI::App& root = *app.get_parent();
        return print(*shell == "bash"  ? bash_completions(root)
                     : *shell == "zsh" ? zsh_completions(root)
                                       : fish_completions(root));
    };
}

}  // namespace headlight
