// Path patching and the circuit that it finds: what must hold in every family, and the story model's.
#include "analysis/patching/explanation.h"

#include "analysis/corpus/similar_prompts.h"
#include "analysis/patching/effects.h"
#include "analysis/patching/explanation_steps.h"
#include "helpers.h"
#include "model/input.h"
#include "patch_pair.h"

using namespace headlight;

namespace {

const char* const kStory = "Lily had a red ball. Tom had a blue ball. Lily gave Tom the red";

std::shared_ptr<const Trace> story_run(ThreadPool& pool) {
    static const auto model = *Model::open(kTests.parent_path() / "models/stories");
    TextInput typed;
    typed.text = kStory;
    return *run_trace(model, {encode_input(*model, typed)->sequences, {}}, pool);
}

}  // namespace

TEST_CASE("paths: the last block's heads reach the answer straight alone, in every family") {
    ThreadPool pool(2);
    for (const char* name : {"gpt2", "llama", "gemma2", "phi", "bloom", "bert"}) {
        CAPTURE(name);
        const PatchPair pair(name, pool);
        const int last = pair.model->config.blocks() - 1;
        std::vector<AttentionHead> heads;
        for (int h = 0; h < pair.model->config.heads(last); ++h) heads.push_back({last, h});
        const Metric metric{MetricKind::difference, 9, 31, 5};
        const auto direct = PathCuts(*pair.clean, metric, pool).direct_effects(heads);
        const auto ablated = head_effects(*pair.clean, nullptr, metric, pool);
        REQUIRE((direct && ablated));
        for (size_t i = 0; i < heads.size(); ++i)
            CHECK((*direct)[i] == doctest::Approx(-ablated->change[heads[i]]));
    }
}

TEST_CASE("paths: only later blocks read a sender") {
    ThreadPool pool(2);
    const PatchPair pair("gpt2", pool);
    CHECK(reads_later(pair.model->config, {0, 1}, {1, 0}));
    CHECK(!reads_later(pair.model->config, {1, 0}, {0, 1}));
    CHECK(!reads_later(pair.model->config, {0, 0}, {0, 1}));
}

TEST_CASE("explanation: on the story model previous-token head 0.0 feeds the induction heads") {
    ThreadPool pool(2);
    const auto run = story_run(pool);
    int reports = 0;
    const auto found = explain(*run, {}, pool, nullptr, [&](const Explanation&) { ++reports; });
    REQUIRE(found);
    const std::vector<AttentionHead> five{{0, 0}, {1, 0}, {1, 1}, {2, 5}, {3, 3}};
    CHECK(found->heads == five);
    CHECK((found->whole() && reports > 5));
    CHECK(found->edges_from == doctest::Approx(0.9));
    CHECK(found->only.probability == doctest::Approx(0.9991).epsilon(2e-4));
    CHECK(found->without.probability == doctest::Approx(0.0900).epsilon(0.02));
    const auto edge = std::find_if(found->edges.begin(), found->edges.end(), [](const PathEdge& e) {
        return e.token < 0 && !e.to_answer && e.from == AttentionHead{0, 0} && e.to == AttentionHead{1, 1};
    });
    REQUIRE(edge != found->edges.end());
    CHECK(edge->effect == doctest::Approx(2.29).epsilon(0.01));
    CHECK(edge->by_keys == doctest::Approx(2.09).epsilon(0.01));
    CHECK(edge->by_queries == doctest::Approx(0.07).epsilon(0.03));
    REQUIRE(found->words.size() == 17);
    const auto most =
        std::max_element(found->words.begin(), found->words.end(),
                         [](const LeftOutWord& a, const LeftOutWord& b) { return a.effect < b.effect; });
    CHECK_MESSAGE(most->token == 15, "without “the” before it, red 16 asks for less");
    const Json json = explanation_json(*found, *run);
    CHECK((json["words"].size() == 17 && json["words"][4]["text"] == "ball"));
    CHECK((json["all_heads"].size() == 32 &&
           json["all_heads"][0]["ablated"] != json["all_heads"][31]["ablated"]));
    CHECK(!json.contains("words_refused"));
    CHECK((json["heads"].size() == 5 && json["heads"][2]["head"] == "1.1"));
    CHECK(json["only_these"]["probability"] == found->only.probability);
}

TEST_CASE(
    "explanation: what was measured when it is cancelled stays, with partial rankings and open stages") {
    ThreadPool pool(2);
    const auto run = story_run(pool);
    CancelFlag cancel{false};
    Explanation last;
    bool ranked_in_part = false, waited = false;
    const auto found = explain(*run, {}, pool, &cancel, [&](const Explanation& now) {
        last = now;
        const auto known = std::count_if(now.ablated.begin(), now.ablated.end(),
                                         [](float effect) { return !std::isnan(effect); });
        ranked_in_part = ranked_in_part || (known > 0 && known < 32);
        waited = waited || !now.waiting.empty();
        if (now.stages[4].done > 0) cancel = true;
    });
    REQUIRE((!found && found.error().cancelled));
    CHECK((ranked_in_part && waited && !last.whole()));
    CHECK((last.words.size() == 17 && last.stages[0].ended && last.stages[2].ended && !last.stages[4].ended));
}

