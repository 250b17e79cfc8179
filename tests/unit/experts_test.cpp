// Checks by hand how a router chooses experts.
#include "model/feed_forward/experts.h"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <string>

#include "analysis/prediction/experts.h"
#include "analysis/prediction/predict.h"
#include "changed.h"
#include "model/loading/config.h"

using namespace headlight;

namespace {

ExpertsSpec three_experts(Routing routing, bool normalize) {
    ExpertsSpec spec;
    spec.count = 3;
    spec.used = 2;
    spec.routing = routing;
    spec.normalize = normalize;
    return spec;
}

// e^score: 1, 2, 3; softmax: 1/6, 2/6, 3/6.
const std::array<float, 3> kScores{0, std::log(2.0f), std::log(3.0f)};

}  // namespace

TEST_CASE("experts: the weights of the chosen are softmax over all, over the chosen, or σ") {
    const auto plain = choose_experts(three_experts(Routing::softmax, false), kScores, nullptr);
    REQUIRE(plain.size() == 2);
    CHECK((plain[0].expert == 2 && plain[1].expert == 1));
    CHECK(plain[0].weight == doctest::Approx(3.0 / 6));
    CHECK(plain[1].weight == doctest::Approx(2.0 / 6));
    for (const Routing routing : {Routing::softmax, Routing::softmax_of_chosen}) {
        const auto shared = choose_experts(three_experts(routing, true), kScores, nullptr);
        CHECK(shared[0].weight == doctest::Approx(3.0 / 5));
        CHECK(shared[1].weight == doctest::Approx(2.0 / 5));
    }
    const auto sigmoid = choose_experts(three_experts(Routing::sigmoid, false), kScores, nullptr);
    CHECK(sigmoid[0].weight == doctest::Approx(3.0 / 4));  // e^s / (1 + e^s)
    CHECK(sigmoid[1].weight == doctest::Approx(2.0 / 3));
}

TEST_CASE("experts: a bias changes the choice and not the weight, and a factor the weight alone") {
    ExpertsSpec spec = three_experts(Routing::sigmoid, false);
    spec.scale = 2;
    const std::array<float, 3> bias{1, 0, 0};
    const auto chosen = choose_experts(spec, kScores, bias.data());
    CHECK((chosen[0].expert == 0 && chosen[1].expert == 2));
    CHECK(chosen[0].weight == doctest::Approx(2 * 0.5));
    CHECK(chosen[1].weight == doctest::Approx(2 * 0.75));
}

TEST_CASE("experts: a group is chosen by its two best, and an expert only from a chosen group") {
    ExpertsSpec spec;
    spec.count = 4;
    spec.used = 1;
    spec.routing = Routing::sigmoid;
    spec.groups = 2;
    spec.groups_used = 1;
    const std::array<float, 4> scores{3, -9, 2, 2};  // the best expert stands in the worse group
    CHECK(choose_experts(spec, scores, nullptr)[0].expert == 2);
    spec.group_top = 1;
    CHECK(choose_experts(spec, scores, nullptr)[0].expert == 0);
}

TEST_CASE("experts: of equal scores the first counts") {
    const std::array<float, 3> equal{1, 1, 1};
    const auto chosen = choose_experts(three_experts(Routing::softmax, true), equal, nullptr);
    CHECK((chosen[0].expert == 0 && chosen[1].expert == 1));
    CHECK(chosen[0].weight == doctest::Approx(0.5));
}

TEST_CASE("experts: more are asked for than there are, or groups that do not divide them, is refused") {
    const auto problem = [](Json config) {
        const auto parsed = parse_config(config, "config.json");
        return parsed ? std::string() : parsed.error().message;
    };
    CHECK(problem({{"model_type", "mixtral"}, {"num_local_experts", 4}, {"num_experts_per_tok", 5}})
              .find("5 of 4 experts") != std::string::npos);
    CHECK(problem({{"model_type", "mixtral"}, {"num_local_experts", 1 << 20}}).find("num_local_experts") !=
          std::string::npos);
    CHECK(problem({{"model_type", "glm4_moe"},
                   {"head_dim", 128},
                   {"n_routed_experts", 8},
                   {"n_group", 3},
                   {"topk_group", 1}})
              .find("groups") != std::string::npos);
    CHECK(problem({{"model_type", "glm4_moe"},
                   {"head_dim", 128},
                   {"n_routed_experts", 8},
                   {"n_group", 4},
                   {"topk_group", 1}})
              .find("groups") != std::string::npos);  // 8 of 2 experts for each token
    CHECK(problem({{"model_type", "qwen3_moe"}, {"num_experts", 8}, {"num_experts_per_tok", 2}}).empty());
    for (const char* type : {"gpt_oss", "llama4_text", "phimoe", "granitemoe_swa"})
        CHECK(problem({{"model_type", type}, {"num_local_experts", 1}, {"num_experts_per_tok", 2}})
                  .find("2 of 1 experts") != std::string::npos);
    CHECK(problem({{"model_type", "hy_v3"}, {"num_hidden_layers", 2}, {"mlp_layer_types", {"dense", "thin"}}})
              .find("mlp_layer_types") != std::string::npos);
    CHECK(problem({{"model_type", "llama4_text"}, {"num_hidden_layers", 1}, {"layer_types", {"chunky"}}})
              .find("layer_types") != std::string::npos);
}

