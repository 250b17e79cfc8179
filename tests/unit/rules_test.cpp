// Tests rules made by clicks: which cells, in which layers, and their spelling.
#include <algorithm>

#include "helpers.h"
#include "parts/intervention_rules.h"

using namespace headlight;

namespace {

/// Returns "this layer: mask:3>1@1" for each offered rule.
std::vector<std::string> offered(const ModelConfig& c, AttentionHead shown, RuleCells cells,
                                 bool masks = true) {
    std::vector<std::string> out;
    for (const Rule& rule : rules_for(c, shown, cells_of_rule(cells, masks, {3, 1})))
        out.push_back(rule.name + ": " + change_name(c, rule.change));
    return out;
}

}  // namespace

TEST_CASE("rules: this layer, all and only the last, spelled as the command line reads them") {
    const auto model = reference_model("gpt2");
    const ModelConfig& c = model->config;
    REQUIRE(c.blocks() == 3);
    CHECK(offered(c, {0, 2}, RuleCells::cell) ==
          std::vector<std::string>{"this head: mask:3>1@0.2", "this layer: mask:3>1@0",
                                   "only the last layer: mask:3>1@2", "all layers: mask:3>1"});
    CHECK(offered(c, {2, 0}, RuleCells::later, false) ==
          std::vector<std::string>{"this head: unmask:3..>1@2.0", "this layer: unmask:3..>1@2",
                                   "all layers: unmask:3..>1"});
    CHECK(offered(c, {1, 0}, RuleCells::row)[1] == "this layer: mask:3>*@1");
    CHECK(offered(c, {1, 0}, RuleCells::column)[1] == "this layer: mask:*>1@1");
}

TEST_CASE("rules: a translator offers the layers of the kind that is shown, and every rule is read again") {
    const auto model = reference_model("marian");
    const ModelConfig& c = model->config;
    for (const auto& [kind, name] :
         {std::pair{AttentionKind::encoder, "all encoder layers: mask:3..>1@encoder"},
          std::pair{AttentionKind::decoder, "all decoder layers: mask:3..>1@decoder"},
          std::pair{AttentionKind::cross, "all cross-attention: mask:3..>1@cross"}}) {
        int block = 0;
        while (c.block(block).kind != kind) ++block;
        const auto rules = offered(c, {block, 1}, RuleCells::later);
        const auto found = std::find(rules.begin(), rules.end(), name);
        CHECK(found != rules.end());
        CHECK(rules.back() == "everywhere: mask:3..>1@*");
        for (const Rule& rule : rules_for(c, {block, 1}, cells_of_rule(RuleCells::later, true, {3, 1})))
            CHECK(*parse_change(c, change_name(c, rule.change)) == rule.change);
    }
}

TEST_CASE("rules: the preview lights the heads that a rule concerns") {
    const auto model = reference_model("marian");
    const ModelConfig& c = model->config;
    const auto heads = [&](const std::string& change) { return count_affected(c, *parse_change(c, change)); };
    const int of_block = c.heads(0);
    CHECK(heads("mask:3>1@encoder.0.1") == 1);
    CHECK(heads("mask:3>1@encoder.0") == of_block);
    CHECK(heads("mask:3>1@cross") == of_block * c.stacks.back().depth());
    CHECK(heads("mask:3>1@*") == c.head_count());
}
