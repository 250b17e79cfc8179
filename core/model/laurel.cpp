// Adds a learned product of low rank beside attention.
#include "model/laurel.h"

#include "model/backward/vector_jacobian.h"

namespace headlight {

namespace {

/// W_up W_down y.
Matrix laurel_product(const StackRun& run, const LaurelWeights& w, ConstMatrixRef y) {
    return project(run.pool, project(run.pool, y, w.down), w.up);
}

}  // namespace

Matrix with_laurel(const StackRun& run, int layer, ConstMatrixRef x, Matrix attended) {
    const LayerWeights& w = run.weights.layers[layer];
    const Matrix y = run.norm(w.self.norm, x);
    attended += y + run.norm(w.laurel.norm, laurel_product(run, w.laurel, y));
    attended *= kLaurelShare;
    return attended;
}

Matrix laurel_vjp(const StackRun& run, int layer, const Matrix& y, const Matrix& gradient,
                  const GradientRows& rows) {
    const LaurelWeights& w = run.weights.layers[layer].laurel;
    const Matrix by_product =
        norm_vjp(run.config(), w.norm, laurel_product(run, w, y), gradient, rows.token_of(), run.pool);
    return gradient + linear_vjp(run.pool, linear_vjp(run.pool, by_product, w.up), w.down);
}

}  // namespace headlight
