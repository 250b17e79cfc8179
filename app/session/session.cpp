#include "session/session.h"

#include <algorithm>
#include <iterator>

#include "analysis/attention/head_stats.h"
#include "base/cast.h"
#include "hub/adapted.h"
#include "io/json.h"
#include "session/commands/word_parsers.h"
#include "session/conversation.h"

namespace headlight {

void GenerationState::force(const Generation& generation, int at, int id) {
    forced.clear();
    for (int i = 0; i < at; ++i) forced.push_back(generation.tokens[i].id);
    forced.push_back(id);
    step = -1;
    playing = false;
}

void Selection::choose(int to_block, int to_head) {
    block = to_block;
    head = to_head;
    choose_head = false;
    head_chosen = true;
}

void Selection::unlock() {
    locked.reset();
    relock.reset();
}

void Selection::lock_in(const std::string& text, std::optional<std::pair<int, int>> cell) {
    lock_in_text = cell;
    text_to_lock = text;
}

void GenerationState::unforce() {
    forced.clear();
    step = -1;
}

void note_recent(std::vector<std::string>& recent, const std::string& text) {
    recent.erase(std::remove(recent.begin(), recent.end(), text), recent.end());
    recent.insert(recent.begin(), text);
    if (recent.size() > kMaxRecent) recent.resize(kMaxRecent);
}

void visit_preferences(Session& session, FieldVisitor& v) {
    Preferences& p = session.preferences;
    v.list("recent_models", p.recent_models, kMaxRecent);
    v.list("recent_texts", p.recent_texts, kMaxRecent);
    v.flag("dark", p.dark);
    v.number("text_size", p.text_size, 0.75f, 2);
    v.flag("hints_seen", p.hints_seen);
    v.list("learned", p.learned, kMaxStations);
    v.list("learn_guesses", p.guesses, kMaxStations);
    v.flag("guess_first", p.guess_first);
    v.flag("motion", p.motion);
    v.integer("width", p.window_width, 0, 30000);
    v.integer("height", p.window_height, 0, 30000);
    v.integer("x", p.window_x, -100000, 100000);
    v.integer("y", p.window_y, -100000, 100000);
    v.flag("placed", p.window_placed);
    v.flag("maximized", p.window_maximized);
    v.flag("change_bar", p.change_bar);
}

namespace {

std::string written(const std::string& model, const ModelChanges& changes) {
    Json out{{"model", model}, {"mask", changes.mask}, {"changes", changes.changes}};
    if (const std::string metric = changes.metric.value_or(""); !metric.empty()) out["metric"] = metric;
    return out.dump();
}

/// Sets the metric from the file even if it is the default: none carries over from another model.
void visit_metric(std::optional<std::string>& metric, FieldVisitor& v) {
    std::string name = metric.value_or("");
    v.text("metric", name);
    metric = std::move(name);
}

/// Ignores a part that is not an object of that form.
void read_changes(Document& d, const std::string& text) {
    const auto root = parse_json(text, "it");
    if (!root || !root->is_object()) return;
    FieldReader reader(*root, "it", true);
    std::string model;
    reader.text("model", model);
    if (model.empty() || model == d.wanted.path) return;
    ModelChanges& found = d.changes_of[model];
    reader.text("mask", found.mask);
    reader.list("changes", found.changes, kMaxChanges);
    visit_metric(found.metric, reader);
}

/// Interventions on models other than the document's, to restore; each a JSON object, like slides.
void visit_other_models(Document& d, FieldVisitor& v) {
    std::vector<std::string> texts;
    for (const auto& [model, changes] : d.changes_of)
        if (model != d.wanted.path && !only_strength_differs(model, d.wanted.path) &&
            (changes.mask != "own" || !changes.changes.empty() || !changes.metric.value_or("").empty()))
            texts.push_back(written(model, changes));
    const auto before = texts;
    v.list("other_models", texts, kMaxModels);
    if (texts == before) return;
    for (const std::string& text : texts) read_changes(d, text);
}

void visit_ids(const char* key, std::vector<int>& ids, FieldVisitor& v) {
    std::vector<std::string> texts;
    for (const int id : ids) texts.push_back(std::to_string(id));
    v.list(key, texts, kMaxWritten);
    ids.clear();
    for (const std::string& text : texts)
        if (const auto id = whole_of(text); id && *id >= 0) ids.push_back(*id);
}

void visit(Document& d, FieldVisitor& v) {
    v.text("model", d.wanted.path);
    v.text("text", d.text);
    v.text("second", d.second);
    v.text("picture", d.picture);
    v.flag("chat", d.chatting);
    v.text("conversation", d.conversation);
    ModelChanges& own = d.changes();
    v.text("mask", own.mask);
    v.list("changes", own.changes, kMaxChanges);
    visit_metric(own.metric, v);
    const std::string read = text_read(d);
    if (own.forced_for != read) own.forced.clear();
    visit_ids("written_forced", own.forced, v);
    own.forced_for = read;
    visit_other_models(d, v);
    v.list("slides", d.slides, kMaxSlides);
}

/// Ranks heads by what is no statistic.
constexpr std::pair<int, const char*> kOtherRanks[] = {
    {kRankByCell, "cell"}, {kRankByMoved, "moved"}, {kRankBySweep, "effect"}};

std::string rank_key(int rank) {
    for (const auto& [other, key] : kOtherRanks)
        if (rank == other) return key;
    return head_statistics()[rank].key;
}

int rank_of_key(const std::string& key, int otherwise) {
    for (const auto& [other, name] : kOtherRanks)
        if (key == name) return other;
    const HeadStatistic* statistic = find_statistic(key);
    return statistic ? narrow<int>(statistic - head_statistics().data()) : otherwise;
}

/// A ranking is remembered by its key.
void visit_rank(int& rank, FieldVisitor& v) {
    std::string key = rank_key(rank);
    v.text("rank", key);
    rank = rank_of_key(key, rank);
}

void visit(Preferences& p, FieldVisitor& v) {
    v.text("colormap", p.colormap);
    v.integer("contrast", p.contrast, 0, std::ssize(contrasts()) - 1);
    v.integer("queries", p.queries, 0, 1);
    v.integer("marks", p.marks, 0, 1);
    visit_rank(p.rank, v);
    v.flag("drop_sink", p.drop_sink);
}

void visit(Selection& s, FieldVisitor& v) {
    v.integer("layer", s.block, 0, 100000);
    v.integer("head", s.head, 0, 100000);
    v.flag("head_chosen", s.head_chosen);
    v.text("view", s.view_name);
    v.cell("locked", s.locked);
}

void visit(Comparison& c, FieldVisitor& v) {
    v.integer("compare", c.what, 0, 4);
    v.integer("layer_b", c.head.first, -1, 100000);
    v.integer("head_b", c.head.second, -1, 100000);
    v.text("text_b", c.text);
    v.text("model_b", c.model);
    v.integer("align", c.alignment.by, 0, 1);
    v.pairs("tied", c.alignment.by_hand);
}

void visit(GenerationState& g, FieldVisitor& v) {
    v.number("temperature", g.decoding.temperature, 0, 10);
    v.integer("top_k", g.decoding.top_k, 0, 1 << 20);
    v.number("top_p", g.decoding.top_p, 0, 1);
    v.integer("seed", g.decoding.seed, 0, 1 << 30);
    v.integer("beams", g.decoding.beams, 1, kMaxBeams);
    v.number("length_penalty", g.decoding.length_penalty, -10, 10);
    v.integer("written_length", g.length, 1, kMaxWritten);
    v.flag("writing_bar", g.bar);
    v.integer("written_step", g.step, -1, kMaxWritten);
}

}  // namespace

void visit_workspace(Session& session, FieldVisitor& v) {
    visit(session.document, v);
    visit(session.preferences, v);
    visit(session.selection, v);
    visit(session.document.comparison, v);
    GenerationState& g = session.document.generation;
    const std::string read = text_read(session.document);
    if (g.forced_for != read) g.unforce();
    visit(g, v);
    g.forced_for = read;  // another text alone resets it
    for (const StateVisit visit_view : session.visits) visit_view(session.views, v);
}

void fit_head(Selection& s, const ModelConfig& config) {
    s.block = std::clamp(s.block, 0, config.blocks() - 1);
    s.head = std::clamp(s.head, 0, config.heads(s.block) - 1);
    if (s.hovered.preview && !config.has_head({s.hovered.preview->first, s.hovered.preview->second}))
        s.hovered.preview.reset();
}

}  // namespace headlight
