// Sums all rows of an embedding table, which may be the largest matrix of a model.
#pragma once

#include "model/linear.h"

namespace headlight {

struct TableSums {
    Eigen::RowVectorXd sum;  // [in], over the rows
    double squares = 0;      // over all entries
};

/// Runs on all threads; adds the parts in order, so that their number does not affect the result. Throws
/// Failure{cancelled()} if the pool's flag is set.
TableSums table_sums(const Linear& table, ThreadPool& pool);

}  // namespace headlight