TEST_CASE("explanation: where no token can be left out, the circuit is found all the same") {
    ThreadPool pool(2);
    auto run = story_run(pool);
    TraceRequest changed{run->request};
    changed.request.intervention.changes.push_back(*parse_change(run->config(), "noise:3"));
    const auto noisy = *run_trace(run->model, changed.request, pool);
    const auto found = explain(*noisy, {}, pool);
    REQUIRE(found);
    CHECK((found->words.empty() && found->words_refusal.find("noise") != std::string::npos));
    CHECK((found->whole() && explanation_json(*found, *noisy).contains("words_refused")));
}

namespace {

/// Tags measured on random tokens, as the window has them.
TagsOf measured_tags(const Trace& run, ThreadPool& pool) {
    const auto random =
        std::make_shared<const RandomStatistics>(*random_statistics(run.model, pool, nullptr));
    return [random](AttentionHead head) {
        return head_tags({random->heads.empty() ? nullptr : &random->heads[head], nullptr, nullptr});
    };
}

}  // namespace

TEST_CASE("explanation: the story model's circuit is told as Mark, Find, Copy, from measured tags") {
    ThreadPool pool(2);
    const auto run = story_run(pool);
    const auto found = *explain(*run, {.sentences = 0}, pool);
    const TagsOf tags = measured_tags(*run, pool);
    const auto steps = explanation_steps(found, *run, tags);
    REQUIRE(steps.size() == 3);
    CHECK((steps[0].name == "Mark" && steps[0].heads == std::vector<AttentionHead>{{0, 0}}));
    CHECK(steps[0].text ==
          "Head 0.0 hands each word the one before it: ball 4 now knows that red came first.");
    CHECK((steps[1].name == "Find" && steps[1].heads == std::vector<AttentionHead>{{1, 0}, {1, 1}, {3, 3}}));
    CHECK(steps[1].text.find("look for that mark and land on ball 4") != std::string::npos);
    CHECK((steps[2].name == "Copy" && steps[2].writes));
    CHECK(steps[2].text == "They write ball as the next word. Head 2.5 supports it.");
    CHECK(strongest_path_text(found, *run, tags) ==
          "0.0 hands “ball” the word before it; 1.1 finds “red” there and copies “ball”.");
    const auto edge = [&](AttentionHead from, AttentionHead to) {
        return *std::find_if(found.edges.begin(), found.edges.end(), [&](const PathEdge& e) {
            return e.token < 0 && !e.to_answer && e.from == from && e.to == to;
        });
    };
    CHECK((steps[1].holds(edge({0, 0}, {1, 1})) && !steps[0].holds(edge({0, 0}, {1, 1}))));
}

TEST_CASE("explanation: without tags the steps go by depth, with plain names and every head once") {
    ThreadPool pool(2);
    const auto run = story_run(pool);
    const auto found = *explain(*run, {.sentences = 0}, pool);
    const TagsOf none = [](AttentionHead) { return std::vector<HeadTag>{}; };
    const auto steps = explanation_steps(found, *run, none);
    REQUIRE(steps.size() >= 2);
    CHECK((steps.front().name == "Read" && steps.back().name == "Answer"));
    std::vector<AttentionHead> all;
    for (const ExplanationStep& step : steps) {
        CHECK(!step.text.empty());
        all.insert(all.end(), step.heads.begin(), step.heads.end());
    }
    std::sort(all.begin(), all.end());
    CHECK(all == found.heads);
    CHECK(steps.back().writes);
    CHECK(explanation_steps(Explanation{}, *run, none).empty());
    CHECK(strongest_path_text(Explanation{}, *run, none).empty());
}

TEST_CASE("explanation: the circuit is tested on sentences in which other words stand") {
    ThreadPool pool(2);
    const auto run = story_run(pool);
    const auto found = *explain(*run, {.sentences = 4}, pool);
    REQUIRE(found.others.size() == 4);
    for (const OtherSentence& other : found.others) {
        CHECK(other.text != kStory);
        CHECK(other.effects.size() == found.heads.size());
        CHECK(other.text.find('{') == std::string::npos);
    }
    CHECK(found.still_matters(0) <= 4);
    CHECK_MESSAGE(found.still_matters(0) >= 3, "0.0 hands words on whatever they are");
    CHECK(found.like.fill.count("A"));
    const Json json = explanation_json(found, *run);
    CHECK((json["other_sentences"].size() == 4 && json["other_sentences"][0]["effects"].size() == 5));
}

TEST_CASE("similar prompts: repeated words become names that keep case and number of tokens") {
    ThreadPool pool(2);
    const auto run = story_run(pool);
    const Metric metric = *resolved({}, *run, pool);
    const auto like = similar_prompts(*run, metric, pool);
    REQUIRE(like);
    CHECK(like->text.find("{A}") != std::string::npos);
    CHECK(like->text.find("ball") == std::string::npos);
    CHECK(like->metric == "{A}");
    for (const auto& [name, words] : like->fill) {
        CHECK(words.size() >= 2);
        for (const std::string& word : words) {
            CHECK((std::isupper(static_cast<unsigned char>(word[0])) != 0) ==
                  (std::isupper(static_cast<unsigned char>(words[0][0])) != 0));
        }
    }
    TextInput typed;
    typed.text = "Once upon a time";
    const auto plain = *run_trace(run->model, {encode_input(*run->model, typed)->sequences, {}}, pool);
    const auto refused = similar_prompts(*plain, *resolved({}, *plain, pool), pool);
    CHECK((!refused && refused.error().message.find("repeats") != std::string::npos));
}
