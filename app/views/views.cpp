#include "views/views.h"

#include <algorithm>

#include "base/cast.h"
#include "io/folder.h"
#include "parts/fold.h"
#include "parts/layer_heads.h"
#include "session/commands/commands.h"
#include "session/commands/word_parsers.h"
#include "session/lesson.h"
#include "session/save_path.h"
#include "views/align/align.h"
#include "views/all_heads/all_heads.h"
#include "views/architecture/architecture.h"
#include "views/chat/chat.h"
#include "views/circuits/circuits.h"
#include "views/compare/compare.h"
#include "views/contacts/contacts.h"
#include "views/corpus/corpus.h"
#include "views/delta/delta.h"
#include "views/doors.h"
#include "views/experts/experts.h"
#include "views/explain/explain.h"
#include "views/graph/graph.h"
#include "views/heat_map/heat_map.h"
#include "views/influence/influence.h"
#include "views/learn/learn.h"
#include "views/lens/lens.h"
#include "views/lines/lines.h"
#include "views/origins/origins.h"
#include "views/patch/patch.h"
#include "views/picture/image_patches.h"
#include "views/positions/positions.h"
#include "views/prompts/prompts.h"
#include "views/steps/steps.h"
#include "views/text/running_text.h"

namespace headlight {

std::span<const View> views() {
    static const View table[] = {heat_map_view(),  lines_view(),     running_text_view(), picture_view(),
                                 alignment_view(), all_heads_view(), chat_view(),         contacts_view(),
                                 lens_view(),      influence_view(), explain_view(),      graph_view(),
                                 delta_view(),     steps_view(),     origins_view(),      experts_view(),
                                 prompts_view(),   patch_view(),     compare_view(),      architecture_view(),
                                 positions_view(), circuits_view(),  corpus_view(),       learn_view()};
    return table;
}

std::span<const StateVisit> view_visits() {
    static const std::vector<StateVisit> visits = [] {
        std::vector<StateVisit> out;
        for (const View& view : views())
            if (view.visit) out.push_back(view.visit);
        out.push_back(visit_state<VisitedDoors>);
        out.push_back(visit_state<TurnedFolds>);
        return out;
    }();
    return visits;
}

const char* why_missing(const View& view, const Model& model) {
    if (view.offered(model)) return view.missing(model);
    return model.config.can.read_image ? "This model reads images; the view needs one that reads text."
                                       : "This model reads text; the view needs one that reads images.";
}

size_t view_for(const Session& session, const Model& model) {
    const auto chosen = session.selection.view;
    const bool shows = chosen && !why_missing(views()[*chosen], model);
    if (shows && !view_locked(session, views()[*chosen].key)) return *chosen;
    return find_view(model.config.can.read_image ? "picture" : "head") - views().data();
}

const View& shown_view(const Session& session, const Model& model) {
    return views()[view_for(session, model)];
}

std::vector<Command> answering_commands() { return guess_commands(); }

bool give_picture(Session& session, const Model& model, const std::string& path) {
    return std::string_view(shown_view(session, model).key) == "learn" && learn_takes_picture(session, path);
}

Status give_config(Session& session, const std::string& path) {
    TRY_STATUS(take_config(session, path));
    open_view(session, "model");
    session.sheet.reset();
    return success();
}

Status give_corpus(Session& session, const Model* model, const std::string& path) {
    if (!model) return Error{"Open a model to read the texts."};
    const View& view = *find_view(kCorpusView);
    if (!view.offered(*model)) return Error{model->name + " reads images; open a model that reads text."};
    if (const char* missing = view.missing(*model)) return Error{missing};
    session.of<CorpusState>().read(path == kSampleTexts ? path : absolute_path(expand_home(path)).string());
    open_view(session, kCorpusView);
    session.sheet.reset();
    return success();
}

bool behind_sheet(const CommandContext& c) { return c.session.sheet && !c.session.shows(Sheet::palette); }

void open_view(Session& session, const char* key) {
    const auto view = std::find_if(views().begin(), views().end(),
                                   [&](const View& v) { return std::string_view(v.key) == key; });
    if (!session.selection.view || !views()[*session.selection.view].fills_window())
        session.selection.view_before = session.selection.view;
    session.selection.view = view - views().begin();
}

Command opens_view(const char* key, Command row) {
    row.run = [key, run = row.run](CommandContext& c, const std::string& words) -> Status {
        if (view_locked(c.session, key)) return Error{kLockedByLesson};
        TRY_STATUS(run(c, words));
        open_view(c.session, key);
        if (std::string_view(key) == "learn") type_sample(c);
        return success();
    };
    return row;
}

bool ranks_by_effect(const Session& session) {
    return session.of<AllHeadsState>().color == isize(sort_words());
}

const View* find_view(const std::string& name) {
    const std::string wanted = name == "difference" ? "compare" : lower_case(name);
    for (const View& v : views())
        if (wanted == v.key || wanted == lower_case(v.name)) return &v;
    return nullptr;
}

std::string key_of_view(const std::string& name) {
    const View* view = find_view(name);
    return view ? view->key : name;
}

void open_named_view(Session& session, const std::string& name) {
    if (const View* view = find_view(name)) open_view(session, view->key);
}

ShownHeads shown_heads(const Scene& s, const View& view) {
    if (view.heads) return view.heads(s);
    const auto [block, head] = s.session.selection.shown_head();
    return {.head = {block, head}, .whole_layer = view.shows == View::Shows::layer, .second = {}};
}

void close_view(Session& session) { session.selection.view = session.selection.view_before; }

void show_head(const Scene& s, int block, int head) {
    s.select(block, head);
    const View& view = shown_view(s.session, *s.model());
    const bool shows_layer = view.shows == View::Shows::head && shown_heads(s, view).whole_layer;
    if (shows_layer) s.send(std::string(view.key) + " of", "head");
    s.leave_text();
}

void show_heads_alone(Session& s, const ModelConfig& c, int block, const std::set<AttentionHead>& heads) {
    for (int i = 0; i < c.head_count(); ++i) {
        const AttentionHead head = c.head_at(i);
        if (heads.count(head)) continue;
        s.of<GraphState>().included.left_out.insert({head.block, head.head});
        if (head.block == block) s.of<LayerHeads>().hidden.insert(head.head);
    }
}

}  // namespace headlight
