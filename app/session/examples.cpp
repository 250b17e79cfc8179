#include "session/examples.h"

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
                       row["model"],
                       row["head"],
                       {row["query"], row["key"]}});
    return out;
}

}  // namespace

const std::vector<Example>& examples() {
    static const std::vector<Example> all = read_examples();
    return all;
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
