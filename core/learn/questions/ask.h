// Lists what each station asks about its page. Every right answer follows from the page's numbers; a page on
// which nothing good can be asked has a finding alone.
#pragma once

#include "learn/stations/database.h"
#include "learn/stations/formation.h"
#include "learn/stations/hard_soft.h"
#include "learn/stations/implicit.h"
#include "learn/stations/masks.h"
#include "learn/stations/no_weights.h"
#include "learn/stations/parameters.h"
#include "learn/stations/pictures.h"
#include "learn/stations/positions.h"
#include "learn/stations/qkv.h"
#include "learn/stations/scale.h"
#include "learn/stations/score_functions.h"
#include "learn/stations/seq2seq.h"
#include "learn/stations/three_uses.h"
#include "learn/stations/worked_example.h"

namespace headlight::learn {

using Questions = Result<std::vector<PageQuestion>>;

Questions ask_database(const StationInput& in, const DatabaseState& state, const Page& page, ThreadPool&);
Questions ask_worked(const StationInput& in, const WorkedExampleState& state, const Page& page, ThreadPool&);
Questions ask_no_weights(const StationInput& in, const NoWeightsState& state, const Page& page, ThreadPool&);
Questions ask_qkv(const StationInput& in, const QkvState& state, const Page& page, ThreadPool& pool);
Questions ask_scores(const StationInput& in, const ScoreFunctionsState& state, const Page& page, ThreadPool&);
Questions ask_scale(const StationInput& in, const ScaleState& state, const Page& page, ThreadPool&);
Questions ask_masks(const StationInput& in, const MasksState& state, const Page& page, ThreadPool&);
Questions ask_positions(const StationInput& in, const PositionsState& state, const Page& page, ThreadPool&);
Questions ask_hard_soft(const StationInput& in, const HardSoftState& state, const Page& page, ThreadPool&);
Questions ask_three_uses(const StationInput& in, const ThreeUsesState& state, const Page& page, ThreadPool&);
Questions ask_seq2seq(const StationInput& in, const Seq2seqState& state, const Page& page, ThreadPool&);
Questions ask_implicit(const StationInput& in, const ImplicitState& state, const Page& page, ThreadPool&);
Questions ask_parameters(const StationInput& in, const ParametersState& state, const Page& page, ThreadPool&);
Questions ask_pictures(const StationInput& in, const PicturesState& state, const Page& page, ThreadPool&);
Questions ask_formation(const StationInput& in, const FormationState& state, const Page& page, ThreadPool&);

}  // namespace headlight::learn
