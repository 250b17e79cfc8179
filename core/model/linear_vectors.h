// What the dense products of one processor share: its vectors and the size of a task. For linear*.cpp alone.
#pragma once

#include "model/linear.h"

namespace headlight {

#if defined(__AVX512F__)
constexpr int kLanes = 16, kRows = 12;
#elif defined(__AVX__)
constexpr int kLanes = 8, kRows = 6;
#else
constexpr int kLanes = 4, kRows = 6;
#endif
constexpr int kVectors = 2;                   // register tile: kRows rows × kVectors vectors of outputs
constexpr int kPanel = kLanes * kVectors;     // outputs of one register tile
constexpr int64_t kTaskColumns = 4 * kPanel;  // outputs of one task

typedef float Vec __attribute__((vector_size(kLanes * sizeof(float))));
typedef float UnalignedVec __attribute__((vector_size(kLanes * sizeof(float)), aligned(4)));

inline Vec load(const float* p) { return *reinterpret_cast<const UnalignedVec*>(p); }
inline void store(float* p, Vec v) { *reinterpret_cast<UnalignedVec*>(p) = v; }

/// Many rows of x: outputs [begin, end), with panels of the weight packed into the cache.
void multiply_packed(const ThreadPool& pool, ConstMatrixRef x, const Linear& w, MatrixRef y, int64_t begin,
                     int64_t end);

}  // namespace headlight
