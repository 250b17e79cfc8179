// The sentences of the start screen show what they are there for.
#include "analysis/translation_choices.h"
#include "base/cast.h"
#include "helpers.h"
#include "model/heads.h"
#include "model/input.h"
#include "session/examples.h"

using namespace headlight;

namespace {

std::shared_ptr<const Trace> read(const std::shared_ptr<const Model>& model, const std::string& text,
                                  ThreadPool& pool) {
    if (model->config.can.write_target) return translate(model, text, pool, nullptr)->trace;
    TextInput typed;
    typed.text = text;
    return *run_trace(model, {encode_input(*model, typed)->sequences, {}}, pool);
}

}  // namespace

TEST_CASE("examples: each opens on a cell that weighs most in its row, but for where heads rest") {
    ThreadPool pool(2);
    int pointed = 0;
    for (const Example& example : examples()) {
        CAPTURE(example.text);
        const auto model = *Model::open(kTests.parent_path() / "models" / example.model);
        const auto trace = read(model, example.text, pool);
        const AttentionHead head = *parse_head(model->config, example.head, "example");
        const auto [query, key] = example.cell;
        REQUIRE(query < trace->query_count(head.block));
        const auto row = trace->pattern(head.block, head.head).row(query).eval();
        REQUIRE(key < row.size());
        CHECK(row[key] >= 0.3f);
        for (Index k = 1; k < row.size(); ++k) CHECK(row[k] <= row[key]);
        ++pointed;
    }
    CHECK(pointed == isize(examples()));
}
