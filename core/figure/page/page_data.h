// Describes a run for a page: what the program writes into one, and what a page that computes answers itself.
#pragma once

#include "analysis/prediction/generate.h"
#include "analysis/prediction/lens.h"
#include "io/json.h"

namespace headlight {

/// Holds the weights of a block's heads, rows one after another, of each row the stored keys.
struct PagePatterns {
    std::vector<Matrix> patterns;
    bool lower;  // keys up to the query alone: all later ones are 0

    PagePatterns(const Trace& trace, int block);
    Index stored(Index query) const { return lower ? query + 1 : patterns[0].cols(); }
    float largest() const;
    template <class Use>
    void each(const Matrix& pattern, const Use& use) const {
        for (Index q = 0; q < pattern.rows(); ++q)
            for (Index k = 0; k < stored(q); ++k) use(pattern(q, k));
    }
};

/// Describes a block as assets/page/10-data.js reads it, but for how its weights are stored.
Json block_facts(const Trace& trace, int block, const PagePatterns& weights);

/// Returns "stories · GPT-2, 4 layers, 8 heads".
std::string model_text(const Model& model);
/// Lists each stack's tokens.
Json sequences_of(const Trace& trace);
/// Lists the most probable tokens that follow: label, probability, and the text to add, or none.
Json next_of(const Trace& trace, ThreadPool& pool);
Json lens_of(const Trace& trace, const Lens& lens);

/// Rounds an error up to one digit, as a page says it.
double said_error(float error);

/// Adds what a translator writes for the text that it reads; keeps the pass that wrote it, which the next may
/// continue.
Result<ForwardRequest> with_target(const std::shared_ptr<const Model>& model, ForwardRequest request,
                                   ThreadPool& pool, std::shared_ptr<const Trace>& written);

}  // namespace headlight
