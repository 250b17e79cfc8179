// Generates text by sampling and beam search.
#include "analysis/prediction/generate.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

#include "base/cast.h"
#include "base/draws.h"

namespace headlight {

namespace {

Vector log_probabilities(const Vector& logits) {
    const float largest = logits.maxCoeff();
    return logits.array() - (largest + std::log((logits.array() - largest).exp().sum()));
}

struct Next {
    Vector log_probability;
    std::vector<Prediction> alternatives;
};

/// Is a text that may still grow.
struct Hypothesis {
    std::vector<GeneratedToken> tokens;
    std::shared_ptr<const Trace> trace;  // of the last step
    double log_probability = 0;
};

class Generator {
public:
    Generator(const std::shared_ptr<const Model>& model, const ForwardRequest& request,
              const GenerationRequest& asked, ThreadPool& pool, const CancelFlag* cancel, const Trace* past,
              WritingObserver* seen)
        : model_(model),
          request_(request),
          asked_(asked),
          pool_(pool),
          cancel_(cancel),
          past_(past),
          seen_(seen),
          random_(asked.sampling.seed) {
        const ModelConfig& c = model->config;
        room_ = std::min(asked.length, c.context_of(c.decoder()) - request.inputs.back().size());
    }

    Result<Generation> run() {
        Hypothesis hypothesis;
        for (const int id : asked_.forced) {
            if (full(hypothesis)) break;
            TRY(const Next next, read(hypothesis));
            if (id < 0 || id >= next.log_probability.size())
                return Error{"The token " + std::to_string(id) + " to write is none of " + model_->name +
                             "'s " + std::to_string(next.log_probability.size()) + "; choose another."};
            append(hypothesis, id, next);
            if (ends(id)) return finished(std::move(hypothesis));
        }
        return asked_.sampling.beams > 1 && asked_.sampling.temperature <= 0
                   ? beam_search(std::move(hypothesis))
                   : sample(std::move(hypothesis));
    }

private:
    bool ends(int id) const { return contains(model_->config.generation.eos_token_ids, id); }
    bool full(const Hypothesis& hypothesis) const { return isize(hypothesis.tokens) >= room_; }

    float score(const Hypothesis& hypothesis) const {
        return float(hypothesis.log_probability /
                     std::pow(std::max<size_t>(hypothesis.tokens.size(), 1), asked_.sampling.length_penalty));
    }

    Generation finished(Hypothesis hypothesis) const {
        const bool ended = !hypothesis.tokens.empty() && ends(hypothesis.tokens.back().id);
        const float value = score(hypothesis);
        return {std::move(hypothesis.tokens), ended, value, std::move(hypothesis.trace)};
    }

    /// Runs the passes that choose the next token of each text, reading their tokens together.
    Result<std::vector<Next>> read(std::span<Hypothesis> texts) {
        std::vector<TraceRequest> requests;
        for (const Hypothesis& text : texts) {
            requests.push_back({request_, text.trace ? text.trace.get() : past_});
            for (const GeneratedToken& token : text.tokens)
                append_token(*model_, requests.back().request.inputs.back(), token.id);
        }
        TRY(auto traces, run_traces(model_, std::move(requests), pool_, cancel_));
        Matrix last(isize(texts), model_->config.d_model);
        for (int i = 0; i < last.rows(); ++i) {
            const Rows& rows = traces[i]->normalized();
            last.row(i) = rows.row(rows.rows() - 1);
            texts[i].trace = std::move(traces[i]);
        }
        const Matrix logits = unembed(*model_, last, pool_);
        std::vector<Next> out;
        for (int i = 0; i < last.rows(); ++i) out.push_back(next_of(logits.row(i).transpose()));
        return out;
    }
    Result<Next> read(Hypothesis& text) {
        TRY(auto next, read(std::span(&text, 1)));
        return std::move(next.front());
    }

