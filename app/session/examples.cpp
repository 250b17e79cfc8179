#include "session/examples.h"

#include "io/json.h"

namespace headlight {

namespace {

Example read_example(const Json& row) {
    Example out{row["text"].get<std::string>(), row["why"].get<std::string>(), row.value("translate", false),
                row.value("model", ""),         row.value("head", ""),         {}};
    if (!out.head.empty()) out.cell = {row["query"].get<int>(), row["key"].get<int>()};
    return out;
}

std::vector<Example> read_examples() {
    std::vector<Example> out;
    for (const Json& row : embedded_json("assets/sentences.json")) out.push_back(read_example(row));
    return out;
}

}  // namespace

const std::vector<Example>& examples() {
    static const std::vector<Example> all = read_examples();
    return all;
}

}  // namespace headlight
