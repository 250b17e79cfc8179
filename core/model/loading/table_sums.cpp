// Sums the rows of embedding tables.
#include "model/loading/table_sums.h"

#include <algorithm>
#include <vector>

#include "base/cast.h"

namespace headlight {

TableSums table_sums(const Linear& table, ThreadPool& pool) {
    constexpr Index kRows = 1024;
    std::vector<TableSums> parts(static_cast<size_t>((table.out + kRows - 1) / kRows));
    pool.run(isize(parts), [&](int i) {
        TableSums& part = parts[static_cast<size_t>(i)];
        part.sum = Eigen::RowVectorXd::Zero(table.in);
        Eigen::RowVectorXf row(table.in);
        const Index end = std::min<Index>(table.out, (i + 1) * kRows);
        for (Index id = i * kRows; id < end; ++id) {
            table.read(id, 0, table.in, row.data());
            part.sum += row.cast<double>();
            part.squares += row.cast<double>().squaredNorm();
        }
    });
    TableSums out{Eigen::RowVectorXd::Zero(table.in), 0};
    for (const TableSums& part : parts) {
        out.sum += part.sum;
        out.squares += part.squares;
    }
    return out;
}

}  // namespace headlight
