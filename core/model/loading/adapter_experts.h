// Adds adapters to experts.
#pragma once

#include "model/model.h"

namespace headlight {

struct ExpertPlace {
    int layer = 0, expert = 0;
};

/// Adds what is trained for the parameters of all experts of a layer to one expert's matrices. In the
/// parameter of what reads, rows of the gate stand before those of `in`, or alternate with them.
Status adapt_expert(WeightStore& store, ExpertPlace at, const ExpertsSpec& of, ExpertWeights& expert);

}  // namespace headlight
