#include "analysis/generate.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

namespace headlight {

namespace {

bool contains(const std::vector<int>& ids, int id) {
    return std::find(ids.begin(), ids.end(), id) != ids.end();
}

Vector log_probabilities(const Vector& logits) {
    const float largest = logits.maxCoeff();
    return logits.array() - (largest + std::log((logits.array() - largest).exp().sum()));
}

/// What a pass says of the next token.
struct Next {
    Vector log_probability;
    std::vector<Prediction> alternatives;
};

/// A text that may still grow.
struct Draft {
    std::vector<WrittenToken> tokens;
    std::shared_ptr<const Trace> trace;  // of the last step
    double log_probability = 0;
};

class Writer {
public:
    Writer(const std::shared_ptr<const Model>& model, const ForwardRequest& request,
           const WritingWanted& wanted, ThreadPool& pool, const CancelFlag* cancel, const Trace* past)
        : model_(model),
          request_(request),
          wanted_(wanted),
          pool_(pool),
          cancel_(cancel),
          past_(past),
          random_(wanted.decoding.seed) {
        room_ = std::min(wanted.length, model->config.context - request.inputs.back().size());
    }

    Result<Writing> write() {
        Draft draft;
        for (const int id : wanted_.forced) {
            if (full(draft)) break;
            TRY(const Next next, read(draft));
            if (id < 0 || id >= next.log_probability.size())
                return Error{"The token " + std::to_string(id) + " to write is none of " + model_->name +
                             "'s " + std::to_string(next.log_probability.size()) + "; choose another."};
            append(draft, id, next);
            if (ends(id)) return finished(std::move(draft));
        }
        return wanted_.decoding.beams > 1 && wanted_.decoding.temperature <= 0 ? search(std::move(draft))
                                                                               : walk(std::move(draft));
    }

private:
    bool ends(int id) const { return contains(model_->config.writing.ends, id); }
    bool full(const Draft& draft) const { return static_cast<int>(draft.tokens.size()) >= room_; }

    float score(const Draft& draft) const {
        return static_cast<float>(draft.log_probability / std::pow(std::max<size_t>(draft.tokens.size(), 1),
                                                                   wanted_.decoding.length_penalty));
    }

    Writing finished(Draft draft) const {
        const bool ended = !draft.tokens.empty() && ends(draft.tokens.back().id);
        const float value = score(draft);
        return {std::move(draft.tokens), ended, value, std::move(draft.trace)};
    }

    /// The pass that chooses the draft's next token, in draft.trace, and what it says.
    Result<Next> read(Draft& draft) {
        ForwardRequest request = request_;
        for (const WrittenToken& token : draft.tokens) append_token(*model_, request.inputs.back(), token.id);
        const int last = request.inputs.back().size() - 1;
        TRY(draft.trace,
            run_trace(model_, std::move(request), pool_, cancel_, draft.trace ? draft.trace.get() : past_));
        Next next{log_probabilities(logits_at(*draft.trace, last, pool_)), {}};
        for (const int id : ranked_ids(next.log_probability, kAlternatives))
            next.alternatives.push_back({id, std::exp(next.log_probability[id])});
        return next;
    }

    static void append(Draft& draft, int id, const Next& next) {
        draft.tokens.push_back({id, std::exp(next.log_probability[id]), next.alternatives});
        draft.log_probability += next.log_probability[id];
    }

    /// log p with −∞ where the model's rules forbid a token.
    Vector allowed(const Draft& draft, const Next& next) const {
        constexpr float never = -std::numeric_limits<float>::infinity();
        const WritingRules& rules = model_->config.writing;
        Vector out = next.log_probability;
        const bool begins = draft.tokens.empty() && request_.inputs.back().size() == 1 &&
                            model_->config.kind == ModelKind::encoder_decoder;
        if (begins && rules.first >= 0 && rules.first < out.size()) {
            out.setConstant(never);
            out[rules.first] = 0;
            return out;
        }
        for (const int id : rules.banned)
            if (id < out.size()) out[id] = never;
        return out;
    }

    /// Token by token, the most probable one or a drawn one.
    Result<Writing> walk(Draft draft) {
        while (!full(draft)) {
            TRY(const Next next, read(draft));
            const int id = draw_token(allowed(draft, next), wanted_.decoding,
                                      std::uniform_real_distribution<double>(0, 1)(random_));
            append(draft, id, next);
            if (ends(id)) break;
        }
        return finished(std::move(draft));
    }

    /// A draft and its next token.
    struct Candidate {
        size_t draft;
        int id;
        double log_probability;
    };

