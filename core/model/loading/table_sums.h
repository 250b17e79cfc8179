// Sums over all rows of an embedding table, which may be the largest matrix of a model.
#pragma once

#include "model/linear.h"

namespace headlight {

struct TableSums {
    Eigen::RowVectorXd sum;  // [in], of the rows
    double squares = 0;      // of all entries
};

/// On all threads; parts are added up in their order, so that their number does not matter. Throws
/// Failure{cancelled()} where the pool's flag is set.
TableSums table_sums(const Linear& table, ThreadPool& pool);

}  // namespace headlight
