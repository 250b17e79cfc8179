// Runs two small recurrent networks that repeat what they read, one without attention (models/recurrent).
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/matrix.h"
#include "base/result.h"

namespace headlight::learn {

/// Holds a gated recurrent unit (Cho et al. 2014); rows are stacked as torch does: reset, update, new.
struct Gru {
    Matrix from_input, from_state;  // [3 width, embedding], [3 width, width]
    Vector input_bias, state_bias;  // [3 width]
    Index width() const { return from_state.cols(); }
    /// h' = (1 − z) ⊙ n + z ⊙ h.
    Vector next(const Vector& x, const Vector& h) const;
    /// Returns ∂h'/∂h, [width, width]; without the carry z ⊙ h only what goes through the weights.
    Matrix jacobian(const Vector& x, const Vector& h, bool carry = true) const;

private:
    struct Gates {
        Vector reset, update, fresh, from_state;  // from_state: U_n h + b, which the reset gate scales
    };
    Gates gates(const Vector& x, const Vector& h) const;
};

/// Holds an encoder that reads words into states and a decoder that begins with the last one.
struct Repeater {
    Matrix embedding;  // [words, embedding], the output's too
    Gru encoder, decoder;
    Matrix output;  // [embedding, width], or twice as wide if the decoder attends
    Vector output_bias;
    bool attends() const { return output.cols() > decoder.width(); }

    /// Returns the encoder's state after each word: [n, width].
    Matrix read(std::span<const int> ids) const;
    /// Returns the probability of each word when they are repeated, given the earlier ones: [n].
    std::vector<float> repeat(std::span<const int> ids) const;
    /// Returns ‖∂h_T/∂h_t‖ / √width for each t, by the reverse pass; 1 at the end.
    std::vector<float> gradient_through_time(std::span<const int> ids, bool carry = true) const;
    /// Returns ‖h_T − h_T with word t unknown‖ / ‖h_T‖ for each t.
    std::vector<float> influence_on_end(std::span<const int> ids, int unknown) const;
};

struct RecurrentPair {
    static constexpr int kStart = 0, kUnknown = 1;
    std::vector<std::string> words;  // the vocabulary
    int steps = 0;                   // of training, the same batches for both; 0: not told
    Repeater without, attention;

    /// Returns the number of each word; kUnknown for those that it never learned.
    std::vector<int> ids(std::span<const std::string> text) const;
};

/// Splits a text into lower-case words of letters and digits, with "-" and "'" inside.
std::vector<std::string> plain_words(const std::string& text);

/// Opens a folder that models/recurrent/train.py wrote.
Result<std::shared_ptr<const RecurrentPair>> open_recurrent(const std::filesystem::path& folder);

/// Opens the built-in pair once.
Result<std::shared_ptr<const RecurrentPair>> recurrent_pair();

/// Returns the article's sentence of 97 words (J. Saramago, Blindness).
const std::string& long_sentence();

}  // namespace headlight::learn