    /// The most probable ways to go on from all drafts: enough that `beams` of them do not end.
    Result<std::vector<Candidate>> candidates(std::vector<Draft>& drafts, std::vector<Next>& next) {
        const size_t kept = std::max<size_t>(2, 1 + model_->config.writing.ends.size()) *
                            static_cast<size_t>(wanted_.decoding.beams);
        std::vector<Candidate> out;
        next.clear();
        for (size_t i = 0; i < drafts.size(); ++i) {
            TRY(Next one, read(drafts[i]));
            const Vector may = allowed(drafts[i], one);
            for (const int id : ranked_ids(may, static_cast<int>(kept)))
                if (std::isfinite(may[id]))
                    out.push_back({i, id, drafts[i].log_probability + one.log_probability[id]});
            next.push_back(std::move(one));
        }
        std::stable_sort(out.begin(), out.end(), [](const Candidate& a, const Candidate& b) {
            return a.log_probability > b.log_probability;
        });
        if (out.size() > kept) out.resize(kept);
        return out;
    }

    /// Beam search: ends when the best running draft scores no better than the worst of as many finished
    /// ones.
    Result<Writing> search(Draft first) {
        const auto beams = static_cast<size_t>(std::min(wanted_.decoding.beams, kMostBeams));
        std::vector<Draft> running{std::move(first)}, done;
        std::vector<Next> next;
        const auto better = [this](const Draft& a, const Draft& b) { return score(a) > score(b); };
        while (!running.empty() && !full(running[0])) {
            TRY(const auto ways, candidates(running, next));
            std::vector<Draft> grown;
            for (size_t rank = 0; rank < ways.size(); ++rank) {
                Draft draft = running[ways[rank].draft];
                append(draft, ways[rank].id, next[ways[rank].draft]);
                if (!ends(ways[rank].id) && !full(draft)) {
                    if (grown.size() < beams) grown.push_back(std::move(draft));
                } else if (rank < beams) {
                    done.push_back(std::move(draft));
                }
            }
            std::stable_sort(done.begin(), done.end(), better);
            if (done.size() > beams) done.resize(beams);
            running = std::move(grown);
            if (done.size() == beams && !running.empty() && score(running[0]) <= score(done.back())) break;
        }
        if (done.empty()) return finished(running.empty() ? Draft() : std::move(running[0]));
        return finished(std::move(done[0]));
    }

    const std::shared_ptr<const Model>& model_;
    const ForwardRequest& request_;
    const WritingWanted& wanted_;
    ThreadPool& pool_;
    const CancelFlag* cancel_;
    const Trace* past_;
    std::mt19937_64 random_;
    int room_ = 0;
};

Result<std::vector<int>> fill_masks(const std::shared_ptr<const Model>& model, ForwardRequest request,
                                    const Decoding& decoding, ThreadPool& pool) {
    std::mt19937_64 random(decoding.seed);
    TRY(const auto trace, run_trace(model, request, pool));
    for (const int position : predicting_positions(*trace))
        request.inputs[0].ids[static_cast<size_t>(position)] =
            draw_token(logits_at(*trace, position, pool), decoding,
                       std::uniform_real_distribution<double>(0, 1)(random));
    return request.inputs[0].ids;
}

Status check_writes(const Model& model) {
    const char* why = why_silent(model);
    return why ? Status(Error{model.name + " " + why}) : success();
}

}  // namespace

std::vector<int> Writing::ids() const {
    std::vector<int> out;
    for (const WrittenToken& token : tokens) out.push_back(token.id);
    if (ended) out.pop_back();
    return out;
}

int draw_token(const Vector& logits, const Decoding& d, double uniform) {
    if (d.temperature <= 0) return ranked_ids(logits, 1)[0];
    const Vector p = probabilities(logits / d.temperature);
    const std::vector<int> order = ranked_ids(p, d.top_k > 0 ? d.top_k : static_cast<int>(p.size()));
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

const char* why_silent(const Model& model) {
    if (model.config.kind == ModelKind::vision)
        return "reads images and generates no text; use a language model.";
    if (!model.has_logits())
        return "has no language-model head, so it predicts no tokens; use a checkpoint that was saved with "
               "its head.";
    return nullptr;
}

Result<Writing> write(const std::shared_ptr<const Model>& model, const ForwardRequest& request,
                      const WritingWanted& wanted, ThreadPool& pool, const CancelFlag* cancel,
                      const Trace* past) {
    TRY_STATUS(check_writes(*model));
    if (model->config.kind == ModelKind::encoder)
        return Error{model->name +
                     " fills masks and does not write on; use a decoder or an encoder–decoder."};
    TRY(Writing writing, Writer(model, request, wanted, pool, cancel, past).write());
    TRY_STATUS(model->store.check_unchanged());  // logits were read after the last pass
    return writing;
}

Result<std::vector<int>> generate(const std::shared_ptr<const Model>& model, const ForwardRequest& request,
                                  const WritingWanted& wanted, ThreadPool& pool) {
    TRY_STATUS(check_writes(*model));
    if (model->config.kind == ModelKind::encoder) return fill_masks(model, request, wanted.decoding, pool);
    TRY(const Writing writing, write(model, request, wanted, pool));
    return writing.ids();
}

}  // namespace headlight
