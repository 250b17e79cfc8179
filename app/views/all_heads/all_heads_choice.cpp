// Sorts and filters the heads.
#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "base/cast.h"
#include "parts/head_tags.h"
#include "parts/metric.h"
#include "session/commands/commands.h"
#include "views/all_heads/all_heads.h"
#include "views/views.h"

namespace headlight {

namespace {

constexpr const char* kOnRandomTokens[] = {"previous", "duplicate", "induction"};

std::vector<float> column_of(const Scene& s, size_t statistic) {
    std::vector<float> out;
    for (const HeadSummary& h : s.sentence()->heads) out.push_back(h.statistics[statistic]);
    return out;
}

}  // namespace

std::vector<std::string> sort_words() {
    std::vector<std::string> out;
    for (const HeadStatistic& statistic : head_statistics()) out.emplace_back(statistic.key);
    for (const char* key : kOnRandomTokens) out.push_back(std::string(key) + " random");
    out.emplace_back("effect");
    return out;
}

namespace {

/// Resets filter and order, because another statistic has another range; starts the sweep to sort by effect.
Command sort_row() {
    std::vector<std::pair<std::string, int>> columns;
    for (const std::string& word : sort_words()) columns.emplace_back(word, isize(columns));
    Command out = choice_row({"heads sort", "All heads: sort by", "the statistic that orders all heads"},
                             std::move(columns), of_state(&AllHeadsState::sort));
    out.run = [choose = out.run](CommandContext& c, const std::string& words) {
        AllHeadsState& state = c.session.of<AllHeadsState>();
        std::tie(state.kept, state.turned) = std::pair{1.0f, false};
        Status done = choose(c, words);
        const bool by_effect = state.sort == isize(sort_words()) - 1;
        if (by_effect && !needs_model_to_run(c)) c.session.document.sweeping = true;
        return done;
    };
    return out;
}

/// Starts the sweep to color by effect.
Command color_row() {
    std::vector<std::pair<std::string, int>> columns{{"pattern", 0}};
    for (const std::string& word : sort_words()) columns.emplace_back(word, isize(columns));
    Command out = choice_row({"heads color", "All heads: color by",
                              "what paints the plates: the patterns alone, or a statistic or effect"},
                             std::move(columns), of_state(&AllHeadsState::color));
    out.run = [choose = out.run](CommandContext& c, const std::string& words) {
        Status done = choose(c, words);
        if (ranks_by_effect(c.session) && !needs_model_to_run(c)) c.session.document.sweeping = true;
        return done;
    };
    return out;
}

Status filter_by_tag(CommandContext& c, const std::string& words) {
    c.session.of<AllHeadsState>().tag = words;
    return success();
}

Status filter_by_label(CommandContext& c, const std::string& words) {
    c.session.of<AllHeadsState>().label = words;
    return success();
}

}  // namespace

std::vector<Command> all_heads_commands() {
    std::vector<Command> rows{
        sort_row(), color_row(),
        number_row({"heads filter", "All heads: filter", "share of the statistic's range to keep, 0 to 1"}, 0,
                   1, of_state(&AllHeadsState::kept)),
        row({"heads tagged [TAG]", "All heads: with a tag", "show only heads with this tag: induction"},
            filter_by_tag),
        row({"heads labeled [LABEL]", "All heads: with a label", "show only heads with this label"},
            filter_by_label)};
    for (Command& row : rows) row = opens_view("heads", row);
    return rows;
}

bool is_hybrid(const Scene& s) {
    const ModelConfig& c = s.model()->config;
    for (int block = 1; block < c.blocks(); ++block)
        if (s.sentence()->trace->is_mixing(block) != s.sentence()->trace->is_mixing(0)) return true;
    return false;
}

std::vector<HeadColumn> head_columns(const Scene& s) {
    std::vector<HeadColumn> out;
    for (int i = 0; i < kStatistics; ++i) {
        const HeadStatistic& st = head_statistics()[i];
        out.push_back({st.label, st.definition, st.unit, st.ascending, column_of(s, i)});
    }
    const auto* random = random_statistics_of(s);
    for (const char* key : kOnRandomTokens) {
        const HeadStatistic& st = *find_statistic(key);
        HeadColumn c{
            std::string(st.label) + " (random text)",
            std::string(st.definition) + " Measured on repeated random tokens, where meaning cannot help.",
            "",
            false,
            {}};
        if (random)
            for (const auto& head : random->heads) c.values.push_back(head[&st - head_statistics().data()]);
        out.push_back(std::move(c));
    }
    if (!s.model()->has_logits()) return out;
    const auto effects = sweep_effects(s);
    const std::string of = metric_text(s);
    out.push_back({"effect on " + of,
                   "Change of " + of +
                       " when the head is ablated (z = 0). Heads are ablated in turn, in the background.",
                   "", true, effects ? effects->change : std::vector<float>(), true});
    return out;
}

std::string head_label(const Scene& s, int block, int head) {
    const auto of_model = s.session.document.head_labels.find(s.model()->name);
    if (of_model == s.session.document.head_labels.end()) return "";
    const auto it = of_model->second.find(head_path(s.model()->config, block, head));
    return it == of_model->second.end() ? "" : it->second;
}

namespace {

void choose_paint(const Scene& s, HeadChoice& c) {
    const int color = s.of<AllHeadsState>().color;
    if (color == 0 || color > isize(c.columns)) return;
    c.painted_by = size_t(color) - 1;
    float largest = 0;
    for (const float v : c.painted()->values)
        largest = std::isnan(v) ? largest : std::max(largest, std::abs(v));
    if (largest > 0) c.largest = largest;
}

/// Whether a head passes the filters by label, tag and kind.
bool passes(const Scene& s, const HeadChoice& c, int head) {
    const AllHeadsState& state = s.of<AllHeadsState>();
    const AttentionHead at = s.model()->config.head_at(head);
    const HeadTagRow* tag = c.tags[size_t(head)];
    const bool mixes = s.sentence()->trace->is_mixing(at.block);
    if (is_hybrid(s) && state.kind != HeadKind::all && mixes != (state.kind == HeadKind::mixing))
        return false;
    return (state.label.empty() || head_label(s, at.block, at.head) == state.label) &&
           (state.tag.empty() || (tag && state.tag == tag->word));
}

}  // namespace

HeadChoice choose_heads(const Scene& s) {
    HeadChoice c;
    c.columns = head_columns(s);
    c.sorted_by = std::clamp<int>(s.of<AllHeadsState>().sort, 0, isize(c.columns) - 1);
    choose_paint(s, c);
    const int heads = isize(s.sentence()->heads);
    c.values = c.column().values;
    c.values.resize(heads, std::numeric_limits<float>::quiet_NaN());
    c.order = order_by(c.values, c.column().ascending != s.of<AllHeadsState>().turned);
    c.low = std::numeric_limits<float>::max();
    c.high = std::numeric_limits<float>::lowest();
    for (const float v : c.values)
        if (!std::isnan(v)) c.low = std::min(c.low, v), c.high = std::max(c.high, v);
    if (c.low > c.high) c.low = c.high = 0;
    const float share = c.column().ascending ? s.of<AllHeadsState>().kept : 1 - s.of<AllHeadsState>().kept;
    c.threshold = c.low + share * (c.high - c.low);
    const bool all = s.of<AllHeadsState>().kept >= 0.999f;
    for (int i = 0; i < heads; ++i) {
        const float v = c.values[i];
        bool kept = all || (!std::isnan(v) && (c.column().ascending ? v <= c.threshold : v >= c.threshold));
        const auto tags = tags_of(s, s.model()->config.head_at(i));
        c.tags.push_back(tags.empty() ? nullptr : tags.front().row);
        kept = kept && passes(s, c, i);
        c.kept.push_back(kept);
        c.count += kept;
    }
    return c;
}

}  // namespace headlight
