// Scores how much each input token matters for the model's output, by several methods.
#pragma once

#include <functional>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "analysis/attribution/leave_out.h"
#include "analysis/attribution/path_integral.h"
#include "trace/trace_gradients.h"

namespace headlight {

/// leave_out: the metric m minus the same without part j (leave_out.h), exact. gradient: ‖∂m/∂E_j‖ of the
/// metric m by a token's embedding E_j (resid_pre of layer 0). input_x_gradient: E_j · ∂m/∂E_j.
/// integrated_gradients: (E_j − B_j) · ∫ ∂m/∂E_j along the straight line from a baseline B to E (Sundararajan
/// et al. 2017). contribution: ‖Σ_h α v W_O‖ against the residual, layer by layer (Kobayashi et al. 2020,
/// 2021). relevance: patterns weighted by their gradients (Chefer et al. 2021). rollout: mean patterns (Abnar
/// and Zuidema 2020). attribution_patching: how much of the metric the clean run's resid_pre at a token would
/// restore in the corrupted metric in the corrupted one, to first order (Nanda 2023), from 0 (corrupted) to 1
/// (clean), added up over the layers.
enum class InfluenceMethod {
    leave_out,
    gradient,
    input_x_gradient,
    integrated_gradients,
    contribution,
    relevance,
    rollout,
    attribution_patching
};

/// Defines a row of the table of methods.
struct InfluenceMethodRow {
    InfluenceMethod method;
    const char* word;  // on the command line
    const char* name;  // as shown to users
    const char* help;
    bool is_signed;
    bool of_metric;  // explains the metric; else the sources of the row at its position
    const char*
        no_sum;  // why its sum says nothing of how good it is; null: it is to add up to Influence::due
    bool needs_weights = false;  // those of an engine do not serve
};
std::span<const InfluenceMethodRow> influence_methods();

/// Says where integrated gradients begin: every token at the vocabulary's mean, zero, or another prompt of
/// equal length.
enum class InfluenceBaseline { mean, zero, prompt };

/// Points of integrated gradients: as needed (integrate_adaptively), or as needed within half a minute.
inline constexpr int kAsNeeded = 0, kWithinBudget = -1;
/// Returns when they end; a model that is soon run has all the points that it needs.
PathBudget budget_of(const ModelConfig& config, int tokens, int steps);

struct InfluenceRequest {
    InfluenceMethod method = InfluenceMethod::gradient;
    Metric metric;
    InfluenceBaseline baseline = InfluenceBaseline::mean;
    int steps = kAsNeeded;            // points of integrated gradients
    TextPart part = TextPart::token;  // that is left out at a time; other methods score tokens
    /// If positive: explains this many generated tokens at the end of the output together: the metric is the
    /// sum of its kind (log p, p, logit) over them, each where it was predicted.
    int written = 0;
    /// Returns whether it needs another prompt's run.
    bool needs_prompt() const {
        return method == InfluenceMethod::attribution_patching ||
               (method == InfluenceMethod::integrated_gradients && baseline == InfluenceBaseline::prompt);
    }
    bool operator==(const InfluenceRequest&) const = default;
};

/// Holds the runs of a question: the one to explain, the unchanged one if something is changed, and the one
/// whose embeddings are the baseline; for attribution patching the corrupted run, and the clean one last.
struct InfluenceRuns {
    const Trace& trace;
    const Trace* own = nullptr;
    const Trace* prompt = nullptr;
};

struct Influence {
    Metric metric;  // resolved; without a head only its position counts; for generated tokens the first one's
    std::vector<Vector> tokens;  // of each stack, by token
    float value = 0;             // of the metric; 0 without a head
    float own_value = 0;         // in the unchanged run
    float baseline_value = 0;    // of the metric at the baseline; attribution patching: in the clean run
    float sum = 0;               // over all tokens
    float due = std::numeric_limits<float>::quiet_NaN();  // what they should sum to; NaN: nothing certain
    int passes = 0, all_passes = 0;                       // points or runs so far, and of all; 0: not known
    MetricValues before;                                  // leave_out: of the whole text
    std::vector<LeftOut> left_out;                        // … and without each part so far
    bool image_stays = false;                             // … which is never an image beside the text
    /// The run without the part that begins at a token, or null.
    const LeftOut* without(int stack, int token) const;
    /// |sum − due| / |due|; NaN if due is 0 or nothing certain.
    float gap() const;
    /// Whether the scores miss what they should sum to by more than a tenth.
    bool misses() const { return gap() > kMaxGap; }
    static constexpr float kMaxGap = 0.1f;
};

/// Says how well the scores add up: "adds up: +24.82 of +24.80, off by 0.1 %"; where they miss it, why;
/// "exact, 17 runs · each word alone, so the sum is no test".
std::string adds_up_text(const Influence& found, InfluenceMethod method);

/// Called after each step of what takes many; with what is known so far where that can be shown, scores that
/// are not measured NaN.
using InfluenceStep = std::function<void(const Influence* known)>;

/// Computes the scores. Fails if the method does not apply here, or `cancel` was set.
Result<Influence> influence(const InfluenceRuns& runs, const InfluenceRequest& request, ThreadPool& pool,
                            const CancelFlag* cancel = nullptr, const InfluenceStep& step = {});

/// Returns the metric of each generated token of an output, at the row that predicted it. Fails if there are
/// none.
Result<std::vector<Metric>> written_metrics(const Metric& kind, const Trace& trace, int written);

/// Measures how strongly each output depends on each token, whatever it predicts (implicit attention).
struct JacobianNorms {
    Matrix norms;           // [outputs, tokens of all stacks]: Frobenius norm of ∂resid_post_i / ∂E_j
    Matrix standard_error;  // of estimates; else empty
};

/// Selects a layer's resid_post (before the final norm); −1: the last stack's, the last layer's.
struct StackOutput {
    int stack = -1, layer = -1;
};

/// Computes them exactly, by d_model reverse passes per output; or estimates them from `probes` per output:
/// for v with entries ±1, E ‖vᵀ J‖² = ‖J‖² (Hutchinson 1990). One step per output.
Result<JacobianNorms> jacobian_norms(const Trace& trace, int probes, ThreadPool& pool,
                                     const CancelFlag* cancel = nullptr, const InfluenceStep& step = {},
                                     StackOutput of = {});
/// Computes the rows of some outputs: [outputs, tokens].
Result<JacobianNorms> jacobian_rows(const Trace& trace, StackOutput of, int first, int outputs, int probes,
                                    ThreadPool& pool, const CancelFlag* cancel = nullptr);
/// Return how many gradients, and how many outputs with all their directions, to propagate together.
int gradients_together(const Trace& trace);
int outputs_together(const Trace& trace, int probes);

/// Makes the seed of a reverse pass from a resolved metric; `own`: the unchanged run, or null. Refuses a
/// divergence if nothing is changed: it and its gradients are 0 there.
Result<GradientSeed> metric_seed(const Metric& metric, const Trace& trace, const Trace* own,
                                 ThreadPool& pool);

// The functions below trace rows of the last stack down to the embeddings, block by block; MLPs pass a row on
// unchanged. Their results are per stack, by token.

/// Trace by contribution_shares, and by rollout_shares. Each position's shares sum to 1; sums over positions.
Result<std::vector<Vector>> contribution_paths(const Trace& trace, std::span<const int> positions,
                                               ThreadPool& pool, const CancelFlag* cancel = nullptr);
Result<std::vector<Vector>> rollout_paths(const Trace& trace, std::span<const int> positions,
                                          ThreadPool& pool, const CancelFlag* cancel = nullptr);
/// R ← R + R · mean over heads of (gradient ∘ pattern)⁺, with the seed's gradients (Chefer et al. 2021,
/// equations 5 and 6; through cross-attention into the encoder too: their 10 is not for causal decoders); R
/// begins as the identity. [positions, tokens of all stacks], each row with its own seed.
Result<Matrix> relevance_paths(const Trace& trace, std::span<const int> positions,
                               std::vector<GradientSeed> seeds, ThreadPool& pool,
                               const CancelFlag* cancel = nullptr);
/// Fails, with a sentence for the user, if a trace holds no weights.
Status check_followed_back(const Trace& trace);
/// Fails where a method needs weights that are elsewhere, or where there are none.
Status check_method(const Trace& trace, InfluenceMethod method);
/// Splits a row over the tokens of all stacks by stack.
std::vector<Vector> by_stack(const Trace& trace, const Eigen::RowVectorXf& tokens);

}  // namespace headlight
