// How much each token of the input counts for what the model says, by methods that ask in different ways.
#pragma once

#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "analysis/prediction/metric.h"
#include "trace/trace_gradients.h"

namespace headlight {

/// gradient: ‖∂m/∂E_j‖ of the metric m by a token's embedding E_j (resid_pre of layer 0). input_x_gradient:
/// E_j · ∂m/∂E_j. integrated_gradients: (E_j − B_j) · ∫ ∂m/∂E_j along the straight line from a baseline B to
/// E (Sundararajan et al. 2017). contribution: ‖Σ_h α v W_O‖ against the residual, layer by layer (Kobayashi
/// et al. 2020, 2021). relevance: patterns weighted by their gradients (Chefer et al. 2021). rollout: mean
/// patterns (Abnar and Zuidema 2020). attribution_patching: what the clean run's resid_pre at a token would
/// bring back of the metric in the corrupted one, to first order (Nanda 2023), from 0 (corrupted) to 1
/// (clean), added up over the layers.
enum class InfluenceMethod {
    gradient,
    input_x_gradient,
    integrated_gradients,
    contribution,
    relevance,
    rollout,
    attribution_patching
};

/// The table of methods.
struct InfluenceMethodRow {
    InfluenceMethod method;
    const char* word;   // as the command line spells it
    const char* other;  // another spelling; null: none
    const char* name;   // as people read it
    const char* help;
    bool is_signed;
    bool of_metric;  // explains the metric; else what the row at its position was made of
};
std::span<const InfluenceMethodRow> influence_methods();

/// Where integrated gradients begin: every token the mean of the vocabulary, nothing at all, or another
/// prompt of equal length.
enum class InfluenceBaseline { mean, zero, prompt };

struct InfluenceRequest {
    InfluenceMethod method = InfluenceMethod::gradient;
    Metric metric;
    InfluenceBaseline baseline = InfluenceBaseline::mean;
    int steps = 50;  // points of the Gauss–Legendre rule
    /// More than 0: so many tokens at the end of the output were written, and these are explained together:
    /// the metric is the sum over them of its kind (log p, p, logit), of each where it was predicted.
    int written = 0;
    /// Whether it asks for another prompt's run.
    bool needs_prompt() const {
        return method == InfluenceMethod::attribution_patching ||
               (method == InfluenceMethod::integrated_gradients && baseline == InfluenceBaseline::prompt);
    }
    bool operator==(const InfluenceRequest&) const = default;
};

/// The runs of a question: the one that is explained, the unchanged one where something is changed, and the
/// one whose embeddings are the baseline; of attribution patching the corrupted one, and the clean one last.
struct InfluenceRuns {
    const Trace& trace;
    const Trace* own = nullptr;
    const Trace* prompt = nullptr;
};

struct Influence {
    Metric metric;  // resolved; of a model without a head its position alone means something; of what was
                    // written that of its first token
    std::vector<Vector> tokens;  // of each stack, by token
    float value = 0;             // of the metric; 0 without a head
    float own_value = 0;         // … in the unchanged run
    float baseline_value = 0;    // of the metric at the baseline; attribution patching: in the clean run
    float sum = 0;               // of all tokens
    /// How far the sum of integrated gradients is from value − baseline_value, as a share of that; NaN where
    /// that is 0.
    float gap() const;
};

/// Called after each step of what takes many.
using InfluenceStep = std::function<void()>;

/// An error says why the method cannot be used here, or that `cancel` was set. Integrated gradients take as
/// many steps as wanted.
Result<Influence> influence(const InfluenceRuns& runs, const InfluenceRequest& request, ThreadPool& pool,
                            const CancelFlag* cancel = nullptr, const InfluenceStep& step = {});

/// The metric of each written token of an output, at the row that predicted it. An error says why there are
/// none.
Result<std::vector<Metric>> written_metrics(const Metric& kind, const Trace& trace, int written);

/// How strongly each output answers to each token, whatever it says (implicit attention).
struct JacobianNorms {
    Matrix norms;           // [outputs, tokens of all stacks]: Frobenius norm of ∂resid_post_i / ∂E_j
    Matrix standard_error;  // of estimated ones; else empty
};

/// Of a layer's resid_post (before the final norm) by the embeddings; −1: the last stack's, the last layer's.
struct StackOutput {
    int stack = -1, layer = -1;
};

/// Exact, in d_model reverse passes for each output; or estimated from so many `probes` an output: of v with
/// entries ±1, ‖vᵀ J‖² has the mean ‖J‖² (Hutchinson 1990). One step for each output.
Result<JacobianNorms> jacobian_norms(const Trace& trace, int probes, ThreadPool& pool,
                                     const CancelFlag* cancel = nullptr, const InfluenceStep& step = {},
                                     StackOutput of = {});
/// The rows of some outputs of these: [outputs, tokens].
Result<JacobianNorms> jacobian_rows(const Trace& trace, StackOutput of, int first, int outputs, int probes,
                                    ThreadPool& pool, const CancelFlag* cancel = nullptr);
/// How many gradients go back together, and how many outputs with all their directions.
int gradients_together(const Trace& trace);
int outputs_together(const Trace& trace, int probes);

/// The seed of a reverse pass from a resolved metric; `own`: the unchanged run, or null. Refused for a
/// divergence where nothing is changed: it is 0 there, and so is every gradient.
Result<GradientSeed> metric_seed(const Metric& metric, const Trace& trace, const Trace* own,
                                 ThreadPool& pool);

/// Points and weights of the Gauss–Legendre rule on [0, 1]; the weights sum to 1.
std::vector<std::pair<double, double>> gauss_legendre(int points);

// What follows goes from rows of the last stack down to the embeddings, block by block; MLPs pass a row
// straight on. Of each stack, by token.

/// By contribution_shares, and by rollout_shares. Each position's shares sum to 1; those of several are added
/// up.
Result<std::vector<Vector>> contribution_paths(const Trace& trace, std::span<const int> positions,
                                               ThreadPool& pool, const CancelFlag* cancel = nullptr);
Result<std::vector<Vector>> rollout_paths(const Trace& trace, std::span<const int> positions,
                                          ThreadPool& pool, const CancelFlag* cancel = nullptr);
/// R ← R + R · mean over heads of (gradient ∘ pattern)⁺, with the seed's gradients (Chefer et al. 2021,
/// equations 5 and 6; through cross-attention into the encoder too: their 10 is not for causal decoders); R
/// begins as the identity. [positions, tokens of all stacks], each row with the seed of its own.
Result<Matrix> relevance_paths(const Trace& trace, std::span<const int> positions,
                               std::vector<GradientSeed> seeds, ThreadPool& pool,
                               const CancelFlag* cancel = nullptr);
/// Fails, with the sentence for a person, where a trace holds no weights.
Status check_followed_back(const Trace& trace);
/// A row over the tokens of all stacks, cut into those of each.
std::vector<Vector> by_stack(const Trace& trace, const Eigen::RowVectorXf& tokens);

}  // namespace headlight
