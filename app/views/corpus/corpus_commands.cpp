// Defines the commands of a corpus: open a file, open the sentence of a pair.
#include <algorithm>

#include "base/quoted.h"
#include "session/commands/commands.h"
#include "views/corpus/corpus.h"
#include "views/views.h"

namespace headlight {

namespace {

/// Opens the view without words; "none" closes the file.
Status open_corpus(CommandContext& c, const std::string& words) {
    c.host.leave_texts();
    if (words == "none")
        c.session.of<CorpusState>() = {};
    else if (!words.empty())
        return c.host.show_corpus(words);
    return success();
}

const Dossier* dossier_in(const CommandContext& c, CorpusSweep::Found& kept) {
    const auto* job = c.answer ? c.answer->job<CorpusSweep>() : nullptr;
    if (!job) return nullptr;
    kept = job->found();
    return kept.dossier.get();
}

const char* needs_dossier(const CommandContext& c) {
    CorpusSweep::Found kept;
    return c.model() && dossier_in(c, kept) ? nullptr : "No corpus has been read; 'corpus FILE' reads one.";
}

/// Enters the sentence of one of the head's strongest pairs, and locks its cell in the heat map.
Status open_pair(CommandContext& c, const std::string& words) {
    CorpusSweep::Found kept;
    const Dossier& dossier = *dossier_in(c, kept);
    Selection& selection = c.session.selection;
    const auto& pairs = dossier.heads[AttentionHead{selection.block, selection.head}].strongest;
    const auto number = whole_of(words);
    if (!number || *number < 0 || *number >= isize(pairs))
        return Error{"There is no pair " + in_quotes(words) + "; this head has " +
                     std::to_string(pairs.size()) + ", numbered from 0."};
    const CorpusLink& pair = pairs[*number];
    if (!pair.text->whole)
        return Error{"Line " + std::to_string(pair.text->line) +
                     " is too long to be kept in a dossier; copy it from its file."};
    const auto is_control = [](char c) { return (c >= 0 && c < ' ') || c == 0x7F; };
    if (std::any_of(pair.text->text.begin(), pair.text->text.end(), is_control))
        return Error{"Line " + std::to_string(pair.text->line) +
                     " has line breaks or tabs, which the sentence field cannot hold."};
    const std::pair<int, int> cell{pair.query, pair.key};
    const bool same = c.host.text(TextName::sentence) == pair.text->text;
    selection.choose(selection.block, selection.head);
    c.host.set_text(TextName::sentence, pair.text->text);
    if (same)
        selection.locked = cell;
    else
        selection.lock_in(pair.text->text, cell);
    c.host.leave_texts();
    open_view(c.session, "head");
    return success();
}

}  // namespace

std::vector<Command> corpus_commands() {
    return {
        opens_view("corpus",
                   row({"corpus [FILE]", "Analyze many texts…",
                        "analyze every head over a text file, one text per line: corpus stories.txt"},
                       open_corpus)),
        row({"corpus pair NUMBER", "Corpus: open a pair",
             "enter the sentence of one of the head's strongest pairs and show its cell"},
            open_pair, needs_dossier),
        row({"browse corpus", "Corpus: choose a file", "choose a file of texts with the desktop's dialog"},
            [](CommandContext& c) { c.host.browse_corpus(); })};
}

}  // namespace headlight
