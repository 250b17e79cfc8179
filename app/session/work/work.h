// What the window asks of the worker, and what comes back.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "questions/answering.h"
#include "session/model_choice.h"
#include "session/work/composition_sweep.h"
#include "session/work/dossier_sweep.h"
#include "session/work/influence_sweep.h"
#include "session/work/patch_sweep.h"
#include "session/work/sweep.h"

namespace headlight {

/// The run that is compared with the one that is shown: another text, in the same or another model, without
/// changes.
struct OtherRun {
    std::string model_path;  // empty: the model that is open
    uint64_t model_attempt = 0;
    std::string text;
    bool operator==(const OtherRun&) const = default;
};

/// What the window wants to see: its whole wish, not a step.
struct WorkRequest {
    std::string model_path;                 // as typed, dropped or remembered
    uint64_t model_attempt = 0;             // grows when the same path shall be tried again
    std::shared_ptr<const Model> asked_of;  // that was shown when this was asked: what names layers, heads or
                                            // tokens is for it alone; null: for whichever is open
    std::string text;
    std::string picture;  // its path: vision models read it in place of the text
    std::string second;   // the second sentence, or the target
    GenerationAsked generation;
    int block = 0, head = 0;
    std::optional<std::pair<int, int>> cell;  // query, key to report on
    bool cell_tokens = true;                  // what its head's output promotes is shown
    bool choose_head = false;                 // pick the most telling head for this text
    Intervention intervention;                // masks and changes in force
    std::vector<Question> questions;          // of the view; at most one of each kind
    std::optional<OtherRun> other;
    std::optional<Metric> sweep;         // ablate each head in turn and measure the effect on this
    std::optional<PatchWish> patch;      // a map of patching
    InfluenceAsked influence;            // measure these beside the worker
    bool composition = false;            // of all pairs of heads, where a question would take too long
    std::optional<DossierWish> dossier;  // heads over many texts
    std::optional<HeadGroup> group;      // the picture is of several heads as one
    bool drop_sink = false;  // the picture of the head leaves the first key out and renormalizes its rows

    bool operator==(const WorkRequest&) const = default;
};

/// What the worker answers: what there is to see, and what went wrong. Shared with the window.
struct WorkAnswer : RunAnswer {
    std::string other_error;                     // why there is no other run
    std::shared_ptr<const Sweep> sweep;          // asked for and not cancelled; may still be going on
    std::shared_ptr<const PatchSweep> patching;  // of the map that is asked for; may be cancelled
    std::shared_ptr<const InfluenceMapSweep> influence_map;
    std::shared_ptr<const TokenScoresSweep> token_scores;
    std::shared_ptr<const CompositionSweep> composition;
    std::shared_ptr<const DossierSweep> dossier;  // of the file that is asked for; may be cancelled
    ModelChoice open;                             // the model that answers
    std::string model_path;                       // the path that was asked for last
    uint64_t model_attempt = 0;
    std::string model_error;  // why it was not opened; the old model stays
    std::string text_error;   // why the text cannot be read
    /// Whether something is measured beside the worker.
    bool measures() const {
        const auto goes_on = [](const auto& measured) { return measured && !measured->ended(); };
        return goes_on(sweep) || (patching && patching->goes_on()) || goes_on(influence_map) ||
               goes_on(token_scores) || goes_on(composition) || (dossier && dossier->goes_on());
    }
    std::string failure;  // why something that was asked for is not here; what was shown stays
};

}  // namespace headlight
