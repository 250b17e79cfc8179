// Computes the embedding-space plot.
#include "learn/stations/embedding_space.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <sstream>

#include "analysis/attribution/pca.h"
#include "analysis/prediction/predict.h"
#include "base/quoted.h"
#include "base/utf8.h"
#include "learn/nearest_tokens.h"

namespace headlight::learn {

namespace {

constexpr int kNeighbors = 6, kMaxAsked = 8;

/// Holds the points of the plane: unit vectors, because neighbors have the largest cosine.
struct Space {
    std::vector<Plane::Point> points;
    std::vector<Vector> vectors;
    std::vector<std::string> unknown;
    Table table;
};

std::vector<std::string> cut_at_commas(const std::string& text) {
    std::vector<std::string> out;
    std::istringstream in(text);
    for (std::string word; std::getline(in, word, ',') && isize(out) < kMaxAsked;) {
        const size_t first = word.find_first_not_of(' '), last = word.find_last_not_of(' ');
        if (first != std::string::npos) out.push_back(word.substr(first, last - first + 1));
    }
    return out;
}

void add_point(Space& space, const std::string& name, const Vector& vector, bool emphasized) {
    space.points.push_back({name, 0, 0, emphasized});
    space.vectors.push_back(vector.normalized());
}

/// Holds a typed word: the mean of its tokens' vectors.
struct AskedWord {
    std::string name;
    std::vector<int> ids;
    Vector vector;
};

std::optional<AskedWord> asked_word(const Model& model, const std::string& word) {
    const Linear& table = model.weights.stacks.front().token_embedding;
    const auto ids = ids_of_word(model, word);
    if (!ids || *std::max_element(ids->begin(), ids->end()) >= table.out) return std::nullopt;
    const int tokens = isize(*ids);
    return AskedWord{tokens > 1 ? word + " (" + std::to_string(tokens) + " tokens)" : word, *ids,
                     table_rows(table, *ids).colwise().mean().transpose()};
}

/// Adds the word's neighbors that can be named: no own tokens, parts of characters or repeated names.
void add_neighbors(Space& space, const Model& model, const AskedWord& word,
                   const std::vector<Neighbor>& near) {
    int left = kNeighbors;
    for (const Neighbor& neighbor : near) {
        const std::string label = token_label(**model.tokenizer, neighbor.id);
        const bool own = std::find(word.ids.begin(), word.ids.end(), neighbor.id) != word.ids.end();
        const bool part = !is_valid_utf8((*model.tokenizer)->bytes(neighbor.id));
        if (own || label.empty() || part || left-- <= 0) continue;
        space.table.rows.push_back({word.name, label, decimals(double(neighbor.cosine), 2)});
        space.table.values.push_back({std::numeric_limits<double>::quiet_NaN(),
                                      std::numeric_limits<double>::quiet_NaN(), double(neighbor.cosine)});
        const auto named = [&](const Plane::Point& point) { return point.name == label; };
        if (std::any_of(space.points.begin(), space.points.end(), named)) continue;
        add_point(space, label,
                  table_rows(model.weights.stacks.front().token_embedding, {neighbor.id}).row(0).transpose(),
                  false);
    }
}

/// Adds words of the model's table, with their neighbors.
void add_words(Space& space, const Model& model, const std::vector<std::string>& typed, ThreadPool& pool) {
    std::vector<AskedWord> words;
    for (const std::string& word : typed) {
        if (auto asked = asked_word(model, word))
            words.push_back(std::move(*asked));
        else
            space.unknown.push_back(word);
    }
    const Linear& table = model.weights.stacks.front().token_embedding;
    Matrix vectors(isize(words), table.in);
    for (int i = 0; i < isize(words); ++i) {
        vectors.row(i) = words[i].vector.transpose();
        add_point(space, words[i].name, words[i].vector, true);
    }
    const auto near = nearest_rows(table, vectors, 4 * kNeighbors, pool);
    for (int i = 0; i < isize(words); ++i) add_neighbors(space, model, words[i], near[i]);
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
    add_words(space, model, cut_at_commas(words), pool);
    std::vector<Block> out;
    if (!space.points.empty()) out = {plane_of(space), space.table};
    for (const std::string& word : space.unknown)
        out.push_back(Words{"The model's table has no tokens for " + in_quotes(word) + "."});
    return out;
}

}  // namespace headlight::learn
