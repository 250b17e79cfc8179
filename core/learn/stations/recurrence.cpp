// Computes the part of the station "Seq2seq without attention" that runs the recurrent networks.
#include "learn/stations/recurrence.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/cast.h"
#include "base/quoted.h"
#include "io/numbers.h"
#include "learn/bottleneck.h"
#include "learn/page_parts.h"
#include "model/loading/parameters.h"

namespace headlight::learn {

namespace {

constexpr int kLengths[] = {1, 2, 4, 6, 8, 12, 16, 20, 24, 32, 48, 64, 96}, kPieces = 12;

float geometric_mean(const std::vector<float>& p) {
    double sum = 0;
    for (const float value : p) sum += std::log(std::max(double(value), 1e-30));
    return p.empty() ? 0 : float(std::exp(sum / double(p.size())));
}

/// Returns the words of the held-out sentences, one sentence after the other.
std::vector<int> held_out_words(const RecurrentPair& pair) {
    std::vector<std::string> words;
    for (const TranslationPair& p : held_out_pairs())
        for (std::string& word : plain_words(p.source)) words.push_back(std::move(word));
    return pair.ids(words);
}

struct MeanError {
    float mean, error;
};
MeanError mean_of(const std::vector<float>& values) {
    const float n = float(values.size());
    const float mean = std::accumulate(values.begin(), values.end(), 0.0f) / n;
    float squares = 0;
    for (const float v : values) squares += (v - mean) * (v - mean);
    return {mean, std::sqrt(squares / (n - 1) / n)};
}

Curves length_curves(const std::vector<RepeatedLength>& measured) {
    Curves out{.title = "The longer the text: two recurrent networks repeat it",
               .x_is = "words",
               .y_is = "p of a repeated word",
               .log_x = true};
    Curves::Line without = line_of("without attention", {}, {}), with = line_of("with attention", {}, {});
    for (const RepeatedLength& m : measured) {
        for (Curves::Line* line : {&without, &with}) line->x.push_back(float(m.words));
        without.y.push_back(m.without);
        without.error.push_back(m.without_error);
        with.y.push_back(m.attention);
        with.error.push_back(m.attention_error);
    }
    out.lines = {std::move(without), std::move(with)};
    return out;
}

std::vector<float> places(size_t n) {
    std::vector<float> out(n);
    std::iota(out.begin(), out.end(), 1.0f);
    return out;
}

Curves sentence_curves(const std::vector<float>& without, const std::vector<float>& with) {
    return {.title = "Word by word of this text",
            .x_is = "word",
            .y_is = "p of a repeated word",
            .lines = {line_of("without attention", places(without.size()), without),
                      line_of("with attention", places(with.size()), with)}};
}

/// Shows z, the state after the last word, as a strip of colors.
Grid packed_grid(const Repeater& network, const std::vector<int>& ids) {
    Grid out{.title = "z: all that the decoder gets of these " + std::to_string(ids.size()) +
                      " words, without attention",
             .columns_are = "number",
             .rows = {"z"},
             .columns = counted(network.encoder.width(), 1),
             .values = network.read(ids).bottomRows(1),
             .diverging = true};
    return out;
}

/// Holds what the state after the last word has of each word.
struct Memory {
    std::vector<float> gradient, without_carry, influence;
};

Memory memory_of(const Repeater& network, const std::vector<int>& ids) {
    constexpr float kLeastDrawn = 1e-9f;
    Memory out{network.gradient_through_time(ids), network.gradient_through_time(ids, false),
               network.influence_on_end(ids, RecurrentPair::kUnknown)};
    for (float& v : out.without_carry)
        if (v < kLeastDrawn) v = std::numeric_limits<float>::quiet_NaN();
    return out;
}

Curves memory_curves(const Memory& m) {
    return {.title = "What the last state h_T keeps of each word, without attention",
            .x_is = "word",
            .y_is = "share",
            .lines = {line_of("gradient ‖∂h_T/∂h_t‖/√d", places(m.gradient.size()), m.gradient),
                      line_of("gradient without the carry", places(m.gradient.size()), m.without_carry),
                      line_of("h_T moves if the word is unknown", places(m.gradient.size()), m.influence)},
            .log_y = true};
}

/// Returns "0.58", or "3e−9".
std::string with_exponent(double value) {
    if (value >= 0.01) return decimals(value, 2);
    if (!(value > 0)) return "0";
    const int exponent = int(std::floor(std::log10(value)));
    return decimals(value / std::pow(10.0, exponent), 0) + "e−" + std::to_string(-exponent);
}

std::string repeated_finding(const std::vector<RepeatedLength>& lengths, const Memory& memory, int steps) {
    const std::string trained =
        steps > 0 ? "After the same " + with_commas(steps) + " steps of training, at" : "At";
    std::string at_twenty;
    for (const RepeatedLength& m : lengths)
        if (m.words == 20)
            at_twenty = trained + " 20 words: p " + decimals(double(m.without), 2) + " without attention, " +
                        decimals(double(m.attention), 2) + " with. ";
    const auto lasts = std::count_if(memory.without_carry.begin(), memory.without_carry.end(),
                                     [](float v) { return v >= 1e-6f; });
    return at_twenty + "From the last of " + std::to_string(memory.gradient.size()) +
           " words back to the first the gradient falls to " +
           with_exponent(double(memory.gradient.front())) +
           "; without the gate's carry it is under a millionth " + std::to_string(lasts) + " words back.";
}

}  // namespace

std::vector<RepeatedLength> repeated_by_length(const RecurrentPair& pair) {
    const std::vector<int> ids = held_out_words(pair);
    std::vector<RepeatedLength> out;
    for (const int n : kLengths) {
        std::vector<float> without, with;
        for (int i = 0; i < kPieces; ++i) {
            const size_t at = (ids.size() - size_t(n)) * size_t(i) / (kPieces - 1);
            const std::span<const int> piece(ids.data() + at, size_t(n));
            without.push_back(geometric_mean(pair.without.repeat(piece)));
            with.push_back(geometric_mean(pair.attention.repeat(piece)));
        }
        const MeanError a = mean_of(without), b = mean_of(with);
        out.push_back({n, a.mean, b.mean, a.error, b.error});
    }
    return out;
}

Result<std::vector<Block>> recurrence_blocks(const std::string& text, bool long_one) {
    TRY(const auto pair, recurrent_pair());
    static const std::vector<RepeatedLength> lengths = repeated_by_length(*pair);
    std::vector<Block> out{length_curves(lengths)};
    const std::vector<std::string> words = plain_words(long_one ? long_sentence() : text);
    const std::vector<int> ids = pair->ids(words);
    if (ids.size() < 2) return out;
    const auto without = pair->without.repeat(ids), with = pair->attention.repeat(ids);
    const Memory memory = memory_of(pair->without, ids);
    out.insert(out.begin(), packed_grid(pair->without, ids));
    out.push_back(sentence_curves(without, with));
    out.push_back(memory_curves(memory));
    out.push_back(Words{repeated_finding(lengths, memory, pair->steps)});
    return out;
}

}  // namespace headlight::learn
