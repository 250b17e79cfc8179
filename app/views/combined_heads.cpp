#include "views/combined_heads.h"

#include <algorithm>
#include <sstream>

#include "parts/controls.h"
#include "parts/side_panel.h"
#include "session/commands/commands.h"
#include "views/views.h"

namespace headlight {

void CombinedHeads::visit(FieldVisitor& v) {
    v.choose("map_of", of,
             {"map of",
              "Weights of",
              "one head, or the mean or maximum over several",
              {"head", "mean", "max"},
              true});
    v.integer("map_from", from, 0, 2);
    v.pairs("map_heads", chosen);
}

std::optional<HeadGroup> combined_heads(const Session& s, const ModelConfig& c) {
    const auto& state = s.of<CombinedHeads>();
    if (state.of == MapOf::head) return std::nullopt;
    const int block = std::clamp(s.selection.block, 0, c.blocks() - 1);
    HeadGroup group{state.of == MapOf::mean ? Combine::mean : Combine::max, heads_of_block(c, block)};
    if (state.from == HeadsFrom::all) group.heads = heads_alike(c, block);
    if (state.from != HeadsFrom::chosen) return group;
    HeadGroup chosen{group.by, {}};
    for (const auto& [in, head] : state.chosen) chosen.heads.push_back({in, head});
    const auto known = fitted(chosen, c, block);
    return known ? known : group;
}

void combine_heads(Session& s, MapOf of, HeadsFrom from, const std::vector<AttentionHead>& chosen) {
    auto& state = s.of<CombinedHeads>();
    state.of = of;
    state.from = from;
    if (from != HeadsFrom::chosen || chosen.empty()) return;
    state.chosen.clear();
    for (const AttentionHead head : chosen) state.chosen.emplace_back(head.block, head.head);
}

Status choose_combined(Session& s, const ModelConfig& c, MapOf of, const std::string& which) {
    if (which.empty() || which == "layer" || which == "all") {
        combine_heads(s, of, which == "all" ? HeadsFrom::all : HeadsFrom::layer, {});
        return success();
    }
    std::vector<AttentionHead> heads;
    std::istringstream names(which);
    for (std::string name; std::getline(names, name, ',');) {
        TRY(const AttentionHead head, parse_head(c, name, "the list of heads"));
        heads.push_back(head);
    }
    const auto alike = fitted(HeadGroup{Combine::mean, heads}, c, heads[0].block);
    if (!alike || alike->heads.size() != heads.size())
        return Error{"Combine heads that read the same tokens, and name each once."};
    combine_heads(s, of, HeadsFrom::chosen, heads);
    const auto readable = heads_alike(c, s.selection.block);
    if (std::find(readable.begin(), readable.end(), heads[0]) == readable.end())
        s.selection.choose(heads[0].block, heads[0].head);
    return success();
}

namespace {

MapOf of_several(const Session& s) {
    const MapOf of = s.of<CombinedHeads>().of;
    return of == MapOf::head ? MapOf::mean : of;
}

/// Adds a head to the chosen ones, or removes it; starts from the shown head.
Status toggle_head(CommandContext& c, const std::string& words) {
    TRY(const AttentionHead named, parse_head(c.model()->config, words, "it"));
    auto& state = c.session.of<CombinedHeads>();
    const Selection& s = c.session.selection;
    if (state.of == MapOf::head || state.from != HeadsFrom::chosen) state.chosen = {{s.block, s.head}};
    const std::pair head{named.block, named.head};
    const auto known = std::find(state.chosen.begin(), state.chosen.end(), head);
    if (known == state.chosen.end())
        state.chosen.push_back(head);
    else if (state.chosen.size() > 1)
        state.chosen.erase(known);
    combine_heads(c.session, of_several(c.session), HeadsFrom::chosen, {});
    const View& view = shown_view(c.session, *c.model());
    if (!view.group) open_view(c.session, "head");
    return success();
}

}  // namespace

std::vector<Command> combined_heads_commands() {
    return {row(
                {"map heads layer|all|LAYER.HEAD,LAYER.HEAD", "Combine heads",
                 "heads to combine by mean or max: map heads 1.2,3.0"},
                [](CommandContext& c, const std::string& words) {
                    return choose_combined(c.session, c.model()->config, of_several(c.session), words);
                },
                needs_sentence),
            row({"map toggle LAYER.HEAD", "Add or remove a head",
                 "adds a head to the mean or max, or removes it (Ctrl+click on its thumbnail)"},
                toggle_head, needs_sentence)};
}

namespace {

const std::vector<std::string> kWays{"head", "mean", "max"};

std::vector<std::string> groups_of(const CombinedHeads& state) {
    std::vector<std::string> from{"this layer", "all layers"};
    if (!state.chosen.empty()) from.push_back(std::to_string(state.chosen.size()) + " chosen");
    return from;
}

}  // namespace

float combination_width(Scene& s) {
    const auto& state = s.of<CombinedHeads>();
    const float group = state.of == MapOf::head ? 0 : s.ui.choice_width("", groups_of(state)) + gap::small;
    return s.ui.segments_width(kWays) + gap::medium + group;
}

void choose_combination(Scene& s, Toolbar& bar) {
    constexpr const char* kWords[] = {"layer", "all"};
    const auto& state = s.of<CombinedHeads>();
    const int of = static_cast<int>(state.of);
    const Ui::Segments ways{kWays,
                            {"The chosen head alone.",
                             "The mean of each cell's weights over several heads; rows still sum to 1. "
                             "Ctrl+click thumbnails to choose which heads.",
                             "The maximum of each cell's weights over several heads. Ctrl+click thumbnails "
                             "to choose which heads."},
                            of};
    if (const int c = bar.segments("", "map/of", ways); c >= 0 && c != of) s.send("map of", ways.labels[c]);
    if (state.of == MapOf::head) return;
    const int now =
        state.from == HeadsFrom::chosen && state.chosen.empty() ? 0 : static_cast<int>(state.from);
    const int c = bar.choice("", "map/from", groups_of(state), now);
    if (c < 0) return;
    std::string chosen;
    for (const auto& [block, head] : state.chosen)
        chosen += (chosen.empty() ? "" : ",") + head_path(s.model()->config, block, head);
    s.send("map heads", c < 2 ? kWords[c] : chosen);
}

namespace {

/// Lists the combined heads by their weight of this cell.
void draw_heads_of_cell(Scene& s, SidePanel& c, const HeadGroup& group, const CellReport& report) {
    constexpr size_t kMax = 8;
    std::vector<AttentionHead> heads = group.heads;
    const auto weight = [&](AttentionHead head) { return report.weight_by_head[head]; };
    const size_t shown = std::min(kMax, heads.size());
    std::partial_sort(heads.begin(), heads.begin() + shown, heads.end(),
                      [&](AttentionHead a, AttentionHead b) { return weight(a) > weight(b); });
    if (!c.fold("heads of the cell", "Cell in each head", "weight")) return;
    const float top = std::max(weight(heads[0]), 1e-6f);
    for (size_t i = 0; i < shown; ++i)
        c.bar({"", head_name(s.model()->config, heads[i]), std::abs(weight(heads[i])) / top,
               s.pattern_number(weight(heads[i]), 3), false});
    if (shown < heads.size()) c.note("and " + std::to_string(heads.size() - shown) + " more");
}

void draw_keys_of_row(Scene& s, SidePanel& c, std::pair<int, int> cell) {
    constexpr int kMax = 6;
    const HeadPicture& p = *s.answer->picture;
    if (p.step > 1) return;
    std::vector<int> keys(s.keys());
    for (int k = 0; k < s.keys(); ++k) keys[k] = k;
    const int shown = std::min(kMax, s.keys());
    std::partial_sort(keys.begin(), keys.begin() + shown, keys.end(), [&](int a, int b) {
        return std::abs(s.weight(cell.first, a)) > std::abs(s.weight(cell.first, b));
    });
    if (!c.fold("Row", "Row", "weight")) return;
    c.attends_to(s.query_labels()[cell.first]);
    const float top = std::max(p.largest_of_row(cell.first), 1e-6f);
    for (int i = 0; i < shown && !is_masked(p.at(cell.first, keys[i])); ++i) {
        const float w = p.at(cell.first, keys[i]);
        c.bar({std::to_string(keys[i]), s.key_labels()[keys[i]], std::abs(w) / top, s.pattern_number(w, 3),
               keys[i] == cell.second});
    }
}

}  // namespace

void draw_group_inspector(Scene& s, Rect area, std::pair<int, int> cell) {
    const HeadPicture& p = *s.answer->picture;
    const HeadGroup& group = *p.group;
    SidePanel c(s, area, 0);
    c.bars = 94;
    c.values = 62;
    const std::string what = group.by == Combine::mean ? "mean of " : "max of ";
    const bool masked = is_masked(p.at(cell.first, cell.second));
    if (c.fold("Cell"))
        c.pair(what + std::to_string(group.heads.size()) + (group.heads.size() == 1 ? " head" : " heads"),
               masked ? "—" : s.pattern_number(s.weight(cell.first, cell.second), 3), Column::Pair::large);
    const CellReport* r = s.answer->cell.get();
    const bool known = r && std::pair{r->cell.query, r->cell.key} == cell;
    if (known) draw_heads_of_cell(s, c, group, *r);
    draw_keys_of_row(s, c, cell);
    c.rule();
    c.note(
        "Scores, ΔE and interventions belong to one head: choose “head” above the map or click a thumbnail.");
    c.finish();
}

}  // namespace headlight