    static Next next_of(const Vector& logits) {
        Next next{log_probabilities(logits), {}};
        for (const int id : ranked_ids(next.log_probability, kAlternatives))
            next.alternatives.push_back({id, std::exp(next.log_probability[id])});
        return next;
    }

    static void append(Hypothesis& hypothesis, int id, const Next& next) {
        hypothesis.tokens.push_back({id, std::exp(next.log_probability[id]), next.alternatives});
        hypothesis.log_probability += next.log_probability[id];
    }

    /// log p, with −∞ where the model's rules forbid a token.
    Vector allowed(const Hypothesis& hypothesis, const Next& next) const {
        constexpr float never = -std::numeric_limits<float>::infinity();
        const GenerationConfig& rules = model_->config.generation;
        Vector out = next.log_probability;
        const bool begins = hypothesis.tokens.empty() && request_.inputs.back().size() == 1 &&
                            model_->config.can.write_target;
        if (begins && rules.forced_bos_token_id >= 0 && rules.forced_bos_token_id < out.size()) {
            out.setConstant(never);
            out[rules.forced_bos_token_id] = 0;
            return out;
        }
        for (const int id : rules.suppress_tokens)
            if (id < out.size()) out[id] = never;
        return out;
    }

    /// Generates token by token, the most probable or a random one.
    Result<Generation> sample(Hypothesis hypothesis) {
        while (!full(hypothesis)) {
            TRY(const Next next, read(hypothesis));
            const int id = draw_token(allowed(hypothesis, next), asked_.sampling, uniform(random_));
            append(hypothesis, id, next);
            if (ends(id)) break;
            if (seen_ && !full(hypothesis) && seen_->is_due()) TRY_STATUS(seen_->see(finished(hypothesis)));
        }
        return finished(std::move(hypothesis));
    }

    /// Is a draft with a next token.
    struct Candidate {
        size_t hypothesis;
        int id;
        double log_probability;
    };

    /// Returns the most probable continuations of all drafts: enough that `beams` of them do not end.
    std::vector<Candidate> candidates(const std::vector<Hypothesis>& hypotheses,
                                      const std::vector<Next>& next) const {
        const int kept =
            std::max(2, 1 + isize(model_->config.generation.eos_token_ids)) * asked_.sampling.beams;
        std::vector<Candidate> out;
        for (size_t i = 0; i < hypotheses.size(); ++i) {
            const Vector may = allowed(hypotheses[i], next[i]);
            for (const int id : ranked_ids(may, kept))
                if (std::isfinite(may[id]))
                    out.push_back({i, id, hypotheses[i].log_probability + next[i].log_probability[id]});
        }
        std::stable_sort(out.begin(), out.end(), [](const Candidate& a, const Candidate& b) {
            return a.log_probability > b.log_probability;
        });
        if (isize(out) > kept) out.resize(kept);
        return out;
    }

    /// Runs beam search, until the best running draft scores no better than the worst of `beams` finished.
    Result<Generation> beam_search(Hypothesis first) {
        const size_t beams = std::min(asked_.sampling.beams, kMaxBeams);
        std::vector<Hypothesis> running{std::move(first)}, done;
        const auto better = [this](const Hypothesis& a, const Hypothesis& b) { return score(a) > score(b); };
        while (!running.empty() && !full(running[0])) {
            TRY(const auto next, read(running));
            const auto ways = candidates(running, next);
            std::vector<Hypothesis> grown;
            for (size_t rank = 0; rank < ways.size(); ++rank) {
                Hypothesis hypothesis = running[ways[rank].hypothesis];
                append(hypothesis, ways[rank].id, next[ways[rank].hypothesis]);
                if (!ends(ways[rank].id) && !full(hypothesis)) {
                    if (grown.size() < beams) grown.push_back(std::move(hypothesis));
                } else if (rank < beams) {
                    done.push_back(std::move(hypothesis));
                }
            }
            std::stable_sort(done.begin(), done.end(), better);
            if (done.size() > beams) done.resize(beams);
            running = std::move(grown);
            if (done.size() == beams && !running.empty() && score(running[0]) <= score(done.back())) break;
        }
        if (done.empty()) return finished(running.empty() ? Hypothesis() : std::move(running[0]));
        return finished(std::move(done[0]));
    }

