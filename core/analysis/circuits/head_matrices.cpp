// Decodes the matrices of one head.
#include "analysis/circuits/head_matrices.h"

#include "base/cast.h"
#include "base/spectrum.h"

namespace headlight {

HeadMatrices head_matrices(const Model& model, AttentionHead head) {
    const HeadWeights w(model, head);
    return {w.matrix(HeadPart::q), w.matrix(HeadPart::k), w.matrix(HeadPart::v), w.output()};
}

ValueFactors value_factors(const Model& model, AttentionHead head) {
    const HeadWeights w(model, head);
    return {w.matrix(HeadPart::v), w.output()};
}

Vector singular_values(const ValueFactors& f) { return product_singular_values(f.down, f.up); }

Vector singular_values(const Matrix& m) {
    if (m.rows() < m.cols()) return product_singular_values(Matrix::Identity(m.rows(), m.rows()), m);
    return product_singular_values(m, Matrix::Identity(m.cols(), m.cols()));
}

}  // namespace headlight
