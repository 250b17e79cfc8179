// Commands of the selection: heads and cells.
#include <sstream>
#include <tuple>

#include "base/cast.h"
#include "base/quoted.h"
#include "session/commands/commands.h"

namespace headlight {

const char* needs_model(const CommandContext& c) {
    return c.model() ? nullptr : "No model is open yet: open one first.";
}

const char* needs_sentence(const CommandContext& c) {
    return c.sentence() ? nullptr : "There is no text yet: type one first.";
}

const char* needs_model_to_run(const CommandContext& c) {
    if (!c.sentence()) return needs_sentence(c);
    return c.sentence()->trace->can_run() ? nullptr : "A trace holds no weights: open its model for that.";
}

std::optional<std::pair<int, int>> shown_cell(const Session& session, const WorkAnswer* answer) {
    const SentenceResult* s = answer ? answer->sentence.get() : nullptr;
    if (!s || !s->trace || !answer->picture) return std::nullopt;
    const int block = answer->shown().block;
    const auto queries = isize(s->query_labels(block)), keys = isize(s->key_labels(block));
    const auto cell = session.selection.focused();
    if (cell && cell->first < queries && cell->second < keys) return cell;
    const Capabilities& can = s->model->config.can;
    const bool predicts =
        (can.read_image || can.fill_masks) && !s->predictions.empty();  // the class token, a mask
    const int query = predicts ? s->predictions[0].position : can.read_image ? 0 : queries - 1;
    return std::pair{query, answer->picture->strongest_key(query)};
}

Result<std::vector<AttentionHead>> heads_named(const CommandContext& c, const std::string& words) {
    std::vector<AttentionHead> out;
    std::istringstream names(words);
    for (std::string name; std::getline(names, name, ',');) {
        TRY(const AttentionHead head, parse_head(c.model()->config, name, "it"));
        out.push_back(head);
    }
    return out;
}

std::string rank_word(int rank) {
    if (rank == kRankByCell) return "weight";
    if (rank == kRankByMoved) return "moved";
    if (rank == kRankBySweep) return "effect";
    return head_statistics()[rank].key;
}

namespace {

Status choose_head(CommandContext& c, const std::string& words) {
    TRY(const AttentionHead head, parse_head(c.model()->config, words, "it"));
    c.session.selection.choose(head.block, head.head);
    return success();
}

/// "16,10": locks a query and key of the selected head; in the text being read, if any.
Status lock_cell(CommandContext& c, const std::string& words) {
    const int block = c.session.selection.block;
    const int queries = isize(c.sentence()->query_labels(block)),
              keys = isize(c.sentence()->key_labels(block));
    const auto cell = pair_of(words);
    const bool number = cell && cell->first >= 0 && cell->second >= 0,
               fits = number && cell->first < queries && cell->second < keys,
               another = c.host.text(TextName::sentence) != c.sentence()->text;
    if (number && another) c.session.selection.lock_in(c.host.text(TextName::sentence), cell);
    if (number && another && !fits) return success();
    if (!fits)
        return Error{"There is no cell " + in_quotes(words) + "; write QUERY,KEY: queries are 0 … " +
                     std::to_string(queries - 1) + ", keys 0 … " + std::to_string(keys - 1) + "."};
    c.session.selection.locked = cell;
    return success();
}

Command rank_row() {
    std::vector<int> ranks{kRankByCell};
    for (int i = 0; i < std::ssize(head_statistics()); ++i) ranks.push_back(i);
    ranks.insert(ranks.end(), {kRankByMoved, kRankBySweep});
    std::vector<std::pair<std::string, int>> values;
    for (const int rank : ranks) values.emplace_back(rank_word(rank), rank);
    return choice_row({"rank", "Rank heads by", "next sort order of heads", "Ctrl+R"}, std::move(values),
                      preference(&Preferences::rank));
}

}  // namespace

std::vector<Command> selection_commands() {
    return in_group(
        "Heads and cells",
        {row({"head LAYER.HEAD", "Go to head",
              "show a head: 2.0, or encoder.0.3 where a model has several stacks"},
             choose_head,
             [](const CommandContext& c) { return c.model() ? nullptr : "No model is open yet."; }),
         row({"lock QUERY,KEY", "Lock cell", "lock a cell: 16,10"}, lock_cell, needs_sentence),
         row({"unlock", "Unlock the cell", "unlock the cell"},
             [](CommandContext& c) { c.session.selection.unlock(); }),
         rank_row()});
}

}  // namespace headlight
