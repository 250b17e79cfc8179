#include "learn/embedding_space.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

#include "analysis/neighbors.h"
#include "analysis/pca.h"
#include "analysis/predict.h"
#include "base/quoted.h"

namespace headlight::learn {

namespace {

constexpr int kNeighbors = 6, kMostAsked = 8;

/// What the plane shows: vectors of length 1, because neighbors are those of the largest cosine.
struct Space {
    std::vector<Plane::Point> points;
    std::vector<Vector> vectors;
    std::vector<int> ids;  // of neighbors that have a point
    std::vector<std::string> unknown;
    Table table;
};

std::vector<std::string> cut_at_commas(const std::string& text) {
    std::vector<std::string> out;
    std::istringstream in(text);
    for (std::string word; std::getline(in, word, ',') && isize(out) < kMostAsked;) {
        const size_t first = word.find_first_not_of(' '), last = word.find_last_not_of(' ');
        if (first != std::string::npos) out.push_back(word.substr(first, last - first + 1));
    }
    return out;
}

void add_point(Space& space, const std::string& name, const Vector& vector, bool emphasized) {
    space.points.push_back({name, 0, 0, emphasized});
    space.vectors.push_back(vector.normalized());
}

void add_word(Space& space, const Model& model, const std::string& word, ThreadPool& pool) {
    const Linear& table = model.weights.stacks.front().token_embedding;
    const auto ids = ids_of_word(model, word);
    if (!ids || *std::max_element(ids->begin(), ids->end()) >= table.out) {
        space.unknown.push_back(word);
        return;
    }
    const Vector vector = table_rows(table, *ids).colwise().mean().transpose();
    const std::string name = isize(*ids) > 1 ? word + " (" + std::to_string(isize(*ids)) + " tokens)" : word;
    add_point(space, name, vector, true);
    for (const Neighbor& near : nearest_rows(table, vector, kNeighbors, *ids, pool)) {
        const std::string label = token_label(**model.tokenizer, near.id);
        space.table.rows.push_back({name, label, decimals(double(near.cosine), 2)});
        space.table.values.push_back({std::numeric_limits<double>::quiet_NaN(),
                                      std::numeric_limits<double>::quiet_NaN(), double(near.cosine)});
        if (std::find(space.ids.begin(), space.ids.end(), near.id) != space.ids.end()) continue;
        space.ids.push_back(near.id);
        add_point(space, label, table_rows(table, {near.id}).row(0).transpose(), false);
    }
}

Plane plane_of(const Space& space) {
    Matrix all(isize(space.vectors), space.vectors.front().size());
    for (int i = 0; i < isize(space.vectors); ++i) all.row(i) = space.vectors[i].transpose();
    const headlight::Plane plane = principal_plane(all);
    Plane out;
    out.points = space.points;
    for (int i = 0; i < isize(out.points); ++i) {
        out.points[i].x = plane.points(i, 0);
        out.points[i].y = plane.points(i, 1);
    }
    out.title = "The space of embeddings: a plane that keeps " + decimals(100 * double(plane.kept), 0) +
                " % of the spread";
    return out;
}

}  // namespace

std::vector<Block> embedding_space(const Model& model, const std::string& words, ThreadPool& pool) {
    if (model.weights.stacks.empty() || !model.weights.stacks.front().token_embedding || !model.tokenizer)
        return {Words{"This model has no table of words; open a text model to see their neighbors."}};
    Space space;
    space.table.title = "Nearest neighbors in the model's table";
    space.table.columns = {"word", "neighbor", "cosine"};
    for (const std::string& word : cut_at_commas(words)) add_word(space, model, word, pool);
    std::vector<Block> out;
    if (!space.points.empty()) out = {plane_of(space), space.table};
    for (const std::string& word : space.unknown)
        out.push_back(Words{"The model's table has no tokens for " + in_quotes(word) + "."});
    return out;
}

}  // namespace headlight::learn
