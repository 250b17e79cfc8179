// Runs the recurrent networks, and their reverse pass.
#include "learn/recurrent.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <mutex>

#include "base/cast.h"
#include "hub/library.h"
#include "io/json.h"
#include "io/safetensors.h"

namespace headlight::learn {

namespace fs = std::filesystem;

namespace {

Vector sigmoid(const Vector& x) { return (1 / (1 + (-x.array()).exp())).matrix(); }

float softmax_of(const Vector& scores, Index at) {
    return std::exp(scores[at] - scores.maxCoeff()) / (scores.array() - scores.maxCoeff()).exp().sum();
}

/// Mixes what was read by softmax(read · h / √width).
Vector attended(const Matrix& read, const Vector& h) {
    Vector weights = read * h / std::sqrt(float(h.size()));
    weights = (weights.array() - weights.maxCoeff()).exp().matrix();
    return read.transpose() * weights / weights.sum();
}

/// Reads the tensors of one file by name; remembers the first that is missing or has another shape.
class TensorReader {
public:
    TensorReader(const Safetensors& file, std::string name) : file_(file), name_(std::move(name)) {}

    Matrix matrix(const std::string& key, Index rows, Index columns) {
        Matrix out = Matrix::Zero(rows, columns);
        const auto found = file_.tensors.find(key);
        const std::vector<int64_t> shape =
            columns == 1 ? std::vector<int64_t>{rows} : std::vector<int64_t>{rows, columns};
        if (found == file_.tensors.end() || found->second.shape != shape ||
            !found->second.dtype->holds_weights())
            problem_ = problem_.empty() ? name_ + ": \"" + key + "\" must be of the shape " +
                                              shape_text(shape) + "; write the file again with train.py."
                                        : problem_;
        else
            found->second.dtype->decode(found->second.bytes.data(), rows * columns, out.data());
        return out;
    }
    Vector vector(const std::string& key, Index rows) { return matrix(key, rows, 1).col(0); }
    const std::string& problem() const { return problem_; }

private:
    const Safetensors& file_;
    std::string name_, problem_;
};

Gru read_gru(TensorReader& reader, const std::string& key, Index embedding, Index width) {
    return {reader.matrix(key + ".weight_ih_l0", 3 * width, embedding),
            reader.matrix(key + ".weight_hh_l0", 3 * width, width),
            reader.vector(key + ".bias_ih_l0", 3 * width), reader.vector(key + ".bias_hh_l0", 3 * width)};
}

Repeater read_repeater(TensorReader& reader, const std::string& key, Index words, Index embedding,
                       Index width, bool attends) {
    return {reader.matrix(key + ".embedding.weight", words, embedding),
            read_gru(reader, key + ".encoder", embedding, width),
            read_gru(reader, key + ".decoder", embedding, width),
            reader.matrix(key + ".output.weight", embedding, attends ? 2 * width : width),
            reader.vector(key + ".output.bias", embedding)};
}

Result<std::vector<std::string>> vocabulary(const Json& config, const std::string& name) {
    TRY(const Json list, json_list(config, "words", name));
    std::vector<std::string> out;
    for (const Json& word : list)
        if (word.is_string()) out.push_back(word.get<std::string>());
    if (out.size() == list.size() && out.size() > 2) return out;
    return Error{name + ": \"words\" must be a list of words; write the file again with train.py."};
}

}  // namespace

Gru::Gates Gru::gates(const Vector& x, const Vector& h) const {
    const Index n = width();
    const Vector a = from_input * x + input_bias, b = from_state * h + state_bias;
    Gates g{sigmoid(a.head(n) + b.head(n)), sigmoid(a.segment(n, n) + b.segment(n, n)), {}, b.tail(n)};
    g.fresh = (a.tail(n).array() + g.reset.array() * g.from_state.array()).tanh().matrix();
    return g;
}

Vector Gru::next(const Vector& x, const Vector& h) const {
    const Gates g = gates(x, h);
    return g.fresh + g.update.cwiseProduct(h - g.fresh);
}

Matrix Gru::jacobian(const Vector& x, const Vector& h, bool carry) const {
    const Index n = width();
    const Gates g = gates(x, h);
    const auto u = [&](Index gate) { return from_state.middleRows(gate * n, n); };
    const Vector by_update = ((h - g.fresh).array() * g.update.array() * (1 - g.update.array())).matrix();
    const Vector by_fresh = ((1 - g.update.array()) * (1 - g.fresh.array().square())).matrix();
    const Vector by_reset =
        (by_fresh.array() * g.from_state.array() * g.reset.array() * (1 - g.reset.array())).matrix();
    Matrix out = by_update.asDiagonal() * u(1);
    out += by_fresh.cwiseProduct(g.reset).asDiagonal() * u(2);
    out += by_reset.asDiagonal() * u(0);
    if (carry) out.diagonal() += g.update;
    return out;
}

Matrix Repeater::read(std::span<const int> ids) const {
    Matrix out(isize(ids), encoder.width());
    Vector h = Vector::Zero(encoder.width());
    for (int t = 0; t < isize(ids); ++t) {
        h = encoder.next(embedding.row(ids[t]), h);
        out.row(t) = h;
    }
    return out;
}

std::vector<float> Repeater::repeat(std::span<const int> ids) const {
    std::vector<float> out;
    if (ids.empty()) return out;
    const Matrix states = read(ids);
    Vector h = states.row(states.rows() - 1);
    for (int t = 0; t < isize(ids); ++t) {
        h = decoder.next(embedding.row(t == 0 ? RecurrentPair::kStart : ids[t - 1]), h);
        Vector written(output.cols());
        written.head(h.size()) = h;
        if (attends()) written.tail(h.size()) = attended(states, h);
        const Vector word = (output * written + output_bias).array().tanh().matrix();
        out.push_back(softmax_of(2 * (embedding * word), ids[t]));
    }
    return out;
}

std::vector<float> Repeater::gradient_through_time(std::span<const int> ids, bool carry) const {
    std::vector<float> out(ids.size(), 1);
    const Matrix states = read(ids);
    Matrix back = Matrix::Identity(encoder.width(), encoder.width());  // ∂h_T/∂h_t
    for (int t = isize(ids) - 2; t >= 0; --t) {
        back = back * encoder.jacobian(embedding.row(ids[t + 1]), states.row(t), carry);
        out[t] = back.norm() / std::sqrt(float(encoder.width()));
    }
    return out;
}

std::vector<float> Repeater::influence_on_end(std::span<const int> ids, int unknown) const {
    std::vector<float> out;
    if (ids.empty()) return out;
    const Matrix states = read(ids);
    const Vector end = states.row(states.rows() - 1);
    for (int t = 0; t < isize(ids); ++t) {
        Vector h = t == 0 ? Vector::Zero(encoder.width()).eval() : Vector(states.row(t - 1));
        for (int i = t; i < isize(ids); ++i) h = encoder.next(embedding.row(i == t ? unknown : ids[i]), h);
        out.push_back((end - h).norm() / end.norm());
    }
    return out;
}

std::vector<int> RecurrentPair::ids(std::span<const std::string> text) const {
    std::vector<int> out;
    for (const std::string& word : text) {
        const auto found = std::find(words.begin() + 2, words.end(), word);
        out.push_back(found == words.end() ? kUnknown : narrow<int>(found - words.begin()));
    }
    return out;
}

std::vector<std::string> plain_words(const std::string& text) {
    std::vector<std::string> out;
    std::string word;
    const auto is_plain = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
    for (size_t i = 0; i <= text.size(); ++i) {
        const char c = i < text.size() ? text[i] : ' ';
        const bool joins =
            (c == '-' || c == '\'') && !word.empty() && i + 1 < text.size() && is_plain(text[i + 1]);
        if (is_plain(c) || joins)
            word += char(std::tolower(static_cast<unsigned char>(c)));
        else if (!word.empty())
            out.push_back(std::exchange(word, {}));
    }
    return out;
}

Result<std::shared_ptr<const RecurrentPair>> open_recurrent(const fs::path& folder) {
    const std::string name = display_path(folder / "network.json");
    TRY(const Json config, read_json(folder / "network.json"));
    TRY(const int64_t embedding, json_integer(config, "embedding", 0, 1, 4096, name));
    TRY(const int64_t width, json_integer(config, "width", 0, 1, 4096, name));
    TRY(const int64_t steps, json_integer(config, "steps", 0, 0, 1 << 30, name));
    auto pair = std::make_shared<RecurrentPair>();
    pair->steps = narrow<int>(steps);
    TRY(pair->words, vocabulary(config, name));
    TRY(const Safetensors file, open_safetensors(folder / "model.safetensors"));
    TensorReader reader(file, display_path(folder / "model.safetensors"));
    const Index words = isize(pair->words);
    pair->without = read_repeater(reader, "without", words, embedding, width, false);
    pair->attention = read_repeater(reader, "attention", words, embedding, width, true);
    if (!reader.problem().empty()) return Error{reader.problem()};
    return std::shared_ptr<const RecurrentPair>(std::move(pair));
}

Result<std::shared_ptr<const RecurrentPair>> recurrent_pair() {
    static std::mutex mutex;
    static std::shared_ptr<const RecurrentPair> kept;
    const std::lock_guard lock(mutex);
    if (!kept) {
        TRY(kept, open_recurrent(built_in_folder("recurrent")));
    }
    return kept;
}

const std::string& long_sentence() {
    static const std::string text =
        "On offering to help the blind man, the man who then stole his car, had not, at that precise moment, "
        "had any evil intention, quite the contrary, what he did was nothing more than obey those feelings "
        "of "
        "generosity and altruism which, as everyone knows, are the two best traits of human nature and to be "
        "found in much more hardened criminals than this one, a simple car-thief without any hope of "
        "advancing "
        "in his profession, exploited by the real owners of this enterprise, for it is they who take "
        "advantage "
        "of the needs of the poor.";
    return text;
}

}  // namespace headlight::learn
