// Tests experts over many texts: counts recounted from each text's routes, and a dossier written and read.
#include <map>

#include "analysis/corpus/dossier.h"
#include "helpers.h"
#include "io/json.h"

using namespace headlight;

namespace {

struct ReadTexts {
    std::shared_ptr<const Model> model = reference_model("mixtral");
    std::vector<std::shared_ptr<const Trace>> traces;
    Corpus corpus{model->config, 5};

    explicit ReadTexts(ThreadPool& pool) {
        int line = 0;
        for (const std::vector<int>& ids : {std::vector{5, 9, 20, 31, 5, 9}, {7, 5, 44}, {9, 9, 9, 20}}) {
            traces.push_back(trace_of(model, ids, pool));
            corpus.add(*traces.back(),
                       std::make_shared<const CorpusText>(CorpusText{++line, "text " + std::to_string(line)}),
                       pool);
        }
    }
};

}  // namespace

TEST_CASE("experts of a corpus: shares, mean weights and frequent tokens are those of the texts' routes") {
    ThreadPool pool(2);
    const ReadTexts read(pool);
    const Dossier d = dossier_of(*read.model, read.corpus, "texts.txt");
    REQUIRE(d.experts.size() == layers_with_experts(read.model->config).size());
    CHECK(d.routed == 13);
    for (size_t l = 0; l < d.experts.size(); ++l) {
        double shares = 0;
        for (int expert = 0; expert < isize(d.experts[l].experts); ++expert) {
            int tokens = 0;
            double weight = 0;
            std::map<int, int> often;
            for (const auto& trace : read.traces) {
                const ExpertRoutes routes = *answer_expert_routes(*trace, {}, pool, nullptr);
                for (size_t t = 0; t < routes.chosen[l].size(); ++t)
                    for (const ExpertChoice& choice : routes.chosen[l][t])
                        if (choice.expert == expert) {
                            ++tokens;
                            weight += double(choice.weight);
                            ++often[trace->output().ids[t]];
                        }
            }
            const ExpertOverTexts& shown = d.experts[l].experts[size_t(expert)];
            CHECK(shown.tokens == tokens);
            CHECK(shown.share == doctest::Approx(tokens / 13.0));
            if (tokens) CHECK(shown.weight == doctest::Approx(weight / tokens));
            CHECK(shown.often.size() == std::min<size_t>(often.size(), kFrequentTokens));
            int most = 0;
            for (const auto& [id, count] : often) most = std::max(most, count);
            if (tokens) CHECK(shown.often[0].second == most);
            shares += shown.share;
        }
        const auto& spec = *read.model->config.stacks[0].layers[size_t(d.experts[l].layer)].mlp.experts;
        CHECK(shares == doctest::Approx(spec.used));
    }
}

TEST_CASE("experts of a corpus: a dossier is read as written, one of other experts is refused") {
    ThreadPool pool(2);
    const ReadTexts read(pool);
    const ModelConfig& c = read.model->config;
    const std::string text = dossier_json(c, dossier_of(*read.model, read.corpus, ""));
    const auto back = parse_dossier(text, "d.json", c);
    REQUIRE(back);
    CHECK(dossier_json(c, *back) == text);
    const Matrix shares = expert_shares(*back);
    CHECK(shares.rows() == isize(back->experts));
    CHECK(dossier_numbers(c, *back, {0, 0}).size() == 4);
    Json root = Json::parse(text);
    root["experts"][0]["experts"].erase(0);
    CHECK(!parse_dossier(root.dump(), "d.json", c));
    root.erase("experts");
    CHECK(parse_dossier(root.dump(), "d.json", c)->experts.empty());
    const Json sums = Json::parse(dossier_json(c, dossier_of(*read.model, read.corpus, ""), &read.corpus));
    const Json& first = sums["experts"][0]["experts"][0];
    int64_t counted = 0;
    for (const Json& token : first["sums"]["tokens"]) counted += token[2].get<int64_t>();
    CHECK(counted == first["tokens"].get<int64_t>());
}
