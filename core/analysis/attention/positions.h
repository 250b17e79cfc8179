// Shows how a model encodes positions: position tables, rotations, biases by distance.
#pragma once

#include <string>
#include <vector>

#include "analysis/attention/shown.h"

namespace headlight {

struct Positions {
    PositionScheme scheme = PositionScheme::none;
    Matrix table;  // vectors: [positions, components]; rotary: cosines of the angles, [positions, pairs];
                   // biases: [heads, distances]
    /// [positions, positions]: dot products; rotary: mean cosine of the angle between; biases: of one head
    Matrix between;
    std::vector<float> waves;     // sinusoidal, rotary: period of each column, in positions
    std::vector<int> components;  // component of each column: wide tables are subsampled
    std::vector<int> distances;   // biases: key − query of each column
    std::vector<int> buckets;     // T5: the bucket of each distance
    std::vector<float> slopes;    // ALiBi: of each head
    bool causal = true;           // biases: keys after the query are masked
    int first_row = 0;            // row of the model's table that position 0 reads

    /// Returns whether rows of the table are heads and columns distances.
    bool by_distance() const;
};

struct PositionsRequest {
    using Answer = Positions;
    int stack = 0, layer = 0, head = 0;
    int count = 64;  // positions, at most the context
    void clamp_to(const Trace& trace);
    bool operator==(const PositionsRequest&) const = default;
};
Result<Positions> answer_positions(const Trace& trace, const PositionsRequest& request, ThreadPool& pool,
                                   const CancelFlag* cancel = nullptr);

/// Describes what is shown of a position scheme; a row in positions.cpp, in the order of PositionScheme.
struct PositionsRow {
    PositionScheme scheme;
    const char* title;                                       // "Rotary positions (RoPE)"
    const char* column;                                      // of the table: "component", "pair", "distance"
    bool by_distance;                                        // biases: rows of the table are heads
    const char* table_text;                                  // what the table shows
    std::string (*table_detail)(const ModelConfig& config);  // what depends on the model; null: nothing
    std::string (*between_text)(const Positions& positions, int head);  // what the square shows
    void (*read)(const Model& model, const PositionsRequest& request, int count, Positions& out);
};
const PositionsRow& positions_row(PositionScheme scheme);

inline bool Positions::by_distance() const { return positions_row(scheme).by_distance; }

Positions positions_of(const Model& model, const PositionsRequest& request);

}  // namespace headlight
