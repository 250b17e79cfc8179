#include "session/examples.h"

#include "io/json.h"

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

}  // namespace headlight