    const std::shared_ptr<const Model>& model_;
    const ForwardRequest& request_;
    const GenerationRequest& asked_;
    ThreadPool& pool_;
    const CancelFlag* cancel_;
    const Trace* past_;
    WritingObserver* seen_;
    std::mt19937_64 random_;
    int room_ = 0;
};

Result<std::vector<int>> fill_masks(const std::shared_ptr<const Model>& model, ForwardRequest request,
                                    const SamplingParams& sampling, ThreadPool& pool) {
    std::mt19937_64 random(sampling.seed);
    TRY(const auto trace, run_trace(model, request, pool));
    for (const int position : predicting_positions(*trace))
        request.inputs[0].ids[position] =
            draw_token(logits_at(*trace, position, pool), sampling, uniform(random));
    return request.inputs[0].ids;
}

Status check_writes(const Model& model) {
    const char* why = why_cannot_generate(model);
    return why ? Status(Error{model.name + " " + why}) : success();
}

}  // namespace

std::vector<int> Generation::ids() const {
    std::vector<int> out;
    for (const GeneratedToken& token : tokens) out.push_back(token.id);
    if (ended) out.pop_back();
    return out;
}

int draw_token(const Vector& logits, const SamplingParams& d, double uniform) {
    if (d.temperature <= 0) return ranked_ids(logits, 1)[0];
    const Vector p = probabilities(logits / d.temperature);
    const std::vector<int> order = ranked_ids(p, d.top_k > 0 ? d.top_k : isize(p));
    const double among =
        std::accumulate(order.begin(), order.end(), 0.0, [&](double sum, int id) { return sum + p[id]; });
    size_t count = 0;
    double mass = 0;
    while (count < order.size() && (count == 0 || mass < d.top_p * among)) mass += p[order[count++]];
    double point = uniform * mass;
    for (size_t i = 0; i + 1 < count; ++i)
        if ((point -= p[order[i]]) < 0) return order[i];
    return order[count - 1];
}

void append_token(const Model& model, Sequence& sequence, int id) {
    sequence.ids.push_back(id);
    sequence.tokens.push_back(model.tokenizer ? model.target_tokenizer()->spelling(id)
                                              : "#" + std::to_string(id));
}

const char* why_cannot_generate(const Model& model) {
    if (model.config.can.read_image) return "reads images and generates no text; use a language model.";
    if (!model.has_logits())
        return "has no language-model head, so it predicts no tokens; use a checkpoint that was saved with "
               "its head.";
    return nullptr;
}

Result<Generation> generate(const std::shared_ptr<const Model>& model, const ForwardRequest& request,
                            const GenerationRequest& asked, ThreadPool& pool, const CancelFlag* cancel,
                            const Trace* past, WritingObserver* seen) {
    TRY_STATUS(check_writes(*model));
    if (model->config.can.fill_masks)
        return Error{model->name +
                     " fills masks and does not write on; use a decoder or an encoder–decoder."};
    TRY(Generation generation, Generator(model, request, asked, pool, cancel, past, seen).run());
    TRY_STATUS(model->store->check_unchanged());  // logits were read after the last pass
    return generation;
}

Result<std::vector<int>> generated_ids(const std::shared_ptr<const Model>& model,
                                       const ForwardRequest& request, const GenerationRequest& asked,
                                       ThreadPool& pool) {
    TRY_STATUS(check_writes(*model));
    if (model->config.can.fill_masks) return fill_masks(model, request, asked.sampling, pool);
    TRY(const Generation generation, generate(model, request, asked, pool));
    return generation.ids();
}

}  // namespace headlight