TEST_CASE("experts: a SparseMixer weighs each choice among the scores near it alone") {
    ExpertsSpec spec = three_experts(Routing::sparse_mixer, false);
    spec.jitter = 0.2f;  // ln 2 is within 0.4 · ln 3 of ln 3; 0 is not, nor near ln 2
    const auto chosen = choose_experts(spec, kScores, nullptr);
    REQUIRE(chosen.size() == 2);
    CHECK((chosen[0].expert == 2 && chosen[1].expert == 1));
    CHECK(chosen[0].weight == doctest::Approx(3.0 / 5));
    CHECK(chosen[1].weight == doctest::Approx(1));
}

TEST_CASE("experts: weights are divided by at least a given sum") {
    ExpertsSpec spec = three_experts(Routing::softmax, true);
    spec.least_sum = 2;
    CHECK(choose_experts(spec, kScores, nullptr)[0].weight == doctest::Approx(3.0 / 12));
}

namespace {

std::shared_ptr<const Trace> mixtral_with(const std::vector<std::string>& changes, ThreadPool& pool) {
    return changed(reference_model("mixtral"), changes, pool);
}

/// The sum of what experts and the rest add to the logit, less the logit.
float left_over(const Trace& trace, const ExpertsRequest& request, ThreadPool& pool) {
    const Experts e = *answer_experts(trace, request, pool, nullptr);
    float sum = e.others;
    for (const ExpertShare& share : e.shares) sum += share.logit;
    CHECK(e.logit == doctest::Approx(logits_at(trace, request.position, pool)[e.token]).epsilon(1e-4));
    return sum - e.logit;
}

}  // namespace

TEST_CASE(
    "experts: one that is off adds nothing, the others add what they did, and nothing takes its place") {
    ThreadPool pool(2);
    const auto plain = mixtral_with({}, pool);
    const ExpertRoutes before = *answer_expert_routes(*plain, {}, pool, nullptr);
    const int expert = before.chosen[1][9][0].expert;
    const auto without = mixtral_with({"ablate-expert:1." + std::to_string(expert)}, pool);
    const Matrix reads = plain->mlp_input(0, 1, 0, isize(kIds), pool), all = plain->mlp_out(0, 1, pool),
                 rest = without->mlp_out(0, 1, pool);
    const StackRun run{*plain->model, plain->config().stacks[0], plain->model->weights.stacks[0], pool};
    for (Index i = 0; i < all.rows(); ++i) {
        Eigen::RowVectorXf part = Eigen::RowVectorXf::Zero(all.cols());
        for (const ExpertChoice& c : before.chosen[1][size_t(i)])
            if (c.expert == expert)
                part = expert_part(run, run.stack.layers[1].mlp, run.weights.layers[1], c, reads.row(i));
        CHECK((all.row(i) - rest.row(i) - part).cwiseAbs().maxCoeff() < 1e-5f);
    }
    CHECK(same(plain->stack(0).layers[1]->resid_pre.all(), without->stack(0).layers[1]->resid_pre.all()));
    CHECK(!same(plain->stack(0).resid_final.all(), without->stack(0).resid_final.all()));
}

TEST_CASE("experts: their shares of a logit and the rest sum to it, under changes too") {
    ThreadPool pool(2);
    for (const auto& changes : std::vector<std::vector<std::string>>{
             {}, {"ablate-expert:0.1", "ablate-expert:2.0"}, {"mask:6>2", "skip-mlp:1"}, {"ablate:1.2:zero"}})
        for (const int position : {0, 4, 9})
            CHECK(std::abs(left_over(*mixtral_with(changes, pool), {position, 0}, pool)) < 1e-3f);
}

TEST_CASE("experts: a run with an expert off is the same alone, among others, and after an earlier one") {
    ThreadPool pool(2);
    const auto plain = mixtral_with({}, pool), off = mixtral_with({"ablate-expert:1.2"}, pool);
    const auto after = changed(plain->model, {"ablate-expert:1.2"}, pool, plain.get());
    CHECK(same(off->stack(0).resid_final.all(), after->stack(0).resid_final.all()));
    std::vector<TraceRequest> both{{plain->request}, {off->request}};
    const auto together = *run_traces(plain->model, std::move(both), pool);
    CHECK(same(together[0]->stack(0).resid_final.all(), plain->stack(0).resid_final.all()));
    CHECK(same(together[1]->stack(0).resid_final.all(), off->stack(0).resid_final.all()));
}

TEST_CASE("experts: a change names a layer and an expert that the model has") {
    const auto model = reference_model("mixtral");
    CHECK(says(parse_change(model->config, "ablate-expert:1.4").error().message, "0 to 3"));
    for (const char* text :
         {"ablate-expert:3.0", "ablate-expert:1", "ablate-expert:1.x", "ablate-expert:1.-1"})
        CHECK(!parse_change(model->config, text));
    CHECK(says(parse_change(reference_model("mistral")->config, "ablate-expert:1.0").error().message,
               "has experts"));
}
