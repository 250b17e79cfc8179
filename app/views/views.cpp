#include "views/views.h"

#include <algorithm>

#include "session/commands.h"
#include "session/words.h"
#include "views/align.h"
#include "views/all_heads.h"
#include "views/architecture.h"
#include "views/compare.h"
#include "views/delta.h"
#include "views/graph.h"
#include "views/heat_map.h"
#include "views/layer_heads.h"
#include "views/learn.h"
#include "views/lens.h"
#include "views/lines.h"
#include "views/picture.h"
#include "views/positions.h"
#include "views/steps.h"

namespace headlight {

namespace {

bool is_vision(const Model& m) { return m.config.can.read_image; }
bool reads_text(const Model& m) { return !is_vision(m); }
const char* no_weights(const Model& m) {
    return m.weights.stacks.empty() ? "A trace holds no weights, which this view needs." : nullptr;
}
const char* no_logits(const Model& m) {
    return m.has_logits() ? nullptr : "This model has no head that predicts tokens.";
}

const char* no_cross(const Model& m) {
    return m.config.decoder().cross
               ? nullptr
               : "Only a model with an encoder and a decoder aligns a source with a target.";
}
bool aligns_layer(const Session& s) { return s.of<AlignState>().of != AlignOf::head; }

}  // namespace

std::span<const View> views() {
    using Shows = View::Shows;
    static const View table[] = {
        {.key = "picture",
         .name = "Image",
         .digit = '8',
         .draw = draw_picture,
         .offered = is_vision,
         .numbers = pattern_numbers},
        {.key = "head",
         .name = "Heat map",
         .digit = '1',
         .draw = draw_heat_map,
         .figure = head_page_figure,
         .numbers = pattern_numbers,
         .visit = visit_state<HeatMapState>},
        {.key = "lines",
         .name = "Lines",
         .digit = '2',
         .draw = draw_lines,
         .offered = reads_text,
         .shows = Shows::layer,
         .ask = ask_lines,
         .list = draw_layer_heads,
         .inspect = draw_lines_inspector,
         .numbers = layer_numbers,
         .visit = visit_state<LayerHeads>},
        {.key = "steps",
         .name = "Steps",
         .digit = '3',
         .draw = draw_steps,
         .missing = no_weights,
         .ask = ask_steps,
         .inspect = draw_steps_inspector,
         .numbers = steps_numbers,
         .visit = visit_state<StepsState>},
        {.key = "delta",
         .name = "ΔE",
         .digit = '4',
         .draw = draw_delta,
         .missing = no_weights,
         .shows = Shows::layer,
         .ask = ask_delta,
         .list = draw_delta_list,
         .inspect = draw_delta_inspector,
         .numbers = delta_numbers,
         .visit = visit_state<DeltaState>},
        {.key = "lens",
         .name = "Prediction",
         .former = "next",
         .digit = '5',
         .draw = draw_lens,
         .missing = no_logits,
         .shows = Shows::model,
         .ask = ask_lens,
         .inspect = draw_lens_inspector,
         .numbers = lens_numbers},
        {.key = "graph",
         .name = "Graph",
         .digit = '6',
         .draw = draw_graph,
         .offered = reads_text,
         .shows = Shows::model,
         .ask = ask_graph,
         .list = draw_graph_list,
         .inspect = draw_graph_inspector,
         .numbers = graph_numbers,
         .visit = visit_state<GraphState>},
        {.key = "compare",
         .name = "Compare",
         .former = "difference",
         .digit = '7',
         .draw = draw_compare,
         .ask = ask_compare,
         .list = draw_compare_list,
         .closes_inspector = true,
         .second_head = true,
         .second_run = true,
         .numbers = compare_numbers,
         .visit = visit_state<CompareState>},
        {.key = "alignment",
         .name = "Alignment",
         .former = "align",
         .digit = '8',
         .draw = draw_alignment,
         .offered = reads_text,
         .missing = no_cross,
         .ask = ask_alignment,
         .list = draw_alignment_list,
         .inspect = draw_alignment_inspector,
         .of_target = true,
         .lists_choices = true,
         .of_layer = aligns_layer,
         .numbers = alignment_numbers,
         .visit = visit_state<AlignState>},
        {.key = "heads",
         .name = "All heads",
         .digit = '9',
         .draw = draw_all_heads,
         .shows = Shows::model,
         .ask = ask_all_heads,
         .fills_window = true,
         .figure = heads_page_figure,
         .numbers = heads_numbers,
         .visit = visit_state<AllHeadsState>},
        {.key = "model",
         .name = "Model",
         .digit = '0',
         .draw = draw_architecture,
         .missing = no_weights,
         .shows = Shows::model,
         .ask = ask_architecture,
         .fills_window = true,
         .visit = visit_state<ArchitectureState>},
        {.key = "positions",
         .name = "Positions",
         .digit = 'P',
         .draw = draw_positions,
         .offered = reads_text,
         .missing = no_weights,
         .shows = Shows::model,
         .ask = ask_positions,
         .fills_window = true,
         .numbers = position_numbers,
         .visit = visit_state<PositionsState>},
        {.key = "learn",
         .name = "Learn",
         .digit = 'L',
         .draw = draw_learn,
         .missing = no_weights,
         .shows = Shows::model,
         .ask = ask_learn,
         .fills_window = true,
         .figure = learn_figure,
         .numbers = learn_numbers,
         .visit = visit_state<LearnState>,
         .commands = learn_commands},
    };
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

void open_view(Session& session, const char* key) {
    const auto view = std::find_if(views().begin(), views().end(),
                                   [&](const View& v) { return std::string_view(v.key) == key; });
    if (!session.selection.view || !views()[*session.selection.view].fills_window)
        session.selection.view_before = session.selection.view;
    session.selection.view = view - views().begin();
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

void Scene::select_block(int block) const {
    select(block, std::min(session.selection.head, model()->config.heads(block) - 1));
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
