#include "session/examples.h"

#include <algorithm>
#include <sstream>

#include "io/json.h"
#include "session/session.h"

namespace headlight {

namespace {

std::vector<Example> read_examples() {
    std::vector<Example> out;
    for (const Json& row : embedded_json("assets/sentences.json"))
        out.push_back({row["text"],
                       row["why"],
                       row.value("translate", false),
                       row.value("masks", false),
                       row.value("others", false),
                       row.value("model", ""),
                       row.value("head", ""),
                       {row.value("query", 0), row.value("key", 0)}});
    return out;
}

}  // namespace

const std::vector<Example>& examples() {
    static const std::vector<Example> all = read_examples();
    return all;
}

std::vector<Example> examples_for(const Model& model) {
    constexpr std::string_view kMask = "[MASK]";
    const Capabilities& can = model.config.can;
    const bool spells = model.tokenizer && model.config.mask_id >= 0;
    const std::string mask = spells ? (*model.tokenizer)->spelling(model.config.mask_id) : std::string(kMask);
    const bool built_in = std::any_of(examples().begin(), examples().end(),
                                      [&](const Example& e) { return e.model == model.name; });
    std::vector<Example> out;
    for (Example example : examples()) {
        if (example.translate != can.write_target || example.masks != can.fill_masks) continue;
        if (example.others && built_in) continue;
        for (size_t at = example.text.find(kMask); at != std::string::npos;
             at = example.text.find(kMask, at + mask.size()))
            example.text.replace(at, kMask.size(), mask);
        out.push_back(std::move(example));
    }
    std::stable_partition(out.begin(), out.end(), [](const Example& e) { return e.others; });
    return out;
}

void begin_with_story(Session& session) {
    const Example& story = examples().front();
    int block = 0, head = 0;
    char dot = 0;
    std::istringstream(story.head) >> block >> dot >> head;
    session.document.text = story.text;
    session.selection.choose(block, head);
    session.selection.head_chosen = false;
    session.selection.locked = story.cell;
    session.preferences.rank = kRankByCell;
}

}  // namespace headlight
