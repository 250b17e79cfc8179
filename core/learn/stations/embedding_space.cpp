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

constexpr int kNeighbors = 4, kMaxAsked = 8, kCandidates = 96;

/// Holds the points of the plane: unit vectors, because neighbors have the largest cosine.
struct Space {
    const Model& model;
    Vector center;  // the mean of the table's rows, from which vectors are seen: what all share says nothing
    std::vector<Plane::Point> points = {};
    std::vector<Vector> vectors = {};
    std::vector<std::string> pieces = {}, unknown = {};  // words of several tokens, of none
    Table table = {};

    const Linear& tokens() const { return model.weights.stacks.front().token_embedding; }
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

/// Holds a typed word: its vector, or the mean of its tokens'.
struct AskedWord {
    std::string name;
    std::vector<int> ids;
    Vector vector;
};

std::optional<AskedWord> asked_word(const Model& model, const std::string& word) {
    const Linear& table = model.weights.stacks.front().token_embedding;
    const auto ids = ids_of_word(model, word);
    const auto known = [&](int id) { return id < table.out; };
    if (!ids || !std::all_of(ids->begin(), ids->end(), known)) return std::nullopt;
    return AskedWord{word, *ids, table_rows(table, *ids).colwise().mean().transpose()};
}

/// Adds the word's nearest whole words, without itself and repeated names.
void add_neighbors(Space& space, const AskedWord& word, const std::vector<Neighbor>& near,
                   const std::vector<bool>& whole) {
    int left = kNeighbors;
    for (const Neighbor& neighbor : near) {
        const std::string label = token_label(**space.model.tokenizer, neighbor.id);
        const bool own = lower_case(label) == lower_case(word.name);
        if (own || !whole[neighbor.id] || left-- <= 0) continue;
        space.table.rows.push_back({word.name, label, decimals(double(neighbor.cosine), 2)});
        space.table.values.push_back({std::numeric_limits<double>::quiet_NaN(),
                                      std::numeric_limits<double>::quiet_NaN(), double(neighbor.cosine)});
        const auto named = [&](const Plane::Point& point) { return point.name == label; };
        if (std::any_of(space.points.begin(), space.points.end(), named)) continue;
        add_point(space, label, table_rows(space.tokens(), {neighbor.id}).row(0).transpose() - space.center,
                  false);
    }
}

/// Adds words of the model's table, with the neighbors of those that are one token.
void add_words(Space& space, const std::vector<std::string>& typed, ThreadPool& pool) {
    std::vector<AskedWord> words;
    for (const std::string& word : typed) {
        auto asked = asked_word(space.model, word);
        if (!asked) {
            space.unknown.push_back(word);
            continue;
        }
        add_point(space, word, asked->vector - space.center, true);
        if (asked->ids.size() == 1)
            words.push_back(*std::move(asked));
        else
            space.pieces.push_back(word);
    }
    Matrix vectors(isize(words), space.tokens().in);
    for (int i = 0; i < isize(words); ++i) vectors.row(i) = words[i].vector.transpose();
    const auto near = nearest_rows(space.tokens(), vectors, space.center, kCandidates, pool);
    const std::vector<bool> whole = whole_words(**space.model.tokenizer, narrow<int>(space.tokens().out));
    for (int i = 0; i < isize(words); ++i) add_neighbors(space, words[i], near[i], whole);
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
    Grid out{"Cosine of the words asked, seen from the mean of all tokens",
             "",
             "",
             names,
             names,
             Matrix(n, n),
             true};
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) out.values(i, j) = vectors[i]->dot(*vectors[j]);
    return out;
}

std::string listed(const std::vector<std::string>& words) {
    std::string all;
    for (size_t i = 0; i < words.size(); ++i)
        all += (i == 0 ? "" : i + 1 == words.size() ? " and " : ", ") + said(words[i]);
    return all;
}

/// Says which words stand for their pieces, and which for nothing.
std::vector<Block> sentences_on(const Space& space) {
    std::vector<Block> out;
    if (!space.pieces.empty())
        out.emplace_back(Words{"The model reads " + listed(space.pieces) +
                               " in pieces: the mean of their vectors stands here."});
    if (!space.unknown.empty())
        out.emplace_back(Words{"The model's table has no vector for " + listed(space.unknown) + "."});
    return out;
}

/// Returns the vector from one word to another.
std::optional<Vector> direction(const Model& model, const char* from, const char* to) {
    const auto a = asked_word(model, from), b = asked_word(model, to);
    if (!a || !b) return std::nullopt;
    return Vector(b->vector - a->vector);
}

float cosine_of(const Vector& a, const Vector& b) { return a.dot(b) / std::max(a.norm() * b.norm(), 1e-20f); }

/// Finds the whole word nearest to king − he + she, other than these three.
std::optional<Steps::Line> nearest_by_direction(const Space& space, const Vector& turned, ThreadPool& pool) {
    const auto king = asked_word(space.model, "king");
    if (!king || king->ids.size() != 1) return std::nullopt;
    const Matrix at = (king->vector + turned).transpose();
    const std::vector<bool> whole = whole_words(**space.model.tokenizer, narrow<int>(space.tokens().out));
    const auto near = nearest_rows(space.tokens(), at, space.center, kCandidates, pool);
    for (const Neighbor& found : near[0]) {
        const std::string label = token_label(**space.model.tokenizer, found.id);
        const std::string plain = lower_case(label);
        if (!whole[found.id] || plain == "king" || plain == "he" || plain == "she") continue;
        return Steps::Line{"king − he + she", "is nearest, of all other words, to " + said(label),
                           decimals(double(found.cosine), 2)};
    }
    return std::nullopt;
}

/// Tabulates directions that should be like she − he, and one that should not.
std::optional<Steps> direction_steps(const Space& space, ThreadPool& pool) {
    const auto she = direction(space.model, "he", "she");
    if (!she) return std::nullopt;
    Steps out{.title = "Do directions carry meaning? Cosines of differences with she − he"};
    for (const auto& [from, to] : {std::pair{"his", "her"}, std::pair{"boy", "girl"},
                                   std::pair{"king", "queen"}, std::pair{"cat", "dog"}})
        if (const auto other = direction(space.model, from, to))
            out.lines.push_back(
                {std::string(to) + " − " + from, "", decimals(double(cosine_of(*she, *other)), 2)});
    if (auto line = nearest_by_direction(space, *she, pool)) out.lines.push_back(*std::move(line));
    return out;
}

}  // namespace

std::vector<Block> embedding_space(const Model& model, const std::string& words, ThreadPool& pool) {
    if (model.weights.stacks.empty() || !model.weights.stacks.front().token_embedding || !model.tokenizer)
        return {Words{"This model has no table of words; open a text model to see their neighbors."}};
    Space space{model, mean_row(model.weights.stacks.front().token_embedding, pool)};
    space.table.title = "Nearest whole words in the model's table";
    space.table.columns = {"word", "neighbor", "cosine"};
    add_words(space, cut_at_commas(words), pool);
    std::vector<Block> out;
    if (!space.points.empty()) out = {asked_grid(space), plane_of(space), space.table};
    for (Block& sentence : sentences_on(space)) out.push_back(std::move(sentence));
    if (auto directions = direction_steps(space, pool)) out.push_back(*std::move(directions));
    return out;
}

}  // namespace headlight::learn
