#include "views/views.h"

#include <algorithm>

#include "io/folder.h"
#include "session/commands.h"
#include "session/save_path.h"
#include "session/words.h"
#include "views/align.h"
#include "views/all_heads.h"
#include "views/architecture.h"
#include "views/circuits.h"
#include "views/compare.h"
#include "views/corpus.h"
#include "views/delta.h"
#include "views/graph.h"
#include "views/heat_map.h"
#include "views/influence.h"
#include "views/layer_heads.h"
#include "views/learn.h"
#include "views/lens.h"
#include "views/lines.h"
#include "views/origins.h"
#include "views/patch.h"
#include "views/picture.h"
#include "views/positions.h"
#include "views/running_text.h"
#include "views/steps.h"

namespace headlight {

bool reads_text(const Model& m) { return !m.config.can.read_image; }
const char* no_weights(const Model& m) {
    return m.weights.stacks.empty() ? "A trace holds no weights, which this view needs." : nullptr;
}

std::span<const View> views() {
    static const View table[] = {picture_view(),   heat_map_view(),     alignment_view(), lines_view(),
                                 steps_view(),     delta_view(),        lens_view(),      graph_view(),
                                 compare_view(),   running_text_view(), all_heads_view(), architecture_view(),
                                 positions_view(), patch_view(),        influence_view(), origins_view(),
                                 circuits_view(),  corpus_view(),       learn_view()};
    return table;
}

std::span<const StateVisit> view_visits() {
    static const std::vector<StateVisit> visits = [] {
        std::vector<StateVisit> out;
        for (const View& view : views())
            if (view.visit) out.push_back(view.visit);
        return out;
    }();
    return visits;
}

size_t view_for(const Session& session, const Model& model) {
    const auto shows = [&](const View& v) { return v.offered(model) && !v.missing(model); };
    if (session.selection.view && shows(views()[*session.selection.view])) return *session.selection.view;
    const auto first = std::find_if(views().begin(), views().end(), shows);
    return first - views().begin();
}

const View& shown_view(const Session& session, const Model& model) {
    return views()[view_for(session, model)];
}

bool give_picture(Session& session, const Model& model, const std::string& path) {
    const View& view = shown_view(session, model);
    return view.take_picture && view.take_picture(session, path);
}

Status give_config(Session& session, const std::string& path) {
    for (const View& view : views())
        if (view.take_config) {
            TRY_STATUS(view.take_config(session, path));
            open_view(session, view.key);
        }
    session.sheet.reset();
    return success();
}

Status give_corpus(Session& session, const Model* model, const std::string& path) {
    if (!model) return Error{"No model is open yet, which would read the texts."};
    for (const View& view : views())
        if (view.take_corpus) {
            if (!view.offered(*model))
                return Error{model->name +
                             " reads pictures, and a corpus is texts; open a model that reads text."};
            if (const char* missing = view.missing(*model)) return Error{missing};
            view.take_corpus(session, absolute_path(expand_home(path)).string());
            open_view(session, view.key);
        }
    session.sheet.reset();
    return success();
}

bool behind_sheet(const CommandContext& c) { return c.session.sheet && !c.session.shows(Sheet::palette); }

void open_view(Session& session, const char* key) {
    const auto view = std::find_if(views().begin(), views().end(),
                                   [&](const View& v) { return std::string_view(v.key) == key; });
    if (!session.selection.view || !views()[*session.selection.view].fills_window)
        session.selection.view_before = session.selection.view;
    session.selection.view = view - views().begin();
}

Command opens_view(const char* key, Command row) {
    row.run = [key, run = row.run](CommandContext& c, const std::string& words) -> Status {
        TRY_STATUS(run(c, words));
        open_view(c.session, key);
        return success();
    };
    return row;
}

const View* find_view(const std::string& name) {
    const std::string wanted = lower_case(name);
    for (const View& v : views())
        if (wanted == v.key || wanted == lower_case(v.name) || wanted == v.former) return &v;
    return nullptr;
}

std::string key_of_view(const std::string& name) {
    const View* view = find_view(name);
    return view ? view->key : name;
}

void open_named_view(Session& session, const std::string& name) {
    if (const View* view = find_view(name)) open_view(session, view->key);
}

void close_view(Session& session) { session.selection.view = session.selection.view_before; }

float Scene::weight(int query, int key) const { return std::max(0.0f, answer->picture->at(query, key)); }

void Scene::select(int block, int head) const { send("head", head_path(model()->config, block, head)); }

void show_head(const Scene& s, int block, int head) {
    s.select(block, head);
    const View& view = shown_view(s.session, *s.model());
    if (view.to_head && view.of_layer(s.session)) s.send(view.to_head, "head");
    s.leave_text();
}

void Scene::select_block(int block) const {
    select(block, std::min(session.selection.head, model()->config.heads(block) - 1));
}

void show_heads_alone(Session& s, const ModelConfig& c, int block, const std::set<AttentionHead>& heads) {
    for (int i = 0; i < c.head_count(); ++i) {
        const AttentionHead head = c.head_at(i);
        if (heads.count(head)) continue;
        s.of<GraphState>().included.left_out.insert({head.block, head.head});
        if (head.block == block) s.of<LayerHeads>().hidden.insert(head.head);
    }
}

/// A change is spelled "mask:16>10@2.0": its command, and the words behind it.
void Scene::change(const Change& change, bool joins) const {
    const std::string text = change_name(model()->config, change);
    const size_t colon = text.find(':');
    send(text.substr(0, colon), text.substr(colon + 1), joins);
}

void Scene::lock(std::optional<std::pair<int, int>> cell) const {
    if (!cell) return send("unlock");
    send("lock", std::to_string(cell->first) + "," + std::to_string(cell->second));
}

int Scene::heaviest_key(int query) const { return answer->picture->heaviest_key(query); }
int Scene::heaviest_query(int key) const { return answer->picture->heaviest_query(key); }

std::optional<std::pair<int, int>> Scene::shown_cell() const {
    return headlight::shown_cell(session, answer);
}

}  // namespace headlight
