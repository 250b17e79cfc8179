// Tags of heads: those of the story model, and what a tag's value recomputes from.
#include "analysis/attention/head_tags.h"

#include <map>

#include "analysis/attention/head_summary.h"
#include "helpers.h"
#include "model/input.h"
#include "patch_pair.h"

using namespace headlight;

namespace {

std::shared_ptr<const Trace> story(ThreadPool& pool, Intervention changes = {}) {
    static const auto model = *Model::open(kTests.parent_path() / "models/stories");
    TextInput typed;
    typed.text = "Lily had a red ball. Tom had a blue ball. Lily gave Tom the red";
    return *run_trace(model, {encode_input(*model, typed)->sequences, std::move(changes)}, pool);
}

}  // namespace

TEST_CASE("tags: the story model's previous-token, induction and first-token heads") {
    ThreadPool pool(2);
    const auto run = story(pool);
    const auto random = random_statistics(run->model, pool, nullptr);
    const auto traits = text_traits(*run, pool, nullptr);
    const auto text = summarize_heads(*run, 8, pool, nullptr);
    REQUIRE((random && traits && text));
    std::map<std::string, std::string> tags;
    for (const AttentionHead head : {AttentionHead{0, 0}, {1, 0}, {1, 1}, {1, 2}, {1, 5}, {3, 0}})
        for (const HeadTag& tag :
             head_tags({&random->heads[head], &(*text)[head].statistics, &(*traits)[head]}))
            tags[head_name(run->config(), head)] += std::string(tag.row->word) + " ";
    CHECK(tags["0.0"] == "previous ");
    for (const char* head : {"1.0", "1.1", "1.2"}) CHECK(tags[head].find("induction") == 0);
    CHECK(tags["1.5"] == "first ");
    CHECK(tags["3.0"] == "");
    CHECK(random->heads[AttentionHead{1, 2}][2] == doctest::Approx(0.91).epsilon(0.01));
    CHECK(std::pair((*traits)[AttentionHead{1, 2}].query, (*traits)[AttentionHead{1, 2}].key) ==
          std::pair(7, 2));  // "had" → "a", which followed the first "had"
}

TEST_CASE("tags: each trait recomputes from the pattern, in every family") {
    ThreadPool pool(2);
    for (const char* name : {"gpt2", "llama", "gemma2", "bloom", "bert", "t5", "bart"}) {
        CAPTURE(name);
        const PatchPair pair(name, pool);
        const auto traits = text_traits(*pair.clean, pool, nullptr);
        REQUIRE(traits);
        const ModelConfig& c = pair.model->config;
        for (int i = 0; i < c.head_count(); ++i) {
            const AttentionHead at = c.head_at(i);
            const TextTraits& t = (*traits)[i];
            const Matrix pattern = pair.clean->pattern(at.block, at.head);
            CHECK((t.punctuation >= 0 && t.punctuation <= 1.0001f));
            CHECK((t.answer == 0 || t.answer >= 0.3f));
            float largest = 0;
            const bool self = c.block(at.block).kind != AttentionKind::cross;
            for (Index q = 0; q < pattern.rows(); ++q)
                for (Index k = 0; k < pattern.cols(); ++k)
                    if (!self || (k != 0 && k != q && k != q - 1)) largest = std::max(largest, pattern(q, k));
            CHECK(t.strongest == largest);
            if (t.query >= 0) CHECK(pattern(t.query, t.key) == t.strongest);
        }
    }
}

TEST_CASE("tags: an ablated head keeps its pattern, and its tags but that of the answer") {
    ThreadPool pool(2);
    Change ablated;
    ablated.kind = ChangeKind::zero;
    std::tie(ablated.block, ablated.head) = std::pair{1, 1};
    const auto own = text_traits(*story(pool), pool, nullptr),
               changed = text_traits(*story(pool, {{}, {ablated}}), pool, nullptr);
    REQUIRE((own && changed));
    const AttentionHead head{1, 1};
    CHECK((*changed)[head].strongest == (*own)[head].strongest);
    CHECK((*changed)[head].answer == 0);
}
