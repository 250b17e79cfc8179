// What is said of a model's positions, and their numbers.
#include "views/positions.h"

namespace headlight {

const char* kind_title(PositionScheme kind) {
    switch (kind) {
        case PositionScheme::sinusoidal:
            return "Sinusoidal positions";
        case PositionScheme::learned:
            return "Learned positions";
        case PositionScheme::rotary:
            return "Rotary positions (RoPE)";
        case PositionScheme::alibi:
            return "Linear biases (ALiBi)";
        case PositionScheme::relative:
            return "Biases by distance, in buckets";
        case PositionScheme::none:
            break;
    }
    return "No positions";
}

std::string explained_table(const ModelConfig& c, const Positions& p) {
    switch (p.scheme) {
        case PositionScheme::sinusoidal:
            return "PE(p, i) = sin(p / 10000^(2i/" + std::to_string(c.d_model) +
                   ")), the second half of the components cos (Vaswani et al. 2017, section 3.5). Added to "
                   "each token’s embedding, which was multiplied by " +
                   decimals(c.embed_scale, 0) + ".";
        case PositionScheme::learned:
            return "One vector for each position, learned like a word’s, added to each token’s embedding.";
        case PositionScheme::rotary:
            return "Cosine of the angle p · θᵢ by which pair i of q and k is turned at position p (Su et al. "
                   "2021). Only differences of positions matter to q·k.";
        case PositionScheme::alibi:
            return "A score falls by the head’s slope for each token of distance (Press et al. 2022): heads "
                   "with a small slope look far back.";
        case PositionScheme::relative:
            return "A learned number is added to the score of each head by distance: near distances have a "
                   "bucket each, far ones share (Raffel et al. 2020). Every layer reads the same.";
        case PositionScheme::none:
            break;
    }
    return "Order reaches this model through its causal mask alone.";
}

std::string explained_square(const Positions& p, int head) {
    switch (p.scheme) {
        case PositionScheme::sinusoidal:
            return "Dot product of the vectors of two positions: it falls with their distance and is the "
                   "same along each diagonal, wherever the pair stands.";
        case PositionScheme::learned:
            return "Dot product of the vectors of two positions. Bands beside the diagonal: neighbors were "
                   "learned to be alike.";
        case PositionScheme::rotary:
            return "Mean of cos((m − n) θᵢ) over the pairs: what turning leaves of q·k where q and k are "
                   "alike and lie evenly over all pairs.";
        case PositionScheme::alibi:
        case PositionScheme::relative:
            return "What is added to the scores of head " + std::to_string(head) + " of " +
                   std::to_string(p.table.rows()) + ": query down, key across." +
                   (p.causal ? " Keys after the query are never seen." : "");
        case PositionScheme::none:
            break;
    }
    return "";
}

std::vector<NumberTable> position_numbers(const Scene& s) {
    const auto* found = s.found<PositionsWanted>();
    if (!found || found->answer.scheme == PositionScheme::none) return {};
    const Positions& p = found->answer;
    const auto names = [](Index count) {
        std::vector<std::string> out;
        for (Index i = 0; i < count; ++i) out.push_back(std::to_string(i));
        return out;
    };
    std::vector<std::string> columns;
    for (const int i : p.by_distance() ? p.distances : p.components) columns.push_back(std::to_string(i));
    const auto square = names(p.between.rows());
    return {{"positions", p.by_distance() ? "head" : "position", p.by_distance() ? "distance" : "component",
             names(p.table.rows()), columns, p.table},
            {"between positions", "query", "key", square, square, p.between}};
}

}  // namespace headlight
