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
#include "learn/questions/parts.h"

namespace headlight::learn {

namespace {

constexpr int kNeighbors = 6, kMaxAsked = 8, kCandidates = 96;

/// Holds the points of the plane: unit vectors, because neighbors have the largest cosine.
struct Space {
    std::vector<Plane::Point> points;
    std::vector<Vector> vectors;
    std::vector<std::string> unknown;  // without a token of their own
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

/// Holds a typed word that is one token.
struct AskedWord {
    std::string name;
    int id = 0;
    Vector vector;
};

std::optional<AskedWord> asked_word(const Model& model, const std::string& word) {
    const Linear& table = model.weights.stacks.front().token_embedding;
    const auto ids = ids_of_word(model, word);
    if (!ids || ids->size() != 1 || ids->front() >= table.out) return std::nullopt;
    return AskedWord{word, ids->front(), table_rows(table, *ids).row(0).transpose()};
}

/// Adds the word's nearest whole words, without itself and repeated names.
void add_neighbors(Space& space, const Model& model, const AskedWord& word, const std::vector<Neighbor>& near,
                   const std::vector<bool>& whole) {
    int left = kNeighbors;
    for (const Neighbor& neighbor : near) {
        const std::string label = token_label(**model.tokenizer, neighbor.id);
        const bool own = lower_case(label) == lower_case(word.name);
        if (own || !whole[neighbor.id] || left-- <= 0) continue;
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
    const auto near = nearest_rows(table, vectors, kCandidates, pool);
    const std::vector<bool> whole = whole_words(**model.tokenizer, narrow<int>(table.out));
    for (int i = 0; i < isize(words); ++i) add_neighbors(space, model, words[i], near[i], whole);
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

/// Compares the words that were asked with each other.
Grid asked_grid(const Space& space) {
    std::vector<std::string> names;
    std::vector<const Vector*> vectors;
    for (size_t i = 0; i < space.points.size(); ++i)
        if (space.points[i].emphasized) {
            names.push_back(space.points[i].name);
            vectors.push_back(&space.vectors[i]);
        }
    const int n = isize(names);
    Grid out{"Cosine of the words asked", "", "", names, names, Matrix(n, n), true};
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) out.values(i, j) = vectors[i]->dot(*vectors[j]);
    return out;
}

Words unknown_sentence(const std::vector<std::string>& words) {
    std::string all;
    for (size_t i = 0; i < words.size(); ++i)
        all += (i == 0 ? "" : i + 1 == words.size() ? " and " : ", ") + said(words[i]);
    return {all + (words.size() == 1 ? " has" : " have") +
            " no vector of one token in the model's table: it reads such words in pieces."};
}

}  // namespace

std::vector<Block> embedding_space(const Model& model, const std::string& words, ThreadPool& pool) {
    if (model.weights.stacks.empty() || !model.weights.stacks.front().token_embedding || !model.tokenizer)
        return {Words{"This model has no table of words; open a text model to see their neighbors."}};
    Space space;
    space.table.title = "Nearest whole words in the model's table";
    space.table.columns = {"word", "neighbor", "cosine"};
    add_words(space, model, cut_at_commas(words), pool);
    std::vector<Block> out;
    if (!space.points.empty()) out = {asked_grid(space), plane_of(space), space.table};
    if (!space.unknown.empty()) out.push_back(unknown_sentence(space.unknown));
    return out;
}

}  // namespace headlight::learn
