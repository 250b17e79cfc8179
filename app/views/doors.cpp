#include "views/doors.h"

#include <algorithm>

#include "session/lesson.h"

namespace headlight {

namespace {

constexpr size_t kMaxVisited = 16;

bool intervenes(const Session& s) { return s.preferences.change_bar; }
bool generates(const Session& s) { return s.document.generation.bar; }
template <Compared What>
bool compares(const Session& s) {
    return s.document.comparison.what == What;
}

const char* no_prediction(const Model& m) {
    return m.has_logits() ? cannot_run(m) : "This model has no head that predicts tokens.";
}
bool has_adapter(const Model& m) { return m.adapter != nullptr; }
const char* no_adapter(const Model& m) {
    return has_adapter(m) ? no_weights(m) : "This model has no adapter; drop its folder on the window.";
}
const char* no_generation(const Model& m) {
    const bool writes = m.config.can.continue_text || m.config.can.write_target;
    return writes && m.tokenizer ? no_prediction(m) : "This model does not generate text.";
}

Door door_of(const View& v) {
    return {.key = v.key,
            .name = v.name,
            .synonyms = v.synonyms,
            .group = v.answers,
            .view = &v,
            .offered = v.stands};
}

/// Ways to use a view that are doors of their own, each before the door of another view; "": at the end.
struct OtherDoor {
    Door door;
    const char* before;
};

std::vector<OtherDoor> other_doors() {
    using enum ViewGroup;
    const View *heads = find_view("heads"), *head = find_view("head"), *pair = find_view("compare");
    return {{{"effect", "Heads that matter", "ablation sweep, logit attribution, importance", explain, heads,
              "heads color", "effect", ranks_by_effect, no_prediction},
             "explain"},
            {{"mask", "Mask and ablate", "knockout, ablation, intervention, steering, block attention",
              change, head, "intervene", "on", intervenes, cannot_run},
             "patch"},
            {{"generate", "Generate", "continue, sample, beam search, decode", change, head, "generate", "on",
              generates, no_generation},
             "model"},
            {{"compare changes", "Before/after", "difference, effect of interventions", compare, pair,
              "compare", "changes", compares<Compared::changes>, cannot_run},
             "model"},
            {{"compare sentences", "Sentences", "contrast, minimal pair", compare, pair, "compare",
              "sentences", compares<Compared::sentences>},
             "model"},
            {{"compare heads", "Heads", "similar heads", compare, pair, "compare", "heads",
              compares<Compared::heads>},
             "model"},
            {{"compare base", "Base and adapted", "LoRA, adapter, fine-tuning", compare, pair, "compare",
              "base", compares<Compared::base>, no_adapter, has_adapter},
             "model"},
            {{"compare models", "Models", "checkpoints, fine-tuning", compare, pair, "compare", "models",
              compares<Compared::models>},
             "model"}};
}

}  // namespace

std::span<const GroupRow> view_groups() {
    static constexpr GroupRow rows[] = {{"Look", "What does each head look at?"},
                                        {"Explain", "Why this prediction?"},
                                        {"Change", "What if?"},
                                        {"Compare", "What differs?"},
                                        {"Model", "What can it do without this sentence?"}};
    return rows;
}

const char* Door::missing(const Model& model) const {
    const char* reason = why_missing(*view, model);
    return !reason && without ? without(model) : reason;
}

std::span<const Door> doors() {
    static const std::vector<Door> table = [] {
        std::vector<Door> out;
        const auto others = other_doors();
        for (const View& v : views()) {
            for (const OtherDoor& other : others)
                if (std::string_view(other.before) == v.key) out.push_back(other.door);
            if (v.answers != ViewGroup::nothing) out.push_back(door_of(v));
        }
        return out;
    }();
    return table;
}

std::vector<const Door*> doors_of(ViewGroup group) {
    std::vector<const Door*> out;
    for (const Door& door : doors())
        if (door.group == group) out.push_back(&door);
    return out;
}

std::vector<const Door*> doors_of(ViewGroup group, const Model& model) {
    std::vector<const Door*> out = doors_of(group);
    std::erase_if(out, [&](const Door* d) { return d->offered && !d->offered(model); });
    return out;
}

const Door* find_door(std::string_view key) {
    const auto found =
        std::find_if(doors().begin(), doors().end(), [&](const Door& d) { return d.key == key; });
    return found == doors().end() ? nullptr : &*found;
}

void VisitedDoors::visit(FieldVisitor& v) { v.list("doors", keys, kMaxVisited); }

void VisitedDoors::note(const std::string& key) {
    if (!keys.empty() && keys.front() == key) return;
    std::erase(keys, key);
    keys.insert(keys.begin(), key);
    if (keys.size() > kMaxVisited) keys.pop_back();
}

const Door* shown_door(const Session& session, const Model& model) {
    const View& view = shown_view(session, model);
    const auto shows = [&](const Door& d) { return d.view == &view && (!d.used || d.used(session)); };
    for (const std::string& key : session.of<VisitedDoors>().keys)
        if (const Door* door = find_door(key); door && shows(*door)) return door;
    const auto first = std::find_if(doors().begin(), doors().end(), shows);
    return first == doors().end() ? nullptr : &*first;
}

const Door* next_door(const Session& session, const Model& model, ViewGroup group) {
    std::vector<const Door*> all = doors_of(group);
    std::erase_if(all,
                  [&](const Door* d) { return d->missing(model) || view_locked(session, d->view->key); });
    if (all.empty()) return nullptr;
    const Door* shown = shown_door(session, model);
    if (shown && shown->group == group) {
        const auto here = std::find(all.begin(), all.end(), shown);
        return here == all.end() || here + 1 == all.end() ? all.front() : *(here + 1);
    }
    for (const std::string& key : session.of<VisitedDoors>().keys)
        for (const Door* door : all)
            if (door->key == key) return door;
    return all.front();
}

}  // namespace headlight
